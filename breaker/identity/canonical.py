"""Canonical texts: arguments as JSON with one spelling, secrets masked by keyed digests, fingerprints cut to size."""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import blake2b
from typing import Any

import msgspec

from breaker import secrets

MAX_FINGERPRINT = 1024
"""Characters of a fingerprint. A longer one is cut and closed with its length and the digest of the whole."""

_HEAD = 8 * MAX_FINGERPRINT  # characters read for secrets of a text that is cut anyway
_DEEPEST = 64  # levels of arguments that are written out; deeper ones go by digest


class Masker:
    """Replaces secrets by digests keyed with `key`: equal secrets stay equal, and none can be read."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key if len(key) <= 64 else blake2b(key).digest()  # blake2b takes 64 bytes
        self.pseudonym = secrets.pseudonyms(self._key)

    def digest(self, text: str) -> str:
        """16 hexadecimal digits."""
        raw = text.encode("utf-8", "surrogatepass")
        return blake2b(raw, digest_size=8, key=self._key).hexdigest()

    def mask(self, text: str) -> str:
        """The text without the secrets that it holds."""
        return secrets.mask_text(text, self.pseudonym)

    def fingerprint(self, prefix: str, text: str) -> str:
        """`prefix` and the masked text, cut to `MAX_FINGERPRINT`."""
        if len(text) <= _HEAD:
            shown = prefix + self.mask(text)
            if len(shown) <= MAX_FINGERPRINT:
                return shown
        else:
            shown = prefix + self.mask(text[:_HEAD])
        close = f"… [{len(prefix) + len(text)} characters, {self.digest(prefix + text)}]"
        return shown[: MAX_FINGERPRINT - len(close)] + close


def canonical_json(arguments: Any, ignored: Collection[str], masker: Masker) -> str:
    """JSON with sorted keys and one spelling of numbers, without the `ignored` members of the top level.

    The values of members whose name says that they are secret are masked.
    """
    if type(arguments) is dict:
        kept: Any = {}
        for name, value in arguments.items():
            if name in ignored:
                continue
            kind = type(value)
            if secrets.is_secret_name(name):
                value = _masked(value, masker)
            elif kind is not str and kind is not int and kind is not bool and value is not None:
                value = _normal(value, masker, 1)
            kept[name] = value
    else:
        kept = _normal(arguments, masker, 1)
    return _encode(kept)


def _encode(value: Any) -> str:
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except (OverflowError, ValueError, TypeError):  # a large integer, a lone surrogate
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def _masked(value: Any, masker: Masker) -> Any:
    if value is None or value is True or value is False or value == "":
        return value
    return masker.pseudonym(value if type(value) is str else _encode(_normal(value, masker, 1)))


def _normal(value: Any, masker: Masker, depth: int) -> Any:
    """`1.0` as `1`, and secrets masked, at every depth."""
    kind = type(value)
    if kind is str:
        return value
    if kind is float:
        if value.is_integer():
            return int(value)
        return value if value - value == 0 else repr(value)  # JSON has no infinity
    if kind is dict:
        if depth > _DEEPEST:
            return _flat(value, masker)
        return {
            name: _masked(item, masker) if secrets.is_secret_name(name) else _normal(item, masker, depth + 1)
            for name, item in value.items()
        }
    if kind is list or kind is tuple:
        if depth > _DEEPEST:
            return _flat(value, masker)
        return [_normal(item, masker, depth + 1) for item in value]
    return value


def _flat(value: Any, masker: Masker) -> str:
    """A digest of any nesting, without recursion."""
    parts: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            names = sorted(item)
            parts.append("{" + json.dumps(names))
            stack.extend(item[name] for name in names)
        elif isinstance(item, (list, tuple)):
            parts.append(f"[{len(item)}")
            stack.extend(item)
        else:
            parts.append(json.dumps(_normal(item, masker, 0), default=repr))
    return f"[nested {masker.digest(chr(10).join(parts))}]"
