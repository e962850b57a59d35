"""A server for many machines: one round trip a request, nothing lost and nothing doubled while it is away."""

from __future__ import annotations

import json
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from keeping import Process, RedisServer, end_all
from support import Server, message, run, until

from breaker.events import Call
from breaker.state import Account, Entry
from protocol.store.base import AwayError, BrokenError, SpecError
from protocol.store.opening import namespaces, open_store

redis_store = pytest.importorskip("protocol.store.redis")

_numbers = count(1)


class Wire:
    """Stands between a client and the server: counts round trips, keeps answers back, cuts the line."""

    def __init__(self, port: int) -> None:
        self.round_trips = 0
        self.delay = 0.0
        self.lose_answers = False
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"
        self._over = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._over:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=[client], daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._port)) as server:
            asked = False
            while not self._over:
                for ready in select.select([client, server], [], [], 0.2)[0]:
                    data = ready.recv(1 << 20)
                    if not data:
                        return
                    if ready is client:
                        if not asked:
                            self.round_trips += 1
                        asked = True
                        time.sleep(self.delay)
                        server.sendall(data)
                    elif self.lose_answers:
                        return  # what was asked was done, and nobody hears of it
                    else:
                        asked = False
                        client.sendall(data)

    def close(self) -> None:
        self._over = True
        self._listener.close()


@pytest.fixture
def wire(redis_server: RedisServer) -> Iterator[Wire]:
    wire = Wire(redis_server.port)
    yield wire
    end_all()
    wire.close()


@pytest.fixture
def namespace() -> str:
    return f"wire-{next(_numbers)}"


Opened = Callable[..., Process]


@pytest.fixture
def process(wire: Wire, namespace: str) -> Opened:
    def open_one(address: str | None = None, **config: object) -> Process:
        store, problem = open_store(address or wire.address, namespace)
        assert problem is None
        return Process(store, **{"refresh_seconds": 0.05, **config})  # type: ignore[arg-type]

    return open_one


def account(server: RedisServer, namespace: str, name: str) -> Account:
    store = redis_store.RedisStore(server.address, namespace)
    try:
        found = store.read([name])[name]
        assert isinstance(found, Account)
        return found
    finally:
        store.close()


def guard(process: Process, agent: str = "main") -> str:
    call = Call(agent, "read", {"path": f"/{time.monotonic_ns()}"})
    return str(process.do(lambda engine: engine.guard(call), waits=True).decision)


def test_a_request_to_the_model_costs_one_round_trip(wire: Wire, process: Opened) -> None:
    one = process(refresh_seconds=3600)
    one.do(lambda engine: engine.agent_started("sub", "main", "subagent"))
    one.use("sub", 1)
    one.use("sub", 0)
    with one.keeper._lock:  # what is fetched for agents that are new is there
        before = wire.round_trips
    for number in range(10):
        one.use("sub", 5, f"r{number}")
    assert wire.round_trips - before == 10
    assert one.account("main").family_spent == 51


def test_a_guard_never_waits_for_the_network(wire: Wire, process: Opened) -> None:
    one = process()
    one.use("main", 1)
    wire.delay = 1.0
    before = time.monotonic()
    for number in range(20):
        assert guard(one, f"agent-{number}") == "allow"
    assert time.monotonic() - before < 0.9
    wire.delay = 0.0


def test_what_others_spend_is_noticed(process: Opened) -> None:
    here, there = process(maxTokens=100), process()
    here.use("main", 1)
    there.use("main", 99)
    until(lambda: guard(here) == "deny", "the budget was noticed")


def test_an_agent_that_is_stored_is_known_soon_after_it_is_seen(process: Opened) -> None:
    there = process()
    there.do(lambda engine: engine.agent_started("sub", "main", "subagent"))
    there.use("sub", 100)
    here = process(maxTokens=100)
    until(lambda: guard(here, "sub") == "deny", "the agent, and its root, were loaded")


