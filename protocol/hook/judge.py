"""An event of a client put to the engine, and the engine's word in the client's form.

What the engine remembers and what is remembered of the session come from the state file and go back to it, in one
transaction: events that come at once are judged one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from breaker.engine import Engine, UnknownCallError
from breaker.events import Advisory, Call, Settled
from breaker.json_text import encode_sorted
from protocol.hook.harness import MAX_FILES, MAX_OPEN, Event, FileNotes, Harness, Kind, News, Notes, OpenCall
from protocol.hook.transcript import new_rows, size
from protocol.store.base import Store, StoreError
from protocol.store.once import Once

Answer = dict[str, Any] | None


def judge(
    harness: Harness,
    event: Event,
    engine: Engine,
    once: Once,
    store: Store | None,
    *,
    environ: Mapping[str, str],
    now: float,
) -> Answer:
    """What to print, or nothing. `once` keeps the engine's memory in `store`; `now` is seconds since the epoch."""
    kind = harness.KINDS[event["hook_event_name"]]
    agent, parent = harness.agent(event)
    if not agent:
        return None
    once.attach(engine)
    if kind == "call":
        tool, arguments, _ = harness.call(event)
        if not tool:
            return None
        # The slow part, while others may still write; the engine remembers what it found.
        engine.identifier.identify(tool, arguments)

    def answer() -> Answer:
        notes = _recalled(store, parent or agent)
        before = msgspec.msgpack.encode(notes)
        told = _Judging(harness, event, engine, notes, agent, parent, environ, now).of(kind)
        if msgspec.msgpack.encode(notes) != before:
            _keep(store, parent or agent, notes)
        return told

    return once.judge(answer)


class _Judging:
    """One event, while the state is ours."""

    def __init__(
        self,
        harness: Harness,
        event: Event,
        engine: Engine,
        notes: Notes,
        agent: str,
        parent: str | None,
        environ: Mapping[str, str],
        now: float,
    ) -> None:
        self.harness = harness
        self.event = event
        self.engine = engine
        self.notes = notes
        self.agent = agent
        self.parent = parent
        self.environ = environ
        self.now = now

    def of(self, kind: Kind) -> Answer:
        step = self._follow(kind)
        match kind:
            case "call":
                return self._call(step)
            case "result":
                return self._result()
            case "prompt":
                self._prompt()
            case "stop":
                self._dismiss()
            case "started":
                self._started()
            case "ended":
                self._dismiss()
                self.engine.agent_ended(self.agent)
            case "compacted":
                self.engine.compacted(self.agent)
        return None

    def _follow(self, kind: Kind) -> str:
        """Charge what the model was asked since, and name the response that the agent is in.

        What stood in a file before the session was known belongs to another turn, and was paid for then.
        """
        files, news, step = self.notes.files, News(), ""
        for path, own in self.harness.transcripts(self.event):
            known = files.pop(path, None)
            if known is None:
                known = FileNotes(0 if own and kind != "prompt" else size(path))
            rows, known.offset = new_rows(path, known.offset)
            for row in rows:
                self.harness.row(row, self.agent, known, news)
            if kind != "ended":
                files[path] = known
            step = step or known.step
        for usage in news.usages:
            self.engine.usage(msgspec.structs.replace(usage, at=self.now), replied=False)
        if news.compacted:
            self.engine.compacted(self.agent)
        while len(files) > MAX_FILES:
            del files[next(iter(files))]
        return step

    def _call(self, step: str) -> Answer:
        tool, arguments, call_id = self.harness.call(self.event)
        if step:
            self._dismiss(step)
        if not call_id:
            call_id = self._open(tool, arguments)
        verdict = self.engine.guard(
            Call(
                self.agent,
                tool,
                arguments,
                call_id,
                self.parent,
                step=step or None,
                at=self.now,
                can_ask=self.harness.can_ask(self.event, self.environ),
            )
        )
        if verdict.decision == "allow" or verdict.reason is None:
            return None
        if verdict.decision == "ask":
            self.notes.asked[call_id] = step
            return self.harness.ask(self.event, verdict.reason)
        self.notes.open = [call for call in self.notes.open if call.call_id != call_id]
        return self.harness.deny(self.event, verdict.reason)

    def _result(self) -> Answer:
        """The outcome of a call about which a person was asked says what they answered."""
        tool, arguments, call_id = self.harness.call(self.event)
        call_id = call_id or self._close(tool, arguments)
        pending = self.engine.state.agent(self.agent).pending.get(call_id)
        if pending is not None and pending.decision == "ask":
            self.engine.approve(self.agent, call_id, "approved")
        self.notes.asked.pop(call_id, None)
        settled = Settled(self.agent, self.harness.result(self.event), call_id or None, tool, arguments, self.now)
        try:
            report = self.engine.settle(settled)
        except UnknownCallError:
            return None
        return self.harness.tell(self.event, _joined(report.advisories)) if report.advisories else None

    def _prompt(self) -> None:
        if self.parent is not None:  # a subagent's prompt comes from the agent that started it
            self._started()
            return
        if not self.harness.by_person(self.event):
            return
        self._dismiss()
        self.notes.open = []
        self.engine.user_turn(self.agent, at=self.now)

    def _started(self) -> None:
        if self.parent is not None:
            self.engine.agent_started(self.agent, self.parent, "subagent", at=self.now)

    def _dismiss(self, step: str | None = None) -> None:
        """Questions that got no outcome were declined: all of them, or those of earlier model responses."""
        for call_id, pending in list(self.engine.state.agent(self.agent).pending.items()):
            if pending.decision != "ask":
                continue
            asked = self.notes.asked.get(call_id, "")
            if step is None or (asked and asked != step):
                self.engine.approve(self.agent, call_id, "rejected")
                self.notes.asked.pop(call_id, None)

    def _open(self, tool: str, arguments: Any) -> str:
        self.notes.made += 1
        call_id = f"hook-{self.notes.made}"
        self.notes.open.append(OpenCall(call_id, tool, _digest(arguments)))
        del self.notes.open[:-MAX_OPEN]
        return call_id

    def _close(self, tool: str, arguments: Any) -> str:
        """The oldest open call with this tool and these arguments, else with this tool; "" when there is none."""
        digest = _digest(arguments)
        waiting = [call for call in self.notes.open if call.tool == tool]
        waiting.sort(key=lambda call: call.digest != digest)
        if not waiting:
            return ""
        self.notes.open.remove(waiting[0])
        return waiting[0].call_id


def _joined(advisories: tuple[Advisory, ...]) -> str:
    return "\n\n".join(advisory.text for advisory in advisories)


def _digest(arguments: Any) -> bytes:
    return blake2b(encode_sorted(arguments), digest_size=8).digest()


def _recalled(store: Store | None, session: str) -> Notes:
    try:
        stored = store.extra(session) if store else None
        return msgspec.msgpack.decode(stored, type=Notes) if stored else Notes()
    except (StoreError, msgspec.MsgspecError):
        return Notes()


def _keep(store: Store | None, session: str, notes: Notes) -> None:
    try:
        if store:
            store.keep_extra(session, msgspec.msgpack.encode(notes))
    except StoreError:
        pass  # whoever keeps the engine's memory says so
