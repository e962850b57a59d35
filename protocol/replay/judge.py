"""One recorded session through the gate: the same handlers that answer a live harness, and a ledger beside them.

The replay goes on after a stop. A call that the gate would have stopped never ran, so its recorded result is not
used. An ask is answered as the recording answered it, else by nobody, which is a denial.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from breaker.engine import Engine
from breaker.events import Call, Failure, FingerprintCount, Hit, Result
from breaker.evidence.log import Entry as Evidence
from breaker.failure import Classified, classify
from breaker.identity.identify import Identifier, Identity
from breaker.rules.tracks import track_counts
from breaker.secrets import mask, mask_text, pseudonyms
from breaker.settings import KINDS, Settings
from breaker.state import Agent
from protocol import methods
from protocol.layers import Sources
from protocol.messages import (
    MAIN,
    AdvisoryResult,
    GuardParams,
    GuardResult,
    PostExecuteParams,
    PostExecuteResult,
    UsageParams,
    UsageResult,
)
from protocol.methods import METHODS, InvalidParamsError
from protocol.readers import Message, Session

from .report import CallEvent, MarkEvent, Repetition, Run, SessionReport, Stop

MAX_SHOWN = 2000
"""Characters of a call's arguments that an event keeps."""
_COMMANDS = ("command", "cmd", "script")
_MAX_STREAKS = 2000
_LOOK_AHEAD = 1000
"""Messages in which the answer to an ask is looked for."""
_MARKS = ("userTurn", "compacted", "agentStarted", "agentEnded")


def judge_session(
    session: Session,
    settings: Settings,
    *,
    identifier: Identifier | None = None,
    key: bytes = b"",
    events: bool = True,
) -> SessionReport:
    """Replay one session under `settings`.

    `identifier` may be shared between replays whose settings make the same identities. Without `events` the report
    has its numbers only.
    """
    return _Replay(session, settings, identifier, key, events).run()


class Closeup(Struct):
    """How call `number` stood with the adaptive rules before it ran.

    `rules` are their findings, those below their limits as well, `None` where these rules do not look; `evidence` is
    what had settled by then, oldest first, with the numbers of its calls. `action` is the key by which they know the
    call.
    """

    number: int
    action: str | None = None
    rules: tuple[Hit, ...] | None = None
    evidence: list[tuple[int, Evidence]] = msgspec.field(default_factory=list)


def judge_call(session: Session, settings: Settings, number: int) -> tuple[SessionReport, Closeup]:
    """Replay one session with a closer look at one call, counted from 1."""
    replay = _Replay(session, settings, None, b"", events=True)
    replay.closeup = Closeup(number)
    return replay.run(), replay.closeup


class _Open(Struct):
    """A call between its guard and its result."""

    identity: Identity
    tool: str
    turn: int
    allowed: bool
    event: CallEvent | None = None


