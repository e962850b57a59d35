"""The examples do what their READMEs say: the Node packages' own tests, the shell script, the recorded sessions."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import PATIENCE, ROOT, environment, run

EXAMPLES = ROOT / "examples"
PROGRAM = Path(sys.executable).with_name("toolbreaker")
NODE = shutil.which("node")
BASH = shutil.which("bash")


def _node_version() -> int:
    if NODE is None:
        return 0
    found = subprocess.run([NODE, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    version = re.match(r"v(\d+)", found.stdout)
    return int(version[1]) if version else 0


def _bash_version() -> tuple[int, int]:
    if BASH is None:
        return (0, 0)
    show = 'echo "${BASH_VERSINFO[0]} ${BASH_VERSINFO[1]}"'
    found = subprocess.run([BASH, "-c", show], capture_output=True, text=True, timeout=PATIENCE, check=False)
    major, minor = found.stdout.split()
    return (int(major), int(minor))


needs_node = pytest.mark.skipif(_node_version() < 20, reason="Node 20 or newer is not installed")
needs_bash = pytest.mark.skipif(_bash_version() < (4, 2), reason="bash 4.2 or newer is not installed")
needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the command toolbreaker is not installed")

# -- Node ---------------------------------------------------------------------------------------------------------


@needs_node
@needs_program
@pytest.mark.parametrize("example", ["node", "opencode"])
def test_the_tests_of_a_node_example_pass(example: str, tmp_path: Path) -> None:
    tests = sorted(map(str, (EXAMPLES / example / "test").glob("*.test.js")))
    assert tests
    done = subprocess.run(
        [str(NODE), "--test", "--test-reporter=spec", *tests],
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
        env=environment(TOOLBREAKER=str(PROGRAM), XDG_STATE_HOME=str(tmp_path)),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# -- shell --------------------------------------------------------------------------------------------------------


def shell(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run lines of bash that have `guarded`, as an unattended script does."""
    lines = f". {EXAMPLES / 'shell' / 'guarded.bash'}\n{script}"
    return subprocess.run(
        [str(BASH), "-c", lines],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=PATIENCE,
        env=environment(**{"TOOLBREAKER": str(PROGRAM), "GUARDED_TIMEOUT": "10", **variables}),
        check=False,
    )


def all_of(terminal: int) -> str:
    """What was shown on a terminal that nobody writes to any more; it comes in pieces."""
    shown = b""
    with contextlib.suppress(OSError):  # the end, as Linux has it
        while piece := os.read(terminal, 65536):
            shown += piece
    return shown.decode()


def scripted_server(folder: Path, script: str) -> str:
    """A stand-in for the program."""
    program = folder / "toolbreaker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@needs_bash
