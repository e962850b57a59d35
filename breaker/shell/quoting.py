"""Spelling for comparison: one canonical quoting for words, one line for commands; and the escapes of `$'…'`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from breaker.shell.script import Command, Word

_SAFE = re.compile(r"[^\s'\"\\$`*?\[\]{}~!#|&;<>()][^\s'\"\\$`*?\[\]{}!|&;<>()]*+")
_ARITHMETIC_BLANKS = re.compile(r"(?<=[\w)}\]])\s++(?=[^\w\s$])|(?<=[^\w\s])\s++(?=[\w($])")
_ANSI = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))", re.DOTALL
)
_ANSI_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def quote(text: str) -> str:
    """The one spelling of a literal text: bare when no character of it is special, else in single quotes."""
    if _SAFE.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def join_pieces(values: list[str], spelled: list[str | None]) -> Word:
    """The word of these pieces; `spelled` is None for a literal one, whichever way it was quoted."""
    text = "".join(values)
    if not any(spelled):
        return Word(text, quote(text))
    key: list[str] = []
    run = ""
    for value, spelling in zip(values, spelled, strict=True):
        if spelling is None:
            run += value
            continue
        if run:
            key.append(quote(run))
            run = ""
        key.append(spelling)
    if run:
        key.append(quote(run))
    return Word(text, "".join(key), literal=False)


def spell(commands: Iterable[Command]) -> str:
    """One line for commands of one level: equal for scripts that differ in quoting, blanks and comments alone."""
    parts: list[str] = []
    for command in commands:
        parts.append(command.before)
        parts += [f"{name}={value.key}" for name, value in command.assignments]
        parts += [word.key for word in command.words]
        for redirect in command.redirects:
            target = redirect.target.key if redirect.target else ""
            parts.append(f"{redirect.fd}{redirect.operator}{target}")
            if redirect.heredoc is not None:
                parts.append(quote(redirect.heredoc))
    return " ".join(filter(None, parts))


def spell_arithmetic(body: str) -> str:
    """An arithmetic expression without the blanks that say nothing."""
    spelled = " ".join(body.split())
    return spelled if any(mark in body for mark in "'\"`(") else _ARITHMETIC_BLANKS.sub("", spelled)


def decode_ansi(text: str) -> str:
    r"""The value of `$'text'` (bash manual, ANSI-C quoting); an unknown escape keeps its backslash."""
    return _ANSI.sub(_ansi_character, text) if "\\" in text else text


def _ansi_character(found: re.Match[str]) -> str:
    octal, byte, short, long, control, letter = found.groups()
    if letter is not None:
        return _ANSI_LETTERS.get(letter, found.group())
    if control is not None:
        return chr(ord(control) & 0x1F)
    code = int(octal, 8) & 0xFF if octal else int(byte or short or long, 16)
    return chr(code) if code <= 0x10FFFF else found.group()
