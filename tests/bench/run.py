"""Measures what the gate costs, as ratios inside one run: machines are noisy, ratios less so.

usage: run.py [SECTION ...]   (wire, engine, start, memory, replay, state, fleet; default all)
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from breaker import Call, Engine, Result, Settled
from breaker.settings import preset

HERE = Path(__file__).resolve().parent
SERVE = [str(Path(sys.executable).with_name("toolbreaker")), "serve"]
ROUNDS = 4_000
READ = '{{"jsonrpc":"2.0","id":{n},"method":"guard","params":{{"callId":"c{n}","tool":"read","arguments":{{"file_path":"src/a.py","offset":{n}}}}}}}\n'  # noqa: E501
SHELL = '{{"jsonrpc":"2.0","id":{n},"method":"guard","params":{{"callId":"c{n}","tool":"bash","arguments":{{"command":"cd /repo && python3 tools/step_{n:06d}.py --out build/x"}}}}}}\n'  # noqa: E501


USAGE = '{{"jsonrpc":"2.0","id":{n},"method":"usage","params":{{"inputTokens":1000,"requestId":"r{n}"}}}}\n'
PASSES = 3


def microseconds(samples: Iterable[float]) -> tuple[float, float]:
    """Median and 99th percentile, in microseconds."""
    ordered = sorted(samples)
    return 1e6 * statistics.median(ordered), 1e6 * ordered[int(0.99 * len(ordered))]


def row(name: str, *cells: object) -> None:
    print(f"| {name} | " + " | ".join(f"{c:.1f}" if isinstance(c, float) else str(c) for c in cells) + " |", flush=True)


def head(title: str, *columns: str) -> None:
    print(f"\n{title}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")


def echo_child(folder: Path) -> list[str]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("bench: a C compiler is needed for the echo child")
    subprocess.run([compiler, "-O2", "-o", str(folder / "echo"), str(HERE / "echo.c")], check=True)
    return [str(folder / "echo")]


def round_trips(command: list[str], message: str, rounds: int = ROUNDS) -> list[float]:
    """Seconds of each round trip; both ends on one core, so that the scheduler plays no part."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin
    assert child.stdout
    os.sched_setaffinity(child.pid, {0})
    read, write = child.stdout.fileno(), child.stdin.fileno()
    samples = []
    for n in range(rounds + 200):
        line = message.format(n=n).encode()
        start = time.perf_counter()
        os.write(write, line)
        while not os.read(read, 1 << 16).endswith(b"\n"):
            pass
        samples.append(time.perf_counter() - start)
    child.stdin.close()
    child.wait(10)
    return samples[200:]


def wire(folder: Path) -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {0})
    echo = echo_child(folder)
    head("Round trip of `guard` over stdio, µs", "p50", "p99", "times the echo at p50")
    for name, message in (("a read call", READ), ("a shell command never seen before", SHELL)):
        floor = microseconds(round_trips(echo, message))
        row(f"C echo, {name}", *floor, 1.0)
        for profile in ("standard", "adaptive"):
            cost = microseconds(round_trips([*SERVE, "--profile", profile], message))
            row(f"{name}, `{profile}`", *cost, cost[0] / floor[0])
    os.sched_setaffinity(0, allowed)


def engine(_: Path) -> None:
    head("The engine alone, µs", "p50", "p99")
    done = Result(content="x" * 400 + "\n" + "line of output\n" * 2_000, value={"kind": "foreground", "exitCode": 0})
    calls = (
        ("a read call", "read", "file_path", "src/{}.py"),
        ("a shell command never seen before", "bash", "command", "cd /repo && python3 tools/step_{}.py --out build/x"),
        ("a shell command seen before", "bash", "command", "cd /repo && make test {:.0}"),
    )
    for profile in ("standard", "adaptive"):
        for name, tool, argument, text in calls:
            under = Engine(preset(profile), key=b"bench")
            guards, settles = [], []
            for n in range(ROUNDS):
                call = Call("main", tool, {argument: text.format(str(n))}, "c", step=str(n))
                began = time.perf_counter()
                under.guard(call)
                judged = time.perf_counter()
                under.settle(Settled("main", done, "c"))
                settles.append(time.perf_counter() - judged)
                guards.append(judged - began)
            row(f"guard, {name}, `{profile}`", *microseconds(guards))
            row(f"settle, 30 kB of output, `{profile}`", *microseconds(settles))


