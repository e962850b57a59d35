"""Whole sessions, every event in a process of its own: what is stopped, what is said, what starts afresh."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hooking import Answer, Client, context, decision, numbered, reason
from support import PATIENCE

CHECK = "CONVERGENCE_CHECK:"


def spoken(answer: Answer) -> str:
    """The first word of what the model is told."""
    return context(answer).partition(" ")[0]


def test_claude_code_through_forty_events(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    send = client.process
    assert send("UserPromptSubmit") is None
    same = {"tool_input": {"command": "echo same", "description": "Look again"}}
    said = []
    for number, call in enumerate(numbered(11), 1):
        assert send("PreToolUse-Bash", tool_use_id=call, **same) is None
        told = send("PostToolUse-Bash-ok", tool_use_id=call, **same)
        if told is not None:
            assert told["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
            said.append((number, spoken(told)))
    assert said == [(7, CHECK), (11, CHECK)]
    stopped = send("PreToolUse-Bash", tool_use_id="toolu_0012", **same)
    assert stopped is not None
    assert stopped["hookSpecificOutput"].keys() == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    assert stopped["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert reason(stopped).startswith("REPEAT_TOOL_BLOCKED: ")
    # A subagent has a window of its own.
    assert send("SubagentStart") is None
    assert send("PreToolUse-in-subagent", tool_use_id="toolu_0013", **same) is None
    assert send("PostToolUse-in-subagent", tool_use_id="toolu_0013", **same) is None
    assert send("SubagentStop") is None
    assert decision(send("PreToolUse-Bash", tool_use_id="toolu_0014", **same)) == "deny"
    # The client speaks by itself, then a person does.
    assert send("UserPromptSubmit-task-notification-shell") is None
    assert decision(send("PreToolUse-Bash", tool_use_id="toolu_0015", **same)) == "deny"
    assert send("UserPromptSubmit") is None
    assert send("PreToolUse-Bash", tool_use_id="toolu_0016", **same) is None
    told = []
    for number, call in enumerate(numbered(5), 1):
        assert send("PreToolUse-Bash", tool_use_id=f"{call}b") is None
        answer = send("PostToolUseFailure-Bash-exit3", tool_use_id=f"{call}b")
        if answer is not None:
            told.append((number, answer["hookSpecificOutput"]["hookEventName"], spoken(answer)))
    assert told == [(3, "PostToolUseFailure", CHECK)]
    assert decision(send("PreToolUse-Bash", tool_use_id="toolu_0006b")) == "deny"
    assert send("Stop") is None
    assert send("SessionEnd") is None
    assert client.log() == ""


def test_codex_through_forty_events(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    send = client.process
    assert send("UserPromptSubmit") is None
    same = {"tool_input": {"command": "echo same"}}
    said = []
    for number, call in enumerate(numbered(11), 1):
        assert send("PreToolUse-Bash", tool_use_id=call, **same) is None
        client.write(finished(call, 0))
        answer = send("PostToolUse-Bash-ok", tool_use_id=call, **same)
        said += [number] * (spoken(answer) == CHECK)
    assert said == [7, 11]
    stopped = send("PreToolUse-Bash", tool_use_id="toolu_0012", **same)
    assert decision(stopped) == "deny"
    assert reason(stopped).startswith("REPEAT_TOOL_BLOCKED: ")
    assert send("SubagentStart") is None
    assert send("PreToolUse-in-subagent", tool_use_id="toolu_0013", **same) is None
    assert send("PostToolUse-in-subagent", tool_use_id="toolu_0013", **same) is None
    assert send("SubagentStop") is None
    assert send("UserPromptSubmit-in-subagent-v1") is None
    assert decision(send("PreToolUse-Bash", tool_use_id="toolu_0014", **same)) == "deny"
    assert send("UserPromptSubmit") is None
    failing = {"tool_input": {"command": "make check"}}
    told = []
    for number, call in enumerate(numbered(5), 1):
        assert send("PreToolUse-Bash", tool_use_id=f"{call}b", **failing) is None
        client.write(finished(f"{call}b", 2))
        answer = send("PostToolUse-Bash-exit3", tool_use_id=f"{call}b", **failing)
        told += [number] * (spoken(answer) == CHECK)
    assert told == [3]
    assert decision(send("PreToolUse-Bash", tool_use_id="toolu_0006b", **failing)) == "deny"
    assert send("Stop") is None
    assert client.log() == ""


def finished(call: str, code: int) -> dict[str, object]:
    item = {"type": "CommandExecution", "id": call, "exit_code": code, "status": "completed" if code == 0 else "failed"}
    return {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}


def test_gemini_cli_through_forty_events(tmp_path: Path) -> None:
    client = Client("gemini-cli", tmp_path)
    send = client.process
    assert send("BeforeAgent") is None
    said = []
    for number in range(1, 12):
        assert send("BeforeTool-shell", tool_input={"command": "echo same"}) is None
        answer = send("AfterTool-shell-ok", tool_input={"command": "echo same"})
        if answer is not None:
            assert answer["hookSpecificOutput"]["hookEventName"] == "AfterTool"
            said.append((number, spoken(answer)))
    assert said == [(7, CHECK), (11, CHECK)]
    stopped = send("BeforeTool-shell", tool_input={"command": "echo same"})
    assert stopped is not None
    assert stopped.keys() == {"decision", "reason"}
    assert stopped["decision"] == "deny"
    assert stopped["reason"].startswith("REPEAT_TOOL_BLOCKED: ")
    assert send("PreCompress") is None
    assert decision(send("BeforeTool-shell", tool_input={"command": "echo same"})) == "deny"
    assert send("BeforeAgent") is None
    told = []
    for number in range(1, 6):
        assert send("BeforeTool-shell") is None
        answer = send("AfterTool-shell-exit3")
        told += [number] * (spoken(answer) == CHECK)
    assert told == [3]
    assert decision(send("BeforeTool-shell")) == "deny"
    # Two that run at once come back in another order.
    assert send("BeforeTool-parallel-1") is None
    assert send("BeforeTool-parallel-2") is None
    assert send("AfterTool-parallel-2") is None
    assert send("AfterTool-parallel-1") is None
    assert send("AfterAgent") is None
    assert client.log() == ""


@pytest.mark.parametrize(
    ("harness", "event"),
    [("claude-code", "PreToolUse-Bash"), ("codex", "PreToolUse-Bash"), ("gemini-cli", "BeforeTool-shell")],
)
def test_eight_processes_at_once_count_as_eight(tmp_path: Path, harness: str, event: str) -> None:
    client = Client(harness, tmp_path)
    answers: list[bytes] = []
    for batch in range(2):
        running = []
        for number in range(8):
            data = json.dumps(client.event(event, tool_use_id=f"call-{batch}-{number}")).encode()
            process = subprocess.Popen(
                client.line(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=client.variables(),
            )
            assert process.stdin is not None
            process.stdin.write(data)
            process.stdin.close()
            process.stdin = None
            running.append(process)
        for process in running:
            out, errors = process.communicate(timeout=PATIENCE)
            assert (process.returncode, errors) == (0, b"")
            answers.append(out)
    # 16 equal calls: the 12th and all after it are stopped, whichever those were.
    assert sorted(bool(answer) for answer in answers) == [False] * 11 + [True] * 5
    assert all(decision(json.loads(answer)) == "deny" for answer in answers if answer)
