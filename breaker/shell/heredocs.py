"""Where the body of a heredoc ends."""

from __future__ import annotations

import re

_LEADING_TABS = re.compile(r"^\t++", re.MULTILINE)


def take_body(text: str, pos: int, delimiter: str, tabs: bool) -> tuple[str, int]:
    """The body that begins at `pos`, and where the text goes on behind the line of the delimiter.

    With `tabs` (`<<-`) the leading tabs of every line are no part of it. Without a delimiter line the body takes the
    rest of the text, as in bash.
    """
    end, after = _find(text, pos, delimiter, tabs)
    body = text[pos:end]
    return (_LEADING_TABS.sub("", body) if tabs else body), after


def _find(text: str, pos: int, delimiter: str, tabs: bool) -> tuple[int, int]:
    length = len(text)
    if not delimiter:
        at = pos if text.startswith("\n", pos) else text.find("\n\n", pos) + 1
        return (at, at + 1) if at else (length, length)
    at = pos
    while (at := text.find(delimiter, at)) >= 0:
        begin = at
        while tabs and begin > pos and text[begin - 1] == "\t":
            begin -= 1
        after = at + len(delimiter)
        if (begin == pos or text[begin - 1] == "\n") and (after == length or text[after] == "\n"):
            return begin, min(after + 1, length)
        at += 1
    return length, length
