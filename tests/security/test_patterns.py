"""No regular expression can be made to take long: each is linear, or is only ever shown a text of bounded length."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from security.patterns import Pattern, is_searched, noted, worst_texts, written

SIZE = 2_000
QUICK_SECONDS = 0.0002
"""What takes less with `SIZE` characters is no matter; a quadratic search of them takes 0.5 ms at the least."""
STEEP = 8
"""How much longer four times the text may take: 4 is linear, 16 quadratic."""
SLOW_SECONDS = 0.03
"""For `SIZE` characters, or as many as a pattern is ever shown: 15 µs a character at the most."""

LOOKED_AT = 8
"""Of the slow texts those that are tried at both lengths."""

BOUNDED = {
    ("breaker/evidence/answer_table.py", "EMPTY"): 200,  # answers.py: `len(body) <= 200`
    ("breaker/evidence/answer_table.py", "NOT_EMPTY"): 200,  # the same line
    ("breaker/identity/embedded.py", "_MEMBER"): 64,  # searched in the 64 characters before a string
}
"""Patterns that are shown so many characters and no more."""

COMPUTED = {"breaker/identity/canonical.py", "breaker/identity/embedded.py", "breaker/shell/commands.py"}
"""What may make a pattern at run time: of escaped texts, which repeat nothing."""

LITERAL, FOUND_IN = written()
PATTERNS = list(dict.fromkeys([*noted(), *LITERAL]))


class TooLongError(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Break off what takes more CPU time; an exponential search would never end."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(look: Callable[[Any], object], text: str, binary: bool, tries: int = 1) -> float:
    """CPU time of one look, the best of some."""
    given = text.encode("utf-8") if binary else text
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        look(given)
        best = min(best, time.thread_time() - started)
    return best


def steepest(pattern: Pattern) -> tuple[float, float, str]:
    """How the time grows with the worst of texts, how long it takes, and that text."""
    compiled = pattern.compiled()
    look = compiled.search if is_searched(pattern) else compiled.match
    size = BOUNDED.get((pattern.file, pattern.name), SIZE)
    longer = dict(zip(worst_texts(pattern, size), worst_texts(pattern, 4 * size), strict=True))
    took = {text: seconds(look, text, pattern.binary) for text in longer}
    slow = sorted((text for text in took if took[text] > QUICK_SECONDS), key=took.__getitem__)[-LOOKED_AT:]
    worst = (0.0, 0.0, "")
    for text in slow:
        least = seconds(look, text, pattern.binary, tries=3)
        more = seconds(look, longer[text], pattern.binary, tries=2) if size == SIZE else 0.0
        worst = max(worst, (more / max(least, QUICK_SECONDS), least, text))
    return worst


def test_all_of_them_are_looked_at() -> None:
    assert len(PATTERNS) > 200
    assert {"protocol/decode.py", "breaker/shell/tokens.py", "breaker/failure.py"} <= {each.file for each in PATTERNS}
    assert set(BOUNDED) <= {(each.file, each.name) for each in PATTERNS}
    assert FOUND_IN <= COMPUTED


@pytest.mark.parametrize("file", sorted({each.file for each in PATTERNS}))
def test_time_grows_with_the_text_and_no_faster(file: str) -> None:
    for pattern in PATTERNS:
        if pattern.file != file:
            continue
        try:
            with at_most(5):
                growth, took, text = steepest(pattern)
        except TooLongError:
            pytest.fail(f"{pattern.name or pattern.source[:80]} does not come to an end")
        assert growth < STEEP, f"{pattern.name or pattern.source[:80]}: {text[:60]!r} {text[-6:]!r}"
        assert took < SLOW_SECONDS, f"{pattern.name or pattern.source[:80]}: {text[:60]!r} {text[-6:]!r}"


@pytest.mark.parametrize(
    ("source", "whole"),
    [(r"(?: -\w{1,9}| -\d)*\Z", "exponential"), (r"print[^;]*>", "quadratic"), (r"\s+\Z", "quadratic")],
)
def test_the_test_sees_what_it_looks_for(source: str, whole: str) -> None:
    try:
        with at_most(1):
            growth, _, _ = steepest(Pattern("", "", source))
    except TooLongError:
        growth = float("inf")
    assert growth >= STEEP, whole
