"""What a shell script does, read off its parsed commands: its class, what it looks at, and how long it sleeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from breaker.evidence.classes import Kind
from breaker.evidence.command_table import (
    DEEDS,
    DEVICES,
    DUMPERS,
    EDITORS,
    FETCHERS,
    FILE_READERS,
    HELP,
    IN_PLACE,
    LISTINGS,
    LOOKS,
    MUTATORS,
    OVERVIEWS,
    SLEEPERS,
    TESTS,
)
from breaker.shell.commands import Reading, Simple
from breaker.shell.programs import family
from breaker.shell.readers import NEUTRAL, READERS, only_reads
from breaker.shell.script import Word
from breaker.word_set import word_set

MAX_COMMANDS = 64
"""Commands of one script that are looked at."""
FURTHEST = 10**9
"""A line behind the last one of any file."""


class Summary(Struct, frozen=True):
    """`strict` is the script without what makes no other action; `loose` what a look looks at, without flags and
    ranges.

    `family` is what failing alike is counted by: the first program that does something. `slept` are the seconds that
    the script itself sleeps. `content`: its words are what is written somewhere, not about it; `writes`: it
    writes that down and then goes on. `target` and `span`
    say which lines of which file are read, as far as the words tell.
    """

    kind: Kind
    strict: str
    loose: str
    family: str
    slept: float = 0.0
    target: str = ""
    span: tuple[int, int] | None = None
    overview: bool = False
    content: bool = False
    writes: bool = False


class _Look(Struct, frozen=True):
    """What one command looks at; `text` is empty for one that only filters."""

    text: str
    target: str = ""
    span: tuple[int, int] | None = None
    overview: bool = False


def summarize(reading: Reading) -> Summary:
    """Read a script that was parsed and unwrapped."""
    commands = reading.commands[:MAX_COMMANDS]
    kinds = [kind_of(simple) for simple in commands]
    acting = [(simple, kind) for simple, kind in zip(commands, kinds, strict=True) if kind is not None]
    looks = [_look(simple) for simple, kind in acting if kind == "read"]
    reads = [look for look in looks if look.target]
    first = acting[0][0] if acting else commands[0] if commands else None
    place = next((simple.directory for simple in commands if simple.directory), "") or ""
    shown = dict.fromkeys(look.text for look in looks if look.text)
    return Summary(
        kind=_strongest(kinds, commands),
        strict=bare(reading.spelled),
        loose=" ; ".join((place, *shown) if place not in ("", ".") else shown),
        family=_family(first) if first else "",
        slept=sum(_seconds(simple.words[1:]) for simple in commands if simple.program in SLEEPERS),
        target=_within(place, reads[0].target) if len(reads) == 1 else "",
        span=reads[0].span if len(reads) == 1 else None,
        overview=bool(looks) and all(look.overview for look in looks),
        content=any(_is_content(simple) for simple in commands),
        writes=any(_writes_down(simple, kind) for simple, kind in acting[:-1]),
    )


_NO_ACTION: tuple[tuple[str, re.Pattern[str]], ...] = (
    # what changes only what is shown, or nothing: a sign that it has, and the expression
    ("cd .", re.compile(r"(?:(?<=\A)|(?<=&& )|(?<=; ))cd \.(?: &&| ;|\Z) ?")),
    (">", re.compile(r" (?:2>&1|&>/dev/null|[12]?>/dev/null|2>>?/dev/null)(?=[ )]|\Z)")),
    (
        " |",
        re.compile(r" \|&? (?:head|tail|less|more|cat|bat)(?: -[\w=+-]{1,20}+| \+?\d{1,9}+)*+(?= (?:&&|\|\||;|\|)|\Z)"),
    ),
    ("|| true", re.compile(r" \|\| true\Z")),
    (" :", re.compile(r" (?:\|\||;|&&) :\Z")),
    ("; true", re.compile(r" ; true\Z")),
    ("exit 0", re.compile(r" (?:\|\||;|&&) exit 0\Z")),
    ("./", re.compile(r"(?<= )\./(?=\w)|\A\./(?=\w)")),
)


def bare(spelled: str) -> str:
    """The canonical spelling of a script without pagers, silenced streams, `cd .`, `|| true` and leading `./`."""
    for sign, pattern in _NO_ACTION:
        if sign in spelled:
            spelled = pattern.sub("", spelled)
    return spelled


def kind_of(simple: Simple) -> Kind | None:
    """The class of one command; `None` when it neither shows nor does anything by itself."""
    name = simple.program
    written = any(_writes(redirect.operator, redirect.target) for redirect in simple.redirects)
    if name in TESTS:
        return "read"
    if not name or name in NEUTRAL or name in SLEEPERS:
        return "mutate" if written else None
    row = family(name)
    if row in FILE_READERS and not written and not _reading(row, [word.text for word in simple.words[1:]])[0]:
        return None if not any(redirect.operator[:1] == "<" for redirect in simple.redirects) else "read"
    if row in FETCHERS:
        return "act" if _sends(simple.words) else "read"
    texts = [word.text for word in simple.words[1:]]
    table = DEEDS.get(row)
    if table is not None:
        if row == "gh" and texts[:1] == ["api"]:
            return "act" if _sends(simple.words) else "read"
        if only_reads((_silent(simple),)):
            return "mutate" if written else "read"
        known = _of_subcommand(table, texts)
        if known is not None:
            return known
        return "read" if _asks_help(texts) else table.get("", "run")
    if name in MUTATORS:
        return "mutate"
    if only_reads((_silent(simple),)) or name in LOOKS:
        return "mutate" if written else "read"
    if name in READERS:
        return "mutate"  # a reader that does not only read: `sed -i`, `find -delete`
    return "read" if _asks_help(texts) else "run"


def _strongest(kinds: Sequence[Kind | None], commands: Sequence[Simple]) -> Kind:
    for kind in ("mutate", "act", "run", "read"):
        if kind in kinds:
            return kind
    moves = [simple for simple in commands if simple.program in ("cd", "pushd", "popd")]
    return "read" if commands and len(moves) == len(commands) else "wait"


def _silent(simple: Simple) -> Simple:
    return Simple(simple.program, simple.words) if simple.redirects else simple


def _of_subcommand(table: dict[str, Kind], texts: Sequence[str]) -> Kind | None:
    words = _operands(texts)
    for length in (2, 1):
        known = table.get(" ".join(words[:length])) if len(words) >= length else None
        if known is not None:
            return known
    return None


_VALUED = word_set("-C -c -n -R -f -p --namespace --context --repo --git-dir --work-tree -H --host")


def _operands(texts: Sequence[str]) -> list[str]:
    """The first words that are no options: sub-command and sub-sub-command."""
    found: list[str] = []
    skip = False
    for text in texts:
        if skip:
            skip = False
        elif text[:1] == "-":
            if found:
                break
            skip = text in _VALUED
        else:
            found.append(text)
            if len(found) == 2:
                break
    return found


def _is_content(simple: Simple) -> bool:
    """Whether a command's words are content: a heredoc, what goes into a file, a script that edits one."""
    if simple.program in EDITORS:
        return True
    return simple.stdin is not None or any(_writes(redirect.operator, redirect.target) for redirect in simple.redirects)


