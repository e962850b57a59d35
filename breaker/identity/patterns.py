"""URLs written as one pattern: `{a,b}` and `{1..3}` of the shell and of curl, `[1-3]` and `[a-c]` of curl."""

from __future__ import annotations

import re

from breaker.shell.values import HOLE

MAX_EXPANDED = 32
"""Texts that one pattern stands for; what would make more of them is a hole."""
_MAX_CHARACTERS = 2048  # of a pattern that is expanded

_BRACES = r"\{([^{},\s]*+,[^{}\s]*+)\}|\{(\d{1,9})\.\.(\d{1,9})\}"
SHELL = re.compile(_BRACES)
CURL = re.compile(_BRACES + r"|\[(\d{1,9})-(\d{1,9})(?::(\d{1,4}))?\]|\[([a-zA-Z])-([a-zA-Z])\]")


def expand_pattern(text: str, syntax: re.Pattern[str]) -> list[str]:
    """The texts that a pattern in `syntax` (`SHELL` or `CURL`) stands for."""
    if len(text) > _MAX_CHARACTERS:
        return [syntax.sub(HOLE, text)]
    texts = [""]
    done = 0
    for found in syntax.finditer(text):
        items = _items(found)
        if len(texts) * len(items) > MAX_EXPANDED:
            items = [HOLE]
        texts = [head + text[done : found.start()] + item for head in texts for item in items]
        done = found.end()
    if not done:
        return [text]
    return [SHELL.sub(HOLE, head + text[done:]) for head in texts]  # braces around braces stay unknown


def _items(found: re.Match[str]) -> list[str]:
    if found[1] is not None:
        return found[1].split(",")
    if found.re is CURL and found[7]:
        return [chr(code) for code in range(ord(found[7]), ord(found[8]) + 1)] or [HOLE]
    low, high, step = (found[2], found[3], "1") if found[2] else (found[4], found[5], found[6] or "1")
    numbers = range(int(low), int(high) + 1, int(step) or 1)
    width = len(low) if low[0] == "0" else 1
    return [str(number).zfill(width) for number in numbers] if 0 < len(numbers) <= MAX_EXPANDED else [HOLE]
