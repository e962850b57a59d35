"""The two tracks: how often an identity occurs in the window, and how often in a row it failed.

Both measure the same identities, skip what the operator exempted, and are off for an identity whose cap is `None`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from breaker.events import FingerprintCount, Hit
from breaker.rules.base import Aftermath, Rule, View
from breaker.settings import Settings
from breaker.state import Agent, Notice, Pending

Limits = Mapping[str, int | float | None]


def cap(limits: Limits, fingerprint: str) -> int | float | None:
    """How many occurrences stop this identity: its own entry, else its kind's; `None` is off."""
    if fingerprint in limits:
        return limits[fingerprint]
    return limits.get(fingerprint.partition(":")[0])


def measured(limits: Limits, agent: Agent, fingerprints: tuple[str, ...]) -> Iterator[tuple[str, int | float]]:
    """The identities that the tracks look at, with their caps."""
    for fingerprint in fingerprints:
        limit = cap(limits, fingerprint)
        if limit is not None and fingerprint not in agent.exempt:
            yield fingerprint, limit


def track_counts(
    limits: Limits, agent: Agent, fingerprints: Iterable[str], spell: Callable[[str], str] = str
) -> tuple[FingerprintCount, ...]:
    """Where the identities of a call that comes now stand on both tracks, spelled for people."""
    return tuple(
        FingerprintCount(
            spell(fingerprint),
            agent.counts.get(fingerprint, 0) + 1,
            cap(limits, fingerprint),
            streak.count if (streak := agent.streaks.get(fingerprint)) else 0,
        )
        for fingerprint in fingerprints
    )


class FailureTrack(Rule):
    """Consecutive failures of one identity: an advisory when they reach a number, a hit from another one on."""

    def __init__(self, settings: Settings) -> None:
        self.limits = settings.limits
        self.active = any(cap is not None for cap in settings.limits.values())
        self.warn_at = settings.fail_warn_at
        self.limit = settings.fail_limit

    def judge(self, view: View) -> Iterator[Hit]:
        streaks = view.agent.streaks
        if self.limit is None or not streaks:
            return
        for fingerprint, _ in measured(self.limits, view.agent, view.identity.fingerprints):
            streak = streaks.get(fingerprint)
            if streak is not None and streak.count >= self.limit:
                yield Hit("failure", streak.count, self.limit, fingerprint, str(streak.failure))

    def review(self, after: Aftermath) -> Notice | None:
        if self.warn_at is None or after.outcome.failure is None:
            return None
        crossed = [
            fingerprint
            for fingerprint, _ in measured(self.limits, after.agent, after.pending.fingerprints)
            if (streak := after.agent.streaks.get(fingerprint)) is not None and streak.count == self.warn_at
        ]
        if not crossed:
            return None
        named = next((f for f in crossed if not f.startswith("exact:")), crossed[0])
        return Notice("failure", "failWarn", self.warn_at, self.warn_at, named, str(after.outcome.failure))


class OccurrenceTrack(Rule):
    """Occurrences of one identity in the window, this call included: two advisories by equality, then a hit."""

    def __init__(self, settings: Settings) -> None:
        self.limits = settings.limits
        self.active = any(cap is not None for cap in settings.limits.values())
        self.warn_at = settings.warn_at
        self.summarize_at = settings.summarize_at

    def judge(self, view: View) -> Iterator[Hit]:
        counts = view.agent.counts
        if not counts:
            return
        for fingerprint, limit in measured(self.limits, view.agent, view.identity.fingerprints):
            count = counts.get(fingerprint, 0) + 1
            if count >= limit:
                yield Hit("repeat", count, limit, fingerprint)

    def foresee(self, agent: Agent, pending: Pending) -> Notice | None:
        warned: Notice | None = None
        for fingerprint, limit in measured(self.limits, agent, pending.fingerprints):
            count = agent.counts.get(fingerprint, 0) + 1
            if count == self.summarize_at:
                return Notice("repeat", "summarize", count, limit, fingerprint)
            if count == self.warn_at and warned is None:
                warned = Notice("repeat", "warn", count, limit, fingerprint)
        return warned
