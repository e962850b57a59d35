"""The state as a file: where it is, who may read it, what becomes of old ones."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from keeping import Process
from support import run

from breaker.state import Entry
from protocol.store import schema, sqlite_file
from protocol.store.base import SpecError, StoreError
from protocol.store.opening import open_existing, open_store
from protocol.store.places import state_directory, state_file
from protocol.store.sqlite import DAY, SqliteStore, open_file


def charge(agent: str, tokens: int) -> Entry:
    return Entry("charge", agent, tokens)


class TestWhereItIs:
    @pytest.mark.parametrize(
        ("environ", "platform", "expected"),
        [
            ({"XDG_STATE_HOME": "/xdg"}, "linux", "/xdg/toolbreaker"),
            ({"XDG_STATE_HOME": "not/absolute"}, "linux", "~/.local/state/toolbreaker"),
            ({}, "linux", "~/.local/state/toolbreaker"),
            ({}, "darwin", "~/Library/Application Support/toolbreaker"),
            ({"LOCALAPPDATA": "/local"}, "win32", "/local/toolbreaker"),
        ],
    )
    def test_auto_is_in_the_users_state_directory(self, environ: dict[str, str], platform: str, expected: str) -> None:
        assert state_directory(environ, platform) == Path(expected).expanduser()

    def test_each_namespace_has_a_file(self) -> None:
        assert state_file("auto", "team-a.1", {"XDG_STATE_HOME": "/xdg"}) == Path("/xdg/toolbreaker/team-a.1.sqlite")

    @pytest.mark.parametrize("namespace", ["", "..", "a/b", "-x", ".x", "a\\b", "a b", "x" * 65, "naïve"])
    def test_a_namespace_that_would_leave_the_directory_is_refused(self, namespace: str) -> None:
        with pytest.raises(SpecError):
            state_file("auto", namespace)
        ended = run("serve", "--state", "auto", f"--namespace={namespace}")
        assert ended.returncode == 2
        assert b"namespace" in ended.stderr

    def test_none_is_nowhere(self) -> None:
        assert open_store("none") == (None, None)

    def test_it_is_made_with_its_directories_and_only_the_user_can_read_it(self, tmp_path: Path) -> None:
        old = os.umask(0)
        try:
            store = open_file(tmp_path / "a" / "b" / "state.sqlite")
            store.apply([charge("main", 1)])
        finally:
            os.umask(old)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
        assert modes == {
            "a": 0o777,  # only what holds the file is ours
            "b": 0o700,
            "state.sqlite": 0o600,
            "state.sqlite-wal": 0o600,
            "state.sqlite-shm": 0o600,
        }
        store.close()

    def test_a_file_that_others_could_read_is_closed_to_them(self, tmp_path: Path) -> None:
        open_file(tmp_path / "state.sqlite").close()
        (tmp_path / "state.sqlite").chmod(0o644)
        open_file(tmp_path / "state.sqlite").close()
        assert stat.S_IMODE((tmp_path / "state.sqlite").stat().st_mode) == 0o600

    def test_looking_makes_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="there is no such file"):
            open_existing(str(tmp_path / "state.sqlite"))
        assert list(tmp_path.iterdir()) == []


class TestVersions:
    def old_file(self, path: Path) -> None:
        """A file as version 1 made it, by hand."""
        db = sqlite3.connect(path)
        for statement in schema.MIGRATIONS[0]:
            db.execute(statement)
        db.execute("INSERT INTO meta VALUES ('key', ?)", (b"k" * 32,))
        db.execute("INSERT INTO agent (name, session_spent, seen) VALUES ('main', 77, 1e12)")
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")
        db.commit()
        db.close()

    def test_a_file_of_the_first_version_is_still_read(self, tmp_path: Path) -> None:
        self.old_file(tmp_path / "state.sqlite")
        store = open_file(tmp_path / "state.sqlite")
        assert store.read(["main"])["main"].session_spent == 77
        assert store.key == b"k" * 32
        store.close()

    def test_an_older_file_is_brought_forward_with_what_it_holds(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "state.sqlite"
        self.old_file(path)
        newer = (*schema.MIGRATIONS, ("ALTER TABLE agent ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'",))
        monkeypatch.setattr(sqlite_file, "MIGRATIONS", newer)
        monkeypatch.setattr(sqlite_file, "VERSION", len(newer))
        store = open_file(path)
        assert store.read(["main"])["main"].session_spent == 77
        store.close()
        db = sqlite3.connect(path)
        assert db.execute("SELECT mood FROM agent").fetchall() == [("calm",)]
        assert db.execute("PRAGMA user_version").fetchone() == (len(newer),)
        db.close()

    def test_a_migration_that_fails_leaves_the_file_as_it_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "state.sqlite"
        self.old_file(path)
        with monkeypatch.context() as patched:
            newer = (*schema.MIGRATIONS, ("ALTER TABLE agent ADD COLUMN mood TEXT", "SELECT nonsense FROM nowhere"))
            patched.setattr(sqlite_file, "MIGRATIONS", newer)
            patched.setattr(sqlite_file, "VERSION", len(newer))
            with pytest.raises(StoreError):
                SqliteStore(path)
        store = open_file(path)
        assert store.read(["main"])["main"].session_spent == 77
        store.close()

    def test_a_file_of_a_newer_version_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "state.sqlite"
        open_file(path).close()
        db = sqlite3.connect(path)
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        db.close()
        before = path.read_bytes()
        store, problem = open_store(str(path))
        assert store is None
        assert problem is not None
        assert "newer toolbreaker" in problem
        assert path.read_bytes() == before
        assert [each.name for each in tmp_path.iterdir()] == ["state.sqlite"]


class TestExpiry:
    def test_agents_that_nobody_heard_of_are_forgotten(self, tmp_path: Path) -> None:
        now = 1_000_000_000.0
        store = open_file(tmp_path / "state.sqlite", clock=lambda: now)
        store.apply([charge("old", 5), Entry("start", "sub", line=("parent",), kind="subagent")])
        assert store.expire(30) == 0
        now += 20 * DAY
        store.apply([charge("sub", 5)])  # a sign of life of its parent as well
        now += 11 * DAY
        assert store.expire(30) == 1
        assert {agent.name for agent in store.agents()} == {"parent", "sub"}
        store.close()

    def test_it_is_done_once_a_day(self, tmp_path: Path) -> None:
        now = 1_000_000_000.0
        store = open_file(tmp_path / "state.sqlite", clock=lambda: now)
        store.apply([charge("main", 5)])
        store.expire(30)
        now += DAY / 2
        assert store.expire(0.1) == 0
        now += DAY / 2
        assert store.expire(0.1) == 1
        store.close()

    def test_a_clock_set_back_loses_nothing_and_keeps_nothing_for_ever(self, tmp_path: Path) -> None:
        now = 1_000_000_000.0
        store = open_file(tmp_path / "state.sqlite", clock=lambda: now)
        now += 1000 * DAY  # a clock that ran ahead
        store.apply([charge("main", 5)])
        store.expire(30)
        now -= 1000 * DAY
        store.expire(30)
        assert store.apply([charge("main", 5)])["main"].session_spent == 10
        store.apply([charge("other", 1)])
        now += 2 * DAY
        store.expire(1)
        assert store.agents() == []
        store.close()

    def test_a_server_forgets_what_is_too_old(self, tmp_path: Path) -> None:
        path = tmp_path / "state.sqlite"
        long_ago = open_file(path, clock=lambda: 1_000_000_000.0)
        long_ago.apply([charge("old", 5)])
        long_ago.close()
        process = Process(open_file(path))
        process.use("main", 5)
        process.keeper.close()
        store = open_file(path)
        assert [agent.name for agent in store.agents()] == ["main"]
        store.close()


def test_a_file_that_another_process_makes_a_state_meanwhile_is_one(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    path.touch()
    another = threading.Thread(target=lambda: open_file(path).close())

    def makes_it(statement: str) -> None:
        if statement == "PRAGMA user_version" and not another.ident:
            another.start()
            another.join(0.2)  # it may have to wait for us

    db = sqlite_file.connect(path)
    db.set_trace_callback(makes_it)
    sqlite_file.migrate(db)
    db.close()
    another.join()
    assert another.ident
    assert open_file(path).notes == []
