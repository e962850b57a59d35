"""URLs that a program in another language fetches: Python, JavaScript, Ruby, Perl, PHP in `-c`, `-e` or a heredoc.

The program is read as strings, comments, brackets and names; no more of its grammar is needed. A URL counts when
it is a string of its own, the program names a client, and nothing says that the string is only text.
"""

from __future__ import annotations

import re

from msgspec import Struct

from breaker.shell.values import HOLE
from breaker.word_set import word_set

MAX_PROGRAM = 65_536
"""Characters read of one program. The largest of the recorded commands has 15 000."""

_CLIENTS = re.compile(
    r"\b(?:requests|urllib[23]?|urlopen|urlretrieve|httpx|aiohttp|pycurl|treq|feedparser|scrapy|websockets?|selenium"
    r"|playwright|puppeteer|read_(?:csv|json|html|xml|parquet|excel|table|feather)|wget|curl\w*|fetch\w*|axios|got|undici"
    r"|superagent|needle|ky|XMLHttpRequest|WebSocket|EventSource|open-uri|URI\.open|Net::HTTP|Faraday|HTTParty|RestClient"
    r"|Typhoeus|LWP|HTTP::\w+|WWW::\w+|Mojo|file_get_contents|fopen|Guzzle\w*|HTTP|request|download\w*|url\.openStream"
    r"|https?(?!:))\b",
)
_HASH_COMMENTS = frozenset({"python", "ruby", "perl", "rscript", "julia"})
_TOKENS = {
    comment: re.compile(
        rf"""
        (?P<comment>{comment})
        |(?P<string>[A-Za-z]{{0,2}}(?:\"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
          |"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`))
        |(?P<open>[(\[{{])|(?P<close>[)\]}}])
        |(?P<name>[A-Za-z_$][\w$]*+(?:(?:\.|::|->)[A-Za-z_$][\w$]*+)*+)
        """,
        re.VERBOSE | re.DOTALL,
    )
    for comment in (r"\#[^\n]*+", r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", r"\#[^\n]*+|//[^\n]*+|--[^\n]*+")
}
_HASH, _SLASHES, _OTHER = _TOKENS.values()

_URL = re.compile(r"https?://", re.IGNORECASE)
_COMMAND = re.compile(r"(?:curl|wget)\s")
_URL_INSIDE = re.compile(r"""(?<![\w=@'"(])['"(]?(https?://[^\s'"<>;|]+)""", re.IGNORECASE)
_MEMBER = re.compile(r"""([\w$-]+)["']?\s{0,8}(?:=>|[:=])\s{0,8}\Z""")
_COMPARED = re.compile(r"(?:[=!]=|\bin|\bnot in|=~)\s{0,8}\Z")
_JOINED = re.compile(
    r"\s{0,8}(?:\+|%(?!=)|\.\s?(?:format|concat|replace|join)\b|\.\s?[$(\w]+\s?(?:[.;),]|\Z)|[A-Za-z]{0,2}[\"'`])"
)
_JOINED_BEFORE = re.compile(r"(?:\+|[\"'`]\s{1,8})\s{0,8}\Z")
_TEXT_MEMBERS = word_set(
    "origin referer referrer user-agent useragent http https all proxy proxies proxy_url http_proxy https_proxy server "
    "headers header cookies xmlns schema $schema $id description title message comment callback redirect_uri"
)
_DATA_MEMBERS = word_set("json data body payload headers proxies cookies files variables form")
_BASE_MEMBERS = word_set("base_url baseurl baseuri prefixurl base_uri root_url")
_TEXT_CALLS = word_set(
    "print println printf puts echo log info debug warn warning error write assert assertequal startswith startswith? "
    "endswith replace replaceall split match search sub gsub compile includes contains test indexof count find "
    "exception valueerror runtimeerror typeerror addheader setheader add_header set_proxy urlparse urlsplit "
    "stringify dumps b64encode"
)
_METHODS = word_set("post put patch delete options")
_METHOD = re.compile(r"""\bmethod["']?\s{0,4}[:=]\s{0,4}["'](\w{3,8})["']""", re.IGNORECASE)
_FIRST_ARGUMENT = re.compile(r"""\(\s{0,4}["'](\w{3,8})["']\s{0,4},""")
_CALLED_METHOD = re.compile(r"\.(post|put|patch|delete)\(", re.IGNORECASE)
_BODY = re.compile(
    r"[({,]\s{0,40}[\"']?(?:json|data|body|files|content|payload|form)[\"']?\s{0,4}(?:=>|[:=](?!=))|POSTFIELDS\b",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(
    r"[({,]\s{0,40}[\"']?(?:params|query|searchParams)[\"']?\s{0,4}[:=](?!=)|\bURLSearchParams\b|\burlencode\b"
)


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


def names_client(text: str) -> bool:
    return _CLIENTS.search(text) is not None


def targets(code: str, language: str, context: str = "") -> list[Target]:
    """What the program fetches. `context`: further words of its command line, which may name a client."""
    code = code[:MAX_PROGRAM]
    if "://" not in code or not (names_client(code) or names_client(context)):
        return []
    strings, ends, commands = _scan(code, language)
    found = [target for string in strings if (target := _target(code, language, string, ends)) is not None]
    for command in commands:
        found += (Target(re.sub(r"\{[^{}]*\}|\$\w+|%[sd]", HOLE, url)) for url in _URL_INSIDE.findall(command))
    return found


def _scan(code: str, language: str) -> tuple[list[_String], dict[int, int], list[str]]:
    """The strings that begin as a URL and may be fetched, where each call's parenthesis closes, and shell commands."""
    commands: list[str] = []
    pattern = _HASH if language in _HASH_COMMENTS else _OTHER if language == "php" else _SLASHES
    stack: list[tuple[str, str, int]] = []  # bracket, the name or member before it, its position
    ends: dict[int, int] = {}
    strings: list[_String] = []
    name, name_end = "", -1
    for token in pattern.finditer(code):
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
            elif _URL.match(string[1]) and not _is_text(code, start, end, stack):
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


def _target(code: str, language: str, string: _String, ends: dict[int, int]) -> Target | None:
    member = _member(code, string.start)
    url = _interpolated(string, language)
    assigned = bool(member) and not (string.call >= 0 and member.lower() in ("url", "uri", "href"))
    inside = code[string.call : ends.get(string.call, len(code))] if string.call >= 0 else code
    formatted = (
        _JOINED.match(code, string.end) is not None
        or _JOINED_BEFORE.search(code, max(0, string.start - 16), string.start) is not None
        or member.lower() in _BASE_MEMBERS
        or string.callee.rpartition(".")[2] in ("urljoin", "create", "session")
        or (assigned and string.call < 0 and _is_composed(code, member))
        or _PARAMETERS.search(inside) is not None
    )
    if formatted:
        return Target(url if HOLE in url else url + "/" + HOLE if url.count("/") == 2 else url + HOLE)
    method = _method(string.callee, inside)
    if method == "GET" and not _BODY.search(inside):
        return Target(url)
    if method == "GET":
        method = "POST"
    literal = " ".join(inside.split()) if string.call >= 0 else code
    return Target(url, method, literal if string.call < 0 or not _names_variables(inside) else code)


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
    escaped = re.escape(name)
    return (
        re.search(
            rf"\{{\s?{escaped}\s?\}}|\{{\$?{escaped}|(?<![\w$]){escaped}\s?(?:\+|%|\.format|\.concat)|\+\s?{escaped}\b"
            rf"|urljoin\(\s?{escaped}|\bnew URL\([^,()]{{1,80}},\s?{escaped}",
            code,
        )
        is not None
    )


def _method(callee: str, inside: str) -> str:
    last = callee.rpartition(".")[2]
    if last in _METHODS:
        return last.upper()
    first = _FIRST_ARGUMENT.match(inside) if last in ("request", "open", "stream", "run_request") else None
    found = first or _METHOD.search(inside) or _CALLED_METHOD.search(inside)
    if found is None:
        return "GET"
    method = found[1].upper()
    return "GET" if method == "HEAD" else method


def _names_variables(call: str) -> bool:
    """Whether a body is given by name, so that the call alone does not tell it."""
    return (
        re.search(r"\b(?:json|data|body|files|content)[\"']?\s{0,4}[:=]\s{0,4}[A-Za-z_]\w*\s{0,4}[,)}\n]", call)
        is not None
    )
