"""The methods: params in, an engine asked, a result out. Nothing here knows of JSON-RPC, lines or descriptors."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from msgspec import UNSET, Struct

from breaker.engine import Engine, UnknownCallError
from breaker.events import Call, Result, Settled, Usage, Verdict
from breaker.options import ConfigError, wire
from breaker.secrets import redacted
from breaker.settings import Settings
from protocol.about import DISTRIBUTION, PROTOCOL_VERSION, VERSION
from protocol.layers import Sources
from protocol.messages import (
    MAIN,
    AgentEndedParams,
    AgentParams,
    AgentStartedParams,
    ApprovalParams,
    At,
    Empty,
    GuardParams,
    GuardResult,
    InitializeParams,
    InitializeResult,
    PostExecuteParams,
    PostExecuteResult,
    RidingUsage,
    ServerInfo,
    ShutdownParams,
    StatusParams,
    UsageParams,
    UsageResult,
    UserTurnParams,
    UserTurnResult,
    advisory_result,
)

EngineFactory = Callable[[Settings], Engine]
Log = Callable[[str], None]


class Keeping(Protocol):
    """Whoever keeps what the engine counted beyond the process."""

    def attach(self, engine: Engine) -> None: ...

    def before(self) -> None: ...

    def after(self, *, waits: bool) -> None: ...

    def recall(self, agent: str | None) -> None: ...

    def status(self) -> dict[str, object]: ...


class Nowhere:
    """Keeps nothing."""

    def attach(self, engine: Engine) -> None:
        pass

    def before(self) -> None:
        pass

    def after(self, *, waits: bool) -> None:
        pass

    def recall(self, agent: str | None) -> None:
        pass

    def status(self) -> dict[str, object]:
        return {"engine": "none", "degraded": False}


_FAULTS_REMEMBERED = 256


class InvalidParamsError(Exception):
    """Params of the right types that cannot be served; `data` is a list of `{key, problem, hint?}`."""

    def __init__(self, data: list[dict[str, str]]) -> None:
        super().__init__("invalid params")
        self.data = data


class Session:
    """What one connection remembers besides the engine's own memory."""

    def __init__(
        self,
        sources: Sources,
        engine_for: EngineFactory,
        *,
        log: Log,
        clock: Callable[[], float] = time.time,
        keeping: Keeping | None = None,
    ) -> None:
        """Raises ConfigError when the layers below `initialize` are wrong already."""
        self.sources = sources
        self.engine_for = engine_for
        self.log = log
        self.clock = clock
        self.engine = engine_for(sources.resolve().settings)
        self.keeping = keeping or Nowhere()
        self.keeping.attach(self.engine)
        self.can_ask = True
        self.started = clock()
        self.arrived = self.started  # when the line in hand arrived
        self.silent = False  # nobody will see the reply to the message in hand
        self.over = False  # `shutdown` came
        self.faults = 0
        self._faults_logged: set[tuple[object, ...]] = set()

    def at(self, given: At) -> float | None:
        """The time of an event: as given, else when its line arrived."""
        return self.arrived if given is UNSET else given

    def fault(self, doing: str) -> None:
        """Count the exception in hand. Its traceback goes to the log the first time it comes from that place."""
        self.faults += 1
        with suppress(Exception):  # such as MemoryError: what goes wrong here as well goes unsaid
            self._log_fault(doing)

    def _log_fault(self, doing: str) -> None:
        kind, error, trace = sys.exc_info()
        frames = traceback.extract_tb(trace)
        place = (kind, frames[-1].filename, frames[-1].lineno) if frames else (kind,)
        if place in self._faults_logged or len(self._faults_logged) >= _FAULTS_REMEMBERED:
            return
        self._faults_logged.add(place)
        text = redacted("".join(traceback.format_exception(kind, error, trace)))
        self.log(f"a fault in {doing}\n{text}".rstrip())


class Method(Struct, frozen=True):
    """A method of the wire: the type of its params, what answers them, and what does after a fault of ours.

    Without `degraded` a fault is an error.
    """

    params: type[Struct]
    answer: Callable[[Session, Any], Struct | dict[str, Any]]
    degraded: Callable[[Any], Struct] | None = None


def initialize(session: Session, params: InitializeParams) -> InitializeResult:
    """Start afresh with another configuration. A wrong one leaves everything as it was."""
    try:
        settings = session.sources.resolve(params.config).settings
    except ConfigError as error:
        raise InvalidParamsError(error.data()) from None
    session.engine = session.engine_for(settings)
    session.keeping.attach(session.engine)
    session.can_ask = params.capabilities is None or params.capabilities.ask is not False
    return InitializeResult(
        PROTOCOL_VERSION, ServerInfo(DISTRIBUTION, VERSION), list(METHODS), wire(session.engine.settings)
    )


def guard(session: Session, params: GuardParams) -> GuardResult:
    """Judge a call."""
    call = Call(
        _agent(params.agent),
        params.tool,
        params.arguments,
        params.call_id or "",
        params.parent,
        params.annotations,
        None if params.step is None else str(params.step),
        session.at(params.at),
        session.can_ask and params.can_ask is not False,
    )
    verdict = session.engine.guard(call, explain=bool(params.explain))
    return _guard_result(verdict, None if params.call_id else verdict.call_id)


