"""Takes out of a text what differs from try to try although nothing happened.

A token is blanked for its shape (a time, a uuid) or for the label before it (`pid`, `request id`). Small ids and
plain numbers stay: the next job of a queue is news. The cost is bounded by the length of what is looked at, and
every expression is linear.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise

HEAD = 6_000
TAIL = 2_000
"""Characters of a long text that are blanked, from its beginning and its end. Of what is between, only a digest
without its digits counts: it tells other words, not other numbers."""

SAMPLE = 32_000
_SLICE = 500
"""Of what is between, so much is read at most, in slices."""

BLANK = "~"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,256}+(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SPINNERS = re.compile("[⠀-⣿◐-◓◴-◷▏▎▍▌▋▊▉█░▒▓■□▪▫●○]++")

_UNIT = r"(?:[nuµμm]?s|secs?|seconds?|msecs?|millis(?:econds)?|mins?|minutes?|hrs?|hours?|m|h)"

_SHAPES: tuple[tuple[str, str], ...] = (
    # times of day, and dates with one; a date alone is content
    (
        "timestamp",
        r"\d{3}[-/]\d\d[-/]\d\d[t ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?: ?(?:z|utc|gmt|[+-]\d\d:?\d\d))?",
    ),
    ("compact time", r"\d{7}[t_-]\d{4,6}z?(?!\w)"),
    ("clock", r"\d?:[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?(?: ?[ap]m)?| ?[ap]m|(?<=[ \[\n(]\d\d:\d\d))(?![\d:])"),
    ("epoch", r"(?<=1)[5-9]\d{8}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?![\w.])"),
    # durations
    (
        "duration",
        rf"\d{{0,8}}(?:[.,]\d{{1,9}})? ?{_UNIT}(?: ?\d{{1,3}}(?:\.\d{{1,9}})? ?{_UNIT}){{0,3}}(?![\w/])",
    ),
    # identifiers that nobody chose
    ("address", r"(?<=0)x[0-9a-f]{4,32}(?!\w)"),
)
"""Volatile tokens by their shape, in lower case and without their first digit; tried in this order."""

_NUMBER = r"\d"
_LARGE = r"\d{3}"
_ANYTHING = r""
_HIGH_PORT = r"(?:3[3-9]|[4-6]\d)\d{3}(?!\d)"
_ELEMENT = r"[a-z]{0,2}\d"

_LABELS: tuple[tuple[str, str], ...] = (
    ("pid", _NUMBER),
    ("ppid", _NUMBER),
    ("pgid", _NUMBER),
    ("process", _LARGE),
    ("process id", _NUMBER),
    ("worker", _LARGE),
    ("thread", _LARGE),
    ("attempt", _NUMBER),
    ("retry", _NUMBER),
    ("retries", _NUMBER),
    ("port", _HIGH_PORT),
    ("session", r"(?:[a-z]{1,20}-[a-z]|[a-z]{0,20}\d)"),
    ("nonce", _ANYTHING),
    ("etag", _ANYTHING),
    ("csrf", _ANYTHING),
    ("csrf_token", _ANYTHING),
    ("csrf-token", _ANYTHING),
    ("cursor", _ANYTHING),
    ("ref", _ELEMENT),
    ("uid", _NUMBER),
    ("nodeid", _NUMBER),
)
"""Labels whose value is volatile, as in `pid 812` and `[ref=e12]`, and what the value must begin with. The numbers of
ports are volatile in the range that systems hand out."""

_ID_OF = (
    "request",
    "req",
    "message",
    "msg",
    "trace",
    "span",
    "correlation",
    "transaction",
    "delivery",
    "event",
    "invocation",
    "chunk",
)
"""What goes before `id`, `_id`, `-id` or ` id` to make such a label: `request_id=…`."""

# Each begins with what is quickly looked for, a sign or a digit, and looks back from there.
_SHAPE = re.compile(rf"\d(?<![\w.:]\d)(?:{'|'.join(shape for _, shape in _SHAPES)})")
_VALUE = r"(\"?'? ?[:=#]? ?[\"'(#]?)(?<!\w)(?={})[\w.:/+=-]{{1,200}}+"
_LABELLED = (
    *((label, re.compile(rf"{label}(?<![\w-]{label}){_VALUE.format(value)}")) for label, value in _LABELS),
    ("id", re.compile(rf"id(?:{'|'.join(f'(?<={of}id)|(?<={of}[ _-]id)' for of in _ID_OF)}){_VALUE.format('')}")),
)
_TEMP = tuple(
    (hint, re.compile(expression))
    for hint, expression in (
        ("/tmp/", r"/tmp/[\w.@%+=:,/~-]{1,200}+"),
        ("/var/folders/", r"/var/folders/[\w.@%+=:,/~-]{1,200}+"),
        ("tmp", r"tmp(?<![\w/]tmp)[._-]?(?=[a-z_]{0,39}\d)[\w-]{6,40}+"),
    )
)
_IDS = re.compile(r"[a-zA-Z0-9](?<![\w.-].)(?=[\w-]{0,40}\d)[\w-]{6,63}+(?![\w]|\.\w)")
_PORTS = re.compile(r":(?<=[\w\]]:)(?:3[3-9]|[4-6]\d)\d{3}(?!\d)")
_JOB = re.compile(r"^\[\d{1,3}\] \d{2,8}$", re.MULTILINE)
_BLANKS = re.compile(r"  ++")
_NO_NUMBERS = str.maketrans("", "", "0123456789.,")
_LONG_NUMBERS = re.compile(r"\d{4,}+")
_APART = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in "-_."}
"""Sets the words of an ASCII text apart: what stands between them becomes a blank."""
_AS_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_HEX = frozenset("0123456789abcdefABCDEF")


def clip(text: str) -> str:
    """The beginning and the end of a long text, with a digest of what is between."""
    if len(text) <= HEAD + TAIL:
        return text
    between = _sample(text).encode("utf-8", "surrogatepass").translate(None, b"0123456789")
    mark = blake2b(between, digest_size=8).hexdigest().translate(_AS_LETTERS)
    return f"{text[:HEAD]}\n={mark}=\n{text[-TAIL:]}"


def _sample(text: str) -> str:
    """What is between head and tail; of very much, slices at even distances."""
    length = len(text) - HEAD - TAIL
    if length <= SAMPLE:
        return text[HEAD:-TAIL]
    slices = SAMPLE // _SLICE
    apart = (length - _SLICE) // (slices - 1)
    return "".join(text[HEAD + n * apart : HEAD + n * apart + _SLICE] for n in range(slices))


def blank(text: str) -> str:
    """The text in lower case with its volatile tokens blanked. One of which no word would be left stays as it was."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = last_frame(text)
    if not text.isascii():
        text = _SPINNERS.sub("", text)
    # Whether a token is random shows in its upper and lower case, so ids go first.
    blanked = _without_ids(text).lower()
    for hint, temporary in _TEMP:
        if hint in blanked:
            blanked = temporary.sub(BLANK, blanked)
    if blanked.startswith("[") or "\n[" in blanked:
        blanked = _JOB.sub(BLANK, blanked)
    for label, labelled in _LABELLED:
        if label in blanked:
            blanked = labelled.sub(rf"{label}\1{BLANK}", blanked)
    blanked = _SHAPE.sub(BLANK, blanked)
    if ":" in blanked:
        blanked = _PORTS.sub(f":{BLANK}", blanked)
    for other in "\t\r\f\v":
        blanked = blanked.replace(other, " ")
    blanked = _BLANKS.sub(" ", blanked).strip()
    return blanked if not text or _has_content(blanked) else text.strip()


