"""Asks every rule of the profile about one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from breaker.adaptive_limits import Limits
from breaker.evidence.facts import Facts
from breaker.evidence.log import Log
from breaker.rules.adaptive import failures, looks, repetition, stagnation
from breaker.rules.adaptive.base import Case, Finding, case

RULES: dict[str, Callable[[Case], Iterator[Finding]]] = {
    "sameAnswer": repetition.same_answer,
    "looseKey": looks.loose_key,
    "reread": looks.reread,
    "fixedAnswer": looks.fixed_answer,
    "sameFailure": failures.same_failure,
    "nothingFound": looks.nothing_found,
    "numbers": repetition.numbers,
    "noNews": stagnation.no_news,
    "sleeps": stagnation.sleeps,
    "denied": failures.denied,
    "plans": stagnation.plans,
}
"""The rules that look at one agent's evidence, by the name of the switch that turns them off."""

_KNOWN = frozenset({"known"})
_SIGNS: dict[str, frozenset[str]] = {
    "sameAnswer": _KNOWN,
    "looseKey": frozenset({"alike"}),
    "sameFailure": frozenset({"fail", "invalid"}),
    "nothingFound": frozenset({"empty", "fail"}),
    "numbers": _KNOWN,
    "noNews": _KNOWN,
    "denied": frozenset({"denied"}),
}
"""Without one of these a rule finds nothing: an outcome among the entries; `known`, the call was made before; `alike`,
one much the same was. Most calls are new, and most go well: few rules need to walk through the entries."""

ONCE = frozenset({"sameAnswer", "numbers"})
"""The rules that have nothing to say of a call that was made once."""


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
        for name, rule in RULES.items()
        if name not in off and not (name in _SIGNS and signs.isdisjoint(_SIGNS[name]))
        for finding in rule(about)
    ]
    if shut is not None and not any(finding.count >= finding.limit for finding in found):
        found.append(Finding(shut.gate, shut.count, shut.limit, shut.detail))
    return found
