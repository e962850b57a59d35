"""Processes that are killed, and processes that share a state: what was acknowledged is there, once.

The numbers are small by default. LONG_TESTS=1 kills 200 times and lets eight processes add 10 000 events each.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support import PATIENCE, ROOT, Server, environment, message

from protocol.store.opening import open_store

LONG = os.environ.get("LONG_TESTS") == "1"
KILLS = 200 if LONG else 6
EVENTS = 10_000 if LONG else 200
WORKERS = 8

IN_TIME = "import protocol.store.keeper as keeper\nkeeper.PATIENCE_SECONDS = 20.0"
"""A server that a busy machine keeps waiting is in time all the same: what is answered is stored."""

TREE = {"main": None, "sub": "main", "leaf": "sub", "other": None}


def lines_of(agent: str) -> list[str]:
    line = [agent]
    while (parent := TREE[line[-1]]) is not None:
        line.append(parent)
    return line


class Ledger:
    """What each budget must hold by what was acknowledged."""

    def __init__(self) -> None:
        self.turn = dict.fromkeys(TREE, 0)
        self.session = dict.fromkeys(TREE, 0)
        self.family = dict.fromkeys(TREE, 0)

    def add(self, agent: str, tokens: int) -> None:
        line = lines_of(agent)
        self.session[agent] += tokens
        self.turn[line[-1]] += tokens
        for name in line:
            self.family[name] += tokens

    def of(self, agent: str) -> dict[str, int]:
        return {"turn": self.turn[agent], "session": self.session[agent], "family": self.family[agent]}


@pytest.fixture(params=["sqlite", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """`--state` and what goes with it."""
    if request.param == "redis":
        return ["--state", request.getfixturevalue("redis_server").address, "--namespace", f"at-{tmp_path.name}"[:60]]
    return ["--state", str(tmp_path / "state.sqlite")]


def test_after_kill_9_every_acknowledged_unit_of_every_budget_is_there_and_none_twice(place: list[str]) -> None:
    """Requests are sent ahead of their answers, and the server is killed somewhere among them.

    Those without an answer are sent again to the next server, as a harness would: each counts once.
    """
    chance = random.Random(7)
    ledger = Ledger()
    unanswered: list[tuple[str, dict[str, Any]]] = []
    number = 0
    for round_ in range(KILLS + 1):
        with Server(*place, prelude=IN_TIME) as server:
            if round_ == 0:
                for agent, parent in TREE.items():
                    if parent:
                        server.call("agentStarted", agent=agent, parent=parent, kind="subagent")
            for agent in TREE:
                found = server.call("status", agent=agent)["agents"].get(agent, {"spent": ledger.of(agent)})["spent"]
                missing = {budget: ledger.of(agent)[budget] - spent for budget, spent in found.items()}
                assert all(tokens <= 0 for tokens in missing.values()), f"{agent} lost {missing} in round {round_}"
            for method, params in unanswered:
                server.call(method, **params)
                ledger.add(params["agent"], params["inputTokens"])
            for agent in TREE:
                known = server.call("status", agent=agent)["agents"].get(agent)
                assert known is None or known["spent"] == ledger.of(agent), f"{agent} in round {round_}"
            unanswered = []
            if round_ == KILLS:
                assert server.close() == 0
                break
            for _ in range(200):
                agent = chance.choice(list(TREE))
                number += 1
                unanswered.append(("usage", {"agent": agent, "inputTokens": number, "requestId": f"r{number}"}))
                if chance.random() < 0.3:
                    server.send(message("guard", {"agent": agent, "tool": "read", "arguments": {"n": number}}))
                server.send(message(*unanswered[-1], id=f"u{number}"))
            time.sleep(chance.random() * 0.03)
            server.process.kill()
            for line in server.rest().splitlines():
                try:
                    reply = json.loads(line)
                except ValueError:
                    continue  # cut off by the kill: nobody can have read it
                if str(reply["id"]).startswith("u"):
                    (method, params), *unanswered = unanswered
                    assert reply["id"] == f"u{params['inputTokens']}"
                    ledger.add(params["agent"], params["inputTokens"])


WORKER = """
import sys
sys.path[:0] = [sys.argv[3], sys.argv[3] + "/tests"]
from keeping import Process
from protocol.store.opening import open_store

worker, events = int(sys.argv[1]), int(sys.argv[2])
store, problem = open_store(sys.argv[5], sys.argv[7] if sys.argv[7:] else "default")
assert problem is None
process = Process(store)
agents = ["main", f"sub-{worker}", "both"]
for agent in agents[1:]:
    process.do(lambda engine, agent=agent: engine.agent_started(agent, "main", "subagent"))
for event in range(events):
    agent = agents[event % 3]
    # what is charged to `both` is the same request for all
    process.use(agent, event, f"r{event}" if agent == "both" else f"{worker}-{event}")
assert process.logged == [], process.logged
process.keeper.close()
"""


def test_eight_processes_on_one_state_add_up_exactly(place: list[str]) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(worker), str(EVENTS), str(ROOT), *place],
            stderr=subprocess.PIPE,
            env=environment(),
        )
        for worker in range(WORKERS)
    ]
    for worker in workers:
        _, complaints = worker.communicate(timeout=PATIENCE * (30 if LONG else 3))
        assert worker.returncode == 0, complaints.decode()
    by_main, by_sub, by_both = (sum(range(first, EVENTS, 3)) for first in (0, 1, 2))
    subs = [f"sub-{worker}" for worker in range(WORKERS)]
    store, _ = open_store(place[1], place[3] if place[3:] else "default")
    assert store is not None
    accounts = store.read(["main", "both", *subs])
    store.close()
    assert accounts["main"].session_spent == WORKERS * by_main
    assert accounts["main"].requests == WORKERS * len(range(0, EVENTS, 3))
    assert accounts["both"].session_spent == by_both
    assert [accounts[sub].family_spent for sub in subs] == [by_sub] * WORKERS
    total = WORKERS * (by_main + by_sub) + by_both
    assert (accounts["main"].family_spent, accounts["main"].turn_spent) == (total, total)