class _Replay:
    def __init__(
        self, session: Session, settings: Settings, identifier: Identifier | None, key: bytes, events: bool
    ) -> None:
        # A replay stops nothing anyway; in shadow it would show nothing either.
        self.settings = msgspec.structs.replace(settings, shadow=False)
        self.session, self.events = session, events
        self.engine = Engine(self.settings, key=key)
        if identifier is not None:
            self.engine.identifier = identifier
        self.live = methods.Session(_NO_SOURCES, lambda _: self.engine, log=self._fault, clock=lambda: 0.0)
        self.live.can_ask = session.can_ask
        self.pseudonym = pseudonyms(key)
        self.report = SessionReport(
            _sound(session.name),
            _sound(session.source),
            session.format,
            None if session.outcome is None else _sound(session.outcome),
        )
        self.open: dict[tuple[str, str], _Open] = {}
        self.streaks: dict[str, dict[str, int]] = {}
        self.turns: dict[str, int] = {}
        self.stop: Stop | None = None
        self.agents: set[str] = set()
        self.first: float | None = None
        self.last: float | None = None
        self.ahead = _Ahead(session.messages)
        self.closeup: Closeup | None = None
        self.witnessed: dict[int, tuple[int, Evidence]] = {}

    def run(self) -> SessionReport:
        report = self.report
        for method, params in self.ahead:
            at = params.get("at")
            if isinstance(at, int | float):
                self.first = at if self.first is None else min(self.first, at)
                self.last = at if self.last is None else max(self.last, at)
            try:
                self._message(method, params, at if isinstance(at, int | float) else None)
            except (msgspec.ValidationError, InvalidParamsError) as error:
                self.session.notes.skip(f"{method} not taken: {error}"[:200])
        report.agents = len(self.agents)
        if self.first is not None and self.last is not None:
            report.seconds = self.last - self.first
        notes = self.session.notes
        report.skipped, report.mended, report.unpaired = notes.skipped, notes.mended, notes.unpaired
        report.remarks += notes.samples
        return report

    def _message(self, method: str, params: dict[str, Any], at: float | None) -> None:
        agent = params.get("agent") or MAIN
        if not isinstance(agent, str):
            raise msgspec.ValidationError("agent is no string")
        if method == "guard":
            self._guard(agent, params, at)
        elif method == "postExecute":
            self._settle(agent, params, at)
        elif method == "approval":
            self._approve(agent, params)
        elif method == "usage":
            self._usage(agent, params, at)
        elif method in _MARKS:
            self._mark(method, agent, params, at)

    def _ask(self, method: str, params: Any, result: type[_ResultT]) -> _ResultT:
        known = METHODS[method]
        converted = params if isinstance(params, Struct) else msgspec.convert(params, known.params)
        answer = known.answer(self.live, converted)
        assert isinstance(answer, result)
        return answer

    # -- calls ----------------------------------------------------------------------------------------------

    def _guard(self, agent: str, params: dict[str, Any], at: float | None) -> None:
        given = msgspec.convert(params, GuardParams)
        identity = self.engine.identifier.identify(given.tool, given.arguments)
        memory = self.engine.state.agents.get(agent) or _NEW_AGENT
        identities = track_counts(self.settings.limits, memory, identity.fingerprints)
        closeup = self.closeup if self.closeup and self.closeup.number == self.report.calls + 1 else None
        if closeup:
            given.explain = True
            closeup.evidence = [self.witnessed[id(entry)] for entry in self._log(agent) if id(entry) in self.witnessed]
        answer = self._ask("guard", given, GuardResult)
        if closeup:
            closeup.rules = answer.rules
            closeup.action = self.engine.action(Call(agent, given.tool, given.arguments, annotations=given.annotations))
        report, call_id = self.report, given.call_id or answer.call_id or ""
        self.agents.add(agent)
        report.calls += 1
        if self.stop:
            self.stop.calls += agent == self.stop.agent
            self._lasts(agent, at)
        self._repetition(identities)
        opened = _Open(identity, given.tool, self.turns.get(agent, 0), answer.decision == "allow")
        if self.events:
            opened.event = self._event(agent, given, answer, at)
            opened.event.identities = identities
            report.events.append(opened.event)
        self.open[agent, call_id] = opened
        if len(self.open) > 10_000:
            del self.open[next(iter(self.open))]
        if answer.decision == "ask":
            report.asked += 1
            self._question(agent, call_id, opened, answer)
        elif answer.decision == "deny":
            self._stopped(agent, opened, answer, at)

    def _event(self, agent: str, given: GuardParams, answer: GuardResult, at: float | None) -> CallEvent:
        return CallEvent(
            number=self.report.calls,
            agent=agent,
            tool=given.tool,
            arguments=self._shown(given.arguments),
            decision=answer.decision,
            at=at,
            step=None if given.step is None else str(given.step),
            code=answer.code,
            reason=self._hidden(answer.reason),
            hits=answer.hits,
        )

    def _hidden(self, reason: str | None) -> str | None:
        """A text of ours, which quotes a result, without the secrets that the result showed."""
        return reason and mask_text(reason, self.pseudonym)

    def _shown(self, arguments: Any) -> str:
        """The arguments for people: a lone command as it is, the rest as JSON, secrets masked, long ones cut."""
        hidden = mask(_cut(arguments), self.pseudonym)
        if isinstance(hidden, dict) and len(hidden) == 1:
            hidden = next((hidden[name] for name in _COMMANDS if isinstance(hidden.get(name), str)), hidden)
        if isinstance(hidden, str):
            text = hidden
        else:
            try:
                text = msgspec.json.encode(hidden).decode()
            except (TypeError, ValueError, RecursionError, OverflowError):
                text = f"<{type(arguments).__name__}>"
        return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"

    def _question(self, agent: str, call_id: str, opened: _Open, answer: GuardResult) -> None:
        """Leave the ask open when the recording answers it, else answer for nobody."""
        if opened.event:
            opened.event.question, opened.event.reason = self._hidden(answer.reason), None
        if not self.ahead.has_approval(agent, call_id):
            self._approve(agent, {"agent": agent, "callId": call_id, "outcome": "unavailable"})

    def _approve(self, agent: str, params: dict[str, Any]) -> None:
        opened = self.open.get((agent, str(params.get("callId"))))
        if opened is None or opened.allowed:
            return
        try:
            answer = self._ask("approval", params, GuardResult)
        except InvalidParamsError:
            return  # the recording asked where this gate did not
        if opened.event:
            opened.event.answer = str(params.get("outcome"))
            opened.event.decision, opened.event.code, opened.event.reason = (
                answer.decision,
                answer.code,
                self._hidden(answer.reason),
            )
        if answer.decision == "allow":
            opened.allowed = True
            self.report.granted += 1
        else:
            self._stopped(agent, opened, answer, opened.event.at if opened.event else None)

    def _stopped(self, agent: str, opened: _Open, answer: GuardResult, at: float | None) -> None:
        report = self.report
        report.blocked += 1
        gates = [hit.gate for hit in answer.hits]
        for gate in dict.fromkeys(gates):
            report.blocked_by[gate] = report.blocked_by.get(gate, 0) + 1
        if report.first_stop is None and answer.hits:
            hit = answer.hits[0]
            self.stop = report.first_stop = Stop(
                report.calls,
                agent,
                opened.tool,
                hit.gate,
                answer.code or "",
                hit.count,
                hit.limit,
                hit.fingerprint,
                hit.detail,
                at,
                calls=1,
            )
        if self.stop and agent == self.stop.agent:
            self.stop.blocked += 1

    # -- results --------------------------------------------------------------------------------------------

    def _settle(self, agent: str, params: dict[str, Any], at: float | None) -> None:
        given = msgspec.convert(params, PostExecuteParams)
        opened = self._opened(agent, given)
        result = Result(given.result.content, given.result.value, bool(given.result.is_error), given.result.error)
        self._lasts(agent, at)
        if opened is not None and not opened.allowed:
            self._recorded(opened, result)
            if given.usage is not None:
                self._charge(agent, given.usage, at)
            return
        answer = self._ask("postExecute", given, PostExecuteResult)
        self._count(answer.advisories)
        if given.usage is not None:
            self._spent(agent, given.usage, at)
        if opened is None:
            return
        if opened.event:
            opened.event.advisories = answer.advisories
            if self.closeup:
                for entry in self._log(agent)[-1:]:
                    self.witnessed.setdefault(id(entry), (opened.event.number, entry))
        streaks = self.streaks.setdefault(agent, {})
        # The gate has classified the result already. What it does not tell is an outcome that is neither good nor bad,
        # and those of an earlier turn.
        told = answer.failure is not None
        if not told and not self.events and opened.turn == self.turns.get(agent, 0):
            told = streaks.keys().isdisjoint(opened.identity.fingerprints)
        outcome = self._recorded(
            opened, result, Classified("failed" if answer.failure else "ok", answer.failure) if told else None
        )
        if outcome.failure is not None:
            self._failed(streaks, opened, outcome.failure)
        elif outcome.kind == "ok":
            for fingerprint in opened.identity.fingerprints:
                streaks.pop(fingerprint, None)

    def _log(self, agent: str) -> list[Evidence]:
        memory = self.engine.state.agents.get(agent)
        return memory.evidence.entries if memory is not None and memory.evidence is not None else []

    def _opened(self, agent: str, given: PostExecuteParams) -> _Open | None:
        """The call that a result belongs to, found as the gate finds it when no id says so."""
        if given.call_id:
            return self.open.pop((agent, given.call_id), None)
        waiting = [
            name for name, each in self.open.items() if name[0] == agent and each.allowed and each.tool == given.tool
        ]
        if not waiting or given.tool is None:
            return None
        exact = self.engine.identifier.identify(given.tool, given.arguments).exact
        same = (name for name in waiting if self.open[name].identity.exact == exact)
        return self.open.pop(next(same, waiting[0]))

    def _recorded(self, opened: _Open, result: Result, outcome: Classified | None = None) -> Classified:
        """How the call went, by the recording; counted whether the gate would have let it run or not."""
        if outcome is None:
            outcome = classify(opened.identity, result)
        self.report.settled += 1
        self.report.failed += outcome.kind == "failed"
        if opened.event:
            opened.event.recorded, opened.event.failure = outcome.kind, outcome.failure
        return outcome

    def _failed(self, streaks: dict[str, int], opened: _Open, failure: Failure) -> None:
        best = self.report.longest_run
        for fingerprint in _named(opened.identity):
            streaks[fingerprint] = streaks.pop(fingerprint, 0) + 1
            if best is None or streaks[fingerprint] > best.count:
                best = Run(fingerprint, streaks[fingerprint], str(failure))
        self.report.longest_run = best
        while len(streaks) > _MAX_STREAKS:
            del streaks[next(iter(streaks))]

    def _repetition(self, identities: tuple[FingerprintCount, ...]) -> None:
        best = self.report.strongest
        for each in identities:
            if each.count > 1 and (best is None or _strength(each) > _strength(best)):
                best = Repetition(each.fingerprint, each.count, each.limit)
        self.report.strongest = best

    # -- everything else ------------------------------------------------------------------------------------

    def _usage(self, agent: str, params: dict[str, Any], at: float | None) -> None:
        given = msgspec.convert(params, UsageParams)
        answer = self._ask("usage", given, UsageResult)
        self._spent(agent, given, at)
        self._count(answer.advisories)
        if self.events and answer.advisories:
            self.report.events.append(MarkEvent("notice", agent, at, advisories=answer.advisories))

    def _charge(self, agent: str, usage: Any, at: float | None) -> None:
        self._usage(agent, {**msgspec.to_builtins(usage), "agent": agent, "at": at}, at)

    def _spent(self, agent: str, usage: Any, at: float | None) -> None:
        billed = usage.input_tokens + (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
        self.report.requests += 1
        self.report.tokens += billed
        if self.stop and agent == self.stop.agent:
            self.stop.tokens += billed
            self._lasts(agent, at)

    def _count(self, advisories: list[AdvisoryResult]) -> None:
        for advisory in advisories:
            self.report.advisories[advisory.stage] = self.report.advisories.get(advisory.stage, 0) + 1

    def _lasts(self, agent: str, at: float | None) -> None:
        stop = self.stop
        if stop and agent == stop.agent and at is not None and stop.at is not None:
            stop.seconds = max(stop.seconds or 0.0, at - stop.at)

    def _mark(self, method: str, agent: str, params: dict[str, Any], at: float | None) -> None:
        self._ask(method, params, Struct)
        if method == "userTurn":
            if params.get("source") not in (None, "user"):
                return
            self.report.turns += 1
            self.turns[agent] = self.turns.get(agent, 0) + 1
            self.streaks.pop(agent, None)
            self.agents.add(agent)
        elif method == "compacted":
            self.agents.add(agent)
        if self.stop and (
            (method == "userTurn" and agent in (self.stop.agent, MAIN))
            or (method == "agentEnded" and agent == self.stop.agent)
        ):
            self.stop = None
        if self.events:
            self.report.events.append(MarkEvent(method, agent, at, _text(params.get("parent"))))  # type: ignore[arg-type]

    def _fault(self, text: str) -> None:
        self.report.remarks.append(text[-400:])


_ResultT = TypeVar("_ResultT", bound=Struct)
_NO_SOURCES = Sources()
_NEW_AGENT = Agent()


class _Ahead:
    """The messages in order, with a look at those to come."""

    def __init__(self, messages: Iterator[Message]) -> None:
        self._messages = messages
        self._seen: deque[Message] = deque()

    def __iter__(self) -> Iterator[Message]:
        while True:
            message = self._seen.popleft() if self._seen else next(self._messages, None)
            if message is None:
                return
            yield message

    def has_approval(self, agent: str, call_id: str) -> bool:
        """Whether an answer to this call's ask comes before its result."""
        for position in range(_LOOK_AHEAD):
            if position == len(self._seen):
                message = next(self._messages, None)
                if message is None:
                    return False
                self._seen.append(message)
            method, params = self._seen[position]
            if params.get("callId") == call_id and (params.get("agent") or MAIN) == agent:
                if method == "approval":
                    return True
                if method == "postExecute":
                    return False
        return False


@lru_cache(1024)
def _order(fingerprint: str) -> tuple[bool, int]:
    """Identities that people recognise first; `exact` is what every call has."""
    kind = fingerprint.partition(":")[0]
    return kind == "exact", KINDS.index(kind) if kind in KINDS else len(KINDS)


def _named(identity: Identity) -> list[str]:
    return sorted(identity.fingerprints, key=_order)


def _sound(text: str) -> str:
    """The text without lone surrogates, which file names may hold and JSON may not."""
    return text.encode("utf-8", "replace").decode()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _cut(value: Any, depth: int = 0) -> Any:
    """The value with long strings cut, at twice what is shown: a secret at the end of that is whole."""
    if isinstance(value, str):
        return value[: 2 * MAX_SHOWN]
    if depth > 50:
        return None
    if isinstance(value, dict):
        return {name: _cut(member, depth + 1) for name, member in value.items()}
    if isinstance(value, list):
        return [_cut(member, depth + 1) for member in value[:MAX_SHOWN]]
    return value


def _strength(found: FingerprintCount | Repetition) -> tuple[float, int, bool]:
    return (found.count / found.limit if found.limit else 0.0, found.count, not found.fingerprint.startswith("exact:"))
