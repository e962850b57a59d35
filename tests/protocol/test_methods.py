"""The methods on the wire: what they take, what they give back, and what they make of the time and of an ask."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support import Memory, notification

from breaker.engine import Engine
from breaker.events import Annotations, Call, Settled, Usage, Verdict
from breaker.options import Layer
from protocol.about import VERSION
from protocol.layers import Sources

READ = {"tool": "read", "arguments": {"path": "a.py"}}
ALL_METHODS = [
    "initialize",
    "guard",
    "approval",
    "postExecute",
    "userTurn",
    "compacted",
    "usage",
    "agentStarted",
    "agentEnded",
    "status",
    "shutdown",
]


class Spy(Engine):
    """The engine, and what was put to it."""

    seen: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.seen = []

    def guard(self, call: Call, *, explain: bool = False) -> Verdict:
        self.seen.append(call)
        return super().guard(call, explain=explain)

    def settle(self, settled: Settled, *, replied: bool = True) -> Any:
        self.seen.append(settled)
        return super().settle(settled, replied=replied)

    def usage(self, usage: Usage, *, replied: bool = True) -> Any:
        self.seen.append((usage, replied))
        return super().usage(usage, replied=replied)

    def user_turn(self, agent: str, source: str = "user", at: float | None = None) -> bool:
        self.seen.append((agent, source, at))
        return super().user_turn(agent, source, at)

    def agent_started(self, *args: Any) -> None:
        self.seen.append(args)
        super().agent_started(*args)


def spying() -> tuple[Memory, list[Any]]:
    memory = Memory(engine_for=Spy)
    engine = memory.session.engine
    assert isinstance(engine, Spy)
    return memory, engine.seen


def repeat(memory: Memory, times: int, **more: Any) -> dict[str, Any]:
    """The verdict on the last of some equal calls."""
    for _ in range(times - 1):
        memory.call("guard", **READ)
    result = memory.call("guard", **READ, **more)
    assert isinstance(result, dict)
    return result


# -- initialize -----------------------------------------------------------------------------------------------


def test_initialize_tells_who_serves_what_it_can_and_the_whole_configuration() -> None:
    client = {"name": "harness", "version": "2"}
    result = Memory().call("initialize", protocolVersion=1, client=client, config={"window": 8})
    assert result["protocolVersion"] == 1
    assert result["server"] == {"name": "toolbreaker", "version": VERSION}
    assert result["methods"] == ALL_METHODS
    assert result["config"]["window"] == 8
    assert result["config"]["onLimit"] == "ask"
    assert result["config"]["limits"]["exact"] == 12
    assert result["config"]["familyMaxTokens"] is None


@pytest.mark.parametrize("params", [None, {}, {"config": None, "capabilities": None, "client": None}])
def test_initialize_needs_nothing(params: Any) -> None:
    assert "result" in Memory().ask("initialize", params)


def test_initialize_again_starts_afresh_with_the_new_configuration() -> None:
    memory = Memory()
    memory.call("initialize", config={"limits": {"exact": 2}})
    assert repeat(memory, 2)["decision"] == "ask"
    memory.call("initialize", config={"limits": {"exact": 3}})
    assert repeat(memory, 2)["decision"] == "allow"
    assert memory.call("initialize")["config"]["limits"]["exact"] == 12


def test_a_wrong_configuration_lists_every_problem_and_changes_nothing() -> None:
    memory = Memory()
    memory.call("initialize", config={"limits": {"exact": 3}})
    memory.call("guard", **READ)
    error = memory.fail("initialize", {"config": {"window": 1, "onLimit": "panic", "limts": {}, "denyAfter": 3}})
    assert error["code"] == -32602
    assert [problem["key"] for problem in error["data"]] == ["window", "onLimit", "limts", "denyAfter"]
    assert all(problem["problem"] for problem in error["data"])
    assert "limits" in error["data"][2]["hint"]
    assert repeat(memory, 2)["hits"][0]["count"] == 3


@pytest.mark.parametrize("config", [[], "x", 5])
def test_a_configuration_that_is_no_object_is_invalid(config: Any) -> None:
    assert Memory().fail("initialize", {"config": config})["code"] == -32602


def test_the_client_has_the_last_word_over_the_layers_below() -> None:
    memory = Memory(sources=Sources((Layer("file", {"window": 8, "warnAt": 5}),)))
    assert memory.call("initialize", config={"window": 9})["config"]["window"] == 9
    assert memory.call("initialize")["config"]["window"] == 8


def test_without_initialize_the_layers_below_hold() -> None:
    memory = Memory(sources=Sources((Layer("file", {"limits": {"exact": 2}}),)))
    assert repeat(memory, 2)["decision"] == "ask"


# -- guard ----------------------------------------------------------------------------------------------------


def test_a_call_that_may_run() -> None:
    assert Memory().call("guard", callId="c1", **READ) == {"decision": "allow", "hits": []}


def test_a_call_without_an_id_gets_one_that_its_outcome_can_name() -> None:
    memory = Memory()
    result = memory.call("guard", **READ)
    assert result == {"decision": "allow", "hits": [], "callId": result["callId"]}
    assert memory.call("postExecute", callId=result["callId"], result={}) == {"advisories": [], "failure": None}
    assert memory.call("guard", **READ)["callId"] != result["callId"]


def test_a_call_that_is_asked_about() -> None:
    memory = Memory()
    memory.call("initialize", config={"limits": {"exact": 2}})
    result = repeat(memory, 2, callId="c2")
    assert set(result) == {"decision", "code", "reason", "hits"}
    assert (result["decision"], result["code"]) == ("ask", "REPEAT_TOOL_BLOCKED")
    (hit,) = result["hits"]
    assert (hit["gate"], hit["count"], hit["limit"]) == ("repeat", 2, 2)
    assert hit["fingerprint"].startswith("exact:read:")


@pytest.mark.parametrize(
    ("capabilities", "can_ask"), [({"ask": False}, True), ({}, False), ({"ask": True}, False), (None, False)]
)
def test_where_nobody_can_be_asked_an_ask_is_a_denial(capabilities: Any, can_ask: bool) -> None:
    memory = Memory()
    memory.call("initialize", capabilities=capabilities, config={"limits": {"exact": 2}})
    result = repeat(memory, 2, canAsk=can_ask)
    assert result["decision"] == "deny"
    assert result["reason"].startswith("REPEAT_TOOL_BLOCKED")


@pytest.mark.parametrize("capabilities", [None, {}, {"ask": None}, {"ask": True}])
def test_a_client_that_says_nothing_can_ask(capabilities: Any) -> None:
    memory = Memory()
    memory.call("initialize", capabilities={"ask": False})
    memory.call("initialize", capabilities=capabilities, config={"limits": {"exact": 2}})
    assert repeat(memory, 2)["decision"] == "ask"


def test_explain_lists_the_identities_with_their_counts() -> None:
    (exact,) = [
        each
        for each in Memory().call("guard", **READ, explain=True)["fingerprints"]
        if each["fingerprint"].startswith("exact:")
    ]
    assert set(exact) == {"fingerprint", "count", "limit", "failures"}
    assert (exact["count"], exact["limit"], exact["failures"]) == (1, 12, 0)


def test_explain_says_where_the_adaptive_rules_stand_and_changes_nothing() -> None:
    memory = Memory(sources=Sources((Layer("test", {"profile": "adaptive"}),)))
    for number in range(2):
        memory.call("guard", **READ, callId=f"c{number}")
        memory.call("postExecute", callId=f"c{number}", result={"content": "print(1)"})
    explained = memory.call("guard", **READ, callId="c2", explain=True)
    assert {"gate": "sameAnswer", "count": 2, "limit": 4} in [
        {name: rule[name] for name in ("gate", "count", "limit")} for rule in explained["rules"]
    ]
    assert (explained["decision"], explained["hits"]) == ("allow", [])
    assert "rules" not in memory.call("guard", **READ, callId="c3")
    assert "rules" not in Memory().call("guard", **READ, explain=True)


def test_shadow_says_what_it_would_have_done() -> None:
    memory = Memory()
    memory.call("initialize", config={"limits": {"exact": 2}, "shadow": True})
    result = repeat(memory, 2)
    assert (result["decision"], result["wouldHave"]) == ("allow", "ask")


def test_every_param_reaches_the_engine() -> None:
    memory, seen = spying()
    memory.call(
        "guard",
        agent="a",
        parent="p",
        callId="c",
        tool="t",
        arguments="not json",
        annotations={"readOnlyHint": True, "pollHint": False, "title": "T"},
        step=3,
        at=5,
        canAsk=False,
    )
    assert seen == [
        Call("a", "t", "not json", "c", "p", Annotations(read_only_hint=True, poll_hint=False), "3", 5.0, False)
    ]


def test_null_means_absent() -> None:
    memory, seen = spying()
    nothing = dict.fromkeys(["agent", "parent", "callId", "annotations", "step", "canAsk", "explain"])
    memory.call("guard", tool="t", arguments=None, **nothing)
    assert seen == [Call("main", "t", None, at=1000.0)]


# -- time -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "seen_at"), [({}, 1000.0), ({"at": 7.5}, 7.5), ({"at": None}, None)])
def test_the_time_of_an_event_is_as_given_unknown_if_null_and_else_when_its_line_arrived(
    given: dict[str, Any], seen_at: float | None
) -> None:
    memory, seen = spying()
    memory.call("guard", callId="c", **READ, **given)
    memory.call("postExecute", callId="c", result={}, usage={"inputTokens": 1}, **given)
    memory.call("usage", inputTokens=1, **given)
    memory.call("userTurn", **given)
    memory.call("agentStarted", agent="b", parent="main", kind="subagent", **given)
    call, settled, (usage, _), turn, started = seen
    assert [call.at, settled.at, settled.usage.at, usage.at, turn[-1], started[-1]] == [seen_at] * 6


def test_a_line_that_came_in_pieces_arrived_with_its_last_piece() -> None:
    memory, seen = spying()
    memory.feed(notification("guard", READ)[:20])
    memory.now = 1005.0
    memory.feed(notification("guard", READ)[20:])
    assert seen[0].at == 1005.0


# -- approval, postExecute ------------------------------------------------------------------------------------


def test_an_approval_lets_the_call_run_and_anything_else_denies_it() -> None:
    for outcome in ("approved", "rejected", "cancelled", "unavailable"):
        memory = Memory()
        memory.call("initialize", config={"limits": {"exact": 2}})
        repeat(memory, 2, callId="c2")
        result = memory.call("approval", callId="c2", outcome=outcome)
        if outcome == "approved":
            assert result == {"decision": "allow", "hits": []}
        else:
            assert result["decision"] == "deny"
            assert result["reason"].startswith("REPEAT_TOOL_BLOCKED")
            assert [hit["gate"] for hit in result["hits"]] == ["repeat"]


def test_an_outcome_tells_a_failure() -> None:
    memory = Memory()
    memory.call("guard", callId="c", tool="bash", arguments={"command": "false"})
    result = memory.call("postExecute", callId="c", result={"value": {"exitCode": 3}})
    assert result["failure"]["reason"] == "exit"


def test_an_advisory_says_who_speaks() -> None:
    memory = Memory()
    memory.call("initialize", config={"warnAt": 2})
    last = repeat(memory, 2)
    (advisory,) = memory.call("postExecute", callId=last["callId"], result={"content": "x"})["advisories"]
    assert set(advisory) == {"gate", "stage", "fingerprint", "count", "text", "summary", "source"}
    assert (advisory["stage"], advisory["count"]) == ("warn", 2)
    assert advisory["source"] == {"kind": "plugin"}


def test_usage_rides_along_and_warns_in_the_same_reply() -> None:
    memory = Memory()
    memory.call("initialize", config={"maxTokens": 100})
    memory.call("guard", callId="c", **READ)
    usage = {"inputTokens": 50, "cacheReadTokens": 20, "cacheWriteTokens": 5, "outputTokens": 9, "requestId": "r"}
    (advisory,) = memory.call("postExecute", callId="c", result={}, usage=usage)["advisories"]
    assert advisory["stage"] == "budgetWarn"
    assert memory.call("status")["agents"]["main"]["spent"]["turn"] == 75


def test_usage_that_rides_on_an_outcome_of_no_call_is_charged_and_its_warning_waits() -> None:
    memory = Memory()
    memory.call("initialize", config={"maxTokens": 100})
    stray = {"callId": "nobody", "result": {}, "usage": {"inputTokens": 80}}
    assert memory.fail("postExecute", stray)["code"] == -32602
    assert memory.call("status")["agents"]["main"]["spent"]["turn"] == 80
    memory.call("guard", **READ, callId="c1")
    told = memory.call("postExecute", callId="c1", result={})
    assert [advisory["gate"] for advisory in told["advisories"]] == ["turnBudget"]


def test_usage_that_rides_on_an_outcome_told_twice_is_charged_once() -> None:
    memory = Memory()
    memory.call("guard", **READ, callId="c1")
    outcome = {"callId": "c1", "result": {}, "usage": {"inputTokens": 80}}
    memory.call("postExecute", **outcome)
    memory.fail("postExecute", outcome)
    assert memory.call("status")["agents"]["main"]["spent"]["turn"] == 80


def test_a_warning_nobody_would_read_waits_for_the_next_outcome() -> None:
    memory = Memory()
    memory.call("initialize", config={"maxTokens": 100})
    memory.call("guard", callId="c", **READ)
    memory.feed(notification("usage", {"inputTokens": 80}))
    (advisory,) = memory.call("postExecute", callId="c", result={})["advisories"]
    assert advisory["stage"] == "budgetWarn"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("approval", {"callId": "nope", "outcome": "approved"}),
        ("postExecute", {"callId": "nope", "result": {}}),
        ("postExecute", {"result": {}}),
    ],
)
def test_a_call_nobody_knows_is_invalid(method: str, params: Any) -> None:
    error = Memory().fail(method, params)
    assert error["code"] == -32602
    assert error["data"][0]["key"] == "$.callId"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"callId": "c7"}, "agent 'main' has no unsettled call 'c7'; "),
        ({"tool": "bash"}, "agent 'main' has no unsettled call of the tool 'bash'; "),
        ({"arguments": {}}, "give the call's callId, or its tool and arguments"),
    ],
)
def test_an_outcome_that_belongs_to_no_call_is_told_what_is_missing(params: dict[str, Any], said: str) -> None:
    error = Memory().fail("postExecute", {**params, "result": {}})
    assert error["data"][0]["problem"].startswith(said)


def test_an_outcome_of_a_call_never_guarded_is_accepted_when_it_is_described() -> None:
    result = {"value": {"exitCode": 1}}
    reply = Memory().call("postExecute", tool="bash", arguments={"command": "false"}, result=result)
    assert reply["failure"]["reason"] == "exit"


# -- the rest -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "reset"), [({}, True), ({"source": "user"}, True), ({"source": "plugin"}, False)])
def test_only_a_user_resets(source: dict[str, str], reset: bool) -> None:
    assert Memory().call("userTurn", **source) == {"reset": reset}


def test_what_needs_no_answer_is_answered_by_an_empty_object() -> None:
    memory = Memory()
    assert memory.call("agentStarted", agent="b", parent="main", kind="workflow", callId="c") == {}
    assert memory.call("agentEnded", agent="b") == {}
    assert memory.call("compacted") == {}
    assert memory.call("shutdown") == {}


def test_usage_has_advisories() -> None:
    assert Memory().call("usage", inputTokens=1) == {"advisories": []}


def test_status_tells_of_the_server_and_changes_nothing() -> None:
    memory = Memory()
    memory.call("guard", **READ)
    memory.now += 5
    first, second = memory.call("status"), memory.call("status", agent="main")
    assert first["agents"] == second["agents"]
    assert list(first["agents"]) == ["main"]
    server = first["server"]
    assert (server["name"], server["version"], server["uptime"]) == ("toolbreaker", VERSION, 5.0)
    assert server["memory"] > 1_000_000


def test_status_of_an_agent_nobody_knows_is_empty() -> None:
    memory = Memory()
    assert memory.call("status", agent="nobody")["agents"] == {}
    assert memory.call("status")["agents"] == {}


# -- wrong params ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "key"),
    [
        ("guard", {"arguments": {}}, "$.tool"),
        ("guard", {"tool": "read"}, "$.arguments"),
        ("guard", {**READ, "tool": None}, "$.tool"),
        ("guard", {**READ, "tool": 5}, "$.tool"),
        ("guard", {**READ, "agent": 5}, "$.agent"),
        ("guard", {**READ, "callId": {}}, "$.callId"),
        ("guard", {**READ, "at": "now"}, "$.at"),
        ("guard", {**READ, "canAsk": "yes"}, "$.canAsk"),
        ("guard", {**READ, "annotations": {"readOnlyHint": "yes"}}, "$.annotations.readOnlyHint"),
        ("approval", {"callId": "c", "outcome": "maybe"}, "$.outcome"),
        ("approval", {"outcome": "approved"}, "$.callId"),
        ("postExecute", {"callId": "c"}, "$.result"),
        ("postExecute", {"callId": "c", "result": None}, "$.result"),
        ("postExecute", {"callId": "c", "result": {"isError": "no"}}, "$.result.isError"),
        ("postExecute", {"callId": "c", "result": {}, "usage": {}}, "$.usage.inputTokens"),
        ("usage", {}, "$.inputTokens"),
        ("usage", {"inputTokens": -1}, "$.inputTokens"),
        ("usage", {"inputTokens": 2**53}, "$.inputTokens"),
        ("usage", {"inputTokens": 2**70}, "$.inputTokens"),
        ("usage", {"inputTokens": 1.5}, "$.inputTokens"),
        ("usage", {"inputTokens": True}, "$.inputTokens"),
        ("usage", {"inputTokens": 1, "requestId": 1.5}, "$.requestId"),
        ("userTurn", {"source": 1}, "$.source"),
        ("agentStarted", {"agent": "a", "parent": "b", "kind": "friend"}, "$.kind"),
        ("agentEnded", {}, "$.agent"),
        ("status", {"agent": []}, "$.agent"),
        ("initialize", {"protocolVersion": "one"}, "$.protocolVersion"),
        ("initialize", {"capabilities": {"ask": "no"}}, "$.capabilities.ask"),
    ],
)
def test_a_wrong_param_is_named_by_its_path(method: str, params: Any, key: str) -> None:
    error = Memory().fail(method, params)
    assert (error["code"], error["message"]) == (-32602, "Invalid params")
    (problem,) = error["data"]
    assert problem["key"] == key
    assert problem["problem"]
    assert not re.search(r"\b(str|int|float|bool|enum|dict|list)\b", problem["problem"]), "named as Python does"


@pytest.mark.parametrize(
    ("method", "params", "problem"),
    [
        ("guard", {**READ, "tool": 5}, "Expected `string`, got `integer`"),
        ("guard", {**READ, "at": "now"}, "Expected `number | null`, got `string`"),
        ("guard", {**READ, "canAsk": []}, "Expected `boolean | null`, got `array`"),
        ("usage", {"inputTokens": -1}, "Expected `integer` >= 0"),
        ("approval", {"callId": "c", "outcome": "maybe"}, "Expected one of approved, rejected, cancelled, unavailable"),
        ("agentStarted", {"agent": "a", "parent": "b", "kind": "x" * 9000}, "Expected one of subagent, workflow"),
    ],
)
def test_a_wrong_param_is_told_what_belongs_there(method: str, params: Any, problem: str) -> None:
    (found,) = Memory().fail(method, params)["data"]
    assert found["problem"] == problem


@pytest.mark.parametrize("method", ["approval", "postExecute"])
def test_a_problem_repeats_no_more_of_an_id_than_tells_it(method: str) -> None:
    params = {"callId": "c" * 300_000, "agent": "a" * 300_000, "outcome": "approved", "result": {}}
    (found,) = Memory().fail(method, params)["data"]
    assert found["key"] == "$.callId"
    assert len(found["problem"]) < 500


def test_arguments_may_be_any_json() -> None:
    memory = Memory()
    for arguments in (None, True, 1, 1.5, "x", [], {}, [[{"a": [None]}]]):
        assert memory.call("guard", tool="t", arguments=arguments)["decision"] == "allow"
