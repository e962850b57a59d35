"""Sessions that go round in circles are stopped, sessions that work are not, however they are told."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest
from judgement.play import HERE, cases, gates, play
from judgement.rewrites import REWRITES, rewritten
from judgement.write import FILES, lines

NEED_CLOCK = {
    "ci-run",
    "every-five-minutes",
    "heartbeat",
    "heartbeat-rounds",
    "hold-for-review",
    "incident-room",
    "interleaved-builds",
    "k8s-rollout",
    "long-poll-for-a-person",
    "night-watch",
    "pod-log-quiet",
    "sensor-by-the-minute",
    "trade-watch",
    "two-minutes-apart",
    "tail-that-stays",
}
"""Work that only its times tell from going round in circles."""
NEED_STEPS = {"burst-of-failures", "batch-refused"}
"""Work that only its steps tell."""
NEED_QUIET = {
    "is-the-report-done",
    "menu-open-and-closed",
    "pod-log-quiet",
    "tail-that-stays",
    "think-only",
    "thoughts-in-new-words",
    "who-said-what",
}
"""Sessions in which nothing else happens: loops of thoughts and of questions, and waits without a word of it."""

AUTHORED = [case for name in FILES for case in cases(HERE / name)]
GIVEN = [
    case
    for name in os.environ.get("JUDGEMENT_CASES", "").split(os.pathsep)
    if name
    for case in cases(pathlib.Path(name))
]
CASES = [*AUTHORED, *GIVEN]


@pytest.mark.parametrize("name", FILES)
def test_the_files_hold_what_is_authored(name: str) -> None:
    assert (HERE / name).read_text(encoding="utf-8") == lines(FILES[name])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_session_is_judged_rightly(case: dict[str, Any]) -> None:
    at, verdict = play(case)
    assert (at is not None) == (case["want"] == "stop"), f"stopped at {at} by {gates(verdict)}: {case['why']}"


def test_most_calls_of_loops_are_saved() -> None:
    stopped = [(play(case)[0], len(case["steps"])) for case in CASES if case["want"] == "stop"]
    saved = [1 - (at + 1) / total for at, total in stopped if at is not None]
    assert sum(saved) / len(saved) > 0.5


@pytest.mark.parametrize("name", REWRITES)
def test_a_session_told_otherwise_is_judged_the_same(name: str) -> None:
    spared = {"without_clock": NEED_CLOCK, "without_steps": NEED_STEPS, "with_unrelated_reads": NEED_QUIET}.get(
        name, set()
    )
    wrong = []
    for case in CASES:
        at, verdict = play(rewritten(case, name))
        if (at is None) == (case["want"] == "stop") and case["case"] not in spared:
            wrong.append((case["case"], case["want"], at, gates(verdict)))
    assert not wrong
