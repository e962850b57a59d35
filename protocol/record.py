"""`--record FILE`: every line received and sent, with its time, secrets replaced by pseudonyms.

The pseudonyms are keyed per file with a key that is not in it: within a recording equal secrets stay equal, so that
a replay judges the same; between recordings nothing can be compared, and no guess can be tried on them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from breaker.json_text import encode
from breaker.secrets import mask, mask_text, pseudonyms
from protocol.decode import NotJsonError, decode

MODE = 0o600


class Recording:
    """Appends to a file. Once a line could not be written, it says so and leaves it at that; serving goes on."""

    def __init__(self, path: str, key: bytes, log: Callable[[str], None]) -> None:
        """`key` belongs to the session whose lines these are. Raises OSError when the file cannot be opened."""
        self._path = path
        self._log = log
        self._pseudonym = pseudonyms(_file_key(path, key))
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, MODE)
        facts = os.fstat(self._descriptor)
        if stat.S_ISREG(facts.st_mode):
            if stat.S_IMODE(facts.st_mode) != MODE:
                os.fchmod(self._descriptor, MODE)
            if facts.st_size and os.pread(self._descriptor, 1, facts.st_size - 1) != b"\n":
                self._write(b"\n")  # an earlier recording was cut off in mid-line

    def received(self, line: bytes, at: float) -> None:
        """A line came in at that time."""
        self._append("in", line, at)

    def sent(self, line: bytes, at: float) -> None:
        """A line went out at that time."""
        self._append("out", line, at)

    def close(self) -> None:
        """Nothing is recorded any more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _append(self, direction: str, line: bytes, at: float) -> None:
        if self._descriptor < 0:
            return
        try:
            self._write(encode({"t": at, direction: self._masked(line)}) + b"\n")
        except Exception as error:
            self.close()
            reason = error.strerror if isinstance(error, OSError) else repr(error)
            self._log(f"recording to {self._path} ended: {reason}")

    def _masked(self, line: bytes) -> Any:
        try:
            return mask(decode(line), self._pseudonym)
        except NotJsonError:  # recorded as the text it was
            return mask_text(line.decode("utf-8", "replace").rstrip("\r\n"), self._pseudonym)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def _file_key(path: str, key: bytes) -> bytes:
    return blake2b(os.fsencode(os.path.realpath(path)), key=key[:64], digest_size=32).digest()
