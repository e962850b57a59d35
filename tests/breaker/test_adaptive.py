"""The profile `adaptive` through the engine: what stops, what opens again, what is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import structs

from breaker import Call, Engine, Report, Result, Settled, Verdict
from breaker.settings import preset

OK = {"kind": "foreground", "exitCode": 0}


class Agent:
    """One agent's calls, each settled at once when it may run."""

    def __init__(self, engine: Engine | None = None, name: str = "main", **call: Any) -> None:
        self.engine = engine or Engine(preset("adaptive"))
        self.name = name
        self.fixed = call
        self.count = 0
        self.now: float | None = None

    def call(self, tool: str, arguments: Any, content: Any = "ok", value: Any = None, **more: Any) -> Verdict:
        verdict = self.guard(tool, arguments, **more)
        if verdict.decision == "allow":
            self.report = self.settle(content, value)
        return verdict

    def guard(self, tool: str, arguments: Any, **more: Any) -> Verdict:
        self.count += 1
        given = {"step": f"s{self.count}", "at": self.now, "can_ask": False, **self.fixed, **more}
        return self.engine.guard(Call(self.name, tool, arguments, call_id=f"c{self.count}", **given))

    def settle(self, content: Any, value: Any = None, call_id: str | None = None, **more: Any) -> Report:
        result = Result(content, value, **more)
        return self.engine.settle(Settled(self.name, result, call_id=call_id or f"c{self.count}", at=self.now))

    def look(self, name: str = "a.py", content: str = "text") -> str:
        return self.call("read_file", {"path": name}, content).decision

    def test(self, content: str = "1 failed", exit: int = 1) -> str:  # noqa: A002 - the shell's word
        return self.call("bash", {"command": "pytest -q"}, content, {**OK, "exitCode": exit}).decision

    def edit(self, new: str) -> str:
        return self.call("edit", {"path": "a.py", "old_string": "x", "new_string": new}).decision


def test_a_look_that_shows_the_same_a_fifth_time_is_stopped() -> None:
    agent = Agent()
    assert [agent.look() for _ in range(6)] == ["allow"] * 4 + ["deny"] * 2


def test_a_denial_says_what_was_seen_and_what_would_have_been_progress() -> None:
    agent = Agent()
    for _ in range(4):
        agent.call("bash", {"command": "git log -1"}, "commit of yesterday", OK)
    verdict = agent.call("bash", {"command": "git log -1"}, "commit of yesterday", OK)
    assert verdict.code == "REPEAT_TOOL_BLOCKED"
    assert [(hit.gate, hit.count, hit.limit) for hit in verdict.hits] == [("sameAnswer", 4, 4)]
    assert verdict.reason is not None
    assert "4 times the same answer, and nothing new was changed in between" in verdict.reason
    assert "What would have counted as progress" in verdict.reason
    assert "| commit of yesterday" in verdict.reason


def test_an_agent_is_told_before_it_is_stopped() -> None:
    agent = Agent()
    advised = []
    for _ in range(4):
        agent.look()
        advised.append([(advisory.gate, advisory.stage, advisory.count) for advisory in agent.report.advisories])
    assert advised == [[], [], [("sameAnswer", "warn", 3)], []]


def test_something_new_changed_makes_failures_stale() -> None:
    agent = Agent()
    for n in range(12):
        assert agent.test() == "allow"
        assert agent.edit(f"y{n}") == "allow"


def test_the_same_change_made_again_makes_nothing_stale() -> None:
    agent = Agent()
    decisions = []
    for _ in range(6):
        decisions.append(agent.test())
        agent.edit("y")
    assert decisions == ["allow", "allow", "allow", "allow", "allow", "deny"]


def test_a_change_that_failed_is_none() -> None:
    agent = Agent()
    decisions = []
    for n in range(6):
        decisions.append(agent.test())
        agent.call(
            "edit", {"path": "a.py", "old_string": "x", "new_string": f"y{n}"}, "Error: old_string was not found"
        )
    assert decisions == ["allow"] * 4 + ["deny"] * 2


def test_own_vetoes_do_not_free_the_call() -> None:
    agent = Agent()
    for _ in range(4):
        agent.look()
    assert {agent.look() for _ in range(60)} == {"deny"}


def test_what_was_stopped_stays_shut_while_other_things_are_looked_at() -> None:
    agent = Agent()
    for _ in range(5):
        agent.look()
    for n in range(60):
        assert agent.look(f"other{n}.py", f"text number {n} of {'abcdefghij'[n % 10] * 5}") == "allow"
    assert agent.look() == "deny"


