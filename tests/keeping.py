"""An engine in front of a store, as a process has it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from support import PATIENCE, until

from breaker.engine import Engine
from breaker.events import Usage
from breaker.options import Layer, resolve
from breaker.state import Account
from protocol.store.base import Store
from protocol.store.keeper import Keeper


def engine(*, compact: bool = False, key: bytes = b"k", **config: Any) -> Engine:
    return Engine(resolve([Layer("test", config)]).settings, key=key, compact=compact)


RUNNING: list[Process] = []


def end_all() -> None:
    """Let all keepers go, whose threads would otherwise find their stores closed."""
    while RUNNING:
        RUNNING.pop().keeper.close()


class RedisServer:
    """A Redis or Valkey of this machine on a free port of the loopback; the test is skipped where there is none.

    With `tls` it speaks nothing else. RuntimeError when it ends at once.
    """

    def __init__(self, *options: str, tls: bool = False) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            pytest.skip("neither redis-server nor valkey-server is installed")
        pytest.importorskip("redis")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"redis://127.0.0.1:{self.port}/0"
        self._directory = tempfile.TemporaryDirectory()
        # What was answered is with the kernel, which is enough for a server that is killed, and costs no disk.
        ports = ["--port", "0", "--tls-port", str(self.port)] if tls else ["--port", str(self.port)]
        self._tls = tls
        self._command = [program, *ports, *options, "--bind", "127.0.0.1", "--dir", self._directory.name]
        self._command += ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        self.start()

    def start(self) -> None:
        """Start it (again, with what it held), and wait until it answers."""
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self._answers, "the server answered")

    def stop(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise RuntimeError("the server ended")
        try:
            if self._tls:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return True
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def __enter__(self) -> RedisServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._directory.cleanup()


class Process:
    """What a serving process holds. `do` handles one message."""

    def __init__(
        self, store: Store | None, *, refresh_seconds: float = 3600.0, problem: str | None = None, **config: Any
    ) -> None:
        self.logged: list[str] = []
        self.keeper = Keeper(store, log=self.logged.append, problem=problem)
        self.engine = engine(stateRefreshSeconds=refresh_seconds, **config)
        self.keeper.attach(self.engine)
        RUNNING.append(self)

    def do(self, act: Callable[[Engine], Any], *, waits: bool = False) -> Any:
        self.keeper.before()
        try:
            return act(self.engine)
        finally:
            self.keeper.after(waits=waits)

    def use(self, agent: str, tokens: int, request: str | None = None) -> Any:
        return self.do(lambda engine: engine.usage(Usage(agent, tokens, request_id=request)))

    def account(self, agent: str) -> Account:
        self.keeper.before()
        return self.engine.state.agents[agent].account
