"""Reports for people at a terminal: a table, one line an event, and what a stop would have saved."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from breaker.events import Hit

from .report import CallEvent, Event, MarkEvent, SessionReport, Stop, Total

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NAME = 34
_IDENTITY = 38


def clean(text: str, width: int = 0) -> str:
    """Text of a recording, safe for a terminal: one line, no control characters, cut in the middle of nothing."""
    flat = _CONTROL.sub(lambda found: " " if found[0] in "\n\r\t" else "\N{REPLACEMENT CHARACTER}", text)
    if width and len(flat) > width:
        return flat[: width - 1] + "…"
    return flat


def number(value: int) -> str:
    """12345 as 12 345."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def some(value: int, thing: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number(value)} {thing}" if value == 1 else f"{number(value)} {_MANY.get(thing, thing + 's')}"


_MANY = {"advisory": "advisories"}


def tokens(value: int) -> str:
    """A token count as people say it."""
    if value < 1000:
        return str(value)
    return f"{value / 1000:.0f} k" if value < 1_000_000 else f"{value / 1_000_000:.1f} M"


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def share(report: SessionReport | Total) -> str:
    return f"{100 * report.failed / report.settled:.0f}%" if report.settled else "-"


HEADINGS = ("session", "calls", "turns", "failed", "failure run", "repetition", "advised", "blocked")
_LEFT = (0, 4, 5)
_NARROWEST = 60
COLUMNS = 100
"""How wide a report is where nothing says how wide the terminal is."""


def rows(report: SessionReport) -> tuple[str, ...]:
    run, strongest = report.longest_run, report.strongest
    limit = f"/{strongest.limit:g}" if strongest and strongest.limit else ""
    return (
        clean(report.name, _NAME),
        number(report.calls),
        number(report.turns),
        share(report),
        f"{run.count} {clean(run.fingerprint, _IDENTITY)}" if run else "-",
        f"{strongest.count}{limit} {clean(strongest.fingerprint, _IDENTITY)}" if strongest else "-",
        number(report.advised),
        number(report.blocked),
    )


def table(reports: Iterable[SessionReport], columns: int = COLUMNS) -> Iterator[str]:
    """The lines of the table, stops below their session."""
    listed = list(reports)
    cells = [HEADINGS, *map(rows, listed)]
    widths = _fitted([max(len(row[column]) for row in cells) for column in range(len(HEADINGS))], columns)
    yield _aligned(HEADINGS, widths)
    for report, row in zip(listed, cells[1:], strict=True):
        yield _aligned(row, widths)
        yield from details(report, columns)


def _fitted(widths: list[int], columns: int) -> list[int]:
    """The widths with the widest names and identities narrowed until a row fits."""
    fitted = list(widths)
    for _ in range(sum(widths) + 2 * (len(widths) - 1) - max(columns, _NARROWEST)):
        fitted[max(_LEFT, key=fitted.__getitem__)] -= 1
    return fitted


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    padded = [
        clean(cell, width).ljust(width) if column in _LEFT else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def details(report: SessionReport, columns: int = COLUMNS) -> Iterator[str]:
    """What a row has no room for."""
    for line in _details(report):
        yield from wrapped(line, columns, "    ")


def wrapped(line: str, columns: int, indent: str = "") -> list[str]:
    """A line for people in lines that fit, each but the first a little further in."""
    width = max(columns, _NARROWEST)
    return textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False)


def _details(report: SessionReport) -> Iterator[str]:
    if report.first_stop:
        yield f"stopped at {stop(report.first_stop)}"
        yield saved(report.first_stop)
    if report.granted:
        yield f"{report.granted} of {some(report.asked, 'ask')} approved in the recording"
    if report.skipped or report.unpaired:
        first = f": {clean(report.remarks[0], 100)}" if report.remarks else ""
        lost = [f"{report.skipped} unreadable"] if report.skipped else []
        lost += [f"{some(report.unpaired, 'result')} without a call"] if report.unpaired else []
        yield f"skipped: {', '.join(lost)}{first}"
    elif report.remarks:
        yield f"remark: {clean(report.remarks[0], 160)}"


