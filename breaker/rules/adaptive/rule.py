"""The adaptive rules as the engine knows rules: hits against a call before it runs, a warning after it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

from msgspec import structs

from breaker import adaptive_limits
from breaker.events import Call, Hit, Result
from breaker.evidence.classes import Kind
from breaker.evidence.facts import Answer, Facts
from breaker.evidence.keyed import keyed_answer, keyed_facts
from breaker.failure import Classified
from breaker.identity.identify import Identity
from breaker.rules.adaptive.assess import RULES, assess
from breaker.rules.adaptive.base import Finding
from breaker.rules.adaptive.spawning import of_family, spawning
from breaker.rules.base import Aftermath, Rule, View
from breaker.settings import Settings
from breaker.state import Notice, State

WARN_AT = 2 / 3
"""The share of a limit at which the agent is told."""

_CACHED = 1_024


class Adaptive(Rule):
    """All rules of the profile `adaptive` that are on. With a `key` their evidence may be written down."""

    def __init__(self, settings: Settings, *, key: bytes | None = None) -> None:
        self.limits, self.off = adaptive_limits.read(settings.adaptive)
        self._off_once = self.off | {name for name, asked in RULES.items() if asked.repeats}
        self.active = len(self.off) < len(adaptive_limits.RULES)
        self._kinds = {tool.lower(): cast(Kind, kind) for tool, kind in settings.tool_classes.items()}
        self._spawns = frozenset(tool.lower() for tool in settings.spawn_tools)
        self._facts: dict[tuple[object, ...], Facts] = {}
        self._key = key
        if self.active:  # their expressions take longer to build than all else that an engine needs
            from breaker.evidence.fetches import fetched
            from breaker.evidence.keys import describe, digest

            self._describe, self._fetched, self._digest = describe, fetched, digest

    def read(self, facts: Facts, result: Result, classified: Classified) -> Answer:
        """What a call answered."""
        from breaker.evidence.answers import read_answer  # its expressions are built for the first answer

        answer = read_answer(facts, result, classified)
        return answer if self._key is None else keyed_answer(answer, self._key)

    def describe(self, call: Call, identity: Identity) -> Facts:
        """What the call is. Repeats are what this program is about, so the last ones are remembered."""
        key = (call.tool, identity.exact, call.annotations)
        facts = self._facts.pop(key, None)
        if facts is None:
            kinds = self._kinds
            if call.tool.lower() in self._spawns and call.tool.lower() not in kinds:
                kinds = {**kinds, call.tool.lower(): "spawn"}
            reading = identity.reading if identity.kind == "shell" else None
            facts = self._describe(call.tool, call.arguments, call.annotations, reading=reading, kinds=kinds)
            if reading is not None and (request := self._fetched(identity)):
                facts = structs.replace(facts, strict=self._digest(f"fetch {request}"))
            if self._key is not None:
                facts = keyed_facts(facts, self._key)
            if len(self._facts) >= _CACHED:
                del self._facts[next(iter(self._facts))]
        self._facts[key] = facts
        return facts

    def judge(self, view: View) -> Iterator[Hit]:
        own = named(view.identity.fingerprints)
        for finding in self._findings(view, own):
            if finding.count >= finding.limit:
                hit = _hit(finding, own)
                if hit.fingerprint not in view.agent.exempt:
                    yield hit
                    if hit.gate == "spawn":
                        return  # one reason is enough

    def standing(self, view: View) -> tuple[Hit, ...]:
        """Where each rule that has evidence stands on a call, those below their limits as well."""
        own = named(view.identity.fingerprints)
        return tuple(_hit(finding, own) for finding in self._findings(view, own))

    def _findings(self, view: View, own: str) -> list[Finding]:
        facts, agent = view.facts, view.agent
        if facts is None or own in agent.exempt:
            return []  # somebody said that this very call may be repeated
        found = [] if agent.evidence is None else assess(facts, agent.evidence, self.limits, view.call.at, self.off)
        return found + self._spawning(facts, view.state, view.call.agent, view.call.at)

    def _spawning(self, facts: Facts, state: State, name: str, now: float | None) -> list[Finding]:
        if facts.kind != "spawn" or "spawn" in self.off:
            return []
        return list(spawning(of_family(state, name, now), self.limits))

    def review(self, after: Aftermath) -> Notice | None:
        """A warning when this very call, made again, would be at two thirds of a limit.

        How many agents run goes up and down: of them it is said once a turn, from two thirds on.
        """
        facts, log = after.pending.facts, after.agent.evidence
        own = named(after.pending.fingerprints)
        if facts is None or log is None or own in after.agent.exempt:
            return None
        latest = log.entries[-1] if log.entries else None
        once = latest is not None and latest.strict == facts.strict and not latest.known
        off = self._off_once if once else self.off
        found = assess(facts, log, self.limits, latest.at if latest else None, off)
        if "spawn" not in after.agent.account.warned:
            found += self._spawning(facts, after.state, after.name, latest.until if latest else None)
        for finding in found:
            near = max(2, math.ceil(finding.limit * WARN_AT))
            is_near = finding.count >= near if finding.gate == "spawn" else finding.count == near
            if is_near and finding.count < finding.limit:
                hit = _hit(finding, own)
                if hit.fingerprint not in after.agent.exempt:
                    return Notice(hit.gate, "warn", hit.count, hit.limit, hit.fingerprint, hit.detail)
        return None


def keys_to_shut(facts: Facts, hits: tuple[Hit, ...]) -> dict[str, Hit]:
    """Which keys stay shut after these hits stopped the call, and for what."""
    return {
        facts.loose if hit.gate == "looseKey" else facts.strict: hit
        for hit in hits
        if hit.gate in KEYED and hit.fingerprint is not None and hit.fingerprint.startswith(("cmd:", "exact:"))
    }


KEYED = frozenset({"sameAnswer", "poll", "looseKey", "numbers", "noNews", "sleeps", "denied"})
"""Gates whose key stays shut until something new changes."""


def named(fingerprints: tuple[str, ...]) -> str:
    """The identity that names a call best: its command, else tool and arguments."""
    for prefix in ("cmd:", "exact:"):
        for fingerprint in fingerprints:
            if fingerprint.startswith(prefix):
                return fingerprint
    raise LookupError("every call has an exact identity")


def _hit(finding: Finding, identity: str) -> Hit:
    return Hit(finding.gate, finding.count, finding.limit, finding.scope or identity, finding.detail)
