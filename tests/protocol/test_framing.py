"""Lines come out the same however the bytes came in."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.framing import BOM, Framer, Line, Skipped

LIMIT = 10
TOO_LONG = Skipped.OVERSIZED

EXAMPLES: list[tuple[bytes, list[Line]]] = [
    (b"", []),
    (b"one\n", [b"one"]),
    (b"one\ntwo\n", [b"one", b"two"]),
    (b"one\r\ntwo\r\n", [b"one", b"two"]),
    (b"one\ntwo", [b"one", b"two"]),
    (b"one\r", [b"one"]),
    (b"\n\r\n \t\n\n", []),
    (b"\n\none\n\n", [b"one"]),
    (BOM + b"one\n" + BOM + b"two\n", [b"one", b"two"]),
    (BOM + b"\n", []),
    (BOM, []),
    (b"a\rb\n", [b"a\rb"]),
    (b"0123456789\n", [b"0123456789"]),
    (b"0123456789\r\n", [b"0123456789"]),
    (b"0123456789", [b"0123456789"]),
    (b"0123456789x\nok\n", [TOO_LONG, b"ok"]),
    (b"0123456789x\r\nok\n", [TOO_LONG, b"ok"]),
    (b"0123456789\r\r\nok\n", [TOO_LONG, b"ok"]),
    (b"ok\n" + b"x" * 100 + b"\n" + b"y" * 100 + b"\nok", [b"ok", TOO_LONG, TOO_LONG, b"ok"]),
    (b"x" * 100, [TOO_LONG]),
    (b" " * 100 + b"\n", [TOO_LONG]),
]


def framed(pieces: list[bytes]) -> list[Line]:
    framer = Framer(LIMIT)
    lines = [line for piece in pieces for line in framer.feed(piece)]
    return lines + framer.close()


@pytest.mark.parametrize(("data", "lines"), EXAMPLES)
def test_bytes_become_lines_whole_byte_by_byte_and_at_every_split(data: bytes, lines: list[Line]) -> None:
    assert framed([data]) == lines
    assert framed([data[i : i + 1] for i in range(len(data))]) == lines
    for split in range(len(data) + 1):
        assert framed([data[:split], data[split:]]) == lines


@given(st.lists(st.binary(max_size=15) | st.sampled_from([b"\n", b"\r\n", BOM, b" ", b"x" * 11])))
def test_no_way_of_splitting_makes_a_difference(pieces: list[bytes]) -> None:
    assert framed(pieces) == framed([b"".join(pieces)])


def test_a_line_is_there_as_soon_as_its_line_feed_is() -> None:
    framer = Framer()
    assert framer.feed(b"on") == []
    assert framer.feed(b"e\ntw") == [b"one"]
    assert framer.feed(b"o\n") == [b"two"]
    assert framer.close() == []


def test_a_line_that_is_too_long_is_not_held() -> None:
    framer = Framer(1000)
    piece = b"x" * 1000
    tracemalloc.start()
    try:
        for _ in range(1000):
            framer.feed(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000
    assert framer.feed(b"\n") == [TOO_LONG]


def test_a_line_that_memory_has_no_room_for_is_let_go_and_the_next_one_is_kept() -> None:
    framer = Framer(1000)
    assert not framer.make_room()
    framer.feed(b"x" * 500)
    assert framer.make_room()
    assert framer.feed(b"x" * 2000 + b"\nok\n") == [Skipped.NO_ROOM, b"ok"]
