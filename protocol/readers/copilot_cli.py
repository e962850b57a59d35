"""GitHub Copilot CLI event logs: `~/.copilot/session-state/<id>/events.jsonl`.

Rows are `{type, data, id, timestamp, parentId}`. A subagent's calls carry `parentToolCallId` (or `agentId`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .fields import Calls, Recent, arguments, blocks, converted, obj, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "copilot-cli"

_PREFIXES = ("session.", "assistant.", "tool.", "user.", "hook.", "subagent.", "system.", "skill.")
_EXIT = re.compile(
    r"<(?:shellId: [^<>\n]{1,60} completed|exited|command [^<>\n]{1,60} completed) with exit code (-?\d{1,9})>"
)
_RUNNING = re.compile(r"<command with [^<>\n]{1,60} is still running")
_REJECTED = ("denied", "rejected", "user_declined")


def is_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return isinstance(kind, str) and kind.startswith(_PREFIXES) and isinstance(row.get("data"), dict)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader(context)
    yield Session(context.name, NAME, reader.messages(rows), notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.owners: dict[str, str] = {}
        """Raw id of an open call -> the agent that made it."""
        self.steps: dict[str, str] = {}
        """Raw id of a call that was asked for -> the response it came in."""
        self.children: dict[str, str] = {}
        """Raw id of the call that started a subagent -> that subagent."""
        self.requests = Recent()
        self.turn: dict[str, str] = {}

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.row, self.notes)

    def agent_of(self, data: dict[str, Any], row: dict[str, Any]) -> str:
        raw = string(data.get("parentToolCallId"))
        return self.children.get(raw) or (f"sub-{raw}" if raw else string(row.get("agentId")) or MAIN)

    def row(self, row: dict[str, Any]) -> Iterator[Message]:
        kind, data, at = string(row.get("type")), obj(row.get("data")), seconds(row.get("timestamp"))
        agent = self.agent_of(data, row)
        if kind == "user.message":
            if agent == MAIN and data.get("source", "user") in ("user", None) and string(data.get("content")).strip():
                yield wire.user_turn(agent, at)
        elif kind == "assistant.turn_start":
            self.turn[agent] = string(data.get("turnId"))
        elif kind == "assistant.message":
            for request in seq(data.get("toolRequests")):
                self.steps[string(obj(request).get("toolCallId"))] = string(data.get("messageId"))
        elif kind == "assistant.usage":
            yield from self.usage(data, agent, at)
        elif kind == "tool.execution_start":
            yield from self.start(data, agent, at)
        elif kind == "tool.execution_complete":
            yield from self.complete(data, at)
        elif kind == "subagent.started":
            raw = string(data.get("toolCallId"))
            child = string(data.get("agentId")) or f"sub-{raw}"
            self.children[raw] = child
            yield wire.started(child, self.owners.get(raw, MAIN), call_id=raw, at=at)
        elif kind in ("subagent.completed", "subagent.failed"):
            child = self.children.get(string(data.get("toolCallId")), "")
            if child:
                yield wire.ended(child, at)
        elif kind == "session.compaction_complete" and data.get("success") is not False:
            yield wire.compacted(agent, at)

    def usage(self, data: dict[str, Any], agent: str, at: float | None) -> Iterator[Message]:
        request = string(data.get("apiCallId")) or string(data.get("providerCallId"))
        if request and not self.requests.add(request):
            return
        used = wire.usage(
            agent,
            request or None,
            inputs=data.get("inputTokens"),
            outputs=data.get("outputTokens"),
            cache_read=data.get("cacheReadTokens"),
            cache_write=data.get("cacheWriteTokens"),
            inclusive=True,
            at=at,
        )
        if used:
            yield used

    def start(self, data: dict[str, Any], agent: str, at: float | None) -> Iterator[Message]:
        raw, tool = string(data.get("toolCallId")), string(data.get("toolName"))
        step = self.steps.pop(raw, "") or string(data.get("turnId")) or self.turn.get(agent, "")
        self.owners[raw] = agent
        call_id = self.calls.open(agent, raw)
        yield wire.guard(agent, call_id, tool, arguments(data.get("arguments")), at, step or None)

    def complete(self, data: dict[str, Any], at: float | None) -> Iterator[Message]:
        raw = string(data.get("toolCallId"))
        agent = self.owners.pop(raw, "")
        call_id = self.calls.close(agent, raw)
        if call_id is None:
            self.notes.unpaired += 1
            return
        yield wire.settled(agent, call_id, _result(data), at)


def _result(data: dict[str, Any]) -> dict[str, Any]:
    answer, error = data.get("result"), obj(data.get("error"))
    content = blocks(obj(answer).get("content", answer) if isinstance(answer, dict) else answer)
    said = text(content)
    code = string(error.get("code"))
    if data.get("success") is False:
        shown = content or text(error.get("message", ""))
        return wire.result(shown, error=True, code="rejected" if code in _REJECTED else code or None)
    exited = None
    for match in _EXIT.finditer(said[-400:]):
        exited = match[1]
    if exited is not None:
        return wire.result(content, value=wire.foreground(exited))
    if _RUNNING.search(said[-600:]):
        return wire.result(content, value=wire.BACKGROUND)
    return wire.result(content)
