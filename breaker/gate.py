"""The one place where everything that speaks against a call becomes a verdict.

Every rule's hits are in one list, judged once. Hits of the tracks may be put to an operator; hits of the other
gates have an escape hatch instead, so that nothing locks an agent up for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from breaker.adaptive_limits import RULES
from breaker.events import Decision, Hit
from breaker.settings import Settings
from breaker.state import State

REPEAT = "REPEAT_TOOL_BLOCKED"

Escape = Literal["ask", "probe", "hatch", "quota"]


ADAPTIVE = ("poll", *RULES)
"""Gates of the adaptive rules; `poll` is `sameAnswer` where something goes on by itself."""


PROBED = frozenset({"sameFailure", "nothingFound", "fixedAnswer", "plans"})
"""Those of them that stop calls which were never made: of a tool, of all looks."""


class Gate(Struct, frozen=True):
    """A gate's code on the wire, and the way out: an operator, a pass after denials, or one free overrun.

    A `probe` has both of the first two: what closes a whole tool must not close it for good.
    """

    code: str
    escape: Escape


GATES: dict[str, Gate] = {
    "failure": Gate(REPEAT, "ask"),
    "repeat": Gate(REPEAT, "ask"),
    **{name: Gate(REPEAT, "probe" if name in PROBED else "ask") for name in ADAPTIVE},
    "turnBudget": Gate("LOOP_GUARD_BUDGET_EXHAUSTED", "hatch"),
    "sessionBudget": Gate("LOOP_GUARD_SESSION_BUDGET", "hatch"),
    "familyBudget": Gate("LOOP_GUARD_FAMILY_BUDGET", "hatch"),
    "signature": Gate("LOOP_GUARD_REPEAT", "hatch"),
    "skeleton": Gate("LOOP_GUARD_SKELETON", "hatch"),
    "cycle": Gate("LOOP_GUARD_CYCLE", "hatch"),
    "sameError": Gate("LOOP_GUARD_SAME_ERROR", "hatch"),
    "subagentRequests": Gate("LOOP_GUARD_SUBAGENT_REQUESTS", "quota"),
    "subagentTools": Gate("LOOP_GUARD_SUBAGENT_TOOLS", "quota"),
    "fanout": Gate("LOOP_GUARD_FANOUT", "quota"),
    "workflowAgents": Gate("LOOP_GUARD_WORKFLOW_AGENTS", "quota"),
}
"""Every gate, in the order in which a denial takes its code from the first that blocks."""

TRACKS = frozenset({"failure", "repeat"})
BUDGETS = frozenset({"turnBudget", "sessionBudget", "familyBudget"})
QUOTAS = frozenset(name for name, gate in GATES.items() if gate.escape == "quota")
CODES = frozenset(gate.code for gate in GATES.values())


class Ruling(Struct, frozen=True):
    """What the hits amount to: those that block, and those that had their way out."""

    decision: Decision
    blocking: tuple[Hit, ...] = ()
    passing: tuple[Hit, ...] = ()
    refused: bool = False  # an operator was asked about one of them this turn and did not agree
    asking: bool = False  # an operator is being asked about one of them now


def rule(hits: Sequence[Hit], state: State, name: str, settings: Settings, can_ask: bool) -> Ruling:
    """Judge a call by everything that was found against it. Changes nothing."""
    agent = state.agents[name]
    passing = tuple(hit for hit in hits if _may_pass(hit, state, name, settings))
    blocking = tuple(hit for hit in hits if hit not in passing)
    if not blocking:
        return Ruling("allow", passing=passing)
    identities = {hit.fingerprint for hit in blocking}
    refused = not identities.isdisjoint(agent.refused)
    asking = not identities.isdisjoint(agent.asking)
    if (
        settings.on_limit == "ask"
        and can_ask
        and not refused
        and not asking
        and all(GATES[hit.gate].escape in ("ask", "probe") for hit in blocking)
    ):
        return Ruling("ask", blocking, passing)
    return Ruling("deny", blocking, passing, refused, asking)


def first(blocking: Sequence[Hit]) -> Hit:
    """The hit of the first gate that blocks, in the order of `GATES`."""
    order = list(GATES)
    return min(blocking, key=lambda hit: order.index(hit.gate))


def code(blocking: Sequence[Hit]) -> str:
    """The code of the first gate that blocks."""
    return GATES[first(blocking).gate].code


def spot(hit: Hit) -> str:
    """What a hatch counts denials by: gate and identity; a budget or a quota is one spot."""
    return f"{hit.gate} {hit.fingerprint}" if hit.fingerprint else hit.gate


def quota_spot(state: State, name: str, hit: Hit) -> tuple[str, str]:
    """With whom and as what a quota's free overrun is noted: the agent; a workflow's is with who called it."""
    parent = state.agents[name].account.parent
    if hit.gate == "workflowAgents" and parent is not None and parent in state.agents:
        return parent, f"{hit.gate} {hit.detail or ''}"
    return name, hit.gate


def _may_pass(hit: Hit, state: State, name: str, settings: Settings) -> bool:
    escape = GATES[hit.gate].escape
    if escape == "hatch" or (escape == "probe" and hit.fingerprint not in state.agents[name].refused):
        denials = state.agents[name].denials.get(spot(hit), 0)
        return settings.max_denials is not None and denials >= settings.max_denials
    if escape == "quota":
        owner, quota = quota_spot(state, name, hit)
        return quota not in state.agents[owner].account.passed
    return False
