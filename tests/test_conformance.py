"""The public conformance programs against the process, where they lie beside this repository."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest
from support import ROOT, command_line, environment

CONFORMANCE = ROOT.parent / "shared" / "conformance"
pytestmark = pytest.mark.skipif(not CONFORMANCE.is_dir(), reason="no conformance programs beside the repository")


def score(program: str, *arguments: str) -> str:
    """The last line that a conformance program prints."""
    serve = shlex.join(command_line("serve"))
    done = subprocess.run(
        [sys.executable, str(CONFORMANCE / program), "--cmd", serve, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
        check=False,
    )
    print(done.stdout, done.stderr)
    return done.stdout.splitlines()[-1]


def test_every_trace_and_every_case_holds() -> None:
    files = [*CONFORMANCE.glob("traces/*.jsonl"), *CONFORMANCE.glob("cases/*.json")]
    assert len(files) >= 11
    passed, failed = map(int, re.findall(r"\d+", score("run.py")))
    assert (passed >= 409, failed) == (True, 0)
