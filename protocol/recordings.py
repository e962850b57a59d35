"""Which recordings a command is to read: its arguments, and the files that they come to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from breaker.readable import readable
from protocol.about import lacking
from protocol.numbers import processes

if TYPE_CHECKING:
    from protocol.replay.collect import Input


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the paths, and how they are read."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder, a pattern, or - for standard input")
    parser.add_argument("-j", "--jobs", type=processes, default=1, metavar="N", help="processes (0: one a core)")
    parser.add_argument("--apart", action="store_true", help="do not put a subagent's file with that of its run")
    parser.add_argument("--format", metavar="NAME", help="the recordings' format, whatever they look like")


def compressed(count: int) -> str:
    """What is said of recordings in folders that only a missing package can read."""
    said = "1 recording in folders is" if count == 1 else f"{count} recordings in folders are"
    return f"{said} compressed with zstd, which {lacking('zstandard')}"


def none_in(paths: Sequence[str], files: Sequence[Input]) -> str:
    """What is said where nothing that was looked at is a recording."""
    looked = sum(1 + len(file.subagents) for file in files)
    return f"no recording in {', '.join(map(readable, paths))} ({looked} file{'' if looked == 1 else 's'} looked at)"


def files_of(args: argparse.Namespace) -> list[Input] | None:
    """The files, in order; nothing when the arguments are wrong, which was said then."""
    from protocol.readers import NAMES
    from protocol.replay.collect import inputs, together

    if args.format is not None and args.format not in NAMES:
        print(f"toolbreaker: {args.format!r} is no format; known are {', '.join(NAMES)}", file=sys.stderr)
        return None
    files = list(inputs(args.paths))
    if sum(file.path == "-" for file in files) > 1:
        print("toolbreaker: standard input can be read once", file=sys.stderr)
        return None
    return files if args.apart else together(files)
