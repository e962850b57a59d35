"""What a harness waits for: round trips over pipes, without and with sums that are kept."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import PROFILES, SERVE, head, line, output, p10, p50, p99, round_trips, row

PYTHON_ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


def wire(folder: Path, rounds: int) -> None:
    floor, loop = "a C echo", "an echo in Python"
    commands = {floor: c_echo(folder), loop: [sys.executable, "-c", PYTHON_ECHO]}
    commands |= {f"`{profile}`": [*SERVE, "--profile", profile] for profile in PROFILES}
    ratios = ("times the C echo at p10", "at p50", "times the Python echo at p50")
    head("Round trip over stdio, µs", "p10", "p50", "p99", *ratios)
    read, command, settled = "`guard` of a read", "`guard` of a new shell command", "`postExecute` of it, 1 kB"
    for lines, messages in (
        (lambda number: reads(number)[:1], (f"{read}, nothing settled",)),
        (lambda number: shell_commands(number)[:1], (f"{command}, nothing settled",)),
        (reads, (read, settled)),
        (shell_commands, (command, settled)),
    ):
        trips = round_trips(commands, lines, rounds)
        for place, what in enumerate(messages):
            for name, samples in trips.items():
                taken, least = samples[place], trips[floor][place]
                row(f"{what}: {name}", *_against(taken, least), p50(taken) / p50(trips[loop][place]))


def _against(taken: list[float], floor: list[float]) -> tuple[float, ...]:
    """Percentiles, and two of them as multiples of a floor's."""
    return p10(taken), p50(taken), p99(taken), p10(taken) / p10(floor), p50(taken) / p50(floor)


def reads(number: int) -> tuple[bytes, ...]:
    return _call(number, "read", {"file_path": f"src/module_{number}.py"})


def shell_commands(number: int) -> tuple[bytes, ...]:
    return _call(number, "bash", {"command": f"cd /repo && python3 tools/step_{number:06}.py --out build/x"})


def _call(number: int, tool: str, arguments: dict[str, object]) -> tuple[bytes, ...]:
    result = {"content": output(number, 1_000), "value": {"exitCode": 0}}
    return (
        line(number, "guard", callId=f"c{number}", tool=tool, arguments=arguments),
        line(number, "postExecute", callId=f"c{number}", result=result),
    )


def c_echo(folder: Path) -> list[str]:
    """The command of the echo in C, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("bench: a C compiler is needed for the echo child")
    program = str(folder / "echo")
    subprocess.run([compiler, "-O2", "-o", program, str(Path(__file__).with_name("echo.c"))], check=True)
    return [program]


# -- sums that are kept -------------------------------------------------------------------------------------


def state(folder: Path, rounds: int) -> None:
    _kept("Sums in a SQLite file", ["--state", str(folder / "state.sqlite")], rounds)


def fleet(folder: Path, rounds: int) -> None:
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        print("\nfleet: skipped, neither valkey-server nor redis-server is installed")
        return
    with _server(program, folder) as port:
        _kept("Sums on a server, over the loopback", ["--state", f"redis://127.0.0.1:{port}/0"], rounds)


def _kept(where: str, options: list[str], rounds: int) -> None:
    """What keeping sums costs, as a multiple of keeping none."""
    trips = round_trips({"none": SERVE, "kept": [*SERVE, *options]}, _charged, rounds)
    head(f"{where}: round trip over stdio, µs", "p10", "p50", "p99", "times `--state none` at p10", "at p50")
    for place, what in enumerate(("guard", "postExecute", "usage")):
        for name, samples in trips.items():
            row(f"`{what}`, {name}", *_against(samples[place], trips["none"][place]))
    row("`usage` a second, kept", *(1e6 / figure(trips["kept"][2]) for figure in (p10, p50)), "", "", "")


def _charged(number: int) -> tuple[bytes, ...]:
    return *reads(number), line(number, "usage", inputTokens=1_000, requestId=f"r{number}")


@contextmanager
def _server(program: str, folder: Path) -> Iterator[int]:
    """A server of its own on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        yield port
    finally:
        server.kill()
        server.wait()
