"""What is written down of evidence tells nothing without the key, and decides as the evidence itself does."""

from __future__ import annotations

import json

from breaker.engine import Engine
from breaker.events import Call, Decision, Result, Settled
from breaker.evidence.answers import read_answer
from breaker.evidence.facts import Answer, Facts
from breaker.evidence.keyed import keyed_answer, keyed_facts
from breaker.evidence.keys import describe
from breaker.failure import Classified
from breaker.options import Layer, resolve

CALL = {"file_path": "/srv/secret-project/plan.md"}
TEXT = "the password is hunter2\nand the pin is 4711\n"


def facts() -> Facts:
    return describe("read", CALL)


def answer() -> Answer:
    return read_answer(facts(), Result(content=TEXT), Classified("ok"))


def test_every_digest_of_a_call_and_of_its_answer_depends_on_the_key() -> None:
    call = describe("read", CALL | {"version": 7})
    plain, one, other = call, keyed_facts(call, b"one"), keyed_facts(call, b"other")
    for name in ("strict", "loose", "target", "template"):
        assert len({getattr(each, name) for each in (plain, one, other)}) == 3, name
    told, under_one, under_other = answer(), keyed_answer(answer(), b"one"), keyed_answer(answer(), b"other")
    assert told.lines
    for name in ("same", "bones", "lines"):
        assert len({getattr(each, name) for each in (told, under_one, under_other)}) == 3, name
    assert set(told.lines).isdisjoint(under_one.lines)


def test_what_is_equal_stays_equal_and_what_is_empty_empty() -> None:
    assert keyed_facts(facts(), b"k") == keyed_facts(facts(), b"k")
    assert keyed_facts(describe("ls", {}), b"k").target == ""
    hard, soft = Answer("fail", "s", "b", failure="http 404"), Answer("fail", "s", "b", failure="soft 0123456789abcdef")
    assert keyed_answer(hard, b"k").failure == "http 404"
    assert keyed_answer(soft, b"k").failure.startswith("soft ")
    assert "0123456789abcdef" not in keyed_answer(soft, b"k").failure


def play(engine: Engine) -> list[Decision]:
    decisions = []
    for number in range(30):
        call = Call("main", "read", CALL, f"c{number}", can_ask=False)
        decisions.append(engine.guard(call).decision)
        if decisions[-1] == "allow":
            engine.settle(Settled("main", Result(content=TEXT), f"c{number}"))
    return decisions


def test_a_memory_that_is_written_down_decides_alike_and_holds_no_plain_digest() -> None:
    settings = resolve([Layer("test", {"profile": "adaptive"})]).settings
    plain, compact = Engine(settings), Engine(settings, key=b"k" * 32, compact=True)
    decisions = play(plain)
    assert "deny" in decisions
    assert play(compact) == decisions
    written = json.dumps(compact.snapshot())
    told, known = answer(), facts()
    for digest in (told.same, told.bones, known.strict, known.loose, known.target, *map(str, told.lines)):
        assert digest not in written
        assert digest in json.dumps(plain.snapshot())
