"""The requests that a command or a tool call makes, and the files that a command writes its payload to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from breaker.identity import embedded
from breaker.identity.urls import has_scheme, looks_like_url, with_scheme
from breaker.shell.commands import Simple, has_expansion, join
from breaker.shell.options import Argument, read_arguments
from breaker.shell.programs import family, program
from breaker.shell.script import Redirect, Word
from breaker.shell.values import HOLE, expand, resolve
from breaker.word_set import word_set

CLIENTS = frozenset({"curl", "wget", "http", "https", "httpie", "xh", "xhs"})
"""Programs of `family:http-fetch`."""

_GENERIC_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-", "NUL", "nul", ""})
_PAYLOAD = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})
_FD = re.compile(r"\d*-?\Z")
_MAX_EXPANDED = 32  # URLs followed of one pattern

# Options of programs without a row whose value is text.
_TEXT_OPTIONS = word_set(
    "--proxy --http-proxy --https-proxy --proxy-server --header --headers --referer --referrer --origin --user-agent "
    "--message --body --title --description --notes --comment --reason --text --subject --homepage"
)


class Request(Struct, frozen=True):
    """One request. `url` may hold holes; `body` None: there is none; `known` False: nobody knows it beforehand."""

    url: str
    method: str = "GET"
    body: str | None = None
    known: bool = True
    query: str = ""


class Traffic(Struct):
    """What one command asks for and writes."""

    requests: list[Request]
    sinks: list[str]


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
    traffic = Traffic([], [])
    if simple.redirects:
        for redirect in simple.redirects:
            _redirect_sink(simple, redirect, traffic.sinks)
    name = simple.program
    if len(simple.words) < 2 and simple.stdin is None:
        return traffic
    row = family(name)
    if row == "curl":
        _curl(simple, traffic)
    elif row == "wget":
        _wget(simple, traffic)
    elif row == "http":
        _httpie(simple, traffic)
    elif row in _INTERPRETERS:
        _interpreter(simple, row, traffic)
    else:
        if program(name).sinks:
            _output_options(simple, traffic)
        elif name == "dd":
            _operand_of(simple, "of=", traffic)
        if _may_hold_url(simple):
            traffic.requests += _urls_of_words(simple)
    return traffic


# ---- files


def _redirect_sink(simple: Simple, redirect: Redirect, sinks: list[str]) -> None:
    target = redirect.target
    if redirect.operator not in _PAYLOAD or redirect.fd not in ("", "1", "&") or target is None:
        return
    if redirect.operator == ">&" and _FD.match(target.text):
        return
    _add_sink(simple, target, sinks)


def _add_sink(simple: Simple, word: Word, sinks: list[str], under: str = "") -> None:
    text = word.text
    if has_expansion(word) or text in _GENERIC_SINKS or text.startswith(("/dev/fd/", "/proc/self/fd/")):
        return
    path = join(simple.directory, f"{under}/{text}" if under and not text.startswith("/") else text)
    if path is not None and HOLE not in path:
        sinks.append(path)


def _output_options(simple: Simple, traffic: Traffic) -> None:
    operands = 0
    for argument in read_arguments(simple.words, program(simple.program)):
        value, row = argument.value, argument.program
        if value is None:
            continue
        if argument.name:
            if argument.name in row.output:
                _add_sink(simple, value, traffic.sinks)
        elif row.output_operands == "all":
            _add_sink(simple, value, traffic.sinks)
        elif row.output_operands == "first" and value.text not in row.name.split():
            operands += 1
            if operands == 1:
                _add_sink(simple, value, traffic.sinks)


def _operand_of(simple: Simple, prefix: str, traffic: Traffic) -> None:
    for word in simple.words[1:]:
        if word.text.startswith(prefix):
            _add_sink(simple, Word(word.text[len(prefix) :], word.key, word.literal), traffic.sinks)


def _last_segment(url: str) -> str:
    path = re.split(r"[?#]", url.partition("://")[2])[0]
    return path.rpartition("/")[2] if "/" in path else ""


# ---- words of any program


def _may_hold_url(simple: Simple) -> bool:
    known = bool(simple.values)
    return any("://" in word.text or (known and not word.literal and "$" in word.text) for word in simple.words)


def _urls_of_words(simple: Simple) -> list[Request]:
    found: list[Request] = []
    words = simple.words
    if family(simple.program) == "python":
        words = _module_words(words)
    operands = 0
    patterned = False
    before = ""
    row = program(simple.program if words is simple.words else words[0].text)
    for argument in read_arguments(words, row):
        value, row = argument.value, argument.program
        if argument.name:
            before = argument.name
            patterned |= before in row.pattern
            if value is None or before in row.text or before in _TEXT_OPTIONS:
                continue
        else:
            operands += 1
            skipped = row.text_operands == "all" or (row.text_operands == "first" and operands == 1 and not patterned)
            if skipped or before in _TEXT_OPTIONS:
                before = ""
                continue
            before = ""
        if value is not None:
            for text in _texts(value, simple):
                plain = text.removeprefix("git+")
                if looks_like_url(plain):
                    found.append(Request(plain))
    return found


def _module_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`python -m pip …` is pip."""
    for index, word in enumerate(words[:-1]):
        if word.text == "-m":
            return words[index + 1 :]
        if index and word.text[:1] != "-":
            break
    return words


