"""Many machines on one server: sums, budgets, families, and what happens when the server does not do its part.

The numbers are small by default. LONG_TESTS=1 lets sixteen processes add 50 000 requests each, which takes minutes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from keeping import RedisServer
from support import Server, message, run, until

from protocol.store.opening import open_store

LONG = os.environ.get("LONG_TESTS") == "1"
AGENTS = 16 if LONG else 4
REQUESTS = 50_000 if LONG else 500
BUDGET = 10_000_000
AHEAD = 100
"""Requests of one process that are on their way at a time."""

FELT_SECONDS = 0.05
ROUNDS = 5
"""Tries for a bound in time: what waits for a server waits in each, what a busy machine does it does in some."""

LONG_PATIENCE = 1800 if LONG else 60
"""Seconds for sixteen processes on a machine that others use as well."""

_numbers = count(1)


@pytest.fixture
def place(redis_server: RedisServer) -> list[str]:
    return place_on(redis_server)


def place_on(server: RedisServer) -> list[str]:
    return ["--state", server.address, "--namespace", f"fleet-{next(_numbers)}"]


@pytest.fixture
def own_server() -> Iterator[RedisServer]:
    """A server that may be treated badly."""
    with RedisServer() as server:
        yield server


def fleet(stack: ExitStack, place: list[str], size: int, *options: str) -> list[Server]:
    return [stack.enter_context(Server(*place, *options)) for _ in range(size)]


def in_parallel(servers: list[Server], do: Callable[[int, Server], None]) -> None:
    """Do it for each server at the same time."""
    faults: list[BaseException] = []

    def caught(number: int, server: Server) -> None:
        try:
            do(number, server)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=caught, args=each) for each in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]


def all_is_stored(server: Server) -> None:
    """Wait for a server that a busy machine lets wait. A process would not."""
    until(lambda: queued(server) == 0, "all was stored")


def queued(server: Server) -> int:
    return int(server.call("status")["state"]["queued"])


def stored(place: list[str], *names: str) -> dict[str, Any]:
    store, _ = open_store(place[1], place[3])
    assert store is not None
    try:
        return dict(store.read(names))
    finally:
        store.close()


def figures(what: str) -> None:
    if LONG:
        print(what, file=sys.stderr, flush=True)


# -- sums -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frozen", [False, True], ids=["steady", "frozen"])
def test_what_many_processes_add_is_exact(own_server: RedisServer, frozen: bool) -> None:
    """Each agent spends 1, 2, 3, … tokens, below one root; the server may be frozen for most of that."""
    place = place_on(own_server)
    begun = threading.Barrier(AGENTS, action=lambda: freeze(own_server) if frozen else None)
    ended = threading.Barrier(AGENTS, action=lambda: mend(own_server) if frozen else None)

    def spend(number: int, server: Server) -> None:
        agent = f"agent-{number}"
        server.call("agentStarted", agent=agent, parent="fleet", kind="subagent")
        for first in range(0, REQUESTS, AHEAD):
            if first == AHEAD:
                begun.wait(LONG_PATIENCE)
            for request in range(first, first + AHEAD):
                params = {"agent": agent, "inputTokens": request + 1, "requestId": f"{agent}-{request}"}
                server.send(message("usage", params, request))
            for _ in range(AHEAD):
                assert b'"result"' in server.line()
        ended.wait(LONG_PATIENCE)
        deadline = time.monotonic() + LONG_PATIENCE
        while time.monotonic() < deadline and queued(server):
            time.sleep(0.05)

    began = time.monotonic()
    with ExitStack() as stack:
        servers = fleet(stack, place, AGENTS, "--subagent-requests", "0", "--max-tokens", "0")
        in_parallel(servers, spend)
        took = time.monotonic() - began
        for server in servers:
            assert "dropped" not in server.call("status")["state"]
            assert server.close() == 0
            assert "could not be kept" not in server.stderr()
        away = sum(server.stderr().count("out of reach") for server in servers)
    figures(f"{AGENTS} processes, {REQUESTS} requests each: {took:.0f} s, {AGENTS * REQUESTS / took:.0f} a second; ")
    figures(f"said to be out of reach {away} times")
    assert away >= (1 if frozen and LONG else 0)
    each = REQUESTS * (REQUESTS + 1) // 2
    names = [f"agent-{number}" for number in range(AGENTS)]
    accounts = stored(place, "fleet", *names)
    assert {(accounts[name].session_spent, accounts[name].requests) for name in names} == {(each, REQUESTS)}
    assert accounts["fleet"].family_spent == AGENTS * each
    assert accounts["fleet"].turn_spent == AGENTS * each


# -- one budget -----------------------------------------------------------------------------------------------------


def test_one_budget_stops_the_whole_fleet_within_one_request_of_each(place: list[str]) -> None:
    """Each agent asks before it goes on. One that was told of a sum at the limit spends no more.

    A model takes longer to answer than the server does: here as long as a change waits to be stored.
    """
    largest = 40_000 if LONG else 130_000
    denied = []

    def work(number: int, server: Server) -> None:
        agent = f"agent-{number}"
        server.call("agentStarted", agent=agent, parent="fleet", kind="subagent")
        for request in range(BUDGET // 100):
            verdict = server.call("guard", agent=agent, tool="read", arguments={"file_path": f"/{request}"})
            if verdict["decision"] == "deny":
                assert verdict["code"] == "LOOP_GUARD_BUDGET_EXHAUSTED"
                denied.append(agent)
                return
            tokens = largest - (request * 7 + number) % 97
            server.call("usage", agent=agent, inputTokens=tokens, requestId=f"{agent}-{request}")
            all_is_stored(server)
        raise AssertionError(f"{agent} was not stopped")

    quotas = ["--subagent-requests", "0", "--subagent-tools", "0"]
    with ExitStack() as stack:
        servers = fleet(stack, place, AGENTS, "--family-max-tokens", str(BUDGET), "--max-tokens", str(BUDGET), *quotas)
        in_parallel(servers, work)
    assert sorted(denied) == sorted(f"agent-{number}" for number in range(AGENTS))
    spent = stored(place, "fleet")["fleet"].family_spent
    figures(f"budget {BUDGET}: {spent} spent, overrun {spent - BUDGET}, bound {AGENTS * largest}")
    assert BUDGET <= spent < BUDGET + AGENTS * largest


def test_one_that_spends_nothing_hears_of_a_spent_budget_within_the_refresh(place: list[str]) -> None:
    options = ["--max-tokens", "100", "--state-refresh-seconds", "0.2"]
    with ExitStack() as stack:
        one, other = fleet(stack, place, 2, *options)
        for name, server in (("one", one), ("other", other)):
            server.call("agentStarted", agent=name, parent="fleet", kind="subagent")
            server.call("usage", agent=name, inputTokens=1)
        one.call("usage", agent="one", inputTokens=98)
        before = time.monotonic()
        until(
            lambda: other.call("guard", agent="other", tool="read", arguments={"n": time.time()})["decision"] == "deny",
            "the other one was stopped",
        )
        assert time.monotonic() - before < 10 * 0.2  # the machine may be busy


# -- a family over machines -----------------------------------------------------------------------------------------


def test_a_family_that_spans_machines_has_one_set_of_totals(place: list[str]) -> None:
    with ExitStack() as stack:
        here, there = fleet(stack, place, 2)
        here.call("userTurn", agent="main")
        here.call("usage", agent="main", inputTokens=100, requestId="m1")
        here.call("agentStarted", agent="sub", parent="main", kind="subagent")
        # the other machine knows the leaf's parent, and nobody above
        there.call("guard", agent="leaf", parent="sub", tool="read", arguments={"file_path": "a"})
        there.call("usage", agent="leaf", inputTokens=7, requestId="l1")
        there.call("usage", agent="sub", inputTokens=20, requestId="s1")
        expected = {
            "main": {"turn": 127, "session": 100, "family": 127},
            "sub": {"turn": 0, "session": 20, "family": 27},
            "leaf": {"turn": 0, "session": 7, "family": 7},
        }
        for server in (here, there):
            server.call("usage", agent="leaf", inputTokens=0)  # whoever writes is told at once
            for agent, spent in expected.items():
                known = server.call("status", agent=agent)["agents"][agent]["spent"]
                assert known == spent, (server is here, agent)
        accounts = stored(place, *expected)
        assert {name: accounts[name].parent for name in expected} == {"main": None, "sub": "main", "leaf": "sub"}
        # a person speaks on one machine: the turn is over on all
        here.call("userTurn", agent="main")
        there.call("usage", agent="leaf", inputTokens=3, requestId="l2")
        assert there.call("status", agent="main")["agents"]["main"]["spent"] == {
            "turn": 3,
            "session": 100,
            "family": 130,
        }


def test_the_turn_budget_of_a_root_elsewhere_stops_a_subagent(place: list[str]) -> None:
    with ExitStack() as stack:
        here, there = fleet(stack, place, 2, "--max-tokens", "1000")
        there.call("agentStarted", agent="sub", parent="main", kind="subagent")
        there.call("usage", agent="sub", inputTokens=1)
        here.call("usage", agent="main", inputTokens=999)
        there.call("usage", agent="sub", inputTokens=0)
        verdict = there.call("guard", agent="sub", tool="read", arguments={})
        assert (verdict["decision"], verdict["code"]) == ("deny", "LOOP_GUARD_BUDGET_EXHAUSTED")
        assert "main" in verdict["reason"]


def test_quotas_count_on_all_machines(place: list[str]) -> None:
    """Two of two subagents run elsewhere; half the requests of one were made there."""
    quotas = ["--fanout", "2", "--subagent-requests", "4", "--state-refresh-seconds", "0.1"]
    with ExitStack() as stack:
        here, there = fleet(stack, place, 2, *quotas)
        here.call("usage", agent="main", inputTokens=1)
        for name in ("a", "b"):
            there.call("agentStarted", agent=name, parent="main", kind="subagent")
        here.call("usage", agent="main", inputTokens=1)
        decisions = [here.call("guard", tool="subagent", arguments={"n": n}, canAsk=False) for n in range(2)]
        assert [verdict["decision"] for verdict in decisions] == ["allow", "deny"]  # a first overrun passes once
        assert decisions[1]["code"] == "LOOP_GUARD_FANOUT"
        for number in range(4):
            (here, there)[number % 2].call("usage", agent="a", inputTokens=1, requestId=f"r{number}")
        here.call("usage", agent="a", inputTokens=1, requestId="r4")
        verdicts = [here.call("guard", agent="a", tool="read", arguments={"n": n}) for n in range(2)]
        assert [verdict.get("code") for verdict in verdicts] == [None, "LOOP_GUARD_SUBAGENT_REQUESTS"]


# -- a server that does not do its part -----------------------------------------------------------------------------


class Worker:
    """An agent behind one process that spends and asks, and notes how long each answer took."""

    def __init__(self, server: Server, agent: str) -> None:
        self.server = server
        self.agent = agent
        self.spent = 0
        self._number = 0

    def work(self, steps: int) -> float:
        """The longest that a message waited for its answer, in seconds."""
        longest = 0.0
        for _ in range(steps):
            self._number += 1
            usage = {"agent": self.agent, "inputTokens": self._number, "requestId": f"{self.agent}-{self._number}"}
            call = {"agent": self.agent, "tool": "read", "arguments": {"file_path": f"/{self._number}"}}
            self.spent += self._number
            before = time.perf_counter()
            # the call is on its way before the answer to what precedes it
            self.server.send(message("usage", usage) + message("guard", call, 2))
            self.server.line()
            assert json.loads(self.server.line())["result"]["decision"] == "allow"
            longest = max(longest, time.perf_counter() - before)
        return longest

    def degraded(self) -> bool:
        return bool(self.server.call("status")["state"]["degraded"])

    def waits_little(self) -> None:
        """No call waits 50 ms, first of all none when the server has just gone."""
        longest = [self.work(20)]
        while longest[-1] >= FELT_SECONDS and len(longest) < ROUNDS:
            longest.append(self.work(20))
        figures(f"the longest waits for an answer: {[f'{1e3 * each:.1f} ms' for each in longest]}")
        assert longest[0] < 10 * FELT_SECONDS  # a wait for the server would be 2 s
        assert longest[-1] < FELT_SECONDS


OPTIONS = ["--state-refresh-seconds", "0.1", "--subagent-tools", "0"]
Harm = Callable[[RedisServer], None]


def stop(server: RedisServer) -> None:
    server.stop()


def freeze(server: RedisServer) -> None:
    server.process.send_signal(signal.SIGSTOP)


def mend(server: RedisServer) -> None:
    if server.process.poll() is None:
        server.process.send_signal(signal.SIGCONT)
    else:
        server.start()


@pytest.mark.parametrize("harm", [stop, freeze])
def test_no_call_waits_for_a_server_and_no_unit_is_lost_or_doubled_when_it_is_back(
    own_server: RedisServer, harm: Harm
) -> None:
    place = place_on(own_server)
    with ExitStack() as stack:
        workers = [Worker(server, f"a{n}") for n, server in enumerate(fleet(stack, place, 2, *OPTIONS))]
        for worker in workers:
            worker.server.call("agentStarted", agent=worker.agent, parent="fleet", kind="subagent")
            worker.work(20)
        for _ in range(2):
            harm(own_server)
            for worker in workers:
                worker.waits_little()
            until(lambda: all(worker.degraded() for worker in workers), "it was noticed")
            for worker in workers:
                worker.waits_little()
            mend(own_server)
            for worker in workers:
                worker.work(20)
            until(lambda: not any(worker.degraded() for worker in workers), "it was used again")
        for worker in workers:
            assert worker.server.close() == 0
            assert "out of reach" in worker.server.stderr()
    accounts = stored(place, "fleet", *(worker.agent for worker in workers))
    assert [accounts[worker.agent].session_spent for worker in workers] == [worker.spent for worker in workers]
    assert accounts["fleet"].family_spent == sum(worker.spent for worker in workers)
    assert [accounts[worker.agent].tools for worker in workers] == [worker._number for worker in workers]


def test_a_look_at_an_agent_does_not_wait_for_a_frozen_server(own_server: RedisServer) -> None:
    place = place_on(own_server)
    with Server(*place) as server:
        server.call("usage", agent="main", inputTokens=1)
        freeze(own_server)
        waits = []
        for number in range(ROUNDS):
            before = time.perf_counter()
            server.call("status", agent=f"agent-{number}")
            waits.append(time.perf_counter() - before)
        assert min(waits) < FELT_SECONDS
        assert max(waits) < 10 * FELT_SECONDS
        mend(own_server)


def test_a_server_that_was_emptied_is_said_plainly_on_all_machines(own_server: RedisServer) -> None:
    place = place_on(own_server)
    with ExitStack() as stack:
        servers = fleet(stack, place, 2, *OPTIONS)
        for number, server in enumerate(servers):
            server.call("agentStarted", agent=f"a{number}", parent="fleet", kind="subagent")
            server.call("usage", agent=f"a{number}", inputTokens=1000)
        run_on(own_server, b"FLUSHALL\r\n")
        for number, server in enumerate(servers):
            for request in range(10):
                server.call("usage", agent=f"a{number}", inputTokens=5, requestId=f"r{number}-{request}")
        for number, server in enumerate(servers):
            until(lambda: "was emptied" in server.stderr(), "it was said")  # noqa: B023
            state = server.call("status", agent=f"a{number}")["state"]
            assert state["degraded"] is True
            assert "what was spent before is not counted any more" in state["problem"]
            assert server.close() == 0
            assert server.stderr().count("was emptied") == 1
    accounts = stored(place, "fleet", "a0", "a1")
    assert [accounts[name].session_spent for name in ("a0", "a1")] == [50, 50]
    assert accounts["fleet"].family_spent == 100


def test_one_that_only_asks_says_that_the_server_was_emptied(own_server: RedisServer) -> None:
    place = place_on(own_server)
    with Server(*place, *OPTIONS) as server:
        server.call("usage", inputTokens=1000)
        run_on(own_server, b"FLUSHALL\r\n")
        until(lambda: "was emptied" in server.stderr(), "it was said")
        assert server.call("status", agent="main")["agents"]["main"]["spent"]["session"] == 0


def run_on(server: RedisServer, command: bytes) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(command)
        assert connection.recv(64).startswith(b"+OK")


def test_a_persons_reset_lets_all_machines_go_on(place: list[str]) -> None:
    options = ["--max-tokens", "100", "--state-refresh-seconds", "0.1", "--max-denials", "0"]
    with ExitStack() as stack:
        servers = fleet(stack, place, 2, *options)
        for number, server in enumerate(servers):
            server.call("agentStarted", agent=f"a{number}", parent="fleet", kind="subagent")
            server.call("usage", agent=f"a{number}", inputTokens=100)

        def decision(number: int) -> str:
            call = {"tool": "todo" if number else "read", "arguments": {"at": time.monotonic_ns()}}
            return str(servers[number].call("guard", agent=f"a{number}", **call)["decision"])

        assert [decision(number) for number in range(2)] == ["deny", "deny"]
        assert run("state", "reset", "fleet", "--budget", *place).returncode == 0
        until(lambda: [decision(number) for number in range(2)] == ["allow", "allow"], "both went on")