def stop(found: Stop) -> str:
    what = found.fingerprint or found.detail or found.tool
    agent = "" if found.agent == "main" else f" of {clean(found.agent, 24)}"
    why = f" ({clean(found.detail, 80)})" if found.fingerprint and found.detail else ""
    where = f"call {found.number}{agent}: {found.gate} {of(found.count, found.limit)}"
    return f"{where} {clean(what, 80)}{why}, {found.code}"


def of(count: int, limit: int | float) -> str:
    """`12/12`; token counts as people say them."""
    return f"{tokens(count)}/{tokens(int(limit))}" if limit >= 10_000 else f"{count}/{limit:g}"


def saved(found: Stop) -> str:
    """The upper bound of what a stop saves: what the recording did from there to the end of the turn."""
    parts = [some(found.calls, "call")]
    if found.tokens:
        parts.append(f"{tokens(found.tokens)} input tokens")
    if found.seconds and found.seconds >= 1:
        parts.append(duration(found.seconds))
    again = f"; {number(found.blocked)} of the calls would have been stopped" if found.blocked > 1 else ""
    return f"the turn went on for {', '.join(parts)}{again}"


def total(found: Total) -> Iterator[str]:
    failures = f"; {share(found)} of the results are failures" if found.settled else ""
    yield f"{some(found.sessions, 'session')}, {some(found.calls, 'call')}, {some(found.turns, 'user turn')}{failures}"
    gates = ", ".join(f"{gate} {count}" for gate, count in sorted(found.blocked_by.items(), key=lambda item: -item[1]))
    because = f" ({gates})" if gates else ""
    yield (
        f"{some(found.stopped, 'session')} stopped, {some(found.blocked, 'call')} blocked{because}, "
        f"{some(found.advisories, 'advisory')} in {some(found.advised, 'session')}"
    )
    if found.stopped:
        spent = f" and {tokens(found.tokens_after_stops)} input tokens" if found.tokens_after_stops else ""
        yield f"from the first stops to the ends of their turns: {some(found.after_stops, 'call')}{spent}"
    if found.skipped:
        yield f"{some(found.skipped, 'line')} or entries were unreadable and left out"


# -- one line an event --------------------------------------------------------------------------------------

_VERDICTS = {"allow": "  ", "deny": "✗ ", "ask": "? "}
_RECORDED = {"ok": "", "failed": "failed", "neutral": "", "unknown": "no result"}


def event_lines(event: Event, width: int = 120) -> Iterator[str]:
    """An event as one line; its hits and advisories on the same."""
    yield clean(_call(event, width) if isinstance(event, CallEvent) else _mark(event))


def _call(event: CallEvent, width: int) -> str:
    agent = "" if event.agent == "main" else f"[{event.agent}] "
    head = f"{_VERDICTS[event.decision]}{event.number:>4} {agent}{event.tool} "
    notes = [_hit(hit) for hit in event.hits]
    if event.failure and event.decision == "allow":
        detail = f" {event.failure.detail}" if event.failure.detail else ""
        notes.append(f"failed: {event.failure.reason}{detail}")
    elif event.decision == "allow" and _RECORDED[event.recorded]:
        notes.append(_RECORDED[event.recorded])
    if event.answer:
        notes.append(f"asked, {event.answer}")
    notes += [f"advises {advisory.stage} {advisory.summary}" for advisory in event.advisories]
    said = clean(event.arguments, max(20, width - len(head)))
    return head + said + (f"  ← {'; '.join(notes)}" if notes else "")


def _hit(hit: Hit) -> str:
    what = hit.fingerprint or hit.detail or ""
    return f"{hit.gate} {of(hit.count, hit.limit)} {clean(what, 60)}".rstrip()


def _mark(event: MarkEvent) -> str:
    said = {
        "userTurn": "── a user's message",
        "compacted": "── the history is summarised",
        "agentStarted": f"── agent {event.agent} starts, for {event.parent}",
        "agentEnded": f"── agent {event.agent} ends",
        "notice": "── " + "; ".join(f"advises {a.stage} {a.summary}" for a in event.advisories),
    }[event.kind]
    agent = f" to {event.agent}" if event.kind == "userTurn" and event.agent != "main" else ""
    return f"{said}{agent}"
