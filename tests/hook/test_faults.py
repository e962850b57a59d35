"""Whatever goes wrong, a hook ends with 0 and prints nothing, and the fault is in the log."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hooking import Client, decision
from support import PATIENCE


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client("claude-code", tmp_path)


def call(client: Client) -> bytes:
    return json.dumps(client.event("PreToolUse-Bash")).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no event"),
        (b" \n", "no event"),
        (b"\x00\xff\xfe garbage", "not JSON"),
        (b'{"hook_event_name": "PreToolUse"', "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not an object"),
        (b'{"hook_event_name": 7}', "not an object"),
    ],
)
def test_no_event_is_a_fault(client: Client, data: bytes, said: str) -> None:
    done = client.run(data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert said in done.stderr.decode()
    assert said in client.log()
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize(
    "event",
    [
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": "PreToolUse", "session_id": 5, "tool_name": []},
        {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": {}, "tool_input": None},
        {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": "not an object"},
        {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash"},
        {"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_response": [[None]]},
        {"hook_event_name": "PostToolUseFailure", "session_id": "s", "tool_name": 4, "error": {}},
        {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": None, "transcript_path": "a\0b"},
        {"hook_event_name": "SubagentStop", "session_id": "s", "agent_id": 7, "agent_transcript_path": 1},
        {"hook_event_name": "SomethingNew", "session_id": "s"},
    ],
)
def test_an_event_of_another_shape_is_none_of_our_business(client: Client, event: dict[str, object]) -> None:
    done = client.run(json.dumps(event).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--no-such-option"], "--no-such-option"),
        (["--config"], "--config"),
        (["--config", "/nowhere/config.json"], "/nowhere/config.json"),
        (["--window", "2"], "window"),
        (["--namespace", "../x"], "namespace"),
        (["--state-days", "-1"], "--state-days"),
        (["more", "words"], "more"),
    ],
)
def test_wrong_arguments_stop_nothing(client: Client, arguments: list[str], said: str) -> None:
    done = client.run(call(client), *arguments)
    assert (done.returncode, done.stdout) == (0, b"")
    assert said in done.stderr.decode()
    assert said in client.log()


def test_no_secret_reaches_the_log(client: Client) -> None:
    done = client.run(call(client), "--token=s3cr3t-value")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "unknown arguments: --token=[secret]" in client.log()
    assert "s3cr3t" not in client.log() + done.stderr.decode()


@pytest.mark.parametrize("name", ["", "cursor", "--help-me"])
def test_another_client_is_a_fault(client: Client, name: str) -> None:
    line = [*client.line()[:-1], *([name] if name else [])]
    done = subprocess.run(
        line, input=call(client), capture_output=True, timeout=PATIENCE, env=client.variables(), check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert "known are claude-code, codex, gemini-cli" in done.stderr.decode()


def test_a_wrong_variable_is_a_fault(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path, TOOLBREAKER_WINDOW="two")
    done = client.run(call(client))
    assert (done.returncode, done.stdout) == (0, b"")
    assert "TOOLBREAKER_WINDOW" in client.log()


def test_a_gate_that_is_switched_off_says_nothing(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path, TOOLBREAKER_DISABLED="1")
    for _ in range(13):
        assert client.process("PreToolUse-Bash") is None
    assert not client.state.exists()


def test_settings_reach_the_hook(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text("limits = { exact = 2, cmd = 2 }\n")
    client = Client("claude-code", tmp_path)
    answers = [client.process("PreToolUse-Bash", "--config", str(tmp_path / "low.toml")) for _ in range(2)]
    assert [decision(answer) for answer in answers] == ["", "deny"]


def test_a_state_directory_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    client = Client("claude-code", tmp_path, XDG_STATE_HOME=str(tmp_path / "file"))
    done = client.run(call(client))
    assert (done.returncode, done.stdout) == (0, b"")
    assert "Not a directory" in done.stderr.decode()


@pytest.mark.parametrize("content", [b"garbage" * 1000, b"SQLite format 3\x00" + b"\xff" * 8192])
def test_a_state_that_is_none_is_set_aside_and_said_so(client: Client, content: bytes) -> None:
    client.state.mkdir(parents=True)
    (client.state / "default.sqlite").write_bytes(content)
    done = client.run(call(client))
    assert (done.returncode, done.stdout) == (0, b"")
    assert "set aside" in client.log()
    assert client.process("PostToolUse-Bash-ok") is None
    aside = [path for path in client.state.iterdir() if ".bad-" in path.name]
    assert [path.read_bytes() for path in aside] == [content]


def test_a_file_of_something_else_named_as_the_state_stops_nothing_and_is_left_alone(
    client: Client, tmp_path: Path
) -> None:
    precious = tmp_path / "precious.json"
    precious.write_text("{}")
    done = client.run(call(client), "--state", str(precious))
    assert (done.returncode, done.stdout) == (0, b"")
    assert f"{precious}: it is no database" in client.log()
    assert precious.read_text() == "{}"


def test_notes_that_are_none_are_begun_anew(client: Client) -> None:
    from protocol.store.sqlite import open_file

    assert client.here("UserPromptSubmit") is None
    store = open_file(client.state / "default.sqlite")
    store.keep_extra(client.session, b"\xc1 not msgpack")
    store.close()
    assert client.here("PreToolUse-Bash") is None


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_stop_nothing(client: Client, closed: str) -> None:
    event = client.home / "event.json"
    event.write_bytes(call(client))
    script = f'"$@" {closed}' if "<&-" in closed else f'"$@" < {event} {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *client.line()],
        capture_output=True,
        timeout=PATIENCE,
        env=client.variables(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_answer_that_nobody_reads_is_dropped(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path, TOOLBREAKER_LIMITS='{"exact": 2, "cmd": 2}')
    assert client.process("PreToolUse-Bash") is None
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            client.line(), input=call(client), stdout=writing, timeout=PATIENCE, env=client.variables(), check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert "BrokenPipeError" in client.log()


@pytest.mark.parametrize(
    "prelude",
    [
        "import sys; sys.modules['msgspec'] = None",
        "import sys; sys.modules['breaker.engine'] = None",
        "import sys; sys.modules['sqlite3'] = None",
        "import sys; sys.modules['protocol.hook.run'] = None",
        "import time; time.time = lambda: 1 / 0",
    ],
)
def test_a_broken_installation_stops_nothing(client: Client, prelude: str) -> None:
    done = client.run(call(client), prelude=prelude)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr


def test_an_event_that_takes_for_ever_is_given_up(client: Client) -> None:
    prelude = (
        "import time, protocol.hook.run as run\nrun.SECONDS = 1\n"
        "import protocol.decode as d\nd.decode = lambda line: time.sleep(30)"
    )
    done = client.run(call(client), prelude=prelude)
    assert (done.returncode, done.stdout) == (0, b"")
    assert "over 1 s" in client.log()


def test_the_log_does_not_grow_for_ever(client: Client) -> None:
    client.state.mkdir(parents=True)
    (client.state / "hook.log").write_text("x" * 300_000)
    client.run(b"")
    assert client.log() == ""
    assert (client.state / "hook.log.1").stat().st_size > 300_000
    client.run(b"")
    assert "no event" in client.log()


def test_the_log_is_the_user_s_alone_and_holds_a_traceback_of_our_faults(client: Client) -> None:
    client.run(call(client), prelude="import time; time.time = lambda: 1 / 0")
    assert "ZeroDivisionError" in client.log()
    assert "Traceback" in client.log()
    assert (client.state / "hook.log").stat().st_mode & 0o777 == 0o600


def test_help_is_for_people(client: Client) -> None:
    done = client.run(b"", "--help")
    assert done.returncode == 0
    assert b"usage: toolbreaker hook HARNESS" in done.stdout
