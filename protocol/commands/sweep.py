"""`toolbreaker sweep`: recorded sessions under many settings."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from protocol import layers, recordings
from protocol.numbers import at_least

if TYPE_CHECKING:
    from protocol.replay.sweep import Cell, Grid


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Replay recordings under every combination of the values given with --set: how many sessions would be "
        "stopped, by outcome where there is one, how many calls and advisories, and how many sessions reach each "
        "number of failures in a row. Everything else is as in replay."
    )
    parser.usage = "%(prog)s [-h] --set KEY=VALUE,... [--svg FILE] [--json] [-j N] [--SETTING VALUE ...] PATH ..."
    recordings.add_options(parser)
    parser.add_argument(
        "--set",
        action="append",
        required=True,
        metavar="KEY=VALUE,...",
        help="values of a setting, such as limits.exact=8,12,null or failLimit=3,5; null turns it off",
    )
    parser.add_argument(
        "--runs", type=at_least(1), default=6, metavar="N", help="count rows of failures up to N (default: 6)"
    )
    parser.add_argument("--svg", metavar="FILE", help="write the bars as SVG too")
    parser.add_argument("--json", action="store_true", help="print the grid as JSON")
    layers.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """0; 1 when a file that was named cannot be read; 2 when the grid or the configuration is wrong."""
    from breaker.options import ConfigError
    from breaker.readable import readable
    from protocol.replay.collect import Progress
    from protocol.replay.sweep import axis, grid, sweep_files

    try:
        axes = [axis(text) for text in args.set]
        wanted = grid(axes, layers.sources_of(args, os.environ), args.runs, args.format)
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 2
    files = recordings.files_of(args)
    if files is None:
        return 2
    progress = Progress(len(files))
    cells, troubles = sweep_files(files, wanted, args.jobs, progress)
    progress.clear()
    named = [trouble for trouble in troubles if not trouble.found]
    for trouble in named:
        print(f"toolbreaker: {readable(trouble.text)}", file=sys.stderr)
    if compressed := sum(trouble.found and trouble.compressed for trouble in troubles):
        print(f"toolbreaker: {recordings.compressed(compressed)}", file=sys.stderr)
    if not any(cell.total.sessions for cell in cells):
        if not named:
            print(f"toolbreaker: {recordings.none_in(args.paths, files)}", file=sys.stderr)
        return 1
    if args.svg and not _drawn(args.svg, cells):
        return 1
    _show(args, wanted, cells)
    return int(bool(named))


def _drawn(path: str, cells: list[Cell]) -> bool:
    from protocol.replay.plot import svg

    try:
        Path(path).write_text(svg(cells), "utf-8")
    except OSError as error:
        print(f"toolbreaker: cannot write {path}: {error.strerror}", file=sys.stderr)
        return False
    return True


def _show(args: argparse.Namespace, wanted: Grid, cells: list[Cell]) -> None:
    import json

    from protocol.replay.plot import bars, table
    from protocol.replay.report import plain

    if args.json:
        axes = {axis.key: list(axis.values) for axis in wanted.axes}
        print(json.dumps({"axes": axes, "cells": [plain(cell) for cell in cells]}, indent=1))
        return
    for line in table(cells):
        print(line)
    print("≥N: sessions in which the same action failed N times in a row or more")
    print("\nsessions stopped")
    for line in bars(cells):
        print(line)
