"""Requests and output files of one command, and how their words are read."""

from __future__ import annotations

import re

from msgspec import Struct

from breaker.identity.patterns import SHELL, expand_pattern
from breaker.shell.commands import Simple
from breaker.shell.scopes import has_expansion, join
from breaker.shell.script import Word
from breaker.shell.values import HOLE, expand, resolve

_GENERIC_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-", "NUL", "nul", ""})


class Request(Struct, frozen=True):
    """One request. `url` may hold holes; `body` None: there is none; `known` False: nobody knows it beforehand."""

    url: str
    method: str = "GET"
    body: str | None = None
    known: bool = True
    query: str = ""


class Traffic:
    """What one command asks for and writes."""

    def __init__(self, simple: Simple) -> None:
        self.simple = simple
        self.directory = simple.directory
        self.requests: list[Request] = []
        self.sinks: list[str] = []

    def enter(self, directory: Word) -> None:
        """Notes that an option sends the program to another directory before it writes (`git -C DIR`)."""
        self.directory = None if has_expansion(directory) else join(self.directory, directory.text)

    def writes(self, word: Word, under: str = "") -> None:
        """Notes the file that `word` names, unless it is a generic one or nobody knows where it is."""
        text = word.text
        if has_expansion(word) or text in _GENERIC_SINKS or text.startswith(("/dev/fd/", "/proc/self/fd/")):
            return
        path = join(self.directory, f"{under}/{text}" if under and not text.startswith("/") else text)
        if path is not None and HOLE not in path:
            self.sinks.append(path)

    def writes_segment(self, url: str, under: str = "", otherwise: str = "") -> None:
        """Notes the file that has the name of the URL's last segment."""
        path = re.split(r"[?#]", url.partition("://")[2])[0]
        segment = path.rpartition("/")[2] if "/" in path else ""
        self.writes(Word(segment or otherwise, ""), under)

    def text(self, word: Word) -> str:
        """The one text that a word stands for."""
        return resolve(word, self.simple.values)[0]

    def texts(self, word: Word) -> list[str]:
        """The texts a word stands for, braces expanded as the shell does it."""
        texts = resolve(word, self.simple.values)
        if not word.literal and "{" in word.text:
            return [text for value in texts for text in expand_pattern(value, SHELL)]
        return list(texts)

    def stdin(self) -> str | None:
        """The text on standard input; None where nobody knows it."""
        simple = self.simple
        if simple.stdin is None or not simple.stdin_expands:
            return simple.stdin
        text = expand(simple.stdin, simple.values)[0]
        return None if HOLE in text else text


def percent_encoded(text: str) -> str:
    """The text as it stands in a query; holes stay."""
    raw = text.encode("utf-8", "surrogatepass")
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-._~\x00") else f"%{byte:02X}"
        for byte in raw
    )
