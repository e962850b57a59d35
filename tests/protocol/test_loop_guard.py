"""Every gate of the second public plugin's table, over the wire: at its documented number, at its edge, off, and its
way out. `tests/README.md` says which test holds which row.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import Memory

OK = {"content": "done", "value": {"exitCode": 0}}
BUDGET = "LOOP_GUARD_BUDGET_EXHAUSTED"
OFF = [0, -1, None]


class Wire:
    """A client of the wire, with as many agents as it likes. Each `guard` is settled when it may run."""

    def __init__(self, **config: Any) -> None:
        self.memory = Memory()
        self.calls = 0
        self.told: list[dict[str, Any]] = []
        self.call("initialize", protocolVersion=1, config={"profile": "loop-guard", **config})

    def call(self, method: str, **params: Any) -> Any:
        return self.memory.call(method, **params)

    def guard(self, tool: str = "write", arguments: Any = None, result: Any = OK, **more: Any) -> dict[str, Any]:
        """Guard a call, by default one that never came before, and settle it when it may run."""
        self.calls += 1
        call_id = f"c{self.calls}"
        given = {"path": f"/{self.calls}/{'x' * self.calls}"} if arguments is None else arguments
        verdict: dict[str, Any] = self.call("guard", tool=tool, arguments=given, callId=call_id, **more)
        if verdict["decision"] == "allow":
            same = {name: more[name] for name in ("agent", "at") if name in more}
            self.told = self.call("postExecute", callId=call_id, result=result, **same)["advisories"]
        return verdict

    def shell(self, command: str, **more: Any) -> dict[str, Any]:
        return self.guard("bash", {"command": command}, **more)

    def spend(self, tokens: int, agent: str = "main", **more: Any) -> list[dict[str, Any]]:
        advisories: list[dict[str, Any]] = self.call("usage", agent=agent, inputTokens=tokens, **more)["advisories"]
        return advisories

    def child(self, name: str, parent: str = "main", kind: str = "subagent", **more: Any) -> None:
        self.call("agentStarted", agent=name, parent=parent, kind=kind, **more)


def outcomes(verdicts: list[dict[str, Any]]) -> str:
    """`+` for each call that ran, `-` for each that did not."""
    return "".join("+" if verdict["decision"] == "allow" else "-" for verdict in verdicts)


def the_hit(verdict: dict[str, Any]) -> tuple[str, int, int]:
    (hit,) = verdict["hits"]
    return hit["gate"], hit["count"], hit["limit"]


class TestTurnBudget:
    def test_60_million_of_billed_input(self) -> None:
        wire = Wire()
        wire.spend(20_000_000, cacheReadTokens=39_000_000, cacheWriteTokens=999_999, outputTokens=5_000_000)
        assert outcomes([wire.guard()]) == "+"
        wire.spend(1)
        verdict = wire.guard()
        assert (verdict["decision"], verdict["code"]) == ("deny", BUDGET)
        assert the_hit(verdict) == ("turnBudget", 60_000_000, 60_000_000)
        assert verdict["reason"].startswith(BUDGET)

    def test_subagents_spend_from_the_turn_of_their_root_and_stop_with_it(self) -> None:
        wire = Wire(maxTokens=100)
        wire.child("sub")
        wire.child("leaf", "sub")
        wire.spend(60, "leaf")
        wire.spend(40, "sub")
        for agent in ("main", "sub", "leaf"):
            assert wire.guard(agent=agent)["code"] == BUDGET
        assert "leaf (60)" in wire.guard()["reason"]
        assert "sub (40)" in wire.guard()["reason"]

    def test_a_user_message_begins_a_new_turn_and_nothing_else_does(self) -> None:
        wire = Wire(maxTokens=100)
        wire.child("sub")
        wire.spend(100)
        wire.call("userTurn", source="plugin")
        wire.call("userTurn", agent="sub")
        assert outcomes([wire.guard()]) == "-"
        wire.call("userTurn")
        assert outcomes([wire.guard()]) == "+"
        wire.spend(99, "sub")  # what a subagent spends belongs to the turn in which it spends it
        assert outcomes([wire.guard()]) == "+"
        wire.spend(1, "sub")
        assert outcomes([wire.guard()]) == "-"

    def test_it_stays_exhausted_but_for_one_call_after_three_denials(self) -> None:
        wire = Wire(maxTokens=100)
        wire.spend(100)
        assert outcomes([wire.guard() for _ in range(12)]) == "---+---+---+"
        assert [(told["gate"], told["stage"]) for told in wire.told] == [("turnBudget", "letThrough")]

    def test_denials_add_up_whatever_comes_between(self) -> None:
        wire = Wire(maxTokens=100)
        wire.spend(100)
        for _ in range(3):
            assert outcomes([wire.guard()]) == "-"
            assert outcomes([wire.guard("todo_write")]) == "+"
            wire.spend(1000)
        assert outcomes([wire.guard()]) == "+"

    def test_tools_that_wind_a_session_up_are_never_stopped(self) -> None:
        wire = Wire(maxTokens=100, repeatLimit=2)
        wire.spend(100)
        tools = ["todo_write", "TodoWrite", "write_todos", "ask_user_question", "AskUserQuestion"]
        tools += ["exit_plan_mode", "ExitPlanMode"]
        assert outcomes([wire.guard(tool, {}) for tool in tools for _ in range(3)]) == "+" * 21

    @pytest.mark.parametrize("off", OFF)
    def test_off(self, off: int | None) -> None:
        wire = Wire(maxTokens=off, sessionMaxTokens=off)
        assert wire.spend(10**12) == []
        assert outcomes([wire.guard()]) == "+"

    def test_a_request_that_is_told_twice_counts_once(self) -> None:
        wire = Wire(maxTokens=100)
        for _ in range(3):
            wire.spend(50, requestId="r1")
        assert outcomes([wire.guard()]) == "+"
        wire.spend(50, requestId="r2")
        assert outcomes([wire.guard()]) == "-"

    def test_usage_may_ride_along_with_an_outcome(self) -> None:
        wire = Wire(maxTokens=100)
        wire.call("guard", tool="x", arguments={}, callId="a")
        wire.call("postExecute", callId="a", result=OK, usage={"inputTokens": 100, "requestId": "r"})
        wire.spend(100, requestId="r")
        assert the_hit(wire.guard())[1] == 100


class TestWarning:
    def test_at_seven_tenths_once_a_turn_and_budget(self) -> None:
        wire = Wire()
        assert wire.spend(41_999_999) == []
        (told,) = wire.spend(1)
        assert (told["gate"], told["stage"], told["count"]) == ("turnBudget", "budgetWarn", 42_000_000)
        assert told["text"].startswith("CONVERGENCE_CHECK:")
        assert told["source"] == {"kind": "plugin"}
        assert wire.spend(1_000_000) == []
        wire.call("userTurn")
        assert [each["gate"] for each in wire.spend(42_000_000)] == ["turnBudget"]

    def test_two_budgets_crossed_at_once_are_told_one_after_the_other(self) -> None:
        wire = Wire(maxTokens=100, sessionMaxTokens=100)
        assert [each["gate"] for each in wire.spend(70)] == ["turnBudget"]
        wire.guard()
        assert [each["gate"] for each in wire.told] == ["sessionBudget"]
        wire.guard()
        assert wire.told == []

    def test_what_no_reply_carried_rides_on_the_next_outcome(self) -> None:
        wire = Wire(maxTokens=100)
        params = b'{"jsonrpc":"2.0","method":"usage","params":{"inputTokens":70}}\n'
        assert wire.memory.feed(params) == []
        wire.guard()
        assert [(each["gate"], each["stage"]) for each in wire.told] == [("turnBudget", "budgetWarn")]

    def test_an_outcome_that_nobody_answers_carries_none(self) -> None:
        wire = Wire(maxTokens=100)
        wire.call("guard", tool="x", arguments={}, callId="a")
        params = b'{"callId":"a","result":{},"usage":{"inputTokens":70}}'
        assert wire.memory.feed(b'{"jsonrpc":"2.0","method":"postExecute","params":' + params + b"}\n") == []
        wire.guard()
        assert [(each["gate"], each["stage"]) for each in wire.told] == [("turnBudget", "budgetWarn")]

    def test_the_ratio_can_be_set_and_turned_off(self) -> None:
        assert [each["count"] for each in Wire(maxTokens=100, warnRatio=0.25).spend(25)] == [25]
        assert [each["count"] for each in Wire(maxTokens=100, warnRatio=1).spend(100)] == [100]
        assert Wire(maxTokens=100, warnRatio=None).spend(100) == []


class TestSessionBudget:
    def test_1000_million_across_turns(self) -> None:
        wire = Wire(maxTokens=0)
        for _ in range(10):
            wire.spend(99_999_999)
            wire.call("userTurn")
        wire.spend(9)
        assert outcomes([wire.guard()]) == "+"
        wire.spend(1)
        verdict = wire.guard()
        assert verdict["code"] == "LOOP_GUARD_SESSION_BUDGET"
        assert the_hit(verdict) == ("sessionBudget", 1_000_000_000, 1_000_000_000)
        wire.call("userTurn")
        assert outcomes([wire.guard() for _ in range(5)]) == "---+-"

    def test_it_is_the_agents_alone(self) -> None:
        wire = Wire(sessionMaxTokens=100)
        wire.child("sub")
        wire.spend(100, "sub")
        assert outcomes([wire.guard(), wire.guard(agent="sub")]) == "+-"


class TestFamilyBudget:
    def test_it_is_off_until_it_is_set(self) -> None:
        wire = Wire(maxTokens=0, sessionMaxTokens=0)
        wire.spend(10**13)
        assert outcomes([wire.guard()]) == "+"

    def test_an_agent_and_all_its_descendants_across_turns(self) -> None:
        wire = Wire(familyMaxTokens=100, maxTokens=0)
        wire.child("sub")
        wire.child("leaf", "sub")
        wire.spend(50, "leaf")
        wire.call("userTurn")
        wire.spend(49)
        assert outcomes([wire.guard(agent=agent) for agent in ("main", "sub", "leaf")]) == "+++"
        wire.spend(1, "sub")
        verdicts = [wire.guard(agent=agent) for agent in ("main", "sub", "leaf")]
        assert {verdict["code"] for verdict in verdicts} == {"LOOP_GUARD_FAMILY_BUDGET"}
        assert [the_hit(verdict) for verdict in verdicts] == [("familyBudget", 100, 100)] * 3

    def test_a_text_says_whose_family_it_is(self) -> None:
        wire = Wire(familyMaxTokens=100)
        wire.child("sub")
        wire.spend(60, "main")
        (told,) = wire.spend(10, "sub")
        assert "main and all it started" in told["text"]
        wire.spend(30, "sub")
        assert "main and all it started" in wire.guard(agent="sub")["reason"]

    def test_two_families_over_budget_are_one_spot(self) -> None:
        wire = Wire(familyMaxTokens=100)
        wire.child("sub")
        wire.spend(100, "sub")
        verdicts = [wire.guard(agent="sub") for _ in range(8)]
        assert len(verdicts[0]["hits"]) == 2
        assert outcomes(verdicts) == "---+---+"


class TestSignature:
    def test_the_4th_of_a_turn_and_the_5th_for_read(self) -> None:
        wire = Wire()
        verdicts = [wire.guard("grep", {"pattern": "x"}) for _ in range(4)]
        assert outcomes(verdicts) == "+++-"
        assert (verdicts[3]["code"], the_hit(verdicts[3])) == ("LOOP_GUARD_REPEAT", ("signature", 4, 4))
        assert outcomes([wire.guard("read", {"path": "/a"}) for _ in range(5)]) == "++++-"

    def test_the_same_arguments_in_another_order_are_the_same(self) -> None:
        wire = Wire(repeatLimit=2)
        assert outcomes([wire.guard("t", {"a": 1, "b": 2}), wire.guard("t", {"b": 2, "a": 1})]) == "+-"

    def test_three_denials_and_one_pass_again_and_again(self) -> None:
        wire = Wire()
        assert outcomes([wire.guard("grep", {}) for _ in range(15)]) == "+++---+---+---+"
        assert [(each["gate"], each["stage"], each["count"]) for each in wire.told] == [("signature", "letThrough", 6)]

    def test_denials_of_another_spot_do_not_count(self) -> None:
        wire = Wire(repeatLimit=2)
        verdicts = [wire.guard("grep", {"n": n % 2}) for n in range(10)]
        assert outcomes(verdicts) == "++------++"

    def test_how_many_denials_can_be_set(self) -> None:
        wire = Wire(repeatLimit=2, maxDenials=1)
        assert outcomes([wire.guard("grep", {}) for _ in range(6)]) == "+-+-+-"

    def test_a_user_message_and_another_agent_begin_anew(self) -> None:
        wire = Wire(repeatLimit=2)
        assert outcomes([wire.guard("grep", {}), wire.guard("grep", {}, agent="other")]) == "++"
        wire.call("userTurn")
        assert outcomes([wire.guard("grep", {}), wire.guard("grep", {})]) == "+-"

    def test_excluded_tools_are_invisible(self) -> None:
        wire = Wire(repeatLimit=2, exclude=["poll_*"])
        assert outcomes([wire.guard("poll_job", {}) for _ in range(9)]) == "+" * 9

    @pytest.mark.parametrize("off", OFF)
    def test_off(self, off: int | None) -> None:
        wire = Wire(repeatLimit=off)
        assert outcomes([wire.guard("grep", {}) for _ in range(9)]) == "+" * 9
        assert outcomes([wire.guard("read", {}) for _ in range(5)]) == "++++-"  # its own number stands
        wire = Wire(repeatLimits={"read": off})
        assert outcomes([wire.guard("read", {}) for _ in range(9)]) == "+" * 9


class TestSkeleton:
    def test_the_10th_command_line_of_one_shape(self) -> None:
        wire = Wire()
        verdicts = [wire.shell(f"curl -s 'https://a.example/{n * 7}' --max-time {n} > /tmp/out.{n}") for n in range(10)]
        assert outcomes(verdicts) == "+++++++++-"
        assert (verdicts[9]["code"], the_hit(verdicts[9])) == ("LOOP_GUARD_SKELETON", ("skeleton", 10, 10))

    def test_what_is_blanked(self) -> None:
        wire = Wire(skeletonLimit=2)
        same = [
            ("sed -n 1p f", "sed -n 22p f"),
            ("echo 'a b'", 'echo "c"'),
            ("git show 3f2a9c1d", "git show 99ab01cd"),
            ("cal 2026-01-02", "cal 1999-12-31"),
            ("cat /tmp/tmp.Ab12xY", "cat /tmp/tmp.Zz99qQ"),
            ("wc /var/folders/ab/x1/T/f", "wc /var/folders/cd/y2/T/f"),
        ]
        for one, other in same:
            assert outcomes([wire.shell(one), wire.shell(other)]) == "+-", one
        assert outcomes([wire.shell("ls src"), wire.shell("ls lib")]) == "++"

    def test_its_way_out_and_off(self) -> None:
        wire = Wire(skeletonLimit=2)
        assert outcomes([wire.shell(f"sed -n {n}p f") for n in range(9)]) == "+---+---+"
        wire = Wire(skeletonLimit=0)
        assert outcomes([wire.shell(f"sed -n {n}p f") for n in range(20)]) == "+" * 20

    def test_other_tools_have_none(self) -> None:
        wire = Wire(skeletonLimit=2)
        assert outcomes([wire.guard("read", {"path": f"/{n}"}) for n in range(5)]) == "+++++"


class TestCycle:
    def test_the_call_that_ends_the_third_round(self) -> None:
        wire = Wire(repeatLimit=0)
        verdicts = [wire.guard(tool, {}) for tool in "abababa"]
        assert outcomes(verdicts) == "+++++-+"  # what was denied is not part of a round: `a` follows `a`
        assert verdicts[5]["code"] == "LOOP_GUARD_CYCLE"
        assert the_hit(verdicts[5]) == ("cycle", 3, 3)

    def test_two_different_calls_must_take_turns(self) -> None:
        wire = Wire(repeatLimit=0)
        assert outcomes([wire.guard(tool, {}) for tool in "aaaaaaaa"]) == "+" * 8
        assert outcomes([wire.guard(tool, {}) for tool in "abababc"[:5] + "c" + "ab"]) == "+" * 8
        assert outcomes([wire.guard(tool, {}) for tool in "bbaabbaabbaa"]) == "+" * 12

    def test_three_in_turn_are_a_cycle_only_beyond_the_plugins_own_rules(self) -> None:
        assert outcomes([Wire(repeatLimit=0).guard(tool, {}) for tool in "abcabcabc"]) == "+" * 9
        wire = Wire(repeatLimit=0, cyclePeriods=[2, 3, 4])
        assert outcomes([wire.guard(tool, {}) for tool in "abcabcabc"]) == "++++++++-"
        wire = Wire(repeatLimit=0, cyclePeriods=[2, 3, 4])
        assert outcomes([wire.guard(tool, {}) for tool in "abcdabcdabcd"]) == "+++++++++++-"

    def test_its_way_out(self) -> None:
        wire = Wire(repeatLimit=0)
        assert outcomes([wire.guard(tool, {}) for tool in "ababa"]) == "+++++"
        assert outcomes([wire.guard("b", {}) for _ in range(4)]) == "---+"

    def test_its_edge_and_off(self) -> None:
        wire = Wire(repeatLimit=0, cycleLimit=2)
        assert outcomes([wire.guard(tool, {}) for tool in "abab"]) == "+++-"
        wire = Wire(repeatLimit=0, cycleLimit=0)
        assert outcomes([wire.guard(tool, {}) for tool in "ab" * 10]) == "+" * 20

    def test_a_user_message_ends_a_round(self) -> None:
        wire = Wire(repeatLimit=0)
        verdicts = [wire.guard(tool, {}) for tool in "ababa"]
        wire.call("userTurn")
        assert outcomes([*verdicts, wire.guard("b", {})]) == "++++++"


def error(text: str, **more: Any) -> dict[str, Any]:
    return {"content": text, "isError": True, "error": {"message": text, **more}}


class TestSameError:
    def test_after_the_second_equal_error_of_a_tool_that_tool_alone_waits(self) -> None:
        wire = Wire()
        verdicts = [wire.guard("fetch", result=error(f"no table named users (row {n})")) for n in range(3)]
        assert outcomes(verdicts) == "++-"
        assert verdicts[2]["code"] == "LOOP_GUARD_SAME_ERROR"
        assert the_hit(verdicts[2]) == ("sameError", 2, 2)
        assert outcomes([wire.guard("read"), wire.guard("fetch")]) == "+-"

    def test_different_errors_and_errors_of_different_tools_are_not_the_same(self) -> None:
        wire = Wire()
        for tool in ("one", "two"):
            wire.guard(tool, result=error("no such table"))
            wire.guard(tool, result=error("no such column"))
        assert outcomes([wire.guard("one"), wire.guard("two")]) == "++"

    def test_it_waits_until_it_succeeds_and_its_way_out_lets_it_try(self) -> None:
        wire = Wire()
        verdicts = [wire.guard("fetch", result=error("no such table")) for _ in range(2)]
        verdicts += [wire.guard("fetch") for _ in range(4)]  # the pass succeeds
        verdicts += [wire.guard("fetch", result=error("no such table")) for _ in range(3)]
        assert outcomes(verdicts) == "++---+++-"

    @pytest.mark.parametrize(
        "text",
        [
            "connect ECONNRESET 10.0.0.1:443",
            "connect ECONNREFUSED 127.0.0.1:80",
            "request timed out",
            "getaddrinfo ENOTFOUND a.example",
            "HTTP 429 Too Many Requests",
            "502 Bad Gateway",
            "503 Service Unavailable",
            "504 Gateway Timeout",
            "Error: LOOP_GUARD_REPEAT: this call was not run.",
            "",
        ],
    )
    def test_a_network_that_fails_for_a_moment_own_denials_and_empty_texts_do_not_count(self, text: str) -> None:
        wire = Wire()
        assert outcomes([wire.guard("fetch", result=error(text)) for _ in range(6)]) == "+" * 6

    def test_its_edge_and_off(self) -> None:
        wire = Wire(sameErrorLimit=3)
        assert outcomes([wire.guard("fetch", result=error("no")) for _ in range(4)]) == "+++-"
        wire = Wire(sameErrorLimit=0)
        assert outcomes([wire.guard("fetch", result=error("no")) for _ in range(9)]) == "+" * 9

    def test_who_only_observes_is_not_gated_by_it(self) -> None:
        wire = Wire()
        for _ in range(3):
            wire.call("postExecute", tool="fetch", arguments={}, result=error("no such table"))
        assert outcomes([wire.guard("fetch")]) == "+"


class TestSubagentRequests:
    def test_150_are_free_the_next_warns_and_passes_once(self) -> None:
        wire = Wire()
        wire.child("sub")
        for _ in range(150):
            wire.spend(1, "sub")
        assert outcomes([wire.guard(agent="sub")]) == "+"
        assert wire.told == []
        wire.spend(1, "sub")
        assert outcomes([wire.guard(agent="sub")]) == "+"
        assert [(each["gate"], each["stage"], each["count"]) for each in wire.told] == [
            ("subagentRequests", "quotaWarn", 151)
        ]
        verdicts = [wire.guard(agent="sub") for _ in range(9)]
        assert outcomes(verdicts) == "-" * 9
        assert verdicts[0]["code"] == "LOOP_GUARD_SUBAGENT_REQUESTS"
        assert the_hit(verdicts[0]) == ("subagentRequests", 151, 150)

    def test_only_of_subagents_each_for_itself_and_off(self) -> None:
        wire = Wire(subagentRequests=1)
        wire.child("one")
        wire.child("two")
        for agent in ("main", "main", "main", "one", "one", "two"):
            wire.spend(1, agent)
        assert outcomes([wire.guard(agent=agent) for agent in ("main", "main", "one", "one", "two", "two")]) == "+++-++"
        wire = Wire(subagentRequests=0)
        wire.child("sub")
        for _ in range(200):
            wire.spend(1, "sub")
        assert outcomes([wire.guard(agent="sub") for _ in range(3)]) == "+++"


class TestSubagentTools:
    def test_250_are_free_the_next_warns_and_passes_once(self) -> None:
        wire = Wire()
        verdicts = [wire.guard(agent="sub", parent="main") for _ in range(251)]
        assert outcomes(verdicts) == "+" * 251
        assert [(each["gate"], each["stage"], each["count"]) for each in wire.told] == [
            ("subagentTools", "quotaWarn", 251)
        ]
        verdicts = [wire.guard(agent="sub", parent="main") for _ in range(5)]
        assert outcomes(verdicts) == "-----"
        assert verdicts[0]["code"] == "LOOP_GUARD_SUBAGENT_TOOLS"
        assert the_hit(verdicts[0]) == ("subagentTools", 252, 250)
        assert outcomes([wire.guard("todo_write", agent="sub"), wire.guard()]) == "++"

    def test_calls_that_were_denied_are_not_among_them(self) -> None:
        wire = Wire(subagentTools=3, repeatLimit=2)
        verdicts = [wire.guard("grep", {}, agent="sub", parent="main") for _ in range(4)]
        verdicts += [wire.guard(agent="sub") for _ in range(4)]
        assert outcomes(verdicts) == "+---+++-"

    def test_off(self) -> None:
        wire = Wire(subagentTools=None)
        assert outcomes([wire.guard(agent="sub", parent="main") for _ in range(300)]) == "+" * 300


class TestFanout:
    def test_8_at_once_under_one_parent(self) -> None:
        wire = Wire()
        for number in range(8):
            assert outcomes([wire.guard("subagent")]) == "+"
            assert wire.told == []
            wire.child(f"sub-{number}")
        assert outcomes([wire.guard("subagent")]) == "+"
        assert [(each["gate"], each["stage"], each["count"]) for each in wire.told] == [("fanout", "quotaWarn", 8)]
        verdicts = [wire.guard(tool) for tool in ("subagent", "Task", "subagent_fork", "workflow", "spawn_agent")]
        assert outcomes(verdicts) == "-----"
        assert (verdicts[0]["code"], the_hit(verdicts[0])) == ("LOOP_GUARD_FANOUT", ("fanout", 8, 8))
        assert outcomes([wire.guard("read"), wire.guard("subagent", agent="sub-0")]) == "++"
        wire.call("agentEnded", agent="sub-3")
        assert outcomes([wire.guard("subagent")]) == "+"

    def test_a_subagent_that_nobody_hears_of_for_half_an_hour_has_ended(self) -> None:
        wire = Wire(fanout=1)
        wire.child("sub", at=1000.0)
        assert outcomes([wire.guard("task", at=1001.0), wire.guard("task", at=1002.0)]) == "+-"
        wire.guard(agent="sub", at=1900.0)
        assert outcomes([wire.guard("task", at=1900.0 + 1799), wire.guard("task", at=1900.0 + 1800)]) == "-+"

    def test_a_request_to_the_model_is_a_sign_of_life(self) -> None:
        wire = Wire(fanout=1)
        wire.child("sub", at=1000.0)
        assert outcomes([wire.guard("task", at=1001.0)]) == "+"
        wire.spend(1, "sub", at=2000.0)
        assert outcomes([wire.guard("task", at=2000.0 + 1799), wire.guard("task", at=2000.0 + 1800)]) == "-+"

    def test_a_subagent_that_waits_for_its_own_lives_with_them(self) -> None:
        wire = Wire(fanout=1)
        wire.child("sub", at=1000.0)
        wire.child("leaf", "sub", at=1000.0)
        assert outcomes([wire.guard("task", at=1001.0)]) == "+"
        wire.guard(agent="leaf", at=2000.0)
        assert outcomes([wire.guard("task", at=2000.0 + 1799), wire.guard("task", at=2000.0 + 1800)]) == "-+"

    def test_where_nobody_knows_the_time_a_subagent_runs_until_it_ends(self) -> None:
        wire = Wire(fanout=1)
        wire.child("sub", at=None)
        assert outcomes([wire.guard("task", at=at) for at in (0.0, None, 1e9)]) == "+--"
        wire.call("agentEnded", agent="sub")
        assert outcomes([wire.guard("task", at=None)]) == "+"

    def test_an_agent_first_seen_in_a_guard_that_names_its_parent_counts(self) -> None:
        wire = Wire(fanout=1)
        wire.spend(1, "sub")  # its tokens may be heard of first
        wire.guard(agent="sub", parent="main")
        assert outcomes([wire.guard("task"), wire.guard("task")]) == "+-"

    def test_off(self) -> None:
        wire = Wire(fanout=0)
        for number in range(50):
            wire.child(f"sub-{number}")
        assert outcomes([wire.guard("task") for _ in range(3)]) == "+++"


class TestWorkflowAgents:
    def test_24_of_one_call_are_free_and_the_25th_passes_once(self) -> None:
        wire = Wire()
        for number in range(26):
            wire.child(f"w{number}", kind="workflow", callId="flow")
        assert outcomes([wire.guard(agent=f"w{number}") for number in range(24)]) == "+" * 24
        verdicts = [wire.guard(agent="w24"), wire.guard(agent="w24"), wire.guard(agent="w25")]
        assert outcomes(verdicts) == "+--"
        assert verdicts[1]["code"] == "LOOP_GUARD_WORKFLOW_AGENTS"
        assert [the_hit(verdict) for verdict in verdicts[1:]] == [
            ("workflowAgents", 25, 24),
            ("workflowAgents", 26, 24),
        ]

    def test_another_call_counts_for_itself_and_saying_it_twice_counts_once(self) -> None:
        wire = Wire(workflowAgents=1)
        for call in ("one", "two"):
            wire.child(f"{call}-agent", kind="workflow", callId=call)
            wire.child(f"{call}-agent", kind="workflow", callId=call)
        assert outcomes([wire.guard(agent=f"{call}-agent") for call in ("one", "two") for _ in range(3)]) == "+" * 6

    def test_off(self) -> None:
        wire = Wire(workflowAgents=0)
        for number in range(60):
            wire.child(f"w{number}", kind="workflow", callId="flow")
        assert outcomes([wire.guard(agent="w59") for _ in range(3)]) == "+++"


class TestTogether:
    def test_the_code_is_that_of_the_first_gate_of_the_table_and_all_hits_are_told(self) -> None:
        wire = Wire(maxTokens=10, sessionMaxTokens=10, familyMaxTokens=10, repeatLimit=2, subagentTools=1)
        wire.child("sub")
        assert outcomes([wire.guard("grep", {}, agent="sub")]) == "+"
        wire.spend(10, "sub")
        verdict = wire.guard("grep", {}, agent="sub")
        assert verdict["code"] == BUDGET
        gates = [hit["gate"] for hit in verdict["hits"]]
        # both families are over; the quota has its one free overrun and does not stop the call
        assert gates == ["turnBudget", "sessionBudget", "familyBudget", "familyBudget", "signature"]

    def test_these_gates_never_ask(self) -> None:
        wire = Wire(repeatLimit=2, onLimit="ask")
        assert [wire.guard("grep", {})["decision"] for _ in range(2)] == ["allow", "deny"]

    def test_a_pass_that_waits_for_an_answer_of_the_operator_is_used_once(self) -> None:
        """A call that both tracks and budgets stop: the budget's pass is not used up by asking, and not doubled."""
        wire = Wire(profile="standard", maxTokens=10, limits={"exact": 2})
        wire.guard("grep", {})
        wire.spend(10)
        assert outcomes([wire.guard() for _ in range(3)]) == "---"
        asked = wire.call("guard", tool="grep", arguments={}, callId="asked")
        assert asked["decision"] == "ask"
        assert wire.call("approval", callId="asked", outcome="approved")["decision"] == "allow"
        told = wire.call("postExecute", callId="asked", result=OK)["advisories"]
        assert [(each["gate"], each["stage"]) for each in told] == [("turnBudget", "letThrough")]
        assert outcomes([wire.guard() for _ in range(4)]) == "---+"

    def test_the_profile_has_no_tracks(self) -> None:
        wire = Wire(repeatLimit=0)
        assert outcomes([wire.guard("grep", {}, error(f"{'x' * n} is wrong")) for n in range(30)]) == "+" * 30
        assert wire.told == []
