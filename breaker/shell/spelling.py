"""The canonical spelling of commands: their words and redirections without what makes no other action."""

from __future__ import annotations

import re

from breaker.shell.options import is_volatile, read_arguments
from breaker.shell.programs import base_name, program
from breaker.shell.quoting import quote, spell
from breaker.shell.script import Command, Redirect, Word

_INPUT = frozenset({"<", "<<", "<<-", "<<<"})
_SYSTEM_BIN = re.compile(r"(?:(?:/usr(?:/local)?|/opt/homebrew)?/s?bin/|/snap/bin/)(?=[^/]+\Z)")


def spell_words(name: str, words: tuple[Word, ...]) -> list[str]:
    """The keys of a command's words without the program's volatile options and the system directory it lies in."""
    key = words[0].key
    if key[:1] == "/" and words[0].literal and _SYSTEM_BIN.match(words[0].text):
        key = quote(base_name(words[0].text))
    if len(words) == 1:
        return [key]
    row = program(name)
    if row.drops:
        return [key, *_significant(words, name)]
    if row.name in ("python", "pypy"):
        at = module_at(words)
        if at and program(words[at].text).drops:
            return [key, *(word.key for word in words[1:at]), words[at].key, *_significant(words[at:], words[at].text)]
    return [key, *(word.key for word in words[1:])]


def spell_redirects(redirects: tuple[Redirect, ...], script: str = "") -> list[str]:
    """`>f`, `2>&1`, a heredoc by its text whatever its delimiter is; or by the spelling of the `script` that it is."""
    parts = []
    for redirect in sorted(redirects, key=_stream) if len(redirects) > 1 else redirects:
        fd = "" if redirect.fd == "1" and redirect.operator[0] == ">" else redirect.fd
        body = redirect.heredoc
        if script and redirect.operator[:2] == "<<" and fd in ("", "0"):
            parts.append(f"{fd}<<( {script} )")
        elif body is not None:
            parts.append(f"{fd}<<${body}" if heredoc_expands(redirect) else f"{fd}<<{quote(body)}")
        else:
            parts.append(f"{fd}{redirect.operator}{redirect.target.key if redirect.target else ''}")
    return parts


def _stream(redirect: Redirect) -> int:
    """Input comes first in the spelling: where a command reads from says nothing of where it writes to."""
    return 0 if redirect.operator in _INPUT and redirect.fd in ("", "0") else 1


def heredoc_expands(redirect: Redirect) -> bool:
    """Whether the shell changes the body of a heredoc."""
    return not redirect.heredoc_quoted and any(sign in (redirect.heredoc or "") for sign in "$`\\")


def module_at(words: tuple[Word, ...]) -> int:
    """Where the module of `python -m MODULE` stands; 0 when there is none."""
    for index, word in enumerate(words[:-1]):
        if word.text == "-m":
            return index + 1
        if index and word.text[:1] != "-":
            break
    return 0


def _significant(words: tuple[Word, ...], name: str) -> list[str]:
    keys: list[str] = []
    for argument in read_arguments(words, program(name)):
        if is_volatile(argument):
            continue
        if argument.name:
            keys.append(argument.name)
        if argument.value is not None:
            keys.append(argument.value.key)
    return keys


class OpenSubstitution:
    """A substitution while its commands are read: to spell it as the parser does, and as it should be."""

    def __init__(self, sign: str, level: int, start: int) -> None:
        self.sign, self.level, self.start = sign, level, start
        self.raw: list[Command] = []

    def close(self, parts: list[str]) -> None:
        """Takes the spelled commands out of `parts`; in the word that holds them they get their canonical spelling."""
        own = " ".join(part for part in parts[self.start :] if part)
        del parts[self.start :]
        raw = spell(self.raw)
        if parts and raw and raw != own:
            parts[-1] = parts[-1].replace(f"{self.sign}{raw})", f"{self.sign}{own})", 1)
