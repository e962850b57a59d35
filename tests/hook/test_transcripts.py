"""Token usage out of the files that clients write, and budgets that stand on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from hooking import Client, decision, reason
from support import run

from breaker.settings import Settings
from protocol.hook.transcript import new_rows


def response(number: int, tokens: int = 100, **members: Any) -> dict[str, Any]:
    """A row of Claude Code's."""
    usage = {"input_tokens": tokens - 30, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10}
    message = {"id": f"msg-{number}", "role": "assistant", "content": [], "usage": usage | {"output_tokens": 7}}
    return {"type": "assistant", "message": message, **members}


def record(number: int, tokens: int = 100) -> dict[str, Any]:
    """A row of Codex's; its input holds what was cached."""
    usage = {"input_tokens": tokens, "cached_input_tokens": 30, "output_tokens": 7, "total_tokens": tokens + 7}
    return {"type": "token_usage_record", "payload": {"response_id": f"resp-{number}", "usage": usage}}


def total(number: int, tokens: int = 100) -> dict[str, Any]:
    """The row that older versions of Codex write instead, and newer ones as well."""
    last = {"input_tokens": tokens, "cached_input_tokens": 30, "output_tokens": 7, "total_tokens": tokens + 7}
    sum_ = {"total_tokens": number * (tokens + 7)}
    info = {"total_token_usage": sum_, "last_token_usage": last}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def grown(number: int, tokens: int = 100, **members: Any) -> dict[str, Any]:
    """A row of Gemini CLI's."""
    counts = {"input": tokens, "output": 7, "cached": 30}
    return {"id": f"m-{number}", "type": "gemini", "timestamp": "2026-01-01T00:00:00Z", "tokens": counts, **members}


