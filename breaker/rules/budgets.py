"""Token budgets and quotas: what a turn, a session and a family may cost, and how far it may fan out."""

from __future__ import annotations

from collections.abc import Iterator

from breaker.events import Hit
from breaker.rules.base import Rule, View
from breaker.settings import Settings
from breaker.state import SILENT_AFTER, Agent, Notice, State


class Budgets(Rule):
    """Billed input spent: by the root's turn, by the agent alone, by each family it belongs to."""

    def __init__(self, settings: Settings) -> None:
        self.turn = settings.max_tokens
        self.session = settings.session_max_tokens
        self.family = settings.family_max_tokens
        self.warn_ratio = settings.warn_ratio

    def judge(self, view: View) -> Iterator[Hit]:
        for gate, owner, spent, limit in self.spent(view.state, view.call.agent):
            if spent >= limit:
                yield Hit(gate, spent, limit, detail=owner)

    def spent(self, state: State, name: str) -> Iterator[tuple[str, str, int, int]]:
        """Every budget that this agent's calls are judged by: gate, whose it is, spent, limit."""
        line = [name, *state.ancestors(name)]
        if self.turn is not None:
            yield "turnBudget", line[-1], state.agents[line[-1]].account.turn_spent, self.turn
        if self.session is not None:
            yield "sessionBudget", name, state.agents[name].account.session_spent, self.session
        if self.family is not None:
            for owner in line:
                yield "familyBudget", owner, state.agents[owner].account.family_spent, self.family

    def warnings(self, state: State, name: str) -> list[tuple[str, Notice]]:
        """The budgets past the warning ratio of which nobody was told this turn, each with its owner."""
        if self.warn_ratio is None:
            return []
        return [
            (owner, Notice(gate, "budgetWarn", spent, limit, detail=owner))
            for gate, owner, spent, limit in self.spent(state, name)
            if spent >= limit * self.warn_ratio and gate not in state.agents[owner].account.warned
        ]


class Quotas(Rule):
    """Model requests and tool calls of one subagent, and agents started by one workflow call. N are free."""

    def __init__(self, settings: Settings) -> None:
        self.requests = settings.subagent_requests
        self.tools = settings.subagent_tools
        self.workflow = settings.workflow_agents

    def judge(self, view: View) -> Iterator[Hit]:
        account = view.agent.account
        if account.parent is None:
            return
        if self.requests is not None and account.requests > self.requests:
            yield Hit("subagentRequests", account.requests, self.requests)
        if self.tools is not None and account.tools + 1 > self.tools:
            yield Hit("subagentTools", account.tools + 1, self.tools)
        if self.workflow is not None and account.ordinal > self.workflow:
            yield Hit("workflowAgents", account.ordinal, self.workflow, detail=account.started_by)


class Fanout(Rule):
    """Subagents of one agent that run at once: a call that would start another is stopped while N run."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.fanout
        self.spawn_tools = frozenset(tool.lower() for tool in settings.spawn_tools)

    def judge(self, view: View) -> Iterator[Hit]:
        if self.limit is None or view.call.tool.lower() not in self.spawn_tools:
            return
        running = alive(view.agent, view.call.at)
        if running >= self.limit:
            yield Hit("fanout", running, self.limit)


def alive(agent: Agent, now: float | None) -> int:
    """How many of an agent's subagents run; one that has been silent for half an hour does not count."""
    return sum(now is None or seen is None or now - seen < SILENT_AFTER for seen in agent.account.children.values())
