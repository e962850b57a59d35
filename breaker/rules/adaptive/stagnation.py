"""Steps that bring nothing: no new action, no new answer, no new deed; plans without deeds; sleeping on."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.evidence.classes import LOOKS
from breaker.evidence.log import LOOK_BACK, Entry
from breaker.rules.adaptive.base import Case, Finding, pause, steps
from breaker.rules.adaptive.limits import HASTY, IDLE, LONG_SLEEP, MAX_NEWS, PLANS_AMONG_LOOKS, PLANS_OF, SLOW


def no_news(about: Case) -> Iterator[Finding]:
    """Steps in a row without a new action, a new answer or a new deed. Polls and waits are counted elsewhere."""
    if not about.known or about.facts.kind in ("wait", "poll"):
        return
    stale: list[Entry] = []
    deeds = False
    news, best = 0, 0
    later: Entry | None = None
    for entry in reversed(about.entries):
        idle = pause(entry, later) if later is not None else 0.0
        if idle >= IDLE:
            break
        later = entry
        if _is_poll(entry, idle):
            continue
        if entry.change == 2:
            break
        if entry.news or not entry.known:
            news += 1
            if news > MAX_NEWS or entry.known or entry.kind not in LOOKS:
                break
            continue
        stale.append(entry)
        deeds = deeds or entry.change == 1
        best = max(best, steps(stale) - news // 2)
    limits = about.limits
    limit = limits.no_news_deeds if deeds else limits.no_news
    if stale and all(entry.change == 1 for entry in stale):
        limit = limits.bare_deeds  # nobody looked whether they change anything
    if stale and limit is not None:
        count = best
        yield Finding(
            "noNews",
            count,
            limit,
            f"{count} steps in a row repeated earlier ones and told nothing new",
        )


def _is_poll(entry: Entry, idle: float) -> bool:
    """Whether something is waited for; `idle` are the seconds from the end of this call to the next one."""
    if entry.kind in ("wait", "poll") or entry.slept >= HASTY:
        return True
    return (entry.live == 1 and not entry.deed) or (entry.look and entry.moved and idle >= SLOW)


def plans(about: Case) -> Iterator[Finding]:
    """Plans, task lists and thoughts without a deed."""
    facts, limits = about.facts, about.limits
    if facts.kind != "bookkeeping":
        return
    for most, share in ((PLANS_OF, 1.0), (LOOK_BACK, PLANS_AMONG_LOOKS)):
        last = about.entries[-most:]
        if limits.plans is None or any(_is_deed(entry) for entry in last):
            break
        again = [entry for entry in last if entry.kind == "bookkeeping" and entry.known]
        if again:
            count = steps(again)
            yield Finding(
                "plans",
                count,
                round(limits.plans * share),
                f"{count} of the last {len(last)} calls were plans or thoughts, and nothing was done",
                scope=f"plans:{facts.tool}",
            )
    if limits.thoughts is not None:
        row: list[Entry] = []
        for entry in reversed(about.entries):
            if entry.kind != "bookkeeping":
                break
            row.append(entry)
        if row:
            yield Finding(
                "plans",
                steps(row),
                limits.thoughts,
                f"{len(row)} plans or thoughts in a row",
                scope=f"plans:{facts.tool}",
            )


def sleeps(about: Case) -> Iterator[Finding]:
    """Letting time pass again and again with nothing looked at."""
    facts, limits = about.facts, about.limits
    if facts.kind != "wait":
        return
    pure = facts.slept > 0 or not facts.shell
    row: list[Entry] = []
    looked = before = 0  # looks between the waits, and those before the earliest seen so far
    for entry in reversed(about.entries):
        if entry.kind == "wait":
            if pure == (entry.slept > 0 or not entry.shell):
                row.append(entry)
                looked, before = looked + before, 0
        elif entry.kind != "bookkeeping":
            if entry.known or not entry.look:
                break  # a look that comes again is what is waited for
            before += 1
            if not pure and 2 * (looked + before) > len(row) + 1:
                break  # remarks beside as many looks are headings
    count = steps(row) - looked if pure else steps(row)
    if count < 1:
        return
    slept = sum(entry.slept for entry in row) + facts.slept
    limit = limits.sleeps if pure else limits.echoes
    if pure and slept > LONG_SLEEP:
        limit = limits.long_sleeps
    what = "waits" if pure else "commands that only print or do nothing"
    if limit is not None:
        detail = f"{count} {what} in a row with nothing looked at in between"
        yield Finding("sleeps", count, limit, detail)


def _is_deed(entry: Entry) -> bool:
    return (entry.deed and entry.outcome in ("ok", "empty")) or entry.change == 2
