"""Measures what a hook costs an agent's user: the time of a process per event, as a multiple of `python -c pass`.

usage: startup.py [ROUNDS]

Both run in a fresh environment that holds nothing but what an installation has, compiled as an installer compiles it.
Rounds alternate, and CPU time is compared, so that whatever else the machine does plays a small part.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data" / "claude-code.json"
EVENTS = ("PreToolUse-Bash", "PostToolUse-Bash-ok", "PreToolUse-Read", "PostToolUse-Read", "UserPromptSubmit", "Stop")
START = "import sys\nfrom protocol.cli import main\nsys.exit(main())\n"


def milliseconds(line: list[str], environ: dict[str, str], data: bytes = b"") -> float:
    """CPU time of a process."""
    process = subprocess.Popen(line, stdin=subprocess.PIPE, env=environ)
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{line} ended with {process.returncode}")
    return 1000 * (used.ru_utime + used.ru_stime)


def main(rounds: int) -> None:
    """Print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", symlinks=True)
        python = str(folder / "venv" / "bin" / "python")
        packages = next((folder / "venv" / "lib").glob("python*")) / "site-packages"
        (packages / "ours.pth").write_text(f"{ROOT}\n{Path(msgspec.__file__).parents[1]}\n")
        starter = folder / "toolbreaker"
        starter.write_text(START)
        environ = {"PATH": os.environ["PATH"], "HOME": name, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        text = DATA.read_text().replace("@HOME@", name).replace("@WORK@", name)
        events = msgspec.json.decode(text)
        hook = [python, str(starter), "hook", "claude-code"]
        floor: list[float] = []
        taken: dict[str, list[float]] = {event: [] for event in EVENTS}
        for number in range(rounds + 1):
            floor.append(milliseconds([python, "-c", "pass"], environ))
            for event in EVENTS:
                members = {"session_id": f"s{number // 5}", "tool_use_id": f"c{number}", "transcript_path": None}
                taken[event].append(milliseconds(hook, environ, msgspec.json.encode(events[event] | members)))
    base = statistics.median(floor[1:])
    print(f"| CPU time | ms, median of {rounds} | times `python -c pass` |\n|---|---|---|")
    print(f"| `python -c pass` | {base:.1f} | |")
    for event, samples in taken.items():
        median = statistics.median(samples[1:])
        print(f"| {event} | {median:.1f} | {median / base:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
