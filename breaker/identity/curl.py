"""What curl asks for and writes, by its manual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from breaker.identity.patterns import CURL, expand_pattern
from breaker.identity.traffic import Request, Traffic, percent_encoded
from breaker.identity.urls import with_scheme
from breaker.shell.options import read_arguments
from breaker.shell.programs import program
from breaker.shell.quoting import quote
from breaker.shell.script import Word
from breaker.shell.values import HOLE

_LONG = {
    "-X": "--request", "-d": "--data", "-F": "--form", "-T": "--upload-file", "-G": "--get", "-I": "--head",
    "-o": "--output", "-O": "--remote-name", "-g": "--globoff", "-:": "--next", "-K": "--config",
}  # fmt: skip
_DATA = frozenset({"--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--json"})
_CONFIG_LINE = re.compile(r"\s*-{0,2}([\w-]+)\s*[=:\s]?\s*(.*)")
_CONFIG_LINES = 256  # read of a configuration on standard input


def of_curl(traffic: Traffic) -> None:
    transfer = _Transfer(traffic)
    for argument in read_arguments(traffic.simple.words, program("curl")):
        name = _LONG.get(argument.name, argument.name)
        if name == "--next":
            transfer.finish()
            transfer = _Transfer(traffic)
        elif name == "--config" and argument.value is not None and argument.value.text == "-":
            for option, value in _configuration(traffic.stdin() or ""):
                transfer.option(option, value)
        else:
            transfer.option(name, argument.value)
    transfer.finish()


class _Transfer:
    """What curl's options say up to `--next`."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic = traffic
        self.urls: list[str] = []
        self.outputs: list[Word | None] = []  # None: the URL's last segment
        self.method = ""
        self.data: list[str] = []
        self.form: list[str] = []
        self.query: list[str] = []
        self.upload: str | None = None
        self.flags: set[str] = set()
        self.directory = ""
        self.known = True

    def option(self, name: str, value: Word | None) -> None:
        text = self.traffic.text
        if value is None:
            self.flags.add(name)
            if name == "--remote-name":
                self.outputs.append(None)
        elif name in ("", "--url"):
            self.urls += self.traffic.texts(value)
        elif name == "--output":
            self.outputs.append(value)
        elif name == "--request":
            self.method = text(value).upper()
        elif name in _DATA:
            self.add_data(name, text(value))
        elif name in ("--form", "--form-string"):
            self.form.append(text(value))
        elif name == "--upload-file":
            self.upload = text(value)
        elif name == "--url-query":
            self.query.append(_urlencoded(text(value).removeprefix("+")))
        elif name == "--output-dir":
            self.directory = text(value)

    def add_data(self, name: str, text: str) -> None:
        if name == "--data-urlencode":
            text = _urlencoded(text)
        elif text == "@-" and name != "--data-raw":
            stdin = self.traffic.stdin()
            self.known &= stdin is not None
            text = (stdin or "").rstrip("\n")
            if name not in ("--data-binary", "--json"):
                text = text.replace("\n", "")
        self.data.append(text)

    def finish(self) -> None:
        method, body = self.method, None
        query = list(self.query)
        if self.upload is not None:
            method, body = method or "PUT", f"@{self.upload}"
        elif self.form:
            method, body = method or "POST", "\n".join(("form", *self.form))
        elif self.data and "--get" in self.flags:
            query += self.data
        elif self.data:
            method, body = method or "POST", "&".join(self.data)
        known = self.known and HOLE not in (body or "")
        urls = self.urls
        if "--globoff" not in self.flags:
            urls = [url for text in urls for url in expand_pattern(text, CURL)]
        urls = [with_scheme(url) for url in urls]
        self.traffic.requests += [Request(url, method or "GET", body, known, "&".join(query)) for url in urls]
        outputs = self.outputs
        if "--remote-name-all" in self.flags:
            outputs = outputs + [None] * (len(urls) - len(outputs))
        for index, output in enumerate(outputs):
            if output is not None:
                self.traffic.writes(output, self.directory)
            elif index < len(urls):
                self.traffic.writes_segment(urls[index], self.directory)


def _configuration(text: str) -> Iterator[tuple[str, Word | None]]:
    """The options in a configuration (curl's manual, `--config`)."""
    for line in islice(text.splitlines(), _CONFIG_LINES):
        found = _CONFIG_LINE.match(line)
        if found and not line.lstrip().startswith("#"):
            value = found[2].strip().strip('"')
            name = f"--{found[1]}" if len(found[1]) > 1 else _LONG.get(f"-{found[1]}", "")
            yield name, Word(value, quote(value)) if value else None


def _urlencoded(text: str) -> str:
    """curl's `--data-urlencode`: `content`, `=content`, `name=content`; a file's content is unknown."""
    name, equals, content = text.partition("=")
    if not equals:
        return HOLE if "@" in text else percent_encoded(text)
    return f"{name}={percent_encoded(content)}" if name else percent_encoded(content)
