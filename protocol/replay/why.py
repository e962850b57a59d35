"""Why one recorded call got its verdict: where every rule stood, and what led there."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.adaptive_limits import RULES
from breaker.evidence.log import Entry
from breaker.messages import PROGRESS, named
from breaker.settings import Settings

from .judge import Closeup
from .report import CallEvent, MarkEvent, SessionReport
from .table import clean, some

_WIDTH = 100
_ARGUMENTS = 48
_LONG_WORDS = "What would have counted as progress: "


def why(report: SessionReport, closeup: Closeup, settings: Settings) -> Iterator[str]:
    """Lines for people about a call of a session that was judged with its events. No such call: nothing."""
    calls = {event.number: event for event in report.events if isinstance(event, CallEvent)}
    call = calls.get(closeup.number)
    if call is None:
        return
    yield f"{clean(report.name)}, call {call.number} of {report.calls}, agent {clean(call.agent)}"
    yield f"{clean(call.tool)}: {clean(call.arguments, _WIDTH)}"
    yield ""
    yield f"{call.decision}{f', {call.code}' if call.code else ''}"
    for hit in call.hits:
        detail = f": {clean(hit.detail, _WIDTH)}" if hit.detail else ""
        about = "" if hit.fingerprint and not named(hit) else f" on {clean(named(hit) or 'this agent', _WIDTH)}"
        yield f"  {hit.gate} {hit.count} of {hit.limit}{about}{detail}"
    yield from _counted(report, call, settings)
    if closeup.rules is not None:
        yield from _rules(closeup, call, settings)
        yield from _evidence(closeup, call, calls)
    elif all(identity.limit is None for identity in call.identities):
        yield ""
        yield f"No identity of this call has a limit in the profile {settings.profile}."
    text = call.reason or call.question
    if text:
        yield ""
        yield "What was said:"
        yield from (f"  {clean(line)}" for line in text.splitlines())


def _counted(report: SessionReport, call: CallEvent, settings: Settings) -> Iterator[str]:
    """The identities that are counted, each with the calls of the window that carry it too."""
    window = _window(report, call, settings.window)
    for identity in call.identities:
        if identity.limit is None:
            continue
        yield ""
        yield f"{clean(identity.fingerprint, _WIDTH)}"
        failures = f", after {some(identity.failures, 'failure')} in a row" if identity.failures else ""
        yield f"  occurrence {identity.count} in the window, is stopped at {identity.limit}{failures}"
        for earlier in window:
            if any(each.fingerprint == identity.fingerprint for each in earlier.identities):
                ended = str(earlier.failure) if earlier.failure else earlier.recorded
                ran = ended if earlier.decision == "allow" else earlier.decision
                yield f"    call {earlier.number:>5}  {ran:<10.10} {clean(earlier.arguments, 70)}"


def _rules(closeup: Closeup, call: CallEvent, settings: Settings) -> Iterator[str]:
    """Where each adaptive rule stands, and what would have counted as progress where nothing else says so."""
    found = closeup.rules or ()
    yield ""
    yield "The adaptive rules, by what had settled before this call:"
    for hit in found:
        detail = f": {clean(hit.detail, _WIDTH)}" if hit.detail and hit.count > 1 else ""
        yield f"  {hit.gate} {hit.count} of {hit.limit}{detail}"
        if hit.gate not in {each.gate for each in call.hits}:
            yield f"    {PROGRESS[hit.gate].replace(_LONG_WORDS, 'progress: ')}"
    spoke = {"sameAnswer" if hit.gate == "poll" else hit.gate for hit in found}
    silent = [name for name in RULES if settings.adaptive.get(name) and name not in spoke]
    if silent:
        yield f"  nothing against it: {', '.join(silent)}"


def _evidence(closeup: Closeup, call: CallEvent, calls: dict[int, CallEvent]) -> Iterator[str]:
    """What the rules look at: each settled call, whether it is the same as this one, and what it brought."""
    if not closeup.evidence:
        return
    mine = {identity.fingerprint for identity in call.identities if identity.fingerprint.startswith(("exact:", "cmd:"))}
    yield ""
    yield "What had settled, and what it brought (= the same call as this one):"
    first: dict[tuple[str, str], int] = {}
    for number, entry in closeup.evidence:
        event = calls[number]
        is_same = entry.strict == closeup.action or any(each.fingerprint in mine for each in event.identities)
        same = "=" if is_same else " "
        earlier = first.setdefault((entry.strict, entry.same), number)
        ended = f"{entry.outcome} {entry.failure}" if entry.hard else entry.outcome  # a soft class is a digest
        brought = _brought(entry, earlier if earlier != number else None)
        yield f"  {same} call {number:>5}  {ended:<14.14} {brought:<32} {clean(event.arguments, _ARGUMENTS)}"


def _brought(entry: Entry, earlier: int | None) -> str:
    """What one settled call counts as; `earlier` is the call that had got this answer to the same action."""
    if entry.change == 2:
        return "something new was changed"
    if earlier is not None:
        return f"the answer of call {earlier} once more"
    if entry.change == 1:
        return "done before"
    return "news" if entry.news else "nothing new"


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
