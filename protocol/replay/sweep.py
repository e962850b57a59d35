"""Many settings over the same recordings: each session is read and identified once and judged once a setting."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import msgspec
from msgspec import Struct, field

from breaker.identity.identify import Identifier
from breaker.options import Layer
from breaker.settings import Settings
from protocol.layers import Sources
from protocol.readers import RecordingError, Session

from .collect import Input, Progress, Trouble, reads_stdin, sessions_of
from .judge import judge_session
from .report import SessionReport

MAX_CELLS = 2000


class Axis(Struct, frozen=True):
    """A setting by its path (`limits.exact`) and the values it takes."""

    key: str
    values: tuple[Any, ...]


class Tally(Struct, rename="camel"):
    """Sums over sessions. `runs[n]` is how many sessions reached a row of n + 1 failures of one identity."""

    sessions: int = 0
    stopped: int = 0
    calls: int = 0
    blocked: int = 0
    advised: int = 0
    advisories: int = 0
    runs: list[int] = field(default_factory=list)

    def add(self, report: SessionReport, depth: int) -> None:
        self.sessions += 1
        self.stopped += report.first_stop is not None
        self.calls += report.calls
        self.blocked += report.blocked
        self.advised += bool(report.advised)
        self.advisories += report.advised
        reached = report.longest_run.count if report.longest_run else 0
        self.runs = [count + (reached > place) for place, count in enumerate(self.runs or [0] * depth)]

    def merge(self, other: Tally) -> None:
        for name in ("sessions", "stopped", "calls", "blocked", "advised", "advisories"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.runs = [a + b for a, b in itertools.zip_longest(self.runs, other.runs, fillvalue=0)]


class Cell(Struct, rename="camel"):
    """What one combination of values comes to, in all and by the outcome of the sessions."""

    values: dict[str, Any]
    total: Tally = field(default_factory=Tally)
    outcomes: dict[str, Tally] = field(default_factory=dict)

    def add(self, report: SessionReport, depth: int) -> None:
        self.total.add(report, depth)
        self.outcomes.setdefault(report.outcome or "", Tally()).add(report, depth)

    def merge(self, other: Cell) -> None:
        self.total.merge(other.total)
        for outcome, tally in other.outcomes.items():
            self.outcomes.setdefault(outcome, Tally()).merge(tally)


class Grid(Struct, frozen=True):
    """All combinations with their settings, in the order in which the axes were given."""

    axes: tuple[Axis, ...]
    settings: tuple[Settings, ...]
    depth: int
    format: str | None = None
    key: bytes = b""

    def cells(self) -> list[Cell]:
        return [Cell(dict(values)) for values in combinations(self.axes)]


def axis(text: str) -> Axis:
    """`limits.exact=8,12,null` as an axis. ValueError says what is wrong with it."""
    key, equals, listed = text.partition("=")
    if not equals or not key.strip() or not listed.strip():
        raise ValueError(f"{text!r} is not KEY=VALUE,VALUE…")
    values = tuple(_value(part) for part in _split(listed))
    return Axis(key.strip(), values)


def _split(listed: str) -> Iterator[str]:
    """Values between commas that stand in no bracket and in no quotes."""
    depth, quoted, start = 0, False, 0
    for place, character in enumerate(listed):
        if character == '"' and listed[place - 1 : place] != "\\":
            quoted = not quoted
        elif not quoted and character in "[{":
            depth += 1
        elif not quoted and character in "]}":
            depth -= 1
        elif character == "," and depth == 0 and not quoted:
            yield listed[start:place].strip()
            start = place + 1
    yield listed[start:].strip()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def combinations(axes: Sequence[Axis]) -> Iterator[list[tuple[str, Any]]]:
    """Every combination of the axes' values; the last axis changes fastest."""
    for values in itertools.product(*(axis.values for axis in axes)):
        yield [(axis.key, value) for axis, value in zip(axes, values, strict=True)]