def guard_degraded(_params: GuardParams) -> GuardResult:
    """A fault of ours never stops a call."""
    return GuardResult("allow", (), degraded=True)


def approval(session: Session, params: ApprovalParams) -> GuardResult:
    """What the operator answered."""
    try:
        verdict = session.engine.approve(_agent(params.agent), params.call_id, params.outcome)
    except UnknownCallError as error:
        raise InvalidParamsError(_unknown_call(error)) from None
    return _guard_result(verdict, None)


def approval_degraded(params: ApprovalParams) -> GuardResult:
    """When a fault of ours gets in the way, the operator's word stands."""
    return GuardResult("allow" if params.outcome == "approved" else "deny", (), degraded=True)


def post_execute(session: Session, params: PostExecuteParams) -> PostExecuteResult:
    """Take in how a call went, and the usage that rides along."""
    agent = _agent(params.agent)
    at = session.at(params.at)
    result = params.result
    settled = Settled(
        agent,
        Result(result.content, result.value, bool(result.is_error), result.error),
        params.call_id or None,
        params.tool,
        params.arguments,
        at,
        None if params.usage is None else _usage(agent, params.usage, at),
    )
    try:
        report = session.engine.settle(settled, replied=not session.silent)
    except UnknownCallError as error:
        raise InvalidParamsError(_unknown_call(error)) from None
    return PostExecuteResult([advisory_result(each) for each in report.advisories], report.failure)


def usage(session: Session, params: UsageParams) -> UsageResult:
    """Charge one model request."""
    charged = _usage(_agent(params.agent), params, session.at(params.at))
    advisories = session.engine.usage(charged, replied=not session.silent)
    return UsageResult([advisory_result(each) for each in advisories])


def user_turn(session: Session, params: UserTurnParams) -> UserTurnResult:
    """A message reached the agent."""
    source = "user" if params.source is None else params.source
    return UserTurnResult(session.engine.user_turn(_agent(params.agent), source, session.at(params.at)))


def compacted(session: Session, params: AgentParams) -> Empty:
    """The agent's history was summarised."""
    session.engine.compacted(_agent(params.agent))
    return EMPTY


def agent_started(session: Session, params: AgentStartedParams) -> Empty:
    """An agent was started by another."""
    session.engine.agent_started(params.agent, params.parent, params.kind, params.call_id, session.at(params.at))
    return EMPTY


def agent_ended(session: Session, params: AgentEndedParams) -> Empty:
    """An agent ended."""
    session.engine.agent_ended(params.agent)
    return EMPTY


def status(session: Session, params: StatusParams) -> dict[str, Any]:
    """What is remembered, and how the server fares: uptime in seconds, resident memory in bytes."""
    server = {
        "name": DISTRIBUTION,
        "version": VERSION,
        "uptime": max(0.0, session.clock() - session.started),
        "memory": resident_bytes(),
        "faults": session.faults,
    }
    session.keeping.recall(params.agent)
    return {**session.engine.status(params.agent), "state": session.keeping.status(), "server": server}


def shutdown(session: Session, _params: ShutdownParams) -> Empty:
    """End once this is answered."""
    session.over = True
    return EMPTY


EMPTY = Empty()

METHODS: dict[str, Method] = {
    "initialize": Method(InitializeParams, initialize),
    "guard": Method(GuardParams, guard, guard_degraded),
    "approval": Method(ApprovalParams, approval, approval_degraded),
    "postExecute": Method(PostExecuteParams, post_execute),
    "userTurn": Method(UserTurnParams, user_turn),
    "compacted": Method(AgentParams, compacted),
    "usage": Method(UsageParams, usage),
    "agentStarted": Method(AgentStartedParams, agent_started),
    "agentEnded": Method(AgentEndedParams, agent_ended),
    "status": Method(StatusParams, status),
    "shutdown": Method(ShutdownParams, shutdown),
}
"""Every method by its name on the wire, in the order in which `initialize` lists them."""


def resident_bytes() -> int | None:
    """The memory that the process holds now; where /proc is missing the most it ever held; else unknown."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - read on every `status`
            pages = int(file.read().split()[1])
        import resource

        return pages * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _agent(given: str | None) -> str:
    return MAIN if given is None else given


def _usage(agent: str, given: RidingUsage, at: float | None) -> Usage:
    return Usage(
        agent,
        given.input_tokens,
        given.output_tokens or 0,
        given.cache_read_tokens or 0,
        given.cache_write_tokens or 0,
        given.request_id,
        at,
    )


def _guard_result(verdict: Verdict, call_id: str | None) -> GuardResult:
    return GuardResult(
        verdict.decision,
        verdict.hits,
        verdict.code,
        verdict.reason,
        call_id,
        verdict.fingerprints,
        verdict.rules,
        verdict.would_have,
        verdict.degraded,
    )


def _unknown_call(error: UnknownCallError) -> list[dict[str, str]]:
    return [{"key": "$.callId", "problem": str(error)}]
