"""What a settled call answered: how it went, and what of its text is the same from try to try."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from zlib import crc32

import msgspec

from breaker import failure
from breaker.content import text_of
from breaker.envelope import open_envelope
from breaker.events import Result
from breaker.evidence.answer_table import (
    BLOCKED_HINTS,
    BLOCKED_PAGE,
    DEAD,
    DENIAL_HINTS,
    DENIALS,
    DENIED_CODES,
    ECHOES,
    EMPTY,
    ENDS_IN_AN_ERROR,
    ERROR_KEYS,
    EXIT_KEYS,
    FAILURES,
    FLAGS,
    GOES_ON,
    INVALID,
    INVALID_CODES,
    INVALID_HINTS,
    LIKE_AN_ERROR,
    LIVE,
    NOBODY,
    NOT_EMPTY,
    SHELL_VALUE,
    STARTED,
    VOLATILE_KEYS,
)
from breaker.evidence.blanking import BLANK, HEAD, TAIL, blank, bones, clip, frame, is_random
from breaker.evidence.classes import DEEDS
from breaker.evidence.command_table import FILE_READERS, NAMELESS, SEARCHERS, SPEAKS_AS
from breaker.evidence.facts import Answer, Facts, Outcome
from breaker.evidence.keys import digest
from breaker.failure import Classified

SHORT = 400
"""Characters of an answer up to which single words of it tell its state."""
MAX_JSON = 20_000
"""Characters of an answer up to which it is read as JSON."""
MAX_LINES = 400
MAX_DEPTH = 12
_ENDS = 800
"""Characters of a failure's text that are looked at, from its beginning and from its end."""


def read_answer(facts: Facts, result: Result, classified: Classified) -> Answer:
    """Read the result of a call that was `classified` already."""
    raw = text_of(result) or _embedded(result.content)
    images = _images(result.content)
    opened = open_envelope(raw)
    fields = _Fields()
    if len(opened.body) <= MAX_JSON:
        body = opened.body.strip()
        stamp = _STAMPED.match(body)
        body = body[stamp.end() :] if stamp else body
        if body[:1] in ("{", "["):
            body = fields.read(body)
    else:
        body = opened.body
    message = failure.message_of(result)
    if not body:
        told = result.content if _is_data(result.content) else result.value
        body = message or fields.read_value(told)
    text = core(blank(clip(body)))
    outcome, why = _outcome(facts, result, classified, opened.exit_code, fields, text, message)
    pictured = _has_blocks(result.content)
    if outcome == "empty" and pictured:
        outcome = "ok"
    started = facts.shell and facts.kind in ("run", "mutate") and _is_started(result, text)
    shown = f"{text}\n{images}" if images else text
    found, hard = _failure_class(text, message, why, result) if outcome == "fail" else ("", False)
    return Answer(
        outcome=outcome,
        same=digest(frame(shown) if facts.kind in DEEDS else shown),
        bones=digest("#" if _is_id(text) else bones(text)),
        failure=found,
        hard=hard,
        lines=_lines(shown) if outcome == "ok" else (),
        live=0 if started else _liveness(facts, text, opened.state, outcome),
        numbers=outcome == "ok" and _is_numbers(text),
        opaque=not body and not images and pictured,
        started=started,
        size=_size(text),
    )


_STAMPED = re.compile(
    r"\A[\[(<]?\d{4}-\d\d-\d\d[T ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"(?:[\])>][:,]?[ \t]*+|[ \t]++(?=\S))"
)
"""A time in front of a whole answer: not what was answered."""
_PREFIX = re.compile(r"^[\[(<]~[\])>]:? ?|^~[:,]? (?=\S)", re.MULTILINE)
_FILLING = re.compile(
    r"^[\W_]*(?:(?:took|elapsed|duration|request|requests|time|times|wall|after|in|at|id|finished|done|trace|span|ms|s|and|ended|started|~)[\W_]*+)*$",
    re.MULTILINE,
)
"""A line of which nothing is left but what stands around times and ids."""


def core(blanked: str) -> str:
    """A blanked text without times in front of its lines, and without lines that held nothing else."""
    if BLANK not in blanked:
        return blanked
    lines = _PREFIX.sub("", blanked).split("\n")
    return "\n".join(line for line in lines if BLANK not in line or not _FILLING.match(line)).strip()


# -- how it went ----------------------------------------------------------------------------------------------


