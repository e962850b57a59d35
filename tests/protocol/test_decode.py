"""What is JSON, and what is done about text that nearly is."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.decode import MAX_DEPTH, NotJsonError, decode


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"a":[1,2.5,true,null,"x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b" [1]\t\r", [1]),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        ('"\U0001f600"'.encode(), "\U0001f600"),
        (b'"\\u0000"', "\0"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_json_is_read(line: bytes, value: Any) -> None:
    assert decode(line) == value


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'"\\ud83d"', "\ufffd"),
        (b'"\\ude00"', "\ufffd"),
        (b'"a\\ud83db"', "a\ufffdb"),
        (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\U0001f600"),
        (b'"\\ude00\\ud83d"', "\ufffd\ufffd"),
        (b'"\\uD83D\\u0041"', "\ufffdA"),
        (b'"\\\\ud83d \\ud83d"', "\\ud83d \ufffd"),
        (b'{"\\ud83d":"\\ud83d"}', {"\ufffd": "\ufffd"}),
    ],
)
def test_a_lone_surrogate_is_replaced(line: bytes, value: Any) -> None:
    assert decode(line) == value


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"nonsense",
        b"NaN",
        b'{"a":NaN}',
        b"[Infinity]",
        b"[-Infinity]",
        b"[1,]",
        b"[1] [2]",
        b"{'a':1}",
        b'"\xff"',
        b'{"\xff":1}',
        b'"\xed\xa0\x80"',
        b'"\x01"',
        b'"\\ud83d',
        b'"\\ud83d" x',
        b'"\\ud8"',
        b"\xef\xbb\xbf",
        b"1e999",
        b"1" * 10_000,
    ],
)
def test_everything_else_is_refused(line: bytes) -> None:
    with pytest.raises(NotJsonError):
        decode(line)


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000])
def test_bottomless_nesting_is_refused(line: bytes) -> None:
    with pytest.raises(NotJsonError, match="nested too deeply"):
        decode(line)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_the_depth_that_is_accepted_does_not_depend_on_the_interpreter(opening: bytes, closing: bytes) -> None:
    levels = MAX_DEPTH // (opening.count(b"[") + opening.count(b"{"))
    assert decode(opening * levels + b"1" + closing * levels)
    with pytest.raises(NotJsonError, match="nested too deeply"):
        decode(opening * (levels + 1) + b"1" + closing * (levels + 1))


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    value = [[1], {"a": "[[[{{{"}] * 1000
    assert decode(json.dumps(value).encode()) == value


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value: Any) -> None:
    assert decode(json.dumps(value).encode()) == value
    assert decode(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.text(st.sampled_from(list('\ud83d\ude00\udfffa\\"/u{}\U0001f600'))))
def test_any_mix_of_surrogates_is_read(text: str) -> None:
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert decode(json.dumps(text).encode()) == paired


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(NotJsonError):
        decode(data)
