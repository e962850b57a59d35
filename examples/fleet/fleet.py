"""Three agents share one budget on a server of this machine, without containers.

The first two spend it, the third is stopped. A person looks and lifts it, and the third goes on.
Needs redis-server or valkey-server, and the package `redis` beside toolbreaker.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agent import CONFIG, ROOT, TOOLBREAKER

AGENT = [sys.executable, str(Path(__file__).with_name("agent.py"))]


def start_server(directory: str) -> tuple[subprocess.Popen[bytes], str]:
    """A server on a free port of the loopback, and its address."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        raise SystemExit("neither valkey-server nor redis-server is installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", directory, "--save", ""]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return server, f"redis://127.0.0.1:{port}/0"
        except OSError:
            time.sleep(0.02)
    server.kill()
    raise SystemExit("the server did not start")


def person(*words: str) -> None:
    """What somebody types who looks after the fleet."""
    print(f"\n$ toolbreaker {' '.join(words)}", flush=True)
    subprocess.run([*TOOLBREAKER, *words], check=True)
    print(flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        server, address = start_server(directory)
        os.environ["TOOLBREAKER_STATE"] = address
        agents: list[subprocess.Popen[str]] = []
        try:
            agents += [subprocess.Popen([*AGENT, name], text=True) for name in ("one", "two")]
            for agent in agents:
                agent.wait()
            third = subprocess.Popen([*AGENT, "three"], text=True, stdout=subprocess.PIPE)
            agents.append(third)
            assert third.stdout
            for line in third.stdout:
                print(line, end="", flush=True)
                if "stopped" in line:
                    person("state", "--state", address, "--namespace", ROOT, "--config", str(CONFIG))
                    person("state", "reset", ROOT, "--budget", "--state", address, "--namespace", ROOT)
            if any(agent.wait() for agent in agents):
                raise SystemExit("an agent failed")
        finally:
            for agent in agents:
                agent.kill()
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
