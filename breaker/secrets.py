"""Secrets inside JSON values and shell commands, and the pseudonyms that stand in for them.

A pseudonym is a keyed digest: under one key equal secrets have equal pseudonyms, different secrets different
ones, and none can be read back. It is one plain word, so that a masked command is read by a shell, and a masked URL by
a URL parser, exactly as before. What is masked already stays as it is.

Found are: userinfo in URLs, authorization headers and cookies, values given to a secret name (`TOKEN=…`,
`--password …`, `"apiKey": "…"`), credentials of curl's `-u`, private keys, and tokens of well-known shapes.
References to a secret (`$TOKEN`, `{token}`) are none. Every pass is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

Pseudonym = Callable[[str], str]

# How a secret name ends once case and separators are gone: GITHUB_TOKEN, accessToken, X-Api-Key, PGPASSWORD.
SECRET_ENDINGS = (
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "clientsecret",
    "cookie",
    "credential",
    "credentials",
    "encryptionkey",
    "masterkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signingkey",
    "subscriptionkey",
    "token",
)
SECRET_WHOLE = frozenset({"auth", "bearer", "oauth2bearer", "proxyuser", "sig", "xamzsignature", "xgoogsignature"})
# What may follow such an ending and leaves the value a secret; `token_url` and `secret_name` are none.
SECRET_SUFFIXES = (
    "base",
    "base64",
    "data",
    "dev",
    "new",
    "old",
    "prod",
    "ro",
    "rw",
    "staging",
    "test",
    "value",
)
# How variables of the environment end that hold a secret, beside those.
_ENVIRONMENT_ENDINGS = ("_KEY", "_PASS", "_PWD")
# Some part of every name above, lower case: what a text must contain to be worth a closer look.
HINTS = (
    "token",
    "secret",
    "passw",
    "passphrase",
    "_pass",
    "_pwd",
    "key",
    "auth",
    "cookie",
    "credential",
    "bearer",
    "proxy",
    "sig=",
    "signature",
)
# Headers whose whole line is the secret.
LINE_NAMES = frozenset({"authorization", "proxyauthorization", "cookie", "setcookie"})

LONGEST_NAME = 128

_SEPARATORS = re.compile(r"[\W_]+")
_REST = re.compile(r"[\w-]{0,128}")
# After a name: its closing quote and bracket, the separator (or blanks, after an option), an opening quote.
_TO_VALUE = re.compile(
    r"""(?P<closed>\\?["']\]?)?
    (?:[ ]{0,8}(?P<sep>:=|={1,2}>?|:)(?P<blank>[ \t]{0,8})|[ ]{1,8}(?![-=:]))
    (?P<open>\\?["'])?""",
    re.VERBOSE,
)
_VALUE = {
    '"': re.compile(r'[^"\\\n]*(?:\\.[^"\\\n]*)*'),
    "'": re.compile(r"[^'\n]*"),
    '\\"': re.compile(r'[^"\\\n]*'),
    "\\'": re.compile(r"[^'\\\n]*"),
    "=": re.compile(r"""(?:[^\s"'&;|<>()`\\]|\\[^"'nrt\s])*"""),
    ":": re.compile(r"""[^\s"'&;|<>()`\\,}\]]*"""),
    "line": re.compile(r"""[^"'\\\r\n]*"""),
}
_SCHEME = re.compile(r"(?:apikey|aws4-hmac-sha256|basic|bearer|digest|negotiate|oauth|token)[ \t]+", re.IGNORECASE)
# No secrets: nothing, references and placeholders, constants, addresses (their own secrets are found apart).
_PLAIN = re.compile(
    r"[$<{%*]|//|https?://|\Z|(?:true|false|null|none|nil|undefined|str|string|bytes|\.{3})\Z|secret-[0-9a-f]{12}\Z",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"""://((?:[^\s/?#'"<>\\@]*@)+)""")
# user:password@host without a scheme, as curl takes it; an image's `name:tag@sha256:…` is none
_BARE_USERINFO = re.compile(
    r"""(?<![\w.+%/:@$-])([\w.+%-]{1,64}:[^\s@/:'"\\$]{1,64})@(?!sha\d)(?=[\w-]{1,63}\.\w|localhost\b|\[)"""
)
_CLIENTS = ("curl", "wget", "http")  # programs that take credentials in short options
_CLIENT_USER = re.compile(
    r"""(?<!\S)(?:-[A-Za-z0-9#]{0,8}[uU]|-a|--user|--http-user|--proxy-user)[ \t=]?[ \t]*["']?[^\s"':/]*:([^\s"']+)"""
)
_CLIENT_COOKIE = re.compile(r"""(?<!\S)-[A-Za-z0-9#]{0,8}b[ \t]*["']?[\w.-]{1,64}=([^"'\\\s]+)""")
_BEARER = re.compile(r"(?<![\w-])bearer[ \t]+(?=[\w.~+/=-]*\d)([\w.~+/=-]{16,})", re.IGNORECASE)
_SHAPES = re.compile(
    r"""(?<![\w-])(?:
    gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | glpat-[\w-]{20,} | npm_[A-Za-z0-9]{36} | hf_[A-Za-z0-9]{20,}
    | sk-[\w-]{20,} | xox[abeoprs]-[\w-]{10,} | A[KS]IA[0-9A-Z]{16} | AIza[\w-]{35}
    | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]* | [rs]k_(?:live|test)_\w{16,} | xapp-[\w-]{20,} | pypi-[\w-]{40,}
    | dop_v1_[0-9a-f]{64} | shp(?:at|ca|pa|ss)_[0-9a-f]{32}
    )""",
    re.VERBOSE,
)
_NETRC = re.compile(r"\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}([^\s\"'\\]+)")
_SCRIPT_NAME = re.compile(r"[a-z]{1,16}(?:[-:][a-z]{1,16})*+(?=[\s\"';&|)]|\Z)")
_RUNNER = re.compile(r"\b(?:run(?:-script)?|npm|pnpm|yarn|bun|make|just|task|rake|composer)[ \t]{1,8}\Z")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?!secret-[0-9a-f]{12})([^-]+)")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def pseudonyms(key: bytes) -> Pseudonym:
    """The function that names secrets under `key` (at most 64 bytes): `secret-` and 48 bits of a BLAKE2b."""

    def pseudonym(secret: str) -> str:
        return f"secret-{blake2b(secret.encode('utf-8', 'surrogatepass'), key=key, digest_size=6).hexdigest()}"

    return pseudonym


def is_secret_name(name: str) -> bool:
    """Whether a variable, option, header or member of that name holds a secret."""
    return len(name) <= LONGEST_NAME and _is_secret_name(name)


@lru_cache(maxsize=4096)
def _is_secret_name(name: str) -> bool:
    squeezed = _SEPARATORS.sub("", name).lower().rstrip("0123456789")
    if squeezed in SECRET_WHOLE or squeezed.endswith(SECRET_ENDINGS):
        return True
    if name.endswith(_ENVIRONMENT_ENDINGS) and name.isupper():  # STRIPE_KEY; a `sort_key` is none
        return name != "OLD_PWD"
    return any(
        squeezed.endswith(suffix) and squeezed.removesuffix(suffix).endswith(SECRET_ENDINGS)
        for suffix in SECRET_SUFFIXES
    )


def mask(value: Any, pseudonym: Pseudonym) -> Any:
    """A JSON value with every secret replaced; the same object when there is none."""
    if isinstance(value, str):
        return mask_text(value, pseudonym)
    if isinstance(value, dict):
        return _mask_members(value, pseudonym)
    if isinstance(value, list):
        return _mask_items(value, pseudonym)
    return value


def mask_text(text: str, pseudonym: Pseudonym) -> str:
    """A text (a command, a header, an output, a file's content) with every secret replaced."""
    spans = find_secrets(text)
    if not spans:
        return text
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], pseudonym(text[start:end]))
        done = end
    parts.append(text[done:])
    return "".join(parts)


