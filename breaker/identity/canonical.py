"""Canonical texts: arguments as JSON with one spelling, secrets masked by keyed digests, fingerprints cut to size."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from breaker import json_text, secrets

MAX_FINGERPRINT = 1024
"""Characters of a fingerprint. A longer one is cut and closed with its length and the digest of the whole."""

_HEAD = 2 * MAX_FINGERPRINT  # characters read for secrets of a text that is cut anyway
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

    def mask(self, text: str, known: Sequence[str] = ()) -> str:
        """The text without the secrets that it shows, and without the `known` ones."""
        named: dict[str, str] = {}
        for secret in known:
            for spelling in (secret, json.dumps(secret, ensure_ascii=False)[1:-1], secret.replace("'", "'\\''")):
                if spelling in text:
                    named.setdefault(spelling, secret)
        if named:  # all at once: a pseudonym may read like a secret
            pattern = "|".join(map(re.escape, sorted(named, key=len, reverse=True)))
            text = re.sub(pattern, lambda found: self.pseudonym(named[found.group()]), text)
        return secrets.mask_text(text, self.pseudonym)

    def fingerprint(self, prefix: str, text: str, known: Sequence[str] = (), *, clean: bool = False) -> str:
        """`prefix` and the masked text, cut to `MAX_FINGERPRINT`. `clean`: the text is known to hold no secret."""
        shown = text[:_HEAD]
        shown = prefix + (shown if clean else self.mask(shown, known))
        if len(shown) <= MAX_FINGERPRINT and len(text) <= _HEAD:
            return shown
        close = f"… [{len(prefix) + len(text)} characters, {self.digest(prefix + text)}]"
        return shown[: MAX_FINGERPRINT - len(close)] + close


def canonical_json(arguments: Any, masker: Masker) -> str:
    """JSON with sorted keys and one spelling of numbers; the values of members with a secret's name are masked."""
    if type(arguments) is dict:
        kept: Any = {}
        for name, value in arguments.items():
            kind = type(value)
            if secrets.is_secret_name(name):
                value = _masked(value, masker)
            elif kind is not str and kind is not int and kind is not bool and value is not None:
                value = _nested(value, masker)
            kept[name] = value
    else:
        kept = _nested(arguments, masker)
    return _encode(kept)


def _encode(value: Any) -> str:
    try:
        return json_text.encode_sorted(value).decode()
    except (OverflowError, ValueError, TypeError):  # a large integer, a lone surrogate
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def _masked(value: Any, masker: Masker) -> Any:
    if value is None or value is True or value is False or value == "":
        return value
    return masker.pseudonym(value if type(value) is str else _encode(_nested(value, masker)))


def _nested(value: Any, masker: Masker) -> Any:
    """A list, an object or a number: numbers in one spelling and secrets masked, at every depth."""
    if type(value) is float:
        return _number(value)
    if _is_deep(value):
        return _flat(value, masker)
    return _normal(secrets.mask(value, masker.pseudonym))


def _normal(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return value
    if kind is float:
        return _number(value)
    if kind is dict:
        return {name: _normal(item) for name, item in value.items()}
    if kind is list or kind is tuple:
        return [_normal(item) for item in value]
    return value


def _number(value: float) -> Any:
    """`1.0` as `1`; JSON has no infinity."""
    if value.is_integer():
        return int(value)
    return value if value - value == 0 else repr(value)


def _is_deep(value: Any) -> bool:
    """Whether the nesting is deeper than is written out."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _flat(value: Any, masker: Masker) -> str:
    """A digest of any nesting, without recursion. What holds itself, which JSON cannot, is read once."""
    parts: list[str] = []
    stack = [value]
    read: set[int] = set()
    while stack:
        item = stack.pop()
        if isinstance(item, dict | list | tuple):
            if id(item) in read:
                parts.append("again")
                continue
            read.add(id(item))
        if isinstance(item, dict):
            names = sorted(item)
            parts.append("{" + json.dumps(names))
            stack.extend(item[name] for name in names)
        elif isinstance(item, list | tuple):
            parts.append(f"[{len(item)}")
            stack.extend(item)
        else:
            parts.append(json.dumps(_normal(item), default=repr))
    return f"[nested {masker.digest(chr(10).join(parts))}]"
