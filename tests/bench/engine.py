"""The engine alone, in this process: CPU time, so that whatever else the machine does plays a small part."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from measure import PROFILES, head, output, p50, p99, row

from breaker import Call, Engine, Layer, Result, Settled, resolve

Key = TypeVar("Key")
Event = tuple[Call, Result]

NUMBERS = count(1)
"""No two calls share one: what is new to one engine is in no cache that another one filled."""

ROTATION = 20
"""Commands that take turns: more than the window of 16 holds, so that each is known and none is stopped."""


class Subject(NamedTuple):
    """An engine and what happens to it."""

    engine: Engine
    events: Iterator[Event]


class Costs(NamedTuple):
    """Seconds of CPU time, one for each call."""

    guard: list[float]
    settle: list[float]

    def together(self) -> list[float]:
        return [sum(pair) for pair in zip(*self, strict=True)]


def costs(subjects: Mapping[Key, Subject], rounds: int) -> dict[Key, Costs]:
    """What guarding and settling takes each engine. They take turns."""
    found = {key: Costs([], []) for key in subjects}
    gc.collect()
    gc.freeze()  # as `serve` does
    for _ in range(rounds):
        for key, (engine, events) in subjects.items():
            call, result = next(events)
            settled = Settled(call.agent, result, call.call_id)
            began = time.thread_time()
            verdict = engine.guard(call)
            judged = time.thread_time()
            engine.settle(settled)
            ended = time.thread_time()
            if verdict.decision != "allow":
                raise SystemExit(f"bench: work, not refusals, was to be measured: {verdict}")
            found[key].guard.append(judged - began)
            found[key].settle.append(ended - judged)
    return found


def fresh(profile: str, **config: Any) -> Engine:
    return Engine(resolve([Layer("bench", {"profile": profile, **config})]).settings, key=b"bench")


# -- what happens -------------------------------------------------------------------------------------------


def reads() -> Iterator[Event]:
    for number in NUMBERS:
        yield event(number, "read", file_path=f"src/module_{number}.py")


def commands(agents: int = 1, answer: int = 1_000) -> Iterator[Event]:
    """Shell commands never seen before, of agents in turn; so many characters come back."""
    for turn in count():
        number = next(NUMBERS)
        yield event(number, "bash", agent=f"agent-{turn % agents}", answer=answer, command=script(number))


def known_commands() -> Iterator[Event]:
    for turn in count():
        yield event(next(NUMBERS), "bash", command=script(turn % ROTATION))


def script(number: int) -> str:
    return f"cd /repo && python3 tools/step_{number:06}.py --out build/x"


def event(number: int, tool: str, *, agent: str = "main", answer: int = 1_000, **arguments: str) -> Event:
    """A call, the only one of its model response, and its outcome."""
    result = Result(content=output(number, answer), value={"kind": "foreground", "exitCode": 0})
    return Call(agent, tool, arguments, f"c{number}", step=f"s{number}"), result


# -- the section --------------------------------------------------------------------------------------------


def engine(_: Path, rounds: int) -> None:
    head("`guard` in the engine, µs of CPU time", *(f"`{p}` {q}" for p in PROFILES for q in ("p50", "p99")), "times")
    for name, events in (
        ("a read", reads),
        ("a new shell command", commands),
        ("a shell command seen before", known_commands),
    ):
        found = costs({profile: Subject(fresh(profile), events()) for profile in PROFILES}, rounds)
        standard, adaptive = (found[profile].guard for profile in PROFILES)
        row(name, p50(standard), p99(standard), p50(adaptive), p99(adaptive), p50(adaptive) / p50(standard))

    answers = {"1 kB": (1_000, rounds), "30 kB": (30_000, rounds), "1 MB": (1_000_000, max(3, rounds // 10))}
    by_size = [
        costs({profile: Subject(fresh(profile), commands(answer=size)) for profile in PROFILES}, times)
        for size, times in answers.values()
    ]
    head("`settle` of a shell command, µs of CPU time", *(f"{size} {q}" for size in answers for q in ("p50", "p99")))
    for profile in PROFILES:
        settled = [found[profile].settle for found in by_size]
        row(f"`{profile}`", *(figure(samples) for samples in settled for figure in (p50, p99)))
