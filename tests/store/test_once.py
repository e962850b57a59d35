"""A process per event judges as one process for all events would, and writes nothing down that gives a secret back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keeping import engine
from support import PATIENCE, Server, command_line, environment, message, run

from breaker.engine import Engine
from breaker.events import Call, Result, Settled, Usage
from breaker.state import Account
from protocol.store.base import AwayError, BrokenError, Store
from protocol.store.once import Once, decoded, encoded
from protocol.store.sqlite import open_file

Opener = Callable[[], Store]
Act = Callable[[Engine], Any]

OK = Result("done", {"kind": "foreground", "exitCode": 0})
FAILED = Result("boom", {"kind": "foreground", "exitCode": 1})
REFUSED = Result("no such file: /a/1", is_error=True, error={"message": "no such file"})


def event(another: Opener, act: Act, **config: Any) -> Any:
    """One event in a process of its own, as good as."""
    store = another()
    logged: list[str] = []
    once = Once(store, log=logged.append)
    judge = engine(compact=True, key=store.key, **config)
    once.attach(judge)
    answer = once.judge(lambda: act(judge))
    assert logged == []
    return answer


def shell(command: str, call_id: str, agent: str = "main", **more: Any) -> Act:
    return lambda on: on.guard(Call(agent, "bash", {"command": command}, call_id, **more))


def settle(call_id: str, result: Result = OK, agent: str = "main") -> Act:
    return lambda on: on.settle(Settled(agent, result, call_id))


def use(tokens: int, request: str | None = None, agent: str = "main") -> Act:
    return lambda on: on.usage(Usage(agent, tokens, request_id=request))


def summary(answer: Any) -> Any:
    """What of an answer must not depend on how many processes gave it."""
    if hasattr(answer, "decision"):
        return answer.decision, answer.code, [(h.gate, h.count, h.limit, h.fingerprint) for h in answer.hits]
    told = answer.advisories if hasattr(answer, "advisories") else answer
    if isinstance(told, tuple):
        return [(a.gate, a.stage, a.count, a.text) for a in told], getattr(answer, "failure", None)
    return answer


def calls(command: str, number: int, result: Result = OK) -> Iterator[Act]:
    for each in range(number):
        yield shell(command, f"{command} {each}")
        yield settle(f"{command} {each}", result)


SCENES: dict[str, tuple[dict[str, Any], list[Act]]] = {
    "occurrences, their advisories, the ask and its refusal": (
        {"limits": {"exact": 6}, "warnAt": 3, "summarizeAt": 5},
        [
            *calls("make test", 5),
            shell("make test", "asked"),
            lambda on: on.approve("main", "asked", "rejected"),
            settle("asked"),
            shell("make test", "again"),
        ],
    ),
    "an exemption that an operator gave": (
        {"limits": {"exact": 3}},
        [
            *calls("ls", 2),
            shell("ls", "asked"),
            lambda on: on.approve("main", "asked", "approved"),
            settle("asked"),
            *calls("ls", 3),
            lambda on: on.user_turn("main"),
            *calls("ls", 2),
            shell("ls", "asked again"),
        ],
    ),
    "failures in a row": (
        {"failWarnAt": 2, "failLimit": 3, "onLimit": "deny"},
        [*calls("curl https://a.example/x", 3, FAILED), shell("curl -s https://a.example/x", "z"), shell("ls", "y")],
    ),
    "a limit for one identity alone": (
        {"limits": {"net:a.example/x": 2, "exact": None, "cmd": None, "host": None, "net": None}, "onLimit": "deny"},
        [*calls("curl https://a.example/x", 1), shell("curl -s https://a.example/x", "z")],
    ),
    "repeats, skeletons, cycles and their hatch": (
        {"profile": "loop-guard", "cycleLimit": 2},
        [
            *calls("ls", 3),
            *(shell("ls", f"denied {n}") for n in range(5)),
            *(act for n in range(12) for act in calls(f"sed -n {n}p file", 1)),
            *(act for _ in range(3) for name in "ab" for act in calls(f"cat {name}", 1)),
        ],
    ),
    "the same error twice": (
        {"profile": "loop-guard"},
        [
            lambda on: on.guard(Call("main", "read", {"path": "/a/1"}, "1")),
            settle("1", REFUSED),
            lambda on: on.guard(Call("main", "read", {"path": "/a/2"}, "2")),
            settle("2", REFUSED),
            lambda on: on.guard(Call("main", "read", {"path": "/a/3"}, "3")),
        ],
    ),
    "budgets, with requests told twice": (
        {"maxTokens": 100, "familyMaxTokens": 150},
        [
            lambda on: on.agent_started("sub", "main", "subagent"),
            use(60, "r1", "sub"),
            use(60, "r1", "sub"),
            use(20, "r2"),
            use(20, "r3"),
            shell("ls", "1", "sub"),
            lambda on: on.user_turn("main"),
            shell("ls", "2", "sub"),
            use(50, "r4", "sub"),
            shell("ls", "3", "sub"),
        ],
    ),
    "evidence of no progress": (
        {"profile": "adaptive", "onLimit": "deny"},
        [*calls("make test", 8, FAILED), *calls("cat notes", 9), *calls("git status", 6)],
    ),
    "quotas": (
        {"subagentTools": 2, "subagentRequests": 1, "fanout": 1, "workflowAgents": 1},
        [
            *(shell("ls", str(n), "sub", parent="main") for n in range(5)),
            use(1, None, "sub"),
            use(1, None, "sub"),
            shell("ls", "x", "sub"),
            *(lambda on, n=n: on.guard(Call("main", "task", {}, f"t{n}")) for n in range(3)),
            *(lambda on, n=n: on.agent_started(f"w{n}", "main", "workflow", "c") for n in range(3)),
            *(shell("ls", f"{n}{a}", a) for n in range(2) for a in ("w0", "w1", "w2")),
            lambda on: on.agent_ended("sub"),
        ],
    ),
}


@pytest.mark.parametrize("scene", SCENES)
def test_events_in_processes_of_their_own_are_judged_as_in_one(scene: str, another: Opener) -> None:
    config, acts = SCENES[scene]
    key = another().key
    together = engine(key=key, **config)
    for number, act in enumerate(acts):
        assert summary(event(another, act, **config)) == summary(act(together)), f"event {number}"


def test_calls_that_come_without_an_id_get_ids_of_their_own(another: Opener) -> None:
    given = [event(another, shell("ls", "")).call_id for _ in range(3)]
    assert len(set(given)) == 3
    for call_id in given:
        event(another, settle(call_id))


def test_what_an_engine_remembers_survives_being_written_down(store: Store) -> None:
    judge = engine(compact=True, key=store.key)
    for act in SCENES["failures in a row"][1]:
        act(judge)
    memory = judge.state.agents["main"]
    restored = decoded(encoded(memory))
    memory.account, memory.results = Account(), []
    assert restored == memory


@pytest.mark.parametrize("memory", [None, b"", b"\x00\x63future", encoded(decoded(None))[:-3]])
def test_a_memory_of_another_version_or_shape_is_an_empty_one(memory: bytes | None) -> None:
    assert decoded(memory) == decoded(None)


class TestWithoutTheStore:
    """The event is judged, and one line says what is amiss."""

    class Broken:
        place = "/state"
        writable = True
        key = b"k"

        def __init__(self, error: Exception) -> None:
            self.error = error
            self.let_go: list[str] = []

        def begin(self) -> None:
            raise self.error

        def rollback(self) -> None:
            self.let_go.append("rollback")

        def close(self) -> None:
            self.let_go.append("close")

        def give_up(self) -> str:
            self.let_go.append("give up")
            return "it was set aside"

    @pytest.mark.parametrize(
        ("error", "let_go", "says"),
        [
            (AwayError("another process keeps it locked"), ["rollback", "close"], "locked"),
            (BrokenError("it is damaged"), ["rollback", "give up"], "it is damaged; it was set aside"),
            (ZeroDivisionError("oops"), ["rollback", "close"], "oops"),
        ],
    )
    def test_the_event_is_judged(self, error: Exception, let_go: list[str], says: str) -> None:
        store = self.Broken(error)
        logged: list[str] = []
        once = Once(store, log=logged.append)  # type: ignore[arg-type]
        judge = engine(compact=True)
        once.attach(judge)
        assert once.judge(lambda: shell("ls", "1")(judge)).decision == "allow"
        assert once.judge(lambda: use(10)(judge)) == ()
        (line,) = logged
        assert says in line
        assert once.status()["degraded"] is True
        assert store.let_go == let_go


AT_ONCE = 4
"""Processes that want the state at the same time. On a busy machine more of them wait longer than one may (4 s)."""

SECRETS = {
    "bearer": "hunter2hunter2hunter2",
    "userinfo": "topsecretpassword",
    "variable": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "argument": "correct-horse-battery",
    "output": "the-output-of-the-tool-is-nobodys-business",
}


def test_no_secret_and_no_output_is_in_the_file(tmp_path: Path) -> None:
    """With everything that leaves a trace: calls, denials, failures, errors, results."""
    state = tmp_path / "state.sqlite"
    looped: dict[str, Any] = {"profile": "loop-guard", "repeatLimit": 2, "limits": {"exact": 4}, "onLimit": "deny"}
    calls = [
        ("bash", {"command": f"curl -H 'Authorization: Bearer {SECRETS['bearer']}' https://a.example/x"}),
        ("bash", {"command": f"git clone https://me:{SECRETS['userinfo']}@b.example/r.git"}),
        ("bash", {"command": f"TOKEN={SECRETS['variable']} make deploy"}),
        ("login", {"password": SECRETS["argument"]}),
    ]
    output = f"FooError: {SECRETS['output']}"
    results = [
        Result(output, {"exitCode": 1}),
        Result(output, is_error=True, error={"message": output}),
        Result(output),
    ]
    for number, ((tool, arguments), result) in enumerate((c, r) for _ in range(2) for r in results for c in calls):
        call = Call("main", tool, arguments, str(number))
        for config in (looped, {"profile": "adaptive"}):
            event(lambda: open_file(state), lambda on, call=call: on.guard(call), **config)
            event(lambda: open_file(state), settle(call.call_id, result), **config)
    for tool, arguments in calls:
        request = message("guard", {"tool": tool, "arguments": arguments})
        run("serve", "--state", str(state), "--repeat-limit", "2", data=request + request)
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"LOOP_GUARD_REPEAT" in written
    assert b"its text is not kept" in written
    assert [name for name, secret in SECRETS.items() if secret.encode() in written] == []


@pytest.mark.parametrize("state", [True, False], ids=["with a state", "without"])
def test_one_request_is_answered_and_the_process_ends(state: bool, tmp_path: Path) -> None:
    """Whoever asks need not close the pipe, and what follows is nobody's business."""
    place = ["--state", str(tmp_path / "state.sqlite")] if state else []
    with Server("--once", *place) as server:
        server.send(message("guard", {"tool": "ls", "arguments": {}}, 1) + message("status", {}, 2))
        assert server.wait() == 0
        (line,) = server.rest().splitlines()
        assert json.loads(line)["id"] == 1
        assert server.stderr() == ""


