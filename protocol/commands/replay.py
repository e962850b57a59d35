"""`toolbreaker replay`: what the gate would have said to recorded sessions."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from protocol import layers, recordings

if TYPE_CHECKING:
    from protocol.replay.collect import Input, Plan
    from protocol.replay.report import SessionReport


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Judge recorded sessions as a live gate would have, and say what would have been stopped and what that would "
        "have saved. The format of a recording is found by its content; .gz and .zst are read as they are. Asks are "
        "answered as in the recording, else by nobody, which is a denial. Exit status 0; 1 when a file that was named "
        "cannot be read; 2 when the configuration is wrong."
    )
    parser.usage = (
        "%(prog)s [-h] [-v] [--json | --jsonl | --html FILE] [-j N] [--format NAME] [--SETTING VALUE ...] PATH ..."
    )
    recordings.add_options(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show each event as a line, then the summary")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON document")
    output.add_argument("--jsonl", action="store_true", help="print a JSON line a session, as soon as it is judged")
    output.add_argument("--html", metavar="FILE", help="write one self-contained page")
    layers.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """0; 1 when a file that was named cannot be read; 2 when nothing can be done with the arguments."""
    from breaker.options import ConfigError
    from protocol.replay.collect import Plan

    sources = layers.sources_of(args, os.environ)
    try:
        resolved = sources.resolve()
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    for note in (*sources.notes, *resolved.notes):
        print(f"toolbreaker: {note}", file=sys.stderr)
    files = recordings.files_of(args)
    if files is None:
        return 2
    plan = Plan(sources, args.format, events=args.verbose or args.json or args.jsonl or bool(args.html))
    return _Run(args, plan, files).run()


class _Run:
    """The reports as they come, on their way to the output that was asked for."""

    def __init__(self, args: argparse.Namespace, plan: Plan, files: Sequence[Input]) -> None:
        from protocol.replay.collect import Progress
        from protocol.replay.report import Total

        self.args, self.plan, self.files = args, plan, files
        self.progress = Progress(len(files))
        self.total = Total()
        self.foreign = 0
        self.compressed = 0
        self.failed = False

    def run(self) -> int:
        if self.args.jsonl:
            self._lines()
        elif self.args.json:
            self._document()
        elif self.args.html:
            self._page()
        elif self.args.verbose:
            self._verbose()
        else:
            self._table()
        if self.foreign:
            said = (
                "1 file in folders is no recording"
                if self.foreign == 1
                else f"{self.foreign} files in folders are no recordings"
            )
            print(f"toolbreaker: {said}", file=sys.stderr)
        if self.compressed:
            print(f"toolbreaker: {recordings.compressed(self.compressed)}", file=sys.stderr)
        if not self.total.sessions and not self.failed:
            print(f"toolbreaker: {recordings.none_in(self.args.paths, self.files)}", file=sys.stderr)
            return 1
        return int(self.failed)

    def reports(self) -> Iterator[SessionReport]:
        from breaker.readable import readable
        from protocol.replay.collect import Trouble, collect

        for found in collect(self.files, self.plan, self.args.jobs, self.progress):
            if not isinstance(found, Trouble):
                self.total.add(found)
                yield found
            elif found.found:
                self.compressed += found.compressed
                self.foreign += not found.compressed
            else:
                self.failed = True
                self.progress.clear()
                print(f"toolbreaker: {readable(found.text)}", file=sys.stderr)
        self.progress.clear()

    def _table(self) -> None:
        from protocol.replay.table import table

        columns = _columns()
        reports = self.reports()
        for first in reports:
            for line in table(chain((first,), reports), columns):
                print(line)
        self._total()

    def _verbose(self) -> None:
        from protocol.replay.table import clean, details, event_lines, share, some

        width = _columns() if sys.stdout.isatty() else 160
        for report in self.reports():
            self.progress.clear()
            outcome = f", {clean(report.outcome)}" if report.outcome else ""
            print(f"{clean(report.source)}: {clean(report.name)} ({report.format}{outcome})")
            for event in report.events:
                for line in event_lines(event, width):
                    print(f"  {line}")
            print(
                f"  {some(report.calls, 'call')}, {some(report.turns, 'user turn')}, {share(report)} failed, "
                f"{some(report.advised, 'advisory')}, {report.blocked} blocked"
            )
            for line in details(report, width):
                print(line)
        self._total()

    def _total(self) -> None:
        from protocol.replay.table import total, wrapped

        if self.total.sessions:
            print()
            columns = _columns()
            for line in total(self.total):
                print("\n".join(wrapped(line, columns)))

    def _lines(self) -> None:
        import msgspec

        encode = msgspec.json.Encoder().encode
        for report in self.reports():
            self.progress.clear()
            sys.stdout.buffer.write(encode(report) + b"\n")
            sys.stdout.buffer.flush()

    def _document(self) -> None:
        import msgspec

        from breaker.options import wire

        sessions = list(self.reports())
        settings = wire(self.plan.sources.resolve().settings)
        document = {"settings": settings, "total": self.total, "sessions": sessions}
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")

    def _page(self) -> None:
        from protocol.replay.page import page
        from protocol.replay.table import some

        reports = list(self.reports())
        if not reports:
            return
        html = page(reports, self.total, self.plan.sources.resolve().settings)
        try:
            Path(self.args.html).write_text(html, "utf-8")
        except OSError as error:
            print(f"toolbreaker: cannot write {self.args.html}: {error.strerror}", file=sys.stderr)
            self.failed = True
            return
        print(f"{self.args.html}: {some(len(reports), 'session')}, {len(html.encode()) / 1e6:.1f} MB")
        self._total()


def _columns() -> int:
    """How wide the terminal is, or is said to be."""
    import shutil

    from protocol.replay.table import COLUMNS

    return shutil.get_terminal_size((COLUMNS, 40)).columns
