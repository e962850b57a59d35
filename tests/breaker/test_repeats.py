"""What a denial of a repeat gate is about; `protocol/test_loop_guard.py` holds the numbers and the ways out."""

from __future__ import annotations

from breaker import Call, Engine, Hit, Layer, Result, Settled, Verdict, resolve


class Agent:
    """One agent under the profile `loop-guard`."""

    def __init__(self, **config: object) -> None:
        self.engine = Engine(resolve([Layer("test", {"profile": "loop-guard", **config})]).settings)

    def call(self, tool: str, error: str | None = None) -> Verdict:
        verdict = self.engine.guard(Call("main", tool, {}))
        if verdict.decision == "allow":
            result = Result("done") if error is None else Result(error, is_error=True, error={"message": error})
            self.engine.settle(Settled("main", result, verdict.call_id))
        return verdict


def test_a_round_of_calls_taking_turns_is_known_by_the_call_that_ends_it() -> None:
    agent = Agent(repeatLimit=0)
    *_, last = [agent.call(tool) for tool in "ababab"]
    assert last.hits == (Hit("cycle", 3, 3, "exact:b:{}", "2 calls taking turns"),)


def test_another_call_that_ends_a_round_does_not_share_its_denials() -> None:
    agent = Agent(repeatLimit=0, maxDenials=1, cycleLimit=2)
    decisions = [agent.call(tool).decision for tool in "ababcac"]
    assert decisions == ["allow"] * 3 + ["deny"] + ["allow"] * 2 + ["deny"]


def test_without_periods_nothing_is_taken_for_a_round() -> None:
    agent = Agent(repeatLimit=0, cyclePeriods=[])
    assert {agent.call(tool).decision for tool in "ab" * 10} == {"allow"}


def test_the_error_that_a_tool_gave_most_often_is_the_one_that_stops_it() -> None:
    agent = Agent(repeatLimit=0)
    for error in ("no such table", "permission denied", "no such table"):
        assert agent.call("query", error).decision == "allow"
    assert agent.call("query").hits == (Hit("sameError", 2, 2, "error:query", "no such table"),)


def test_denials_of_one_tool_with_an_error_let_no_other_through() -> None:
    agent = Agent(maxDenials=1)
    for tool in ("one", "two"):
        for _ in range(2):
            agent.call(tool, "no such table")
    assert [agent.call(tool).decision for tool in ("one", "two", "one")] == ["deny", "deny", "allow"]
