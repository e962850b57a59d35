"""A state that cannot be used: one clear line, a damaged file set aside, a foreign one left alone, judging goes on."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from keeping import Process
from support import Server, message, run, until

from breaker.state import Entry
from protocol.store import sqlite
from protocol.store.base import AwayError, ForeignError, ReadOnlyError
from protocol.store.opening import open_existing, open_store
from protocol.store.sqlite import open_file


def filled(path: Path) -> bytes:
    """A good state of some pages, and nothing beside it."""
    store = open_file(path)
    store.apply([Entry("charge", f"agent {number}", 1, f"r{number}") for number in range(500)])
    store.close()
    return path.read_bytes()


def of_another_program(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE recipes (name TEXT)")
    db.execute("INSERT INTO recipes VALUES ('soup')")
    db.commit()
    db.close()


def a_page_overwritten(path: Path) -> None:
    data = bytearray(filled(path))
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def without_tables(path: Path) -> None:
    filled(path)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA foreign_keys = OFF; DROP TABLE agent; DROP TABLE meta")
    db.close()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "bytes of something": lambda path: path.write_bytes(b"\x7fELF" + os.urandom(10_000)),
    "a text": lambda path: path.write_text("notes for tomorrow\n" * 100),
    "a few letters": lambda path: path.write_text("{}"),
    "another program's database": of_another_program,
}
BAD: dict[str, Callable[[Path], object]] = {
    "nothing but zeros": lambda path: path.write_bytes(bytes(10_000)),
    "a header cut short": lambda path: path.write_bytes(filled(path)[:60]),
    "truncated": lambda path: path.write_bytes(filled(path)[:-9000]),
    "all but one page overwritten": a_page_overwritten,
    "tables that are gone": without_tables,
}


def guard_works(server: Server) -> bool:
    return bool(server.call("guard", tool="read", arguments={"path": "/x"})["decision"] == "allow")


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("mode", [[], ["--once"]], ids=["serving", "once"])
def test_a_bad_file_is_set_aside(kind: str, mode: list[str], tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    BAD[kind](path)
    before = path.read_bytes()
    ended = run("serve", *mode, "--state", str(path), data=message("usage", {"inputTokens": 5}))
    assert ended.returncode == 0
    assert b'"advisories":[]' in ended.stdout
    (line,) = ended.stderr.decode().splitlines()
    assert str(path) in line
    assert "set aside" in line
    (aside,) = tmp_path.glob("*.bad-*")
    assert str(aside) in line
    assert aside.read_bytes() == before
    # the next process finds a good one
    again = run("serve", *mode, "--state", str(path), data=message("usage", {"inputTokens": 5}))
    assert (again.returncode, again.stderr) == (0, b"")
    store = open_file(path)
    assert store.read(["main"])["main"].session_spent in (5, 10)  # the first event may have come too late for it
    store.close()


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("mode", [[], ["--once"]], ids=["serving", "once"])
def test_a_file_of_something_else_is_refused_and_left_as_it_is(kind: str, mode: list[str], tmp_path: Path) -> None:
    path = tmp_path / "precious"
    FOREIGN[kind](path)
    path.chmod(0o644)
    before = path.read_bytes()
    ended = run("serve", *mode, "--state", str(path), data=message("usage", {"inputTokens": 5}))
    assert (ended.returncode, ended.stdout) == (2, b"")
    (line,) = ended.stderr.decode().splitlines()
    assert str(path) in line
    assert "it was left as it is" in line
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_something_else_that_takes_the_place_of_a_damaged_one_is_left_as_it_is(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "precious"
    a_page_overwritten(path)

    @contextmanager
    def alone_after_somebody_else(_directory: Path) -> Iterator[None]:
        path.unlink()
        FOREIGN[kind](path)
        yield

    monkeypatch.setattr(sqlite, "alone_in", alone_after_somebody_else)
    with pytest.raises(ForeignError):
        open_file(path, ours=False)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_stands_where_only_states_are_kept_is_set_aside(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "toolbreaker" / "default.sqlite"
    path.parent.mkdir()
    FOREIGN[kind](path)
    ended = run("serve", "--state", "auto", data=message("usage", {"inputTokens": 5}), XDG_STATE_HOME=str(tmp_path))
    assert ended.returncode == 0
    assert b"set aside" in ended.stderr


@pytest.mark.parametrize("kind", ["nothing but zeros", "truncated"])
def test_status_says_that_counting_started_anew(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    BAD[kind](path)
    with Server("--state", str(path)) as server:
        assert guard_works(server)
        state = server.call("status")["state"]
        assert state["degraded"] is True
        assert "set aside" in state["problem"]
        server.call("usage", inputTokens=7)
        assert server.close() == 0
    store = open_file(path)
    assert store.read(["main"])["main"].session_spent == 7
    store.close()


def test_a_file_that_is_damaged_while_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    filled(path)
    store = open_file(path)
    process = Process(store, maxTokens=100)
    process.use("main", 60)
    path.write_bytes(os.urandom(path.stat().st_size))
    Path(f"{path}-wal").write_bytes(b"")
    store._writer.execute("PRAGMA shrink_memory")  # or it would not look at the file for long
    for _ in range(3):
        process.use("main", 20)
    assert process.account("main").session_spent == 120  # what was spent is known still
    (line,) = process.logged
    (aside,) = tmp_path.glob("*.bad-*[0-9]")
    assert str(aside) in line
    status = process.keeper.status()
    assert (status["engine"], status["degraded"]) == ("none", True)
    assert open_store(str(path))[1] is None


def test_a_directory_in_its_place(tmp_path: Path) -> None:
    ended = run("serve", "--state", str(tmp_path), data=message("guard", {"tool": "x", "arguments": {}}))
    assert b'"allow"' in ended.stdout
    assert b"Is a directory" in ended.stderr


def test_a_place_where_nothing_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "below" / "state.sqlite"
    with Server("--state", str(path)) as server:
        assert guard_works(server)
        state = server.call("status")["state"]
        assert (state["engine"], state["degraded"]) == ("none", True)
        assert str(path) in server.stderr()


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "state.sqlite"
    ended = run("serve", "--state", str(path), data=message("usage", {"inputTokens": 5}))
    assert ended.stderr == b""
    assert path.exists()


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anything: be somebody else for a moment."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A directory that nobody may write to, and everybody look into."""
    import shutil
    import tempfile

    directory = Path(tempfile.mkdtemp())
    yield directory
    directory.chmod(0o755)
    shutil.rmtree(directory)


