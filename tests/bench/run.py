"""Measures what the gate costs, as ratios inside one run: machines are noisy, ratios less so.

Prints tables in Markdown. Needs Linux and a C compiler; what else is missing is left out with a line that says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine import engine
from growth import growth
from processes import hook, memory, replay, start
from traces import traces
from wire import fleet, state, wire

SECTIONS: dict[str, Callable[[Path, int], None]] = {
    "wire": wire,
    "engine": engine,
    "traces": traces,
    "growth": growth,
    "start": start,
    "hook": hook,
    "memory": memory,
    "replay": replay,
    "state": state,
    "fleet": fleet,
}
"""By name; each gets a folder of its own, which is removed, and how many rounds to make."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rounds", type=int, default=1_000, help="what is averaged over; fewer are faster (%(default)s)"
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all when none is named")
    args = parser.parse_args()
    unknown = [name for name in args.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]!r}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {_load()} at the start", flush=True)
    for name in args.sections or SECTIONS:
        with tempfile.TemporaryDirectory(prefix="toolbreaker-bench-") as folder:
            SECTIONS[name](Path(folder), args.rounds)
    print(f"\nload {_load()} at the end")


def _load() -> str:
    """How many processes wanted to run in the last minute, these included."""
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
