"""The rules of the profile `adaptive` by name, and how much settled evidence stops a call.

The numbers stood on a plateau of recorded sessions: one more or one less changes no verdict there. Where a number is
an edge, it says so.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

RULES = (
    "sameAnswer",
    "looseKey",
    "reread",
    "fixedAnswer",
    "sameFailure",
    "nothingFound",
    "numbers",
    "noNews",
    "sleeps",
    "denied",
    "plans",
    "spawn",
)
"""Each can be turned off by itself."""


class Limits(Struct, frozen=True, rename="camel", kw_only=True):
    """Settled observations before a stop; `None` turns that part of a rule off.

    `sameAnswer`: one call, one answer, nothing new changed in between, by what the call is.
    """

    failure: int | None = 4
    transient_failure: int | None = 8  # that may pass by itself: refused, time-out, 429, 5xx, a lock
    look: int | None = 4
    slow_look: int | None = 8  # with nothing else in between, and at least 20 s from one to the next
    other: int | None = 5  # tools of which nothing is known
    run: int | None = 10  # people ask to run a test ten times
    write: int | None = 8  # the same content once more, where it stands already
    deed: int | None = 10  # an act upon the world; an edge: eleven equal clicks may be work
    increment: int | None = 20  # a key press, a scroll, a turned page
    # `sameAnswer` where something goes on by itself: polls in haste, without a clock, and with time between them
    hasty_poll: int | None = 12
    blind_poll: int | None = 20
    idle_poll: int | None = 30
    # `looseKey`: known answers of calls that differ in paging, flags or wording
    overview: int | None = 4  # of one repository, however spelled
    seen: int | None = 8
    seen_run: int | None = 12  # answers of one command that take turns
    # `reread`: reads of parts of one file that were read already
    reread: int | None = 10
    # `fixedAnswer`: different looks of one tool, one long answer
    fixed_answer: int | None = 8
    # `sameFailure`: one class of failure in a row, whatever the arguments
    same_failure: int | None = 6
    drifting_failure: int | None = 9  # the class is told from a text that differs, or the calls are rejected
    paced_failure: int | None = 12  # with pauses between the tries
    # `nothingFound`: looks in a row, an edge; and when all of them are lists, each asked for by its name
    nothing_found: int | None = 14
    empty_list: int | None = 20
    # `numbers`: answers that differ in nothing but numbers, in haste, or without a clock
    numbers: int | None = 20
    blind_numbers: int | None = 30
    # `noNews`: steps without a new action, answer or deed; with deeds among them; and of deeds alone
    no_news: int | None = 12
    no_news_deeds: int | None = 20
    bare_deeds: int | None = 32
    # `sleeps`: waits in a row; when they are long; and echoes
    sleeps: int | None = 3
    long_sleeps: int | None = 2
    echoes: int | None = 6
    # `denied`: the same call; any call of that tool
    denied: int | None = 3
    denied_any: int | None = 8
    # `plans`: of the last 20 calls, with nothing done; and in a row, new ones as well
    plans: int | None = 14
    thoughts: int | None = 26
    # `spawn`: levels, agents running under one, in a family, and started within a minute
    depth: int | None = 5
    children: int | None = 32
    family: int | None = 48
    spawns: int | None = 24


LIMITS: dict[str, int] = msgspec.to_builtins(Limits())
"""The limits by wire name. Where a rule has the name of a limit, that is its main one."""

NAMES = (*RULES, *(name for name in LIMITS if name not in RULES))
"""What the setting `adaptive` holds: rules, and limits that belong to a part of one."""


def switched(on: bool) -> dict[str, bool | int | None]:
    """The setting `adaptive` with every rule on, or off."""
    rules = {name: LIMITS.get(name, True) if on else None if name in LIMITS else False for name in RULES}
    return {**rules, **{name: LIMITS[name] for name in NAMES if name not in RULES}}


def read(setting: Mapping[str, bool | int | None]) -> tuple[Limits, frozenset[str]]:
    """The limits, and the rules that are off."""
    limits = {name: setting[name] for name in LIMITS if name in setting}
    return msgspec.convert(limits, Limits), frozenset(name for name in RULES if not setting.get(name))
