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

from breaker.identity.canonical import Masker
from breaker.identity.identify import command_secrets
from breaker.json_text import encode
from breaker.secrets import mask, mask_text
from protocol.decode import NotJsonError, decode

MODE = 0o600


class Recording:
    """Appends to a file. Once a line could not be written, it says so and leaves it at that; serving goes on."""

    def __init__(self, path: str, key: bytes, log: Callable[[str], None]) -> None:
        """`key` belongs to the session whose lines these are. Raises OSError when the file cannot be opened."""
        self._path = path
        self._log = log
        self._masker = Masker(_file_key(path, key))
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
            message = decode(line)
        except NotJsonError:  # recorded as the text it was
            return mask_text(line.decode("utf-8", "replace").rstrip("\r\n"), self._masker.pseudonym)
        if isinstance(message, list):
            message = [self._command_masked(each) for each in message]
        return mask(self._command_masked(message), self._masker.pseudonym)

    def _command_masked(self, message: Any) -> Any:
        """The request without what only the options of a program show to be secret, as in `sshpass -p PASSWORD`."""
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or "arguments" not in params:
            return message
        tool, arguments = params.get("tool"), params["arguments"]
        known = command_secrets(tool if isinstance(tool, str) else "", arguments)
        if not known:
            return message
        return {**message, "params": {**params, "arguments": _without(arguments, known, self._masker)}}

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def _without(value: Any, known: list[str], masker: Masker) -> Any:
    if isinstance(value, str):
        return masker.mask(value, known)
    if isinstance(value, dict):
        return {name: _without(item, known, masker) for name, item in value.items()}
    if isinstance(value, list):
        return [_without(item, known, masker) for item in value]
    return value


def _file_key(path: str, key: bytes) -> bytes:
    return blake2b(os.fsencode(os.path.realpath(path)), key=key[:64], digest_size=32).digest()