def test_what_was_stopped_opens_when_something_new_is_changed() -> None:
    agent = Agent()
    for _ in range(5):
        agent.look()
    agent.edit("new")
    assert agent.look() == "allow"


def test_what_was_stopped_opens_when_a_person_speaks() -> None:
    agent = Agent()
    for _ in range(5):
        agent.look()
    agent.engine.user_turn("main")
    assert agent.look() == "allow"


def test_what_was_stopped_opens_when_the_history_was_summarised() -> None:
    agent = Agent()
    for _ in range(5):
        agent.look()
    agent.engine.compacted("main")
    assert [agent.look() for _ in range(5)] == ["allow"] * 4 + ["deny"]


def test_somebody_who_can_be_asked_is_asked_and_may_let_it_go_on() -> None:
    agent = Agent(can_ask=True)
    for _ in range(4):
        agent.look()
    assert agent.guard("read_file", {"path": "a.py"}).decision == "ask"
    assert agent.engine.approve("main", f"c{agent.count}", "approved").decision == "allow"
    agent.settle("text")
    assert {agent.look() for _ in range(20)} == {"allow"}


def test_somebody_who_declines_is_not_asked_again() -> None:
    agent = Agent(can_ask=True)
    for _ in range(4):
        agent.look()
    assert agent.guard("read_file", {"path": "a.py"}).decision == "ask"
    assert agent.engine.approve("main", f"c{agent.count}", "rejected").decision == "deny"
    assert agent.look() == "deny"


def test_a_tool_that_fails_alike_is_closed_but_for_a_probe_after_three_denials() -> None:
    agent = Agent()
    decisions = []
    for n in range(14):
        decisions.append(
            agent.call("edit", {"path": "a.py", "old_string": f"x{n}", "new_string": "y"}, "Error: no match").decision
        )
    assert decisions == ["allow"] * 6 + (["deny"] * 3 + ["allow"]) * 2
    assert agent.call("edit", {"path": "a.py", "old_string": "z", "new_string": "y"}).decision == "deny"
    assert agent.call("write_file", {"path": "a.py", "content": "y"}).decision == "allow"
    assert agent.call("edit", {"path": "a.py", "old_string": "z", "new_string": "y"}).decision == "allow"


def test_another_agent_is_not_touched() -> None:
    engine = Engine(preset("adaptive"))
    first, second = Agent(engine, "first"), Agent(engine, "second")
    for _ in range(5):
        first.look()
    assert first.look() == "deny"
    assert second.look() == "allow"


def test_calls_of_one_step_are_one_observation() -> None:
    agent = Agent()
    for n in range(12):
        agent.call("fetch_page", {"url": f"https://a.example/{n}"}, "ECONNRESET", step="one")
    assert agent.call("fetch_page", {"url": "https://a.example/0"}, "ECONNRESET", step="two").decision == "allow"


def test_the_very_same_call_many_times_in_one_step_is_stopped() -> None:
    agent = Agent()
    decisions = [
        agent.call("bash", {"command": "mvn test"}, "BUILD FAILURE", {**OK, "exitCode": 1}, step="one").decision
        for _ in range(30)
    ]
    assert decisions.index("deny") == 10


def test_without_names_calls_between_which_none_settled_are_one_step() -> None:
    agent = Agent(step=None)
    for n in range(12):
        agent.guard("fetch_page", {"url": f"https://a.example/{n}"})
    for n in range(12):
        agent.settle("ECONNRESET: reset", call_id=f"c{n + 1}", is_error=True)
    assert agent.guard("fetch_page", {"url": "https://a.example/0"}).decision == "allow"


def test_a_call_that_never_settles_does_not_make_all_later_ones_one_step() -> None:
    agent = Agent(step=None)
    agent.guard("bash", {"command": "sleep infinity &"})
    assert [agent.look() for _ in range(6)] == ["allow"] * 4 + ["deny"] * 2


def test_a_poll_is_stopped_sooner_in_haste_than_without_a_clock() -> None:
    def polls(gap: float | None) -> int:
        agent = Agent()
        for n in range(60):
            agent.now = None if gap is None else 1_000 + gap * n
            if agent.call("get_status", {"id": 1}, "still running").decision != "allow":
                return n
        return 60

    assert (polls(1), polls(None), polls(10)) == (12, 20, 60)


def test_a_job_that_is_over_is_no_poll() -> None:
    agent = Agent()
    decisions = [agent.call("get_status", {"id": 1}, "completed, exit 0").decision for _ in range(6)]
    assert decisions == ["allow"] * 4 + ["deny"] * 2


