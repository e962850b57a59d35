"""The params and results of every method, as they stand on the wire (camelCase).

Unknown params are ignored, so that an older server serves a newer client. An optional param may be `null`, which
means the same as leaving it out; only for `at` the two differ.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from breaker.events import (
    Advisory,
    Annotations,
    Decision,
    Failure,
    FingerprintCount,
    Hit,
    Outcome,
    Stage,
)
from breaker.setting_table import LARGEST

MAIN = "main"
"""The agent that is meant when none is named."""

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
LONGEST_NAME = 512
"""Characters of a name. Names are remembered: a longer one is cut, and closed with a digest of the whole."""

_NAMES = ("agent", "parent", "call_id", "tool", "request_id", "step")

At = float | None | UnsetType
"""Seconds since the epoch; `null` says that nobody knows, absent means the time the line arrived."""


class Naming(Struct):
    """Params that name agents, calls, tools, requests."""

    def __post_init__(self) -> None:
        for field in _NAMES:
            name = getattr(self, field, None)
            if type(name) is str and len(name) > LONGEST_NAME:
                digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
                setattr(self, field, f"{name[:LONGEST_NAME]}… {digest}")


class Capabilities(Struct, rename="camel"):
    """What the client can do: `ask` false says that there is no operator to ask."""

    ask: bool | None = None


class InitializeParams(Struct, rename="camel"):
    protocol_version: int | None = None
    client: dict[str, Any] | None = None
    capabilities: Capabilities | None = None
    config: Any = None


class GuardParams(Naming, rename="camel"):
    tool: str
    arguments: Any
    agent: str | None = None
    parent: str | None = None
    call_id: str | None = None
    annotations: Annotations | None = None
    step: str | int | None = None
    at: At = UNSET
    can_ask: bool | None = None
    explain: bool | None = None


class ApprovalParams(Naming, rename="camel"):
    call_id: str
    outcome: Outcome
    agent: str | None = None


class ResultParams(Struct, rename="camel"):
    content: Any = None
    value: Any = None
    is_error: bool | None = None
    error: Any = None


class RidingUsage(Naming, rename="camel"):
    """The token counts of one model request, without an agent of its own."""

    input_tokens: Count
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    request_id: str | None = None


class UsageParams(RidingUsage, rename="camel"):
    agent: str | None = None
    at: At = UNSET


class PostExecuteParams(Naming, rename="camel"):
    result: ResultParams
    agent: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = UNSET
    at: At = UNSET
    usage: RidingUsage | None = None


class UserTurnParams(Naming, rename="camel"):
    agent: str | None = None
    source: str | None = None
    at: At = UNSET


class AgentParams(Naming, rename="camel"):
    """Params that name an agent and nothing else: `compacted`."""

    agent: str | None = None


class AgentStartedParams(Naming, rename="camel"):
    agent: str
    parent: str
    kind: Literal["subagent", "workflow"]
    call_id: str | None = None
    at: At = UNSET


class AgentEndedParams(Naming, rename="camel"):
    agent: str


class StatusParams(Naming, rename="camel"):
    """Without `agent`, all agents are meant."""

    agent: str | None = None


class ShutdownParams(Struct, rename="camel"):
    pass


class Empty(Struct):
    """`{}`"""


class ServerInfo(Struct, rename="camel"):
    name: str
    version: str


class InitializeResult(Struct, rename="camel"):
    protocol_version: int
    server: ServerInfo
    methods: list[str]
    config: dict[str, Any]


class GuardResult(Struct, rename="camel", omit_defaults=True):
    """`call_id` is there when the server made it; `degraded` when a fault of ours kept it from judging.

    `would_have` is the decision that shadow mode did not carry out.
    """

    decision: Decision
    hits: tuple[Hit, ...]
    code: str | None = None
    reason: str | None = None
    call_id: str | None = None
    fingerprints: tuple[FingerprintCount, ...] | None = None
    rules: tuple[Hit, ...] | None = None
    would_have: Decision | None = None
    degraded: bool = False


class Plugin(Struct):
    """Who speaks in an advisory, for harnesses that tell notices from messages of people."""

    kind: str = "plugin"


class AdvisoryResult(Struct, omit_defaults=True):
    gate: str
    stage: Stage
    count: int
    text: str
    summary: str
    source: Plugin
    fingerprint: str | None = None


class PostExecuteResult(Struct):
    advisories: list[AdvisoryResult]
    failure: Failure | None


class UsageResult(Struct):
    advisories: list[AdvisoryResult]


class UserTurnResult(Struct):
    reset: bool


PLUGIN = Plugin()


def advisory_result(advisory: Advisory) -> AdvisoryResult:
    """An advisory as the wire has it."""
    return AdvisoryResult(
        advisory.gate,
        advisory.stage,
        advisory.count,
        advisory.text,
        advisory.summary,
        PLUGIN,
        advisory.fingerprint,
    )
