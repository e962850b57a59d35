"""A line to a JSON value, strictly: UTF-8, RFC 8259, bounded nesting. Lone surrogates are mended, not refused."""

from __future__ import annotations

import re
from typing import Any

import msgspec

MAX_DEPTH = 256
"""How deep arrays and objects may be nested. Real messages stay below 20; whatever walks a value relies on it."""

_decode = msgspec.json.Decoder().decode

# An escape in a JSON string: a surrogate pair, one surrogate, or any other. `"\\ud83d"` holds an escaped backslash.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)


class NotJsonError(ValueError):
    """The line is not JSON; the text says why and quotes none of it."""


def decode(line: bytes) -> Any:
    """The value that a line spells. A lone surrogate, as Node writes it after cutting an emoji, becomes U+FFFD."""
    try:
        value = _decode(line)
    except RecursionError:
        raise NotJsonError("nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:
        value = _decode_mended(line, error)
    except MemoryError:
        raise NotJsonError("larger than the memory that there is") from None
    if line.count(b"[") + line.count(b"{") > MAX_DEPTH and not _is_shallow(value):
        raise NotJsonError("nested too deeply")
    return value


def _decode_mended(line: bytes, error: Exception) -> Any:
    if b"\\u" in line:
        mended = _ESCAPE.sub(_mend, line)
        if mended != line:
            try:
                return _decode(mended)
            except RecursionError:
                raise NotJsonError("nested too deeply") from None
            except (msgspec.DecodeError, ValueError) as second:
                error = second
    raise NotJsonError(str(error)) from None


def _mend(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["lone"] else escape[0]


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            item
            for parent in level
            if isinstance(parent, list | dict)
            for item in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return True
    return False
