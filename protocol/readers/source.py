"""Bytes of a recording: compression by its magic number, lines of bounded length, JSON with small faults.

Recordings are cut off, masked by scripts and copied through terminals. What can be read with certainty is read;
the rest is counted.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, cast

import msgspec

from protocol.about import lacking

from .session import CompressedError, Notes, RecordingError

MAX_LINE = 256 << 20
"""Bytes. A whole session may stand on one line; longer lines are skipped without being held."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf'\\({_PAIR}|u[0-9a-fA-F]{{4}}|["\\/bfnrt]|)')


def decompressed(stream: BinaryIO, name: str, layers: int = 3) -> BinaryIO:
    """The stream as UTF-8 bytes, whatever it was wrapped in. RecordingError when that cannot be undone."""
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(cast(Any, stream))
    try:
        magic: bytes = buffered.peek(4)[:4]
    except broken() as error:
        raise RecordingError(f"{name}: cannot be decompressed: {error}") from error
    if layers and magic.startswith(_GZIP):
        return decompressed(io.BufferedReader(cast(Any, gzip.GzipFile(fileobj=buffered))), name, layers - 1)
    if layers and magic == _ZSTD:
        return decompressed(io.BufferedReader(_zstd(buffered, name)), name, layers - 1)
    if magic.startswith(_UTF16):
        return io.BytesIO(buffered.read().decode("utf-16", "replace").encode())
    return cast(BinaryIO, buffered)


def _zstd(stream: BinaryIO, name: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise CompressedError(f"{name}: compressed with zstd, which {lacking('zstandard')}") from error
    # Every batch that a harness appends is a frame of its own.
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)


Line = tuple[int, bytes]
"""A line's number, counted from 1, and the line."""


def lines(stream: BinaryIO, notes: Notes) -> Iterator[Line]:
    """The lines without their ends, blank ones included. A stream that breaks off is noted, not raised."""

    def read() -> bytes:
        if stream.closed:
            raise RecordingError(
                "a session has to be read before the next one is asked for, and before the file closes"
            )
        try:
            return stream.readline(MAX_LINE)
        except broken() as error:
            notes.skip(f"the data breaks off: {error}")
            return b""

    while line := read():
        notes.lines += 1
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = read()
            notes.skip(f"longer than {MAX_LINE} bytes")
            continue
        line = line.rstrip(b"\r\n")
        yield notes.lines, line.removeprefix(_BOM) if notes.lines == 1 else line


def broken() -> tuple[type[Exception], ...]:
    """What a damaged stream raises; zstd's own error exists only where its package was imported."""
    module = sys.modules.get("zstandard")
    errors: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
    return (*errors, module.ZstdError) if module else errors


def decode(data: bytes, mended: Callable[[], None] | None = None) -> Any:
    """The JSON value in `data`; ValueError when it is none even after its escapes were mended.

    Lone surrogates become U+FFFD, NaN and Infinity null, a backslash that begins no escape stands for itself.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    text = data.decode("utf-8", "replace")
    repaired = _ESCAPE.sub(_mend, text)
    try:
        value = json.loads(repaired, strict=False, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if mended is not None and repaired != text:
        mended()
    return value


def _mend(match: re.Match[str]) -> str:
    escape = match[1]
    if not escape:
        return r"\\"
    lone = len(escape) == 5 and escape[1] in "dD" and escape[2] in "89abAB" + "cdefCDEF"
    return r"\ufffd" if lone else match[0]


def values(raw: Iterable[Line], notes: Notes) -> Iterator[Any]:
    """The JSON values of each line that has one. Files that were joined without a line end between hold two."""

    def mended() -> None:
        notes.mended += 1

    for number, line in raw:
        if not line.strip(b" \t\0"):
            continue
        try:
            yield decode(line, mended)
        except ValueError as error:
            several = _several(line)
            if several:
                notes.mended += 1
                yield from several
            else:
                notes.skip(f"not JSON: {error}", number)


def _several(line: bytes) -> list[Any]:
    """The objects of a line that holds nothing but objects, one behind the other; else none."""
    text = line.decode("utf-8", "replace")
    read, found, position = json.JSONDecoder(strict=False).raw_decode, [], 0
    try:
        while position < len(text):
            if text[position] != "{":
                return []
            value, position = read(text, position)
            found.append(value)
    except (ValueError, RecursionError):
        return []
    return found
