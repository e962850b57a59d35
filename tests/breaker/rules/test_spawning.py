"""Agents that start agents: 5 levels, 32 under one, 48 in a family, 24 a minute (the table in breaker/README.md)."""

from __future__ import annotations

from typing import Any

import pytest

from breaker import Call, Engine, Layer, Result, Settled, Verdict, resolve

NO_CLOCK: float | None = None


class Family:
    """Agents of one engine: who started whom, and what is said to one that would start another."""

    def __init__(self, **adaptive: Any) -> None:
        self.engine = Engine(resolve([Layer("test", {"profile": "adaptive", "adaptive": adaptive})]).settings)
        self.calls = 0
        self.told: list[str] = []

    def start(self, parent: str, *names: str, at: float | None = None) -> None:
        for name in names:
            self.engine.agent_started(name, parent, "subagent", at=at)

    def spawn(self, agent: str = "main", tool: str = "Task", at: float | None = None) -> Verdict:
        self.calls += 1
        call = Call(agent, tool, {"prompt": f"part {self.calls}"}, f"c{self.calls}", at=at, can_ask=False)
        verdict = self.engine.guard(call, explain=True)
        if verdict.decision == "allow":
            report = self.engine.settle(Settled(agent, Result(f"part {self.calls} is fine"), call.call_id, at=at))
            self.told = [each.text for each in report.advisories if each.gate == "spawn"]
        return verdict


def stands(verdict: Verdict) -> set[tuple[int, float, str | None]]:
    """What the rule counted: how many, of how many, of what."""
    return {(hit.count, hit.limit, hit.detail) for hit in verdict.rules or () if hit.gate == "spawn"}


def test_32_agents_may_run_under_one() -> None:
    family = Family()
    family.start("main", *(f"a{n}" for n in range(31)))
    assert family.spawn().decision == "allow"
    family.start("main", "a31")
    denied = family.spawn()
    assert denied.decision == "deny"
    assert [(hit.gate, hit.fingerprint) for hit in denied.hits] == [("spawn", "spawn:")]
    assert (32, 32, "32 agents that this one started are running") in stands(denied)
    family.engine.agent_ended("a31")
    assert family.spawn().decision == "allow"


def test_48_agents_of_one_family_may_run_whoever_started_them() -> None:
    family = Family()
    family.start("main", "one", "two")
    family.start("one", *(f"one-{n}" for n in range(23)))
    family.start("two", *(f"two-{n}" for n in range(22)))
    assert family.spawn("one-0").decision == "allow"
    family.start("two", "two-22")
    denied = family.spawn("one-0")
    assert denied.decision == "deny"
    assert stands(denied) == {
        (2, 5, "this agent is 2 levels below the one a person speaks to"),
        (48, 48, "48 agents of this family are running"),
    }
    family.engine.agent_started("stranger", "other", "subagent")
    assert family.spawn("stranger").decision == "allow"


def test_an_agent_five_levels_down_starts_none() -> None:
    family = Family()
    for above, below in zip(["main", "a", "b", "c", "d"], "abcde", strict=True):
        family.start(above, below)
    assert family.spawn("d").decision == "allow"
    denied = family.spawn("e")
    assert denied.decision == "deny"
    assert (5, 5, "this agent is 5 levels below the one a person speaks to") in stands(denied)


def test_24_agents_of_a_family_may_be_started_within_a_minute() -> None:
    family = Family()
    family.start("main", "sub")
    for number in range(24):
        assert family.spawn(["main", "sub"][number % 2], at=1000.0 + number).decision == "allow"
    denied = family.spawn("sub", at=1060.0)
    assert denied.decision == "deny"
    assert (24, 24, "24 agents of this family were started within 60 s") in stands(denied)
    assert family.spawn("sub", at=1060.5).decision == "allow"


def test_at_two_thirds_it_is_said_once_before_the_next_message_of_a_person() -> None:
    family = Family()
    heard = []
    for number in range(20):
        family.spawn(at=1000.0 + number)
        heard += [(number + 1, text) for text in family.told]
    ((number, text),) = heard
    assert number == 16
    assert "CONVERGENCE_CHECK: 16 agents of this family were started within 60 s (limit 24). Do the work here" in text
    family.engine.user_turn("main")
    family.spawn(at=1021.0)
    assert len(family.told) == 1


def test_agents_that_start_many_at_once_are_told_as_well() -> None:
    family = Family()
    family.start("main", *(f"a{n}" for n in range(25)))
    family.spawn()
    assert "25 agents that this one started are running (limit 32)" in family.told[0]


def test_what_was_started_long_before_an_agent_came_back_is_not_said() -> None:
    family = Family(children=None, family=None)
    call = Call("main", "Task", {"prompt": "long"}, "long", at=1000.0)
    family.engine.guard(call)
    for number in range(15):
        family.spawn(at=1000.0 + number)
    assert family.engine.settle(Settled("main", Result("done"), "long", at=1600.0)).advisories == ()


def test_without_a_clock_no_pace_is_known() -> None:
    family = Family(children=None, family=None)
    for _ in range(30):
        assert family.spawn(at=NO_CLOCK).decision == "allow"


@pytest.mark.parametrize("limit", ["children", "family"])
def test_an_agent_that_was_silent_for_half_an_hour_does_not_run(limit: str) -> None:
    family = Family(**{limit: 1})
    family.start("main", "a", at=1000.0)
    assert family.spawn(at=1000.0 + 1799).decision == "deny"
    assert family.spawn(at=1000.0 + 1800).decision == "allow"
    assert family.spawn(at=NO_CLOCK).decision == "deny"


def test_one_reason_is_given_where_there_are_several() -> None:
    family = Family(children=1, family=1)
    family.start("main", "a")
    assert len(family.spawn().hits) == 1


def test_what_starts_no_agent_is_not_stopped_by_how_many_run() -> None:
    family = Family(children=1)
    family.start("main", "a")
    assert family.spawn(tool="read_file").decision == "allow"
    assert stands(family.spawn(tool="read_file")) == set()


def test_the_limits_can_be_turned_off() -> None:
    family = Family(children=None, family=None, depth=None, spawns=None)
    family.start("main", *(f"a{n}" for n in range(60)))
    assert family.spawn().decision == "allow"
    off = Family(spawn=False, children=1)
    off.start("main", "a")
    assert off.spawn().decision == "allow"
