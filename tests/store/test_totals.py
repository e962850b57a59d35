"""Whatever tree of agents and whatever order of requests: every total is what a naive sum says."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count as numbers
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from keeping import Process, RedisServer

from breaker.state import Account
from protocol.store.base import Store
from protocol.store.opening import open_store
from protocol.store.sqlite import open_file

AGENTS = "abcde"

_numbers = numbers(1)

events = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.sampled_from(AGENTS), st.sampled_from(AGENTS)),
        st.tuples(st.just("use"), st.sampled_from(AGENTS), st.integers(0, 10**12)),
        st.tuples(st.just("turn"), st.sampled_from(AGENTS)),
        st.tuples(st.just("again"), st.integers(0, 20)),
    ),
    max_size=40,
)


class Naive:
    """Three sums an agent, and who started whom."""

    def __init__(self) -> None:
        self.parent: dict[str, str] = {}
        self.turn = dict.fromkeys(AGENTS, 0)
        self.session = dict.fromkeys(AGENTS, 0)
        self.family = dict.fromkeys(AGENTS, 0)

    def line(self, agent: str) -> list[str]:
        line = [agent]
        while line[-1] in self.parent:
            line.append(self.parent[line[-1]])
        return line

    def start(self, agent: str, parent: str) -> None:
        if agent not in self.parent and agent not in self.line(parent):
            self.parent[agent] = parent

    def use(self, agent: str, tokens: int) -> None:
        line = self.line(agent)
        self.session[agent] += tokens
        self.turn[line[-1]] += tokens
        for name in line:
            self.family[name] += tokens

    def totals(self, agent: str) -> tuple[int, int, int]:
        return self.turn[agent], self.session[agent], self.family[agent]


def totals(account: Account) -> tuple[int, int, int]:
    return account.turn_spent, account.session_spent, account.family_spent


def play(events: list[Any], process_for: Callable[[int], Process]) -> Naive:
    """Each event goes to a process by its number; `again` repeats a request that was charged before."""
    naive = Naive()
    requests: list[tuple[str, int, str]] = []
    for number, event in enumerate(events):
        process = process_for(number)
        match event:
            case ("start", agent, parent):
                process.do(lambda on, agent=agent, parent=parent: on.agent_started(agent, parent, "subagent"))
                naive.start(agent, parent)
            case ("use", agent, tokens):
                requests.append((agent, tokens, f"r{number}"))
                process.use(*requests[-1])
                naive.use(agent, tokens)
            case ("turn", agent):
                process.do(lambda on, agent=agent: on.user_turn(agent))
                naive.turn[agent] = 0
            case ("again", which) if requests:
                process.use(*requests[which % len(requests)])
    return naive


@given(events)
def test_in_memory(events: list[Any]) -> None:
    process = Process(None)
    naive = play(events, lambda _: process)
    for agent, memory in process.engine.state.agents.items():
        assert totals(memory.account) == naive.totals(agent)


def shared(events: list[Any], count: int, open_one: Callable[[], Store]) -> None:
    """Several processes on one state: what each is told, and what is stored in the end."""
    processes = [Process(open_one()) for _ in range(count)]
    naive = play(events, lambda number: processes[number % count])
    last = {event[1]: number % count for number, event in enumerate(events) if event[0] == "use"}
    for agent, where in last.items():  # whoever charged last was told the sum
        assert processes[where].account(agent).session_spent == naive.session[agent]
    for process in processes:
        process.keeper.close()
    store = open_one()
    stored = store.read(AGENTS)
    store.close()
    assert {agent: totals(account) for agent, account in stored.items()} == {
        agent: naive.totals(agent) for agent in stored
    }
    assert {agent for agent in AGENTS if any(naive.totals(agent))} <= stored.keys()


@given(events, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_through_a_file_that_processes_share(events: list[Any], count: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        shared(events, count, lambda: open_file(Path(directory) / "state.sqlite"))


@given(events, st.integers(1, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_through_a_server_that_processes_share(redis_server: RedisServer, events: list[Any], count: int) -> None:
    namespace = f"totals-{next(_numbers)}"

    def open_one() -> Store:
        store, problem = open_store(redis_server.address, namespace)
        assert store is not None
        assert problem is None
        return store

    shared(events, count, open_one)


@given(events, st.integers(0, 40))
@settings(max_examples=40, deadline=None)
def test_through_a_restart_at_any_point(events: list[Any], at: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "state.sqlite"
        running = [Process(open_file(path))]

        def process_for(number: int) -> Process:
            if number == at:
                running[-1].keeper.close()
                running.append(Process(open_file(path)))
            return running[-1]

        naive = play(events, process_for)
        for agent, memory in running[-1].engine.state.agents.items():
            assert totals(memory.account) == naive.totals(agent)
        running[-1].keeper.close()
