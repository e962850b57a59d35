"""What one agent did lately and what came of it. Only settled calls are evidence.

`observe_guard` and `observe_settled` are the only code that adds to a log; rules read it. All of it is plain data and
bounded, so that it can be taken out and put back.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from breaker.evidence.classes import DEEDS, LOOKS, Kind
from breaker.evidence.facts import Answer, Facts

LOOK_BACK = 40
"""Settled calls that rules look at."""
LOOK_BACK_SECONDS = 30 * 60.0
MAX_KEYS = 512
"""Actions of which the last answers are remembered."""
MAX_ANSWERS = 4
MAX_SEEN = 2_048
"""Lines, and words, that are remembered as seen; twice as many at most."""
MAX_TARGETS = 64
MAX_SPANS = 32
MAX_SPAWNS = 64

LONG = 120
"""Characters from which on two equal answers to different questions are no coincidence."""
ACKNOWLEDGEMENT = 40
"""Characters up to which an answer may be a mere acknowledgement."""
FAMILIAR = 0.1
"""An answer of whose lines fewer are new tells nothing new, unless the new ones are its last."""
READ_ALREADY = 0.75
"""From this share of lines on a part of a file counts as read already."""
REWORDED = 1 / 3
"""A text of whose words fewer are new says the same in other words."""

Change = Literal[0, 1, 2]
"""0: none. 1: a deed done before. 2: something new was done, or the world moved."""


class Entry(Struct):
    """One settled call.

    `known`: the action had been taken before, or one that differs in wording alone. `news`: the answer told something
    that was not known, or differs from the last answers of the same file or of a call that is no look. `first_read`: a
    part of a file that had not been read. `nod`: a look never had before was acknowledged in a few words.
    `read_already`: most of these lines of the file had been read since the last change. `moved`: the source has been
    seen to change by itself. `slept` are seconds of sleep that the call itself asked for.
    """

    tool: str
    kind: Kind
    strict: str
    loose: str
    family: str
    outcome: str
    same: str
    bones: str
    failure: str = ""
    hard: bool = False
    live: int = 0
    numbers: bool = False
    opaque: bool = False
    started: bool = False
    long: bool = False
    change: Change = 0
    known: bool = False
    reworded: bool = False
    news: bool = True
    read_already: bool = False
    first_read: bool = False
    nod: bool = False
    template: str = ""
    target: str = ""
    moved: bool = False
    incremental: bool = False
    overview: bool = False
    shell: bool = False
    slept: float = 0.0
    step: int = 0
    at: float | None = None
    until: float | None = None

    @property
    def look(self) -> bool:
        return self.kind in LOOKS

    @property
    def deed(self) -> bool:
        return self.kind in DEEDS

    @property
    def failed(self) -> bool:
        return self.outcome in ("fail", "invalid", "denied")


class Source(Struct):
    """What one action answered: its last answers, newest last, and whether they ever changed by themselves."""

    answers: list[str] = field(default_factory=list)
    bones: list[str] = field(default_factory=list)
    moved: bool = False
    failed: bool = False
    epoch: int = 0


class Shut(Struct, frozen=True):
    """Why a key is shut: the gate that stopped it, on which evidence."""

    gate: str
    count: int
    limit: int
    detail: str = ""


class Log(Struct):
    """The evidence of one agent. `epoch` counts the changes (new ones) since the log began."""

    entries: list[Entry] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    loose: dict[str, int] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    older_lines: set[int] = field(default_factory=set)
    words: set[int] = field(default_factory=set)
    older_words: set[int] = field(default_factory=set)
    spans: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    shut: dict[str, Shut] = field(default_factory=dict)
    spawns: list[float] = field(default_factory=list)
    epoch: int = 0
    step: int = 0
    step_name: str | None = None
    settled_since: bool = True


def observe_guard(log: Log, step: str | None) -> int:
    """A call was let run: the number of the step it belongs to.

    Calls of one model response share a step; where responses have no names, calls between which none settled do.
    """
    if step is None:
        if log.settled_since or log.step_name is not None:
            log.step += 1
    elif step != log.step_name:
        log.step += 1
    log.step_name = step
    log.settled_since = False
    return log.step


def observe_spawn(log: Log, at: float | None) -> None:
    """An agent is being started somewhere below the agent of this log."""
    if at is not None:
        log.spawns.append(at)
        del log.spawns[:-MAX_SPAWNS]


def observe_settled(
    log: Log, facts: Facts, answer: Answer, step: int, at: float | None = None, until: float | None = None
) -> Entry | None:
    """A call settled that was let run in `step`, `at` that time: take it into the log. An abort leaves no evidence."""
    log.settled_since = True
    if answer.outcome == "aborted":
        return None
    entry = _entry(log, facts, answer, step, at, until)
    _remember(log, facts, answer, entry)
    log.entries.append(entry)
    del log.entries[:-LOOK_BACK]
    if entry.change == 2:
        log.epoch += 1
        log.shut.clear()
        log.spans.clear()
        log.lines, log.older_lines = set(), set()
    return entry


def observe_stopped(log: Log, key: str, shut: Shut) -> None:
    """A call was stopped for this key: it stays shut until something new changes."""
    log.shut[key] = shut
    _bound(log.shut, MAX_KEYS)


def reset(log: Log) -> Log:
    """What is left after a person spoke or the history was summarised: where steps stand, and times of spawns."""
    return Log(spawns=log.spawns, step=log.step, step_name=log.step_name)


def recent(log: Log, now: float | None) -> list[Entry]:
    """The entries that are not too old, oldest first."""
    entries = log.entries
    if now is None or not entries:
        return entries
    first = 0
    for entry in entries:
        if entry.until is None or now - entry.until <= LOOK_BACK_SECONDS:
            break
        first += 1
    return entries[first:] if first else entries


def is_reworded(log: Log, facts: Facts) -> bool:
    """Whether an action never taken before says what others said, in words that were all used before.

    What is written into files and records is content, however much its words repeat.
    """
    if facts.strict in log.sources or facts.loose not in log.loose or facts.content:
        return False
    if facts.pointed and not _shown_since(log, facts.loose):
        return False  # references are those of one view: another reference is another thing
    if not facts.words:
        return facts.span is None or is_covered(log, facts)
    fresh = sum(1 for word in facts.words if word not in log.words and word not in log.older_words)
    return fresh < len(facts.words) * REWORDED


def is_covered(log: Log, facts: Facts) -> bool:
    """Whether most of the part of a file that is asked for was read."""
    if facts.span is None:
        return False
    start, end = facts.span
    held = sum(max(0, min(end, upto) - max(start, since)) for since, upto in log.spans.get(facts.target, ()))
    return held >= READ_ALREADY * max(1, end - start)


def _shown_since(log: Log, loose: str) -> bool:
    """Whether a view, which is no file, was shown since such an action was last taken."""
    for entry in reversed(log.entries):
        if entry.long or (entry.look and not entry.target):
            return True
        if entry.loose == loose:
            return False
    return True


# -- one entry ------------------------------------------------------------------------------------------------


def _entry(log: Log, facts: Facts, answer: Answer, step: int, at: float | None, until: float | None) -> Entry:
    source = log.sources.get(facts.strict)
    reworded = is_reworded(log, facts)
    known = source is not None or reworded
    fresh = _share_of_new(log, answer)
    seen_before = source is not None and answer.same in source.answers
    unseen = answer.outcome == "ok" and not seen_before
    differs = unseen and source is not None and (facts.kind not in LOOKS or bool(facts.target))
    read_already = _is_read_already(log, facts, answer, fresh or differs)
    told = unseen and not read_already and fresh
    return Entry(
        tool=facts.tool,
        kind=facts.kind,
        strict=facts.strict,
        loose=facts.loose,
        family=facts.family,
        outcome=answer.outcome,
        same=answer.same,
        bones=answer.bones,
        failure=answer.failure,
        hard=answer.hard,
        live=answer.live,
        numbers=answer.numbers,
        opaque=answer.opaque,
        started=answer.started,
        long=answer.size >= LONG,
        change=_change(log, facts, answer, source, reworded, seen_before, told),
        known=known,
        reworded=reworded,
        news=told or differs or (answer.outcome == "fail" and not (source and answer.bones in source.bones)),
        read_already=read_already,
        first_read=facts.span is not None and not read_already,
        nod=source is None and not facts.words and answer.outcome == "ok" and answer.size <= ACKNOWLEDGEMENT,
        template=facts.template,
        target=facts.target,
        moved=source is not None and source.moved,
        incremental=facts.incremental,
        overview=facts.overview,
        shell=facts.shell,
        slept=facts.slept,
        step=step,
        at=at,
        until=until,
    )


def _change(
    log: Log, facts: Facts, answer: Answer, source: Source | None, reworded: bool, seen_before: bool, told: bool
) -> Change:
    if answer.outcome in ("denied", "invalid", "aborted"):
        return 0
    if source is None and not reworded:
        if answer.outcome == "fail" and facts.writes:
            return 2  # what was written is there, whatever failed afterwards
        if answer.outcome not in ("ok", "empty") or facts.kind not in (*DEEDS, "run", "spawn", "other"):
            return 0
        if facts.kind == "run":  # one that shows what is known already is another way to look
            return 0 if answer.size >= LONG and not told else 2
        # A tool of which nothing is known did something when it had little to say.
        return 0 if facts.kind == "other" and answer.size > ACKNOWLEDGEMENT else 2
    if facts.kind in DEEDS and answer.outcome in ("ok", "empty"):
        if facts.kind == "mutate" and not facts.incremental and not _changed_since(log, facts.strict):
            return 0
        if source is not None and source.answers and not seen_before and answer.bones not in source.bones:
            return 2
        return 1
    return _moved(facts, answer, source, seen_before, told)


def _moved(facts: Facts, answer: Answer, source: Source | None, seen_before: bool, told: bool) -> Change:
    """The world moved when a call that was made before answers something else, in more than numbers."""
    if source is None or not source.answers or seen_before or facts.kind == "bookkeeping":
        return 0
    if answer.outcome == "fail" and source.failed:
        return 0
    if answer.bones in source.bones or _is_restless(source):
        return 0
    return 2 if told or answer.outcome == "fail" or source.failed or facts.kind == "run" else 0


def _changed_since(log: Log, strict: str) -> bool:
    """Whether anything was changed since this very change was last made: else making it again changes nothing."""
    for entry in reversed(log.entries):
        if entry.strict == strict and entry.outcome in ("ok", "empty"):
            return False
        if entry.change:
            return True
    return True


def _is_restless(source: Source) -> bool:
    """A source that never gave one answer twice says nothing about the world by giving another one."""
    return len(source.answers) >= MAX_ANSWERS


def _is_read_already(log: Log, facts: Facts, answer: Answer, other: bool) -> bool:
    if facts.kind not in LOOKS or answer.outcome != "ok" or not facts.target:
        return False
    if facts.span is not None:
        return is_covered(log, facts)
    if facts.target not in log.spans or other:
        return False
    seen = sum(1 for line in answer.lines if line in log.lines or line in log.older_lines)
    return seen >= READ_ALREADY * len(answer.lines)


def _share_of_new(log: Log, answer: Answer) -> bool:
    """Whether an answer's lines tell something: a share of them is new, or its last lines are."""
    lines = answer.lines
    if not lines:
        return True
    fresh = [line for line in lines if line not in log.lines and line not in log.older_lines]
    if not fresh:
        return False
    return len(fresh) >= FAMILIAR * len(lines) or lines[-1] == fresh[-1]


