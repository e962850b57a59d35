"""Failing alike: one class of failure again and again, whatever the arguments; and calls that are refused."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.adaptive_limits import Limits
from breaker.evidence.facts import is_transient
from breaker.evidence.log import Entry
from breaker.rules.adaptive.base import Case, Chain, Finding, steps
from breaker.rules.adaptive.limits import HASTY


def same_failure(about: Case) -> Iterator[Finding]:
    """One class of failure in a row. Looks at other things in between are no success; only what took part is
    stopped."""
    facts = about.facts
    alike: list[Entry] = []
    families: set[str] = set()
    succeeded: set[str] = set()
    waited = False
    for entry in reversed(about.entries):
        if entry.live == 1 and entry.outcome == "fail":
            continue  # it goes on: a status that is not there yet
        if entry.outcome in ("fail", "invalid"):
            kind = _class(entry)
            if (alike and kind != _class(alike[0])) or entry.family in succeeded:
                break
            alike.append(entry)
            families.add(entry.family)
            if entry.change == 2:
                break  # something new was written before it failed
        elif entry.change == 2 or entry.family in families:
            break
        elif entry.kind == "wait":
            waited = True
        elif entry.kind in ("read", "poll", "bookkeeping", "other"):
            succeeded.add(entry.family)
        elif entry.outcome != "denied" and not _is_stale(entry):
            break
    if not alike or facts.family not in families:
        return
    alike.reverse()
    limit = _limit(alike, waited, about.limits)
    if limit is not None:
        count = steps(alike)
        yield Finding(
            "sameFailure",
            count,
            limit,
            f"{count} failures of one kind in a row: {_name(alike[-1])}",
            scope=f"tool:{facts.family}",
        )


def denied(about: Case) -> Iterator[Finding]:
    """What is not allowed: the same call, or one call after the other."""
    facts, limits = about.facts, about.limits
    same = [entry for entry in about.entries if entry.outcome == "denied" and entry.strict == facts.strict]
    later = [entry for entry in about.entries if entry.strict == facts.strict]
    if same and limits.denied is not None and (not later or later[-1].outcome == "denied"):
        count = steps(same)
        yield Finding("denied", count, limits.denied, f"{count} times it was not allowed")
    row: list[Entry] = []
    for entry in reversed(about.entries):
        if entry.outcome == "denied":
            row.append(entry)
        elif entry.outcome in ("ok", "empty") and (
            entry.kind not in ("read", "wait", "bookkeeping") or entry.tool in {e.tool for e in row}
        ):
            break
    if row and limits.denied_any is not None and facts.tool in {entry.tool for entry in row}:
        count = steps(row)
        yield Finding(
            "denied", count, limits.denied_any, f"{count} calls in a row were not allowed", scope=f"denied:{facts.tool}"
        )


def _class(entry: Entry) -> str:
    return "invalid" if entry.outcome == "invalid" else entry.failure


def _is_stale(entry: Entry) -> bool:
    return entry.known and not entry.news


def _limit(alike: list[Entry], waited: bool, limits: Limits) -> int | None:
    last = alike[-1]
    gap = Chain(alike).gap
    deliberate = waited or last.slept > 0
    if (is_transient(last.failure) and gap is not None and gap >= HASTY) or (deliberate and last.outcome == "fail"):
        return limits.paced_failure
    if last.kind == "run" and not last.hard and not any(entry.known for entry in alike):
        return limits.paced_failure  # each try was another one
    if last.outcome == "invalid" or (not last.hard and len({entry.same for entry in alike}) > 1):
        return limits.drifting_failure
    if is_transient(last.failure) and gap is None and limits.same_failure is not None:
        return max(limits.same_failure, limits.transient_failure or 0)
    return limits.same_failure


def _name(entry: Entry) -> str:
    if entry.outcome == "invalid":
        return "the call was rejected as wrong"
    return entry.failure if entry.hard else "the same error"
