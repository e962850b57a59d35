"""The same call, the same answer, and nothing changed in between; polls and bare numbers with more patience."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.adaptive_limits import Limits
from breaker.evidence.facts import is_transient
from breaker.evidence.log import Entry
from breaker.rules.adaptive.base import Case, Chain, Finding, chain, is_polled, patience
from breaker.rules.adaptive.limits import HASTY, SLOW


def same_answer(about: Case) -> Iterator[Finding]:
    """One call that answers alike: `sameAnswer`, or `poll` where something goes on by itself."""
    facts = about.facts
    if facts.kind == "wait":
        return
    entries = about.since
    found = chain(entries, [_is_same(about, entry) for entry in entries])
    if not found.entries:
        return
    if is_polled(found):
        limit = patience(found, about.limits)
        if limit is not None:
            yield Finding("poll", found.count, limit, _seen(found))
        return
    limit = _limit(found, about.limits)
    if limit is not None:
        yield Finding("sameAnswer", found.count, limit, _seen(found))


def numbers(about: Case) -> Iterator[Finding]:
    """One call whose answers differ in nothing but numbers, asked for in haste."""
    facts = about.facts
    mine = [entry for entry in about.since if entry.strict == facts.strict]
    if not mine or mine[-1].outcome != "ok" or mine[-1].deed:
        return
    bones = mine[-1].bones
    run: list[Entry] = []
    for entry in reversed(mine):
        if entry.bones != bones:
            break
        run.append(entry)
    found = Chain(run[::-1])
    gap = found.gap
    limit = about.limits.blind_numbers if gap is None else about.limits.numbers if gap < HASTY else None
    if limit is not None:
        yield Finding("numbers", found.count, limit, "the answers differed in numbers alone")


def _is_same(about: Case, entry: Entry) -> bool:
    facts = about.facts
    if entry.strict == facts.strict:
        return True
    return about.reworded and entry.loose == facts.loose and entry.deed


def _limit(found: Chain, limits: Limits) -> int | None:
    last = found.entries[-1]
    if last.outcome == "denied":
        return None  # refusals are counted by a rule of their own
    if last.outcome in ("fail", "invalid"):
        return limits.transient_failure if is_transient(last.failure) else limits.failure
    if last.opaque:
        return limits.run
    if last.started:
        return limits.other
    if last.look:
        gap = found.gap
        slow = gap is not None and gap >= SLOW and not found.others
        return limits.slow_look if slow or found.aside else limits.look
    if last.incremental:
        return limits.increment
    if last.kind == "mutate":
        return limits.write
    if last.kind == "run":
        return limits.run
    return limits.deed if last.kind in ("act", "spawn", "bookkeeping") else limits.other


def _seen(found: Chain) -> str:
    last = found.entries[-1]
    nothing = "nothing found" if last.look and not last.shell else "no output"
    what = {"fail": "the same failure", "invalid": "the same rejection", "empty": nothing}.get(
        last.outcome, "the same answer"
    )
    return f"{found.count} times {what}, and nothing new was changed in between"
