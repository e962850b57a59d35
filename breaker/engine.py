"""The engine: what the rest of the world calls. It asks every rule, rules once, and tells the state what happened.

Nothing here reads a clock, a disk or a network; the same events in the same order give the same verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Any

from msgspec import UNSET, structs

from breaker import failure, gate, messages, skeleton
from breaker.content import text_of
from breaker.events import (
    Advisory,
    Call,
    Decision,
    Failure,
    Hit,
    Outcome,
    Report,
    Result,
    Settled,
    Stage,
    Usage,
    Verdict,
)
from breaker.evidence.facts import Facts
from breaker.gate import CODES, GATES, Ruling
from breaker.identity.compact import CompactIdentifier, compact_limits, wordless
from breaker.identity.compact import compact as short_form
from breaker.identity.identify import Identifier, Identity
from breaker.rules.adaptive.rule import Adaptive, keys_to_shut
from breaker.rules.base import Aftermath, Rule, View
from breaker.rules.budgets import Budgets, Fanout, Quotas
from breaker.rules.repeats import Cycle, SameError, Signature, Skeleton, span
from breaker.rules.tracks import FailureTrack, OccurrenceTrack, measured, track_counts
from breaker.secrets import mask_text, pseudonyms
from breaker.settings import Settings
from breaker.state import Account, Agent, Notice, Pending, State

QUOTED_CHARS = 80
"""How much of an id an error repeats."""


class UnknownCallError(LookupError):
    """An outcome or an approval names a call that was never guarded, or is settled already."""


class SettledAlreadyError(UnknownCallError):
    """An outcome is told a second time."""


class Engine:
    """Judges the calls of any number of agents under one configuration.

    `key` keys the digests that stand for secrets in fingerprints; engines that share state share it. A `compact`
    engine remembers identities and error texts in their short form alone, so that its memory may be written down.
    """

    def __init__(self, settings: Settings, *, key: bytes = b"", compact: bool = False) -> None:
        self.settings = settings
        self.state = State()
        self.identifier: Identifier | CompactIdentifier = Identifier(settings, key)
        self._limits = settings.limits
        self._short: Callable[[str], str] = str
        self._spell: Callable[[str], str] = str
        self._masked: Callable[[str], str] = str
        self._wordless: Callable[[str], str] = str
        if compact:
            self.identifier = CompactIdentifier(self.identifier, key)
            self._limits = compact_limits(settings.limits, key)
            self._spell = self.identifier.spell
            self._short = partial(short_form, key=key)
            self._wordless = partial(wordless, key=key)
            self._masked = partial(mask_text, pseudonym=pseudonyms(key))
            settings = structs.replace(settings, limits=self._limits)
        self._tracks = _active(FailureTrack(settings), OccurrenceTrack(settings))
        self._budgets = Budgets(settings)
        self._quotas: tuple[Rule, ...] = (Quotas(settings), Fanout(settings))
        self._repeats = _active(Signature(settings), Skeleton(settings), Cycle(settings), SameError(settings))
        self._adaptive = Adaptive(settings, key=key if compact else None)
        self._rules = {
            (counted, blockable): self._rules_for(counted, blockable)
            for counted in (False, True)
            for blockable in (False, True)
        }
        self._cycle_span = span(settings)
        self._counted: Callable[[str], bool] = lru_cache(1024)(self._is_counted)
        self._never_block = frozenset(settings.never_block)

    # -- before a call --------------------------------------------------------------------------------------

    def guard(self, call: Call, *, explain: bool = False) -> Verdict:
        """The verdict on a call that is about to run."""
        call_id = call.call_id or self.state.name_call()
        if not self.settings.enabled:
            return Verdict("allow", call_id)
        view = self._view(call)
        explained = rules = None
        if explain:
            # Apart from the identity that is judged and counted: to be explained changes nothing.
            every = self.identifier.identify(call.tool, call.arguments, all_kinds=True).fingerprints
            explained = track_counts(self._limits, view.agent, every, self._spell)
            rules = None if view.facts is None else self._spelled(self._adaptive.standing(view))
        asked = view.agent.pending.get(call_id)
        if asked is not None and asked.decision == "ask":
            if call.can_ask and (asked.turn, asked.exact) == (view.agent.turn, view.exact):
                hits = self._spelled(asked.hits)  # the client asks again: so do we
                question = messages.question(hits, self.settings)
                return Verdict("ask", call_id, hits, gate.code(hits), question, explained, rules)
            del view.agent.pending[call_id]  # nobody waits for that answer any more
        ruling = gate.rule(self._find(view), self.state, call.agent, self.settings, call.can_ask)
        decision = "allow" if self.settings.shadow else ruling.decision
        pending = self._pending(view, ruling, decision)
        self.state.open(view.agent, call_id, pending)
        if ruling.decision == "allow":
            self._admit(call.agent, view.agent, pending, call.at)
            return Verdict("allow", call_id, self._spelled(ruling.passing), fingerprints=explained, rules=rules)
        code = gate.code(ruling.blocking)
        if decision == "allow":
            self.state.would_have(view.agent, ruling.decision, code)
            self._note_denial(call.agent, ruling, call.at)
            asks = ruling.decision == "ask"
            reason = self._question(ruling) if asks else self._reason(call.agent, ruling)
            self._admit(call.agent, view.agent, pending, call.at)
        elif decision == "ask":
            reason = self._question(ruling)
        else:
            reason = self._deny(call.agent, ruling, pending, at=call.at)
            self.state.turn_away(view.agent, call_id, pending)
        would_have = ruling.decision if self.settings.shadow else None
        return Verdict(decision, call_id, self._spelled(ruling.blocking), code, reason, explained, rules, would_have)

    def approve(self, agent: str, call_id: str, outcome: Outcome) -> Verdict:
        """What the operator answered to an ask; everything but `approved` is a denial.

        Raises UnknownCallError when no such ask is open.
        """
        memory = self.state.agent(agent)
        pending = memory.pending.get(call_id)
        if pending is None or pending.decision != "ask":
            raise UnknownCallError(f"no open question about call {_quoted(call_id)} of agent {_quoted(agent)}")
        current = pending.turn == memory.turn
        if outcome == "approved":
            pending.decision = "allow"
            if current:
                self.state.exempt(memory, (hit.fingerprint for hit in pending.hits if hit.fingerprint))
                self._admit(agent, memory, pending)
            else:  # the turn that the exemption was for is over; the call runs in this one
                pending.turn = memory.turn
                self._commit_allowed(agent, memory, pending)
            return Verdict("allow", call_id)
        ruling = Ruling("deny", pending.hits, refused=True)
        if current:
            self.state.refuse(memory, (hit.fingerprint for hit in ruling.blocking if hit.fingerprint))
        reason = self._deny(agent, ruling, pending, current)
        self.state.turn_away(memory, call_id, pending)
        return Verdict("deny", call_id, self._spelled(ruling.blocking), gate.code(ruling.blocking), reason)

    # -- after a call ---------------------------------------------------------------------------------------

    def settle(self, settled: Settled, *, replied: bool = True) -> Report:
        """Take in how a call went. Unless it is `replied` to, warnings of a budget wait for the next outcome.

        Raises UnknownCallError when no call is meant by it; usage that rides along is charged all the same.
        """
        if not self.settings.enabled:
            return Report()
        agent = self.state.agent(settled.agent)
        self.state.seen(settled.agent, settled.at)
        found: Failure | None = None
        notices: list[Notice] = []
        if settled.call_id is not None or not _is_own_denial(settled.result):
            try:
                found, notices = self._settled(settled, agent)
            except SettledAlreadyError:
                raise  # and so is what rides along: it was charged then
            except UnknownCallError:
                if settled.usage is not None:
                    self.state.owe(agent, self._charge(settled.usage))
                raise
        charged = [] if settled.usage is None else self._charge(settled.usage)
        if not replied:
            self.state.owe(agent, charged)
            return Report(failure=found)
        notices += charged + agent.owed
        agent.owed = []
        return Report(self._tell(settled.agent, notices), found)

    def usage(self, usage: Usage, *, replied: bool = True) -> tuple[Advisory, ...]:
        """Charge one model request. Unless it is `replied` to, what it warns of waits for the next outcome."""
        if not self.settings.enabled:
            return ()
        notices = self._charge(usage)
        self.state.seen(usage.agent, usage.at)
        if not replied:
            self.state.owe(self.state.agents[usage.agent], notices)
            return ()
        return self._tell(usage.agent, notices)

    # -- turns and agents -----------------------------------------------------------------------------------

    def user_turn(self, agent: str, source: str = "user", at: float | None = None) -> bool:
        """A message reached the agent; only one of a person (`source` "user") resets. Says whether it did."""
        if source != "user" or not self.settings.enabled:
            return False
        self.state.user_turn(agent)
        self.state.seen(agent, at)
        return True

    def compacted(self, agent: str) -> None:
        """The agent's history was summarised."""
        if self.settings.enabled:
            self.state.forget_evidence(agent)

    def agent_started(
        self, agent: str, parent: str, kind: str, call_id: str | None = None, at: float | None = None
    ) -> None:
        """An agent was started by another; `kind` is `subagent` or `workflow`, `call_id` the call that did it."""
        if self.settings.enabled:
            self.state.start(agent, parent, kind, call_id, at)

    def agent_ended(self, agent: str) -> None:
        """An agent ended."""
        if self.settings.enabled:
            self.state.end(agent)

    # -- looking in, out and back ---------------------------------------------------------------------------

    def status(self, agent: str | None = None) -> dict[str, Any]:
        """What is remembered of one agent, or of all. Changes nothing."""
        names = list(self.state.agents) if agent is None else [agent] if agent in self.state.agents else []
        return {
            "enabled": self.settings.enabled,
            "profile": self.settings.profile,
            "agents": {name: _status(self.state.agents[name]) for name in names},
        }

    def action(self, call: Call) -> str | None:
        """The key by which the adaptive rules know a call made before, `None` where they do not look."""
        facts = self._facts(call, self.identifier.identify(call.tool, call.arguments))
        return None if facts is None else facts.strict

    def snapshot(self) -> dict[str, Any]:
        """Everything remembered, as plain versioned data."""
        return self.state.dump()

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot. ValueError when it is of another version or shape."""
        restored = State.load(snapshot)
        restored.loader, restored.journal = self.state.loader, self.state.journal
        self.state = restored

    # -- inside ---------------------------------------------------------------------------------------------

    def _is_counted(self, tool: str) -> bool:
        if self.settings.include and not _matches(tool, self.settings.include):
            return False
        return not _matches(tool, self.settings.exclude)

    def _view(self, call: Call) -> View:
        agent = self.state.agent(call.agent)
        if call.parent is not None and agent.account.parent is None:
            self.state.start(call.agent, call.parent, "subagent", at=call.at)
            agent = self.state.agent(call.agent)
        self.state.seen(call.agent, call.at)
        identity = self.identifier.identify(call.tool, call.arguments)
        bones = None
        if self.settings.skeleton_limit is not None and identity.command is not None:
            bones = skeleton.of_command(identity.command)
            bones = bones and self._short(bones)
        return View(call, identity, identity.exact, bones, agent, self.state, self._facts(call, identity))

    def _facts(self, call: Call, identity: Identity) -> Facts | None:
        if self._adaptive.active and self._counted(call.tool):
            return self._adaptive.describe(call, identity)
        return None

    def _rules_for(self, counted: bool, blockable: bool) -> tuple[Rule, ...]:
        """The rules that apply to a tool: of one that is never blocked those that its calls are counted by."""
        return (
            *(self._tracks if counted else ()),
            *((self._budgets,) if blockable else ()),
            *(self._repeats if counted and blockable else ()),
            *((self._adaptive,) if counted and self._adaptive.active else ()),
            *(self._quotas if blockable else ()),
        )

    def _find(self, view: View) -> list[Hit]:
        """What every rule that applies to this tool says: failure first, then the order of the gates."""
        counted = self._counted(view.call.tool)
        blockable = view.call.tool not in self._never_block
        return [hit for rule in self._rules[counted, blockable] for hit in rule.judge(view)]

    def _pending(self, view: View, ruling: Ruling, decision: Decision) -> Pending:
        identity = view.identity
        shell = identity.kind == "shell"
        return Pending(
            tool=view.call.tool,
            exact=view.exact,
            fingerprints=identity.fingerprints,
            decision=decision,
            turn=view.agent.turn,
            kind=identity.kind,
            reads_only=shell and identity.reads_only,
            writes_status=identity.writes_status if shell else None,
            skeleton=view.skeleton,
            counted=self._counted(view.call.tool),
            hits=ruling.blocking,
            passing=ruling.passing,
            facts=view.facts,
            step=view.call.step,
            at=view.call.at,
        )

    def _admit(self, name: str, agent: Agent, pending: Pending, at: float | None = None) -> None:
        """The call may run: note the passes it used up, then count it."""
        passes: list[Notice] = []
        for hit in pending.passing:
            escape = GATES[hit.gate].escape
            stage: Stage = "quotaWarn" if escape == "quota" else "letThrough"
            passes.append(Notice(hit.gate, stage, hit.count, hit.limit, hit.fingerprint, hit.detail))
            if escape == "quota":
                self.state.pass_quota(*gate.quota_spot(self.state, name, hit))
        self.state.let_through(agent, [gate.spot(hit) for hit in pending.passing])
        self._commit_allowed(name, agent, pending, at)
        pending.notices = (*pending.notices, *passes)

    def _commit_allowed(self, name: str, agent: Agent, pending: Pending, at: float | None = None) -> None:
        self.state.count_tool(name, at)
        if not pending.counted:
            return
        self.state.begin(name, pending)
        foreseen = (rule.foresee(agent, pending) for rule in self._tracks)
        pending.notices = tuple(notice for notice in foreseen if notice)
        self.state.commit(agent, (f for f in pending.fingerprints if f not in agent.exempt), self.settings.window)
        if self._repeats:
            self.state.ran(agent, pending, self._cycle_span)

    def _deny(self, name: str, ruling: Ruling, pending: Pending, current: bool = True, at: float | None = None) -> str:
        agent = self.state.agents[name]
        reason = self._reason(name, ruling)
        if current:
            hits = ruling.blocking
            self.state.commit(
                agent,
                (h.fingerprint for h in hits if h.gate in gate.TRACKS and h.fingerprint),
                self.settings.window,
            )
            self.state.denied(agent, [gate.spot(h) for h in hits if GATES[h.gate].escape in ("hatch", "probe")])
            if pending.facts is not None:
                for key, hit in keys_to_shut(pending.facts, hits).items():
                    self.state.shut(agent, key, hit)
        self._note_denial(name, ruling, at)
        return reason

    def _note_denial(self, name: str, ruling: Ruling, at: float | None) -> None:
        first = gate.first(ruling.blocking)
        what = messages.named(first) or first.gate
        self.state.note_denial(name, GATES[first.gate].code, what, at, shadow=self.settings.shadow)

    def _question(self, ruling: Ruling) -> str:
        return messages.question(self._spelled(ruling.blocking), self.settings)

    def _reason(self, name: str, ruling: Ruling) -> str:
        agent = self.state.agents[name]
        named = {hit.fingerprint for hit in ruling.blocking}
        quote = next((text for identities, text in reversed(agent.results) if not named.isdisjoint(identities)), None)
        budget = next((hit for hit in ruling.blocking if hit.gate in gate.BUDGETS), None)
        spenders = self._spenders(budget.gate, budget.detail) if budget else ()
        about = messages.Circumstances(spenders, quote, ruling.refused, ruling.asking)
        return messages.denial(self._spelled(ruling.blocking), self.settings, about)

    def _spelled(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """The hits with identities as the call in hand spells them, where memory holds them in their short form."""
        return tuple(
            structs.replace(hit, fingerprint=self._spell(hit.fingerprint)) if hit.fingerprint else hit for hit in hits
        )

    def _spenders(self, budget: str, owner: str | None) -> Sequence[tuple[str, int]]:
        account = self.state.agents[owner].account if owner in self.state.agents else Account()
        spent = {
            "turnBudget": account.turn_spenders,
            "familyBudget": account.family_spenders,
            "sessionBudget": {owner or "": account.session_spent},
        }[budget]
        return sorted(spent.items(), key=lambda item: (-item[1], item[0]))[:3]

    def _settled(self, settled: Settled, agent: Agent) -> tuple[Failure | None, list[Notice]]:
        """Count an outcome for the call that it belongs to, which is over then."""
        call_id = self._paired(agent, settled)
        if call_id is None:
            return self._outcome(settled, agent, self._observed(settled), guarded=False)
        pending = agent.pending[call_id]
        found: Failure | None = None
        notices: list[Notice] = []
        if pending.decision == "ask":
            self.approve(settled.agent, call_id, "rejected")
        elif pending.decision == "allow" and pending.turn == agent.turn:
            found, notices = self._outcome(settled, agent, pending)
        self.state.close(agent, call_id)
        return found, notices

    def _paired(self, agent: Agent, settled: Settled) -> str | None:
        """The call that this outcome belongs to; `None` for a call that was never guarded but is described."""
        if settled.call_id is not None:
            if settled.call_id in agent.pending:
                return settled.call_id
            if settled.call_id in agent.settled and settled.tool in (None, agent.settled[settled.call_id]):
                named = f"call {_quoted(settled.call_id)} of agent {_quoted(settled.agent)}"
                raise SettledAlreadyError(f"{named} is settled already")
        described = settled.tool is not None and settled.arguments is not UNSET
        if settled.call_id is None and settled.tool is not None:
            waiting = [
                (call_id, pending)
                for call_id, pending in agent.pending.items()
                if pending.decision == "allow" and pending.tool == settled.tool
            ]
            if waiting and described:
                exact = self.identifier.identify(settled.tool, settled.arguments).exact
                waiting.sort(key=lambda item: item[1].exact != exact)
            if waiting:
                return waiting[0][0]
        if not described:
            if not settled.call_id and not settled.tool:
                raise UnknownCallError("give the call's callId, or its tool and arguments")
            which = _quoted(settled.call_id) if settled.call_id else f"of the tool {_quoted(settled.tool or '')}"
            raise UnknownCallError(
                f"agent {_quoted(settled.agent)} has no unsettled call {which}; "
                "to report a call that was never guarded, give its tool and arguments"
            )
        return None

    def _observed(self, settled: Settled) -> Pending:
        tool = settled.tool or ""
        identity = self.identifier.identify(tool, settled.arguments)
        return Pending(
            tool=tool,
            exact=identity.exact,
            fingerprints=identity.fingerprints,
            decision="allow",
            turn=0,
            kind=identity.kind,
            reads_only=identity.reads_only,
            writes_status=identity.writes_status,
            counted=self._counted(tool),
        )

    def _outcome(
        self, settled: Settled, agent: Agent, pending: Pending, guarded: bool = True
    ) -> tuple[Failure | None, list[Notice]]:
        """Classify what came back, let the streaks know, and collect what is to be said."""
        # What the operator exempted after this call was judged escalates no more this turn.
        notices = [n for n in pending.notices if n.gate != "repeat" or n.fingerprint not in agent.exempt]
        text = text_of(settled.result)
        if _is_own_denial(settled.result):
            return None, notices
        outcome = failure.classify(pending, settled.result)
        if not pending.counted:
            return outcome.failure, notices
        self.state.remember_result(
            agent, pending.fingerprints, text[: self.settings.result_preview_chars + 1], self.settings.window
        )
        tracked = [f for f, _ in measured(self._limits, agent, pending.fingerprints)]
        if outcome.failure is not None:
            detail = outcome.failure.detail
            self.state.failed(agent, tracked, Failure(outcome.failure.reason, detail and self._masked(detail)))
            if guarded:
                self._count_error(agent, pending.tool, settled.result, text)
        elif outcome.kind == "ok":
            self.state.succeeded(agent, tracked)
            self.state.recovered(agent, pending.tool)
        rules = self._tracks
        if pending.facts is not None and self._adaptive.active:
            answer = self._adaptive.read(pending.facts, settled.result, outcome)
            self.state.witness(agent, pending, answer, settled.at)
            rules = (*rules, self._adaptive)
        after = Aftermath(settled.agent, agent, pending, outcome, self.state)
        reviewed = [notice for rule in rules if (notice := rule.review(after))]
        if any(notice.gate == "spawn" for notice in reviewed):
            self.state.warned(settled.agent, "spawn")
        return outcome.failure, [*reviewed, *notices]

    def _count_error(self, agent: Agent, tool: str, result: Result, text: str) -> None:
        if self.settings.same_error_limit is None or failure.is_transient(result, text):
            return
        bones = skeleton.of_error(text or failure.message_of(result))
        if bones is not None:
            self.state.errored(agent, tool, self._wordless(bones))

    def _charge(self, usage: Usage) -> list[Notice]:
        if not self.state.charge(usage):
            return []
        warned = self._budgets.warnings(self.state, usage.agent)
        for owner, notice in warned:
            self.state.warned(owner, notice.gate)
        return [notice for _, notice in warned]

    def _tell(self, name: str, notices: Iterable[Notice]) -> tuple[Advisory, ...]:
        """At most one advisory each of the failure track, the occurrence track, a budget, a quota, in that order.

        What there is no room for waits for the agent's next outcome.
        """
        told: dict[tuple[int, str], Notice] = {}
        kept: list[Notice] = []
        for notice in notices:
            if told.setdefault(_channel(notice), notice) is not notice:
                kept.append(notice)
        self.state.owe(self.state.agents[name], kept)
        return self._worded([told[channel] for channel in sorted(told)])

    def _worded(self, notices: Iterable[Notice]) -> tuple[Advisory, ...]:
        return tuple(
            messages.advisory(
                structs.replace(notice, fingerprint=notice.fingerprint and self._spell(notice.fingerprint)),
                self.settings,
                self._spenders(notice.gate, notice.detail) if notice.gate in gate.BUDGETS else (),
            )
            for notice in notices
        )


def _active(*rules: Rule) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule.active)


def _channel(notice: Notice) -> tuple[int, str]:
    match notice.stage:
        case "failWarn":
            return 0, ""
        case "warn" | "summarize":
            return 1, ""
        case "letThrough" if notice.gate not in gate.BUDGETS:
            return 2, notice.gate
        case "quotaWarn":
            return 4, ""
    return 3, ""


def _status(agent: Agent) -> dict[str, Any]:
    account = agent.account
    return {
        "turn": agent.turn,
        "window": {"calls": len(agent.window), "counts": dict(agent.counts)},
        "streaks": {
            fingerprint: {"count": streak.count, "reason": streak.failure.reason, "detail": streak.failure.detail}
            for fingerprint, streak in agent.streaks.items()
        },
        "exempt": sorted(agent.exempt),
        "refused": sorted(agent.refused),
        "asking": sorted(set(agent.asking)),
        "unsettled": len(agent.pending),
        "denials": dict(agent.denials),
        "wouldHave": dict(agent.would_have),
        "parent": account.parent,
        "running": list(account.children),
        "spent": {"turn": account.turn_spent, "session": account.session_spent, "family": account.family_spent},
        "requests": account.requests,
        "tools": account.tools,
    }


def _quoted(name: str) -> str:
    """A name that a client chose, as an error repeats it."""
    return repr(messages.preview(name, QUOTED_CHARS))


def _is_own_denial(result: Result) -> bool:
    if not result.is_error:
        return False
    said = text_of(result) or failure.message_of(result)
    return said.removeprefix("Error: ").startswith(tuple(CODES))


def _matches(tool: str, patterns: Iterable[str]) -> bool:
    # `*` is the only wildcard: to fnmatch `?` and `[` are some as well.
    return any(fnmatchcase(tool, pattern.replace("[", "[[]").replace("?", "[?]")) for pattern in patterns)
