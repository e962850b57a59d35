"""Claude Code, and DSH's bridge for its hooks, which gives no exit code, no usage and no parent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from breaker.events import Result, Usage
from protocol.hook import claude_shape
from protocol.hook.claude_shape import ask, call, deny, plain_result, said, tell
from protocol.hook.harness import Event, FileNotes, Kind, News, count, members, text
from protocol.hook.transcript import row as decoded

__all__ = ["KINDS", "agent", "ask", "by_person", "call", "can_ask", "deny", "result", "row", "tell", "transcripts"]

KINDS: Mapping[str, Kind] = {
    "PreToolUse": "call",
    "PostToolUse": "result",
    "PostToolUseFailure": "result",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SubagentStart": "started",
    "SubagentStop": "ended",
    "PostCompact": "compacted",
}

NOT_A_PERSON = ("<task-notification>", "<system-reminder>", "<teammate-message", "<tick>")
"""How prompts begin that the client submits by itself."""

_EXIT = re.compile(r"Exit code (\d{1,9})(?:\n|\Z)")
_TIMED_OUT = re.compile(r"Command timed out after (\d{1,9})(?:\.\d{1,9})?(ms|s|m)\b")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}
_SHELL_MEMBERS = {"stdout", "stderr", "interrupted"}


def agent(event: Event) -> tuple[str, str | None]:
    """A summary is written by a fork of the agent that has no type, and is no subagent."""
    if "agent_id" in event and event.get("agent_type") == "":
        return "", None
    return claude_shape.agent(event)


def by_person(event: Event) -> bool:
    return not text(event.get("prompt")).lstrip().startswith(NOT_A_PERSON)


def can_ask(event: Event, environ: Mapping[str, str]) -> bool:
    """In a terminal alone: under `-p` a question is a denial, and `dontAsk` makes it one everywhere."""
    return environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli" and event.get("permission_mode") != "dontAsk"


def result(event: Event) -> Result:
    """A failure has an event of its own, with a text that may begin with the exit code."""
    if event.get("hook_event_name") == "PostToolUseFailure":
        return _failure(text(event.get("error")), event.get("is_interrupt") is True)
    response = event.get("tool_response")
    known = members(response)
    if known.get("backgroundTaskId") or known.get("status") == "async_launched":
        return Result(said(response), {"kind": "background"})
    if known.keys() >= _SHELL_MEMBERS:
        output = "\n".join(filter(None, (text(known["stdout"]), text(known["stderr"]))))
        if known["interrupted"] is True:
            return Result(output, {"kind": "foreground", "interrupted": True})
        return Result(output, {"kind": "foreground", "exitCode": 0})
    return plain_result(response)


def _failure(error: str, interrupted: bool) -> Result:
    if interrupted:
        return Result(error, {"kind": "foreground", "interrupted": True})
    exited = _EXIT.match(error)
    if exited is None:
        return Result(error, is_error=True, error={"message": error})
    output = error[exited.end() :]
    late = _TIMED_OUT.match(output)
    if late:
        limit = int(late[1]) * _MILLISECONDS[late[2]]
        return Result(output, {"kind": "foreground", "timedOut": True, "timeoutMs": limit})
    return Result(output, {"kind": "foreground", "exitCode": int(exited[1])})


def transcripts(event: Event) -> list[tuple[str, bool]]:
    """The session's file; a subagent's lies in a folder beside it, whatever path the event gives."""
    own = text(event.get("agent_transcript_path"))
    if own:
        return [(own, True)]
    path, sub = text(event.get("transcript_path")), text(event.get("agent_id"))
    if sub:
        return [(f"{path.removesuffix('.jsonl')}/subagents/agent-{sub}.jsonl", True)] if path else []
    return [(path, False)] if path else []


def row(row: bytes, agent: str, notes: FileNotes, news: News) -> None:
    """Every row of a response repeats its usage: the response's id counts once."""
    if b'"assistant"' not in row:
        return
    told = decoded(row)
    message = members(told.get("message"))
    response = text(message.get("id"))
    if told.get("type") != "assistant" or not response:
        return
    seen, notes.step = notes.step, response
    counts = members(message.get("usage"))
    if response == seen or not counts or message.get("model") == "<synthetic>":
        return
    news.usages.append(
        Usage(
            agent,
            count(counts.get("input_tokens")),
            count(counts.get("output_tokens")),
            count(counts.get("cache_read_input_tokens")),
            count(counts.get("cache_creation_input_tokens")),
            response,
        )
    )
