"""Between engine and store: what is stored when, what comes from others, and what happens while the store is away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from keeping import Process
from support import until

from breaker.events import Call
from breaker.state import Account, Entry
from protocol.store import keeper as keeping
from protocol.store.base import AwayError, BrokenError, ReadOnlyError, Store


def guard(process: Process, agent: str = "main", tool: str = "read", **more: Any) -> Any:
    call = Call(agent, tool, {"path": f"/{time.monotonic_ns()}"}, **more)
    return process.do(lambda engine: engine.guard(call), waits=True)


def spent(store: Store, agent: str) -> int:
    return store.read([agent])[agent].session_spent


def meet(process: Process, agent: str) -> None:
    """Let a process hear of an agent that is stored. Over a network it learns in a moment what is stored."""
    process.do(lambda engine: engine.compacted(agent))
    until(lambda: process.account(agent) != Account(), f"{agent} was loaded")


class Fragile:
    """A store that fails on demand, or makes whoever uses it wait."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.error: Exception | None = None
        self.lose_answer = False
        self.gate = threading.Event()
        self.gate.set()
        self.applied: list[Entry] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def apply(self, entries: Sequence[Entry], ticket: str | None = None) -> dict[str, Account]:
        self.gate.wait(10)
        if self.error:
            raise self.error
        self.applied += entries
        return self.store.apply(entries, ticket)

    def read(self, names: Iterable[str]) -> dict[str, Account]:
        if self.error:
            raise self.error
        return self.store.read(names)

    def load(self, name: str) -> Account | None:
        if isinstance(self.error, AwayError):
            raise self.error
        return self.store.load(name)

    def give_up(self) -> str:
        return "it was put away"


@pytest.fixture
def fragile(another: Callable[[], Store]) -> Fragile:
    return Fragile(another())


@pytest.fixture
def process(fragile: Fragile) -> Process:
    return Process(fragile)  # type: ignore[arg-type]


class TestWhatIsStoredWhen:
    def test_tokens_are_stored_before_the_answer(self, process: Process, another: Callable[[], Store]) -> None:
        process.use("main", 100)
        assert spent(another(), "main") == 100

    def test_turns_and_agents_are_stored_before_the_answer(
        self, process: Process, another: Callable[[], Store]
    ) -> None:
        process.use("main", 100)
        process.do(lambda engine: engine.agent_started("sub", "main", "subagent"))
        process.do(lambda engine: engine.user_turn("main"))
        found = another().read(["main", "sub"])
        assert found["sub"].parent == "main"
        assert found["main"].turn_spent == 0
        process.do(lambda engine: engine.agent_ended("sub"))
        assert another().read(["main"])["main"].children == {}

    def test_a_guard_never_waits_for_the_store(self, process: Process, fragile: Fragile) -> None:
        guard(process)
        until(lambda: bool(fragile.applied), "the first call was stored")
        fragile.gate.clear()
        before = time.monotonic()
        for _ in range(50):
            assert guard(process, parent=None).decision == "allow"
        assert guard(process, "sub", parent="main").decision == "allow"
        assert time.monotonic() - before < 5  # the gate would have kept it for ten
        fragile.gate.set()

    def test_what_guards_counted_is_stored_soon(self, process: Process, store: Store) -> None:
        for _ in range(3):
            guard(process, "sub", parent="main")
        until(lambda: store.read(["sub"]).get("sub", Account()).tools == 3, "three calls were stored")
        assert store.read(["sub"])["sub"].parent == "main"

    def test_the_rest_is_stored_at_the_end(self, process: Process, another: Callable[[], Store]) -> None:
        guard(process)
        process.keeper.close()
        assert another().read(["main"])["main"].tools == 1

    def test_denials_are_stored_in_their_short_form(self, fragile: Fragile, store: Store) -> None:
        process = Process(fragile, repeatLimit=2, maxDenials=None)  # type: ignore[arg-type]
        call = Call("main", "bash", {"command": "curl -H 'Authorization: Bearer abcdefgh12345678' https://a.example"})
        assert [process.do(lambda engine: engine.guard(call)).decision for _ in range(2)] == ["allow", "deny"]
        until(lambda: bool(store.denials(1)), "the denial was stored")
        (denial,) = store.denials(1)
        assert denial.code == "LOOP_GUARD_REPEAT"
        assert denial.what.startswith("exact:bash:")
        assert "abcdefgh" not in denial.what


