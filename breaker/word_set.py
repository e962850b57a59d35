"""Lists of words as one text, which reads better in tables than many quoted strings."""

from __future__ import annotations


def word_set(text: str, separator: str | None = None) -> frozenset[str]:
    """The words of a text, between blanks or between separators."""
    return frozenset(word.strip() for word in text.split(separator))
