"""The engine against a naive model of the two tracks: lists, no caches, a few lines a rule."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from play import OK, Play, engine, exit_code

from breaker import Call, Engine, Layer, Settled, UnknownCallError, Usage, resolve
from breaker.state import Account, Agent

FILES = "abcd"
CONFIG = {"window": 6, "warnAt": 2, "summarizeAt": 3, "limits": {"exact": 4}, "failWarnAt": 2, "failLimit": 3}


class Naive:
    """One agent's tracks for calls that carry one identity each, a file name."""

    def __init__(self) -> None:
        self.slots: list[str] = []
        self.fails: dict[str, int] = {}
        self.exempt: set[str] = set()
        self.refused: set[str] = set()

    def guard(self, name: str, can_ask: bool) -> str:
        hit = (self.slots[-6:].count(name) + 1 >= 4) or self.fails.get(name, 0) >= 3
        if not hit or name in self.exempt:
            return "allow"
        return "ask" if can_ask and name not in self.refused else "deny"

    def advisories(self, name: str) -> list[str]:
        count = self.slots[-6:].count(name) + 1
        return [] if name in self.exempt else {2: ["warn"], 3: ["summarize"]}.get(count, [])

    def commit(self, name: str) -> None:
        if name not in self.exempt:
            self.slots.append(name)

    def outcome(self, name: str, failed: bool) -> list[str]:
        if name in self.exempt:
            return []
        self.fails[name] = self.fails.get(name, 0) + 1 if failed else 0
        return ["failWarn"] if self.fails[name] == 2 else []


steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("call"),
            st.sampled_from(["main", "sub"]),
            st.sampled_from(FILES),
            st.booleans(),
            st.booleans(),
            st.sampled_from(["approved", "rejected", "cancelled"]),
        ),
        st.tuples(st.just("turn"), st.sampled_from(["main", "sub"]), st.sampled_from(["user", "plugin"])),
    ),
    max_size=60,
)


def play(steps: list[Any], under: Engine, restore_at: int | None = None) -> list[Any]:
    """What the engine answers, step by step; at `restore_at` it goes on from its own snapshot, through JSON."""
    answers: list[Any] = []
    for number, step in enumerate(steps):
        if number == restore_at:
            snapshot = json.loads(json.dumps(under.snapshot()))
            under = engine(**CONFIG)
            under.restore(snapshot)
        if step[0] == "turn":
            answers.append(under.user_turn(step[1], step[2]))
            continue
        _, agent, name, failed, can_ask, outcome = step
        call = Call(agent, "stat", {"name": name}, f"c{number}", can_ask=can_ask)
        verdict = under.guard(call)
        answer = [verdict.decision]
        if verdict.decision == "ask":
            answer.append(under.approve(agent, call.call_id, outcome).decision)
        report = under.settle(Settled(agent, exit_code(1) if failed else OK, call.call_id))
        answers.append([*answer, [advisory.stage for advisory in report.advisories]])
    return answers


def expected(steps: list[Any]) -> list[Any]:
    models = {"main": Naive(), "sub": Naive()}
    answers: list[Any] = []
    for step in steps:
        if step[0] == "turn":
            if step[2] == "user":
                models[step[1]] = Naive()
            answers.append(step[2] == "user")
            continue
        _, agent, name, failed, can_ask, outcome = step
        model = models[agent]
        answer = [model.guard(name, can_ask)]
        if answer[0] == "ask":
            answer.append("allow" if outcome == "approved" else "deny")
            (model.exempt if outcome == "approved" else model.refused).add(name)
        told = model.advisories(name) if answer[-1] == "allow" else []
        model.commit(name)
        if answer[-1] == "allow":
            told = model.outcome(name, failed) + told
        answers.append([*answer, told])
    return answers


@given(steps)
def test_the_engine_agrees_with_the_naive_model(steps: list[Any]) -> None:
    assert play(steps, engine(**CONFIG)) == expected(steps)


@given(steps, st.integers(0, 59))
def test_a_snapshot_restored_at_any_point_changes_no_later_answer(steps: list[Any], at: int) -> None:
    assert play(steps, engine(**CONFIG), restore_at=at) == play(steps, engine(**CONFIG))


def test_a_call_that_runs_outlives_any_number_of_denied_ones() -> None:
    play = Play(limits={"exact": 2}, onLimit="deny")
    running = play.guard("bash", command="make")
    verdicts = [play.guard("read", path="a") for _ in range(300)]
    assert [verdict.decision for verdict in verdicts] == ["allow", *["deny"] * 299]
    assert play.engine.settle(Settled("main", exit_code(2), running.call_id)).failure is not None


def test_a_sign_of_life_without_a_time_keeps_the_one_that_is_known() -> None:
    under = engine()
    under.agent_started("sub", "main", "subagent", at=100.0)
    under.guard(Call("sub", "read", {}, at=None))
    under.agent_started("sub", "main", "subagent", at=None)
    assert under.state.agents["main"].account.children == {"sub": 100.0}


def test_a_family_of_any_depth_is_loaded() -> None:
    under = engine()
    depth = 1_500  # deeper than Python calls
    under.state.loader = lambda name: Agent(account=Account(parent=str(int(name) + 1) if int(name) < depth else None))
    under.guard(Call("0", "read", {}))
    assert len(under.state.agents) == depth + 1


def test_a_call_that_is_given_a_name_gets_none_that_a_client_would_give() -> None:
    under = engine()
    named = under.guard(Call("main", "read", {"path": "a"})).call_id
    for number in range(1, 10):
        under.guard(Call("main", "write", {"path": "b"}, f"call-{number}"))
    assert under.state.agents["main"].pending[named].tool == "read"


