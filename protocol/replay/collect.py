"""From what stands on a command line to reports: files found, sessions judged, by several processes if wanted."""

from __future__ import annotations

import glob
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import TextIO

import msgspec
from msgspec import Struct

from breaker.options import ConfigError, Layer
from breaker.settings import Settings
from protocol.layers import Sources
from protocol.readers import CompressedError, RecordingError, Session, event_files, open_recording
from protocol.readers.threads import merged, thread_of

from .judge import judge_session
from .report import SessionReport
from .table import some

SUFFIXES = (".jsonl", ".json", ".ndjson", ".traj", ".gz", ".zst", ".zstd", ".log")
"""What is looked at in a folder; a file named on the command line is read whatever it is called."""


class Input(Struct, frozen=True):
    """A file to read, with those of its subagents. `found` in a folder: when it is no recording, that is no error."""

    path: str
    found: bool = False
    subagents: tuple[str, ...] = ()


class Trouble(Struct, frozen=True):
    """A file that could not be read; `compressed` when a package is missing that could undo that."""

    path: str
    text: str
    found: bool = False
    compressed: bool = False

    @classmethod
    def of(cls, file: Input, error: RecordingError) -> Trouble:
        return cls(file.path, str(error), file.found, isinstance(error, CompressedError))


class Plan(Struct, frozen=True):
    """How sessions are judged; goes to the other processes as it is."""

    sources: Sources
    format: str | None = None
    events: bool = False
    key: bytes = b""

    def settings(self, session: Session) -> tuple[Settings, str | None]:
        """The settings for a session: those of its own `initialize` lie under ours. And what is wrong with those."""
        if session.config:
            try:
                own = Layer("the recorded initialize", session.config)
                layers = (own, *self.sources.layers)
                return msgspec.structs.replace(self.sources, layers=layers).resolve().settings, None
            except ConfigError as error:
                return self.sources.resolve().settings, f"the recorded config is not used: {error.problems[0]}"
        return self.sources.resolve().settings, None


def inputs(paths: Sequence[str]) -> Iterator[Input]:
    """The files that arguments stand for: files, folders with all that is in them, patterns, `-`."""
    for path in paths:
        if path == "-" or not glob.has_magic(path) or Path(path).exists():
            yield from _walk(path)
        else:
            matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - the pattern may be absolute
            for match in matches:
                yield from _walk(match)
            if not matches:
                yield Input(path)


def _walk(path: str) -> Iterator[Input]:
    root = Path(path)
    if path == "-" or not root.is_dir() or event_files(root):
        yield Input(path)
        return
    for folder, folders, names in os.walk(root):
        folders.sort()
        if event_files(Path(folder)):
            folders.clear()
            yield Input(folder, True)
            continue
        for name in sorted(names):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield Input(str(Path(folder) / name), True)


def together(files: Sequence[Input]) -> list[Input]:
    """The same files, those of subagents with the file of their run, where that is among them."""
    runs: dict[tuple[str, str], int] = {}
    threads = [None if file.path == "-" or Path(file.path).is_dir() else thread_of(Path(file.path)) for file in files]
    for number, thread in enumerate(threads):
        if thread and not thread.child:
            runs.setdefault(thread[:2], number)
    subagents: dict[int, list[str]] = {}
    kept = []
    for number, (file, thread) in enumerate(zip(files, threads, strict=True)):
        if thread and thread.child and thread[:2] in runs:
            subagents.setdefault(runs[thread[:2]], []).append(file.path)
        else:
            kept.append(number)
    return [msgspec.structs.replace(files[number], subagents=tuple(subagents.get(number, ()))) for number in kept]


def sessions_of(file: Input, form: str | None) -> Iterator[Session]:
    """The sessions of one input. Raises RecordingError."""
    if file.path == "-":
        yield from open_recording(sys.stdin.buffer, form, name="-")
    elif not file.subagents:
        yield from open_recording(file.path, form)
    else:
        opened = [open_recording(path, form) for path in (file.path, *file.subagents)]
        yield merged([session for sessions in opened for session in itertools.islice(sessions, 1)])