def redacted(text: str) -> str:
    """A text for a log: every secret replaced by one and the same word, since there is nothing to compare."""
    return mask_text(text, lambda _: "[secret]")


def find_secrets(text: str) -> list[tuple[int, int]]:
    """Where the secrets of a text stand: spans in order that do not overlap."""
    low = text.lower()
    if len(low) != len(text):  # a few letters outside ASCII change their length
        low = text.translate(_ASCII_LOWER)
    spans: list[tuple[int, int]] = []
    if "://" in text and "@" in text:
        for found in _USERINFO.finditer(text):
            if not any(mark in found[1] for mark in "${*"):
                spans.append((found.start(1), found.end(1) - 1))
    hinted = [hint for hint in HINTS if hint in low]
    if hinted:
        spans += _named(text, low, hinted)
        if "bearer" in hinted:
            spans += (found.span(1) for found in _BEARER.finditer(text))
        if "passw" in hinted and "login" in low:
            spans += (found.span(1) for found in _NETRC.finditer(text))
        if "private key-----" in low:
            spans += (found.span(1) for found in _PRIVATE_KEY.finditer(text))
    if "@" in text and ":" in text:
        spans += (found.span(1) for found in _BARE_USERINFO.finditer(text))
    if " -" in text and any(client in low for client in _CLIENTS):
        spans += (found.span(1) for found in _CLIENT_USER.finditer(text))
        spans += (found.span(1) for found in _CLIENT_COOKIE.finditer(text))
    if "_" in text or "-" in text or "eyJ" in text or "IA" in text or "AIza" in text:
        spans += (found.span() for found in _SHAPES.finditer(text))
    return _joined(text, spans)


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without what is no secret, and what overlaps or touches as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if _PLAIN.match(text, start, end):
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _named(text: str, low: str, hinted: list[str]) -> Iterator[tuple[int, int]]:
    """The values of secret names: each hint is widened to its name, then to what that name is given."""
    places = []
    for hint in hinted:
        at = low.find(hint)
        while at >= 0:
            places.append(at)
            at = low.find(hint, at + len(hint))
    done = 0
    read: dict[str, tuple[int, int]] = {}
    for at in sorted(places):
        if at < done:
            continue
        begin = _name_begin(text, at, max(done, at - LONGEST_NAME))
        rest = _REST.match(text, at)
        done = rest.end() if rest else at
        dashed = text[begin:done]
        name = dashed.lstrip("-")
        after = _TO_VALUE.match(text, done)
        if after is None or not (after["sep"] or dashed.startswith("--")) or not is_secret_name(name):
            continue
        if text[begin - 1 : begin] == "$":
            continue  # `$TOKEN = …` compares a reference
        if (after["closed"] or "").endswith("]") and not after["open"]:
            continue  # `a["token"] = b` gives it a variable's value
        start = after.end()
        glued = after["sep"] == ":" and not (after["closed"] or after["blank"] or after["open"])
        if glued and _RUNNER.search(text, max(0, begin - 24), begin) and _SCRIPT_NAME.match(text, start):
            continue  # `npm run auth:check`
        end = _value_end(text, begin, name, after, read)
        scheme = _SCHEME.match(text, start, end)
        if scheme:
            start = scheme.end()
        if end > start and not _PLAIN.match(text, start, end):
            yield start, end
            done = end


