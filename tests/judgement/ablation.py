"""What each part buys: every rule off, every rule alone, and every kind of evidence taken away.

usage: PYTHONPATH=.:tests python -m judgement.ablation [CASES.jsonl …] [RECORDED.jsonl.gz …]

The authored sessions are always played. A row shows loops stopped, the share of their calls saved, work stopped
falsely, and recorded sessions stopped.
"""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from judgement.play import HERE, Player, cases, play, recorded, settings
from msgspec import structs

from breaker.adaptive_limits import RULES
from breaker.evidence import answers, keys, log
from breaker.evidence.facts import Facts
from breaker.rules.adaptive import base, looks, repetition
from breaker.settings import Settings

Patch = Callable[[contextlib.ExitStack], None]


def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Patch:
    return lambda stack: stack.enter_context(mock.patch.object(owner, name, make(getattr(owner, name))))


def _no_clock(stack: contextlib.ExitStack) -> None:
    def guard(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, params: real(self, {**params, "at": None})

    def settle(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, params: real(self, {**params, "at": None})

    stack.enter_context(mock.patch.object(Player, "guard", guard(Player.guard)))
    stack.enter_context(mock.patch.object(Player, "settle", settle(Player.settle)))


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda real: lambda *_args, **_kwargs: value


def _no_loose_keys(real: Callable[..., Facts]) -> Callable[..., Facts]:
    def describe(*args: Any, **kwargs: Any) -> Facts:
        facts = real(*args, **kwargs)
        return structs.replace(facts, loose=facts.strict, overview=False, words=())

    return describe


def _no_kinds(real: Callable[..., Facts]) -> Callable[..., Facts]:
    return lambda *args, **kwargs: structs.replace(real(*args, **kwargs), kind="other")


def _steps_apart(real: Callable[..., int]) -> Callable[..., int]:
    def observe(held: log.Log, _step: str | None) -> int:
        held.settled_since, held.step_name = True, None
        return real(held, None)

    return observe


def _described(make: Callable[[Any], Any]) -> Patch:
    return _replaced(keys, "describe", make)


def _together(*patches: Patch) -> Patch:
    def apply(stack: contextlib.ExitStack) -> None:
        for patch in patches:
            patch(stack)

    return apply


EVIDENCE: dict[str, Patch] = {
    "without changes": _replaced(log, "_change", _always(0)),
    "without the moving world": _replaced(log, "_moved", _always(0)),
    "without novelty of answers": _replaced(log, "_share_of_new", _always(False)),
    "without blanking": _replaced(answers, "blank", lambda real: lambda text: text.lower()),
    "without the clock": _no_clock,
    "without loose keys": _described(_no_loose_keys),
    "without kinds of calls": _described(_no_kinds),
    "without steps": _replaced(log, "observe_guard", _steps_apart),
    "without patience for polls": _together(
        _replaced(base, "is_polled", _always(False)),
        _replaced(repetition, "is_polled", _always(False)),
        _replaced(looks, "is_polled", _always(False)),
    ),
    "without failures read from text": _replaced(answers, "_looks_failed", _always(False)),
    "without empty answers": _replaced(answers, "_is_empty", _always(False)),
}


def score(chosen: Settings, files: list[pathlib.Path], recordings: list[pathlib.Path]) -> str:
    """One row of the table."""
    loops = caught = work = false = stopped = sessions = 0
    saved: list[float] = []
    for path in files:
        for case in cases(path):
            at, _ = play(case, chosen)
            if case["want"] == "stop":
                loops += 1
                if at is not None:
                    caught += 1
                    saved.append(1 - (at + 1) / len(case["steps"]))
            else:
                work += 1
                false += at is not None
    for path in recordings:
        for session in recorded(path):
            sessions += 1
            stopped += _is_stopped(session, chosen)
    mean = sum(saved) / len(saved) if saved else 0
    return f"{caught:3}/{loops} {mean:5.0%} {false:4}/{work} {stopped:4}/{sessions}"


def _is_stopped(session: dict[str, Any], chosen: Settings) -> bool:
    player = Player(chosen)
    for method, params in session["messages"]:
        if method == "guard":
            if player.guard({"at": None, **params}).decision != "allow":
                return True
        elif method == "postExecute":
            player.settle(params)
        else:
            player.tell(method, params)
    return False


def variants() -> Iterator[tuple[str, Settings, Patch | None]]:
    """What is measured, by name."""
    yield "all", settings(), None
    for rule in RULES:
        yield f"without {rule}", settings(off=(rule,)), None
    for rule in RULES:
        yield f"{rule} alone", settings(off=[other for other in RULES if other != rule]), None
    for name, patch in EVIDENCE.items():
        yield name, settings(), patch


def main(paths: list[pathlib.Path]) -> None:
    files = [HERE / "loops.jsonl", HERE / "work.jsonl", *(path for path in paths if path.suffix == ".jsonl")]
    recordings = [path for path in paths if path.suffix == ".gz"]
    print(f"{'':34}   loops saved   false recorded")
    for name, chosen, patch in variants():
        with contextlib.ExitStack() as stack:
            if patch is not None:
                patch(stack)
            print(f"{name:34} {score(chosen, files, recordings)}", flush=True)


if __name__ == "__main__":
    main([pathlib.Path(argument) for argument in sys.argv[1:]])
