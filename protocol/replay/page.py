"""One self-contained HTML page of a replay. The template stands beside this file; only data is put into it.

Recordings are hostile input. They reach the page as JSON in which no `<`, `>` or `&` is left, and the page's script
puts them into text nodes and nowhere else; a content security policy forbids it to load anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from breaker.options import wire
from breaker.settings import Settings

from .report import CallEvent, MarkEvent, SessionReport, Total, plain

MAX_ARGUMENTS = 600
"""Characters of a call's arguments that the page shows; a stopped call's are shown up to `judge.MAX_SHOWN`."""
MAX_TEXT = 6000

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def page(reports: Sequence[SessionReport], total: Total, settings: Settings) -> str:
    """The page as text."""
    texts = _Table()
    data = {
        "settings": wire(settings),
        "total": plain(total),
        "sessions": [_session(report, texts) for report in reports],
        "texts": texts.entries,
    }
    template = files("protocol.replay").joinpath("page.html").read_text("utf-8")
    return template.replace("__DATA__", embedded(data), 1)


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: ASCII, without a character that markup is made of."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


class _Table:
    """Strings by number: identities and texts come again and again."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int | None:
        if text is None:
            return None
        if text not in self._numbers:
            self._numbers[text] = len(self.entries)
            self.entries.append(text)
        return self._numbers[text]


def _session(report: SessionReport, texts: _Table) -> dict[str, Any]:
    identities, agents, tools = _Table(), _Table(), _Table()
    calls: list[list[Any]] = []
    turns: list[int] = []
    for event in report.events:
        if isinstance(event, CallEvent):
            calls.append(_call(event, identities, agents, tools, texts))
        elif isinstance(event, MarkEvent) and event.kind == "userTurn":
            turns.append(len(calls) + 1)
    stop = report.first_stop
    return {
        "name": report.name,
        "source": report.source,
        "format": report.format,
        "outcome": report.outcome,
        "turns": report.turns,
        "settled": report.settled,
        "failed": report.failed,
        "advised": report.advised,
        "blocked": report.blocked,
        "remarks": report.remarks,
        "run": [report.longest_run.fingerprint, report.longest_run.count] if report.longest_run else None,
        "best": [report.strongest.fingerprint, report.strongest.count, report.strongest.limit]
        if report.strongest
        else None,
        "stop": {
            "number": stop.number,
            "identity": identities.number(stop.fingerprint),
            "calls": stop.calls,
            "blocked": stop.blocked,
            "tokens": stop.tokens,
            "seconds": stop.seconds,
        }
        if stop
        else None,
        "turnsAt": [turn for turn in dict.fromkeys(turns) if turn <= len(calls)],
        "calls": calls,
        "agents": agents.entries,
        "tools": tools.entries,
        "identities": identities.entries,
    }


def _call(event: CallEvent, identities: _Table, agents: _Table, tools: _Table, texts: _Table) -> list[Any]:
    failure = event.failure
    shown = event.arguments
    if event.decision == "allow" and len(shown) > MAX_ARGUMENTS:
        shown = f"{shown[:MAX_ARGUMENTS]}…"
    return [
        event.number,
        agents.number(event.agent),
        tools.number(event.tool),
        shown,
        event.decision,
        event.recorded,
        " ".join(filter(None, (failure.reason, failure.detail))) if failure else None,
        event.at,
        event.step,
        [[hit.gate, identities.number(hit.fingerprint), hit.count, hit.limit, hit.detail] for hit in event.hits],
        [[identities.number(each.fingerprint), each.count, each.limit, each.failures] for each in event.identities],
        [
            [each.stage, each.gate, identities.number(each.fingerprint), each.count, texts.number(each.text[:MAX_TEXT])]
            for each in event.advisories
        ],
        texts.number(event.reason),
        texts.number(event.question),
        event.answer,
    ]
