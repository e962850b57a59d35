"""What a replay finds, as plain data: the table, the page, `--json` and the sweep all read these."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from breaker.events import Decision, Failure, FingerprintCount, Hit
from protocol.messages import AdvisoryResult

Recorded = Literal["ok", "failed", "neutral", "unknown"]
"""How a call went in the recording; `unknown` when it has no result there."""


class CallEvent(Struct, tag="call", tag_field="event", rename="camel", omit_defaults=True):
    """One recorded call and what the gate said to it.

    `decision` is final: an ask that nobody answered is a denial, with the operator's text in `question`. `identities`
    are counted with this call included. `advisories` came with its result.
    """

    number: int
    agent: str
    tool: str
    arguments: str
    decision: Decision
    at: float | None = None
    step: str | None = None
    recorded: Recorded = "unknown"
    failure: Failure | None = None
    code: str | None = None
    reason: str | None = None
    question: str | None = None
    answer: str | None = None
    hits: tuple[Hit, ...] = ()
    identities: tuple[FingerprintCount, ...] = ()
    advisories: list[AdvisoryResult] = field(default_factory=list)


class MarkEvent(Struct, tag="mark", tag_field="event", rename="camel", omit_defaults=True):
    """Something between calls: a user's message, a compaction, a subagent's start or end, an advisory on tokens."""

    kind: Literal["userTurn", "compacted", "agentStarted", "agentEnded", "notice"]
    agent: str
    at: float | None = None
    parent: str | None = None
    advisories: list[AdvisoryResult] = field(default_factory=list)


Event = CallEvent | MarkEvent


class Run(Struct, frozen=True, rename="camel"):
    """The longest row of failures of one identity."""

    fingerprint: str
    count: int
    reason: str


class Repetition(Struct, frozen=True, rename="camel"):
    """The identity that came closest to its cap, or went furthest beyond it; without caps, the most frequent."""

    fingerprint: str
    count: int
    limit: int | float | None


class Stop(Struct, rename="camel"):
    """The first call that would not have run, and what the recording did from there to the end of that turn.

    `calls` are the same agent's calls, this one included, `blocked` those of them that would not have run either,
    `tokens` its billed input, `seconds` the time until its last sign of life (None without times). A recording cannot
    show what the agent would have done instead: these are upper bounds.
    """

    number: int
    agent: str
    tool: str
    gate: str
    code: str
    count: int
    limit: int | float
    fingerprint: str | None = None
    detail: str | None = None
    at: float | None = None
    calls: int = 0
    blocked: int = 0
    tokens: int = 0
    seconds: float | None = None


class SessionReport(Struct, rename="camel"):
    """Everything about one session. `events` is empty unless it was asked for."""

    name: str
    source: str
    format: str
    outcome: str | None = None
    agents: int = 0
    calls: int = 0
    settled: int = 0
    failed: int = 0
    turns: int = 0
    requests: int = 0
    tokens: int = 0
    seconds: float | None = None
    blocked: int = 0
    asked: int = 0
    granted: int = 0
    blocked_by: dict[str, int] = field(default_factory=dict)
    advisories: dict[str, int] = field(default_factory=dict)
    longest_run: Run | None = None
    strongest: Repetition | None = None
    first_stop: Stop | None = None
    skipped: int = 0
    mended: int = 0
    unpaired: int = 0
    remarks: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def advised(self) -> int:
        return sum(self.advisories.values())


class Total(Struct, rename="camel"):
    """The sum of sessions."""

    sessions: int = 0
    stopped: int = 0
    calls: int = 0
    settled: int = 0
    failed: int = 0
    turns: int = 0
    blocked: int = 0
    asked: int = 0
    advisories: int = 0
    advised: int = 0
    skipped: int = 0
    tokens: int = 0
    after_stops: int = 0
    tokens_after_stops: int = 0
    blocked_by: dict[str, int] = field(default_factory=dict)

    def add(self, session: SessionReport) -> None:
        self.sessions += 1
        self.calls += session.calls
        self.settled += session.settled
        self.failed += session.failed
        self.turns += session.turns
        self.blocked += session.blocked
        self.asked += session.asked
        self.advisories += session.advised
        self.advised += bool(session.advised)
        self.skipped += session.skipped
        self.tokens += session.tokens
        for gate, count in session.blocked_by.items():
            self.blocked_by[gate] = self.blocked_by.get(gate, 0) + count
        if session.first_stop:
            self.stopped += 1
            self.after_stops += session.first_stop.calls
            self.tokens_after_stops += session.first_stop.tokens


def plain(report: Struct) -> Any:
    """A report as JSON has it."""
    return msgspec.to_builtins(report)
