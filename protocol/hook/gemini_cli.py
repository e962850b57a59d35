"""Gemini CLI. Calls have no ids, subagents look like the main agent, a question would end the process."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from breaker.events import Result, Usage
from protocol.hook.claude_shape import tell
from protocol.hook.harness import Event, FileNotes, Kind, News, count, members, text
from protocol.hook.transcript import row as decoded

__all__ = ["KINDS", "agent", "ask", "by_person", "call", "can_ask", "deny", "result", "row", "tell", "transcripts"]

KINDS: Mapping[str, Kind] = {
    "BeforeTool": "call",
    "AfterTool": "result",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
}
"""PreCompress is none of them: it comes before every request to the model, whether anything is summarised or not."""

_SHELL = "run_shell_command"
_BACKGROUND = re.compile(r"^Command moved to background \(PID: \d", re.MULTILINE)
_CANCELLED = re.compile(r"^(?:Command was cancelled|Command cancelled by user|\[Operation Cancelled\])", re.MULTILINE)
_HEAD_CHARS = 400
_SUMMARISED = "Chat history compressed"


def agent(event: Event) -> tuple[str, str | None]:
    return text(event.get("session_id")), None


def call(event: Event) -> tuple[str, Any, str]:
    return text(event.get("tool_name")), event.get("tool_input"), ""


def by_person(_event: Event) -> bool:
    return True


def can_ask(_event: Event, _environ: Mapping[str, str]) -> bool:
    return False


def result(event: Event) -> Result:
    """The exit code and the time-out of a command stand in its text, which the judgement reads itself."""
    response = members(event.get("tool_response"))
    content = response.get("llmContent", response.get("returnDisplay"))
    if isinstance(content, dict):
        content = [content]
    error = members(response.get("error"))
    if error:
        return Result(content, is_error=True, error={"code": error.get("type"), "message": error.get("message")})
    if event.get("tool_name") == _SHELL:
        head = text(content)[:_HEAD_CHARS]
        if _BACKGROUND.search(head):
            return Result(content, {"kind": "background"})
        if _CANCELLED.search(head):
            return Result(content, {"kind": "foreground", "interrupted": True})
    return Result(content)


def transcripts(event: Event) -> list[tuple[str, bool]]:
    """The session's file, and those of its subagents in a folder beside it."""
    path = text(event.get("transcript_path"))
    if not path:
        return []
    folder = os.path.join(os.path.dirname(path), text(event.get("session_id")))  # noqa: PTH118, PTH120
    try:
        names = sorted(os.listdir(folder)) if event.get("session_id") else []  # noqa: PTH208
    except (OSError, ValueError):
        names = []
    return [(path, False), *((f"{folder}/{name}", True) for name in names if name.endswith(".jsonl"))]


def row(row: bytes, agent: str, notes: FileNotes, news: News) -> None:
    """A message is written again, with its id, whenever it grew."""
    if b'"gemini"' in row:
        message = decoded(row)
        response = text(message.get("id"))
        tokens = members(message.get("tokens"))
        if message.get("type") != "gemini" or not response or not tokens:
            return
        seen, notes.step = notes.step, response
        if response != seen:
            cached = count(tokens.get("cached"))
            fresh = max(0, count(tokens.get("input")) - cached)
            news.usages.append(Usage(agent, fresh, count(tokens.get("output")), cached, 0, response))
    elif _SUMMARISED.encode() in row:
        message = decoded(row)
        if message.get("type") == "info" and text(message.get("content")).startswith(_SUMMARISED):
            news.compacted = True


def deny(_event: Event, reason: str) -> dict[str, Any]:
    return {"decision": "deny", "reason": reason}


ask = deny
