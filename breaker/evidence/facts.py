"""What is remembered of a call and of its answer, as plain data."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from breaker.evidence.classes import Kind

Outcome = Literal["ok", "empty", "fail", "denied", "invalid", "aborted"]

TRANSIENT = frozenset({"rate", "refused", "reset", "dns", "timeout", "unavailable", "locked", "no answer"})
"""Classes of failures that may pass by themselves."""


class Facts(Struct, frozen=True):
    """What a call is, before it runs.

    `words` are digests of its free text's words; `content` says that its texts are what is written somewhere, not
    remarks. `template` is what a look looks at without its numbers, "" when it has none. `pointed`: a thing is pointed
    at by a reference beside its description. See `Summary` for the others.
    """

    tool: str
    kind: Kind
    strict: str
    loose: str
    family: str
    template: str = ""
    words: tuple[int, ...] = ()
    target: str = ""
    span: tuple[int, int] | None = None
    slept: float = 0.0
    incremental: bool = False
    overview: bool = False
    shell: bool = False
    content: bool = False
    writes: bool = False
    pointed: bool = False


class Answer(Struct, frozen=True):
    """`failure` is the class of a failure, hard when the system names it (errno, HTTP, auth, rate, time-out).

    `same` and `bones` are digests of the text without volatile tokens, and without numbers. `lines` are digests of its
    lines. `live` is 1 when the answer says that something goes on, -1 when it says that it is over; `started`
    when a command was left running. `size` is how much it says. `opaque` answers are pictures that cannot be seen here.
    """

    outcome: Outcome
    same: str
    bones: str
    failure: str = ""
    hard: bool = False
    lines: tuple[int, ...] = ()
    live: int = 0
    numbers: bool = False
    opaque: bool = False
    started: bool = False
    size: int = 0


def is_transient(failure_class: str) -> bool:
    """Whether a failure may pass by itself: then a pause before the next try is a way to get on."""
    return failure_class in TRANSIENT or failure_class.startswith("http 5") or failure_class == "http 429"
