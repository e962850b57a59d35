"""Accounts in a SQLite file.

Every process adds inside a transaction that holds the write lock from its beginning, so that sums are exact whoever
else writes. The log of such a transaction is with the kernel when it is committed: it outlives the process, whatever
ends it. (A power cut may take the last moments, or in a process per event the file, with it.)
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from breaker.state import MAX_CHILDREN, Account, Entry
from protocol.store.base import (
    KEPT_DENIALS,
    LARGEST,
    SHOWN_SPENDERS,
    AwayError,
    BrokenError,
    Denial,
    ForeignError,
    StoredAgent,
)
from protocol.store.sqlite_file import (
    CHECKED_BYTES,
    alone_in,
    check,
    connect,
    connect_to_read,
    errors,
    identity,
    make_private,
    migrate,
    refuse_foreign,
    set_aside,
)

DAY = 86_400.0

_DENIED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})

_ACCOUNT = """
    SELECT agent.id, parent.name, agent.kind, agent.started_by, agent.ordinal, agent.turn_spent, agent.session_spent,
           agent.family_spent, agent.requests, agent.tools
    FROM agent LEFT JOIN agent AS parent ON parent.id = agent.parent WHERE agent.name = ?
"""
_SPENDERS = (
    f"SELECT name, tokens FROM spender WHERE owner = ? AND scope = ? ORDER BY tokens DESC LIMIT {SHOWN_SPENDERS}"
)
_CHILDREN = f"SELECT name, alive FROM agent WHERE parent = ? AND running ORDER BY id DESC LIMIT {MAX_CHILDREN}"
_WORKFLOWS = "SELECT started_by, count(*) FROM agent WHERE parent = ? AND kind = 'workflow' GROUP BY started_by"
_SPEND = f"""
    INSERT INTO spender (owner, scope, name, tokens) VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, scope, name) DO UPDATE SET tokens = min(tokens + excluded.tokens, {LARGEST})
"""
_DESCENDANTS = """
    WITH RECURSIVE below (id) AS (
        SELECT id FROM agent WHERE name = ? UNION SELECT agent.id FROM agent JOIN below ON agent.parent = below.id
    ) SELECT id FROM below
