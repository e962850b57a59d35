"""Questions to the operator: where they are put, and how their answers are read out of what happens next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hooking import Client, context, decision, reason

from breaker.settings import Settings

LOW = msgspec.structs.replace(Settings(), limits={"exact": 3, "cmd": 3}, warn_at=None, summarize_at=None)
TERMINAL = {"CLAUDE_CODE_ENTRYPOINT": "cli"}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Claude Code in a terminal, at the limit of a call."""
    client = Client("claude-code", tmp_path, LOW, **TERMINAL)
    at_the_limit(client)
    return client


def at_the_limit(client: Client) -> None:
    for number in (1, 2):
        answer(client, number)
        assert call(client, number) == ""
        client.here("PostToolUse-Bash-ok", tool_use_id=f"call-{number}")


def answer(client: Client, number: int) -> None:
    """The model's response that holds a call, as it stands in the transcript by then."""
    use = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": {}}
    message = {"id": f"msg-{number}", "role": "assistant", "content": [use], "usage": {"input_tokens": 10}}
    client.write({"type": "assistant", "message": message})


def call(client: Client, number: int, **members: Any) -> str:
    same = client.event("PostToolUse-Bash-ok")["tool_input"]
    return decision(client.here("PreToolUse-Bash", tool_use_id=f"call-{number}", tool_input=same, **members))


def test_a_question_is_put_where_somebody_is(client: Client) -> None:
    answer(client, 3)
    same = client.event("PostToolUse-Bash-ok")["tool_input"]
    asked = client.here("PreToolUse-Bash", tool_use_id="call-3", tool_input=same)
    assert decision(asked) == "ask"
    assert "Approve:" in reason(asked)


def test_a_call_that_ran_after_a_question_was_approved(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    client.here("PostToolUse-Bash-ok", tool_use_id="call-3")
    for number in range(4, 8):
        answer(client, number)
        assert call(client, number) == ""
        client.here("PostToolUse-Bash-ok", tool_use_id=f"call-{number}")


def test_one_that_ran_and_failed_was_approved_as_well(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    client.here("PostToolUseFailure-Bash-exit3", tool_use_id="call-3")
    answer(client, 4)
    assert call(client, 4) == ""


def test_a_question_without_an_outcome_was_declined_by_the_next_response(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    answer(client, 4)
    same = client.event("PostToolUse-Bash-ok")["tool_input"]
    stopped = client.here("PreToolUse-Bash", tool_use_id="call-4", tool_input=same)
    assert decision(stopped) == "deny"
    assert "An exemption was asked for and not given" in reason(stopped)


def test_it_stays_open_for_calls_of_the_same_response(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    assert decision(client.here("PreToolUse-Read", tool_use_id="call-3b")) == ""
    client.here("PostToolUse-Bash-ok", tool_use_id="call-3")
    answer(client, 4)
    assert call(client, 4) == ""


def test_the_end_of_the_turn_declines_it(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    client.here("Stop")
    assert call(client, 4) == "deny"


def test_the_next_prompt_forgets_it(client: Client) -> None:
    answer(client, 3)
    assert call(client, 3) == "ask"
    client.here("UserPromptSubmit")
    at_the_limit(client)
    answer(client, 4)
    assert call(client, 4) == "ask"


@pytest.mark.parametrize(
    ("environ", "mode"), [({}, "default"), ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, "default"), (TERMINAL, "dontAsk")]
)
def test_nobody_is_asked_who_could_not_answer(tmp_path: Path, environ: dict[str, str], mode: str) -> None:
    client = Client("claude-code", tmp_path, LOW, **environ)
    at_the_limit(client)
    assert call(client, 3, permission_mode=mode) == "deny"


def test_codex_is_never_told_to_ask(tmp_path: Path) -> None:
    client = Client("codex", tmp_path, LOW, **TERMINAL)
    assert [decision(client.here("PreToolUse-Bash", tool_use_id=f"c{n}")) for n in range(4)] == ["", "", "deny", "deny"]


def test_gemini_cli_is_never_told_to_ask(tmp_path: Path) -> None:
    client = Client("gemini-cli", tmp_path, LOW, **TERMINAL)
    assert [decision(client.here("BeforeTool-shell")) for _ in range(4)] == ["", "", "deny", "deny"]


def test_nothing_is_ever_allowed_in_words(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    assert client.here("PreToolUse-Bash", permission_mode="bypassPermissions") is None
    assert context(client.here("PostToolUse-Bash-ok")) == ""
