"""Following the files that clients write: their new rows, or the last row about a call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from protocol.decode import NotJsonError, decode

MAX_NEW_BYTES = 16 * 2**20
"""What one event reads of a file; the rest waits for the next one."""

MAX_BACK_BYTES = 8 * 2**20
_BACK_STEP = 256 * 1024


def size(path: str) -> int:
    """The bytes of a file; 0 for one that is not there."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 - pathlib would be loaded for this alone
    except (OSError, ValueError):
        return 0


def new_rows(path: str, offset: int) -> tuple[list[bytes], int]:
    """The whole lines behind `offset`, and the offset behind the last of them.

    A file that became shorter was written anew and is read from its beginning.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            if os.fstat(file.fileno()).st_size < offset:
                offset = 0
            file.seek(offset)
            data = file.read(MAX_NEW_BYTES)
    except (OSError, ValueError):
        return [], offset
    end = data.rfind(b"\n") + 1
    if not end and len(data) == MAX_NEW_BYTES:
        return [], offset + len(data)  # one row of such a length says nothing that is needed here
    return data[:end].split(b"\n")[:-1], offset + end


def last_rows(path: str, needle: bytes) -> Iterator[dict[str, Any]]:
    """The rows that hold `needle`, the last one first, as far back as is worth it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            at, rest = os.fstat(file.fileno()).st_size, b""
            earliest = max(0, at - MAX_BACK_BYTES)
            while at > earliest:
                begin = max(earliest, at - _BACK_STEP)
                file.seek(begin)
                lines = (file.read(at - begin) + rest).split(b"\n")
                at, rest = begin, lines[0]
                for line in reversed(lines[1:]):
                    if needle in line:
                        yield row(line)
            if needle in rest and not earliest:
                yield row(rest)
    except (OSError, ValueError):
        return


def row(line: bytes) -> dict[str, Any]:
    """A row as an object; an empty one for anything else."""
    try:
        value = decode(line)
    except NotJsonError:
        return {}
    return value if isinstance(value, dict) else {}