def _outcome(
    facts: Facts,
    result: Result,
    classified: Classified,
    exit_code: int | None,
    fields: _Fields,
    body: str,
    message: str,
) -> tuple[Outcome, str]:
    near = _near(body, message)
    if classified.kind == "neutral" and result.is_error:
        return "aborted", ""
    flagged = result.is_error or fields.failed
    if flagged or len(body) <= SHORT:
        refused = _refusal(result, near, flagged)
        if refused:
            return refused, ""
    failed = classified.failure
    code = fields.exit_code if fields.exit_code is not None else exit_code
    if failed is None and fields.failed:
        return "fail", ""
    if failed is None and code:
        return _by_exit(facts, code, body)
    if failed is not None:
        if failed.reason == "exit":
            return _by_exit(facts, int(failed.detail or 1), body)
        return "fail", failed.detail if failed.reason == "http" and failed.detail else failed.reason
    if facts.kind in DEEDS and NOBODY.match(body):
        return "fail", ""
    if _is_empty(facts, fields, body):
        return "empty", ""
    return ("fail", "") if _looks_failed(facts, body) else ("ok", "")


def _looks_failed(facts: Facts, body: str) -> bool:
    """Whether a short answer that nothing flags reads like a failure."""
    if _is_quoted(facts, body):
        return False
    if len(body) <= SHORT and LIKE_AN_ERROR.match(body):
        return True
    if len(body) > 4 * SHORT:
        return False
    if any(hint in body for hint in BLOCKED_HINTS) and BLOCKED_PAGE.search(body):
        return True
    last = max(0, body.rfind("\n"))
    return not _shows_errors(facts) and bool(ENDS_IN_AN_ERROR.match(body, last))


def _is_quoted(facts: Facts, body: str) -> bool:
    """Whether an answer is what stands in a file that a command shows, not a word of the command itself."""
    program = facts.family.rpartition(" ")[2]
    if not facts.shell or facts.kind != "read" or program in NAMELESS:
        return False
    speaker = SPEAKS_AS.get(program, program)
    shows = program in FILE_READERS or program in SEARCHERS
    return shows and not body.startswith((f"{speaker}:", "bash:", "sh:", "zsh:", "/bin/", "/usr/bin/"))


def _shows_errors(facts: Facts) -> bool:
    """Whether an error at the end of the answer is what was looked at, not what happened."""
    return facts.kind == "read" and (facts.shell or bool(facts.target))


def _by_exit(facts: Facts, code: int, body: str) -> tuple[Outcome, str]:
    """A look that ends with 1 and says nothing found nothing."""
    if facts.kind == "read" and code == 1 and (not body or _says_empty(body)):
        return "empty", ""
    return "fail", f"exit {code}"


def _refusal(result: Result, near: str, flagged: bool) -> Outcome | None:
    names = {name.upper().replace("-", "_").replace(" ", "_") for name in _codes(result.error)}
    sandbox = result.value.get("sandbox") if isinstance(result.value, dict) else None
    if names & DENIED_CODES or (isinstance(sandbox, dict) and sandbox.get("denied")):
        return "denied"
    if names & INVALID_CODES:
        return "invalid"
    if any(hint in near for hint in DENIAL_HINTS) and DENIALS.search(near):
        return "denied"
    if (
        any(hint in near for hint in INVALID_HINTS)
        and INVALID.search(near)
        and (flagged or LIKE_AN_ERROR.match(near) or INVALID.match(near))
    ):
        return "invalid"
    return None


def _codes(error: Any) -> list[str]:
    if isinstance(error, str):
        return [error] if len(error) <= 60 else []
    if not isinstance(error, dict):
        return []
    found = [error.get("code"), error.get("name"), error.get("type")]
    info = error.get("info")
    if isinstance(info, dict):
        found += [info.get("code"), info.get("name")]
    return [str(code) for code in found if isinstance(code, str | int) and not isinstance(code, bool)]


def _near(body: str, message: str) -> str:
    """Where the words of a failure stand: the beginning and the end of the text, and the error's message."""
    text = (body if len(body) <= 2 * _ENDS else f"{body[:_ENDS]}\n{body[-_ENDS:]}").lower()
    message = message[:_ENDS].lower()
    return text if not message or message in text else f"{message}\n{text}"


def _failure_class(body: str, message: str, why: str, result: Result) -> tuple[str, bool]:
    """The class of a failure, and whether the system itself names it."""
    near = _near(body, message)
    codes = " ".join(_codes(result.error)).lower()
    if why.isdigit():
        return f"http {why}", True
    for name, pattern in FAILURES:
        if pattern.search(near) or (codes and pattern.search(codes)):
            return name, True
    if why == "timeout":
        return "timeout", True
    return f"soft {digest(_error_line(near))}", False


