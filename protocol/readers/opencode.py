"""`opencode export ID`: one JSON document a session, `{info, messages: [{info, parts}]}`.

A tool part holds call and result together; times tell in which order parallel calls ended. Call ids repeat within
a session. A child session's `info` names its parent. The rows that `opencode run --format json` prints hold a part
each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .fields import Calls, arguments, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "opencode"

_TIMED_OUT = re.compile(r"(?:bash|shell) tool terminated command after exceeding timeout \d{1,12} ?ms")
_ABORTED = ("User aborted the command", "Tool execution aborted", "The operation was aborted", "Aborted")
_REJECTED = "The user rejected permission"


_PRINTED = {"tool_use", "step_start", "step_finish", "text", "reasoning"}


def is_row(row: dict[str, Any]) -> bool:
    return row.get("type") in _PRINTED and "sessionID" in row and isinstance(row.get("part"), dict)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader({}, context)
    messages = converted(rows, reader.printed, context.notes)
    yield Session(context.name, NAME, messages, notes=context.notes)


def is_document(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list) or "info" not in value:
        return False
    if string(path(value, "info", "id")).startswith("ses"):
        return True
    return any(isinstance(obj(message).get("parts"), list) for message in value["messages"][:10])


def read_document(value: Any, context: Context) -> Iterator[Session]:
    info = obj(value.get("info"))
    yield Session(
        string(info.get("id")) or context.name, NAME, _Reader(info, context).messages(value), notes=context.notes
    )


class _Reader:
    def __init__(self, info: dict[str, Any], context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.child = bool(info.get("parentID"))
        self.agent = string(info.get("id")) or "child" if self.child else MAIN

    def messages(self, value: dict[str, Any]) -> Iterator[Message]:
        if self.child:
            yield wire.started(self.agent, MAIN, at=seconds(path(value, "info", "time", "created")))
        yield from converted(seq(value.get("messages")), self.message, self.notes)
        if self.child:
            yield wire.ended(self.agent, seconds(path(value, "info", "time", "updated")))

    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        info, parts = obj(message.get("info")), seq(message.get("parts"))
        at = seconds(path(info, "time", "created"))
        if info.get("role") == "user":
            kinds = {string(obj(part).get("type")) for part in parts}
            if "compaction" in kinds:
                yield wire.compacted(self.agent, at)
            elif not self.child and any(map(_by_person, parts)):
                yield wire.user_turn(self.agent, at)
            return
        yield from self.response(info, parts, at)

    def response(self, info: dict[str, Any], parts: list[Any], at: float | None) -> Iterator[Message]:
        """The parts of an answer; each `step-finish` closes one request to the model."""
        message_id = string(info.get("id"))
        steps: list[list[dict[str, Any]]] = [[]]
        finished = []
        for part in map(obj, parts):
            if part.get("type") == "tool":
                steps[-1].append(part)
            elif part.get("type") == "step-finish":
                finished.append(part)
                steps.append([])
        for number, tools in enumerate(steps):
            tokens = finished[number] if number < len(finished) else None
            if tokens is not None:
                yield from self.usage(tokens, string(tokens.get("id")), at)
            elif not finished and number == 0:
                yield from self.usage(info, message_id, at)
            yield from self.step(tools, f"{message_id}/{number}", at)

    def printed(self, row: dict[str, Any]) -> Iterator[Message]:
        """A tool's row comes when the call is over."""
        part, at = obj(row.get("part")), seconds(row.get("timestamp"))
        if row.get("type") == "tool_use":
            yield from self.step([part], string(part.get("messageID")), at)
        elif row.get("type") == "step_finish":
            yield from self.usage(part, string(part.get("id")), at)

    def usage(self, holder: dict[str, Any], request: str, at: float | None) -> Iterator[Message]:
        tokens = obj(holder.get("tokens"))
        used = wire.usage(
            self.agent,
            request or None,
            inputs=tokens.get("input"),
            outputs=tokens.get("output"),
            cache_read=path(tokens, "cache", "read"),
            cache_write=path(tokens, "cache", "write"),
            at=at,
        )
        if used:
            yield used

    def step(self, tools: list[dict[str, Any]], step: str, at: float | None) -> Iterator[Message]:
        """All calls of one response, then their results in the order in which they ended."""
        results: list[tuple[float, str, dict[str, Any]]] = []
        for part in tools:
            state = obj(part.get("state"))
            begun = seconds(path(state, "time", "start")) or at
            call_id = self.calls.open(self.agent, string(part.get("callID")) or string(part.get("id")))
            tool = string(part.get("tool"))
            given = state.get("input") or arguments(state.get("raw"))
            yield wire.guard(self.agent, call_id, tool, given, begun, step)
            if state.get("status") in ("completed", "error"):
                ended = seconds(path(state, "time", "end")) or begun
                results.append((ended if ended is not None else 0.0, call_id, state))
        results.sort(key=lambda result: result[0])
        for ended, call_id, state in results:
            child = string(path(state, "metadata", "sessionId"))
            if child and child != self.agent:
                yield wire.started(child, self.agent, call_id=call_id, at=seconds(path(state, "time", "start")))
                yield wire.ended(child, ended or None)
            yield wire.settled(self.agent, call_id, _result(state), ended or None)


def _by_person(part: Any) -> bool:
    part = obj(part)
    if part.get("type") == "text":
        return bool(string(part.get("text")).strip()) and not part.get("synthetic") and not part.get("ignored")
    return part.get("type") in ("file", "subtask")


def _result(state: dict[str, Any]) -> dict[str, Any]:
    metadata = obj(state.get("metadata"))
    if state.get("status") == "error":
        said = text(state.get("error"))
        if said.startswith(_ABORTED):
            return wire.result(said, value=wire.foreground(interrupted=True))
        return wire.result(said, error=True, code="rejected" if said.startswith(_REJECTED) else None)
    said = text(state.get("output"))
    tail = said[-400:]
    timed_out = _TIMED_OUT.search(tail)
    if timed_out:
        return wire.result(said, value=wire.foreground(timed_out=True, timeout_ms=wire.milliseconds(timed_out[0])))
    if "User aborted the command" in tail:
        return wire.result(said, value=wire.foreground(interrupted=True))
    return wire.result(said, value=wire.foreground(metadata.get("exit")))
