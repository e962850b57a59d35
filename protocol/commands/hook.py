"""`toolbreaker hook HARNESS`: answer one hook event of a command-line client.

The command line hands its arguments straight to `protocol.hook.run`, which starts faster than an argument parser and
ends with 0 where one ends with 2. This is what `--help` shows.
"""

from __future__ import annotations

import argparse

from protocol.hook.options import configure as add_options
from protocol.hook.run import HARNESSES, main


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.usage = "%(prog)s HARNESS [--config FILE] [--state FILE|auto|none] [--SETTING VALUE ...]"
    parser.description = (
        "Read one hook event as JSON from standard input and print the client's own answer, or nothing. "
        "Exit status 0 whatever happens; faults go to hook.log in the state directory and to standard error. "
        "`toolbreaker install` writes the hooks into the client's settings."
    )
    parser.add_argument("harness", metavar="HARNESS", choices=HARNESSES, help=f"one of {', '.join(HARNESSES)}")
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Answer an event with default options; the command line does not come this way."""
    return main([args.harness])