def test_a_file_that_cannot_be_written_is_read(open_to_all: Path) -> None:
    path = open_to_all / "state.sqlite"
    store = open_file(path)
    store.apply([Entry("charge", "main", 90)])
    store.close()
    path.chmod(0o444)
    open_to_all.chmod(0o555)
    with as_nobody():
        found, problem = open_store(str(path))
        process = Process(found, maxTokens=100, problem=problem)
        process.use("main", 5)
        process.use("main", 5)
        assert process.keeper.status()["degraded"] is True
        assert process.account("main").session_spent == 100
        (line,) = [*process.logged, *filter(None, [problem])]
        assert "cannot be written" in line
        process.keeper.close()
        looked_into = open_existing(str(path))
        assert looked_into is not None
        assert [agent.name for agent in looked_into.agents()] == ["main"]
        with pytest.raises(ReadOnlyError):
            looked_into.reset()
        looked_into.close()


def limited(server: Server, size: int) -> None:
    """No file of this process may grow beyond that."""
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk_loses_nothing_that_can_be_written_later(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    spent = 0
    with Server("--state", str(path), "--session-max-tokens", "100000") as server:
        server.call("usage", inputTokens=10)
        limited(server, 4096)
        for number in range(1, 40):
            server.call("usage", inputTokens=number, requestId=f"r{number}")
            spent += number
        state = server.call("status", agent="main")
        assert state["state"]["degraded"] is True
        assert state["agents"]["main"]["spent"]["session"] == 10 + spent
        assert guard_works(server)
        limited(server, resource.RLIM_INFINITY)
        until(lambda: server.call("status")["state"]["degraded"] is False, "the disk was used again")
        server.call("usage", inputTokens=1)
        assert server.close() == 0
        away, back = server.stderr().splitlines()
    assert str(path) in away
    assert "again" in back
    store = open_file(path)
    assert store.read(["main"])["main"].session_spent == 10 + spent + 1
    store.close()


def mount(directory: Path, size: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount(disk, "256k"):
        pytest.skip("no file system can be mounted here")
    try:
        with Server("--state", str(disk / "state.sqlite")) as server:
            for number in range(200):
                server.call("usage", agent=f"agent {number}", inputTokens=1)
            assert guard_works(server)
            assert server.call("status", agent="agent 150")["agents"]["agent 150"]["spent"]["session"] == 1
            state = server.call("status")["state"]
            assert state["degraded"] is True
            assert "the disk is full" in state["problem"]
            assert server.close() == 0
            away, lost = server.stderr().splitlines()
            assert "the disk is full" in away
            assert "could not be kept" in lost
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_lock_that_another_process_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Usage waits for it in bounds, and is stored when it is gone; guards do not wait at all."""
    path = tmp_path / "state.sqlite"
    filled(path)
    monkeypatch.setattr("protocol.store.sqlite_file.LOCK_SECONDS", 0.05)
    process = Process(open_file(path), refresh_seconds=0.02)
    other: Any = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for number in range(5):
        process.use("main", 10, f"r{number}")
    assert "locked" in process.logged[0]
    with pytest.raises(AwayError):
        open_file(path).apply([])
    other.execute("ROLLBACK")
    other.close()
    until(lambda: process.keeper.status()["degraded"] is False, "the lock was gone")
    process.keeper.close()
    store = open_file(path)
    assert store.read(["main"])["main"].session_spent == 50
    store.close()