def _texts(word: Word, simple: Simple) -> list[str]:
    """The texts a word stands for, braces expanded as the shell does it."""
    texts = resolve(word, simple.values)
    if not word.literal and "{" in word.text:
        return [text for value in texts for text in _expand_braces(value, ranges=False)]
    return list(texts)


_BRACES = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
_RANGE = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}")
_CURL_RANGE = re.compile(r"\[(\d{1,9})-(\d{1,9})(?::(\d{1,4}))?\]|\[([a-zA-Z])-([a-zA-Z])\]")


def _expand_braces(text: str, *, ranges: bool) -> list[str]:
    """The texts that `{a,b}`, `{1..3}` and (curl) `[1-3]` stand for; a hole for too many."""
    done: list[str] = []
    open_ = [text]
    while open_:
        current = open_.pop()
        found = _BRACES.search(current) or _RANGE.search(current) or (_CURL_RANGE.search(current) if ranges else None)
        if found is None:
            done.append(current)
            continue
        items = _items(found)
        if items is None or len(done) + len(open_) + len(items) > _MAX_EXPANDED:
            items = [HOLE]
        open_ += [current[: found.start()] + item + current[found.end() :] for item in reversed(items)]
    return done


def _items(found: re.Match[str]) -> list[str] | None:
    if found.re is _BRACES:
        return found[1].split(",")
    if found.re is _CURL_RANGE and found[4]:
        first, last = ord(found[4]), ord(found[5])
        return [chr(code) for code in range(first, last + 1)] or None
    first, last = int(found[1]), int(found[2])
    step = int(found[3] or 1) if found.re is _CURL_RANGE else 1
    if step < 1 or not first <= last or (last - first) // step >= _MAX_EXPANDED:
        return None
    width = len(found[1]) if found[1][0] == "0" else 1
    return [str(number).zfill(width) for number in range(first, last + 1, step)]


# ---- curl

_CURL_LONG = {
    "-X": "--request", "-d": "--data", "-F": "--form", "-T": "--upload-file", "-G": "--get", "-I": "--head",
    "-o": "--output", "-O": "--remote-name", "-g": "--globoff", "-:": "--next", "-K": "--config",
}  # fmt: skip
_CURL_DATA = frozenset({"--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--json"})


