"""Two keys of a call: the strict one says that it is the same action, the loose one that it is much the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from zlib import crc32

import msgspec

from breaker.events import Annotations
from breaker.evidence import classes
from breaker.evidence.classes import Kind
from breaker.evidence.commands import FURTHEST, Summary, summarize
from breaker.evidence.facts import Facts
from breaker.shell.commands import Reading
from breaker.word_set import word_set

MAX_WORDS = 64
"""Words of free text that are remembered of one call."""
MAX_DEPTH = 20
MAX_TEXT = 8_000
"""Characters of a free text that are looked at."""

PAGING = word_set(
    "offset limit page pageno pagenumber pagesize perpage cursor after before start end startline endline linestart "
    "lineend "
    "startindex endindex line lines viewrange range maxresults maxlines headlimit count size skip take top first "
    "last from to "
    "depth maxdepth contextlines timeout timeoutms maxtokens maxlength maxchars nextcursor pagetoken"
)
"""Arguments that say how much of a thing is shown, lower case without `_` and `-`."""

UNTOLD = word_set(
    "timeout timeoutms yieldtimems maxoutputtokens requestid traceid spanid correlationid idempotencykey nonce "
    "toolcallid "
    "callid invocationid messageid clientmutationid timestamp justification reason explanation rationale reasoning "
    "purpose intent "
    "waitformsbeforeasync delayms"
)
"""Arguments that make no other action of any tool."""

_FILES = (
    "file_path",
    "filePath",
    "path",
    "file",
    "filename",
    "absolute_path",
    "target_file",
    "notebook_path",
    "uri",
    "url",
)
_SEARCHES = frozenset({"pattern", "query", "regex", "search", "glob", "q", "include"})
_SPANS = (
    ("start_line", "end_line"),
    ("startLine", "endLine"),
    ("line_start", "line_end"),
    ("start", "end"),
    ("from", "to"),
)
_DESCRIBED = frozenset({"element", "name", "label", "selector", "description", "role"})
_NAMES = frozenset(
    {"element", "name", "label", "selector", "role", "key", "id", "target", "to", "title", "subject", "url", "path"}
)
"""Arguments whose text names a thing, however long it is."""
_REFERENCES = frozenset({"ref", "uid", "node_id", "nodeid", "backendnodeid", "bid", "index"})
_POINT = 32
"""Points of a screen that are nearer than this, in pixels, are about the same."""
_POINTS = frozenset({"coordinate", "coordinates", "position", "point", "x", "y", "start_coordinate"})

_PROSE_WORDS = 3
_WORD = re.compile(r"[^\W\d_]{3,}")
_NAMING = re.compile(r"\d{3,}+")
_TOKEN = re.compile(r"\S+")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,16}Z?|(?<!\d)1[5-9]\d{8}(?:\d{3})?(?!\d)")
_URL_PAGING = re.compile(
    r"(?<=[?&])(?:page|per_page|offset|limit|cursor|start|after|before|_|t|ts|cb|nocache|rand|nonce|v)=[^&#\s'\"]{0,200}&?"
)
_CODE = re.compile(r"[(){}\[\]=;]")


def describe(
    tool: str,
    arguments: Any,
    annotations: Annotations | None = None,
    *,
    reading: Reading | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> Facts:
    """The facts of a call. `reading` is that of a shell call; `kinds` what settings say of tools."""
    if reading is not None and reading.commands:
        return _of_shell(tool, summarize(reading), annotations, kinds)
    kind = classes.of_tool(tool, arguments, annotations, kinds)
    members = arguments if isinstance(arguments, dict) else {"": arguments}
    strict = _canonical({name: value for name, value in members.items() if _name(name) not in UNTOLD})
    words: list[int] = []
    loose = _loosen(members, kind, words)
    spelled = _canonical(loose)
    target = _target(members) if kind in ("read", "poll") and _SEARCHES.isdisjoint(members) else ""
    return Facts(
        tool=tool,
        kind=kind,
        strict=digest(f"{tool} {strict}"),
        loose=digest(f"{tool} {kind} {spelled}"),
        family=tool,
        template=_template(tool, spelled) if kind == "read" else "",
        words=tuple(words[:MAX_WORDS]),
        target=digest(target) if target else "",
        span=_span(members) if target else None,
        slept=_pause(members) if kind in ("wait", "poll", "other") else 0.0,
        incremental=(kind == "act" and classes.is_incremental(tool, arguments))
        or (kind == "mutate" and classes.is_portion(members)),
        pointed=_is_described(members) and any(key.lower() in _REFERENCES for key in members),
        content=kind == "mutate" or (kind == "act" and classes.is_of_person(tool)),
    )


def _of_shell(tool: str, summary: Summary, annotations: Annotations | None, kinds: Mapping[str, Kind] | None) -> Facts:
    kind = summary.kind
    hinted = classes.of_tool(tool, None, annotations, kinds) if annotations or kinds else None
    if hinted is not None and (kinds and tool.lower() in kinds):
        kind = hinted
    looks = kind == "read"
    words: list[int] = []
    if looks:
        loose = _URL_PAGING.sub("", _STAMP.sub("~", f"look {summary.loose}"))
    elif summary.content:
        loose = f"{tool} {summary.strict}"
    else:
        loose = f"{tool} {_prose_out(summary.strict, words)}"
    return Facts(
        tool=tool,
        kind=kind,
        strict=digest(f"shell {summary.strict}"),
        loose=digest(loose),
        family=f"{tool} {summary.family[:40]}",
        template=_template("", loose) if looks else "",
        words=tuple(words[:MAX_WORDS]),
        target=digest(summary.target) if summary.target else "",
        span=summary.span,
        slept=summary.slept,
        overview=summary.overview,
        shell=True,
        content=summary.content,
        writes=summary.writes,
    )


def digest(text: str) -> str:
    """16 hexadecimal digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def word_ids(text: str) -> list[int]:
    """Digests of the words of a text, each once, in order."""
    return [crc32(word.encode()) for word in dict.fromkeys(_WORD.findall(text[:MAX_TEXT].lower()))]


