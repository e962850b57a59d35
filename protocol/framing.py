"""Bytes to lines: what arrives in pieces of any size is cut at line feeds. No I/O here."""

from __future__ import annotations

from enum import Enum

BOM = b"\xef\xbb\xbf"
DEFAULT_MAX_LINE_BYTES = 8 * 1024 * 1024


class Skipped(Enum):
    """Stands in the place of a line that was not kept."""

    OVERSIZED = "oversized"
    NO_ROOM = "no room"


Line = bytes | Skipped


class Framer:
    """Cuts a stream into lines.

    A line ends with LF or CRLF, or with the stream. A byte order mark before it is dropped, blank lines are skipped.
    Of a line with more than `max_line_bytes` (ending not counted) nothing is kept but the fact that it was there; nor
    of one that memory has no room for.
    """

    def __init__(self, max_line_bytes: int = DEFAULT_MAX_LINE_BYTES) -> None:
        self.max_line_bytes = max_line_bytes
        self._parts: list[bytes] = []  # of the line that has not ended
        self._held = 0  # bytes in them
        self._skipped: Skipped | None = None  # why nothing is held of it any more

    def feed(self, data: bytes) -> list[Line]:
        """Take in what was read; return the lines that it completes."""
        start = data.find(b"\n") + 1
        if not start:
            self._hold(data)
            return []
        lines: list[Line] = []
        first = data[: start - 1]
        if self._parts or self._skipped:
            self._hold(first)
            self._end(lines)
        else:
            self._keep(first, lines)
        while end := data.find(b"\n", start) + 1:
            self._keep(data[start : end - 1], lines)
            start = end
        if start < len(data):
            self._hold(data[start:])
        return lines

    def close(self) -> list[Line]:
        """The stream has ended: what is left is a line, too."""
        lines: list[Line] = []
        if self._parts or self._skipped:
            self._end(lines)
        return lines

    def make_room(self) -> bool:
        """Memory is short: let go of the line that has not ended. False when there was nothing to let go of."""
        held = bool(self._parts)
        if held:
            self._skip(Skipped.NO_ROOM)
        return held

    def _hold(self, piece: bytes) -> None:
        if self._skipped:
            return
        self._parts.append(piece)
        self._held += len(piece)
        if self._held > self.max_line_bytes + 1:  # one more may be the CR of CRLF
            self._skip(Skipped.OVERSIZED)

    def _skip(self, why: Skipped) -> None:
        self._skipped = why
        self._parts.clear()

    def _end(self, lines: list[Line]) -> None:
        if self._skipped:
            lines.append(self._skipped)
        else:
            try:
                self._keep(b"".join(self._parts), lines)
            except MemoryError:
                lines.append(Skipped.NO_ROOM)
        self._parts.clear()
        self._held = 0
        self._skipped = None

    def _keep(self, line: bytes, lines: list[Line]) -> None:
        line = line.removesuffix(b"\r")
        if len(line) > self.max_line_bytes:
            lines.append(Skipped.OVERSIZED)
            return
        line = line.removeprefix(BOM)
        if line and not line.isspace():
            lines.append(line)