def test_a_response_counts_once_however_many_rows_it_has(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    client.write(response(1), response(1))
    client.here("PreToolUse-Bash")
    client.write(response(1), response(2), response(1))
    client.here("PostToolUse-Bash-ok")
    client.here("Stop")
    assert client.spent() == (200, 2)


def test_rows_that_are_not_whole_yet_wait(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    row = msgspec.json.encode(response(1))
    client.transcript.write_bytes(row[:40])
    client.here("PreToolUse-Bash")
    assert client.spent() == (0, 0)
    client.transcript.write_bytes(row + b"\n")
    client.here("PostToolUse-Bash-ok")
    assert client.spent() == (100, 1)


def test_what_stood_there_before_was_paid_for_before(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.write(response(1), response(2))
    client.here("UserPromptSubmit")
    client.write(response(3))
    client.here("Stop")
    assert client.spent() == (100, 1)


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    client.write(response(1), response(2))
    client.here("Stop")
    client.transcript.unlink()
    client.write(response(3))
    client.here("Stop")
    assert client.spent() == (300, 3)


def test_rows_that_are_no_responses_count_nothing(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    synthetic = response(1)
    synthetic["message"]["model"] = "<synthetic>"
    quoted = {"type": "user", "message": {"content": '{"type":"assistant","usage":{"input_tokens":5}}'}}
    odd = {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": "many"}}}
    client.write(synthetic, quoted, odd, ["assistant"], {"type": "assistant", "message": None})
    client.here("Stop")
    assert client.spent()[0] == 0


def test_a_subagent_of_claude_code_is_charged_from_its_own_file(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    started = client.event("SubagentStart")
    agent = f"{client.session}/{started['agent_id']}"
    client.here("UserPromptSubmit")
    client.write(response(1))
    client.here("SubagentStart")
    own = tmp_path / "transcript" / "subagents" / f"agent-{started['agent_id']}.jsonl"
    client.write(response(2), to=own)
    client.here("PreToolUse-in-subagent", agent_id=started["agent_id"])
    client.write(response(3), to=own)
    client.here("SubagentStop", agent_id=started["agent_id"], agent_transcript_path=str(own))
    client.here("Stop")
    assert client.spent() == (100, 1)
    assert client.spent(agent) == (200, 2)


def test_the_fork_that_writes_a_summary_is_no_subagent(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    stopped = client.event("SubagentStop-compaction-fork")
    client.put(stopped)
    client.here("PostCompact-auto")
    assert client.spent(f"{client.session}/{stopped['agent_id']}") == (0, 0)


def test_codex_records_are_believed_before_its_totals(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    client.here("UserPromptSubmit")
    client.write(record(1), total(1))
    client.here("PreToolUse-Bash")
    client.write(total(1), record(2), total(2), record(2))
    client.here("PostToolUse-Bash-ok")
    assert client.spent() == (200, 2)


def test_totals_count_when_they_move(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    client.here("UserPromptSubmit")
    client.write(total(1), total(1))
    client.here("PreToolUse-Bash")
    client.write(total(1), total(2))
    client.here("PostToolUse-Bash-ok")
    assert client.spent() == (200, 2)


def test_a_subagent_of_codex_has_a_rollout_of_its_own(tmp_path: Path) -> None:
    client = Client("codex", tmp_path)
    own = tmp_path / "sub.jsonl"
    started = client.event("SubagentStart")
    client.here("UserPromptSubmit")
    client.write(record(1))
    client.here("SubagentStart", transcript_path=str(own))
    client.write(record(2), to=own)
    client.here("PreToolUse-in-subagent", transcript_path=str(own), agent_id=started["agent_id"])
    client.write(record(3), to=own)
    client.here("SubagentStop", agent_transcript_path=str(own), agent_id=started["agent_id"])
    client.here("Stop")
    assert client.spent() == (100, 1)
    assert client.spent(f"{client.session}/{started['agent_id']}") == (200, 2)


def test_a_message_of_gemini_cli_counts_once_while_it_grows(tmp_path: Path) -> None:
    client = Client("gemini-cli", tmp_path)
    client.here("BeforeAgent")
    client.write({"id": "m-1", "type": "gemini", "content": ""}, grown(1), grown(1, toolCalls=[]))
    client.here("BeforeTool-shell")
    client.write(grown(1, toolCalls=[{}]), grown(2))
    client.here("AfterTool-shell-ok")
    assert client.spent() == (200, 2)


def test_subagents_of_gemini_cli_are_charged_to_the_session(tmp_path: Path) -> None:
    client = Client("gemini-cli", tmp_path)
    folder = tmp_path / client.session
    client.write(grown(7), to=folder / "of-an-earlier-turn.jsonl")
    client.here("BeforeAgent")
    client.write(grown(1))
    client.write(grown(2), grown(3), to=folder / "new.jsonl")
    client.here("BeforeTool-shell")
    client.here("AfterTool-shell-ok")
    assert client.spent() == (300, 3)


def test_a_budget_stops_calls_and_a_prompt_lifts_it(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(Settings(), max_tokens=250)
    client = Client("claude-code", tmp_path, settings)
    client.here("UserPromptSubmit")
    client.write(response(1), response(2))
    assert client.here("PreToolUse-Bash", tool_use_id="c1") is None
    warned = client.here("PostToolUse-Bash-ok", tool_use_id="c1")
    assert warned is not None
    assert "200 of 250 tokens" in warned["hookSpecificOutput"]["additionalContext"]
    client.write(response(3))
    stopped = client.here("PreToolUse-Bash", tool_use_id="c2")
    assert decision(stopped) == "deny"
    assert reason(stopped).startswith("LOOP_GUARD_BUDGET_EXHAUSTED")
    client.here("UserPromptSubmit")
    assert client.here("PreToolUse-Bash", tool_use_id="c3") is None


def test_a_subagent_spends_from_the_turn_of_its_session(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(Settings(), max_tokens=250)
    client = Client("claude-code", tmp_path, settings)
    sub = client.event("SubagentStart")["agent_id"]
    client.here("UserPromptSubmit")
    client.here("SubagentStart")
    own = tmp_path / "transcript" / "subagents" / f"agent-{sub}.jsonl"
    client.write(*(response(number) for number in range(3)), to=own)
    stopped = client.here("PreToolUse-in-subagent", agent_id=sub)
    assert reason(stopped).startswith("LOOP_GUARD_BUDGET_EXHAUSTED")
    assert decision(client.here("PreToolUse-Bash")) == "deny"


def test_the_state_says_where_budgets_are_blind(tmp_path: Path) -> None:
    client = Client("claude-code", tmp_path)
    client.here("UserPromptSubmit")
    client.here("PreToolUse-Bash", transcript_path=...)
    assert "budgets are blind here" in state(client)
    client.write(response(1))
    client.here("Stop")
    assert "blind" not in state(client)


def state(client: Client) -> str:
    done = run("state", "--state", str(client.state / "default.sqlite"))
    assert done.returncode == 0
    return done.stdout.decode()


def test_a_row_of_megabytes_does_not_hold_up_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"x" * (17 * 2**20) + b"\n" + b'{"a":1}\n')
    rows, offset = new_rows(str(path), 0)
    assert (rows, offset) == ([], 16 * 2**20)
    rows, offset = new_rows(str(path), offset)
    assert rows[-1] == b'{"a":1}'
    assert offset == path.stat().st_size


def test_paths_that_are_none_are_no_files() -> None:
    assert new_rows("/nowhere/at/all", 5) == ([], 5)
    assert new_rows("a\0b", 5) == ([], 5)
