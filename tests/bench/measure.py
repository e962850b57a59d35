"""What the sections share: children that answer lines, the turns they take, and tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
TOOLBREAKER = str(Path(sys.executable).with_name("toolbreaker"))
SERVE = [TOOLBREAKER, "serve"]
PROFILES = ("standard", "adaptive")

FOREIGN = ("TOOLBREAKER_", "DSH_LOOP_GUARD_")
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
"""The environment of children: ours, without settings that the developer's own shell may hold."""

TURN = 200
"""Rounds of one child before it is the next one's turn."""


# -- tables -------------------------------------------------------------------------------------------------


def head(title: str, *columns: str) -> None:
    print(f"\n{title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}", flush=True)


def row(name: str, *cells: object) -> None:
    print(f"| {name} | " + " | ".join(_shown(cell) for cell in cells) + " |", flush=True)


def _shown(cell: object) -> str:
    """A measured number with three digits, or all that stand before the point."""
    if not isinstance(cell, float):
        return str(cell)
    decimals = 0 if cell >= 100 else 1 if cell >= 10 else 2
    return f"{cell:,.{decimals}f}".replace(",", " ")


def p10(samples: Iterable[float]) -> float:
    """What a tenth stays below, in microseconds: the least that a busy machine adds to."""
    return _percentile(samples, 0.10)


def p50(samples: Iterable[float]) -> float:
    """Median, in microseconds."""
    return _percentile(samples, 0.50)


def p99(samples: Iterable[float]) -> float:
    """99th percentile, in microseconds."""
    return _percentile(samples, 0.99)


def _percentile(samples: Iterable[float], share: float) -> float:
    ordered = sorted(samples)
    return 1e6 * ordered[int(share * len(ordered))]


# -- what is sent -------------------------------------------------------------------------------------------


def spelled(number: int) -> str:
    """A number in letters: another word for each, where digits may be taken for noise."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def output(number: int, size: int) -> str:
    """So many characters as a test run prints them, every line of them another for another number."""
    word = spelled(number)
    lines = (
        f"tests/{word}/test_{spelled(at)}.py::test_case_{at % 7} PASSED [{at % 100:3}%] {at % 97 / 100:.2f}s"
        for at in range(1 + size // len("tests/a/test_a.py::test_case_0 PASSED [  0%] 0.00s"))
    )
    return "\n".join(lines)[:size]


def line(number: int, method: str, **params: object) -> bytes:
    """A request as it stands on the wire."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


# -- children -----------------------------------------------------------------------------------------------


class Child:
    """A process that answers each line with a line. It is killed at the end, should it still run."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=ENVIRON)
        assert self.process.stdin
        assert self.process.stdout
        self._in, self._out = self.process.stdin, self.process.stdout

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in.close()
        try:
            self.process.wait(0 if kind else 10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._out.close()

    def trip(self, request: bytes) -> tuple[float, bytes]:
        """How many seconds the reply took, and the reply."""
        start = time.perf_counter()
        os.write(self._in.fileno(), request)
        reply = os.read(self._out.fileno(), 1 << 16)
        while not reply.endswith(b"\n"):
            more = os.read(self._out.fileno(), 1 << 16)
            if not more:
                raise SystemExit(f"bench: {self.process.args!r} ended after {request!r}")
            reply += more
        return time.perf_counter() - start, reply


@contextmanager
def one_core() -> Iterator[None]:
    """This process, and the children that it starts meanwhile, on one core: the scheduler plays no part."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


Lines = Callable[[int], tuple[bytes, ...]]


def round_trips(commands: Mapping[str, list[str]], lines: Lines, rounds: int) -> dict[str, list[list[float]]]:
    """Seconds of each round trip, by command and place in `lines`.

    The commands take turns, so that whatever else the machine does meets all of them.
    """
    warm = rounds // 10
    samples: dict[str, list[list[float]]] = {name: [[] for _ in lines(0)] for name in commands}
    with ExitStack() as stack:
        stack.enter_context(one_core())
        children = {name: stack.enter_context(Child(command)) for name, command in commands.items()}
        for begin in range(0, rounds + warm, TURN):
            for name, child in children.items():
                for number in range(begin, min(begin + TURN, rounds + warm)):
                    for taken, request in zip(samples[name], lines(number), strict=True):
                        seconds, reply = child.trip(request)
                        _must_pass(reply)
                        if number >= warm:
                            taken.append(seconds)
    return samples


def _must_pass(reply: bytes) -> None:
    """What is measured is work, not refusals."""
    if any(word in reply for word in (b'"deny"', b'"ask"', b'"error"')):
        raise SystemExit(f"bench: {reply!r}")
