"""The requests that a command or a tool call makes, and the files that a command writes its payload to."""

from __future__ import annotations

import json
import re
from typing import Any

from breaker.identity.clients import of_httpie, of_invoke, of_wget
from breaker.identity.curl import of_curl
from breaker.identity.interpreters import INTERPRETERS, of_interpreter
from breaker.identity.traffic import Request, Traffic
from breaker.identity.urls import looks_like_url
from breaker.shell.commands import Simple
from breaker.shell.options import read_arguments
from breaker.shell.programs import Program, family, program
from breaker.shell.script import Redirect, Word
from breaker.shell.spelling import module_at
from breaker.word_set import word_set

CLIENTS = frozenset({"curl", "wget", "http", "https", "httpie", "xh", "xhs"})
"""Programs of `family:http-fetch`."""

_PAYLOAD = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})
_FD = re.compile(r"\d*-?\Z")
_REQUIREMENT = re.compile(r"(?:[\w.,/\[\]-]{1,128}\s?@\s?)?(?:git\+)?(?=https?:)", re.IGNORECASE)  # `name @ https:…`
_READERS = {"curl": of_curl, "wget": of_wget, "http": of_httpie, "invoke-webrequest": of_invoke}

# Options of programs without a row whose value is text.
_TEXT_OPTIONS = word_set(
    "--proxy --http-proxy --https-proxy --proxy-server --header --headers --referer --referrer --origin --user-agent "
    "--message --body --title --description --notes --comment --reason --text --subject --homepage"
)


def of_tool(urls: tuple[str, ...], arguments: dict[str, Any]) -> list[Request]:
    """The requests of a URL tool, with the method and body beside the URL."""
    method = _member(arguments, ("method", "httpMethod", "http_method", "verb"))
    method = method.upper() if type(method) is str else ""
    body = _member(arguments, ("body", "data", "json", "payload", "form", "formData", "form_data"))
    query = _member(arguments, ("params", "query", "queryParams", "query_params"))
    pairs = "&".join(f"{name}={_text(value)}" for name, value in query.items()) if type(query) is dict else ""
    text = None if body is None or body == "" else _text(body)
    if not method:
        method = "GET" if text is None else "POST"
    return [Request(url, method, text, query=pairs) for url in urls]


def of_command(simple: Simple) -> Traffic:
    """What a simple command asks for and where its payload goes."""
    traffic = Traffic(simple)
    for redirect in simple.redirects:
        if _takes_payload(redirect):
            traffic.writes(redirect.target)  # type: ignore[arg-type]  # there is one
    words = simple.words
    if len(words) < 2 and simple.stdin is None:
        return traffic
    row = family(simple.program)
    if row in _READERS:
        _READERS[row](traffic)
        return traffic
    if row in INTERPRETERS:
        words = of_interpreter(row, traffic)
        if at := module_at(words):  # `python -m pip …` is pip
            words = words[at:]
            row = family(words[0].text)
    if program(row).sinks:
        _output_options(words, program(row), traffic)
    elif row == "dd":
        for word in words:
            if word.text.startswith("of="):
                traffic.writes(Word(word.text[3:], word.key, word.literal))
    if _may_hold_url(words, bool(simple.values)):
        _urls_of_words(words, row, traffic)
    return traffic


def _takes_payload(redirect: Redirect) -> bool:
    if redirect.operator not in _PAYLOAD or redirect.fd not in ("", "1", "*") or redirect.target is None:
        return False
    return redirect.operator != ">&" or not _FD.match(redirect.target.text)


def _output_options(words: tuple[Word, ...], row: Program, traffic: Traffic) -> None:
    operands = 0
    for argument in read_arguments(words, row):
        value, row = argument.value, argument.program
        if value is None:
            continue
        if argument.name:
            if argument.name in row.chdir:
                traffic.enter(value)
            elif argument.name in row.output:
                traffic.writes(value)
        elif row.output_operands == "all":
            traffic.writes(value)
        elif row.output_operands == "first" and value.text not in row.name.split():
            operands += 1
            if operands == 1:
                traffic.writes(value)


def _may_hold_url(words: tuple[Word, ...], resolvable: bool) -> bool:
    return any("://" in word.text or (resolvable and not word.literal and "$" in word.text) for word in words)


def _urls_of_words(words: tuple[Word, ...], row_name: str, traffic: Traffic) -> None:
    """The URLs among the words of a program that is no client of its own."""
    row = program(row_name)
    operands = 0
    patterned = False
    before = ""
    for argument in read_arguments(words, row):
        value, row = argument.value, argument.program
        if argument.name:
            before = argument.name
            patterned |= before in row.pattern
            if before in row.text or before in _TEXT_OPTIONS:
                continue
        else:
            operands += 1
            skipped = row.text_operands == "all" or (row.text_operands == "first" and operands == 1 and not patterned)
            skipped |= before in _TEXT_OPTIONS
            before = ""
            if skipped:
                continue
        if value is not None:
            texts = (_REQUIREMENT.sub("", text, count=1) for text in traffic.texts(value))
            traffic.requests += [Request(text) for text in texts if looks_like_url(text)]


def _member(arguments: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((arguments[name] for name in names if name in arguments), None)


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)
