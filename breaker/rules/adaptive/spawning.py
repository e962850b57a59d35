"""Agents that start agents: how deep, how many at once, how fast."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from breaker.adaptive_limits import Limits
from breaker.rules.adaptive.base import Finding
from breaker.rules.adaptive.limits import SPAWN_SECONDS
from breaker.state import SILENT_AFTER, State

MAX_FAMILY = 1_000
"""Agents of one family that are counted."""


class Family(Struct, frozen=True):
    """Where an agent stands: levels above it, agents that it started and run, that of its family run, that were
    started lately."""

    depth: int
    children: int
    running: int
    lately: int


def of_family(state: State, name: str, now: float | None) -> Family:
    """The family of an agent: everything below the agent that nobody known started."""
    above = state.ancestors(name)
    root = above[-1] if above else name
    running, waiting, seen = 0, [root], {root}
    while waiting and running < MAX_FAMILY:
        agent = state.agents.get(waiting.pop())
        if agent is None:
            continue
        running += _alive(agent.account.children, now)
        below = [child for child in agent.account.children if child not in seen]
        seen.update(below)
        waiting += below
    log = state.agents[root].evidence
    spawns = log.spawns if log is not None and now is not None else []
    return Family(
        depth=len(above),
        children=_alive(state.agents[name].account.children, now),
        running=running,
        lately=sum(1 for at in spawns if now is not None and now - at <= SPAWN_SECONDS),
    )


def spawning(family: Family, limits: Limits) -> Iterator[Finding]:
    """What speaks against starting one more agent."""
    for count, limit, detail in (
        (family.depth, limits.depth, f"this agent is {family.depth} levels below the one a person speaks to"),
        (family.children, limits.children, f"{family.children} agents that this one started are running"),
        (family.running, limits.family, f"{family.running} agents of this family are running"),
        (
            family.lately,
            limits.spawns,
            f"{family.lately} agents of this family were started within {SPAWN_SECONDS:g} s",
        ),
    ):
        if limit is not None and count:
            yield Finding("spawn", count, limit, detail, scope="spawn:")


def _alive(children: dict[str, float | None], now: float | None) -> int:
    return sum(1 for seen in children.values() if now is None or seen is None or now - seen < SILENT_AFTER)
