"""What is left of a text once what varies from try to try is blanked."""

from __future__ import annotations

import re

MAX_TEXT = 2_000
"""Characters of a text that are looked at, from its beginning and from its end."""

# In this order: a date or a hash would otherwise lose its digits first and be taken for several numbers.
_BLANKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "{date}"),
    (re.compile(r"\b\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\b"), "{time}"),
    (re.compile(r"(?:(?:/var)?/tmp|/var/folders)/[^\s'\"]{1,200}|\btmp[.\-_]?[A-Za-z0-9]{6,32}\b"), "{temp}"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "{id}"),
    (re.compile(r"\b0x[0-9a-fA-F]{1,32}\b"), "{id}"),
    (re.compile(r"\b(?=[0-9a-f]{0,63}\d)(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}\b"), "{id}"),
    (re.compile(r"\d+(?:\.\d+)?"), "{n}"),
    (re.compile(r"\s+"), " "),
)
# A quote that is never closed ends with the text: looking for its end once keeps the search linear.
_QUOTED = re.compile(r"'[^']*(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)", re.DOTALL)


def of_command(command: str) -> str | None:
    """A command line with numbers, quoted strings, hashes, dates and temporary names blanked.

    `None` when nothing is left: a blank command has no skeleton.
    """
    return _blank(_QUOTED.sub("{text}", _ends(command))) or None


def of_error(text: str) -> str | None:
    """An error text with numbers and ids blanked; `None` when there is no text, which has no identity."""
    return _blank(_ends(text)) or None


def _ends(text: str) -> str:
    return text if len(text) <= 2 * MAX_TEXT else f"{text[:MAX_TEXT]} … {text[-MAX_TEXT:]}"


def _blank(text: str) -> str:
    for pattern, blank in _BLANKS:
        text = pattern.sub(blank, text)
    return text.strip()
