"""Evidence made by hand, one line a call, and what an adaptive rule finds in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import structs

from breaker.adaptive_limits import Limits
from breaker.evidence.facts import Facts
from breaker.evidence.log import Entry, Log, Source
from breaker.rules.adaptive.base import Case, Finding, case


def call(tool: str = "read", about: str = "a", **given: Any) -> Facts:
    """A call in hand. Where nothing else is given, it looks, and tool and `about` say which action it is."""
    key = f"{tool} {about}"
    return Facts(**{"tool": tool, "kind": "read", "strict": key, "loose": key, "family": tool, **given})


def settled(tool: str = "read", about: str = "a", answer: str = "text", **given: Any) -> Entry:
    """A call that settled. Where nothing else is given, it was a look made before that told nothing new."""
    key = f"{tool} {about}"
    own = {"tool": tool, "kind": "read", "strict": key, "loose": key, "family": tool, "outcome": "ok"}
    return Entry(**{**own, "same": answer, "bones": answer, "known": True, "news": False, **given})


def failed(tool: str = "read", about: str = "a", failure: str = "errno 2", **given: Any) -> Entry:
    """A call that failed."""
    return settled(tool, about, failure, **{"outcome": "fail", "failure": failure, "hard": True, **given})


def evidence(entries: Iterable[Entry]) -> Log:
    """A log that holds these, each of a step of its own unless it says which."""
    held = [structs.replace(entry, step=entry.step or number) for number, entry in enumerate(entries, 1)]
    known = {entry.strict: Source() for entry in held}
    return Log(entries=held, sources=known, loose={entry.loose: 1 for entry in held})


def found(
    rule: Callable[[Case], Iterable[Finding]], facts: Facts, *entries: Entry, now: float | None = None, **limits: Any
) -> list[Finding]:
    """What a rule finds against a call after these, oldest first."""
    return list(rule(case(facts, evidence(entries), Limits(**limits), now)))


def counts(
    rule: Callable[[Case], Iterable[Finding]], facts: Facts, *entries: Entry, now: float | None = None, **limits: Any
) -> list[tuple[int, int]]:
    """How much a rule finds against a call, each of how much."""
    return [(finding.count, finding.limit) for finding in found(rule, facts, *entries, now=now, **limits)]
