"""Codex. Its events give no exit code; the rollout file has it by then, and the usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from breaker.events import Result, Usage
from protocol.hook import claude_shape
from protocol.hook.claude_shape import agent, ask, deny, plain_result, said, tell
from protocol.hook.harness import Event, FileNotes, Kind, News, count, members, text
from protocol.hook.transcript import last_rows
from protocol.hook.transcript import row as decoded

__all__ = ["KINDS", "agent", "ask", "by_person", "call", "can_ask", "deny", "result", "row", "tell", "transcripts"]

KINDS: Mapping[str, Kind] = {
    "PreToolUse": "call",
    "PostToolUse": "result",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SubagentStart": "started",
    "SubagentStop": "ended",
    "PostCompact": "compacted",
}

_NAMESPACE = "collaboration"
"""Put in front of the names of its own tools for subagents, without anything between."""


def call(event: Event) -> tuple[str, Any, str]:
    tool, arguments, call_id = claude_shape.call(event)
    return tool.removeprefix(_NAMESPACE), arguments, call_id


def by_person(_event: Event) -> bool:
    return True


def can_ask(_event: Event, _environ: Mapping[str, str]) -> bool:
    """Never: it runs a call that it was told to ask about."""
    return False


def result(event: Event) -> Result:
    response = event.get("tool_response")
    item = _item(text(event.get("transcript_path")), text(event.get("tool_use_id")))
    code = item.get("exit_code")
    if isinstance(code, int):
        return Result(said(response), {"kind": "foreground", "exitCode": code})
    if item.get("status") in ("failed", "declined") or item.get("error"):
        return Result(said(response), is_error=True)
    return plain_result(response)


def _item(path: str, call_id: str) -> dict[str, Any]:
    """What the rollout says of a call that is over, in the form of today or of older versions."""
    if not path or not call_id:
        return {}
    for told in last_rows(path, call_id.encode("utf-8", "replace")):
        payload = members(told.get("payload"))
        item = members(payload.get("item"))
        if payload.get("type") == "item_completed" and item.get("id") == call_id:
            return item
        if payload.get("type") == "exec_command_end" and payload.get("call_id") == call_id:
            return payload
    return {}


def transcripts(event: Event) -> list[tuple[str, bool]]:
    """Every thread has a file of its own."""
    own = text(event.get("agent_transcript_path")) or text(event.get("transcript_path"))
    return [(own, "agent_id" in event)] if own else []


def row(row: bytes, agent: str, notes: FileNotes, news: News) -> None:
    """Records of usage name the response; older versions have running totals, which come more than once."""
    if b'"token_usage_record"' in row:
        told = decoded(row)
        payload = members(told.get("payload"))
        response = text(payload.get("response_id"))
        if told.get("type") != "token_usage_record" or not response:
            return
        notes.records, notes.step = True, response
        _charge(members(payload.get("usage")), agent, response, news)
    elif b'"token_count"' in row and not notes.records:
        info = members(members(decoded(row).get("payload")).get("info"))
        total = count(members(info.get("total_token_usage")).get("total_tokens"))
        if total:
            notes.step = f"total-{total}"
            _charge(members(info.get("last_token_usage")), agent, notes.step, news)


def _charge(counts: dict[str, Any], agent: str, request: str, news: News) -> None:
    cached, written = count(counts.get("cached_input_tokens")), count(counts.get("cache_write_input_tokens"))
    fresh = max(0, count(counts.get("input_tokens")) - cached - written)
    news.usages.append(Usage(agent, fresh, count(counts.get("output_tokens")), cached, written, request))
