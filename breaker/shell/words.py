"""Splits a line of a shell whose grammar is not read (PowerShell) into commands, by words alone."""

from __future__ import annotations

import re

from breaker.shell.quoting import quote
from breaker.shell.script import Command, Redirect, Script, Word

MAX_TOKENS = 10_000
"""Words and operators read of one line; what comes after them is one piece. At 3 µs each they take 30 ms."""
MAX_QUOTES = 2_000
"""Quotes and escapes read in one word; a word with more keeps them."""

_TOKEN = re.compile(
    r"""[ \t\r]*+(?:`\r?\n[ \t]*+)*+(?:
      (&&|\|\||[;|\n&()]|(?<!\S)[{}](?!\S))       # 1 operator
      |([*0-9]>&[0-9])                            # 2 a stream into another
      |([*0-9](?=>))?+(>>|>|<)                    # 3 stream, 4 redirection
      |(\#[^\n]*+)                                # 5 comment
      |((?:[^\s;|&()'"`<>]++|`[\s\S]?|'[^']*+(?:'|\Z)|"(?:[^"`]++|`[\s\S])*+(?:"|\Z|`\Z))++)  # 6 word
      |(\Z))""",
    re.VERBOSE,
)
_PIECE = re.compile(r"""'((?:[^']++|'')*+)'?|"((?:[^"`]++|`[\s\S]|"")*+)`?"?|`([\s\S]?)|([^'"`]++)""")
_ESCAPE = re.compile(r'`([\s\S])|"(")')
_ESCAPED = {"0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
"""Letters that mean something else behind a backtick (about_Special_Characters)."""


def split_words(text: str) -> Script:
    """Commands of a PowerShell line: split at unquoted `;`, `|`, `&&`, `||`, `&`, brackets and newlines.

    Quotes and backticks are read as PowerShell reads them. Never raises; the script is always marked `fallback`.
    """
    commands: list[Command] = []
    before: list[str] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    pos = 0
    for _ in range(MAX_TOKENS):
        found = _TOKEN.match(text, pos)
        if not found:  # white space that is no blank
            pos += 1
            continue
        pos = found.end()
        operator, merge, stream, direction, comment, raw = found.groups()[:6]
        if raw:
            words.append(_word(raw))
        elif merge:
            redirects.append(Redirect(merge[0], ">&", Word(merge[3], merge[3])))
        elif direction:
            target = _TOKEN.match(text, pos)
            if target and target[6]:
                pos = target.end()
                redirects.append(Redirect(stream or "", direction, _word(target[6])))
        elif not comment:
            if words or redirects:
                commands.append(Command(tuple(words), (), tuple(redirects), " ".join(before)))
                before, words, redirects = [], [], []
            if not operator:
                break
            sign = ";" if operator == "\n" else operator
            if sign != ";" or (commands and before[-1:] != [";"]):
                before.append(sign)
    else:
        commands.append(Command(tuple(words), (), tuple(redirects), " ".join(before)))
        before = [text[pos:]]
    if any(sign != ";" for sign in before):
        commands.append(Command((), before=" ".join(before)))
    return Script(tuple(commands), fallback=True)


def _word(raw: str) -> Word:
    if sum(map(raw.count, "'\"`")) > MAX_QUOTES:
        return Word(raw, raw, literal=False)
    values: list[str] = []
    literal = True
    for single, double, escaped, run in _PIECE.findall(raw):
        literal = literal and "$" not in _ESCAPE.sub("", double) + run and "*" not in run
        double = _ESCAPE.sub(_escaped, double)
        values.append(single.replace("''", "'") or double or _ESCAPED.get(escaped, escaped) or run)
    value = "".join(values)
    return Word(value, quote(value) if literal else raw, literal)


def _escaped(found: re.Match[str]) -> str:
    return found[2] or _ESCAPED.get(found[1], found[1])