def _writes_down(simple: Simple, kind: Kind) -> bool:
    """Whether a command writes content into a file, which hardly fails."""
    return kind == "mutate" and (
        simple.program in IN_PLACE or any(_writes(redirect.operator, redirect.target) for redirect in simple.redirects)
    )


def _asks_help(texts: Sequence[str]) -> bool:
    return not HELP.isdisjoint(texts)


# -- looks ----------------------------------------------------------------------------------------------------

_LINES = re.compile(r"(\d{1,9})(?:,(\+?)(\d{1,9}|\$))?p;?(?:\d{0,9}q)?\Z")
_AWK_LINES = re.compile(r"NR ?(>=|<=|==|>|<) ?(\d{1,9})(?: ?&& ?NR ?<=? ?(\d{1,9}))?(?: ?\{ ?print ?\})?\Z")
_NUMBER = re.compile(r"[-+]?\d{1,9}[kKmMbB]?\Z")
_NAMED = frozenset({"-name", "-iname", "-regex", "-iregex", "-wholename", "-path", "-ipath", "-newer"})


def _look(simple: Simple) -> _Look:
    name = simple.program
    texts = [word.text for word in simple.words[1:]]
    row = family(name)
    if row in OVERVIEWS and _is_overview(OVERVIEWS[row], texts):
        return _Look(f"{row} overview", overview=True)
    if row in FILE_READERS:
        files, span = _reading(row, texts)
        if len(files) == 1:
            return _Look(f"read {files[0]}", files[0], span)
        return _Look(f"read {' '.join(files)}" if files else "")
    if row in LISTINGS:
        places = [_plain(text) for text in _places(texts)]
        named = [after for text, after in pairwise(texts) if text in _NAMED and not after.startswith("*/")]
        return _Look(" ".join(("list", *(places or ["."]), *(sorted(named) if row == "find" else ()))))
    return _Look(" ".join((name, *(_plain(text) for text in texts if text[:1] != "-"))))


def _is_overview(table: dict[str, frozenset[str]], texts: Sequence[str]) -> bool:
    words = _operands(texts)
    needed = table.get(words[0]) if words else None
    return needed is not None and (not needed or not needed.isdisjoint(text.partition("=")[0] for text in texts))


def _places(texts: Sequence[str]) -> list[str]:
    places: list[str] = []
    for text in texts:
        if text[:1] in ("-", "(", "!") or text == "\\(":
            if places:
                break
        elif not _NUMBER.match(text):
            places.append(text)
    return places


