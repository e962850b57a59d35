"""Agents that start agents: how deep, how many at once, how fast."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.evidence.keys import Facts
from breaker.rules.adaptive.base import Finding
from breaker.rules.adaptive.limits import Limits

SILENT_AFTER = 30 * 60.0


class Tree:
    """Who started whom; a stand-in for the engine's state where there is no engine."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.children: dict[str, dict[str, float | None]] = {}
        self.spawns: dict[str, list[float]] = {}

    def seen(self, agent: str, parent: str | None, at: float | None) -> None:
        if parent is not None and agent not in self.parents:
            self.started(agent, parent, at)
        above = self.parents.get(agent)
        if above is not None and agent in self.children.get(above, {}):
            self.children[above][agent] = at

    def started(self, agent: str, parent: str, at: float | None) -> None:
        self.parents.setdefault(agent, parent)
        self.children.setdefault(parent, {})[agent] = at

    def ended(self, agent: str) -> None:
        self.children.get(self.parents.get(agent, ""), {}).pop(agent, None)

    def line(self, agent: str) -> list[str]:
        above = [agent]
        while (parent := self.parents.get(above[-1])) is not None and parent not in above:
            above.append(parent)
        return above

    def allowed(self, agent: str, facts: Facts, at: float | None) -> None:
        if facts.kind == "spawn" and at is not None:
            self.spawns.setdefault(self.line(agent)[-1], []).append(at)

    def running(self, agent: str, now: float | None) -> int:
        return sum(
            1
            for seen in self.children.get(agent, {}).values()
            if now is None or seen is None or now - seen < SILENT_AFTER
        )

    def judge(self, agent: str, facts: Facts, limits: Limits, now: float | None) -> Iterator[Finding]:
        if facts.kind != "spawn":
            return
        line = self.line(agent)
        root = line[-1]
        family, stack = 0, [root]
        while stack and family < 1000:
            one = stack.pop()
            family += self.running(one, now)
            stack += [child for child in self.children.get(one, {}) if child != root]
        spawned = [at for at in self.spawns.get(root, []) if now is not None and now - at <= limits.spawn_seconds]
        yield from spawn_findings(len(line) - 1, self.running(agent, now), family, len(spawned), limits)


def spawn_findings(depth: int, running: int, family: int, lately: int, limits: Limits) -> Iterator[Finding]:
    """What speaks against starting one more agent."""
    for count, limit, detail in (
        (depth, limits.depth, f"this agent was started by an agent, {depth} levels deep"),
        (running, limits.open_children, f"{running} agents that this one started are running"),
        (family, limits.family, f"{family} agents of this family are running"),
        (lately, limits.spawns, f"{lately} agents of this family were started within {limits.spawn_seconds:g} s"),
    ):
        if limit is not None and count:
            yield Finding("spawn", count, limit, detail, scope="spawn")
