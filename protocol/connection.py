"""One connection without its descriptors: bytes in, lines out. A test can hold both ends in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from protocol.dispatch import fault_reply, oversized_reply
from protocol.framing import Framer, Line, Skipped
from protocol.methods import Session
from protocol.store.once import Once


class Recorder(Protocol):
    """Sees every line that comes and goes."""

    def received(self, line: bytes, at: float) -> None: ...

    def sent(self, line: bytes, at: float) -> None: ...


class Answering(Protocol):
    """Answers a line."""

    def reply(self, line: bytes) -> bytes | None: ...


class OneRequest:
    """Answers one line as an event of its own, and ends the session."""

    def __init__(self, session: Session, answering: Answering, once: Once) -> None:
        self._session = session
        self._answering = answering
        self._once = once

    def reply(self, line: bytes) -> bytes | None:
        try:
            return self._once.judge(lambda: self._answering.reply(line))
        finally:
            self._session.over = True


class Connection:
    """Feeds what arrives to a session, line after line.

    Both methods are generators: a line is looked at only when the reply to the one before has been taken, so that
    the caller writes each before the next is judged, and may stop in between.
    """

    def __init__(
        self, session: Session, answering: Answering, framer: Framer, recorder: Recorder | None = None
    ) -> None:
        self.session = session
        self._answering = answering
        self._framer = framer
        self._recorder = recorder

    def receive(self, data: bytes) -> Iterator[bytes]:
        """The replies to the lines that `data` completes. They arrived when `data` did."""
        self.session.arrived = self.session.clock()
        return self._answer(self._framer.feed(data))

    def make_room(self) -> bool:
        """Memory is short: let go of what arrived of a line, which is answered as a fault. False: nothing arrived."""
        return self._framer.make_room()

    def close(self) -> Iterator[bytes]:
        """The reply to a last line without LF."""
        self.session.arrived = self.session.clock()
        return self._answer(self._framer.close())

    def _answer(self, lines: list[Line]) -> Iterator[bytes]:
        session, recorder = self.session, self._recorder
        for line in lines:
            if session.over:
                return
            if line is Skipped.OVERSIZED:
                reply: bytes | None = oversized_reply(self._framer.max_line_bytes)
            elif line is Skipped.NO_ROOM:
                reply = fault_reply()
            else:
                if recorder:
                    recorder.received(line, session.arrived)
                reply = self._reply(line)
            if reply is not None:
                if recorder:
                    recorder.sent(reply, session.clock())
                yield reply

    def _reply(self, line: bytes) -> bytes | None:
        try:
            return self._answering.reply(line)
        except Exception:
            self.session.fault("dispatching a message")
            return fault_reply()
