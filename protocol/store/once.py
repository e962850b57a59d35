"""One event in a process of its own: everything an agent remembers is loaded, and kept when the event is over.

The store lets one process at a time do so. Events that come at once are judged one after the other, and each sees
what the ones before it left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from breaker.engine import Engine
from breaker.state import VERSION, Agent, Entry
from protocol.store.base import BrokenError, Store, described

Log = Callable[[str], None]
Answer = TypeVar("Answer")


class Once:
    """Keeps the memory of one engine for one event. Without a store it does nothing.

    No method raises. `log` takes one line for people when something goes wrong, which costs no more than memory: the
    event is judged all the same.
    """

    def __init__(self, store: Store | None, *, log: Log, problem: str | None = None, days: float = 30.0) -> None:
        self._store = store
        self._log = log
        self._problem = problem
        self._days = days
        self._engine: Engine | None = None
        self._entries: list[Entry] = []
        self._loaded: dict[str, bytes] = {}

    @property
    def key(self) -> bytes | None:
        """What digests are keyed by in this state; `None` where there is none."""
        return self._store.key if self._store else None

    def status(self) -> dict[str, object]:
        """For `status`: which engine, where, and whether something is amiss."""
        return described(self._store, self._problem)

    def attach(self, engine: Engine) -> None:
        """The engine that will be asked, which must be a compact one."""
        self._engine = engine
        if self._store is not None:
            engine.state.loader = self._load
            engine.state.journal = self._note

    def before(self) -> None:
        """Nothing: no other process may change anything before the event is over."""

    def after(self, *, waits: bool) -> None:
        """Nothing: all is kept when the event is over."""

    def recall(self, agent: str | None) -> None:
        """Load an agent that somebody wants to look at, or all."""

        def load(store: Store) -> None:
            if self._engine is not None:
                known = [stored.name for stored in store.agents()]
                for name in reversed(known) if agent is None else {agent}.intersection(known):
                    self._engine.state.agent(name)

        self._try(load)

    def judge(self, answer: Callable[[], Answer]) -> Answer:
        """What `answer` returns, which asks the engine. What happened is kept when this returns."""
        writes = self._store is not None and self._store.writable
        if writes:
            self._try(self._begin)
        answered = answer()
        if writes:
            self._try(self._keep)
        self.close()
        return answered

    def close(self) -> None:
        """Let go of the store; there is no further event."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _begin(self, store: Store) -> None:
        store.begin()
        store.expire(self._days)
        if self._engine is not None:
            self._engine.state.calls_named = store.count_calls(0)

    def _keep(self, store: Store) -> None:
        if self._entries:
            store.apply(self._entries)
        if self._engine is not None:
            state = self._engine.state
            store.count_calls(state.calls_named)
            memories = {name: encoded(agent) for name, agent in state.agents.items()}
            store.remember({name: memory for name, memory in memories.items() if self._loaded.get(name) != memory})
        store.commit()

    def _load(self, name: str) -> Agent | None:
        agent: Agent | None = None

        def load(store: Store) -> None:
            nonlocal agent
            account = store.load(name)
            if account is None:
                return
            memory = store.memory(name)
            if memory is not None:
                self._loaded[name] = memory
            agent = decoded(memory)
            agent.account = account

        self._try(load)
        return agent

    def _note(self, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.op == "charge" and self._store is not None and self._store.writable:
            self._try(self._charge)

    def _charge(self, store: Store) -> None:
        """The store may know the request already: what it says is what was spent."""
        accounts = store.apply(self._entries)
        self._entries = []
        for name, account in accounts.items():
            if self._engine is not None:
                self._engine.state.refresh(name, account)

    def _try(self, do: Callable[[Store], None]) -> None:
        store = self._store
        if store is None:
            return
        try:
            do(store)
        except Exception as error:
            self._store = None
            store.rollback()
            if isinstance(error, BrokenError):
                what = f"{error}; {store.give_up()}"
            else:
                store.close()
                what = str(error)
            self._problem = f"the state in {store.place}: {what}; this event leaves nothing in it"
            self._log(self._problem)


def encoded(agent: Agent) -> bytes:
    """An agent's memory without its account, which is kept apart, and without what tools gave back."""
    kept = msgspec.structs.replace(agent, account=type(agent.account)(), results=[])
    return VERSION.to_bytes(2, "big") + msgspec.msgpack.encode(kept)


def decoded(memory: bytes | None) -> Agent:
    """The memory that was encoded; an empty one where there is none, or one of another version."""
    if memory is None or memory[:2] != VERSION.to_bytes(2, "big"):
        return Agent()
    try:
        return msgspec.msgpack.decode(memory[2:], type=Agent)
    except msgspec.MsgspecError:
        return Agent()
