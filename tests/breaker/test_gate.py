"""How everything that speaks against a call becomes one verdict, and whom a way out belongs to."""

from __future__ import annotations

from typing import Any

from breaker import Call, Engine, Layer, Result, Settled, Usage, Verdict, resolve

FAILED = Result(content="Error: no match", is_error=True)


def engine(profile: str = "loop-guard", **config: Any) -> Engine:
    return Engine(resolve([Layer("test", {"profile": profile, **config})]).settings)


def run(on: Engine, agent: str, tool: str = "read", result: Result | None = None, **arguments: Any) -> Verdict:
    """Guard a call, and settle it when it may run."""
    verdict = on.guard(Call(agent, tool, arguments))
    if verdict.decision == "allow":
        on.settle(Settled(agent, result or Result(content="done"), verdict.call_id))
    return verdict


def ran(on: Engine, agent: str, times: int, tool: str = "read") -> str:
    """`+` for each of so many different calls that ran, `-` for each that did not."""
    return "".join("+" if run(on, agent, tool, n=n).decision == "allow" else "-" for n in range(times))


def test_a_closed_tool_is_asked_about_where_somebody_can_be_asked() -> None:
    asking = engine("adaptive")
    verdicts = [run(asking, "main", "edit", FAILED, path="a.py", old=f"x{n}", new="y") for n in range(7)]
    assert [verdict.decision for verdict in verdicts] == ["allow"] * 6 + ["ask"]
    assert [hit.gate for hit in verdicts[-1].hits] == ["sameFailure"]


def test_each_subagent_of_one_parent_has_a_free_overrun_of_its_own() -> None:
    on = engine(subagentTools=1)
    for agent in ("one", "two"):
        on.agent_started(agent, "main", "subagent")
        assert ran(on, agent, 4) == "++--", agent


def test_each_call_that_starts_agents_has_a_free_overrun_of_its_own() -> None:
    on = engine(workflowAgents=1)
    for call in ("first", "second"):
        for number in (1, 2, 3):
            on.agent_started(f"{call}-{number}", "main", "workflow", call)
        assert [ran(on, f"{call}-{number}", 2) for number in (1, 2, 3)] == ["++", "+-", "--"], call


def test_denials_are_counted_by_gate_and_identity_and_those_of_a_budget_by_gate_alone() -> None:
    on = engine(maxTokens=10)
    on.usage(Usage("main", input_tokens=10))
    ran(on, "main", 2)
    assert on.status("main")["agents"]["main"]["denials"] == {"turnBudget": 2}


def test_in_shadow_a_call_that_would_be_denied_runs_and_uses_up_its_free_overrun() -> None:
    on = engine(shadow=True, subagentTools=1, repeatLimit=2)
    on.agent_started("sub", "main", "subagent")
    run(on, "sub", "grep")
    verdict = on.guard(Call("sub", "grep", {}, "again"))
    assert (verdict.decision, verdict.would_have) == ("allow", "deny")
    told = on.settle(Settled("sub", Result(content="done"), "again")).advisories
    assert [(advisory.gate, advisory.stage) for advisory in told] == [("subagentTools", "quotaWarn")]
    assert on.guard(Call("sub", "grep", {"n": 1})).would_have == "deny"