class TestWhatComesFromOthers:
    def test_an_agent_is_loaded_when_it_is_first_seen(self, another: Callable[[], Store]) -> None:
        first = Process(another())
        first.do(lambda engine: engine.agent_started("sub", "main", "subagent"))
        first.use("sub", 100)
        second = Process(another(), maxTokens=100)
        meet(second, "sub")
        assert [hit.gate for hit in guard(second, "sub").hits] == ["turnBudget"]

    def test_a_budget_that_others_exhaust_is_noticed_without_spending_oneself(
        self, another: Callable[[], Store]
    ) -> None:
        here = Process(another(), refresh_seconds=0.01, maxTokens=100)
        there = Process(another())
        here.use("main", 1)
        there.use("main", 99)
        until(lambda: guard(here).decision == "deny", "the budget was noticed")

    def test_a_reset_by_a_person_is_noticed(self, another: Callable[[], Store]) -> None:
        here = Process(another(), refresh_seconds=0.01, maxTokens=100)
        here.do(lambda engine: engine.agent_started("sub", "main", "subagent"))
        here.use("sub", 100)
        assert guard(here, "sub").decision == "deny"
        another().reset()
        until(lambda: guard(here, "sub").decision == "allow", "the reset was noticed")
        here.use("sub", 7)  # its parent is known all the same
        assert here.account("main").turn_spent == 7

    def test_a_request_that_another_process_charged_is_charged_once(self, another: Callable[[], Store]) -> None:
        here, there = Process(another()), Process(another())
        there.use("main", 100, "r1")
        here.use("main", 1, "r0")
        here.use("main", 100, "r1")
        assert here.account("main").session_spent == 101

    def test_a_warning_is_of_what_all_spent(self, another: Callable[[], Store]) -> None:
        here, there = Process(another(), maxTokens=100), Process(another(), maxTokens=100)
        assert here.use("main", 40) == ()
        (warning,) = there.use("main", 40)
        assert (warning.gate, warning.stage, warning.count) == ("turnBudget", "budgetWarn", 80)
        assert here.use("main", 1) == ()  # one advisory a turn and budget, whoever gave it

    def test_subagents_that_others_started_count(self, another: Callable[[], Store]) -> None:
        there = Process(another())
        for name in ("a", "b"):
            there.do(lambda engine, name=name: engine.agent_started(name, "main", "subagent", at=1000.0))
        here = Process(another(), fanout=2)
        meet(here, "main")
        verdicts = [guard(here, tool="task", at=1001.0) for _ in range(2)]  # the first overrun passes once
        assert [hit.gate for verdict in verdicts for hit in verdict.hits] == ["fanout", "fanout"]
        assert [verdict.decision for verdict in verdicts] == ["allow", "deny"]

    def test_another_configuration_starts_from_what_is_stored(self, another: Callable[[], Store]) -> None:
        process = Process(another())
        process.use("main", 100)
        fresh = Process(None, maxTokens=100).engine
        process.engine = fresh
        process.keeper.attach(fresh)
        meet(process, "main")
        assert guard(process).decision == "deny"


class TestWhileTheStoreIsAway:
    def test_counting_goes_on_and_nothing_is_lost_or_counted_twice(self, fragile: Fragile, store: Store) -> None:
        process = Process(fragile, refresh_seconds=0.02, maxTokens=100)  # type: ignore[arg-type]
        process.use("main", 10)
        fragile.error = AwayError("the disk is full")
        for number in range(5):
            process.use("main", 20, f"r{number}")
        assert process.account("main").session_spent == 110
        assert guard(process).decision == "deny"
        assert process.keeper.status()["degraded"] is True
        fragile.error = None
        until(lambda: process.keeper.status()["degraded"] is False, "the store was used again")
        until(lambda: spent(store, "main") == 110, "everything was stored")
        process.use("main", 1)
        assert process.account("main").session_spent == spent(store, "main") == 111
        away, back = process.logged
        assert "the disk is full" in away
        assert "can be used again" in back

    def test_it_is_noticed_when_it_is_back_though_nothing_is_written(self, fragile: Fragile) -> None:
        fragile.changed()  # from here on nobody writes
        process = Process(fragile, refresh_seconds=0.02)  # type: ignore[arg-type]
        fragile.error = AwayError("another process keeps it locked")
        process.do(lambda engine: engine.compacted("main"))
        until(lambda: process.keeper.status()["degraded"] is True, "it was noticed that the store is away")
        fragile.error = None
        until(lambda: process.keeper.status()["degraded"] is False, "the store was used again")
        assert fragile.applied == []

    def test_the_queue_is_bounded(
        self, fragile: Fragile, monkeypatch: pytest.MonkeyPatch, another: Callable[[], Store]
    ) -> None:
        monkeypatch.setattr(keeping, "MAX_QUEUED", 10)
        process = Process(fragile)  # type: ignore[arg-type]
        fragile.error = AwayError("the disk is full")
        for number in range(30):
            process.use("main", 1, f"r{number}")
        status = process.keeper.status()
        assert status["queued"] <= 11  # the one that failed, and ten that wait
        assert status["dropped"] == 30 - status["queued"]
        fragile.error = None
        process.keeper.close()
        assert spent(another(), "main") == 30 - status["dropped"]

    def test_what_is_lost_at_the_end_is_said(self, process: Process, fragile: Fragile) -> None:
        fragile.error = AwayError("the disk is full")
        process.use("main", 10)
        process.keeper.close()
        assert "could not be kept to the end: 1" in process.logged[-1]

    def test_a_store_that_broke_is_given_up(self, process: Process, fragile: Fragile) -> None:
        process.use("main", 10)
        fragile.error = BrokenError("it is damaged")
        process.use("main", 10)
        process.use("main", 10)
        assert process.account("main").session_spent == 30
        assert guard(process).decision == "allow"
        (line,) = process.logged
        assert "it is damaged; it was put away" in line
        status = process.keeper.status()
        assert (status["engine"], status["degraded"]) == ("none", True)

    def test_a_store_that_cannot_be_written_is_read(self, process: Process, fragile: Fragile, store: Store) -> None:
        if not store.near:
            pytest.skip("only files are read-only")
        store.apply([Entry("charge", "main", 10), Entry("charge", "other", 5)])
        fragile.error = ReadOnlyError("it cannot be written")
        process.use("main", 10)
        process.use("main", 10)
        process.use("other", 10)
        assert [process.account(name).session_spent for name in ("main", "other")] == [30, 15]
        assert len(process.logged) == 1
        assert process.keeper.status()["degraded"] is True

    def test_a_fault_in_the_book_keeping_stops_nothing(self, process: Process, fragile: Fragile, store: Store) -> None:
        fragile.error = ZeroDivisionError("oops")
        process.use("main", 10)
        process.use("main", 10)
        fragile.error = None
        process.use("main", 10)
        assert len(process.logged) == 1
        assert process.keeper.status()["degraded"] is True
        assert spent(store, "main") == 10
