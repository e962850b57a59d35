"""Asks every rule of the profile about one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from breaker.adaptive_limits import Limits
from breaker.evidence.facts import Facts
from breaker.evidence.log import Log
from breaker.rules.adaptive import failures, looks, repetition, stagnation
from breaker.rules.adaptive.base import Case, Finding, case

_KNOWN = frozenset({"known"})


class Asked(NamedTuple):
    """A rule, and when it is asked. Most calls are new, and most go well: few rules need to walk through the entries.

    `signs`: without one of these it finds nothing; with none here it is always asked. An outcome among the entries;
    `known`, the call was made before; `alike`, one much the same was. `repeats`: it counts that very call alone, and
    has nothing to warn of when that was made once.
    """

    rule: Callable[[Case], Iterator[Finding]]
    signs: frozenset[str] = frozenset()
    repeats: bool = False


RULES: dict[str, Asked] = {
    "sameAnswer": Asked(repetition.same_answer, _KNOWN, repeats=True),
    "looseKey": Asked(looks.loose_key, frozenset({"alike"})),
    "reread": Asked(looks.reread),
    "fixedAnswer": Asked(looks.fixed_answer),
    "sameFailure": Asked(failures.same_failure, frozenset({"fail", "invalid"})),
    "nothingFound": Asked(looks.nothing_found, frozenset({"empty", "fail"})),
    "numbers": Asked(repetition.numbers, _KNOWN, repeats=True),
    "noNews": Asked(stagnation.no_news, _KNOWN),
    "sleeps": Asked(stagnation.sleeps),
    "denied": Asked(failures.denied, frozenset({"denied"})),
    "plans": Asked(stagnation.plans),
}
"""The rules that look at one agent's evidence, by the name of the switch that turns them off."""


def assess(
    facts: Facts, log: Log, limits: Limits, now: float | None = None, off: Collection[str] = ()
) -> list[Finding]:
    """Every finding about a call, those below their limits as well."""
    shut = log.shut.get(facts.strict) or log.shut.get(facts.loose)
    if not log.entries and shut is None:
        return []
    about = case(facts, log, limits, now)
    signs = {entry.outcome for entry in about.entries}
    if about.known:
        signs.add("known")
    if facts.loose in log.loose:
        signs.add("alike")
    found = [
        finding
        for name, asked in RULES.items()
        if name not in off and not (asked.signs and signs.isdisjoint(asked.signs))
        for finding in asked.rule(about)
    ]
    if shut is not None and not any(finding.count >= finding.limit for finding in found):
        found.append(Finding(shut.gate, shut.count, shut.limit, shut.detail))
    return found