def _name_begin(text: str, at: int, lowest: int) -> int:
    while at > lowest and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        at -= 1
    return at


def _value_end(text: str, begin: int, name: str, after: re.Match[str], read: dict[str, tuple[int, int]]) -> int:
    """Where the value ends: at its quote; a header at the quote around it or the end of the line; else at a blank.

    `read` holds how far each form was read already and where its value ended: one that begins inside another ends
    with it, and is not read again.
    """
    form = after["open"]
    if form is None:
        form = ":" if after["sep"] == ":" else "="
        if form == ":" and _SEPARATORS.sub("", name).lower() in LINE_NAMES:
            before = text[begin - 1 : begin]
            if before in ("'", '"'):
                form = f"\\{before}" if text[begin - 2 : begin - 1] == "\\" else before
            else:
                form = "line" if after["blank"] else ":"
    start = after.end()
    reached, end = read.get(form, (0, 0))
    if start >= reached:
        value = _VALUE[form].match(text, start)
        reached = end = value.end() if value else start
        while form == "=" and end > start and text[end - 1] in ",]}":  # of code: `f(password=x, …)`
            end -= 1
        read[form] = reached, end
    return max(start, end)


def _mask_secret(value: Any, pseudonym: Pseudonym) -> Any:
    """What stands under a secret name: a string, a number, or a list of them."""
    if isinstance(value, str):
        scheme = _SCHEME.match(value)
        start = scheme.end() if scheme else 0
        secret = value[start:]
        if _PLAIN.match(secret):
            return mask_text(value, pseudonym)
        return value[:start] + pseudonym(secret)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return pseudonym(repr(value))
    if isinstance(value, list):
        return [_mask_secret(item, pseudonym) for item in value]
    return mask(value, pseudonym)


def _mask_members(members: dict[str, Any], pseudonym: Pseudonym) -> dict[str, Any]:
    # {"name": "Authorization", "value": "…"}: how headers and environments are often listed
    label = members.get("name", members.get("key"))
    labelled = isinstance(label, str) and "value" in members and is_secret_name(label)
    changed: dict[str, Any] = {}
    for name, value in members.items():
        secret = is_secret_name(name) or (labelled and name == "value")
        masked = _mask_secret(value, pseudonym) if secret else mask(value, pseudonym)
        if masked is not value:
            changed[name] = masked
    return {**members, **changed} if changed else members


def _mask_items(items: list[Any], pseudonym: Pseudonym) -> list[Any]:
    masked: list[Any] = []
    same = True
    option = False  # the item before was `--token`: this one is its value
    for item in items:
        secret = option and isinstance(item, str) and not item.startswith("-")
        new = _mask_secret(item, pseudonym) if secret else mask(item, pseudonym)
        same = same and new is item
        masked.append(new)
        option = isinstance(item, str) and item.startswith("--") and is_secret_name(item)
    return items if same else masked