def grid(axes: Sequence[Axis], sources: Sources, depth: int, form: str | None = None, key: bytes = b"") -> Grid:
    """The grid with every combination resolved. Raises ConfigError, and ValueError when it is too large."""
    size = 1
    for each in axes:
        size *= len(each.values)
    if size > MAX_CELLS:
        raise ValueError(f"{size} combinations are too many; the most are {MAX_CELLS}")
    resolved = []
    for values in combinations(axes):
        layer = Layer("--set", _nested(values))
        layered = msgspec.structs.replace(sources, layers=(*sources.layers, layer))
        resolved.append(layered.resolve().settings)
    return Grid(tuple(axes), tuple(resolved), depth, form, key)


def _nested(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """`limits.exact` as `{"limits": {"exact": …}}`; only the first dot counts, hosts have dots of their own."""
    layer: dict[str, Any] = {}
    for key, value in values:
        name, dot, member = key.partition(".")
        if dot:
            inside = layer.setdefault(name, {})
            if not isinstance(inside, dict):
                raise ValueError(f"{key} and {name} are both given")
            inside[member] = value
        else:
            layer[name] = value
    return layer


class Identifiers:
    """One identifier for all settings that make the same identities."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[bytes, Identifier] = {}

    def of(self, settings: Settings) -> Identifier:
        facts = msgspec.json.encode(
            [
                settings.ignore_args,
                settings.content_args,
                settings.shell_tools,
                settings.url_tools,
                settings.include_local,
                settings.local_hosts,
                settings.host_aliases,
                # A kind is made only when some limit asks for it.
                sorted(name for name, cap in settings.limits.items() if cap is not None),
            ],
            order="deterministic",
        )
        if facts not in self._known:
            self._known[facts] = Identifier(settings, self._key)
        return self._known[facts]


def sweep(sessions: Iterable[Session], grid: Grid, progress: Progress | None = None) -> list[Cell]:
    """Judge each session under every setting of the grid."""
    cells = grid.cells()
    identifiers = Identifiers(grid.key)
    shared = [identifiers.of(settings) for settings in grid.settings]
    for session in sessions:
        messages = list(session.messages)
        for cell, settings, identifier in zip(cells, grid.settings, shared, strict=True):
            session.messages = iter(messages)
            report = judge_session(session, settings, identifier=identifier, key=grid.key, events=False)
            cell.add(report, grid.depth)
            if progress:
                progress.session(report)
    return cells


def sweep_files(files: Sequence[Input], grid: Grid, jobs: int, progress: Progress) -> tuple[list[Cell], list[Trouble]]:
    """The grid over files, by several processes if wanted."""
    cells, troubles = grid.cells(), []
    for answer in _answers(files, grid, jobs, progress):
        for cell, part in zip(cells, answer.cells, strict=True):
            cell.merge(part)
        if answer.trouble:
            troubles.append(answer.trouble)
        progress.file()
    return cells, troubles


class _Answer(Struct):
    cells: list[Cell]
    trouble: Trouble | None = None


def _answers(files: Sequence[Input], grid: Grid, jobs: int, progress: Progress) -> Iterator[_Answer]:
    if jobs <= 1 or reads_stdin(files):
        for file in files:
            yield _file(file, grid, 0, 1, progress)
        return
    parts = 1 if len(files) >= jobs else jobs
    with ProcessPoolExecutor(jobs) as pool:
        running = [pool.submit(_work, file, grid, part, parts) for file in files for part in range(parts)]
        for future in running:
            yield msgspec.msgpack.decode(future.result(), type=_Answer)


def _work(file: Input, grid: Grid, part: int, parts: int) -> bytes:
    return msgspec.msgpack.encode(_file(file, grid, part, parts, None))


def _file(file: Input, grid: Grid, part: int, parts: int, progress: Progress | None) -> _Answer:
    """What can be read of a file counts, also when it breaks off."""
    trouble: Trouble | None = None

    def sessions() -> Iterator[Session]:
        nonlocal trouble
        try:
            yield from itertools.islice(sessions_of(file, grid.format), part, None, parts)
        except RecordingError as error:
            trouble = Trouble.of(file, error)

    cells = sweep(sessions(), grid, progress)
    return _Answer(cells, trouble)