_ERROR_LINE = re.compile(
    r"(?m)^.{0,200}\b(?:error|err|fail(?:ed|ure|ures)?|fatal|exception|panic|assert\w*|cannot|unable|traceback)\b.{0,300}$"
)
_EXCEPTION = re.compile(
    r"(?m)^(?:e\s{1,6})?((?:\w{1,40}\.){0,6}[a-z]\w{2,60}(?:error|exception|warning|interrupt|exit))\b"
)
_QUOTES = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`")
_PATHS = re.compile(r"[\w.~-]{0,60}(?:[/\\][\w.@~-]{1,60}){1,12}|\b[\w-]{1,60}\.[a-z]\w{0,4}\b")
_NUMBERS = re.compile(r"\d++")


def _error_line(text: str) -> str:
    """The last exception's name, else the first line that speaks of an error, without what varies in it."""
    names = _EXCEPTION.findall(text)
    if names:
        return str(names[-1])
    found = _ERROR_LINE.search(text)
    line = found[0] if found else text.lstrip()[:200].partition("\n")[0]
    return _NUMBERS.sub("#", _PATHS.sub("/", _QUOTES.sub("''", blank(line)))).strip()


# -- what it says ---------------------------------------------------------------------------------------------


class _Fields:
    """The members of an answer that is JSON, read into lines, without what is volatile."""

    def __init__(self) -> None:
        self.is_json = False
        self.failed = False
        self.exit_code: int | None = None
        self.nothing = 0
        self.something = 0
        self.lines: list[str] = []

    def read(self, text: str) -> str:
        """The text as lines; the text itself when it is no JSON. A few words behind it do not matter."""
        end = max(text.rfind("}"), text.rfind("]")) + 1
        if not end or len(text) > MAX_JSON or len(text) - end > SHORT:
            return text
        try:
            value = msgspec.json.decode(text[:end].encode("utf-8", "surrogatepass"))
        except (msgspec.DecodeError, RecursionError):
            return text
        self.is_json = True
        self._walk("", value, 0)
        return "\n".join(self.lines)

    def read_value(self, value: Any) -> str:
        """A structured result as lines, where it is all there is."""
        if not isinstance(value, dict | list):
            return ""
        told = (
            {name: member for name, member in value.items() if name not in SHELL_VALUE}
            if isinstance(value, dict)
            else value
        )
        if told:
            self.is_json = True
            self._walk("", told, 0)
        return "\n".join(self.lines)

    def _walk(self, name: str, value: Any, depth: int) -> None:
        plain = _plain(name)
        if plain in VOLATILE_KEYS or depth > MAX_DEPTH or len(self.lines) > 4 * MAX_LINES:
            return
        if isinstance(value, dict):
            if not value:
                self.nothing += 1
            if depth <= 2:
                self._status(value)
            for key, member in value.items():
                self._walk(key, member, depth + 1)
            return
        if isinstance(value, list):
            if not value:
                self.nothing += 1
            if value and all(isinstance(member, int | float) for member in value):
                self._leaf(name, plain, ",".join(map(str, value)))
                return
            for member in value:
                self._walk(name, member, depth + 1)
            return
        if isinstance(value, str) and value[:1] in ("{", "[") and len(value) <= MAX_JSON and depth < 3:
            try:
                inner = msgspec.json.decode(value.encode("utf-8", "surrogatepass"))
            except (msgspec.DecodeError, RecursionError):
                inner = None
            if isinstance(inner, dict | list):
                self._walk(name, inner, depth + 1)
                return
        self._leaf(name, plain, value)

    def _leaf(self, name: str, plain: str, value: Any) -> None:
        if plain in EXIT_KEYS or (plain in FLAGS and (value is True or value in ("ok", "success", None))):
            return
        if value in (None, "", 0, False):
            self.nothing += 1
            if value in (None, ""):
                return
        elif isinstance(value, str) and _is_id(value):
            return
        elif plain in ECHOES:
            pass
        else:
            self.something += 1
        if isinstance(value, str) and (
            "\n" in value or plain in ("output", "stdout", "text", "content", "result", "stderr", "message")
        ):
            self.lines.extend(value.strip().split("\n"))
        else:
            self.lines.append(f"{name}: {value}")

    def _status(self, value: dict[str, Any]) -> None:
        for key, member in value.items():
            plain = _plain(key)
            if plain not in _TELLING:
                continue
            if plain in EXIT_KEYS and isinstance(member, int) and not isinstance(member, bool):
                self.exit_code = member
            elif (
                (plain in ERROR_KEYS and member not in (None, "", False, 0, [], {}))
                or (plain in _GOOD and member is False)
                or (plain in _BAD and member is True)
                or (plain in _STATUSES and isinstance(member, int) and 400 <= member < 600)
            ):
                self.failed = True


_GOOD = frozenset({"success", "ok", "succeeded"})
_BAD = frozenset({"iserror", "failed"})
_STATUSES = frozenset({"status", "statuscode", "code"})
_LONGEST_KEY = 64
_TELLING = EXIT_KEYS | ERROR_KEYS | _GOOD | _BAD | _STATUSES
"""Members that say how it went."""


def _plain(name: str) -> str:
    """A member's name as the tables spell it; "" for one that is longer than all of them, and than can be kept."""
    return _folded(name) if len(name) <= _LONGEST_KEY else ""


@lru_cache(256)
def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _is_id(text: str) -> bool:
    return len(text) <= 80 and text.split() == [text] and is_random(text)


def _is_empty(facts: Facts, fields: _Fields, body: str) -> bool:
    if fields.is_json and (fields.something > 1 or not _says_empty(body)):
        return not fields.something and bool(fields.nothing)
    if not body:
        return facts.kind in ("read", "poll", "other")
    return _says_empty(body)


def _says_empty(body: str) -> bool:
    return len(body) <= 200 and bool(EMPTY.match(body)) and not NOT_EMPTY.search(body)


def _liveness(facts: Facts, body: str, state: str, outcome: Outcome) -> int:
    if state == "running":
        return 1
    if len(body) > SHORT and facts.kind != "poll":
        return 0
    head = body[: 2 * SHORT]
    lively = GOES_ON if outcome == "fail" else LIVE
    if lively.search(head) and outcome not in ("denied", "invalid"):
        return 1
    return -1 if DEAD.search(head) or outcome in ("denied", "invalid") else 0


_NUMBER_LINE = re.compile(r"\d{1,7}(?:[:\t→|]|-(?!\d)| {1,2}(?=\S))")


def _lines(text: str) -> tuple[int, ...]:
    """Digests of the lines, without their numbers, each once; lines without a word say nothing."""
    found: dict[int, None] = {}
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        bare = line.strip()
        if bare[:1].isdigit() and (number := _NUMBER_LINE.match(bare)):
            bare = bare[number.end() :].lstrip() or bare
        if len(bare) > 2:
            found[crc32(bare.encode("utf-8", "surrogatepass"))] = None
    return tuple(found) or ((crc32(text.encode("utf-8", "surrogatepass")),) if text else ())


_NUMBERS_ONLY = re.compile(r"[\d\s.,:;%/()+=-]{1,60}")


def _is_numbers(text: str) -> bool:
    return bool(_NUMBERS_ONLY.fullmatch(text)) and 0 < len(_NUMBERS.findall(text)) <= 8


def _size(text: str) -> int:
    """How much a text says, in characters: what says one thing over and over counts by its different words."""
    if len(text) < SHORT // 4 or len(text) > 20 * SHORT:
        return len(text)
    words = text.split()
    different = set(words)
    return len(text) if 8 * len(different) >= len(words) else sum(map(len, different))


def _is_started(result: Result, text: str) -> bool:
    value = result.value
    return (isinstance(value, dict) and value.get("kind") == "background") or bool(STARTED.search(text[:SHORT]))


def _embedded(content: Any) -> str:
    """The texts of resources that blocks carry."""
    if not isinstance(content, list):
        return ""
    held = (block.get("resource") for block in content[:20] if isinstance(block, dict))
    texts = (resource.get("text") for resource in held if isinstance(resource, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _images(content: Any) -> str:
    """A digest of the pictures and files of an answer; "" when it has none with data."""
    if not isinstance(content, list):
        return ""
    found: list[str] = []
    for block in content[:20]:
        if not isinstance(block, dict) or "text" in block:
            continue
        source = block.get("source")
        data = block.get("data") or block.get("image_url") or block.get("url") or block.get("uri")
        if data is None and isinstance(source, dict):
            data = source.get("data") or source.get("url")
        if isinstance(data, dict):
            data = data.get("url")
        if isinstance(data, str) and data:
            raw = data if len(data) <= HEAD + TAIL else f"{data[:HEAD]}{len(data)}{data[-TAIL:]}"
            found.append(blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest())
    return " ".join(found)


def _is_data(content: Any) -> bool:
    """Whether content is plain data: members, or a list of things that are no blocks."""
    if not isinstance(content, list):
        return isinstance(content, dict)
    return bool(content) and not any(
        isinstance(block, dict) and ("type" in block or "text" in block) for block in content
    )


def _has_blocks(content: Any) -> bool:
    """Whether content has blocks that are no text."""
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, dict) and "type" in block and "text" not in block for block in blocks)