def _remember(log: Log, facts: Facts, answer: Answer, entry: Entry) -> None:
    source = log.sources.pop(facts.strict, None) or Source()
    if answer.same in source.answers:
        source.answers.remove(answer.same)
        source.bones.remove(answer.bones) if answer.bones in source.bones else None
    elif source.answers and log.epoch == source.epoch and facts.kind not in DEEDS:
        source.moved = True
    source.answers.append(answer.same)
    source.bones.append(answer.bones)
    del source.answers[:-MAX_ANSWERS], source.bones[:-MAX_ANSWERS]
    source.failed = answer.outcome == "fail"
    source.epoch = log.epoch
    log.sources[facts.strict] = source
    _bound(log.sources, MAX_KEYS)
    log.loose[facts.loose] = log.loose.pop(facts.loose, 0) + 1
    _bound(log.loose, MAX_KEYS)
    if facts.kind in LOOKS or facts.kind in ("run", "other"):
        log.lines.update(answer.lines)
        if len(log.lines) > MAX_SEEN:
            log.older_lines, log.lines = log.lines, set()
    log.words.update(facts.words)
    if len(log.words) > MAX_SEEN:
        log.older_words, log.words = log.words, set()
    if facts.target and facts.kind in LOOKS and entry.outcome == "ok":
        spans = log.spans.pop(facts.target, [])
        log.spans[facts.target] = _joined(spans, facts.span) if facts.span else spans
        _bound(log.spans, MAX_TARGETS)


def _joined(spans: list[tuple[int, int]], span: tuple[int, int]) -> list[tuple[int, int]]:
    start, end = span
    apart = [known for known in spans if known[1] < start or known[0] > end]
    for known in spans:
        if known not in apart:
            start, end = min(start, known[0]), max(end, known[1])
    return sorted([*apart, (start, end)])[-MAX_SPANS:]


def _bound(held: dict[str, Any], most: int) -> None:
    while len(held) > most:
        del held[next(iter(held))]