@needs_program
class TestShell:
    def test_a_repeated_command_is_warned_of_and_then_refused(self) -> None:
        done = shell(
            "for i in 1 2 3 4; do guarded echo hi; echo $?; done",
            TOOLBREAKER_WARN_AT="2",
            TOOLBREAKER_LIMITS='{"exact": 3, "cmd": 3}',
        )
        assert done.stdout.split() == ["hi", "0", "hi", "0", "125", "125"]
        warning, denial = done.stderr.split("\n", 1)
        assert warning.startswith("CONVERGENCE_CHECK: ")
        assert denial.startswith("REPEAT_TOOL_BLOCKED: ")

    def test_a_failing_command_keeps_its_status_and_is_refused_after_five(self) -> None:
        done = shell(
            "for i in 1 2 3 4 5 6; do guarded sh -c 'exit 7'; echo $?; done;"
            " guarded_turn; guarded sh -c 'exit 7'; echo $?"
        )
        assert done.stdout.split() == ["7"] * 5 + ["125", "7"]

    def test_a_command_that_was_interrupted_has_not_failed(self) -> None:
        done = shell("for i in 1 2 3 4; do guarded sh -c 'exit 130'; echo $?; done", TOOLBREAKER_FAIL_LIMIT="2")
        assert done.stdout.split() == ["130"] * 4

    @pytest.mark.parametrize(
        "word",
        [
            'a"b\\c',
            "two\nlines\tand a tab",
            "\x01\x1f\x7f",
            "naïve 日本 😀",
            "\udcff\udcfe",
            "$(echo no) `no` 'x'",
            "",
            "-n",
        ],
    )
    def test_any_word_reaches_the_command_and_the_server_as_it_is(self, word: str, tmp_path: Path) -> None:
        record = tmp_path / "record"
        server = scripted_server(tmp_path, f"exec {PROGRAM} serve --record {record}")
        done = shell('guarded printf "%s" "$WORD"', TOOLBREAKER=server, WORD=word)
        assert (done.stdout, done.stderr) == (word, "")
        messages = [json.loads(line) for line in record.read_text().splitlines()]
        guards = [each["in"]["params"] for each in messages if each.get("in", {}).get("method") == "guard"]
        said = re.sub("[\udc80-\udcff]", "?", word)
        assert guards[0]["arguments"]["command"] == ["printf", "%s", said]

    def test_a_denial_is_shown_unescaped(self) -> None:
        done = shell("guarded echo 'a\"b'; guarded echo 'a\"b'", TOOLBREAKER_LIMITS='{"exact": 2, "cmd": 2}')
        assert "echo 'a\"b': the 2nd" in done.stderr
        assert "\\n" not in done.stderr

    @pytest.mark.parametrize(
        ("answer", "seen"), [("y", ["hi", "0", "hi", "0", "hi", "0"]), ("n", ["hi", "0", "125", "125"])]
    )
    def test_on_a_terminal_the_operator_is_asked_once(self, answer: str, seen: list[str]) -> None:
        ours, terminal = os.openpty()
        os.write(ours, f"{answer}\n".encode())
        script = f". {EXAMPLES}/shell/guarded.bash; for i in 1 2 3; do guarded echo hi; echo $?; done"
        limits = {"TOOLBREAKER_LIMITS": '{"exact": 2, "cmd": 2}', "GUARDED_TIMEOUT": "10"}
        with subprocess.Popen(
            [str(BASH), "-c", script],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            text=True,
            env=environment(TOOLBREAKER=str(PROGRAM), **limits),
        ) as process:
            found, _ = process.communicate(timeout=PATIENCE)
        os.close(terminal)
        shown = all_of(ours)
        os.close(ours)
        assert found.split() == seen
        assert shown.count("Run it? [y/N]") == 1

    def test_pipelines_and_substitutions_share_one_server(self) -> None:
        script = (
            "x=$(guarded echo hi); guarded echo hi | guarded tr a-z A-Z; (guarded echo hi); guarded echo hi; echo $?"
        )
        done = shell(script, TOOLBREAKER_LIMITS='{"exact": 4, "cmd": 4}')
        assert done.stdout.split() == ["HI", "hi", "125"]

    def test_functions_may_use_it_inside(self) -> None:
        done = shell(
            "twice() { guarded echo hi; guarded echo hi; }; guarded twice; echo $?",
            TOOLBREAKER_LIMITS='{"exact": 2, "cmd": 2}',
        )
        assert done.stdout.split() == ["hi", "125"]

    def test_strict_scripts_keep_working(self) -> None:
        done = shell(
            "set -euo pipefail; guarded echo hi; guarded false || echo failed;"
            " guarded true; guarded false; echo not reached"
        )
        assert done.stdout.split() == ["hi", "failed"]
        assert done.returncode == 1

    def test_what_a_command_leaves_behind_does_not_hold_the_server(self, tmp_path: Path) -> None:
        ended, held = tmp_path / "ended", tmp_path / "held"
        server = scripted_server(tmp_path, f"{PROGRAM} serve; echo yes > {ended}")
        (tmp_path / "background").write_text(
            f"for i in $(seq 100); do [ -s {ended} ] && exit; sleep 0.05; done; echo yes > {held}"
        )
        done = shell(
            f"guarded sh -c 'sh {tmp_path}/background >/dev/null 2>&1 &';"
            f" pid=$_guarded_pid; exec {{_guarded_in}}>&-; wait $pid; cat {ended}",
            TOOLBREAKER=server,
        )
        assert done.stdout == "yes\n"
        assert not held.exists()

    def test_without_the_program_everything_runs_and_that_is_said_once(self) -> None:
        done = shell("for i in $(seq 20); do guarded echo hi; done", TOOLBREAKER="/nowhere/toolbreaker")
        assert done.stdout.split() == ["hi"] * 20
        assert done.stderr == "guarded: /nowhere/toolbreaker not found; commands run unguarded\n"

    @pytest.mark.parametrize(
        "script",
        ["exit 1", "exec sleep 20", "while read -r line; do echo garbage; done", "head -c 0"],
        ids=["ends at once", "says nothing", "says garbage", "closes its output"],
    )
    def test_a_server_that_is_of_no_use_stops_nothing(self, script: str, tmp_path: Path) -> None:
        server = scripted_server(tmp_path, script)
        # Ten seconds of patience with a server that just started are for those that do start.
        done = shell(
            "_guarded_started=-10; guarded echo hi; guarded echo hi; echo $?; kill $_guarded_pid 2>/dev/null; true",
            TOOLBREAKER=server,
            GUARDED_TIMEOUT="0.1",
        )
        assert done.stdout.split() == ["hi", "hi", "0"]
        assert "commands run unguarded" in done.stderr

    def test_a_server_that_is_killed_is_started_again(self) -> None:
        kill = "kill -9 $_guarded_pid; wait $_guarded_pid"
        again = "for i in 1 2 3; do guarded echo hi; echo $?; done"
        done = shell(f"guarded echo hi; {kill}; {again}", TOOLBREAKER_LIMITS='{"exact": 3, "cmd": 3}')
        assert done.stdout.split() == ["hi", "hi", "0", "hi", "0", "125"]

    def test_a_shell_that_is_not_bash_is_told_and_runs_its_commands(self) -> None:
        dash = shutil.which("dash")
        if dash is None:
            pytest.skip("there is no other shell")
        done = subprocess.run(
            [dash, "-c", f". {EXAMPLES / 'shell' / 'guarded.bash'} && guarded echo hi; guarded_turn"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "hi\n")
        (line,) = done.stderr.splitlines()
        assert "not bash" in line
        assert "unguarded" in line

    def test_it_must_be_sourced(self) -> None:
        done = subprocess.run(
            [str(BASH), str(EXAMPLES / "shell" / "guarded.bash"), "ls"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 2
        assert "Source this file" in done.stderr


# -- recordings ---------------------------------------------------------------------------------------------------


def replayed(name: str) -> tuple[dict[int, list[str]], list[int], dict[str, Any]]:
    """The advisories by call, the calls that are stopped, and the replay's own summary."""
    done = run("replay", "--jsonl", str(EXAMPLES / "recordings" / name))
    assert done.returncode == 0, done.stderr
    (session,) = map(json.loads, done.stdout.splitlines())
    calls = [event for event in session["events"] if event["event"] == "call"]
    advised = {
        call["number"]: [each["stage"] for each in call["advisories"]] for call in calls if call.get("advisories")
    }
    return advised, [call["number"] for call in calls if call["decision"] != "allow"], session


@pytest.mark.parametrize(
    ("name", "advised", "stopped", "gate"),
    [
        ("session.jsonl", {11: ["warn"], 16: ["summarize"]}, [17, 18, 19], "repeat"),
        ("a-verbatim.jsonl", {7: ["warn"], 11: ["summarize"]}, [12, 13, 14], "repeat"),
        ("b-decoys.jsonl", {7: ["warn"], 11: ["summarize"]}, [12, 13, 14], "repeat"),
        ("c-spellings.jsonl", {7: ["warn"], 11: ["summarize"]}, [12, 13], "repeat"),
        ("host-fixation.jsonl", {7: ["warn"], 11: ["summarize"]}, [16, 17], "repeat"),
        ("failures.jsonl", {3: ["failWarn"]}, [7], "failure"),
    ],
)
def test_a_recorded_session_shows_its_loop(
    name: str, advised: dict[int, list[str]], stopped: list[int], gate: str
) -> None:
    found_advised, found_stopped, session = replayed(name)
    assert found_advised == advised
    assert found_stopped == stopped
    assert session["firstStop"]["gate"] == gate


@needs_program
def test_the_demo_says_each_thing_once_and_what_comes_next() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for session in done.stdout.split("\n== "):
        assert session.count("REPEAT_TOOL_BLOCKED: this call was not run.") == 1
    assert "profile standard (which counts calls; not the default)" in done.stdout
    assert done.stdout.splitlines()[-2].startswith("Next: ")


def test_every_recorded_session_is_described() -> None:
    page = (EXAMPLES / "recordings" / "README.md").read_text()
    for file in (EXAMPLES / "recordings").glob("*.jsonl"):
        assert f"`{file.name}`" in page
        assert file.stat().st_size < 60_000
