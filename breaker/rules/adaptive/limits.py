"""How much settled evidence stops a call. Each number is on a plateau of recorded sessions, or says why it is not."""

from __future__ import annotations

from msgspec import Struct

IDLE = 120.0
"""Seconds without any call from which on the agent is taken to have been waiting: for a time, a person, a schedule."""
HASTY = 5.0
"""Seconds between two polls below which they are hasty."""


class Limits(Struct, frozen=True):
    """Settled observations before a stop; `None` turns that part off."""

    failure: int | None = 4
    """one call, one failure or empty answer, nothing changed"""
    transient_failure: int | None = 6
    """the same, when the failure is of a kind that may pass by itself"""
    look: int | None = 4
    """one look, one answer, nothing changed"""
    other: int | None = 5
    """a call of unknown kind"""
    run: int | None = 10
    """a command that succeeds alike: people do ask to run a test ten times"""
    write: int | None = 6
    """a change of what stays, made again although it stands"""
    deed: int | None = 10
    """an act upon the world, answered alike"""
    increment: int | None = 20
    """a key press, a scroll, a turned page, answered alike"""

    overview: int | None = 4
    """known overviews of one repository, however spelled"""
    seen: int | None = 6
    """known answers of looks that differ in paging, flags or wording"""
    seen_run: int | None = 10
    """known answers, in turn, of one command"""
    reread: int | None = 10
    """reads of parts of one file that were read already"""

    fixed_answer: int | None = 8
    """different looks of one tool that all bring the same long answer"""

    same_failure: int | None = 6
    drifting_failure: int | None = 9
    """failures alike whose class is told from their text, which differs; or calls that are rejected"""
    paced_failure: int | None = 12
    """failures that may pass by themselves, with pauses between the tries"""

    nothing_found: int | None = 14
    numbers: int | None = 20
    blind_numbers: int | None = 30
    no_news: int | None = 12
    no_news_deeds: int | None = 16

    hasty_poll: int | None = 12
    blind_poll: int | None = 20
    idle_poll: int | None = 30

    sleeps: int | None = 3
    long_sleeps: int | None = 2
    echoes: int | None = 6
    long_sleep_seconds: float = 600.0

    denied: int | None = 3
    denied_any: int | None = 8
    plans: int | None = 14
    plans_of: int = 20
    thoughts: int | None = 26
    """plans and thoughts in a row that are new each time"""

    depth: int | None = 5
    open_children: int | None = 32
    family: int | None = 48
    spawns: int | None = 24
    spawn_seconds: float = 60.0