"""


class SqliteStore:
    """One file. `brief` is for a process that ends after one transaction.

    Raises a StoreError when it cannot be used; a file that is broken was not touched then.
    """

    engine = "sqlite"
    near = True

    def __init__(
        self, path: Path, *, brief: bool = False, writable: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self.writable = writable
        self.place = str(path)
        self.notes: list[str] = []
        self._clock = clock
        self._seen_version = 0
        with errors():
            self._identity = identity(path)
            open_one = connect if writable else connect_to_read
            self._writer = open_one(path)
            try:
                migrate(self._writer, writable=writable)
                # A brief process is the last one on the file most times it ends, and would wait for the disk then.
                self._writer.execute(f"PRAGMA synchronous = {'OFF' if brief else 'NORMAL'}")
                if not brief and path.stat().st_size <= CHECKED_BYTES:
                    check(self._writer)
                # Readers never wait for writers, but one connection would wait for its own.
                self._reader = self._writer if brief else open_one(path)
                self.key: bytes = self._writer.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()[0]
            except BaseException:
                self._writer.close()
                raise

    # -- accounts -------------------------------------------------------------------------------------------

    def apply(self, entries: Sequence[Entry], ticket: str | None = None) -> dict[str, Account]:
        with errors(), self._transaction() as db:
            touched: dict[str, None] = {}
            for entry in entries:
                touched.update(dict.fromkeys(self._post(db, entry)))
            return _accounts(db, touched)

    def read(self, names: Iterable[str]) -> dict[str, Account]:
        with errors():
            return _accounts(self._writer, names)

    def load(self, name: str) -> Account | None:
        with errors():
            return _accounts(self._reader, [name]).get(name)

    def changed(self) -> bool:
        with errors():
            version = int(self._writer.execute("PRAGMA data_version").fetchone()[0])
        changed, self._seen_version = version != self._seen_version, version
        return changed

    def _post(self, db: sqlite3.Connection, entry: Entry) -> list[str]:
        """Carry out one entry; who had a part in it."""
        now = self._clock()
        if entry.op == "start" and entry.line:
            self._link(db, entry.agent, entry.line[0], entry.kind, entry.key)
        line = self._line(db, entry)
        ids = [number for number, _ in line]
        db.executemany("UPDATE agent SET seen = ? WHERE id = ?", [(now, number) for number in ids])
        self._signs_of_life(db, ids, entry)
        _POST[entry.op](self, db, entry, ids)
        return [name for _, name in line]

    def _charge(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        if entry.key is not None:
            digest = blake2b(entry.key.encode("utf-8", "surrogatepass"), key=self.key, digest_size=12).digest()
            if not db.execute("INSERT OR IGNORE INTO request VALUES (?, ?)", (ids[0], digest)).rowcount:
                return
        tokens = min(entry.amount, LARGEST)
        db.execute(
            f"UPDATE agent SET requests = requests + 1, session_spent = min(session_spent + ?, {LARGEST}) WHERE id = ?",
            (tokens, ids[0]),
        )
        db.execute(
            f"UPDATE agent SET turn_spent = min(turn_spent + ?, {LARGEST}) WHERE id = ?",
            (tokens, ids[-1]),
        )
        db.executemany(
            f"UPDATE agent SET family_spent = min(family_spent + ?, {LARGEST}) WHERE id = ?",
            [(tokens, number) for number in ids],
        )
        db.execute(_SPEND, (ids[-1], "turn", entry.agent, tokens))
        db.executemany(_SPEND, [(number, "family", entry.agent, tokens) for number in ids])

    def _start(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        db.execute(
            "UPDATE agent SET alive = iif(running, coalesce(?1, alive), ?1), running = 1 WHERE id = ?2",
            (entry.at, ids[0]),
        )

    def _end(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        db.execute("UPDATE agent SET running = 0 WHERE id = ?", (ids[0],))

    def _turn(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        db.execute("UPDATE agent SET turns = turns + 1, turn_spent = 0 WHERE id = ?", (ids[0],))
        db.execute("DELETE FROM spender WHERE owner = ? AND scope = 'turn'", (ids[0],))
        db.execute("DELETE FROM mark WHERE agent = ?", (ids[0],))

    def _tool(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        db.execute("UPDATE agent SET tools = tools + ? WHERE id = ?", (entry.amount, ids[0]))

    def _mark(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        db.execute("INSERT OR IGNORE INTO mark VALUES (?, ?, ?)", (ids[0], entry.op, entry.key))

    def _deny(self, db: sqlite3.Connection, entry: Entry, ids: list[int]) -> None:
        at = self._clock() if entry.at is None else entry.at
        row = db.execute(
            "INSERT INTO denial (at, agent, code, what) VALUES (?, ?, ?, ?)", (at, entry.agent, entry.key, entry.kind)
        ).lastrowid
        db.execute("DELETE FROM denial WHERE id <= ?", ((row or 0) - KEPT_DENIALS,))

    def _signs_of_life(self, db: sqlite3.Connection, ids: list[int], entry: Entry) -> None:
        """Whoever waits for an agent that lives is alive as well."""
        if entry.at is not None:
            db.executemany(
                "UPDATE agent SET alive = ? WHERE id = ? AND running", [(entry.at, number) for number in ids]
            )

    def _line(self, db: sqlite3.Connection, entry: Entry) -> list[tuple[int, str]]:
        """The agent and everybody above it, nearest first, as the file has it; what it does not know is added."""
        number, parent = self._known(db, entry.agent)
        line = [(number, entry.agent)]
        for above in entry.line:
            if parent is not None or not self._link(db, line[-1][1], above):
                break
            number, parent = self._known(db, above)
            line.append((number, above))
        seen = {number for number, _ in line}
        while parent is not None and parent not in seen:
            name, higher = db.execute("SELECT name, parent FROM agent WHERE id = ?", (parent,)).fetchone()
            line.append((parent, name))
            seen.add(parent)
            parent = higher
        return line

    def _known(self, db: sqlite3.Connection, name: str) -> tuple[int, int | None]:
        row = db.execute("SELECT id, parent FROM agent WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return int(row[0]), row[1]
        added = db.execute("INSERT INTO agent (name, seen) VALUES (?, ?)", (name, self._clock())).lastrowid
        return int(added or 0), None

    def _link(
        self, db: sqlite3.Connection, name: str, parent: str, kind: str | None = None, started_by: str | None = None
    ) -> bool:
        """Put an agent below another. One that has a parent keeps it, and a circle is not believed."""
        number, known = self._known(db, name)
        above, higher = self._known(db, parent)
        if known is not None or above == number:
            return False
        seen = {above}
        while higher is not None and higher not in seen:
            if higher == number:
                return False
            seen.add(higher)
            higher = db.execute("SELECT parent FROM agent WHERE id = ?", (higher,)).fetchone()[0]
        ordinal = 0
        if kind == "workflow":
            siblings = "SELECT count(*) FROM agent WHERE parent = ? AND kind = 'workflow' AND started_by IS ?"
            ordinal = 1 + int(db.execute(siblings, (above, started_by)).fetchone()[0])
        db.execute(
            "UPDATE agent SET parent = ?, kind = ?, started_by = ?, ordinal = ? WHERE id = ?",
            (above, kind or "subagent", started_by, ordinal, number),
        )
        return True

    # -- whole memories -------------------------------------------------------------------------------------

    def begin(self) -> None:
        with errors():
            self._writer.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        with errors():
            self._writer.execute("COMMIT")

    def rollback(self) -> None:
        with suppress(sqlite3.Error):
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def memory(self, name: str) -> bytes | None:
        return self._blob("SELECT memory FROM agent WHERE name = ?", name)

    def extra(self, name: str) -> bytes | None:
        return self._blob("SELECT extra FROM agent WHERE name = ?", name)

    def keep_extra(self, name: str, extra: bytes) -> None:
        with errors(), self._transaction() as db:
            db.execute("UPDATE agent SET extra = ? WHERE id = ?", (extra, self._known(db, name)[0]))

    def remember(self, memories: Mapping[str, bytes]) -> None:
        with errors(), self._transaction() as db:
            for name, memory in memories.items():
                number, _ = self._known(db, name)
                db.execute("UPDATE agent SET memory = ?, seen = ? WHERE id = ?", (memory, self._clock(), number))

    def count_calls(self, named: int) -> int:
        with errors(), self._transaction() as db:
            row = db.execute("SELECT value FROM meta WHERE name = 'calls'").fetchone()
            known = int(row[0]) if row else 0
            if named > known:
                db.execute("INSERT OR REPLACE INTO meta VALUES ('calls', ?)", (named,))
            return max(named, known)

    # -- for people -----------------------------------------------------------------------------------------

    def expire(self, days: float) -> int:
        now = self._clock()
        with errors(), self._transaction() as db:
            row = db.execute("SELECT value FROM meta WHERE name = 'expired'").fetchone()
            if row and abs(now - float(row[0])) < DAY:
                return 0
            db.execute("INSERT OR REPLACE INTO meta VALUES ('expired', ?)", (now,))
            # A clock that was ahead for a while must not keep agents for as long as it was wrong.
            db.execute("UPDATE agent SET seen = ? WHERE seen > ?", (now, now + DAY))
            db.execute("DELETE FROM denial WHERE at < ?", (now - days * DAY,))
            return db.execute("DELETE FROM agent WHERE seen < ?", (now - days * DAY,)).rowcount

    def agents(self) -> list[StoredAgent]:
        with errors():
            rows = self._writer.execute("SELECT name, turns, seen FROM agent ORDER BY seen DESC, id").fetchall()
            accounts = _accounts(self._writer, [row[0] for row in rows])
        return [StoredAgent(name, turns, seen, accounts[name]) for name, turns, seen in rows if name in accounts]

    def denials(self, most: int) -> list[Denial]:
        with errors():
            rows = self._writer.execute("SELECT at, agent, code, what FROM denial ORDER BY id DESC LIMIT ?", (most,))
            return [Denial(*row) for row in rows]

    def reset(self, agent: str | None = None, *, budget: bool = False) -> list[str]:
        with errors(), self._transaction() as db:
            found = (
                db.execute("SELECT id FROM agent ORDER BY id") if agent is None else db.execute(_DESCENDANTS, (agent,))
            )
            ids = found.fetchall()
            names = [db.execute("SELECT name FROM agent WHERE id = ?", each).fetchone()[0] for each in ids]
            if budget:
                db.executemany("UPDATE agent SET turn_spent = 0, session_spent = 0, family_spent = 0 WHERE id = ?", ids)
                db.executemany("DELETE FROM spender WHERE owner = ?", ids)
                db.executemany("DELETE FROM mark WHERE agent = ? AND kind = 'warn'", ids)
            else:
                db.executemany("DELETE FROM agent WHERE id = ?", ids)
                db.executemany("DELETE FROM denial WHERE agent = ?", [(name,) for name in names])
        return names

    def give_up(self) -> str:
        self.close()
        with alone_in(self.path.parent):
            try:
                there = identity(self.path)
            except OSError as error:
                return f"the file is gone: {error.strerror or error}"
            if there != self._identity:
                return "another process has set it aside"
            return f"it was set aside as {set_aside(self.path)}"

    def close(self) -> None:
        self.rollback()
        for connection in (self._reader, self._writer):
            with suppress(sqlite3.Error):
                connection.close()

    def _blob(self, query: str, name: str) -> bytes | None:
        with errors():
            row = self._writer.execute(query, (name,)).fetchone()
        return row[0] if row else None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; inside `begin` and `commit` a part of that."""
        db = self._writer
        nested = db.in_transaction
        db.execute("SAVEPOINT part" if nested else "BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("RELEASE part" if nested else "COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite undid it all by itself, as it does when the disk is full
                db.execute("ROLLBACK TO part" if nested else "ROLLBACK")
            raise


_POST: dict[str, Callable[[SqliteStore, sqlite3.Connection, Entry, list[int]], None]] = {
    "charge": SqliteStore._charge,
    "start": SqliteStore._start,
    "end": SqliteStore._end,
    "turn": SqliteStore._turn,
    "tool": SqliteStore._tool,
    "pass": SqliteStore._mark,
    "warn": SqliteStore._mark,
    "deny": SqliteStore._deny,
}


def open_file(
    path: Path, *, brief: bool = False, ours: bool = True, clock: Callable[[], float] = time.time
) -> SqliteStore:
    """The state in a file, made when there is none.

    A damaged file is set aside, and one that cannot be written is opened to be read; `notes` says so. So is a file of
    something else where the place is `ours`; elsewhere it is left alone, and that is a ForeignError.
    Raises AwayError, or StoreError for a file of a newer version.
    """

    def open_it() -> SqliteStore:
        writable = _made(path)
        if not ours:
            refuse_foreign(path)
        return SqliteStore(path, brief=brief, writable=writable, clock=clock)

    store = _unless_broken(open_it, ours=ours)
    if isinstance(store, BrokenError):
        with alone_in(path.parent):
            store = _unless_broken(open_it, ours=ours)  # another process may have been here first
            if isinstance(store, BrokenError):
                note = f"{store}; it was set aside as {set_aside(path)}, and counting starts anew"
                store = open_it()
                store.notes.append(note)
    if store.writable:
        make_private(path)
    else:
        store.notes.append("it cannot be written; counting goes on in memory")
    return store


def _unless_broken(open_it: Callable[[], SqliteStore], *, ours: bool) -> SqliteStore | BrokenError:
    """The state, or what is wrong with a file that may be set aside. Raises ForeignError for one that may not."""
    try:
        return open_it()
    except BrokenError as broken:
        if isinstance(broken, ForeignError) and not ours:
            raise
        return broken


def open_existing_file(path: Path) -> SqliteStore:
    """The state in a file that is there, whatever state it is in. Raises a StoreError and changes nothing."""
    return SqliteStore(path, writable=_can_be_written(path) and _can_be_written(path.parent))


def _made(path: Path) -> bool:
    """Make a file that only the user can read, and its directories, where there is none; whether it can be written."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made here and not by SQLite, so that nobody else can ever read it. What SQLite adds beside it is alike.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        if error.errno in _DENIED and path.is_file():
            return False
        raise AwayError(error.strerror or str(error)) from error
    if not path.is_file():
        raise AwayError("it is not a file")
    return _can_be_written(path.parent)


def _can_be_written(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _accounts(db: sqlite3.Connection, names: Iterable[str]) -> dict[str, Account]:
    found = ((name, db.execute(_ACCOUNT, (name,)).fetchone()) for name in names)
    return {name: _account(db, row) for name, row in found if row}


def _account(db: sqlite3.Connection, row: tuple[Any, ...]) -> Account:
    number, parent, kind, started_by, ordinal, turn, session, family, requests, tools = row
    marks = db.execute("SELECT kind, name FROM mark WHERE agent = ?", (number,)).fetchall()
    return Account(
        parent=parent,
        kind=kind,
        started_by=started_by,
        ordinal=ordinal,
        turn_spent=turn,
        session_spent=session,
        family_spent=family,
        requests=requests,
        tools=tools,
        turn_spenders=dict(db.execute(_SPENDERS, (number, "turn"))),
        family_spenders=dict(db.execute(_SPENDERS, (number, "family"))),
        workflows={call or "": count for call, count in db.execute(_WORKFLOWS, (number,))},
        children=dict(db.execute(_CHILDREN, (number,))),
        warned={name for mark, name in marks if mark == "warn"},
        passed={name for mark, name in marks if mark == "pass"},
    )
