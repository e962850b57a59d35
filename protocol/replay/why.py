"""Why one recorded call got its verdict: its identities, and the calls of the window that carry them too."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.settings import Settings

from .report import CallEvent, MarkEvent, SessionReport
from .table import clean

_WIDTH = 100


def why(report: SessionReport, number: int, settings: Settings) -> Iterator[str]:
    """Lines for people about call `number` of a session that was judged with its events. No such call: nothing."""
    calls = [event for event in report.events if isinstance(event, CallEvent)]
    call = next((event for event in calls if event.number == number), None)
    if call is None:
        return
    yield f"{clean(report.name)}, call {number} of {report.calls}, agent {clean(call.agent)}"
    yield f"{clean(call.tool)}: {clean(call.arguments, _WIDTH)}"
    yield ""
    yield f"{call.decision}{f', {call.code}' if call.code else ''}"
    for hit in call.hits:
        detail = f": {clean(hit.detail, _WIDTH)}" if hit.detail else ""
        yield f"  {hit.gate} {hit.count} of {hit.limit} on {clean(hit.fingerprint or 'this agent', _WIDTH)}{detail}"
    window = _window(report, call, settings.window)
    for identity in call.identities:
        yield ""
        yield f"{clean(identity.fingerprint, _WIDTH)}"
        limit = "is not counted" if identity.limit is None else f"is stopped at {identity.limit}"
        failures = f", after {identity.failures} failures in a row" if identity.failures else ""
        yield f"  occurrence {identity.count} in the window, {limit}{failures}"
        for earlier in window:
            if any(each.fingerprint == identity.fingerprint for each in earlier.identities):
                ended = str(earlier.failure) if earlier.failure else earlier.recorded
                ran = ended if earlier.decision == "allow" else earlier.decision
                yield f"    call {earlier.number:>5}  {ran:<10.10} {clean(earlier.arguments, 70)}"
    text = call.reason or call.question
    if text:
        yield ""
        yield "What was said:"
        yield from (f"  {clean(line)}" for line in text.splitlines())


def _window(report: SessionReport, call: CallEvent, size: int) -> list[CallEvent]:
    """The last calls of the same agent and turn before this one."""
    found: list[CallEvent] = []
    for event in report.events:
        if isinstance(event, MarkEvent):
            if event.kind == "userTurn" and event.agent == call.agent:
                found.clear()
        elif event.number >= call.number:
            break
        elif event.agent == call.agent:
            found.append(event)
    return found[-size:]