def test_times_from_before_a_gap_in_the_clock_do_not_count() -> None:
    agent = Agent()
    agent.now = 1_000.0
    for _ in range(4):
        agent.look()
    agent.now = 1_000.0 + 31 * 60
    assert agent.look() == "allow"


def test_depth_number_and_pace_of_agents_are_limited() -> None:
    engine = Engine(preset("adaptive"))
    names = ["main", *(f"a{n}" for n in range(1, 8))]
    decisions = []
    for name, parent in zip(names, [None, *names], strict=False):
        decisions.append(
            Agent(engine, name, parent=parent).call("Task", {"prompt": f"go on, {name}"}, "started").decision
        )
    assert decisions == ["allow"] * 5 + ["deny"] * 3

    agent = Agent()
    for n in range(40):
        agent.now = 1_000 + n
        if agent.call("Task", {"prompt": f"look into part {n}"}, f"part {n} is fine").decision != "allow":
            break
    assert n == 24


def test_tools_that_are_not_counted_leave_no_evidence() -> None:
    agent = Agent(Engine(structs.replace(preset("adaptive"), exclude=("read_file",))))
    assert {agent.look() for _ in range(20)} == {"allow"}


def test_a_task_list_written_without_a_deed_is_stopped_in_the_end() -> None:
    agent = Agent()
    decisions = [agent.call("TodoWrite", {"todos": [{"content": f"step {n % 3}"}]}).decision for n in range(40)]
    assert decisions.index("deny") == 15  # three that are new, and twelve that are not


def test_a_rule_can_be_turned_off_and_given_another_limit() -> None:
    base = preset("adaptive")
    quiet = Agent(
        Engine(
            structs.replace(
                base, adaptive={**base.adaptive, "sameAnswer": False, "looseKey": False, "reread": None, "noNews": None}
            )
        )
    )
    assert {quiet.look() for _ in range(30)} == {"allow"}
    strict = Agent(Engine(structs.replace(base, adaptive={**base.adaptive, "look": 2})))
    assert [strict.look() for _ in range(3)] == ["allow", "allow", "deny"]


def test_settings_say_what_kind_a_tool_is() -> None:
    acting = Agent(Engine(structs.replace(preset("adaptive"), tool_classes={"read_file": "act"})))
    assert [acting.look() for _ in range(12)] == ["allow"] * 10 + ["deny"] * 2


def test_the_other_profiles_keep_no_evidence() -> None:
    agent = Agent(Engine(preset("standard")))
    agent.look()
    assert agent.engine.snapshot()["agents"]["main"]["evidence"] is None


@pytest.mark.parametrize("at", range(0, 30, 3))
def test_memory_taken_out_and_put_back_judges_the_same(at: int) -> None:
    def play(restored: bool) -> list[str]:
        agent = Agent()
        decisions = []
        for n in range(30):
            if restored and n == at:
                snapshot = json.loads(json.dumps(agent.engine.snapshot()))
                agent.engine = Engine(preset("adaptive"))
                agent.engine.restore(snapshot)
            decisions.append([agent.look(), agent.test(), agent.edit("y"), agent.look("b.py", f"v{n // 9}")][n % 4])
        return decisions

    assert play(True) == play(False)
    assert "deny" in play(False)


def test_memory_is_bounded() -> None:
    agent = Agent()
    for n in range(3_000):
        agent.call(
            "read_file",
            {"path": f"f{n}.py", "offset": n, "limit": 9},
            "\n".join(f"line {n} {k} of f" for k in range(9)),
        )
    evidence = agent.engine.snapshot()["agents"]["main"]["evidence"]
    assert len(evidence["entries"]) == 40
    assert len(json.dumps(evidence)) < 600_000


def test_headings_printed_between_looks_are_no_waiting() -> None:
    engine = Engine(preset())
    for number in range(16):
        command = f"cat src/{number}.py" if number % 2 else f"echo '== part {number} =='"
        call = Call("main", "bash", {"command": command}, str(number), step=str(number), can_ask=False)
        assert engine.guard(call).decision == "allow", number
        engine.settle(Settled("main", Result(content=f"{number} lines", value={"exitCode": 0}), str(number)))


def test_a_first_sleep_is_not_charged_with_what_was_printed_before() -> None:
    engine = Engine(preset())
    for number, command in enumerate(["echo a", "echo b", "true", "echo c", "sleep 2", "sleep 5"]):
        call = Call("main", "bash", {"command": command}, str(number), step=str(number), can_ask=False)
        assert engine.guard(call).decision == "allow", command
        engine.settle(Settled("main", Result(content="", value={"exitCode": 0}), str(number)))
