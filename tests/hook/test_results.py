"""What counts as a failure in each client's own words: three of them in a row are told to the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hooking import Client, context


def outcome(client: Client, before: str, after: str, **members: Any) -> str:
    """What the model is told after the same call came out like this three times."""
    told = ""
    for number in range(3):
        call = {"tool_use_id": f"call-{number}"} | members
        client.here(before, **{key: value for key, value in call.items() if key not in ("tool_response", "error")})
        told = context(client.here(after, **call))
    return told


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("PostToolUseFailure-Bash-exit3", "exit 3"),
        ("PostToolUseFailure-Bash-exit127", "exit 127"),
        ("PostToolUseFailure-Bash-timeout", "timeout 1000ms"),
        ("PostToolUse-Bash-ok", None),
        ("PostToolUse-Bash-grep-exit1-is-success", None),
        ("PostToolUse-Bash-timeout-autobackgrounded", None),
    ],
)
def test_commands_of_claude_code(tmp_path: Path, event: str, said: str | None) -> None:
    client = Client("claude-code", tmp_path)
    call = client.event(event)["tool_input"]
    told = outcome(client, "PreToolUse-Bash", event, tool_input=call)
    assert (f"failed 3 times in a row, last with: {said}" in told) if said else told == ""


def test_other_tools_of_claude_code(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    missing = client.event("PostToolUseFailure-Read-missing")["tool_input"]
    assert "last with: error" in outcome(
        client, "PreToolUse-Read", "PostToolUseFailure-Read-missing", tool_input=missing
    )
    assert outcome(client, "PreToolUse-Read", "PostToolUse-Read") == ""
    assert outcome(client, "PreToolUse-Read", "PostToolUse-Agent", tool_name="Agent", tool_input={"prompt": "x"}) == ""


def test_what_the_user_interrupted_is_no_failure(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    told = outcome(client, "PreToolUse-Bash", "PostToolUseFailure-Bash-exit3", is_interrupt=True)
    assert told == ""
    response = {"stdout": "", "stderr": "", "interrupted": True, "isImage": False}
    assert outcome(client, "PreToolUse-Bash", "PostToolUse-Bash-ok", tool_response=response) == ""


def test_an_error_of_an_mcp_server_is_a_failure(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    response = {"content": [{"type": "text", "text": "no such issue"}], "isError": True}
    told = outcome(
        client,
        "PreToolUse-Read",
        "PostToolUse-Read",
        tool_name="mcp__tracker__get",
        tool_input={},
        tool_response=response,
    )
    assert "failed 3 times in a row" in told


def test_a_bridge_that_gives_no_exit_code_has_its_text_read(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    fields = {"tool_name": "bash", "tool_input": {"command": "make"}, "transcript_path": ..., "tool_use_id": ...}
    told = ""
    for _ in range(3):
        assert client.here("PreToolUse-Bash", **fields) is None
        told = context(client.here("PostToolUse-Bash-ok", **fields, tool_response="no rule\n[exit code: 2]"))
    assert "failed 3 times in a row, last with: exit 2" in told
    assert client.spent() == (0, 0)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"type": "CommandExecution", "exit_code": 3, "status": "failed"}, "exit 3"),
        ({"type": "CommandExecution", "exit_code": 0, "status": "completed"}, None),
        ({"type": "McpToolCall", "status": "failed", "error": {"message": "no"}}, "error"),
        ({"type": "FileChange", "status": "completed"}, None),
        ({"type": "FileChange", "status": "failed"}, "error"),
    ],
)
def test_calls_of_codex_have_their_outcome_in_the_rollout(
    tmp_path: Path, item: dict[str, Any], said: str | None
) -> None:
    client = Client("codex", tmp_path)
    for number in range(3):
        completed = {"type": "item_completed", "item": item | {"id": f"call-{number}"}}
        client.write({"type": "event_msg", "payload": completed})
    client.write({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call-2"}})
    told = outcome(client, "PreToolUse-Bash", "PostToolUse-Bash-exit3")
    assert (f"last with: {said}" in told) if said else told == ""


def test_an_older_codex_tells_the_exit_code_in_another_row(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    for number in range(3):
        ended = {"type": "exec_command_end", "call_id": f"call-{number}", "exit_code": 4}
        client.write({"type": "event_msg", "payload": ended})
    assert "last with: exit 4" in outcome(client, "PreToolUse-Bash", "PostToolUse-Bash-exit3")


def test_a_rollout_is_searched_from_its_end_far_back(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    for number in range(3):
        item = {"type": "CommandExecution", "id": f"call-{number}", "exit_code": 5}
        client.write({"type": "event_msg", "payload": {"type": "item_completed", "item": item}})
    client.write({"type": "response_item", "payload": {"text": "x" * 700_000}})
    assert "last with: exit 5" in outcome(client, "PreToolUse-Bash", "PostToolUse-Bash-exit3")


def test_the_patch_tool_of_codex_says_its_exit_code_itself(tmp_path: Path) -> None:
    assert outcome(Client("codex", tmp_path), "PreToolUse-apply_patch", "PostToolUse-apply_patch") == ""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("BeforeTool-shell", "AfterTool-shell-exit3", "exit 3"),
        ("BeforeTool-shell", "AfterTool-shell-grep-exit1", "exit 1"),
        ("BeforeTool-shell", "AfterTool-shell-timeout", "timeout"),
        ("BeforeTool-shell", "AfterTool-shell-ok", None),
        ("BeforeTool-shell", "AfterTool-shell-background", None),
        ("BeforeTool-read_file", "AfterTool-read_file-missing", "error file_not_found"),
        ("BeforeTool-read_file", "AfterTool-read_file", None),
    ],
)
def test_calls_of_gemini_cli(tmp_path: Path, before: str, after: str, said: str | None) -> None:
    client = Client("gemini-cli", tmp_path)
    call = client.event(after)
    told = outcome(client, before, after, tool_name=call["tool_name"], tool_input=call["tool_input"])
    assert (f"last with: {said}" in told) if said else told == ""


def test_a_call_that_never_came_back_leaves_the_next_one_of_its_kind_alone(tmp_path: Path) -> None:
    client = Client("gemini-cli", tmp_path)
    client.here("BeforeTool-shell")  # cancelled by the user, who then speaks
    client.here("BeforeAgent")
    told = [context(client.here("AfterTool-shell-exit3")) for _ in range(3) if client.here("BeforeTool-shell") is None]
    assert ["failed 3 times" in text for text in told] == [False, False, True]
