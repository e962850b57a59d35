"""Serving on standard input and output: private descriptors, signals, a reader that goes away.

While serving, descriptor 0 is /dev/null and descriptor 1 is standard error; the wire runs on private duplicates of
what they were. A stray `print` or a child process can then neither tear a reply nor eat a request.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

from protocol.streams import flush_or_discard

if TYPE_CHECKING:  # not at run time: nothing that could print may be imported before the wire is private
    from protocol.connection import Connection

READ_BYTES = 64 * 1024
GRACE_SECONDS = 5.0
"""How long the message in hand and the state may take once a signal asks to end."""

ON_TERMINAL = (
    "serve reads JSON-RPC requests from standard input, one a line, and answers on standard output. "
    "It is meant to be started by an agent's harness; end it with Ctrl-D. See: toolbreaker --help"
)


def log(text: str) -> None:
    """A diagnostic for people. Standard error may be gone as well; that stops nothing."""
    from breaker.readable import readable

    with suppress(OSError, ValueError):
        os.write(2, b"toolbreaker: " + readable(text, keep="\n").encode("utf-8", "replace") + b"\n")


class Ended(BaseException):
    """The grace period is over. Not an Exception, so that nothing on the way takes it for a fault."""


class Wire:
    """Private duplicates of standard input and output, and the signals that end the serving."""

    def __init__(self) -> None:
        _open_standard_descriptors()
        self.reading = os.dup(0)
        self.writing = os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        self.stopping = False
        # A signal that arrives between a check of `stopping` and the wait would be noticed only at the next
        # message: the wake-up pipe is written by the C handler at once and ends the wait.
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGALRM, _end)
        self._poll = select.poll()
        self._poll.register(self.reading, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)

    def read(self) -> bytes:
        """What has arrived, waiting for it; nothing at the end of input or when a signal asks to end."""
        while True:
            self._poll.poll()
            if self.stopping:
                return b""
            try:
                return os.read(self.reading, READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                return b""  # a terminal that hung up, a socket that was reset

    def write(self, data: bytes) -> None:
        """All of `data`. OSError when the reader has gone."""
        try:
            written = os.write(self.writing, data)
        except BlockingIOError:
            written = 0
        while written < len(data):  # the parent made the descriptor non-blocking, or a signal came in between
            _wait_writable(self.writing)
            with suppress(BlockingIOError):
                written += os.write(self.writing, memoryview(data)[written:])

    def finish(self) -> None:
        """No signal shall spoil the exit status from here on."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if not self.stopping:
            self.stopping = True
            signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)


def serve(wire: Wire, connection: Connection, flush: Callable[[], None]) -> int:
    """Answer until the input ends, the reader goes, a signal or `shutdown` comes; flush; the exit status is 0."""
    try:
        if os.isatty(wire.reading):
            log(ON_TERMINAL)
        try:
            _converse(wire, connection)
        finally:
            flush()
    except Ended:
        log(f"ended {GRACE_SECONDS:g} s after a signal, in the middle of something")
    except Exception:
        connection.session.fault("serving")
    wire.finish()
    flush_or_discard()
    return 0


def _converse(wire: Wire, connection: Connection) -> None:
    session = connection.session

    def answer(replies: Iterable[bytes]) -> bool:
        for reply in replies:
            try:
                wire.write(reply)
            except OSError:
                return False
            if wire.stopping:
                return False
        return not (session.over or wire.stopping)

    while data := _read(wire, connection):
        if not answer(connection.receive(data)):
            return
    if not wire.stopping:
        answer(connection.close())


def _read(wire: Wire, connection: Connection) -> bytes:
    while True:
        try:
            return wire.read()
        except MemoryError:
            if not connection.make_room():
                raise


def _open_standard_descriptors() -> None:
    """Give 0, 1 and 2 something to stand for when the parent closed them, before anything else takes the number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _wait_writable(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


def _end(_number: int, _frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)  # for the flush that follows
    raise Ended