def replay(_: Path) -> None:
    recorded = HERE.parents[2] / "shared" / "corpus" / "sessions"
    if not recorded.is_dir():
        print("\nreplay: no recorded sessions beside the repository")
        return
    head("Replay of 338 recorded sessions, one process", "calls a second")
    for profile in ("standard", "adaptive"):
        command = [SERVE[0], "replay", "--json", "--profile", profile, str(recorded)]
        began = os.times()
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        ended = os.times()
        spent = ended.children_user + ended.children_system - began.children_user - began.children_system
        row(f"`{profile}`, CPU time", round(json.loads(done.stdout)["total"]["calls"] / spent))


def start(_: Path) -> None:
    head("Start-up, ms", "median of 15", "times importing jsonrpcserver")

    def importing() -> None:
        subprocess.run([sys.executable, "-c", "import jsonrpcserver"], check=True)

    def first_reply() -> None:
        message = READ.format(n=1).encode()
        done = subprocess.run(SERVE, input=message, stdout=subprocess.PIPE, check=True)
        assert json.loads(done.stdout)["result"]["decision"] == "allow"

    floor = None
    for name, run in (("importing jsonrpcserver", importing), ("`serve` to its first reply and end", first_reply)):
        samples = []
        for _ in range(15):
            began = time.perf_counter()
            run()
            samples.append(time.perf_counter() - began)
        median = 1e3 * statistics.median(samples)
        floor = floor or median
        row(name, median, f"{median / floor:.2f}")


def resident(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def memory(_: Path) -> None:
    head("Memory of `serve`, MiB", "resident")
    child = subprocess.Popen(SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin
    assert child.stdout
    for n in range(100_000):
        agent, call = f"agent-{n % 1000}", {"callId": f"c{n}", "tool": "bash", "arguments": {"command": f"make t{n}"}}
        for number, (method, params) in enumerate(
            (("guard", call), ("postExecute", {"callId": f"c{n}", "result": {"content": f"made {n}"}}))
        ):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"agent": agent, **params}}
            child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
        child.stdout.readline()
        child.stdout.readline()
        if n + 1 in (1, 10_000, 50_000, 100_000):
            row(f"after {n + 1:,} calls of {min(n + 1, 1000):,} agents", resident(child.pid))
    child.stdin.close()
    child.wait(10)


def kept(place: Callable[[int], list[str]]) -> None:
    """What it costs to keep sums at a place, as ratios to keeping none. Each pass has a place of its own."""
    head("Round trips, µs; the best of some passes that take turns", "p50", "p99", "times `--state none` at p50")
    rows: list[tuple[str, tuple[float, float], float]] = []
    for name, message in (("guard", READ), ("usage", USAGE)):
        without, with_state = [], []
        for number in range(PASSES):
            without.append(microseconds(round_trips(SERVE, message, ROUNDS // 2)))
            with_state.append(microseconds(round_trips([*SERVE, *place(number)], message, ROUNDS // 2)))
        floor = min(without)
        rows += [(f"{name}, none", floor, 1.0), (f"{name}, kept", min(with_state), min(with_state)[0] / floor[0])]
    for name, figures, ratio in rows:
        row(name, *figures, f"{ratio:.2f}")
    row("`usage` a second, one process", f"{1e6 / rows[-1][1][0]:,.0f}", "", "")


def state(folder: Path) -> None:
    print("\n### Sums in a SQLite file")
    kept(lambda number: ["--state", str(folder / f"state-{number}.sqlite")])


def fleet(folder: Path) -> None:
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        print("\nSums on a server: neither valkey-server nor redis-server is installed")
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder), "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.02)
        print("\n### Sums on a server, over the loopback")
        kept(lambda number: ["--state", f"redis://127.0.0.1:{port}/0", "--namespace", f"bench-{number}"])
    finally:
        server.kill()
        server.wait()


SECTIONS = {
    "wire": wire,
    "engine": engine,
    "start": start,
    "memory": memory,
    "replay": replay,
    "state": state,
    "fleet": fleet,
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or SECTIONS:
            SECTIONS[name](Path(folder))


if __name__ == "__main__":
    main()
