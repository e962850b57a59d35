"""What every rule of the profile `adaptive` gets and gives: a call against its agent's evidence, and a finding."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from breaker.adaptive_limits import Limits
from breaker.evidence import log as evidence
from breaker.evidence.facts import Facts, is_transient
from breaker.evidence.log import Entry, Log
from breaker.rules.adaptive.limits import AMONG, HASTY, IDLE, SLOW, TWINS


class Case(Struct, frozen=True):
    """A call in hand: what it is, and the evidence about its agent.

    `since` are the entries since something new changed, by another action than this one, oldest first.
    """

    facts: Facts
    log: Log
    entries: list[Entry]
    limits: Limits
    reworded: bool
    known: bool
    since: list[Entry]


class Finding(Struct, frozen=True):
    """One rule's count of settled evidence against a call. It stops the call when `count` reaches `limit`.

    `scope` names what it is about, for people and for exemptions; without one it is about the very call.
    """

    gate: str
    count: int
    limit: int
    detail: str
    scope: str = ""


def case(facts: Facts, log: Log, limits: Limits, now: float | None) -> Case:
    """Look at a call against the evidence."""
    entries = evidence.recent(log, now)
    reworded = evidence.is_reworded(log, facts)
    known = reworded or facts.strict in log.sources
    return Case(facts, log, entries, limits, reworded, known, _since_change(entries, facts.loose))


def _since_change(entries: list[Entry], loose: str) -> list[Entry]:
    for at in range(len(entries) - 1, -1, -1):
        if entries[at].change == 2 and entries[at].loose != loose:
            return entries[at + 1 :]
    return entries


def steps(entries: Iterable[Entry]) -> int:
    """How many model responses the entries come from: calls decided together are one observation."""
    return len({entry.step for entry in entries})


class Chain(Struct):
    """The same answer of one action again and again: its entries, and the sleep between them in seconds.

    `others` are the calls in between, `fresh` those of them that told something new. `moving`: looks among them, taken
    before, had other answers.
    """

    entries: list[Entry]
    slept: float = 0.0
    waits: int = 0
    others: int = 0
    fresh: int = 0
    idle: float = 0.0
    moving: bool = False

    @property
    def scheduled(self) -> bool:
        """Whether the agent did nothing at all for minutes between the tries, or for less among things that move."""
        return self.count > 1 and self.idle >= (SLOW if self.moving else IDLE) * (self.count - 1)

    @property
    def aside(self) -> bool:
        """Whether the tries are made now and then, beside other work."""
        return self.count > 1 and self.fresh >= AMONG * (self.count - 1)

    @property
    def count(self) -> int:
        """Observations: a step counts once, and the very same call many times over in one step a little more."""
        apart = steps(self.entries)
        return apart + (len(self.entries) - apart) // TWINS

    @property
    def gap(self) -> float | None:
        """Seconds between two of them on average; `None` when neither times nor sleeps tell."""
        tries = self.count - 1
        if tries < 1:
            return None
        first, last = self.entries[0], self.entries[-1]
        if first.at is not None and last.at is not None:
            return (last.at - first.at) / tries
        slept = self.slept + sum(entry.slept for entry in self.entries[1:])
        return slept / tries if slept else None


def chain(entries: list[Entry], mine: Iterable[bool]) -> Chain:
    """The last unbroken run of one answer of the entries that are `mine`.

    Another answer breaks it. So does a deed of another kind in between, once: that it changed nothing is known then.
    """
    found = Chain([])
    tried: set[str] = set()
    refreshed = False
    slept, waits, others, fresh, idle = 0.0, 0, 0, 0, 0.0
    previous: Entry | None = None
    for entry, is_mine in zip(entries, mine, strict=True):
        idle = max(idle, pause(previous, entry))
        previous = entry
        if is_mine:
            last = found.entries[-1] if found.entries else None
            if last is None or entry.same != last.same or refreshed:
                found = Chain([entry])
            else:
                found.entries.append(entry)
                found.slept += slept
                found.waits += waits
                found.others += others
                found.fresh += fresh
                found.idle += idle
            refreshed = False
            slept, waits, others, fresh, idle = 0.0, 0, 0, 0, 0.0
            continue
        if entry.kind == "wait":
            slept += entry.slept
            waits += 1
            continue
        others += 1
        fresh += entry.news
        found.moving = found.moving or moves(entry)
        if entry.change == 1 and (entry.news or (entry.loose not in tried and not _is_settled_deed(found))):
            tried.add(entry.loose)
            refreshed = True
        elif not entry.deed and entry.known and entry.news and found.entries and found.entries[-1].incremental:
            refreshed = True  # another part is shown
    return found


def moves(entry: Entry) -> bool:
    """Whether a look that was taken before told something new."""
    return entry.look and entry.known and entry.news


def pause(before: Entry | None, after: Entry) -> float:
    """Seconds between the end of one call and the beginning of the next, 0 where nobody knows."""
    if before is None or after.at is None:
        return 0.0
    ended = before.until if before.until is not None else before.at
    return after.at - ended if ended is not None else 0.0


def _is_settled_deed(found: Chain) -> bool:
    """Only what is new makes it worth while to repeat a deed that succeeded."""
    return bool(found.entries) and found.entries[-1].deed and not found.entries[-1].failed


def is_polled(found: Chain) -> bool:
    """Whether the answers are those of something that goes on by itself, looked at again and again."""
    last = found.entries[-1]
    if last.outcome in ("denied", "invalid") or last.kind in ("spawn", "bookkeeping"):
        return False
    if last.deed and last.outcome != "fail":
        return found.scheduled or last.slept >= SLOW or found.waits >= found.count - 1 > 0
    if last.started:
        return False
    if last.live == 1 or found.scheduled:
        return True
    paced = bool(found.waits) or last.slept > 0
    if last.outcome == "fail":
        gap = found.gap
        return paced or (is_transient(last.failure) and gap is not None and gap >= HASTY)
    # A long answer that says of nothing that it goes on is a report.
    asked = last.kind == "poll" and not last.long
    return last.live != -1 and (asked or paced or last.moved)


def patience(found: Chain, limits: Limits) -> int | None:
    """How often one answer of a poll may come: hasty polls are stopped early, those that say they go on and leave
    time between never."""
    gap = found.gap
    if gap is None:
        return limits.blind_poll
    if gap < HASTY:
        return limits.hasty_poll
    return None if found.entries[-1].live == 1 else limits.idle_poll
