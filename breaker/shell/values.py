"""What words become when the script itself says what their variables hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from breaker.shell.script import Word

HOLE = "\x00"
"""Stands for an expansion whose value is unknown before the script runs."""

MAX_ALTERNATIVES = 32
"""Values followed of one word; a loop over more of them is unknown."""
MAX_CHARACTERS = 16_384
"""Characters of all values of one word; what would have more is unknown. Without it `A+=$A` doubles for ever."""

_EXPANSION = re.compile(r"\$\{(#?[\w@*]+(?:\[[@*\w]+\])?)(\}?)|\$([A-Za-z_]\w*|[0-9@*#?$!-])|\$\(|`")
_BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}

Values = Mapping[str, tuple[str, ...]]


def resolve(word: Word, values: Values) -> tuple[str, ...]:
    """The texts that a word may stand for; what is unknown of them is a `HOLE`."""
    text = word.text
    if word.literal or ("$" not in text and "`" not in text):
        return (text,)
    return expand(text, values)


def expand(text: str, values: Values) -> tuple[str, ...]:
    """The texts that come of the expansions in `text`."""
    if len(text) > MAX_CHARACTERS:
        return (HOLE,)
    results = [""]
    pos = 0
    while found := _EXPANSION.search(text, pos):
        literal = text[pos : found.start()]
        pos = found.end()
        braced, closed, plain = found.groups()
        alternatives: tuple[str, ...] | None = None
        if plain or (braced and closed):
            alternatives = values.get(plain or braced)
        elif found.group() == "`":
            end = text.find("`", pos)
            pos = end + 1 if end >= 0 else len(text)
        else:
            pos = _skip_nested(text, pos, "{" if braced else "(")
        if not alternatives or len(results) * len(alternatives) > MAX_ALTERNATIVES:
            alternatives = (HOLE,)
        results = [head + literal + value for head in results for value in alternatives]
        if sum(map(len, results)) > MAX_CHARACTERS:
            return (HOLE,)
    rest = text[pos:]
    return tuple(head + rest for head in results)


def bounded(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts as values, or a hole in place of too many."""
    found = tuple(texts)
    if len(found) > MAX_ALTERNATIVES or sum(map(len, found)) > MAX_CHARACTERS:
        return (HOLE,)
    return found


def _skip_nested(text: str, pos: int, opener: str) -> int:
    """Behind the bracket that closes the one before `pos`."""
    depth = 1
    for found in _BRACKETS[opener].finditer(text, pos):
        depth += 1 if found.group() == opener else -1
        if not depth:
            return found.end()
    return len(text)
