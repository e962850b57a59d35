"""Splits a line of a shell whose grammar is not read (PowerShell) into commands, by words alone."""

from __future__ import annotations

import re

from breaker.shell.quoting import quote
from breaker.shell.script import Command, Redirect, Script, Word

MAX_WORDS = 20_000
"""Words read of one line, as in `parse`."""

_TOKEN = re.compile(
    r"""[ \t]*+(?:
      (&&|\|\||[;|\n&()]|(?<!\S)[{}](?!\S))           # 1 operator
      |((?:[*0-9](?=>))?+)(>>|>(?!&)|<)               # 2 stream, 3 redirection
      |([*0-9]>&[0-9])                                # 4 a stream into another
      |(\#[^\n]*+)                                    # 5 comment
      |((?:[^\s;|&()'"`<>]|`[\s\S]|'[^']*+(?:'|\Z)|"(?:[^"`]|`[\s\S])*+(?:"|\Z))++)  # 6 word
      |[\s\S]?)""",
    re.VERBOSE,
)
_PIECE = re.compile(r"""'([^']*+)'?|"((?:[^"`]|`[\s\S])*+)"?|`([\s\S])|([^'"`]++)|([\s\S])""")
_ESCAPE = re.compile(r"`([\s\S])")


def split_words(text: str) -> Script:
    """Commands of a PowerShell line: split at unquoted `;`, `|`, `&&`, `||`, parentheses and newlines."""
    commands: list[Command] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    before: list[str] = []
    pos = 0
    while True:
        found = _TOKEN.match(text, pos)
        assert found is not None
        ended = found.end() == len(text)
        operator, stream, direction, merge, _, raw = found.groups()
        pos = found.end()
        if raw:
            words.append(_word(raw))
        elif merge:
            redirects.append(Redirect(merge[0], ">&", Word(merge[3], merge[3])))
        elif direction:
            target = _TOKEN.match(text, pos)
            if target and target[6]:
                pos = target.end()
                redirects.append(Redirect(stream, direction, _word(target[6])))
        if operator or pos >= len(text) or ended or len(words) > MAX_WORDS:
            if words or redirects:
                commands.append(Command(tuple(words), (), tuple(redirects), " ".join(before)))
                words, redirects, before = [], [], []
            if operator:
                sign = ";" if operator == "\n" else operator
                if sign != ";" or ((before or commands) and before[-1:] != [";"]):
                    before.append(sign)
            if pos >= len(text):
                break
            if len(commands) + len(before) > MAX_WORDS or len(words) > MAX_WORDS:
                commands.append(Command((), before=text[pos:]))
                break
    if any(sign != ";" for sign in before):
        commands.append(Command((), before=" ".join(before)))
    return Script(tuple(commands), fallback=True)


def _word(raw: str) -> Word:
    values: list[str] = []
    literal = True
    for single, double, escaped, run, other in _PIECE.findall(raw):
        if double or run:
            literal = literal and "$" not in double + run and "*" not in run
        values.append(single or _ESCAPE.sub(r"\1", double) or escaped or run or other)
    value = "".join(values)
    return Word(value, quote(value) if literal else raw, literal)
