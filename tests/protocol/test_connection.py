"""JSON-RPC in memory: what is a request, what is an error, and that nothing but replies comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Memory, message, notification

from breaker.engine import Engine

READ = {"tool": "read", "arguments": {"path": "a.py"}}


def code(reply: dict[str, Any]) -> int:
    assert "result" not in reply
    number = reply["error"]["code"]
    assert isinstance(number, int)
    return number


# -- requests and notifications -------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["a", "", 7, -1, 0, 1.5, None, 2**70])
def test_a_reply_carries_the_id_of_its_request(id_: Any) -> None:
    (reply,) = Memory().feed(message("shutdown", {}, id_))
    assert reply == {"jsonrpc": "2.0", "id": id_, "result": {}}


def test_a_notification_has_no_reply_and_the_same_effect() -> None:
    memory = Memory()
    assert memory.feed(notification("guard", READ)) == []
    assert memory.call("guard", **READ, explain=True)["fingerprints"][0]["count"] == 2


@pytest.mark.parametrize("method", ["guard", "nonsense", "status"])
@pytest.mark.parametrize("params", [None, {}, [], 5, {"tool": 1}])
def test_a_notification_that_fails_is_silent(method: str, params: Any) -> None:
    assert Memory().feed(notification(method, params)) == []


def test_a_notification_with_a_list_of_params_does_nothing() -> None:
    memory = Memory()
    memory.call("guard", **READ)
    memory.feed(notification("userTurn", []))
    assert memory.call("guard", **READ, explain=True)["fingerprints"][0]["count"] == 2


@pytest.mark.parametrize("line", [message("status", None), b'{"jsonrpc":"2.0","id":1,"method":"status"}\n'])
def test_params_that_are_null_or_absent_are_empty(line: bytes) -> None:
    (reply,) = Memory().feed(line)
    assert "result" in reply


@pytest.mark.parametrize("params", [[], [1], "x", 5, True])
def test_params_that_are_no_object_are_invalid(params: Any) -> None:
    error = Memory().fail("status", params)
    assert error["code"] == -32602
    assert error["data"] == [{"key": "$", "problem": "Expected `object`"}]


def test_unknown_params_and_members_are_ignored() -> None:
    memory = Memory()
    request = {"jsonrpc": "2.0", "id": 1, "method": "guard", "params": {**READ, "later": 1}, "trace": "x"}
    (reply,) = memory.feed(json.dumps(request).encode() + b"\n")
    assert reply["result"]["decision"] == "allow"


def test_a_parameter_may_be_called_like_anything_in_python() -> None:
    assert "result" in Memory().ask("status", {"self": 1, "session": 2, "params": 3, "not a name": 4})


# -- what is no request ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        (b"1\n", None),
        (b'"guard"\n', None),
        (b"null\n", None),
        (b"{}\n", None),
        (b"[]\n", None),
        (b'{"jsonrpc":"2.0"}\n', None),
        (b'{"jsonrpc":"2.0","id":3}\n', 3),
        (b'{"jsonrpc":"2.0","id":3,"result":{}}\n', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":4}\n', 3),
        (b'{"jsonrpc":"1.0","id":3,"method":"status"}\n', 3),
        (b'{"id":"x","method":"status"}\n', "x"),
        (b'{"jsonrpc":"2.0","id":true,"method":"status"}\n', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"status"}\n', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"status"}\n', None),
    ],
)
def test_what_is_no_request_is_32600(line: bytes, id_: Any) -> None:
    (reply,) = Memory().feed(line)
    assert code(reply) == -32600
    assert reply["id"] == id_


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b'{"jsonrpc":"2.0","id":1,"method":"status"\n',
        b'{"jsonrpc":"2.0","id":1,"method":"guard","params":{"tool":"x","arguments":NaN}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_no_json_is_32700(line: bytes) -> None:
    (reply,) = Memory().feed(line)
    assert code(reply) == -32700
    assert reply["id"] is None


def test_an_oversized_line_is_32600_and_the_next_is_answered() -> None:
    memory = Memory(max_line_bytes=200)
    first, second = memory.feed(b"x" * 201 + b"\n" + message("status"))
    assert (code(first), first["id"]) == (-32600, None)
    assert "result" in second


@pytest.mark.parametrize("method", ["nonsense", "", "__class__", "Guard", "initialize\n"])
def test_a_method_that_is_not_there_is_32601(method: str) -> None:
    error = Memory().fail(method, {})
    assert error["code"] == -32601
    assert repr(method) in error["data"]


# -- batches --------------------------------------------------------------------------------------------------


def batch(*lines: bytes) -> bytes:
    return b"[" + b",".join(line.strip() for line in lines) + b"]\n"


def test_a_batch_is_answered_by_one_array_without_its_notifications() -> None:
    (replies,) = Memory().feed(batch(message("status", {}, 1), notification("status"), message("userTurn", {}, 2)))
    assert [reply["id"] for reply in replies] == [1, 2]


def test_a_bad_item_of_a_batch_spoils_no_other() -> None:
    bad = b'{"id":5}', b"1", message("nonsense", {}, 6), message("guard", {}, 7), message("guard", [], 8)
    (replies,) = Memory().feed(batch(message("status", {}, 1), *bad, message("status", {}, 2)))
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (1, None),
        (5, -32600),
        (None, -32600),
        (6, -32601),
        (7, -32602),
        (8, -32602),
        (2, None),
    ]


def test_a_batch_of_one_is_an_array_and_one_of_notifications_is_silence() -> None:
    memory = Memory()
    (replies,) = memory.feed(batch(message("status")))
    assert len(replies) == 1
    assert memory.feed(batch(notification("status"), notification("nonsense"))) == []


def test_an_array_in_a_batch_is_no_request() -> None:
    (replies,) = Memory().feed(b"[[]]\n")
    assert [code(reply) for reply in replies] == [-32600]


def test_a_batch_is_worked_off_in_order() -> None:
    call = message("guard", {**READ, "explain": True})
    (replies,) = Memory().feed(batch(call, call, message("userTurn", {}), call))
    counts = [r["result"]["fingerprints"][0]["count"] for r in replies if "fingerprints" in r["result"]]
    assert counts == [1, 2, 1]


# -- lines ----------------------------------------------------------------------------------------------------


def test_each_reply_is_one_line_and_comes_before_the_next_request_is_looked_at() -> None:
    memory = Memory()
    lines = memory.lines(message("guard", READ, 1) * 3)
    assert next(lines).endswith(b"}\n")
    assert memory.session.engine.status()["agents"]["main"]["tools"] == 1
    assert [line.count(b"\n") for line in lines] == [1, 1]


def test_nothing_is_answered_after_shutdown() -> None:
    memory = Memory()
    (reply,) = memory.feed(message("shutdown", {}, 1) + message("status", {}, 2))
    assert reply["id"] == 1
    assert memory.session.over


def test_a_last_line_without_lf_is_answered_at_the_end() -> None:
    memory = Memory()
    assert memory.feed(message("status").rstrip()) == []
    (reply,) = memory.close()
    assert "result" in reply


# -- faults of ours -------------------------------------------------------------------------------------------


class Faulty(Engine):
    """An engine in which everything goes wrong."""

    def _fault(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret detail")

    guard = approve = settle = usage = user_turn = status = compacted = _fault


def test_a_fault_while_judging_lets_the_call_pass() -> None:
    memory = Memory(engine_for=Faulty)
    assert memory.call("guard", **READ) == {"decision": "allow", "hits": [], "degraded": True}


def test_a_fault_is_logged_once_with_its_traceback() -> None:
    memory = Memory(engine_for=Faulty)
    for _ in range(3):
        memory.call("guard", **READ)
    (text,) = memory.logged
    assert text.startswith("a fault in guard\nTraceback (most recent call last):")
    assert text.endswith("RuntimeError: a secret detail")


@pytest.mark.parametrize(("outcome", "decision"), [("approved", "allow"), ("rejected", "deny")])
def test_after_a_fault_the_operators_word_stands(outcome: str, decision: str) -> None:
    result = Memory(engine_for=Faulty).call("approval", callId="c", outcome=outcome)
    assert result == {"decision": decision, "hits": [], "degraded": True}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("postExecute", {"callId": "c", "result": {}}),
        ("usage", {"inputTokens": 1}),
        ("userTurn", {}),
        ("status", {}),
        ("compacted", {}),
    ],
)
def test_any_other_fault_is_32603_and_its_text_stays_here(method: str, params: Any) -> None:
    memory = Memory(engine_for=Faulty)
    assert memory.fail(method, params) == {"code": -32603, "message": "Internal error"}
    assert "a secret detail" in memory.logged[0]


class Unkept:
    """A memory that cannot be kept."""

    def attach(self, engine: Engine) -> None:
        pass

    def recall(self, agent: str | None) -> None:
        pass

    def before(self) -> None:
        raise OSError("a secret detail")

    def after(self, *, waits: bool) -> None:
        raise OSError("a secret detail")

    def status(self) -> dict[str, object]:
        return {}


def test_a_fault_around_the_judging_lets_the_call_pass_too() -> None:
    memory = Memory()
    memory.session.keeping = Unkept()
    assert memory.call("guard", **READ) == {"decision": "allow", "hits": [], "degraded": True}
    assert memory.fail("userTurn") == {"code": -32603, "message": "Internal error"}


class Unspeakable(Engine):
    """An engine whose status cannot be written as JSON."""

    def status(self, agent: str | None = None) -> dict[str, Any]:
        return {"agent": agent, "thing": object()}


def test_a_result_that_cannot_be_encoded_is_32603_alone_in_its_batch() -> None:
    memory = Memory(engine_for=Unspeakable)
    assert memory.fail("status") == {"code": -32603, "message": "Internal error"}
    (replies,) = memory.feed(batch(message("userTurn", {}, 1), message("status", {}, 2)))
    assert [(reply["id"], "error" in reply) for reply in replies] == [(1, False), (2, True)]


# -- whatever comes -------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["agent", "callId", "tool", "arguments", "result", "at", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": JSON,
        "method": st.sampled_from(["guard", "postExecute", "approval", "initialize", "usage", "userTurn", "x"]) | JSON,
        "params": JSON,
    },
)
LINES = st.one_of(
    st.binary(max_size=20),
    st.builds(lambda value: json.dumps(value).encode(), REQUESTS | st.lists(REQUESTS, max_size=3) | JSON),
)


@given(st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b""])), max_size=6))
def test_whatever_bytes_go_in_only_valid_replies_come_out(pieces: list[tuple[bytes, bytes]]) -> None:
    memory = Memory(max_line_bytes=400)
    out = [line for piece, end in pieces for line in memory.lines(piece + end)]
    out += memory.connection.close()
    for line in out:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        value = json.loads(line)
        replies = value if isinstance(value, list) else [value]
        assert replies
        for reply in replies:
            assert reply["jsonrpc"] == "2.0"
            assert not isinstance(reply["id"], dict | list | bool)
            assert set(reply) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
            if "error" in reply:
                assert reply["error"]["code"] in (-32700, -32600, -32601, -32602)
    assert memory.logged == []
