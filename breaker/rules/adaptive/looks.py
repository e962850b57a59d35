"""Looks that bring back what is known, however they are spelled, and looks that find nothing."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.evidence.classes import SEARCHING, words_of
from breaker.evidence.log import Entry, is_covered
from breaker.rules.adaptive.base import Case, Chain, Finding, is_polled, moves, pause, steps

_NOT_THERE = frozenset({"not found", "http 404"})


def loose_key(about: Case) -> Iterator[Finding]:
    """Known answers of calls that are much the same."""
    facts = about.facts
    looks = facts.kind in ("read", "poll", "other")
    if not looks and facts.kind != "run":
        return
    if facts.words and not about.known:
        return  # a question in new words
    seen: set[str] = set()
    stale = Chain([])
    tried: set[str] = set()
    previous: Entry | None = None
    idle = 0.0
    for entry in about.since:
        idle = max(idle, pause(previous, entry))
        previous = entry
        if entry.loose == facts.loose and entry.outcome in ("ok", "empty"):
            told = entry.live == 1 or entry.first_read or entry.nod
            if not told and (entry.same in seen or (looks and entry.outcome == "ok" and not entry.news)):
                if stale.entries:
                    stale.idle += idle
                stale.entries.append(entry)
            elif entry.known and entry.news:
                stale = Chain([])
            idle = 0.0
            seen.add(entry.same)
        elif entry.change == 1 and entry.loose not in tried:
            tried.add(entry.loose)
            stale = Chain([])
            seen.clear()
        else:
            stale.fresh += entry.news
            stale.moving = stale.moving or moves(entry)
    if not stale.entries or (is_polled(stale) and not facts.overview):
        return
    limits = about.limits
    limit = limits.overview if facts.overview and not stale.aside else limits.seen if looks else limits.seen_run
    if limit is not None:
        count = steps(stale.entries)
        yield Finding("looseKey", count, limit, f"{count} answers of calls that are much the same were known already")


def reread(about: Case) -> Iterator[Finding]:
    """Parts of one file that were read already."""
    facts = about.facts
    if not facts.target or facts.kind != "read" or about.limits.reread is None:
        return
    if facts.span is not None and not is_covered(about.log, facts):
        return
    again = [entry for entry in about.since if entry.target == facts.target and entry.read_already]
    if again:
        count = steps(again)
        yield Finding(
            "reread",
            count,
            about.limits.reread,
            f"{count} reads of the file that this call names showed lines that were read already",
            f"file:{facts.target}",
        )


def fixed_answer(about: Case) -> Iterator[Finding]:
    """Different looks of one tool that all bring the same long answer: it does not depend on what is asked."""
    facts, limit = about.facts, about.limits.fixed_answer
    if facts.kind != "read" or limit is None:
        return
    row: list[Entry] = []
    for entry in reversed(about.entries):
        if entry.tool != facts.tool:
            continue
        if not entry.look or not entry.long or (row and entry.same != row[0].same):
            break
        row.append(entry)
    if len({entry.strict for entry in row}) > 1:
        count = steps(row)
        yield Finding(
            "fixedAnswer", count, limit, f"{count} different looks brought the same answer", scope=f"looks:{facts.tool}"
        )


def nothing_found(about: Case) -> Iterator[Finding]:
    """Looks in a row that find nothing, with no news in between. Those that go through a list by number count once."""
    facts, limits = about.facts, about.limits
    if facts.kind != "read" or limits.nothing_found is None:
        return
    missed: list[Entry] = []
    tools: set[str] = set()
    spared = 0
    for entry in reversed(about.entries):
        if entry.kind == "read" and (entry.outcome == "empty" or entry.failure in _NOT_THERE):
            if not (missed and _is_next(entry, missed[-1])):
                missed.append(entry)
            tools.add(entry.tool)
        elif entry.change == 2 or (_found(entry) and entry.tool in tools):
            break
        elif _found(entry):
            spared += 1
    if missed and facts.tool in tools:
        # What another tool found in between says that the search is not all that goes on.
        count = steps(missed) - spared
        limit = limits.empty_list if all(map(_is_empty_list, missed)) else limits.nothing_found
        if limit is not None:
            what = f"{steps(missed)} looks found nothing"
            yield Finding("nothingFound", count, limit, what, scope=f"looks:{facts.tool}")


def _is_empty_list(entry: Entry) -> bool:
    """Whether a list was asked for by its name, for the first time, and is empty: that is an answer."""
    if entry.outcome != "empty" or entry.shell or entry.known:
        return False
    return SEARCHING.isdisjoint(words_of(entry.tool))


def _is_next(entry: Entry, other: Entry) -> bool:
    """Whether two looks are at things of one list that differ in a number."""
    return entry.template == other.template != "" and entry.loose != other.loose


def _found(entry: Entry) -> bool:
    """Whether something was found: news, or the first answer of a call."""
    return entry.outcome == "ok" and (entry.news or not entry.known) and entry.kind not in ("wait", "bookkeeping")
