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
from protocol.store.base import BrokenError, Store

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
        self._entries: list[Entry] = []
        self._loaded: dict[str, bytes] = {}

    @property
    def key(self) -> bytes | None:
        """What digests are keyed by in this state; `None` where there is none."""
        return self._store.key if self._store else None

    def status(self) -> dict[str, object]:
        """For `status`: which engine, where, and whether something is amiss."""
        store = self._store
        found: dict[str, object] = {"engine": store.engine if store else "none"}
        if store is not None:
            found["place"] = store.place
        found["degraded"] = self._problem is not None
        if self._problem is not None:
            found["problem"] = self._problem
        return found

    def judge(self, engine: Engine, answer: Callable[[], Answer]) -> Answer:
        """What `answer` returns, which asks the engine; the engine judges in compact form."""
        state = engine.state
        state.loader = self._load
        state.journal = lambda entry: self._note(engine, entry)
        self._try(lambda store: self._begin(engine, store))
        answered = answer()
        self._try(lambda store: self._keep(engine, store))
        if self._store is not None:
            self._store.close()
            self._store = None
        return answered

    def _begin(self, engine: Engine, store: Store) -> None:
        store.begin()
        store.expire(self._days)
        engine.state.calls_named = store.count_calls(0)

    def _keep(self, engine: Engine, store: Store) -> None:
        if self._entries:
            store.apply(self._entries)
        store.count_calls(engine.state.calls_named)
        memories = {name: encoded(agent) for name, agent in engine.state.agents.items()}
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

    def _note(self, engine: Engine, entry: Entry) -> None:
        self._entries.append(entry)
        if entry.op == "charge":  # the store may know the request already, and has the sums after it

            def charge(store: Store) -> None:
                for name, account in store.apply(self._entries).items():
                    engine.state.refresh(name, account)
                self._entries = []

            self._try(charge)

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
