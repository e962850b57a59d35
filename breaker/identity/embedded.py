"""URLs that a program in another language fetches: Python, JavaScript, Ruby, Perl, PHP in `-c`, `-e` or a heredoc.

The program is read as strings, comments, brackets and names; no more of its grammar is needed. A URL counts when
it is a string of its own, the program names a client, and nothing says that the string is only text.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from itertools import islice

from msgspec import Struct

from breaker.shell.values import HOLE
from breaker.word_set import word_set

MAX_PROGRAM = 65_536
"""Characters read of one program. The largest of the recorded commands has 15 000."""
MAX_TOKENS = 10_000
"""Strings, names, brackets and comments read of one program."""
MAX_TARGETS = 32
"""URLs followed of one program."""
MAX_USES = 256
"""Places where a variable is named that are looked at; one with more is taken for a part of a URL."""

_CLIENTS = re.compile(
    r"\b(?:requests|urllib[23]?|urlopen|urlretrieve|httpx|aiohttp|pycurl|treq|feedparser|scrapy|websockets?|selenium"
    r"|playwright|puppeteer|read_(?:csv|json|html|xml|parquet|excel|table|feather)|wget|curl\w*|fetch\w*|axios|got|undici"
    r"|superagent|needle|ky|XMLHttpRequest|WebSocket|EventSource|open-uri|URI\.open|Net::HTTP|Faraday|HTTParty|RestClient"
    r"|Typhoeus|LWP|HTTP::\w+|WWW::\w+|Mojo|file_get_contents|fopen|Guzzle\w*|HTTP|request|download\w*|url\.openStream"
    r"|https?(?!:))\b",
)
_HASH, _SLASHES = r"\#[^\n]*+", r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"
_COMMENTS = {
    "python": _HASH,
    "ruby": _HASH,
    "perl": _HASH,
    "rscript": _HASH,
    "julia": _HASH,
    "php": f"{_HASH}|{_SLASHES}",
    "lua": r"--[^\n]*+",
}
"""How comments are written; in other languages, as in JavaScript."""

_URL = re.compile(r"https?://", re.IGNORECASE)
_COMMAND = re.compile(r"(?:curl|wget)\s")
_URL_INSIDE = re.compile(r"""(?<![\w=@'"(])['"(]?(https?://[^\s'"<>;|]+)""", re.IGNORECASE)
_MEMBER = re.compile(r"""([\w$-]+)["']?\s{0,8}(?:=>|[:=])\s{0,8}\Z""")
_COMPARED = re.compile(r"(?:[=!]=|\bin|\bnot in|=~)\s{0,8}\Z")
_JOINED = re.compile(
    r"\s{0,8}(?:\+|%(?!=)|\.\s?(?:format|concat|replace|join)\b|\.\s?[$(\w]+\s?(?:[.;),]|\Z)|[A-Za-z]{0,2}[\"'`])"
)
_JOINED_BEFORE = re.compile(r"(?:\+|\|\||\?\?|\bor|[\"'`]\s{1,8})\s{0,8}\Z")
_TEXT_MEMBERS = word_set(
    "origin referer referrer user-agent useragent http https all proxy proxies proxy_url http_proxy https_proxy server "
    "headers header cookies xmlns schema $schema $id description title message comment callback redirect_uri"
)
_DATA_MEMBERS = word_set("json data body payload headers proxies cookies files variables form")
_BASE_MEMBERS = word_set("base_url baseurl baseuri prefixurl base_uri root_url default")
_BASE_CALLS = word_set("urljoin create session getenv")
_TEXT_CALLS = word_set(
    "print println printf puts echo log info debug warn warning error write assert assertequal startswith startswith? "
    "endswith replace replaceall split match search sub gsub compile includes contains test indexof count find "
    "exception valueerror runtimeerror typeerror addheader setheader add_header set_proxy urlparse urlsplit "
    "stringify dumps b64encode"
)
_METHODS = word_set("post put patch delete options")
_SENDERS = frozenset({"post", "put", "patch"})  # calls whose second argument is the body
# Calls that only name the URL: what is sent stands elsewhere in the program.
_NAMING = word_set("uri url parse request new open setopt curl_setopt http")
_METHOD = re.compile(r"""\bmethod["']?\s{0,4}[:=]\s{0,4}["'](\w{3,8})["']""", re.IGNORECASE)
_FIRST_ARGUMENT = re.compile(r"""\(\s{0,4}["'](\w{3,8})["']\s{0,4},""")
_CALLED_METHOD = re.compile(r"\.(post|put|patch|delete)\(", re.IGNORECASE)
_BODY = re.compile(
    r"(?<=[({,\s.])[\"']?(json|data|body|files|content|payload|form)[\"']?\s{0,4}(?:=>|[:=](?!=))|(POSTFIELDS)\b",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(
    r"[({,]\s{0,40}[\"']?(?:params|query|searchParams)[\"']?\s{0,4}[:=](?!=)|\bURLSearchParams\b|\burlencode\b"
)
_ARGUMENT_SIGN = re.compile(
    r"""\"(?:[^"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`|[(\[{]|[)\]},;]""", re.DOTALL
)
_ADDED_TO = re.compile(r"\s?(?:\+|%|\.format\b|\.concat\b)")
_ADDED_BY = re.compile(r"(?:\+\s?|\{\s?\$?|urljoin\(\s?|\bnew URL\([^,()]{1,80},\s?)\Z")
_NO_NAME = re.compile(r"(?:[^\w$]|\A)\Z")
_STRINGS = re.compile(r"""b?(?:\"(?:[^"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|`[^`$]*+`)""", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*+(?!\s{0,4}(?:[:(\w]|=>))")
_KEYWORD = re.compile(r"\s*[A-Za-z_]\w*\s*(?:=(?!=)|=>)")
_CONSTANTS = frozenset({"True", "False", "None", "true", "false", "null", "nil", "undefined", "JSON", "json"})


class Target(Struct, frozen=True):
    """A URL (with holes where the program computes it), the method, and what tells its body from others."""

    url: str
    method: str = "GET"
    body: str | None = None


class _String(Struct, frozen=True):
    start: int
    end: int
    prefix: str
    text: str
    quote: str
    call: int  # position of the parenthesis of the innermost call, or -1
    callee: str


class _Program:
    """A program, where its brackets close, and what it sends as a whole."""

    def __init__(self, code: str, language: str, ends: dict[int, int]) -> None:
        self.code, self.language, self.ends = code, language, ends

    @cached_property
    def method(self) -> str:
        """The method that some call of it has."""
        method = _method("", self.code)
        return "POST" if method == "GET" and _BODY.search(self.code) else method

    @cached_property
    def parametrized(self) -> bool:
        return _PARAMETERS.search(self.code) is not None


def names_client(text: str) -> bool:
    return _CLIENTS.search(text) is not None


def targets(code: str, language: str, context: str = "") -> list[Target]:
    """What the program fetches. `context`: further words of its command line, which may name a client."""
    code = code[:MAX_PROGRAM]
    if "://" not in code or not (names_client(code) or names_client(context)):
        return []
    strings, ends, commands = _scan(code, language)
    program = _Program(code, language, ends)
    found = [_target(program, string) for string in strings]
    for command in commands[:MAX_TARGETS]:
        found += (Target(re.sub(r"\{[^{}]*\}|\$\w+|%[sd]", HOLE, url)) for url in _URL_INSIDE.findall(command))
    return found


@cache
def _tokens(language: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?P<comment>{_COMMENTS.get(language, _SLASHES)})
        |(?P<string>[A-Za-z]{{0,2}}(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
          |"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`))
        |(?P<open>[(\[{{])|(?P<close>[)\]}}])
        |(?P<name>[A-Za-z_$][\w$]*+(?:(?:\.|::|->)[A-Za-z_$][\w$]*+)*+)
        """,
        re.VERBOSE | re.DOTALL,
    )


def _scan(code: str, language: str) -> tuple[list[_String], dict[int, int], list[str]]:
    """The strings that begin as a URL and may be fetched, where each call's parenthesis closes, and shell commands."""
    commands: list[str] = []
    stack: list[tuple[str, str, int]] = []  # bracket, the name or member before it, its position
    ends: dict[int, int] = {}
    strings: list[_String] = []
    name, name_end = "", -1
    for token in islice(_tokens(language).finditer(code), MAX_TOKENS):
        kind = token.lastgroup
        start, end = token.span()
        if kind == "name":
            name, name_end = token.group(), end
        elif kind == "open":
            label = name if code[name_end:start].strip() == "" and name_end >= 0 else _member(code, start)
            stack.append((code[start], label.lower(), start))
        elif kind == "close":
            if stack:
                ends[stack.pop()[2]] = end
        elif kind == "string":
            string = _read_string(code, start, end)
            if _COMMAND.match(string[1]):
                commands.append(string[1])
            elif len(strings) < MAX_TARGETS and _URL.match(string[1]) and not _is_text(code, start, end, stack):
                call = next(((label, at) for sign, label, at in reversed(stack) if sign == "(" and label), ("", -1))
                strings.append(_String(start, end, string[0], string[1], string[2], call[1], call[0]))
            name_end = -1
    return strings, ends, commands


def _read_string(code: str, start: int, end: int) -> tuple[str, str, str]:
    raw = code[start:end]
    prefix = raw[: len(raw) - len(raw.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
    raw = raw[len(prefix) :]
    quote = raw[:3] if raw[:3] in ('"""', "'''") else raw[:1]
    return prefix, raw[len(quote) :].removesuffix(quote).strip(), quote


def _member(code: str, start: int) -> str:
    found = _MEMBER.search(code, max(0, start - 64), start)
    return found[1] if found else ""


def _is_text(code: str, start: int, end: int, stack: list[tuple[str, str, int]]) -> bool:
    member = _member(code, start).lower()
    if member in _TEXT_MEMBERS or member in _DATA_MEMBERS:
        return True
    if _COMPARED.search(code, max(0, start - 16), start) or code[end : end + 16].lstrip()[:2] in ("==", "!=", "in"):
        return True
    for sign, label, _ in reversed(stack):
        last = re.split(r"\.|::|->", label)[-1]
        if sign == "(" and label:
            return last in _TEXT_CALLS
        if sign in "{[" and last in _DATA_MEMBERS | _TEXT_MEMBERS:
            return True
    return any(label in _DATA_MEMBERS and sign != "(" for sign, label, _ in stack)


def _target(program: _Program, string: _String) -> Target:
    code, ends = program.code, program.ends
    member = _member(code, string.start)
    url = _interpolated(string, program.language)
    assigned = bool(member) and not (string.call >= 0 and member.lower() in ("url", "uri", "href"))
    last = string.callee.rpartition(".")[2]
    call, stop = string.call, ends.get(string.call, len(code))
    formatted = (
        _JOINED.match(code, string.end) is not None
        or _JOINED_BEFORE.search(code, max(0, string.start - 16), string.start) is not None
        or member.lower() in _BASE_MEMBERS
        or last in _BASE_CALLS
        or string.callee.endswith("environ.get")
        or (assigned and call < 0 and _is_composed(code, member))
        or (program.parametrized and (call < 0 or _PARAMETERS.search(code, call, stop) is not None))
    )
    if formatted:
        return Target(url if HOLE in url else url + "/" + HOLE if url.count("/") == 2 else url + HOLE)
    method = "GET"
    if call >= 0:
        method, body = _method(last, code[call:stop]), _body(code, string, last, call, stop, ends)
        if body is not None:
            return Target(url, "POST" if method == "GET" else method, body)
        if last not in _NAMING and (method != "POST" or last in _SENDERS):
            return Target(url, method)
    if method == "GET":
        method = program.method
    return Target(url, method, None if method == "GET" else code)


def _body(code: str, string: _String, callee: str, call: int, stop: int, ends: dict[int, int]) -> str | None:
    """What a call sends, spelled as it is; the whole program, where that is computed."""
    values: dict[str, str] = {}  # by the name of the argument
    end = call
    for named in _BODY.finditer(code, call, stop):
        if named.start() >= end:  # else inside the one before
            end = _argument_end(code, named.end(), stop, ends)
            values[named[1] or named[2]] = code[named.end() : end]
    if not values and callee in _SENDERS:
        end = _argument_end(code, string.end, stop, ends)
        if code[end : end + 1] == "," and not _KEYWORD.match(code, end + 1):
            values[""] = code[end + 1 : _argument_end(code, end + 1, stop, ends)]
    if not any(value.strip() for value in values.values()):
        return None
    bare = _STRINGS.sub("", " ".join(values.values()))
    if "`" in bare or any(name not in _CONSTANTS for name in _NAME.findall(bare)):
        return code
    return " ".join(" ".join(f"{name} {value}" for name, value in values.items()).split())


def _argument_end(code: str, start: int, stop: int, ends: dict[int, int]) -> int:
    """Where the comma or bracket stands that ends the argument at `start`."""
    pos = start
    while found := _ARGUMENT_SIGN.search(code, pos, stop):
        sign = found.group()
        if sign in "([{":
            pos = ends.get(found.start(), stop)
        elif sign in ")]},;":
            return found.start()
        else:
            pos = found.end()
    return stop


def _interpolated(string: _String, language: str) -> str:
    text = string.text
    if string.quote == "`":
        return re.sub(r"\$\{[^}]*\}?", HOLE, text)
    if language == "python":
        return re.sub(r"\{[^{}]*\}", HOLE, text) if "f" in string.prefix.lower() else text
    if string.quote == '"' and language in ("ruby", "perl", "php"):
        return re.sub(r"#\{[^}]*\}?" if language == "ruby" else r"\{?\$[\w>\[\]'-]+\}?", HOLE, text)
    return text


def _is_composed(code: str, name: str) -> bool:
    """Whether the program puts something behind the variable's value."""
    at = code.find(name)
    for _ in range(MAX_USES):
        if at < 0:
            return False
        end = at + len(name)
        if _ADDED_TO.match(code, end) and _NO_NAME.search(code, max(0, at - 1), at):
            return True
        if _ADDED_BY.search(code, max(0, at - 96), at) and not code[end : end + 1].isalnum():
            return True
        at = code.find(name, end)
    return True


def _method(callee: str, inside: str) -> str:
    if callee in _METHODS:
        return callee.upper()
    first = _FIRST_ARGUMENT.match(inside) if callee in ("request", "open", "stream", "run_request") else None
    found = first or _METHOD.search(inside) or _CALLED_METHOD.search(inside)
    if found is None:
        return "GET"
    method = found[1].upper()
    return "GET" if method == "HEAD" else method
