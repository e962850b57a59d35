"""Everything the judgement remembers, and the only code that changes it.

Rules read what is here; the engine calls the functions below. All of it is plain data: `State.dump` gives
versioned builtins, `State.load` takes them back, and the same decisions follow.

Invariants:
- one agent's calls never change another's `Agent`, except for token sums, which belong to its ancestors too;
- a window slot is written when a verdict falls and at no other time;
- a denied call leaves nothing behind but the identities that hit, and the denials of the gates that stopped it;
- every map below is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from breaker.events import Decision, Failure, Hit, Stage, Usage
from breaker.evidence import log as evidence
from breaker.evidence.facts import Answer, Facts
from breaker.evidence.log import Log, Shut

VERSION = 1
MAX_AGENTS = 20_000
MAX_UNSETTLED = 256
MAX_PER_TURN = 1_024
"""Identities of one turn that a map remembers; the one not seen for longest goes first."""
MAX_REQUEST_IDS = 32
"""Model requests of one agent that are known by their ids. One that is told twice is told twice in a row, or beside
the results of the calls that it made: 1 024 of each of 5 000 agents would take half a gigabyte."""
MAX_SETTLED = 32
"""Settled calls that are known by their ids, so that an outcome told twice counts once."""
MAX_SPENDERS = 256
MAX_CHILDREN = 1_024
SILENT_AFTER = 30 * 60.0
"""Seconds without a sign of life after which a subagent counts as ended."""

SHADOW = "shadow "
"""What stands before the code of a denial that was none, because in shadow nothing is stopped."""


class Notice(Struct, frozen=True):
    """An advisory as data, before it is put into words."""

    gate: str
    stage: Stage
    count: int
    limit: int | float
    fingerprint: str | None = None
    detail: str | None = None


class Streak(Struct):
    """Consecutive failures of one identity, and the last reason."""

    count: int
    failure: Failure


class Pending(Struct, omit_defaults=True):
    """A call with a verdict whose outcome is not known yet.

    `kind`, `reads_only` and `writes_status` are what failure classification needs of the call's identity. `facts`,
    `step`, `at` and the `ordinal` of its step are what the adaptive rules take into evidence.
    """

    tool: str
    exact: str
    fingerprints: tuple[str, ...]
    decision: Decision
    turn: int
    kind: str = "other"
    reads_only: bool = False
    writes_status: Literal["first", "last"] | None = None
    skeleton: str | None = None
    counted: bool = True
    hits: tuple[Hit, ...] = ()
    passing: tuple[Hit, ...] = ()
    notices: tuple[Notice, ...] = ()
    facts: Facts | None = None
    step: str | None = None
    at: float | None = None
    ordinal: int = 0


class Account(Struct):
    """Tokens and quotas of one agent: what outlives a turn, and with a state file the process.

    Token counts are billed input. `turn_spent` and `turn_spenders` are of a root's current turn with all its
    subagents; `session_spent` is the agent alone; `family_spent` is it and all its descendants. `children` are the
    subagents that run, with the time of their last sign of life.
    """

    parent: str | None = None
    kind: str = "agent"
    started_by: str | None = None
    ordinal: int = 0
    turn_spent: int = 0
    session_spent: int = 0
    family_spent: int = 0
    requests: int = 0
    tools: int = 0
    turn_spenders: dict[str, int] = field(default_factory=dict)
    family_spenders: dict[str, int] = field(default_factory=dict)
    workflows: dict[str, int] = field(default_factory=dict)
    children: dict[str, float | None] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)
    request_ids: list[str] = field(default_factory=list)


Op = Literal["charge", "start", "end", "turn", "tool", "pass", "warn", "deny"]


class Entry(Struct, frozen=True):
    """One change of an account, for whoever keeps accounts beyond the process.

    `line` are the ancestors of `agent` as far as they are known, nearest first. `charge`: `amount` tokens of request
    `key`. `start`: it was started as `kind` by call `key` of `line[0]`. `end`: it ended. `turn`: a person spoke to
    it. `tool`: one tool call. `pass`, `warn`: of quota or budget `key`. `deny`: with code `key`, for what `kind` says;
    in shadow, where the call ran, `SHADOW` stands before the code.
    """

    op: Op
    agent: str
    amount: int = 0
    key: str | None = None
    line: tuple[str, ...] = ()
    kind: str | None = None
    at: float | None = None


class Agent(Struct):
    """One agent. `turn` counts its user turns: an outcome of an earlier turn is dropped by it.

    `settled` are the tools of the last settled calls, by the calls' ids; `turned_away` the ids of those among `pending`
    that were denied, oldest first.
    """

    turn: int = 0
    window: list[tuple[str, ...]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    streaks: dict[str, Streak] = field(default_factory=dict)
    exempt: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    pending: dict[str, Pending] = field(default_factory=dict)
    turned_away: dict[str, None] = field(default_factory=dict)
    settled: dict[str, str] = field(default_factory=dict)
    results: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    signatures: dict[str, int] = field(default_factory=dict)
    skeletons: dict[str, int] = field(default_factory=dict)
    recent: list[str] = field(default_factory=list)
    errors: dict[str, dict[str, int]] = field(default_factory=dict)
    denials: dict[str, int] = field(default_factory=dict)
    would_have: dict[str, int] = field(default_factory=dict)
    owed: list[Notice] = field(default_factory=list)
    evidence: Log | None = None
    account: Account = field(default_factory=Account)

    @property
    def asking(self) -> Iterator[str]:
        """The identities that an operator is being asked about now."""
        return (
            hit.fingerprint
            for pending in self.pending.values()
            if pending.decision == "ask" and pending.turn == self.turn
            for hit in pending.hits
            if hit.fingerprint
        )


class State:
    """All agents, least recently used first.

    Whoever keeps accounts beyond the process sets `loader`, which is asked once for each agent that is new here, and
    `journal`, which is told of every change of an account as soon as it is made, and may `refresh` accounts then.
    """

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.calls_named = 0
        self.loader: Callable[[str], Agent | None] | None = None
        self.journal: Callable[[Entry], None] | None = None

    # -- agents ---------------------------------------------------------------------------------------------

    def agent(self, name: str) -> Agent:
        """The agent of that name, made when it is new, moved to the young end, with its ancestors."""
        agent = self.agents.pop(name, None)
        if agent is None:
            agent = self._load(name)
        self.agents[name] = agent
        for ancestor in self.ancestors(name):
            self.agents[ancestor] = self.agents.pop(ancestor)
        while len(self.agents) > MAX_AGENTS:
            del self.agents[next(iter(self.agents))]
        return agent

    def _load(self, name: str) -> Agent:
        """A new agent as it was kept, with everybody above it."""
        found = agent = self._kept(name)
        while (parent := agent.account.parent) is not None:
            self.agents[name] = agent
            if parent in self.agents:
                break
            name, agent = parent, self._kept(parent)
        self.agents[name] = agent
        return found

    def _kept(self, name: str) -> Agent:
        agent = self.loader(name) if self.loader else None
        return Agent() if agent is None else agent

    def ancestors(self, name: str) -> list[str]:
        """The known agents above this one, nearest first."""
        found: dict[str, None] = {}
        agent = self.agents.get(name)
        while agent is not None and (parent := agent.account.parent) is not None:
            if parent == name or parent in found or parent not in self.agents:
                break
            found[parent] = None
            agent = self.agents[parent]
        return list(found)

    def start(self, name: str, parent: str, kind: str, call_id: str | None = None, at: float | None = None) -> None:
        """An agent was started by another. Saying it again changes nothing; a circle is not believed."""
        self.agent(parent)
        child = self.agent(name).account
        above = self.agents[parent].account
        if child.parent is None and name != parent and name not in self.ancestors(parent):
            child.parent = parent
            child.kind = kind
            child.started_by = call_id
            if kind == "workflow":
                key = call_id or ""
                _count(above.workflows, key)
                child.ordinal = above.workflows[key]
        if child.parent == parent:
            known = above.children.pop(name, None)
            above.children[name] = known if at is None else at
            _bound(above.children, MAX_CHILDREN)
            self._note("start", name, key=call_id, kind=kind, at=at)

    def end(self, name: str) -> None:
        """An agent ended: its parent may start another one."""
        if name not in self.agents and self.loader is None:
            return
        parent = self.agent(name).account.parent
        if parent in self.agents:
            self.agents[parent].account.children.pop(name, None)
        self._note("end", name)

    def seen(self, name: str, at: float | None) -> None:
        """A sign of life of a subagent that still runs, and of those above, which wait for it."""
        if at is None:
            return
        for parent in self.ancestors(name):
            children = self.agents[parent].account.children
            if name in children:
                children[name] = at
            name = parent

    def user_turn(self, name: str) -> None:
        """A person spoke: what the turn held is gone; what budgets and quotas hold stays, the turn's aside."""
        old = self.agent(name)
        account = old.account
        account.turn_spent = 0
        account.turn_spenders = {}
        account.warned = set()
        account.passed = set()
        self.agents[name] = Agent(
            turn=old.turn + 1,
            pending=old.pending,
            turned_away=old.turned_away,
            settled=old.settled,
            would_have=old.would_have,
            evidence=old.evidence and evidence.reset(old.evidence),
            account=account,
        )
        self._note("turn", name)

    def forget_evidence(self, name: str) -> None:
        """The agent's history was summarised: what it had read is no longer in front of it."""
        agent = self.agent(name)
        agent.evidence = agent.evidence and evidence.reset(agent.evidence)

    # -- calls ----------------------------------------------------------------------------------------------

    def name_call(self) -> str:
        """An id for a call that came without one; no client calls its own like that."""
        self.calls_named += 1
        return f"toolbreaker-{self.calls_named}"

    def open(self, agent: Agent, call_id: str, pending: Pending) -> None:
        """A call has a verdict and no outcome yet."""
        agent.pending.pop(call_id, None)
        agent.turned_away.pop(call_id, None)
        agent.pending[call_id] = pending
        if len(agent.pending) > MAX_UNSETTLED:
            # Nobody has to tell the outcome of a denied call: the oldest of these goes before one that may be running.
            oldest = next(iter(agent.turned_away or agent.pending))
            del agent.pending[oldest]
            agent.turned_away.pop(oldest, None)

    def turn_away(self, agent: Agent, call_id: str, pending: Pending) -> None:
        """A call was denied: of what it was, nothing is needed for its outcome, which may never be told."""
        agent.turned_away[call_id] = None
        pending.decision = "deny"
        pending.exact = ""
        pending.skeleton = pending.facts = None
        pending.fingerprints = pending.hits = pending.passing = pending.notices = ()

    def close(self, agent: Agent, call_id: str) -> None:
        """A call has its outcome."""
        pending = agent.pending.pop(call_id, None)
        agent.turned_away.pop(call_id, None)
        if pending is not None:
            agent.settled.pop(call_id, None)
            agent.settled[call_id] = pending.tool
            _bound(agent.settled, MAX_SETTLED)

    def commit(self, agent: Agent, identities: Iterable[str], window: int) -> None:
        """Write one slot: each identity once; nothing to record takes no slot."""
        slot = tuple(dict.fromkeys(identities))
        if not slot:
            return
        counts = agent.counts
        agent.window.append(slot)
        for identity in slot:
            counts[identity] = counts.get(identity, 0) + 1
        while len(agent.window) > window:  # by more than one where the window was larger when they were written
            for identity in agent.window.pop(0):
                counts[identity] -= 1
                if not counts[identity]:
                    del counts[identity]

    def ran(self, agent: Agent, pending: Pending, periods: int) -> None:
        """A call may run: the repeat gates remember it. `periods` is how many calls a cycle may span."""
        _count(agent.signatures, pending.exact)
        if pending.skeleton is not None:
            _count(agent.skeletons, pending.skeleton)
        agent.recent.append(pending.exact)
        _keep_last(agent.recent, periods)

    def begin(self, name: str, pending: Pending) -> None:
        """A call may run of which there will be evidence: note its step, and when an agent is started."""
        agent = self.agents[name]
        if pending.facts is None:
            return
        if agent.evidence is None:
            agent.evidence = Log()
        pending.ordinal = evidence.observe_guard(agent.evidence, pending.step)
        if pending.facts.kind == "spawn":
            root = self.agents[[name, *self.ancestors(name)][-1]]
            if root.evidence is None:
                root.evidence = Log()
            evidence.observe_spawn(root.evidence, pending.at)

    def witness(self, agent: Agent, pending: Pending, answer: Answer, until: float | None) -> None:
        """A call settled: what it answered is evidence."""
        if pending.facts is not None and agent.evidence is not None:
            evidence.observe_settled(agent.evidence, pending.facts, answer, pending.ordinal, pending.at, until)

    def shut(self, agent: Agent, key: str, hit: Hit) -> None:
        """A call was stopped for this key, which stays shut until something new changes."""
        if agent.evidence is not None:
            why = Shut(hit.gate, hit.count, int(hit.limit), hit.detail or "")
            evidence.observe_stopped(agent.evidence, key, why)

    def denied(self, agent: Agent, spots: Iterable[str]) -> None:
        """A call was denied at these spots, each of which counts once."""
        for spot in dict.fromkeys(spots):
            _count(agent.denials, spot)

    def let_through(self, agent: Agent, spots: Iterable[str]) -> None:
        """A call went through at these spots after enough denials: their counting starts again."""
        for spot in spots:
            agent.denials.pop(spot, None)

    def would_have(self, agent: Agent, decision: Decision, code: str) -> None:
        """In shadow: this call would not have run."""
        _count(agent.would_have, f"{decision} {code}")

    def exempt(self, agent: Agent, identities: Iterable[str]) -> None:
        """The operator let these identities repeat for the rest of the turn."""
        agent.exempt.update(identities)
        _bound_set(agent.exempt)

    def refuse(self, agent: Agent, identities: Iterable[str]) -> None:
        """The operator, or nobody, answered: these identities are not asked about again this turn."""
        agent.refused.update(identities)
        _bound_set(agent.refused)

    # -- outcomes -------------------------------------------------------------------------------------------

    def failed(self, agent: Agent, identities: Iterable[str], failure: Failure) -> None:
        """A call that ran failed: each of its identities has one more consecutive failure."""
        for identity in identities:
            streak = agent.streaks.pop(identity, None) or Streak(0, failure)
            agent.streaks[identity] = Streak(streak.count + 1, failure)
        _bound(agent.streaks, MAX_PER_TURN)

    def succeeded(self, agent: Agent, identities: Iterable[str]) -> None:
        """A call that ran succeeded: the streaks of its identities are over, and no others."""
        for identity in identities:
            agent.streaks.pop(identity, None)

    def errored(self, agent: Agent, tool: str, text: str) -> None:
        """A tool gave this (normalised) error."""
        texts = agent.errors.setdefault(tool, {})
        _count(texts, text, most=64)
        _bound(agent.errors, MAX_PER_TURN)

    def recovered(self, agent: Agent, tool: str) -> None:
        """A tool succeeded: its errors are forgotten."""
        agent.errors.pop(tool, None)

    def remember_result(self, agent: Agent, identities: tuple[str, ...], text: str, most: int) -> None:
        """Keep what a call gave back, to quote it in a denial."""
        agent.results.append((identities, text))
        _keep_last(agent.results, most)

    def owe(self, agent: Agent, notices: Iterable[Notice]) -> None:
        """Notices that no reply could carry wait for the agent's next outcome."""
        agent.owed.extend(notices)

    # -- tokens and quotas ----------------------------------------------------------------------------------

    def charge(self, usage: Usage) -> bool:
        """Add one model request to the turn of the root, to the session and to all families above.

        False when the request was charged before.
        """
        agent = self.agent(usage.agent)
        account = agent.account
        if usage.request_id is not None:
            if usage.request_id in account.request_ids:
                return False
            account.request_ids.append(usage.request_id)
            _keep_last(account.request_ids, MAX_REQUEST_IDS)
        tokens = usage.billed
        above = self.ancestors(usage.agent)
        account.requests += 1
        account.session_spent += tokens
        turn = self.agents[above[-1] if above else usage.agent].account
        turn.turn_spent += tokens
        _count(turn.turn_spenders, usage.agent, tokens, MAX_SPENDERS)
        for name in (usage.agent, *above):
            family = self.agents[name].account
            family.family_spent += tokens
            _count(family.family_spenders, usage.agent, tokens, MAX_SPENDERS)
        self._note("charge", usage.agent, tokens, usage.request_id, at=usage.at)
        return True

    def count_tool(self, name: str, at: float | None = None) -> None:
        """A tool call of this agent may run."""
        self.agents[name].account.tools += 1
        self._note("tool", name, 1, at=at)

    def warned(self, owner: str, budget: str) -> None:
        """Somebody was told this turn of this agent's budget, or of the agents that run (`spawn`)."""
        self.agents[owner].account.warned.add(budget)
        self._note("warn", owner, key=budget)

    def pass_quota(self, owner: str, quota: str) -> None:
        """The one free overrun of this agent's quota is used up."""
        passed = self.agents[owner].account.passed
        passed.add(quota)
        _bound_set(passed)
        self._note("pass", owner, key=quota)

    def note_denial(self, name: str, code: str, what: str, at: float | None = None, *, shadow: bool = False) -> None:
        """Tell whoever keeps accounts that a call of this agent was stopped, or in `shadow` would have been."""
        self._note("deny", name, key=f"{SHADOW}{code}" if shadow else code, kind=what, at=at)

    def refresh(self, name: str, account: Account) -> None:
        """Believe an account that is kept elsewhere, where other processes add to it."""
        agent = self.agents.setdefault(name, Agent())
        account.request_ids = agent.account.request_ids
        agent.account = account

    def forget(self, name: str) -> None:
        """An account was taken back elsewhere: all counting starts again. Who started the agent stays known."""
        agent = self.agents.get(name)
        if agent is not None:
            old = agent.account
            agent.account = Account(
                old.parent, old.kind, old.started_by, old.ordinal, children=old.children, request_ids=old.request_ids
            )

    def _note(
        self,
        op: Op,
        name: str,
        amount: int = 0,
        key: str | None = None,
        kind: str | None = None,
        at: float | None = None,
    ) -> None:
        if self.journal is not None:
            self.journal(Entry(op, name, amount, key, tuple(self.ancestors(name)), kind, at))

    # -- in and out -----------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """Plain builtins: dicts, lists, strings, numbers."""
        agents = {name: msgspec.to_builtins(agent) for name, agent in self.agents.items()}
        return {"version": VERSION, "callsNamed": self.calls_named, "agents": agents}

    @classmethod
    def load(cls, dumped: dict[str, Any]) -> State:
        """The state that was dumped. ValueError when it is of another version or not of this shape."""
        if not isinstance(dumped, dict) or dumped.get("version") != VERSION:
            raise ValueError(f"a snapshot of version {VERSION} is needed")
        state = cls()
        try:
            state.agents = msgspec.convert(dumped["agents"], dict[str, Agent])
            state.calls_named = msgspec.convert(dumped["callsNamed"], int)
        except (KeyError, msgspec.ValidationError) as problem:
            raise ValueError(f"not a snapshot: {problem}") from problem
        return state


def _count(counts: dict[str, int], key: str, by: int = 1, most: int = MAX_PER_TURN) -> None:
    counts[key] = counts.pop(key, 0) + by
    _bound(counts, most)


def _keep_last(items: list[Any], most: int) -> None:
    del items[: max(0, len(items) - most)]


def _bound_set(entries: set[str], most: int = MAX_PER_TURN) -> None:
    """Which one goes matters little, and must be the same in every process."""
    while len(entries) > most:
        entries.remove(min(entries))


def _bound(entries: dict[str, Any], most: int) -> None:
    while len(entries) > most:
        del entries[next(iter(entries))]