def test_an_answer_that_was_lost_is_asked_for_again_and_counts_once(
    wire: Wire, process: Opened, redis_server: RedisServer, namespace: str
) -> None:
    one = process(refresh_seconds=1)
    one.use("main", 10)
    with one.keeper._lock:  # nothing is asked now
        wire.lose_answers = True
    one.use("main", 5)  # stored, but not acknowledged, and without an id of its own
    one.use("main", 5)
    assert one.keeper.status()["degraded"] is True
    assert account(redis_server, namespace, "main").session_spent >= 15
    wire.lose_answers = False
    until(lambda: one.keeper.status()["degraded"] is False, "the server was used again")
    one.use("main", 1)
    assert one.account("main").session_spent == 21
    assert account(redis_server, namespace, "main").session_spent == 21


def test_a_server_that_goes_away_and_comes_back(process: Opened, namespace: str) -> None:
    with RedisServer() as server:
        one, other = process(server.address, maxTokens=100), process(server.address)
        one.use("main", 10, "a")
        server.stop()
        for number in range(5):
            one.use("main", 10, f"one-{number}")
            other.use("main", 5, f"other-{number}")
        one.use("main", 40, "b")
        assert guard(one) == "deny"  # budgets hold on what is known here
        assert one.keeper.status()["degraded"] is True
        assert [len(each.logged) for each in (one, other)] == [1, 1]
        server.start()
        until(lambda: not (one.keeper.status()["degraded"] or other.keeper.status()["degraded"]), "both came back")
        one.use("main", 1, "c")
        assert one.account("main").session_spent == 10 + 50 + 25 + 40 + 1
        assert account(server, namespace, "main").session_spent == 126
        end_all()


def test_a_server_that_is_not_there_yet(process: Opened, namespace: str) -> None:
    with RedisServer() as server:
        server.stop()
        one = process(server.address)
        one.use("main", 10)
        assert one.account("main").session_spent == 10
        assert "out of reach" in one.logged[0]
        server.start()
        until(lambda: one.keeper.status()["degraded"] is False, "it was found")
        one.keeper.close()
        assert account(server, namespace, "main").session_spent == 10


def test_what_waits_at_the_end_is_stored_then(process: Opened, redis_server: RedisServer, namespace: str) -> None:
    one = process()
    for _ in range(5):
        guard(one)
    one.keeper.close()
    assert account(redis_server, namespace, "main").tools == 5


def test_keys_of_another_program_are_left_alone(redis_server: RedisServer, namespace: str) -> None:
    store = redis_store.RedisStore(redis_server.address, namespace)
    store._db.set(f"toolbreaker:{{{namespace}}}:agent:main", "somebody else's")
    with pytest.raises(BrokenError):
        store.apply([Entry("charge", "main", 10)])
    assert store._db.get(f"toolbreaker:{{{namespace}}}:agent:main") == b"somebody else's"
    store.close()


def test_namespaces_do_not_meet(redis_server: RedisServer, namespace: str) -> None:
    one = redis_store.RedisStore(redis_server.address, namespace)
    other = redis_store.RedisStore(redis_server.address, f"{namespace}-other")
    one.apply([Entry("charge", "main", 10)])
    assert other.read(["main"]) == {}
    assert one.key != other.key
    one.close()
    other.close()


def test_keys_of_another_program_name_no_namespace(redis_server: RedisServer, namespace: str) -> None:
    store = redis_store.RedisStore(redis_server.address, namespace)
    store.apply([Entry("charge", "main", 10)])
    keys = b"toolbreaker:{\xff}:agents", b"toolbreaker:{../up}:agents", b"toolbreaker:{}:agents"
    for key in keys:
        store._db.set(key, "somebody else's")
    others = namespaces(redis_server.address, "default")
    assert namespace in others
    assert not {"\N{REPLACEMENT CHARACTER}", "../up", ""}.intersection(others)
    store._db.delete(*keys)
    store.close()