def mark(text: str) -> str:
    """What stands for a free text in a loose key: the long numbers in it, which name things that no wording changes."""
    return " ".join(("¶", *_NAMING.findall(_STAMP.sub("", text[:MAX_TEXT]))))


def is_prose(text: str) -> bool:
    """Whether a text is free text: three words and more, and no code."""
    if " " not in text or len(text) < 8:
        return False
    head = text[:400]
    if len(_TOKEN.findall(head)) < _PROSE_WORDS:
        return False
    return len(_CODE.findall(head)) * 12 <= len(head)


def _loosen(value: Any, kind: Kind, words: list[int], name: str = "", depth: int = 0) -> Any:
    """The arguments without paging, times and references, and with a mark for each free text."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, dict):
        described = _is_described(value)
        return {
            key: _loosen(member, kind, words, key, depth + 1)
            for key, member in value.items()
            if _name(key) not in UNTOLD
            and not (kind in ("read", "poll") and _name(key) in PAGING)
            and not (described and key.lower() in _REFERENCES)
        }
    if isinstance(value, list):
        return [_loosen(member, kind, words, name, depth + 1) for member in value[:200]]
    if isinstance(value, str):
        if name.lower() not in _NAMES and is_prose(value):
            words.extend(word_ids(value))
            return mark(value)
        return _URL_PAGING.sub("", _STAMP.sub("~", value)) if kind in ("read", "poll") else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name.lower() in _POINTS and abs(value) < FURTHEST:
            return round(value / _POINT)
        if kind == "bookkeeping":
            return "#"
    if isinstance(value, bool) and kind == "read":
        return None
    return value


def _is_described(members: Mapping[str, Any]) -> bool:
    return any(key.lower() in _DESCRIBED and isinstance(value, str) for key, value in members.items())


def _prose_out(text: str, words: list[int]) -> str:
    """A command line with a mark for each quoted text of three words and more."""

    def out(found: re.Match[str]) -> str:
        quoted = found[0]
        if not is_prose(quoted):
            return quoted
        words.extend(word_ids(quoted))
        return mark(quoted)

    return _QUOTED.sub(out, text[:MAX_TEXT]) + text[MAX_TEXT:]


def _template(tool: str, spelled: str) -> str:
    """A digest of what is looked at without its numbers: one for all of a list that is gone through by number."""
    head = spelled[:MAX_TEXT]
    bare = _NUMBER.sub("#", head)
    return digest(f"{tool} {bare}") if bare != head else ""


_NUMBER = re.compile(r"\d++")
_QUOTED = re.compile(r"'[^'\n]{0,2000}'|\"[^\"\n]{0,2000}\"")


def _canonical(value: Any) -> str:
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except Exception:  # lone surrogates, numbers and depths that JSON does not know
        return repr(value)[:MAX_TEXT]


@lru_cache(maxsize=1024)
def _name(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _target(members: Mapping[str, Any]) -> str:
    for name in _FILES:
        value = members.get(name)
        if isinstance(value, str) and value:
            return value[2:] if value.startswith("./") else value
    return ""


def _span(members: Mapping[str, Any]) -> tuple[int, int] | None:
    """Which lines are asked for, from the arguments: first line, and the line after the last."""
    for first, last in _SPANS:
        if first not in members:
            continue
        start, end = _whole(members.get(first)), _whole(members.get(last))
        if start is not None and end is not None and end >= start >= 0:
            return start, end + 1
    ranged = members.get("view_range") or members.get("range") or members.get("lines")
    if isinstance(ranged, list) and len(ranged) == 2:
        start, end = _whole(ranged[0]), _whole(ranged[1])
        if start is not None and end is not None:
            return start, end + 1 if end >= start else FURTHEST
    offset, limit = _whole(members.get("offset")), _whole(members.get("limit"))
    if offset is not None and limit is not None and limit > 0 and offset >= 0:
        return offset, offset + limit
    return None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < FURTHEST else None


_PAUSES = {"seconds": 1.0, "secs": 1.0, "duration": 1.0, "time": 1.0, "duration_seconds": 1.0, "ms": 0.001,
           "milliseconds": 0.001, "duration_ms": 0.001, "minutes": 60.0}  # fmt: skip
"""Arguments of a waiting tool that say how long, and how many seconds their unit is."""


def _pause(members: Mapping[str, Any]) -> float:
    for name, unit in _PAUSES.items():
        value = members.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**9:
            return float(value) * unit
    return 0.0