def _reading(row: str, texts: Sequence[str]) -> tuple[list[str], tuple[int, int] | None]:
    """The files that a command shows, and which of their lines."""
    files: list[str] = []
    span: tuple[int, int] | None = None
    if row in DUMPERS:
        span = _dumped(texts)
    script = row in ("sed", "awk")
    before = ""
    for text in texts:
        if text[:1] == "-" and len(text) > 1:
            if row == "head" and text[1:].isdigit():
                span = (1, min(int(text[1:]), FURTHEST) + 1)
            before = text
            continue
        if row in DUMPERS and before in _WHERE:
            before = text
            continue
        if before in ("-n", "--lines", "-c", "--bytes") and row in ("head", "tail"):
            if row == "head" and before in ("-n", "--lines") and text.isdigit() and len(text) < 10:
                span = (1, int(text) + 1)
        elif script:
            span = _script_span(text) or span
            script = False
        elif not _NUMBER.match(text):
            files.append(_plain(text))
        before = ""
    return files, span


_WHERE = {"-s": 0, "-j": 0, "--skip": 0, "--skip-bytes": 0, "-l": 1, "-n": 1, "-N": 1, "--length": 1, "--read-bytes": 1}


def _dumped(texts: Sequence[str]) -> tuple[int, int] | None:
    """The bytes that a dump shows: where it begins, and how many."""
    found: list[int | None] = [None, None]
    for before, text in pairwise(texts):
        at = _WHERE.get(before)
        if at is not None and _OFFSET.match(text):
            found[at] = int(text, 0)
    start, length = found
    return (start, start + length) if start is not None and length else None


_OFFSET = re.compile(r"(?:0x[0-9a-fA-F]{1,12}|[1-9]\d{0,11}|0)\Z")


def _script_span(text: str) -> tuple[int, int] | None:
    """The lines that a script of sed or awk shows, when that is all it does."""
    found = _LINES.match(text)
    if found:
        start = int(found[1])
        if found[3] is None:
            return start, start + 1
        end = FURTHEST if found[3] == "$" else (start if found[2] else 0) + int(found[3])
        return start, max(end, start) + 1
    found = _AWK_LINES.match(text)
    if found and found[1] in ("<=", "<") and not found[3]:
        return 1, int(found[2]) + 1
    if found and found[1] in (">=", ">"):
        return int(found[2]), int(found[3] or FURTHEST) + 1
    return None


# -- words ----------------------------------------------------------------------------------------------------

_BODIES = word_set(
    "-d --data --data-raw --data-binary --data-urlencode --json -F --form --form-string -T --upload-file -f --field "
    "--raw-field --input --post-data --post-file --body-data --body-file"
)
_BODY_PREFIXES = ("--data=", "--data-raw=", "--json=", "--post-data=", "--body-data=", "--form=")
_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_SENDING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


def _sends(words: Sequence[Word]) -> bool:
    """Whether a fetcher sends something: a body, or a method that is not for reading."""
    texts = [word.text for word in words[1:]]
    if "-G" in texts or "--get" in texts:
        return False
    for at, text in enumerate(texts):
        if text in ("-X", "--request", "--method"):
            if at + 1 < len(texts) and texts[at + 1].upper() not in _READING_METHODS:
                return True
        elif text.startswith(("-X", "--request=", "--method=")):
            method = text.partition("=")[2] or text[2:]
            if method.upper() not in _READING_METHODS:
                return True
        elif text in _BODIES or text.startswith(_BODY_PREFIXES) or (text in _SENDING_METHODS and at < 2):
            return text != "-f" or words[0].text != "curl"
    return False


def _writes(operator: str, target: Word | None) -> bool:
    return (
        ">" in operator and target is not None and target.text not in DEVICES and not _is_stream(operator, target.text)
    )


def _is_stream(operator: str, target: str) -> bool:
    return operator == ">&" and (target.isdigit() or target == "-")


def _family(simple: Simple) -> str:
    operands = _operands([word.text for word in simple.words[1:]]) if family(simple.program) in DEEDS else []
    return " ".join((simple.program, *operands[:1]))


def _within(place: str, path: str) -> str:
    return path if path[:1] in ("/", "~") or place in ("", ".") else f"{place.rstrip('/')}/{path}"


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """A path or name without what does not change it: `./x` is `x`, `x/` is `x`."""
    while text.startswith("./") and len(text) > 2:
        text = text[2:]
    return text.rstrip("/") or text


_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)\Z")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _seconds(words: Sequence[Word]) -> float:
    """What `sleep`, or PowerShell's `Start-Sleep`, sleeps, in seconds."""
    found = (_DURATION.match(word.text) for word in words)
    seconds = sum(float(match[1]) * _UNITS[match[2]] for match in found if match)
    return seconds / 1000 if any(word.text.startswith("-m") for word in words) else seconds
