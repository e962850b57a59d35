"""Which files belong to one run: harnesses write a subagent's rows to a file of its own.

Only the head of a file is looked at. Gemini's files do not say whose subagent they are.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from . import claude_code, codex, dsh, formats, opencode
from .fields import Recent, obj, path, string
from .session import Message, Notes, RecordingError, Session
from .source import decode, decompressed, lines

_HEAD = 24
_DOCUMENT = 64 << 20
"""Bytes up to which a document is opened just to see whose it is."""


class Thread(NamedTuple):
    """A run by its format and id, and whether the file is of a subagent of it."""

    format: str
    run: str
    child: bool


def thread_of(file: Path) -> Thread | None:
    """The run a file belongs to; None when its format has no such thing or it is no recording."""
    try:
        with file.open("rb") as stream:
            rows = []
            for _, line in lines(decompressed(stream, str(file)), Notes()):
                try:
                    rows.append(decode(line))
                except ValueError:
                    # A document that is spread over lines.
                    if not rows and (line.strip() == b"{" or line.startswith(b'{"info"')):
                        return _of_document(file)
                if len(rows) >= _HEAD:
                    break
    except (OSError, RecordingError):
        return None
    found = formats.of_rows(rows)
    if found is None:
        return _opencode(rows[0]) if len(rows) == 1 else None
    for row in map(obj, rows):
        thread = _of_row(found.name, row)
        if thread:
            return thread
    return None


def _of_row(form: str, row: dict[str, object]) -> Thread | None:
    if form == claude_code.NAME:
        run = string(row.get("sessionId"))
        told = run and "isSidechain" in row
        return Thread(form, run, bool(row["isSidechain"] and row.get("agentId"))) if told else None
    if form == codex.NAME and row.get("type") == "session_meta":
        meta = obj(row.get("payload"))
        parent = string(meta.get("parent_thread_id")) or string(
            path(meta, "source", "subagent", "thread_spawn", "parent_thread_id")
        )
        run = string(meta.get("session_id")) or parent or string(meta.get("id"))
        return Thread(form, run, bool(parent)) if run else None
    if form == dsh.NAME and row.get("type") == "session":
        parent = string(row.get("parentSession")) if row.get("origin") == "subagent" else ""
        run = parent or string(row.get("id"))
        return Thread(form, run, bool(parent)) if run else None
    return None


def _of_document(file: Path) -> Thread | None:
    if file.stat().st_size > _DOCUMENT:
        return None
    try:
        return _opencode(decode(file.read_bytes()))
    except (OSError, ValueError):
        return None


def _opencode(value: object) -> Thread | None:
    parent, own = string(path(value, "info", "parentID")), string(path(value, "info", "id"))
    if not (own and opencode.is_document(value)):
        return None
    return Thread(opencode.NAME, parent or own, bool(parent))


def merged(sessions: Sequence[Session]) -> Session:
    """One session of several: the first one's name, everybody's messages in the order of their times.

    What two files tell of the same call or the same agent counts once.
    """
    first = sessions[0]
    return Session(
        first.name,
        first.format,
        _once(_by_time([session.messages for session in sessions])),
        source=first.source,
        outcome=first.outcome,
        config=first.config,
        can_ask=first.can_ask,
        notes=first.notes,
    )


def _by_time(streams: Sequence[Iterator[Message]]) -> Iterator[Message]:
    """A file's order is kept; a message without a time goes with the one before it."""
    waiting: list[tuple[float, int, Message]] = []

    def take(number: int, clock: float) -> None:
        message = next(streams[number], None)
        if message is not None:
            at = message[1].get("at")
            clock = max(clock, at) if isinstance(at, int | float) else clock
            heapq.heappush(waiting, (clock, number, message))

    for number in range(len(streams)):
        take(number, float("-inf"))
    while waiting:
        clock, number, message = heapq.heappop(waiting)
        yield message
        take(number, clock)


def _once(messages: Iterator[Message]) -> Iterator[Message]:
    told = Recent()
    for method, params in messages:
        if method in ("guard", "postExecute"):
            if not told.add((method, params.get("agent"), params.get("callId"))):
                continue
        elif method in ("agentStarted", "agentEnded") and not told.add((method, params.get("agent"))):
            continue
        yield method, params
