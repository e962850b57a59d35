"""No secret that a call or a result shows reaches a file of ours or standard error: the bytes are searched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import message, run

SECRETS = {
    "userinfo": "uX7userinfoSecret",
    "header": "hX7headerSecret99",
    "curl -u": "cX7curlSecret",
    "variable": "vX7variableSecret",
    "option": "oX7optionSecret",
    "argument": "aX7argumentSecret",
    "nested": "nX7nestedSecret",
    "query": "qX7querySecret",
    "cookie": "kX7cookieSecret",
    "shape": "ghp_sX7shapeSecret00000000000000000000",
    "key": "MIIEpX7keySecret",
    "heredoc": "dX7heredocSecret",
    "result": "rX7resultSecret",
    "error": "eX7errorSecret",
    "broken": "bX7brokenSecret",
}

CALLS: list[tuple[str, Any]] = [
    ("bash", {"command": f"git clone https://me:{SECRETS['userinfo']}@a.example/r.git > log"}),
    ("bash", {"command": f"curl -H 'Authorization: Bearer {SECRETS['header']}' https://a.example/x"}),
    ("bash", {"command": f"curl -su me:{SECRETS['curl -u']} -b sid={SECRETS['cookie']} https://a.example/y"}),
    ("bash", {"command": f"API_TOKEN={SECRETS['variable']} make deploy; mysql --password {SECRETS['option']} db"}),
    ("bash", {"command": f"cat > .env <<'EOF'\nDB_PASSWORD={SECRETS['heredoc']}\nEOF"}),
    ("login", {"user": "me", "password": SECRETS["argument"]}),
    ("request", {"headers": [{"name": "X-Api-Key", "value": SECRETS["nested"]}], "auth": {"token": SECRETS["nested"]}}),
    ("fetch", {"url": f"https://a.example/z?access_token={SECRETS['query']}&page=1"}),
    ("write", {"path": "key", "content": f"-----BEGIN RSA PRIVATE KEY-----\n{SECRETS['key']}\n-----END"}),
    ("say", {"text": f"the token is {SECRETS['shape']}"}),
]


def traffic() -> bytes:
    """Every call until it is stopped, with results and errors that show secrets; and lines that are broken."""
    lines: list[bytes] = []
    for index, (tool, arguments) in enumerate(CALLS):
        for number in range(14):
            call_id = f"{index}-{number}"
            output = f"AuthError: password={SECRETS['result']} https://me:{SECRETS['userinfo']}@a.example"
            result: dict[str, Any] = {"content": output, "isError": number % 2 == 0}
            result["error"] = {"code": "AUTH", "message": f"token: {SECRETS['error']}"}
            lines.append(message("guard", {"callId": call_id, "tool": tool, "arguments": arguments, "explain": True}))
            lines.append(message("approval", {"callId": call_id, "outcome": "rejected"}))
            lines.append(message("postExecute", {"callId": call_id, "result": result}))
    lines.append(b'{"password": "' + SECRETS["broken"].encode() + b'", \n')
    lines.append(message("initialize", {"config": {"password": SECRETS["broken"]}}))
    return b"".join(lines)


def shown(data: bytes) -> list[str]:
    return [name for name, secret in SECRETS.items() if secret.encode() in data]


def kept(folder: Path) -> bytes:
    """Everything in a folder's files, their names included."""
    return b"".join(str(path).encode() + path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("profile", ["standard", "loop-guard", "adaptive"])
def test_neither_state_nor_recording_nor_standard_error_holds_a_secret(profile: str, tmp_path: Path) -> None:
    files = ["--state", str(tmp_path / "state.sqlite"), "--record", str(tmp_path / "recording.jsonl")]
    done = run("serve", "--profile", profile, *files, data=traffic())
    assert done.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"state.sqlite", "recording.jsonl"}
    assert shown(kept(tmp_path)) == []
    assert shown(done.stderr) == []


def test_a_verdict_shows_no_secret_but_in_what_it_quotes() -> None:
    done = run("serve", data=traffic())
    for line in done.stdout.splitlines():
        result = json.loads(line).get("result", {})
        for each in result.get("hits", []) + result.get("fingerprints", []) + result.get("advisories", []):
            assert shown(json.dumps(each).encode()) == []
        before, _, _ = result.get("reason", "").partition("quoted as data")
        assert shown(before.encode()) == []


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini-cli"])
def test_what_hooks_keep_holds_no_secret(client: str, tmp_path: Path) -> None:
    before, after = ("BeforeTool", "AfterTool") if client == "gemini-cli" else ("PreToolUse", "PostToolUse")
    rename = {"bash": "run_shell_command" if client == "gemini-cli" else "Bash"}
    for index, (tool, arguments) in enumerate(CALLS):
        for name in (before, after):
            event = {
                "session_id": "s",
                "transcript_path": str(tmp_path / "none"),
                "cwd": str(tmp_path),
                "hook_event_name": name,
                "tool_name": rename.get(tool, tool),
                "tool_input": arguments,
                "tool_use_id": str(index),
                "tool_response": {"stdout": f"password={SECRETS['result']}", "stderr": SECRETS["error"]},
                "error": f"token: {SECRETS['error']}",
            }
            home = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
            done = run("hook", client, data=json.dumps(event).encode(), **home)
            assert done.returncode == 0
            assert shown(done.stderr + done.stdout) == []
    assert kept(tmp_path)
    assert shown(kept(tmp_path)) == []


FAULT = f"""
from breaker.engine import Engine
def fault(self, *args, **options):
    raise RuntimeError("cannot judge https://me:{SECRETS["userinfo"]}@a.example with token={SECRETS["variable"]}")
Engine.guard = fault
"""


def test_a_traceback_shows_no_secret(tmp_path: Path) -> None:
    done = run("serve", data=message("guard", {"tool": "x", "arguments": {}}), prelude=FAULT)
    assert b"cannot judge" in done.stderr
    assert shown(done.stderr) == []
    event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    data = json.dumps({**event, "cwd": "/", "transcript_path": "/none"}).encode()
    done = run("hook", "claude-code", data=data, prelude=FAULT, XDG_STATE_HOME=str(tmp_path), HOME=str(tmp_path))
    assert done.returncode == 0
    assert shown(done.stderr + kept(tmp_path)) == []


def test_a_page_of_a_replay_shows_no_secret(tmp_path: Path) -> None:
    recording = tmp_path / "requests.jsonl"
    recording.write_bytes(traffic())
    done = run("replay", "--html", str(tmp_path / "page.html"), str(recording))
    assert done.returncode == 0
    assert shown((tmp_path / "page.html").read_bytes() + done.stdout + done.stderr) == []