class _Transfer:
    """What curl's options say up to `--next`."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.outputs: list[Word | None] = []  # None: the URL's last segment
        self.method = ""
        self.data: list[str] = []
        self.form: list[str] = []
        self.query: list[str] = []
        self.upload: str | None = None
        self.get = self.globoff = self.remote_all = False
        self.directory = ""
        self.known = True


def _curl(simple: Simple, traffic: Traffic) -> None:
    transfer = _Transfer()
    for argument in read_arguments(simple.words, program("curl")):
        name = _CURL_LONG.get(argument.name, argument.name)
        if name == "--next":
            _finish_curl(simple, transfer, traffic)
            transfer = _Transfer()
        elif name == "--config" and argument.value is not None and argument.value.text == "-" and simple.stdin:
            for option in _curl_config(simple):
                _curl_option(simple, transfer, _CURL_LONG.get(option.name, option.name), option.value)
        else:
            _curl_option(simple, transfer, name, argument.value)
    _finish_curl(simple, transfer, traffic)


def _curl_option(simple: Simple, transfer: _Transfer, name: str, value: Word | None) -> None:
    if name in ("", "--url"):
        if value is not None:
            transfer.urls += _texts(value, simple)
    elif name == "--output":
        if value is not None:
            transfer.outputs.append(value)
    elif name == "--remote-name":
        transfer.outputs.append(None)
    elif name == "--remote-name-all":
        transfer.remote_all = True
    elif name == "--get":
        transfer.get = True
    elif name == "--globoff":
        transfer.globoff = True
    elif value is None:
        return
    elif name == "--request":
        transfer.method = _first(value, simple).upper()
    elif name in _CURL_DATA:
        _curl_data(simple, transfer, name, _first(value, simple))
    elif name in ("--form", "--form-string"):
        transfer.form.append(_first(value, simple))
    elif name == "--upload-file":
        transfer.upload = _first(value, simple)
    elif name == "--url-query":
        transfer.query.append(_urlencoded(_first(value, simple).removeprefix("+")))
    elif name == "--output-dir":
        transfer.directory = _first(value, simple)


def _curl_data(simple: Simple, transfer: _Transfer, name: str, text: str) -> None:
    if name == "--data-urlencode":
        text = _urlencoded(text)
    elif text == "@-" and name != "--data-raw":
        stdin = _stdin_text(simple)
        transfer.known &= stdin is not None
        text = (stdin or "").rstrip("\n")
        if name not in ("--data-binary", "--json"):
            text = text.replace("\n", "")
    transfer.data.append(text)


def _finish_curl(simple: Simple, transfer: _Transfer, traffic: Traffic) -> None:
    data = "&".join(transfer.data) if transfer.data else None
    query = list(transfer.query)
    method = transfer.method
    body: str | None = None
    if transfer.upload is not None:
        method, body = method or "PUT", f"@{transfer.upload}"
    elif transfer.form:
        method, body = method or "POST", "\n".join(transfer.form)
    elif data is not None and transfer.get:
        query.append(data)
    elif data is not None:
        method, body = method or "POST", data
    known = transfer.known and HOLE not in (body or "")
    urls: list[str] = []
    for text in transfer.urls:
        urls += [text] if transfer.globoff else _expand_braces(text, ranges=True)
    for url in urls:
        traffic.requests.append(Request(with_scheme(url), method or "GET", body, known, "&".join(query)))
    outputs = transfer.outputs
    if transfer.remote_all:
        outputs = outputs + [None] * (len(urls) - len(outputs))
    for index, output in enumerate(outputs):
        if output is not None:
            _add_sink(simple, output, traffic.sinks, transfer.directory)
        elif index < len(urls):
            segment = _last_segment(with_scheme(urls[index]))
            _add_sink(simple, Word(segment, segment), traffic.sinks, transfer.directory)


def _curl_config(simple: Simple) -> Iterator[Argument]:
    """The options in a configuration that is written on curl's standard input."""
    row = program("curl")
    for line in (_stdin_text(simple) or "").splitlines():
        found = re.match(r"\s*-{0,2}([\w-]+)\s*[=:\s]?\s*(.*)", line)
        if found and not line.lstrip().startswith("#"):
            text = found[2].strip().strip('"')
            yield Argument(f"--{found[1]}", Word(text, text) if text else None, row)


def _urlencoded(text: str) -> str:
    """curl's `--data-urlencode`: `content`, `=content`, `name=content`; a file's content is unknown."""
    name, equals, content = text.partition("=")
    if not equals:
        return HOLE if "@" in text else _escape(text)
    return f"{name}={_escape(content)}" if name else _escape(content)


