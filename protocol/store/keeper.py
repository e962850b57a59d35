"""Between an engine, which keeps accounts in memory, and a store, which keeps them for good.

The engine's state tells the keeper of every change. What a request to the model cost is stored at once, and what
other messages changed before these are answered; what a `guard` changed is left to a thread, so that no call ever
waits for a disk or a network. The thread also fetches what other processes added.

A store that is not near is touched by the thread alone. Whoever wants something stored there waits for the thread,
and no longer than `PATIENCE_SECONDS`: messages are answered in order, and a tool call may come next.

Whatever the store does, the judgement goes on from memory. While the store is away, changes queue; one that is
broken is given up.

One lock guards the store. Accounts in memory are changed by the engine's thread alone: what the other one was told
by the store waits in a box, in the order in which the store gave it out.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec import Struct

from breaker.engine import Engine
from breaker.identity.compact import compact
from breaker.state import Account, Agent, Entry
from protocol.store.base import AwayError, BrokenError, ReadOnlyError, Store, described

Log = Callable[[str], None]

PATIENCE_SECONDS = 0.035
"""How long a message waits for a server. A call that was sent right behind it shall not feel it (50 ms)."""

GATHER_SECONDS = 0.005
FAR_GATHER_SECONDS = 0.02
"""How long the thread lets changes gather, so that a burst of calls is written at once. A round trip costs more."""

MAX_QUEUED = 65_536
"""Changes that wait for a store that is away. After that the oldest are lost, and `status` says how many."""

MAX_BATCH = 1_000
MAX_FAR_BATCH = 100
"""Entries of one transaction, so that none keeps others waiting for long. A server does one after the other, for all
machines, some milliseconds each."""

ACTIVE_SECONDS = 600.0
MAX_ACTIVE = 512
"""Agents whose accounts are fetched again and again: those heard of in the last minutes."""

_AT_ONCE = frozenset({"turn", "start", "end", "warn"})


class Batch(Struct, frozen=True):
    """Entries that are stored together, once, under a ticket; `last` is the number of the last of them."""

    ticket: str
    last: int
    entries: list[Entry]


class Told(Struct, frozen=True):
    """What the store said once everything up to entry `last` was in it. `None`: it knows no such agent."""

    last: int
    accounts: dict[str, Account | None]


class _Unstored:
    """Changes that the store is not known to have: which agents they are of, ancestors included, by their numbers."""

    def __init__(self) -> None:
        self._changes: deque[tuple[int, tuple[str, ...]]] = deque()
        self._changes_of: Counter[str] = Counter()

    def add(self, number: int, entry: Entry) -> None:
        names = (entry.agent, *entry.line)
        self._changes.append((number, names))
        self._changes_of.update(names)
        if len(self._changes) > 2 * MAX_QUEUED:
            self._forget()

    def drop(self, last: int) -> None:
        """Forget the changes up to this number."""
        while self._changes and self._changes[0][0] <= last:
            self._forget()

    def __contains__(self, name: str) -> bool:
        return name in self._changes_of

    def _forget(self) -> None:
        for name in self._changes.popleft()[1]:
            self._changes_of[name] -= 1
            if not self._changes_of[name]:
                del self._changes_of[name]


class Keeper:
    """Keeps the accounts of one engine at a time in a store. Without a store it does nothing.

    No method raises. `log` takes one line for people, once for each thing that goes wrong. `problem` is what went
    wrong when the store was opened.
    """

    def __init__(
        self,
        store: Store | None,
        *,
        log: Log,
        problem: str | None = None,
        days: float = 30.0,
    ) -> None:
        self._store = store
        self._log = log
        self._lasting = problem
        self._problem = problem
        self._days = days
        self._refresh_seconds = 2.0
        self._engine: Engine | None = None
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._moved = threading.Event()
        self._over = threading.Event()
        # written by the engine's thread
        self._number = 0
        self._due = False
        self._overflowed = 0
        self._unstored = _Unstored()
        self._active: dict[str, float] = {}
        # handed over
        self._wanted: deque[str] = deque(maxlen=MAX_ACTIVE)
        self._late = False
        self._outbox: deque[tuple[int, Entry]] = deque()
        self._inbox: deque[Told] = deque()
        # under the lock
        self._ticket = f"{time.time_ns():x}"
        self._stuck: Batch | None = None
        self._away = False
        self._writes = store is not None and store.writable
        self._dropped = 0
        self._faulted = False
        self._fetched = time.monotonic()
        self._heeded = len(store.notes) if store else 0
        # written by the other thread
        self._reached = 0
        self._begun = 0
        self._ended = 0

    # -- the engine's thread --------------------------------------------------------------------------------

    @property
    def key(self) -> bytes | None:
        """What digests are keyed by in this state; `None` where there is none."""
        return self._store.key if self._store else None

    def attach(self, engine: Engine) -> None:
        """From now on keep this engine's accounts. They are empty, or came from here."""
        self._engine = engine
        self._refresh_seconds = engine.settings.state_refresh_seconds
        self._active = {}
        if self._store is not None:
            engine.state.loader = self._load
            engine.state.journal = self._note
            self._awaken()

    def before(self) -> None:
        """A message is about to be handled: take in what was fetched."""
        if self._inbox:
            self._take_in()

    def after(self, *, waits: bool) -> None:
        """A message was handled. Unless a tool call `waits` for the answer, what it changed is stored now."""
        if self._due and not waits:
            self._store_now()

    def recall(self, agent: str | None) -> None:
        """Load an agent that somebody wants to look at, if it was stored. No call waits for that."""
        if agent is None or self._engine is None or agent in self._engine.state.agents:
            return
        if self._store is not None and not self._store.near:
            self._wanted.append(agent)
            goal = self._begun + 1  # a round that begins from now on asks for it
            self._wait(lambda: self._ended >= goal)
            self._take_in()
            return
        with self._lock:
            try:
                account = self._store.load(agent) if self._store and not self._away else None
            except Exception as error:
                self._failed(error)
                return
        if account is not None:
            self._engine.state.agents[agent] = Agent(account=account)

    def status(self) -> dict[str, object]:
        """For `status`: which engine, where, and whether something is amiss."""
        found = described(self._store, self._problem)
        if self._store is not None:
            found["queued"] = self._queued()
        if dropped := self._dropped + self._overflowed:
            found["dropped"] = dropped
        return found

    def close(self) -> None:
        """Store what is left, and let go."""
        self._over.set()
        self._hurry.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            self._store_all()
            if self._store is not None:
                if lost := self._queued():
                    self._log(f"the state in {self._store.place}: changes that could not be kept to the end: {lost}")
                self._store.close()
                self._store = None

    def _load(self, name: str) -> Agent | None:
        """What the store knows of an agent that is new in memory, where asking costs no network."""
        store = self._store
        if store is None:
            return None
        self._hear_of(name)
        if not store.near:
            self._wanted.append(name)
            self._awaken()
            return None
        if name in self._unstored:
            self._store_now()  # memory forgot it before it was stored
        try:
            account = store.load(name)
        except Exception as error:
            self._failed(error)
            return None
        return None if account is None else Agent(account=account)

    def _note(self, entry: Entry) -> None:
        """An account changed in memory. When this returns, it may have been refreshed."""
        store = self._store
        if store is None or not self._writes:
            return
        if entry.op == "deny":
            entry = msgspec.structs.replace(entry, kind=compact(entry.kind or "", store.key))
        self._number += 1
        self._unstored.add(self._number, entry)
        self._outbox.append((self._number, entry))
        if len(self._outbox) > MAX_QUEUED:
            with suppress(IndexError):  # the other thread took them meanwhile
                self._outbox.popleft()
                self._overflowed += 1
        self._hear_of(entry.agent)
        if entry.op == "charge":
            self._store_now()
        else:
            self._due = self._due or entry.op in _AT_ONCE
            self._awaken()

    def _hear_of(self, name: str) -> None:
        self._active.pop(name, None)
        self._active[name] = time.monotonic()
        if len(self._active) > MAX_ACTIVE:
            del self._active[next(iter(self._active))]

    def _store_now(self) -> None:
        self._due = False
        if self._away:  # the thread tries again, in its own time
            self._awaken()
            return
        if self._store is not None and not self._store.near:
            number = self._number
            self._late = not self._wait(lambda: self._reached >= number or self._store is None or not self._writes)
        else:
            with self._lock:
                self._store_all()
        self._take_in()

    def _wait(self, done: Callable[[], bool]) -> bool:
        """Let the other thread go on at once, and wait for it in bounds. Once it was late nobody waits for it until
        it heard from the store again, or many messages in a row would wait."""
        self._hurry.set()
        self._awaken()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (self._away or self._late):
            self._moved.clear()
            if done() or self._away:
                return True
            left = deadline - time.monotonic()
            if left <= 0 or not self._moved.wait(left):
                return done()
        return not self._late

    def _take_in(self) -> None:
        """Believe what the store said, but of accounts that changed here since."""
        while self._inbox:
            told = self._inbox.popleft()
            self._unstored.drop(told.last if self._writes else self._number)
            if self._engine is None:
                continue
            for name, account in told.accounts.items():
                if name in self._unstored:
                    continue
                if account is None:
                    self._engine.state.forget(name)
                else:
                    self._engine.state.refresh(name, account)

    def _awaken(self) -> None:
        if self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._run, name="toolbreaker-state", daemon=True)
            self._thread.start()
        if not self._wake.is_set():  # which costs much less than to set it
            self._wake.set()

    # -- the other thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        tried = 0.0
        gather = GATHER_SECONDS if self._store and self._store.near else FAR_GATHER_SECONDS
        self._expire()
        while not self._over.is_set():
            self._wake.wait(self._refresh_seconds)
            self._wake.clear()
            self._hurry.wait(gather)
            self._hurry.clear()
            now = time.monotonic()
            if self._away and now - tried < self._refresh_seconds:
                continue
            tried = now
            self._begun += 1
            with self._lock:
                if self._store_all():
                    self._fetch_due(now)
            self._ended = self._begun
            self._late = False
            self._moved.set()

    def _expire(self) -> None:
        with self._lock:
            try:
                if self._store is not None and self._writes:
                    self._store.expire(self._days)
            except Exception as error:
                self._failed(error)

    # -- either, with the lock ------------------------------------------------------------------------------

    def _store_all(self) -> bool:
        """Store all that waits, in order; whether the store can be used."""
        while self._store is not None and self._writes and (batch := self._stuck or self._gathered()):
            self._stuck = batch
            try:
                accounts: dict[str, Account | None] = {**self._store.apply(batch.entries, batch.ticket)}
            except AwayError as error:
                self._failed(error)
                return False
            except Exception as error:
                # These entries will never be taken. What comes after them may be.
                self._dropped += len(batch.entries)
                accounts = {}
                self._failed(error)
            else:
                self._came_back()
            self._inbox.append(Told(batch.last, accounts))
            self._stuck = None
            self._reached = batch.last
            self._late = False
            self._moved.set()
        return self._store is not None and self._writes

    def _queued(self) -> int:
        stuck = self._stuck
        return len(self._outbox) + (len(stuck.entries) if stuck else 0)

    def _gathered(self) -> Batch | None:
        most = MAX_BATCH if self._store and self._store.near else MAX_FAR_BATCH
        taken: list[tuple[int, Entry]] = []
        with suppress(IndexError):  # when it is empty; the engine's thread drops the oldest of too many
            while len(taken) < most:
                taken.append(self._outbox.popleft())
        if not taken:
            return None
        last = taken[-1][0]
        return Batch(f"{self._ticket}-{last}", last, _merged([entry for _, entry in taken]))

    def _fetch_due(self, now: float) -> None:
        """Ask for the accounts of agents that are new here; now and then for those of all that are active."""
        store = self._store
        if store is None:
            return
        names = {self._wanted.popleft() for _ in range(len(self._wanted))}
        try:
            if now - self._fetched >= self._refresh_seconds:
                self._fetched = now
                active = [name for name, heard in list(self._active.items()) if now - heard < ACTIVE_SECONDS]
                if active and (self._away or store.changed()):  # away: an answer says that it is back
                    names |= set(active)
            if names:
                self._inbox.append(Told(0, _with_ancestors(store, names)))
                self._came_back()
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Something went wrong: say so, and see that the judgement can go on without."""
        with self._lock:
            store = self._store
            if store is None:
                return
            if isinstance(error, AwayError):
                if not self._away:
                    self._away = True
                    self._say(f"{error}; counting goes on in memory until it can be used again", store)
            elif isinstance(error, BrokenError):
                self._store = None
                self._lasting = self._say(f"{error}; {store.give_up()}; counting goes on in memory", store)
            elif isinstance(error, ReadOnlyError):
                # What it holds is loaded, once for each agent; what is counted here is not in it.
                self._writes = False
                self._outbox.clear()
                self._lasting = self._say(f"{error}; counting goes on in memory", store)
            elif not self._faulted:
                self._faulted = True
                self._lasting = self._say(f"a change could not be kept: {type(error).__name__}: {error}", store)

    def _came_back(self) -> None:
        """The store answered: it may have been away, and have noticed something since."""
        store = self._store
        if store is None:
            return
        if self._away:
            self._away = False
            self._problem = self._lasting
            self._log(f"the state in {store.place} can be used again; what was counted meanwhile is kept")
        for note in store.notes[self._heeded :]:
            self._lasting = self._say(note, store)
        self._heeded = len(store.notes)

    def _say(self, what: str, store: Store) -> str:
        self._problem = f"the state in {store.place}: {what}"
        self._log(self._problem)
        return self._problem


def _merged(entries: list[Entry]) -> list[Entry]:
    """The same with fewer entries: tool calls of one agent in a row are one entry, with the last sign of life."""
    merged: list[Entry] = []
    for entry in entries:
        last = merged[-1] if merged else None
        if last and entry.op == last.op == "tool" and (entry.agent, entry.line) == (last.agent, last.line):
            amount = last.amount + entry.amount
            merged[-1] = msgspec.structs.replace(entry, amount=amount, at=last.at if entry.at is None else entry.at)
        else:
            merged.append(entry)
    return merged


def _with_ancestors(store: Store, names: set[str]) -> dict[str, Account | None]:
    accounts: dict[str, Account | None] = {}
    while names:
        found = store.read(names)
        accounts |= {name: found.get(name) for name in names}
        names = {account.parent for account in found.values() if account.parent} - accounts.keys()
    return accounts
