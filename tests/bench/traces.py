"""Our engine against the plugin whose tracks it follows, over the conformance traces: the same calls on both sides.

Each side plays in a process of its own runtime and times itself, without what prepares a trace. A call is a guard
and a settle here, the plugin's three hooks there. The same number must be blocked, or the ratio means nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
from measure import ENVIRON, ROOT, SHARED, head, row

PACKAGE = "dsh-repeat-tool-breaker@0.5.2"
HERE = Path(__file__).resolve().parent


class Played(msgspec.Struct):
    """What a driver prints: calls and how many of them were blocked in a pass, and the seconds of each pass."""

    calls: int
    blocked: int
    seconds: list[float]


def traces(folder: Path, rounds: int) -> None:
    files = sorted(map(str, (SHARED / "conformance" / "traces").glob("*.jsonl")))
    if not files:
        print("\ntraces: skipped, no conformance traces beside the repository")
        return
    plugin = _plugin(folder)
    if plugin is None:
        print(f"\ntraces: skipped, there is no Node, or npm does not get {PACKAGE}")
        return
    turns, passes = (3, 2) if rounds >= 1_000 else (1, 1)
    drivers = {f"`{PACKAGE}`": [*plugin, str(5 * passes)]}  # it is fast after some passes
    for profile in ("repeat-tool-breaker", "standard", "adaptive"):
        drivers[f"ours, `{profile}`"] = [sys.executable, str(HERE / "drive_engine.py"), profile, str(passes)]
    played: dict[str, list[Played]] = {name: [] for name in drivers}
    for _ in range(turns):
        for name, command in drivers.items():
            played[name].append(_played([*command, *files]))
    _table(played)


def _table(played: dict[str, list[Played]]) -> None:
    best = {name: min(_each(turn, min(turn.seconds)) for turn in turns) for name, turns in played.items()}
    floor, calls = next(iter(best.values())), next(iter(played.values()))[0].calls
    head(f"Guard and settle of {calls} calls, µs each", "best pass", "first pass", "times the plugin, best", "blocked")
    for name, turns in played.items():
        first = min(_each(turn, turn.seconds[0]) for turn in turns)
        row(name, best[name], first, best[name] / floor, turns[0].blocked)


def _each(played: Played, seconds: float) -> float:
    return 1e6 * seconds / played.calls


def _played(command: list[str]) -> Played:
    done = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, env=ENVIRON, check=True)
    return msgspec.json.decode(done.stdout, type=Played)


def _plugin(folder: Path) -> list[str] | None:
    """The command that plays the plugin, which npm puts into the folder; `None` where that is not possible."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    options = ["--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--silent"]
    try:
        subprocess.run([npm, "install", *options, PACKAGE], stdout=subprocess.DEVNULL, timeout=120, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return [node, str(HERE / "drive_plugin.mjs"), str(folder)]
