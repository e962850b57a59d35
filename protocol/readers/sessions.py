"""Sessions already in wire terms: a line each, `{session, outcome, messages: [[method, params], …]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .fields import obj, seq, string
from .requests import METHODS
from .session import Context, Message, Session

NAME = "sessions"


def is_session(row: Any) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("messages"), list):
        return False
    if not row["messages"]:
        return "session" in row and "outcome" in row
    first = row["messages"][0]
    method = first[0] if isinstance(first, list) and len(first) == 2 else obj(first).get("method")
    return method in METHODS or method == "initialize"


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    for row in rows:
        if is_session(row):
            yield _session(row, context)
        else:
            context.notes.skip("no session")


def read_document(value: Any, context: Context) -> Iterator[Session]:
    yield from read(iter([value]), context)


def _session(row: dict[str, Any], context: Context) -> Session:
    outcome = row.get("outcome")
    return Session(
        string(row.get("session")) or context.name,
        NAME,
        _messages(seq(row["messages"]), context),
        outcome=None if outcome is None else str(outcome),
        config=obj(row.get("config")) or None,
        notes=context.notes,
    )


def _messages(entries: list[Any], context: Context) -> Iterator[Message]:
    for entry in entries:
        if isinstance(entry, list) and len(entry) == 2:
            method, params = entry
        else:
            method, params = obj(entry).get("method"), obj(entry).get("params")
        if method in METHODS and isinstance(params, dict):
            yield str(method), {"at": None, **params}
        else:
            context.notes.skip("no message")
