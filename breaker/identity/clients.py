"""What wget, httpie (and xh, which takes the same words) and PowerShell ask for and write, by their manuals."""

from __future__ import annotations

import re

from breaker.identity.traffic import Request, Traffic, percent_encoded
from breaker.identity.urls import looks_like_url, with_scheme
from breaker.shell.options import read_arguments
from breaker.shell.programs import program
from breaker.shell.script import Word
from breaker.shell.values import HOLE
from breaker.word_set import word_set

_WGET_MANY = word_set("--spider -r --recursive -m --mirror -p --page-requisites -i --input-file")
"""Options with which wget writes no file, or files that nobody can name beforehand."""

_ITEM = re.compile(r":=@|==@|=@|:=|==|=|@|:")
_METHOD = re.compile(r"[A-Za-z]{3,10}\Z")


def of_wget(traffic: Traffic) -> None:
    text = traffic.text
    urls: list[str] = []
    outputs: list[Word] = []
    method, directory = "", ""
    body: str | None = None
    one_each = True
    for argument in read_arguments(traffic.simple.words, program("wget")):
        name, value = argument.name, argument.value
        if name in _WGET_MANY:
            one_each = False
        elif value is None:
            continue
        elif not name:
            urls += traffic.texts(value)
        elif name in ("-O", "--output-document"):
            outputs.append(value)
        elif name in ("-P", "--directory-prefix"):
            directory = text(value)
        elif name == "--method":
            method = text(value).upper()
        elif name in ("--post-data", "--body-data"):
            body = text(value)
        elif name in ("--post-file", "--body-file"):
            body = f"@{text(value)}"
    method = method or ("GET" if body is None else "POST")
    urls = [with_scheme(url) for url in urls]
    traffic.requests += [Request(url, method, body, HOLE not in (body or "")) for url in urls]
    for output in outputs:
        traffic.writes(output)
    if one_each and not outputs:
        for url in urls:
            traffic.writes_segment(url, directory, "index.html")


def of_httpie(traffic: Traffic) -> None:
    operands: list[str] = []
    raw: str | None = None
    output: Word | None = None
    flags: set[str] = set()
    for argument in read_arguments(traffic.simple.words, program("http")):
        name, value = argument.name, argument.value
        if value is None:
            flags.add(name)
        elif not name:
            operands.append(traffic.text(value))
        elif name == "--raw":
            raw = traffic.text(value)
        elif name in ("-o", "--output"):
            output = value
    if output is not None:
        traffic.writes(output)
    method = ""
    if len(operands) > 1 and _METHOD.match(operands[0]):
        method = operands.pop(0).upper()
    if not operands or "--offline" in flags:
        return
    url, *items = operands
    if url.startswith(":"):  # `:3000/x`
        url = f"localhost{url if url[1:2].isdigit() else url[1:]}"
    query: list[str] = []
    body: list[str] = []
    for item in items:
        found = _ITEM.search(item)
        sign = found.group() if found else ":"
        if sign == "==":
            key, _, content = item.partition("==")
            query.append(f"{key}={percent_encoded(content)}")
        elif sign != ":":
            body.append(item)
    text = raw if raw is not None else "\n".join(sorted(body)) if body else traffic.stdin()
    method = method or ("GET" if text is None else "POST")
    url = with_scheme(url)
    traffic.requests.append(Request(url, method, text, HOLE not in (text or ""), "&".join(query)))
    if output is None and flags & {"-d", "--download"}:
        traffic.writes_segment(url)


def of_invoke(traffic: Traffic) -> None:
    """`Invoke-WebRequest` and `Invoke-RestMethod`, their options in lower case."""
    text = traffic.text
    urls: list[str] = []
    method, known = "", True
    body: str | None = None
    for argument in read_arguments(traffic.simple.words, program("invoke-webrequest")):
        name, value = argument.name, argument.value
        if name in ("-body", "-form"):  # an expression or a table of several words is not read
            body = text(value) if value else ""
            known = bool(body) and HOLE not in body and body.count("{") == body.count("}")
        elif value is None:
            continue
        elif name in ("", "-uri"):
            urls += traffic.texts(value)
        elif name in ("-method", "-custommethod"):
            method = text(value).upper()
        elif name == "-infile":
            body = f"@{text(value)}"
        elif name == "-outfile":
            traffic.writes(value)
    traffic.requests += [Request(url, method or "GET", body, known) for url in urls if looks_like_url(url)]
