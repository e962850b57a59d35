"""What an http(s) URL identifies: its host, its resource, its registrable site, and whether it is local.

Parsing follows the WHATWG standard (can_ada, imported when the first URL comes by). A URL may hold `HOLE` where a
script puts something that nobody knows before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from breaker.word_set import word_set

HOLE = "\x00"
"""Stands in a text for an expansion whose value is unknown."""

_URL = re.compile(r"https?:[/\\]{2}", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}://", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_AUTHORITY_END = re.compile(r"[/\\?#]")

# curl's manual, "PROTOCOLS": a host name that begins so is asked by that protocol when no scheme is given.
_OTHER_PROTOCOL_HOSTS = ("ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3.")

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_TRACKING = word_set(
    "fbclid gclid gclsrc dclid gbraid wbraid gad_source msclkid yclid ysclid twclid ttclid igshid igsh li_fat_id "
    "mc_cid mc_eid _ga _gl _hsenc _hsmi hsctatracking mkt_tok vero_id vero_conv oly_anon_id oly_enc_id rb_clickid "
    "s_cid wickedid epik sccid irclickid _openstat"
)
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")


class Url(Struct, frozen=True):
    """`host` in its canonical spelling without port; `net` is None when a part of the resource is unknown."""

    host: str
    net: str | None
    local: bool


def looks_like_url(text: str) -> bool:
    """Whether the text begins as an http(s) URL does."""
    return _URL.match(text) is not None


def has_scheme(text: str) -> bool:
    return _SCHEME.match(text) is not None


def with_scheme(text: str) -> str:
    """The URL that curl, wget and httpie make of a host without a scheme; other protocols come back as they are."""
    if has_scheme(text):
        return text
    if text.lower().startswith(_OTHER_PROTOCOL_HOSTS):
        return f"{text.split('.', 1)[0].lower()}://{text}"
    return "http://" + text.lstrip("/")


def describe(text: str, aliases: Mapping[str, str], extra_query: str = "") -> Url | None:
    """What an http(s) URL identifies, or None for anything else. `extra_query` is added to its query."""
    if _URL.match(text) is None:
        return None
    if HOLE in text:
        return _describe_partial(text, aliases, extra_query)
    if HOLE in extra_query:
        known = describe(text, aliases)
        return known and Url(known.host, None, known.local)
    parsed = _parse(text)
    if parsed is None:
        return None
    host = fold_host(parsed.hostname, aliases)
    if not host:
        return None
    path = _unescape(parsed.pathname)
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    net = f"{host}:{parsed.port}{path}" if parsed.port else host + path
    search = parsed.search
    if search or extra_query:
        query = _query("&".join(part for part in (search[1:], extra_query) if part))
        if query:
            net = f"{net}?{query}"
    return Url(host, net, is_local(host))


def fold_host(host: str, aliases: Mapping[str, str]) -> str:
    """One spelling of a host that the parser has read: no trailing dot, no `www.`, aliases followed."""
    host = _plain(host)
    for _ in range(8):  # an alias of an alias, and no endless round
        target = aliases.get(host)
        if target is None or target == host:
            break
        host = _plain(target)
    return host


def canonical_host(host: str) -> str:
    """A host from the settings in the spelling that `fold_host` compares."""
    parsed = _parse(f"http://{host.strip()}/")
    return _plain(parsed.hostname if parsed is not None else host.strip().lower())


def is_local(host: str) -> bool:
    """Loopback, private, link-local and unspecified addresses, and localhost, of a host as the parser writes it."""
    if host.startswith("["):
        return _is_local_ipv6(host[1:-1])
    if host[-1:].isdigit():
        return _is_local_ipv4(host)
    return host == "localhost" or host.endswith(".localhost")


@lru_cache(maxsize=4096)
def site(host: str) -> str:
    """The registrable domain by the Public Suffix List; an IP address or a public suffix stands alone."""
    if host.startswith("[") or (host[-1:].isdigit() and host.replace(".", "").isdigit()):
        return host
    registrable: str | None = _suffixes().privatesuffix(host)
    return registrable or host


def _plain(host: str) -> str:
    if host.endswith("."):
        host = host.rstrip(".")
    if host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host


def _parse(text: str) -> Any:
    import can_ada  # 1.7 ms, and one call in a hundred holds a URL

    try:
        return can_ada.parse(text)
    except (ValueError, TypeError):  # TypeError: a lone surrogate
        return None


@lru_cache(maxsize=1)
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList  # some 60 ms with its build

    return PublicSuffixList()


def _describe_partial(text: str, aliases: Mapping[str, str], extra_query: str) -> Url | None:
    start = text.index("//" if "//" in text[:8] else "\\\\") + 2
    end = _AUTHORITY_END.search(text, start)
    stop = end.start() if end else len(text)
    authority = text[start:stop]
    at = authority.rfind("@")
    if at >= 0:  # userinfo is dropped, whatever it holds
        clean = text[:start] + authority[at + 1 :] + text[stop:]
        if HOLE not in clean:
            return describe(clean, aliases, extra_query)
        return _describe_partial(clean, aliases, extra_query)
    rest = text[stop:]
    if HOLE not in authority:
        known = describe(text[:stop], aliases)
        fragment = rest.find("#")
        if known is not None and 0 <= fragment < rest.index(HOLE):
            return describe(text[: stop + fragment], aliases, extra_query)
        return Url(known.host, None, known.local) if known else None
    name, colon, _ = authority.rpartition(":")
    if colon and HOLE not in name and not name.startswith("["):
        known = describe(text[:start] + name, aliases)
        return Url(known.host, None, known.local) if known else None
    # `https://a.example$path`: what follows a whole name up to the end is a path; `api.$zone` is no name.
    name = authority.rstrip(HOLE)
    if not rest and "." in name and HOLE not in name and name[-1].isalnum():
        known = describe(text[:start] + name, aliases)
        return Url(known.host, None, known.local) if known else None
    return None


def _query(text: str) -> str:
    pairs = []
    for pair in _unescape(text).split("&"):
        name = pair.partition("=")[0].lower()
        if pair and name not in _TRACKING and not name.startswith(_TRACKING_PREFIXES):
            pairs.append(pair)
    pairs.sort()
    return "&".join(pairs)


def _unescape(text: str) -> str:
    """Unreserved characters decoded, other escapes in upper case (RFC 3986, 6.2.2)."""
    return _ESCAPE.sub(_unescape_one, text) if "%" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _is_local_ipv4(host: str) -> bool:
    parts = host.split(".")
    if len(parts) != 4 or not all(part.isdigit() for part in parts):
        return False
    first, second = int(parts[0]), int(parts[1])
    return (
        first in (10, 127)
        or (first == 172 and 16 <= second <= 31)
        or (first, second) in ((192, 168), (169, 254))
        or host == "0.0.0.0"
    )


def _is_local_ipv6(address: str) -> bool:
    if address in ("::", "::1"):
        return True
    if address.startswith("::ffff:") and address.count(":") == 4:  # an IPv4 address, mapped
        high, low = (int(group, 16) for group in address[7:].split(":"))
        return _is_local_ipv4(f"{high >> 8}.{high & 255}.{low >> 8}.{low & 255}")
    first = int(address.split(":", 1)[0] or "0", 16)
    return first & 0xFFC0 == 0xFE80 or first & 0xFE00 == 0xFC00  # link-local fe80::/10, unique local fc00::/7
