"""Our own traffic: bare request lines, and the files that `--record` writes (`{"t": seconds, "in"|"out": message}`).

`initialize` empties the server's memory, so each one after the first message begins a session of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import arguments, obj, path, seconds, seq, string
from .session import Context, Message, Session

NAME = "requests"
RECORD = "record"

METHODS = ("guard", "postExecute", "approval", "userTurn", "compacted", "usage", "agentStarted", "agentEnded")
_KNOWN = (*METHODS, "initialize", "status", "shutdown")
_TIMED = ("guard", "postExecute", "userTurn", "usage", "agentStarted")
"""Methods whose time, when they carry none, is that of their arrival."""


def is_request(row: Any) -> bool:
    if isinstance(row, list):
        return bool(row) and is_request(row[0])
    if not isinstance(row, dict) or row.get("method") not in _KNOWN:
        return False
    return "jsonrpc" in row or "params" in row


def is_record(row: dict[str, Any]) -> bool:
    return "t" in row and ("in" in row or "out" in row)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    yield from _sessions(((row, None) for row in rows), context, NAME)


def read_document(value: Any, context: Context) -> Iterator[Session]:
    yield from _sessions(iter([(value, None)]), context, NAME)


def read_record(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    yield from _sessions(_received(rows), context, RECORD)


def _received(rows: Iterator[Any]) -> Iterator[tuple[Any, float | None]]:
    """What came in, with the ids that the server made up for calls that had none."""
    pending: dict[Any, dict[str, Any]] = {}
    held: list[tuple[Any, float | None]] = []
    for row in map(obj, rows):
        at = seconds(row.get("t"))
        if "in" in row:
            message = arguments(row["in"]) if isinstance(row["in"], str) else row["in"]
            held.append((message, at))
            for request in seq(message) or [obj(message)]:
                params = obj(obj(request).get("params"))
                if obj(request).get("method") == "guard" and not params.get("callId"):
                    pending[_key(obj(request).get("id"))] = params
            if pending:
                continue
        elif "out" in row:
            answer = arguments(row["out"]) if isinstance(row["out"], str) else row["out"]
            for reply in seq(answer) or [obj(answer)]:
                params = pending.pop(_key(obj(reply).get("id")), {})
                made = string(path(reply, "result", "callId"))
                if made:
                    params["callId"] = made
        if len(held) > 1000 or not pending:
            pending.clear()
            yield from held
            held.clear()
    yield from held


def _key(identifier: Any) -> str:
    return repr(identifier)


def _sessions(rows: Iterator[tuple[Any, float | None]], context: Context, name: str) -> Iterator[Session]:
    stream = _Stream(rows, context)
    while stream.more():
        session = Session(context.name, name, stream.messages(), notes=context.notes)
        if stream.parts > 1:
            session.name = f"{context.name}#{stream.parts}"
        session.config = stream.config
        session.can_ask = stream.can_ask
        yield session
        for _ in session.messages:
            pass


class _Stream:
    """Requests one after the other, with a look at the next: it may be the one that begins afresh."""

    def __init__(self, rows: Iterator[tuple[Any, float | None]], context: Context) -> None:
        self.requests = _flat(rows, context)
        self.next: tuple[dict[str, Any], float | None] | None = None
        self.parts = 0
        self.config: dict[str, Any] | None = None
        self.can_ask = True

    def more(self) -> bool:
        """Whether another session begins; takes in its `initialize`."""
        if self.next is None:
            self.next = next(self.requests, None)
        while self.next is not None and self.next[0]["method"] == "initialize":
            params = obj(self.next[0].get("params"))
            self.config = obj(params.get("config")) or None
            self.can_ask = path(params, "capabilities", "ask") is not False
            self.next = next(self.requests, None)
        self.parts += self.next is not None
        return self.next is not None

    def messages(self) -> Iterator[Message]:
        while self.next is not None and self.next[0]["method"] != "initialize":
            (request, at), self.next = self.next, None
            method, params = request["method"], obj(request.get("params"))
            if method in METHODS:
                timed = method in _TIMED and "at" not in params
                yield method, {**params, "at": at} if timed else params
            self.next = next(self.requests, None)


def _flat(rows: Iterator[tuple[Any, float | None]], context: Context) -> Iterator[tuple[dict[str, Any], float | None]]:
    for row, at in rows:
        for request in row if isinstance(row, list) else [row]:
            if isinstance(request, dict) and isinstance(request.get("method"), str):
                yield request, at
            elif not (isinstance(request, dict) and ("result" in request or "error" in request)):
                context.notes.skip("no request")