def test_a_memory_of_denied_calls_stays_small() -> None:
    play = Play(limits={"exact": 2}, onLimit="deny")
    play.call("write", path="a", content="x" * 800)
    before = len(json.dumps(play.engine.snapshot()))
    for _ in range(100):
        assert play.guard("write", path="a", content="x" * 800).decision == "deny"
    assert len(json.dumps(play.engine.snapshot())) < before + 100 * 800


def test_a_memory_of_a_larger_window_shrinks_to_the_one_that_is_set() -> None:
    before = Play(limits={"exact": None}, window=16)
    for _ in range(10):
        before.call("read", path="a")
    after = engine(limits={"exact": 3}, window=4)
    after.restore(before.engine.snapshot())
    later = Play(agent="main", on=after)
    for name in "bcde":
        assert later.call("read", path=name).decision == "allow"
    assert later.call("read", path="a").decision == "allow", "none of the last four calls read it"


@given(steps)
@settings(max_examples=50)
def test_one_agent_never_affects_another(steps: list[Any]) -> None:
    together = play(steps, engine(**CONFIG))
    alone = play([step for step in steps if step[1] == "main"], engine(**CONFIG))
    assert [answer for step, answer in zip(steps, together, strict=True) if step[1] == "main"] == alone


@given(st.lists(st.sampled_from(["f.html", "g.html"]), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_denied_call_never_spends_what_it_did_not_touch(sinks: list[str]) -> None:
    """Every call fetches a new address; whatever is denied, that address stays unspent."""
    under = engine(onLimit="deny", limits={"sink": 3, "host": None, "exact": None, "cmd": None})
    for number, sink in enumerate(sinks):
        command = f"curl -o {sink} https://a.example/{number}"
        verdict = under.guard(Call("main", "bash", {"command": command}, str(number)))
        spent = under.status("main")["agents"]["main"]["window"]["counts"]
        assert (f"net:a.example/{number}" in spent) == (verdict.decision == "allow")


# Every gate at once, at numbers that are soon reached.
TRACKS = {"window": 6, "limits": {"exact": 5, "cmd": 4}, "warnAt": 2, "summarizeAt": 3, "failWarnAt": 2, "failLimit": 3}
REPEATS = {"repeatLimit": 4, "skeletonLimit": 4, "cycleLimit": 2, "sameErrorLimit": 2}
BUDGETS = {"maxTokens": 60, "sessionMaxTokens": 80, "familyMaxTokens": 100}
QUOTAS = {"subagentRequests": 3, "subagentTools": 4, "fanout": 2, "workflowAgents": 2}
EVERYTHING: dict[str, Any] = TRACKS | REPEATS | BUDGETS | QUOTAS

agents = st.sampled_from(["main", "sub", "leaf"])
calls = st.sampled_from(
    [
        ("read", {"path": "a"}),
        ("read", {"path": "b"}),
        ("bash", {"command": "make"}),
        ("bash", {"command": "sleep 1"}),
        ("bash", {"command": "sleep 2"}),
        ("task", {}),
        ("todo_write", {}),
    ]
)
ids = st.integers(0, 9).map(str)
events = st.lists(
    st.one_of(
        st.tuples(st.just("guard"), agents, calls, ids, st.sampled_from([None, "main", "sub"]), st.booleans()),
        st.tuples(st.just("settle"), agents, ids, st.sampled_from([OK, exit_code(1)])),
        st.tuples(st.just("approve"), agents, ids, st.sampled_from(["approved", "cancelled"])),
        st.tuples(st.just("usage"), agents, st.integers(0, 30), st.booleans()),
        st.tuples(st.just("turn"), agents),
        st.tuples(st.just("start"), agents, agents, st.sampled_from(["subagent", "workflow"])),
        st.tuples(st.just("end"), agents),
        st.tuples(st.just("compacted"), agents),
    ),
    max_size=80,
)


def happens(under: Engine, event: Any, at: float) -> Any:
    match event:
        case ("guard", agent, (tool, arguments), call_id, parent, can_ask):
            return under.guard(Call(agent, tool, arguments, call_id, parent, at=at, can_ask=can_ask))
        case ("settle", agent, call_id, result):
            return under.settle(Settled(agent, result, call_id, at=at))
        case ("approve", agent, call_id, outcome):
            return under.approve(agent, call_id, outcome)
        case ("usage", agent, tokens, replied):
            return under.usage(Usage(agent, tokens, at=at), replied=replied)
        case ("turn", agent):
            return under.user_turn(agent, at=at)
        case ("start", agent, parent, kind):
            return under.agent_started(agent, parent, kind, "call", at)
        case ("end", agent):
            return under.agent_ended(agent)
        case ("compacted", agent):
            return under.compacted(agent)


@given(st.sampled_from(["standard", "loop-guard", "adaptive"]), events, st.sets(st.integers(0, 79)))
@settings(deadline=None)
def test_snapshots_in_the_middle_of_anything_change_no_answer(profile: str, events: list[Any], at: set[int]) -> None:
    resolved = resolve([Layer("test", {"profile": profile, **EVERYTHING})]).settings
    through, restored = Engine(resolved), Engine(resolved)
    for number, event in enumerate(events):
        if number in at:
            snapshot = json.loads(json.dumps(restored.snapshot()))
            restored = Engine(resolved)
            restored.restore(snapshot)
        answers = []
        for under in (through, restored):
            try:
                answers.append(happens(under, event, 600.0 * number))
            except UnknownCallError as error:
                answers.append(str(error))
        assert answers[0] == answers[1]
    assert through.status() == restored.status()
