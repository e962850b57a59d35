"""What whole processes take: to start, to answer one event, to judge recordings, and in memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from statistics import median

from measure import ENVIRON, PROFILES, ROOT, SERVE, SHARED, TOOLBREAKER, Child, head, line, row


def start(_: Path, rounds: int) -> None:
    request = line(1, "guard", callId="c1", tool="read", arguments={"file_path": "src/a.py"})
    importing = "importing jsonrpcserver"
    commands = {
        importing: ([sys.executable, "-c", "import jsonrpcserver; print(flush=True)"], b""),
        "`serve`, to its first reply": (SERVE, request),
    }
    repeats = max(3, rounds // 65)
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    for _repeat in range(repeats):
        for name, (command, given) in commands.items():
            spent, began = _spent_by_children(), time.perf_counter()
            with Child(command) as child:
                child.trip(given)
                wall[name].append(1e3 * (time.perf_counter() - began))
            cpu[name].append(1e3 * (_spent_by_children() - spent))
    head(f"Start-up, ms, medians of {repeats}", "to its first line", "times", "CPU time to its end", "times")
    for name in commands:
        columns = ((median(taken[name]), median(taken[name]) / median(taken[importing])) for taken in (wall, cpu))
        row(name, *chain(*columns))


def hook(_: Path, rounds: int) -> None:
    print("\nA hook of Claude Code, one process for each event\n", flush=True)
    repeats = max(3, rounds // 100)
    subprocess.run([sys.executable, str(ROOT / "tests/hook/startup.py"), str(repeats)], env=ENVIRON, check=True)


def memory(_: Path, rounds: int) -> None:
    head("Memory of `serve`, MiB", "resident")
    calls = 50 * rounds
    with Child(SERVE) as child:
        for number in range(1, calls + 1):
            agent = f"agent-{number % 1_000}"
            command = {"command": f"make t{number}"}
            child.trip(line(1, "guard", agent=agent, callId=f"c{number}", tool="bash", arguments=command))
            child.trip(line(2, "postExecute", agent=agent, callId=f"c{number}", result={"content": f"made {number}"}))
            if number in (1, calls // 10, calls // 2, calls):
                row(f"after {number:,} calls of {min(number, 1_000):,} agents", _resident(child.process.pid))


def _resident(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def replay(_: Path, _rounds: int) -> None:
    recorded = SHARED / "corpus" / "sessions"
    if not recorded.is_dir():
        print("\nreplay: skipped, no recorded sessions beside the repository")
        return
    head("Replay, one process", "sessions", "calls", "calls a second of CPU time")
    for profile in PROFILES:
        command = [TOOLBREAKER, "replay", "--json", "--profile", profile, str(recorded)]
        spent = _spent_by_children()
        done = subprocess.run(command, stdout=subprocess.PIPE, env=ENVIRON, check=True)
        spent = _spent_by_children() - spent
        total = json.loads(done.stdout)["total"]
        row(f"`{profile}`", total["sessions"], total["calls"], round(total["calls"] / spent))


def _spent_by_children() -> float:
    """Seconds of CPU time of all children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