def test_a_batch_is_one_event(tmp_path: Path) -> None:
    items = [message("usage", {"inputTokens": 5, "requestId": f"r{n}"}, n).strip() for n in range(3)]
    ended = run("serve", "--once", "--state", str(tmp_path / "state.sqlite"), data=b"[" + b",".join(items) + b"]\n")
    assert [reply["id"] for reply in json.loads(ended.stdout)] == [0, 1, 2]
    store = open_file(tmp_path / "state.sqlite")
    assert store.read(["main"])["main"].session_spent == 15
    store.close()


def test_processes_at_once_are_judged_one_after_the_other(tmp_path: Path) -> None:
    """Of 12 equal calls exactly those before the limit run, and every token is there."""
    state = tmp_path / "state.sqlite"
    config = ["--state", str(state), "--limits", '{"exact": 6}', "--on-limit", "deny"]
    requests = [message("guard", {"tool": "ls", "arguments": {}, "callId": f"c{n}"}) for n in range(12)] + [
        message("usage", {"inputTokens": 5}) for n in range(4)
    ]
    answers: list[Any] = []
    waiting = list(requests)
    while waiting:
        batch, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
        processes = [
            subprocess.Popen(
                command_line("serve", "--once", *config),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(),
            )
            for _ in batch
        ]
        for process, request in zip(processes, batch, strict=True):
            assert process.stdin
            process.stdin.write(request)
            process.stdin.close()
            process.stdin = None
        for process in processes:
            out, complaints = process.communicate(timeout=AT_ONCE * PATIENCE)
            assert complaints == b""
            answers.append(json.loads(out)["result"])
    decisions = [answer["decision"] for answer in answers if "decision" in answer]
    assert (decisions.count("allow"), decisions.count("deny")) == (5, 7)
    shown = json.loads(run("state", "--json", "--state", str(state)).stdout)
    (main,) = shown["agents"]
    assert (main["account"]["session_spent"], main["account"]["tools"]) == (20, 5)
