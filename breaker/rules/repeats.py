"""The repeat gates: what one agent did again within one turn. A denied call is recorded in none of them."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.events import Hit
from breaker.rules.base import Rule, View
from breaker.settings import Settings


class Signature(Rule):
    """The same tool with the same arguments: the Nth is stopped, N by tool."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.repeat_limit
        self.limits = {tool.lower(): limit for tool, limit in settings.repeat_limits.items()}
        self.active = any(limit is not None for limit in (self.limit, *self.limits.values()))

    def judge(self, view: View) -> Iterator[Hit]:
        limit = self.limits.get(view.call.tool.lower(), self.limit)
        if limit is None:
            return
        exact = view.exact
        count = view.agent.signatures.get(exact, 0) + 1
        if count >= limit:
            yield Hit("signature", count, limit, exact)


class Skeleton(Rule):
    """The same command line once what varies is blanked: the Nth is stopped."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.skeleton_limit
        self.active = self.limit is not None

    def judge(self, view: View) -> Iterator[Hit]:
        skeleton = view.skeleton
        if self.limit is None or skeleton is None:
            return
        count = view.agent.skeletons.get(skeleton, 0) + 1
        if count >= self.limit:
            yield Hit("skeleton", count, self.limit, f"skeleton:{skeleton}")


class Cycle(Rule):
    """A few calls taking turns, A B A B A B: the call that ends the last round is stopped."""

    def __init__(self, settings: Settings) -> None:
        self.rounds = settings.cycle_limit
        self.active = self.rounds is not None
        self.periods = settings.cycle_periods

    def judge(self, view: View) -> Iterator[Hit]:
        if self.rounds is None:
            return
        exact = view.exact
        calls = [*view.agent.recent, exact]
        for period in self.periods:
            last = calls[-period * self.rounds :]
            if len(last) == period * self.rounds and _cycles(last, period):
                yield Hit("cycle", self.rounds, self.rounds, exact, f"{period} calls taking turns")
                return


class SameError(Rule):
    """One tool, one error text, N times: that tool waits until something else was tried."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.same_error_limit
        self.active = self.limit is not None

    def judge(self, view: View) -> Iterator[Hit]:
        tool = view.call.tool
        texts = view.agent.errors.get(tool)
        if self.limit is None or not texts:
            return
        text, count = max(texts.items(), key=lambda item: item[1])
        if count >= self.limit:
            yield Hit("sameError", count, self.limit, f"error:{tool}", text)


def span(settings: Settings) -> int:
    """How many calls before the one in hand the cycle gate looks at."""
    return max(settings.cycle_periods, default=0) * (settings.cycle_limit or 0)


def _cycles(calls: list[str], period: int) -> bool:
    return len(set(calls[:period])) > 1 and all(call == calls[n % period] for n, call in enumerate(calls))
