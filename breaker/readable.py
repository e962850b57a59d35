"""Text that came from elsewhere, as a terminal may show it."""

from __future__ import annotations


def readable(text: str, keep: str = "") -> str:
    r"""The text with every character that is not to be seen written as its number, such as `\x1b`; `keep` are kept.

    Those are what a terminal would act on, what turns the direction of writing, and lone surrogates, which no reply
    can carry.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else character.encode("unicode_escape").decode()
        for character in text
    )
