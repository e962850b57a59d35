"""What goes into the judgement and what comes out of it.

Every type here is frozen plain data: no I/O, no clock, no JSON-RPC. Times are seconds since the epoch and come
in with the event (`at`); `None` means that nobody knows when.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct

Decision = Literal["allow", "deny", "ask"]
Outcome = Literal["approved", "rejected", "cancelled", "unavailable"]
Stage = Literal["warn", "summarize", "failWarn", "budgetWarn", "quotaWarn", "letThrough"]


class Annotations(Struct, frozen=True, rename="camel"):
    """Those of MCP's tool annotations that a rule reads, and three of our own; `None`: the harness says nothing."""

    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    poll_hint: bool | None = None
    spawn_hint: bool | None = None
    bookkeeping_hint: bool | None = None


class Call(Struct, frozen=True):
    """A tool call that is about to run. Without a `call_id` the engine makes one."""

    agent: str
    tool: str
    arguments: Any
    call_id: str = ""
    parent: str | None = None
    annotations: Annotations | None = None
    step: str | None = None
    at: float | None = None
    can_ask: bool = True


class Result(Struct, frozen=True):
    """What a call gave back, as the harness tells it; every member may be missing."""

    content: Any = None
    value: Any = None
    is_error: bool = False
    error: Any = None


class Usage(Struct, frozen=True):
    """One model request: disjoint token counts. Billed input is the sum of the three input counts."""

    agent: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    request_id: str | None = None
    at: float | None = None

    @property
    def billed(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


class Settled(Struct, frozen=True):
    """A call that is over. Without `call_id`, `tool` and `arguments` say which call is meant.

    `arguments` is `UNSET` where nobody gave any, which is not the same as `null`.
    """

    agent: str
    result: Result
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = UNSET
    at: float | None = None
    usage: Usage | None = None


class Hit(Struct, frozen=True, omit_defaults=True):
    """One rule's finding against a call: which gate, on which identity, how many of how many."""

    gate: str
    count: int
    limit: int | float
    fingerprint: str | None = None
    detail: str | None = None


class Failure(Struct, frozen=True):
    """Why a call that ran counts as failed: `exit`, `http`, `timeout`, `signal`, `sandbox`, `error`, …"""

    reason: str
    detail: str | None = None

    def __str__(self) -> str:
        return f"{self.reason} {self.detail}" if self.detail else self.reason


class Advisory(Struct, frozen=True, omit_defaults=True):
    """A text for the model that stops nothing."""

    gate: str
    stage: Stage
    count: int
    text: str
    summary: str
    fingerprint: str | None = None


class FingerprintCount(Struct, frozen=True):
    """One identity of a call as `explain` shows it: this call would be its `count`th; `limit` is its cap."""

    fingerprint: str
    count: int
    limit: int | float | None
    failures: int


class Verdict(Struct, frozen=True):
    """The answer to a call. `code` and `reason` stand with `deny` and `ask`; `hits` are all findings.

    Of a call that is explained, `fingerprints` are its identities with their counts, and `rules` is where the adaptive
    rules stand that have evidence, those below their limits as well; `None` where these rules do not look.

    In shadow the decision is always `allow`, and `would_have` is what it would have been.
    """

    decision: Decision
    call_id: str
    hits: tuple[Hit, ...] = ()
    code: str | None = None
    reason: str | None = None
    fingerprints: tuple[FingerprintCount, ...] | None = None
    rules: tuple[Hit, ...] | None = None
    would_have: Decision | None = None
    degraded: bool = False


class Report(Struct, frozen=True):
    """What `settle` says of a call that is over."""

    advisories: tuple[Advisory, ...] = ()
    failure: Failure | None = None