def bones(text: str) -> str:
    """A blanked text without its numbers: equal for answers that differ by numbers alone."""
    return text.translate(_NO_NUMBERS)


def frame(text: str) -> str:
    """A blanked text without its long numbers: equal for answers to a deed that differ by the number it was given."""
    return _LONG_NUMBERS.sub("#", text)


def last_frame(text: str) -> str:
    """What a terminal would show: of a line that was written over, the last writing."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


@lru_cache(4096)
def is_random(token: str) -> bool:
    """Whether a token looks like nobody chose it: digits and letters in turn, or a long run of hex digits."""
    plain = token.replace("-", "").replace("_", "")
    if _HEX.issuperset(plain):
        return len(plain) >= 7 and (plain[0] == "0" or not (plain.isdigit() or plain.isalpha()))
    if plain.isdigit() or plain.isalpha():
        return False
    last = token.replace("-", "_").rpartition("_")[2]
    part = last if len(last) >= 8 and not (last.isdigit() or last.isalpha()) else ""
    return _turns(part or plain) >= (3 if len(part) >= 16 else 4) and len(part or plain) >= 10


def _turns(token: str) -> int:
    """How often letters and digits take turns in a token."""
    return sum(1 for a, b in pairwise(token) if a.isdigit() != b.isdigit())


def _without_ids(text: str) -> str:
    """The text with the ids blanked that nobody chose."""
    if text.isascii():
        # Most words come again and few hold a digit: to look at those alone takes a third of the time.
        words = set(text.translate(_APART).split())
        may_be_ids = " ".join(word for word in words if len(word) > 6 and not word.isalpha())
        if not any(map(is_random, _IDS.findall(may_be_ids))):
            return text
    return _IDS.sub(_random_id, text)


def _random_id(found: re.Match[str]) -> str:
    return BLANK if is_random(found[0]) else found[0]


def _has_content(text: str) -> bool:
    return any(map(str.isalnum, text))
