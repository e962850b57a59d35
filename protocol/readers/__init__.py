"""Reading what harnesses record, as messages of the wire protocol.

    for session in open_recording("rollout.jsonl"):
        for method, params in session.messages:
            ...

A file is read as a stream where its format allows, whatever its name is: `.gz` and `.zst` by their magic number, the
format by its first rows. One file may hold several sessions.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from . import formats
from .fields import MALFORMED
from .formats import NAMES, Format
from .session import CompressedError, Context, Message, Notes, RecordingError, Session
from .source import Line, broken, decode, decompressed, lines, values

__all__ = ["NAMES", "CompressedError", "Message", "Notes", "RecordingError", "Session", "event_files", "open_recording"]

_HEAD_LINES = 64
_HEAD_BYTES = 8 << 20
_SUFFIXES = {".gz", ".zst", ".zstd", ".json", ".jsonl", ".ndjson", ".traj"}


def open_recording(
    source: str | Path | BinaryIO,
    format: str | None = None,  # noqa: A002 - the option is called so
    *,
    name: str | None = None,
) -> Iterator[Session]:
    """The sessions of a file, of `-` (standard input) or of a binary stream.

    `format` is one of `NAMES` and overrides what the content looks like. RecordingError when the file cannot be
    read as a whole; what is wrong inside it is counted in each session's `notes`.
    """
    chosen = _named(format) if format else None
    if not isinstance(source, str | Path):
        yield from _sessions(source, name or "stream", chosen)
    elif str(source) == "-":
        yield from _sessions(sys.stdin.buffer, name or "stdin", chosen)
    elif event_files(Path(source)):
        yield from _sessions(_joined(event_files(Path(source))), name or str(source), chosen)
    else:
        try:
            stream = Path(source).open("rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise RecordingError(f"{source}: {error.strerror or error}") from error
        with stream:
            yield from _sessions(stream, name or str(source), chosen)


def event_files(folder: Path) -> list[Path]:
    """The files of a folder that holds one recording, an event a file (OpenHands); else none."""
    try:
        return sorted(folder.glob("event-*.json")) if folder.is_dir() else []
    except OSError:
        return []


def _joined(files: list[Path]) -> BinaryIO:
    """Each file as one line."""
    rows = []
    for file in files:
        try:
            rows.append(msgspec.json.encode(decode(file.read_bytes())))
        except (OSError, ValueError):
            rows.append(b"(unreadable)")
    return io.BytesIO(b"\n".join(rows) + b"\n")


def _named(name: str) -> Format:
    for each in formats.FORMATS:
        if each.name == formats.ALIASES.get(name, name):
            return each
    raise RecordingError(f"{name!r} is no format; known are: {', '.join(NAMES)}")


def _sessions(stream: BinaryIO, source: str, chosen: Format | None) -> Iterator[Session]:
    notes = Notes()
    context = Context(_stem(source), source, notes)
    try:
        for session in _read(stream, context, chosen):
            session.source = source
            yield session
    except MALFORMED as error:
        raise RecordingError(f"{source}: damaged: {error!r}"[:400]) from error
    except broken() as error:
        raise RecordingError(f"{source}: breaks off: {error}") from error


def _stem(source: str) -> str:
    stem = Path(source).name
    while Path(stem).suffix in _SUFFIXES:
        stem = Path(stem).stem
    return stem or source


def _read(stream: BinaryIO, context: Context, chosen: Format | None) -> Iterator[Session]:
    raw = lines(decompressed(stream, context.source), context.notes)
    head: list[Line] = []
    size = 0
    for number, line in raw:
        head.append((number, line))
        size += len(line)
        if len(head) >= _HEAD_LINES or size > _HEAD_BYTES:
            break
    else:
        raw = iter(())
    written = [line for _, line in head if line.strip()]
    if not written:
        raise RecordingError(f"{context.source}: {context.notes.samples[0] if context.notes.skipped else 'empty'}")
    parsed = [value for value in map(_try, written) if isinstance(value, dict | list)]
    everything = itertools.chain(head, raw)
    by_row = _row_format(parsed, chosen)
    by_document = _document_format(parsed[0], chosen) if parsed else None
    # One line may be a file of one row, or a document without line breaks.
    alone = len(written) == 1 and by_document is not None and by_document is not by_row
    if by_row and by_row.rows and not alone:
        yield from by_row.rows(values(everything, context.notes), context)
    elif len(written) > 1 and by_document:
        yield from _documents(values(everything, context.notes), by_document, context)
    else:
        yield from _document([line for _, line in everything], context, chosen)


def _row_format(head: list[Any], chosen: Format | None) -> Format | None:
    if chosen is None:
        return formats.of_rows(head)
    fits = chosen.document is None or formats.of_rows(head) is chosen
    return chosen if chosen.rows and fits else None


def _document_format(value: Any, chosen: Format | None) -> Format | None:
    found = formats.of_document(value)
    return found if chosen is None or found is chosen else None


def _try(line: bytes) -> Any:
    try:
        return decode(line)
    except ValueError:
        return None


def _documents(rows: Iterator[Any], first: Format, context: Context) -> Iterator[Session]:
    """A document on each line, as data sets come."""
    for number, value in enumerate(rows, 1):
        fitting = formats.of_document(value) or first
        inner = Context(f"{context.name}#{number}", context.source, context.notes)
        if fitting.document and isinstance(value, dict | list):
            yield from fitting.document(value, inner)
        else:
            context.notes.skip("no recording", number)


def _document(everything: list[bytes], context: Context, chosen: Format | None) -> Iterator[Session]:
    """The whole file as one JSON value, after lines that a terminal may have put before it."""
    value: Any = None
    reason = ""
    for start, line in enumerate(everything[:20]):
        if line.lstrip()[:1] not in (b"{", b"["):
            continue
        try:
            value = decode(b"\n".join(everything[start:]))
            break
        except ValueError as error:
            reason = reason or str(error)
    found = chosen if chosen and value is not None else formats.of_document(value)
    if found is None or found.document is None:
        raise RecordingError(_unknown(context, everything, reason if value is None else "", chosen))
    yield from found.document(value, context)


def _unknown(context: Context, everything: list[bytes], reason: str, chosen: Format | None) -> str:
    begin = next((line for line in everything if line.strip()), b"")[:60].decode("utf-8", "replace")
    tried = chosen.name if chosen else ", ".join(each.name for each in formats.FORMATS)
    why = f"; it is no JSON as a whole: {reason}" if reason else ""
    return f"{context.source}: not a known recording (tried: {tried}); it begins {begin!r}{why}"