def judged(file: Input, plan: Plan, part: int = 0, parts: int = 1) -> Iterator[SessionReport]:
    """The reports of one file; of `parts` processes that share it, this is number `part`. Raises RecordingError."""
    for number, session in enumerate(sessions_of(file, plan.format)):
        if number % parts != part:
            continue
        settings, problem = plan.settings(session)
        report = judge_session(session, settings, key=plan.key, events=plan.events)
        if problem:
            report.remarks.append(problem)
        yield report


def reads_stdin(files: Sequence[Input]) -> bool:
    """Other processes have no standard input."""
    return any(file.path == "-" for file in files)


def collect(files: Sequence[Input], plan: Plan, jobs: int, progress: Progress) -> Iterator[SessionReport | Trouble]:
    """The reports of all files, in their order."""
    if jobs > 1 and not reads_stdin(files):
        yield from _parallel(files, plan, jobs, progress)
        return
    for file in files:
        try:
            for report in judged(file, plan):
                progress.session(report)
                yield report
        except RecordingError as error:
            yield Trouble.of(file, error)
        progress.file()


class _Answer(Struct):
    """What a process found in its part of a file, which may end in trouble behind some reports."""

    reports: list[SessionReport]
    trouble: Trouble | None = None


_Task = tuple[int, int, int]
"""File number, part, parts."""


def _parallel(files: Sequence[Input], plan: Plan, jobs: int, progress: Progress) -> Iterator[SessionReport | Trouble]:
    """A file is a task; when there are fewer files than processes, the sessions of a file are dealt out."""
    parts = 1 if len(files) >= jobs else jobs
    tasks = [(number, part, parts) for number in range(len(files)) for part in range(parts)]
    done: dict[_Task, _Answer] = {}
    waiting = iter(tasks)
    shown = 0
    with ProcessPoolExecutor(jobs) as pool:
        running: dict[Future[bytes], _Task] = {}
        for task in waiting:
            running[pool.submit(_work, files[task[0]], plan, task[1], task[2])] = task
            if len(running) >= 2 * jobs:
                break
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                done[task] = msgspec.msgpack.decode(future.result(), type=_Answer)
                following = next(waiting, None)
                if following:
                    args = (files[following[0]], plan, following[1], following[2])
                    running[pool.submit(_work, *args)] = following
            while shown < len(files):
                mine = [(shown, part, parts) for part in range(parts)]
                if any(task not in done for task in mine):
                    break
                yield from _merged([done.pop(task) for task in mine], progress)
                progress.file()
                shown += 1


def _merged(parts: list[_Answer], progress: Progress) -> Iterator[SessionReport | Trouble]:
    """What the parts of a file hold, dealt back into order."""
    for dealt in itertools.zip_longest(*(part.reports for part in parts)):
        for report in filter(None, dealt):
            progress.session(report)
            yield report
    trouble = next((part.trouble for part in parts if part.trouble), None)
    if trouble:
        yield trouble


def _work(file: Input, plan: Plan, part: int, parts: int) -> bytes:
    answer = _Answer([])
    try:
        answer.reports.extend(judged(file, plan, part, parts))
    except RecordingError as error:
        answer.trouble = Trouble.of(file, error)
    return msgspec.msgpack.encode(answer)


class Progress:
    """A line on a terminal that says how far it is; silent elsewhere. Nothing of it stays."""

    INTERVAL = 0.1

    def __init__(
        self, files: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, width: int = 24
    ) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._active = self._stream.isatty()
        self._files, self._done, self._sessions, self._calls = files, 0, 0, 0
        self._clock, self._width = clock, width
        self._begun, self._shown = clock(), 0.0

    def session(self, report: SessionReport) -> None:
        self._sessions += 1
        self._calls += report.calls
        self._draw()

    def file(self) -> None:
        self._done += 1
        self._draw()

    def _draw(self) -> None:
        now = self._clock()
        if not self._active or now - self._shown < self.INTERVAL:
            return
        self._shown = now
        share = self._done / self._files if self._files else 1.0
        filled = round(self._width * share)
        rate = self._calls / (now - self._begun) if now > self._begun else 0.0
        bar = "█" * filled + "░" * (self._width - filled)
        text = f"{bar} {self._done}/{some(self._files, 'file')}, {some(self._sessions, 'session')}, {rate:.0f} calls/s"
        self._write(f"\r\x1b[K{text}")

    def clear(self) -> None:
        """Take the line away, before anything else is printed."""
        if self._active and self._shown:
            self._write("\r\x1b[K")
            self._shown = 0.0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
