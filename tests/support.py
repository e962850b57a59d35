"""The real process for tests to talk to, and a connection without one. Every wait is bounded."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from breaker.engine import Engine
from breaker.options import Layer
from breaker.settings import Settings
from protocol.connection import Connection, Recorder
from protocol.dispatch import Dispatcher
from protocol.framing import Framer
from protocol.layers import Sources
from protocol.methods import Session

ROOT = Path(__file__).resolve().parent.parent
STANDARD = Sources((Layer("test", {"profile": "standard"}),))
PATIENCE = 20.0
"""Seconds after which a wait fails. Nothing takes a tenth of it; the machine may be busy."""

START = "import sys\nfrom protocol.cli import main\nsys.exit(main())"
"""What an installed command does."""


def environment(**variables: str) -> dict[str, str]:
    """The environment for a process: ours, without settings that the developer's own shell may hold.

    The profile is `standard`, whose numbers can be counted by hand, unless a test names another one.
    """
    foreign = ("TOOLBREAKER_", "DSH_LOOP_GUARD_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    kept["TOOLBREAKER_PROFILE"] = "standard"
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **variables}


def command_line(*arguments: str, prelude: str = "") -> list[str]:
    """`toolbreaker ARGUMENTS` in this tree, warnings being errors. `prelude` is Python that runs before."""
    return [sys.executable, "-P", "-W", "error", "-c", f"{prelude}\n{START}", *arguments]


def run(
    *arguments: str, data: bytes = b"", prelude: str = "", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        command_line(*arguments, prelude=prelude),
        input=data,
        capture_output=True,
        timeout=PATIENCE,
        env=environment(**variables),
        cwd=cwd,
        check=False,
    )


def message(method: str, params: Any = None, id: Any = 1) -> bytes:  # noqa: A002 - the wire's own word
    """A request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def notification(method: str, params: Any = None) -> bytes:
    """A notification as a line."""
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n"


class Server:
    """A running `toolbreaker serve` (or another command) with its pipes.

    As a context manager it is killed at the end, should it still run.
    """

    def __init__(
        self,
        *arguments: str,
        command: str = "serve",
        prelude: str = "",
        cwd: Path | None = None,
        stdin: int = subprocess.PIPE,
        pass_fds: Sequence[int] = (),
        **variables: str,
    ) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self._buffer = b""
        self._last_id = 0
        self.process = subprocess.Popen(
            command_line(command, *arguments, prelude=prelude),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            env=environment(**variables),
            cwd=cwd,
            pass_fds=pass_fds,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._stderr.close()

    # -- bytes ----------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Write bytes to its standard input."""
        assert self.process.stdin
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def line(self) -> bytes:
        """The next line of its standard output, which must come in time."""
        while b"\n" not in self._buffer:
            more = self._read()
            if not more:
                raise AssertionError(f"the process ended; stderr: {self.stderr()}")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def rest(self) -> bytes:
        """What its standard output holds up to its end."""
        while more := self._read():
            self._buffer += more
        rest, self._buffer = self._buffer, b""
        return rest

    def _read(self) -> bytes:
        assert self.process.stdout
        descriptor = self.process.stdout.fileno()
        ready, _, _ = select.select([descriptor], [], [], PATIENCE)
        if not ready:
            raise AssertionError(f"nothing came within {PATIENCE} s; stderr: {self.stderr()}")
        return os.read(descriptor, 1 << 20)

    def stderr(self) -> str:
        """What it has said on standard error so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()

    # -- messages -------------------------------------------------------------------------------------------

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """The reply to a request, whatever it is."""
        self._last_id += 1
        self.send(message(method, params, self._last_id))
        reply = json.loads(self.line())
        assert isinstance(reply, dict)
        assert reply["id"] == self._last_id
        return reply

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request that succeeds."""
        reply = self.ask(method, params)
        assert "result" in reply, reply
        return reply["result"]

    def fail(self, method: str, params: Any = None) -> dict[str, Any]:
        """The error of a request that fails."""
        reply = self.ask(method, params)
        assert "error" in reply, reply
        error = reply["error"]
        assert isinstance(error, dict)
        return error

    # -- the end --------------------------------------------------------------------------------------------

    def close(self) -> int:
        """Close its standard input and wait for it; the exit status."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end; the exit status."""
        return self.process.wait(PATIENCE)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds that nothing announces."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE} s"
        time.sleep(0.005)


class Memory:
    """Both ends of a connection in this process: what goes in, what comes out, and what was logged."""

    def __init__(
        self,
        *,
        engine_for: Callable[[Settings], Engine] = Engine,
        sources: Sources | None = None,
        max_line_bytes: int = 1 << 20,
        recorder: Recorder | None = None,
    ) -> None:
        self.logged: list[str] = []
        self.now = 1000.0
        self.session = Session(sources or STANDARD, engine_for, log=self.logged.append, clock=lambda: self.now)
        self.connection = Connection(self.session, Dispatcher(self.session), Framer(max_line_bytes), recorder)
        self._last_id = 0

    def feed(self, data: bytes) -> list[Any]:
        """The replies to some bytes."""
        return [json.loads(line) for line in self.lines(data)]

    def lines(self, data: bytes) -> Iterator[bytes]:
        """The lines that answer some bytes."""
        return self.connection.receive(data)

    def close(self) -> list[Any]:
        """The replies that the end of input brings."""
        return [json.loads(line) for line in self.connection.close()]

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """The reply to a request."""
        self._last_id += 1
        (reply,) = self.feed(message(method, params, self._last_id))
        assert isinstance(reply, dict)
        return reply

    def call(self, method: str, **params: Any) -> Any:
        """The result of a request that succeeds."""
        reply = self.ask(method, params)
        assert "result" in reply, reply
        return reply["result"]

    def fail(self, method: str, params: Any = None) -> dict[str, Any]:
        """The error of a request that fails."""
        reply = self.ask(method, params)
        assert "error" in reply, reply
        error = reply["error"]
        assert isinstance(error, dict)
        return error
