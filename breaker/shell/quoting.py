"""Spelling of words: one canonical quoting, and the escapes of `$'…'`."""

from __future__ import annotations

import re

_SAFE = re.compile(r"[^\s'\"\\$`*?\[\]{}~!#|&;<>()][^\s'\"\\$`*?\[\]{}!|&;<>()]*+")
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