def _escape(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return "".join(
        chr(byte) if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-._~\x00") else f"%{byte:02X}"
        for byte in raw
    )


def _stdin_text(simple: Simple) -> str | None:
    if simple.stdin is None:
        return None
    if not simple.stdin_expands:
        return simple.stdin
    text = expand(simple.stdin, simple.values)[0]
    return None if HOLE in text else text


def _first(word: Word, simple: Simple) -> str:
    return resolve(word, simple.values)[0]


# ---- wget, httpie


def _wget(simple: Simple, traffic: Traffic) -> None:
    urls: list[str] = []
    outputs: list[Word] = []
    method, body, directory = "", None, ""
    saves = True
    for argument in read_arguments(simple.words, program("wget")):
        name, value = argument.name, argument.value
        if name in ("--spider", "-r", "--recursive", "-m", "--mirror", "-p", "--page-requisites", "-i", "--input-file"):
            saves = False
        elif value is None:
            continue
        elif not name:
            urls += _texts(value, simple)
        elif name in ("-O", "--output-document"):
            outputs.append(value)
        elif name in ("-P", "--directory-prefix"):
            directory = _first(value, simple)
        elif name == "--method":
            method = _first(value, simple).upper()
        elif name in ("--post-data", "--body-data"):
            body = _first(value, simple)
            method = method or "POST"
        elif name in ("--post-file", "--body-file"):
            body = f"@{_first(value, simple)}"
            method = method or "POST"
    known = HOLE not in (body or "")
    urls = [with_scheme(url) for url in urls]
    traffic.requests += [Request(url, method or "GET", body, known) for url in urls]
    for output in outputs:
        _add_sink(simple, output, traffic.sinks)
    if saves and not outputs:
        for url in urls:
            segment = _last_segment(url) or "index.html"
            _add_sink(simple, Word(segment, segment), traffic.sinks, directory)


_ITEM = re.compile(r":=@|==@|=@|:=|==|=|@|:")
_HTTP_METHOD = re.compile(r"[A-Za-z]{3,10}\Z")


def _httpie(simple: Simple, traffic: Traffic) -> None:
    operands: list[str] = []
    raw: str | None = None
    download = offline = False
    output: Word | None = None
    for argument in read_arguments(simple.words, program("http")):
        name, value = argument.name, argument.value
        if not name and value is not None:
            operands.append(_first(value, simple))
        elif name == "--raw" and value is not None:
            raw = _first(value, simple)
        elif name in ("-o", "--output"):
            output = value
        elif name in ("-d", "--download"):
            download = True
        elif name == "--offline":
            offline = True
    if output is not None:
        _add_sink(simple, output, traffic.sinks)
    method = ""
    if len(operands) > 1 and _HTTP_METHOD.match(operands[0]):
        method = operands.pop(0).upper()
    if not operands or offline:
        return
    url = operands[0]
    if url.startswith(":"):
        url = f"localhost{url}" if url[1:2].isdigit() else f"localhost{url[1:]}"
    query: list[str] = []
    body: list[str] = []
    for item in operands[1:]:
        found = _ITEM.search(item)
        if found is None or found.group() == ":":
            continue
        if found.group() == "==":
            query.append(f"{item[: found.start()]}={_escape(item[found.end() :])}")
        else:
            body.append(item)
    text = raw if raw is not None else "\n".join(sorted(body)) if body else _stdin_text(simple)
    method = method or ("GET" if text is None else "POST")
    url = with_scheme(url)
    traffic.requests.append(Request(url, method, text, HOLE not in (text or ""), "&".join(query)))
    if download and output is None and (segment := _last_segment(url)):
        _add_sink(simple, Word(segment, segment), traffic.sinks)


# ---- interpreters


class _Interpreter(Struct, frozen=True):
    """`code`: letters and options that take a program; `valued`: those that take something else."""

    code: frozenset[str]
    valued: frozenset[str]
    patterns: str = ""  # letters that make a program a text filter
    glued: str = ""  # letters that take the rest of their cluster


def _row(code: str, valued: str = "", patterns: str = "", glued: str = "") -> _Interpreter:
    return _Interpreter(word_set(code), word_set(valued), patterns, glued)


_NODE = _row(
    "-e --eval -p --print",
    "-r --require --import --loader --experimental-loader --input-type -C --conditions --env-file",
)
_INTERPRETERS: dict[str, _Interpreter] = {
    "python": _row("-c", "-W -X --check-hash-based-pycs"),
    "pypy": _row("-c", "-W -X"),
    "ipython": _row("-c", "--profile"),
    "node": _NODE,
    "bun": _NODE,
    "deno": _NODE,
    "tsx": _NODE,
    "ts-node": _NODE,
    "ruby": _row("-e", "-I -r -C -E", "pn", "IrxWK0"),
    "perl": _row("-e -E", "", "pn", "MmIiFxlD0CV"),
    "php": _row("-r", "-d -c -z"),
    "lua": _row("-e", "-l"),
    "julia": _row("-e --eval -E --print", "-L -p -t --project"),
    "Rscript": _row("-e"),
    "osascript": _row("-e", "-l"),
}


def _interpreter(simple: Simple, row: str, traffic: Traffic) -> None:
    table = _INTERPRETERS[row]
    codes, filters, reads_stdin, module = _programs(simple, table)
    language = "python" if row in ("pypy", "ipython") else row.lower()
    context = " ".join(word.text[2:] for word in simple.words[1:] if word.text[:2] in ("-M", "-m", "-r"))
    if not filters:
        texts = [text for code in codes for text in resolve(code, simple.values)[:1]]
        if not codes and reads_stdin and simple.stdin is not None:
            texts = [expand(simple.stdin, simple.values)[0] if simple.stdin_expands else simple.stdin]
        for text in texts:
            traffic.requests += [
                Request(target.url, target.method, target.body) for target in embedded.targets(text, language, context)
            ]
    if _may_hold_url(simple) and not filters:
        kept = tuple(word for word in simple.words if word not in codes)
        if module:
            kept = simple.words
        if len(kept) > 1:
            traffic.requests += _urls_of_words(Simple(simple.program, kept, values=simple.values))


def _programs(simple: Simple, table: _Interpreter) -> tuple[list[Word], bool, bool, bool]:
    """The programs in the options; whether they filter text; whether standard input is a program; `-m`."""
    words = simple.words
    codes: list[Word] = []
    filters = False
    index = 1
    if words[0].text.endswith("deno") and len(words) > 2 and words[1].text == "eval":
        return [words[-1]], False, False, False
    while index < len(words):
        text = words[index].text
        if text == "-" or text[:1] != "-":
            return codes, filters, text == "-", False
        index += 1
        if text == "-m" and table.code == frozenset({"-c"}):
            return codes, filters, False, True
        if text == "--":
            return codes, filters, index >= len(words), False
        if text in table.code:
            if index < len(words):
                codes.append(words[index])
            index += 1
        elif text in table.valued:
            index += 1
        elif text[:2] == "--":
            name, equals, value = text.partition("=")
            if equals and name in table.code:
                codes.append(Word(value, value, words[index - 1].literal))
        else:
            for at in range(1, len(text)):
                letter = text[at]
                filters |= letter in table.patterns
                if "-" + letter in table.code:
                    rest = text[at + 1 :]
                    if rest:
                        codes.append(Word(rest, rest, words[index - 1].literal))
                    elif index < len(words):
                        codes.append(words[index])
                        index += 1
                    break
                if letter in table.glued or "-" + letter in table.valued:
                    break
    return codes, filters, not codes, False


def _member(arguments: dict[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in arguments:
            return arguments[name]
    return None


def _text(value: Any) -> str:
    if type(value) is str:
        return value
    import json

    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


__all__ = ["CLIENTS", "Request", "Traffic", "has_scheme", "of_command", "of_tool"]
