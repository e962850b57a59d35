"""The list of formats, and which one a file is in: found by what its first rows look like."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import (
    chat,
    claude_code,
    cline,
    codex,
    copilot_cli,
    dsh,
    gemini_cli,
    mini_swe_agent,
    opencode,
    openhands,
    requests,
    sessions,
    swe_agent,
    tau_bench,
)
from .fields import MALFORMED
from .session import Context, Session

Reader = Callable[[Any, Context], Iterator[Session]]


@dataclass(frozen=True)
class Format:
    """A format as JSON lines (`is_row`, `rows`), as one JSON document (`is_document`, `document`), or as both."""

    name: str
    is_row: Callable[[Any], bool] | None = None
    rows: Reader | None = None
    is_document: Callable[[Any], bool] | None = None
    document: Reader | None = None


FORMATS = (
    Format(requests.RECORD, requests.is_record, requests.read_record),
    Format(requests.NAME, requests.is_request, requests.read, requests.is_request, requests.read_document),
    Format(sessions.NAME, sessions.is_session, sessions.read, sessions.is_session, sessions.read_document),
    Format(claude_code.NAME, claude_code.is_row, claude_code.read),
    Format(codex.NAME, codex.is_row, codex.read),
    Format(copilot_cli.NAME, copilot_cli.is_row, copilot_cli.read),
    Format(dsh.NAME, dsh.is_row, dsh.read),
    Format(gemini_cli.NAME, gemini_cli.is_row, gemini_cli.read, gemini_cli.is_document, gemini_cli.read_document),
    Format(opencode.NAME, opencode.is_row, opencode.read, opencode.is_document, opencode.read_document),
    Format(openhands.NAME, openhands.is_event, openhands.read, openhands.is_document, openhands.read_document),
    Format(tau_bench.NAME, None, None, tau_bench.is_document, tau_bench.read_document),
    Format(tau_bench.NAME2, None, None, tau_bench.is_document2, tau_bench.read_document2),
    Format(swe_agent.NAME, None, None, swe_agent.is_document, swe_agent.read_document),
    Format(mini_swe_agent.NAME, None, None, mini_swe_agent.is_document, mini_swe_agent.read_document),
    Format(cline.NAME, None, None, cline.is_document, cline.read_document),
    Format(chat.NAME, chat.is_row, chat.read, chat.is_document, chat.read_document),
)
"""In the order in which they are asked: the one with the least of its own last."""

ALIASES = {"openai": chat.NAME, "anthropic": chat.NAME}
"""Other names that people look for."""

NAMES = (*(each.name for each in FORMATS), *ALIASES)


def of_rows(head: list[Any]) -> Format | None:
    """The line format that most of the first rows belong to."""
    best, most = None, 0
    for each in FORMATS:
        fitting = sum(1 for row in head if each.is_row and _fits(each.is_row, row))
        if fitting > most:
            best, most = each, fitting
    return best


def of_document(value: Any) -> Format | None:
    """The first format that takes the document for its own."""
    return next((each for each in FORMATS if each.is_document and _fits(each.is_document, value)), None)


def _fits(test: Callable[[Any], bool], value: Any) -> bool:
    if not isinstance(value, dict | list):
        return False
    try:
        return test(value)
    except MALFORMED:
        return False
