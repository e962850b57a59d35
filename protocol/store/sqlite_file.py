"""A state file as a file: opening it, bringing it up to date, setting it aside, and what SQLite's errors mean."""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from protocol.store.base import AwayError, BrokenError, ForeignError, ReadOnlyError, StoreError
from protocol.store.schema import APPLICATION_ID, MIGRATIONS, VERSION

LOCK_SECONDS = 4.0
"""How long a writer waits for another one. A transaction takes a fraction of a millisecond."""

CHECKED_BYTES = 64 * 2**20
"""Files up to this size are checked as a whole when they are opened for long."""

_HEADER = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")

# By the primary code of SQLite's error. Those of neither table are faults of ours.
_AWAY = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked",
    sqlite3.SQLITE_PROTOCOL: "another process keeps it locked",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk fails",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
}
_BROKEN = {
    sqlite3.SQLITE_NOTADB: "it is no database",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_FORMAT: "it is damaged",
    sqlite3.SQLITE_ERROR: "its tables are not those of a state",
}
_READ_ONLY = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})


def refuse_foreign(path: Path) -> None:
    """Raise ForeignError for a file that begins with something, and not as a database does."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_HEADER))
    except OSError:
        return
    if begins.strip(b"\0") and not _HEADER.startswith(begins):
        raise ForeignError("it is no database")


def connect(path: Path) -> sqlite3.Connection:
    # Two threads take turns on it, under a lock of their own.
    db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA foreign_keys = ON")
    return db


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection to a file that cannot be written, or beside which nothing can be."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA schema_version")
    except sqlite3.OperationalError:  # its log cannot be read without writing: go by the file alone
        db = sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
    return db


def migrate(db: sqlite3.Connection, *, writable: bool = True) -> None:
    """Make a new file ours, and an older one of ours new."""
    if _version_at_once(db) == VERSION:
        return
    if not writable:
        raise StoreError("it is of an older version, and cannot be written to be brought forward")
    _log_ahead(db)
    db.execute("BEGIN IMMEDIATE")
    try:
        before = _version(db)
        for statements in MIGRATIONS[before:]:
            for statement in statements:
                db.execute(statement)
        if not before:
            db.execute("INSERT INTO meta VALUES ('key', ?)", (secrets.token_bytes(32),))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _version_at_once(db: sqlite3.Connection) -> int:
    """`_version`, read in one go: another process may be making the file ours at this very moment."""
    db.execute("BEGIN")
    try:
        return _version(db)
    finally:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")


def _version(db: sqlite3.Connection) -> int:
    """Which version of ours the file has; 0 for an empty file."""
    application = int(db.execute("PRAGMA application_id").fetchone()[0])
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if application == APPLICATION_ID:
        if version > VERSION:
            raise StoreError(
                f"it was written by a newer toolbreaker (version {version} of the file, {VERSION} is known)"
            )
        return version
    if application or version or db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise ForeignError("it is a database of another program")
    return 0


def _log_ahead(db: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, which the file remembers; where there can be none, do without."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:  # SQLite does not wait by itself here
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def check(db: sqlite3.Connection) -> None:
    found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise BrokenError(f"it is damaged: {str(found).splitlines()[0]}")


@contextmanager
def errors() -> Iterator[None]:
    """SQLite's errors as what they mean to whoever keeps accounts."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)  # Python's own complaints have none
        primary = -1 if code is None else code & 0xFF
        if primary in _READ_ONLY:
            raise ReadOnlyError("it cannot be written") from error
        if primary in _AWAY:
            raise AwayError(_AWAY[primary]) from error
        if primary in _BROKEN:
            raise BrokenError(_BROKEN[primary]) from error
        raise StoreError(str(error)) from error
    except OSError as error:
        raise AwayError(error.strerror or str(error)) from error


def set_aside(path: Path) -> Path:
    """Rename a file that is no state, and what SQLite keeps beside it; its new name."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"{path.name}.bad-{stamp}-{os.getpid()}")
    try:
        path.replace(aside)
    except OSError as error:
        raise AwayError(f"it is damaged and cannot be set aside: {error.strerror or error}") from error
    for suffix in _BESIDE:
        with suppress(OSError):
            Path(f"{path}{suffix}").replace(f"{aside}{suffix}")
    return aside


def make_private(path: Path) -> None:
    """Let nobody but the user read a state and what SQLite keeps beside it, where that was not so."""
    for each in (path, *(Path(f"{path}{suffix}") for suffix in _BESIDE)):
        with suppress(OSError):
            each.chmod(0o600)


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Only one process at a time sets a file aside, where the platform has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def identity(path: Path) -> tuple[int, int]:
    there = path.stat()
    return there.st_dev, there.st_ino