def test_agents_that_nobody_heard_of_expire(redis_server: RedisServer, namespace: str) -> None:
    store = redis_store.RedisStore(redis_server.address, namespace)
    prefix = f"toolbreaker:{{{namespace}}}:"
    store.apply([Entry("start", "old", line=("main",), kind="subagent"), Entry("charge", "old", 10, "r1")])
    assert store.expire(30) == 0
    store._db.zadd(f"{prefix}agents", {"old": time.time() - 31 * 86_400})
    assert store.expire(30) == 0  # once a day
    store._db.delete(f"{prefix}expired")
    assert store.expire(30) == 1
    assert [agent.name for agent in store.agents()] == ["main"]
    assert store.reset("main", budget=True) == ["main"]
    assert [key for key in store._db.keys(f"{prefix}*") if key.endswith(b":old")] == []
    store.close()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("redis://me:hunter2@db.example:6380/3", "redis://db.example:6380/3"),
        ("rediss://:hunter2@db.example", "rediss://db.example"),
        ("unix:///run/redis.sock?password=hunter2", "unix:///run/redis.sock"),
    ],
)
def test_credentials_are_shown_to_nobody(address: str, shown: str) -> None:
    assert redis_store.without_credentials(address) == shown


def test_a_server_with_a_password(redis_server: RedisServer, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = redis_store.RedisStore(redis_server.address, namespace)
    admin._db.config_set("requirepass", "hunter2")
    try:
        refused = Process(open_store(redis_server.address, namespace)[0])
        refused.use("main", 5)
        (line,) = refused.logged
        assert re.search("[Aa]uthentication required", line)
        monkeypatch.setenv("TOOLBREAKER_STATE_PASSWORD", "hunter2")
        allowed = Process(open_store(redis_server.address.replace("redis:", "valkey:"), namespace)[0])
        allowed.use("main", 5)
        assert allowed.logged == []
        assert allowed.account("main").session_spent == 5
        assert "hunter2" not in str(allowed.keeper.status())
    finally:
        end_all()
        admin._db.config_set("requirepass", "")
        admin.close()


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError):
        open_store("redis://host:port:9/x")
    ended = run("serve", "--state", "redis://host:notaport/0")
    assert ended.returncode == 2
    assert b"redis://host" in ended.stderr


def test_serving_and_looking(redis_server: RedisServer, namespace: str) -> None:
    place = ["--state", redis_server.address, "--namespace", namespace]
    with Server(*place) as server:
        server.call("agentStarted", agent="sub", parent="main", kind="subagent")
        server.call("usage", agent="sub", inputTokens=7, requestId="r1")
        assert server.call("status")["state"]["engine"] == "redis"
        assert server.close() == 0
        assert server.stderr() == ""
    with Server(*place) as server:
        spent = server.call("status", agent="sub")["agents"]["sub"]["spent"]
        assert spent == {"turn": 0, "session": 7, "family": 7}
        assert server.close() == 0
    shown = json.loads(run("state", "--json", *place).stdout)
    assert {agent["name"]: agent["account"]["family_spent"] for agent in shown["agents"]} == {"main": 7, "sub": 7}
    assert run("state", "reset", "--all", *place).stdout.startswith(b"Forgot 2 agents")


def test_a_process_per_event(redis_server: RedisServer, namespace: str) -> None:
    config = ["--once", "--state", redis_server.address, "--namespace", namespace]
    config += ["--limits", '{"exact": 3}', "--on-limit", "deny"]
    request = message("guard", {"tool": "ls", "arguments": {}})
    decisions = [json.loads(run("serve", *config, data=request).stdout)["result"]["decision"] for _ in range(4)]
    assert decisions == ["allow", "allow", "deny", "deny"]


def test_an_event_that_took_too_long_does_not_write_over_what_another_one_left(
    redis_server: RedisServer, namespace: str
) -> None:
    slow, quick = (redis_store.RedisStore(redis_server.address, namespace) for _ in range(2))
    slow.begin()
    slow.remember({"main": b"of the slow one"})
    slow._db.delete(slow._key("lock"))  # as the server does in time
    quick.begin()
    quick.remember({"main": b"of the quick one"})
    with pytest.raises(AwayError, match="it took longer"):
        slow.commit()
    quick.commit()
    assert quick.memory("main") == b"of the quick one"
    for store in (slow, quick):
        store.close()
