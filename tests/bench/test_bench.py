"""The measurements run and measure what they say. What they find is no test: machines are noisy."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import PATIENCE, ROOT, environment

BENCH = Path(__file__).resolve().parent
TRACES = sorted((ROOT.parent / "shared" / "conformance" / "traces").glob("*.jsonl"))


def printed(program: str, *arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCH / program), *arguments],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        env=environment(**variables),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.skipif(not Path(sys.executable).with_name("toolbreaker").exists(), reason="toolbreaker is not installed")
def test_sections_print_their_tables_and_leave_nothing_behind(tmp_path: Path) -> None:
    tables = printed("run.py", "--rounds", "5", "wire", "engine", "state", TMPDIR=str(tmp_path))
    rows = re.findall(r"^\| (.*?) \|", tables, re.MULTILINE)
    for row in (
        "`guard` of a read: a C echo",
        "`postExecute` of it, 1 kB: `adaptive`",
        "a new shell command",
        "`usage`, kept",
    ):
        assert row in rows
    assert list(tmp_path.iterdir()) == []


def test_a_section_that_is_not_there_is_named() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / "run.py"), "wires"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert "'wires'" in done.stderr


@pytest.mark.skipif(not TRACES, reason="no conformance traces beside the repository")
def test_the_engine_is_timed_over_every_call_of_the_traces_and_blocks_those_that_it_should() -> None:
    steps = [step for file in TRACES for line in file.read_text().splitlines() for step in json.loads(line)["steps"]]
    expected = [step["expect"] for step in steps if "expect" in step]
    blocked = [expect for expect in expected if "deny" in (expect["decision"], expect.get("afterApproval"))]
    played = json.loads(printed("drive_engine.py", "repeat-tool-breaker", "1", *map(str, TRACES)))
    assert (played["calls"], played["blocked"]) == (len(expected), len(blocked))
    assert len(played["seconds"]) == 1
