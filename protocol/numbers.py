"""Numbers among the arguments of a command, and what is said of a wrong one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable


def at_least(low: int) -> Callable[[str], int]:
    """What reads an integer of `low` and more."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer of {low} or more")
        return number

    return read


def processes(text: str) -> int:
    """A number of processes; 0 is one for each core."""
    return at_least(0)(text) or os.cpu_count() or 1
