"""Did a call that ran fail? Structured members of its result are asked first, and the text of shell tools last.

Texts are read at their ends only: 32 kB of head, where a status stands, and 32 kB of tail, where a crash ends. A
call may answer with megabytes, and reading those would keep the agent waiting for no better answer.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, Literal, Protocol

from msgspec import Struct

from breaker.content import text_of
from breaker.envelope import Output, open_envelope
from breaker.events import Failure, Result

MAX_HEAD = 32_768
MAX_TAIL = 32_768
_MAX_DETAIL = 80
_LARGEST = 2**63


class Classified(Struct, frozen=True):
    """`neutral` neither grows nor ends a streak of failures; `failure` stands with `failed` alone."""

    kind: Literal["ok", "neutral", "failed"]
    failure: Failure | None = None


class Identified(Protocol):
    """What has to be known of the call: what kind of tool it was, and what its commands do."""

    @property
    def kind(self) -> str: ...
    @property
    def reads_only(self) -> bool: ...
    @property
    def writes_status(self) -> Literal["first", "last"] | None: ...


OK = Classified("ok")
NEUTRAL = Classified("neutral")

# Spelled without case, "_", "-" and a closing "ERROR" or "EXCEPTION": AbortError, ABORT_ERR, ERR_CANCELED.
_ABORTS = frozenset(
    {
        "ABORT",
        "ABORTED",
        "ABORTERR",
        "ABORTEDBEFOREDISPATCH",
        "ERRABORTED",
        "CANCELLED",
        "CANCELED",
        "ERRCANCELED",
        "ERRCANCELLED",
        "OPERATIONCANCELLED",
        "OPERATIONCANCELED",
        "INTERRUPTED",
        "USERABORT",
        "USERABORTED",
        "USERCANCELLED",
        "USERINTERRUPTED",
        "KEYBOARDINTERRUPT",
    }
)
_ABORT_FLAGS = ("aborted", "interrupted", "cancelled", "canceled", "isInterrupt", "is_interrupt")
_ABORT_TEXT = re.compile(
    r"\A\s{0,9}(?:\w{0,20}Error: )?"
    r"(?:\[Request interrupted by user|\[Operation Cancelled\]|aborted by user|Tool execution aborted"
    r"|(?:The|This) operation was aborted|The user aborted a request)"
)

_HTTP_FAILED = r"(?P<detail>[45]\d\d)"

# How DSH closes the output of a command. `[exit code: 0]` is one as well, and says that all is well. Each with the
# words that it has in it: to look for those first is many times as fast.
_MARKERS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("exit", "[exit code: ", re.compile(r"\[exit code: (?P<detail>-?\d{1,10})\]")),
    ("http", "(HTTP ", re.compile(rf"\(HTTP {_HTTP_FAILED}\)")),
    ("timeout", "[timed out after ", re.compile(r"\[timed out after (?P<detail>\d{1,15}(?:\.\d{1,9})?ms)\]")),
    ("signal", "[killed by signal: ", re.compile(r"\[killed by signal: (?P<detail>\w{1,40})\]")),
    ("sandbox", "[sandbox: file access denied", re.compile(r"\[sandbox: file access denied[^\n]*")),
)

_TRACEBACK = "Traceback (most recent call last)"
# Without a traceback only a name that says what it is, with a capital first, at the very left: code that is shown,
# `  onError: (e) => {`, is none. To look for line feeds is several times as fast as to look for beginnings of lines.
_EXCEPTION = re.compile(r"\n(?:\w+\.)*+(?P<name>[A-Z]\w*(?:Error|Exception)):(?: |\Z)")
# Below a traceback the first line that is not indented, whatever it is called: `KeyboardInterrupt`, `zlib.error: x`.
_RAISED = re.compile(
    r"[^\n]*\n(?:[ \t][^\n]*\n)*+(?P<path>(?:\w+\.)*+)(?P<name>[A-Za-z_]\w*)(?:: |:?[ \t]*$)", re.MULTILINE
)

_DIAGNOSTICS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("http", "HTTP Error ", re.compile(rf"\bHTTP Error {_HTTP_FAILED}\b")),
    ("curl", "curl: (", re.compile(r"\bcurl: \((?P<detail>[1-9]\d{0,2})\)")),
)

# A number with all its digits and dots, so that `1.404`, `v2.404` and `40412` are not taken for a status.
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*+(?!\w)")
_LAST_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)*+(?!\w)")
_STATUS = re.compile(r"[45]\d\d")

_TRANSIENT_STATUS = frozenset({429, 502, 503, 504})
_TRANSIENT_CODES = frozenset(
    {
        "ECONNRESET",
        "ECONNREFUSED",
        "ECONNABORTED",
        "ETIMEDOUT",
        "ESOCKETTIMEDOUT",
        "EAI_AGAIN",
        "ENOTFOUND",
        "EPIPE",
        "UND_ERR_CONNECT_TIMEOUT",
        "UND_ERR_SOCKET",
    }
)
_MAX_TRANSIENT = 2_000
_TRANSIENT_TEXT = (
    re.compile(r"\b(?:ECONNRESET|ECONNREFUSED|ETIMEDOUT|ESOCKETTIMEDOUT|EAI_AGAIN|ENOTFOUND)\b"),
    re.compile(r"connection (?:was )?(?:reset|refused|aborted)|socket hang up|network is unreachable", re.IGNORECASE),
    # `[timed out after 5000ms]` is the harness ending a command: that is no network.
    re.compile(r"\btimed out\b(?! after [\d.]{1,20} ?ms\])|\btime-?out (?:was )?(?:exceeded|error)", re.IGNORECASE),
    re.compile(
        r"could not resolve (?:host|proxy)|name or service not known|name resolution|no such host"
        r"|nodename nor servname|getaddrinfo",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bHTTP(?:/\d(?:\.\d)?)?(?: error| status| code)?:? (?:429|502|503|504)\b"
        r"|\bstatus(?: code|code)?[:=]? ?(?:429|502|503|504)\b|\A\s{0,9}(?:429|502|503|504)\s{0,9}$",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(
        r"\btoo many requests\b|\bbad gateway\b|\bservice (?:temporarily )?unavailable\b|\bgateway time-?out\b",
        re.IGNORECASE,
    ),
    re.compile(r"\bcurl: \((?:6|7|28|35|52|56)\)"),
)


def classify(identity: Identified, result: Result) -> Classified:
    """What the result of a call means for its streaks. Never raises, whatever JSON the result holds."""
    value = result.value if isinstance(result.value, dict) else {}
    if _aborted(value, result):
        return NEUTRAL
    if result.is_error:
        return _failed("error", _error_detail(value, result.error))
    if value.get("kind") == "background":
        return NEUTRAL
    structured = _structured(value)
    if structured is not None or identity.kind != "shell":
        return structured or OK
    return _of_text(identity, open_envelope(text_of(result)), _integer(value.get("exitCode")))


def is_transient(result: Result, text: str) -> bool:
    """Whether the network failed in a way that passes by itself: worth the same call again, and no mistake."""
    if isinstance(result.value, dict) and _integer(result.value.get("statusCode")) in _TRANSIENT_STATUS:
        return True
    codes = (source.get("code") for source in _sources(result.error))
    if any(isinstance(code, str) and code.upper() in _TRANSIENT_CODES for code in codes):
        return True
    near = f"{text[:_MAX_TRANSIENT]}\n{text[-_MAX_TRANSIENT:]}\n{message_of(result)[:_MAX_TRANSIENT]}"
    return any(pattern.search(near) for pattern in _TRANSIENT_TEXT)


def message_of(result: Result) -> str:
    """The message of the result's error, or "" when it has none."""
    error = result.error
    if isinstance(error, str):
        return error
    return next((text for source in _sources(error) if isinstance(text := source.get("message"), str)), "")


def _aborted(value: dict[str, Any], result: Result) -> bool:
    sources = (value, *_sources(result.error))
    if any(source.get(flag) is True for source in sources for flag in _ABORT_FLAGS):
        return True
    if not result.is_error:
        return False
    names = [source.get(member) for source in _sources(result.error) for member in ("code", "name")]
    if isinstance(result.error, str):
        names.append(result.error)
    if any(isinstance(name, str) and _plain(name) in _ABORTS for name in names):
        return True
    return bool(_ABORT_TEXT.match(message_of(result)[:200]) or _ABORT_TEXT.match(text_of(result)[:200]))


def _plain(name: str) -> str:
    plain = name[:_MAX_DETAIL].upper().replace("_", "").replace("-", "").replace(" ", "")
    return plain.removesuffix("ERROR").removesuffix("EXCEPTION")


def _error_detail(value: dict[str, Any], error: Any) -> str | None:
    sources = _sources(error)
    for member in ("code", "name"):
        for source in sources:
            found = _label(source.get(member))
            if found is not None:
                return found
    code = _integer(value.get("exitCode"))
    return f"exit code {code}" if code else None


def _sources(error: Any) -> list[dict[str, Any]]:
    if not isinstance(error, dict):
        return []
    info = error.get("info")
    return [info, error] if isinstance(info, dict) else [error]


def _structured(value: dict[str, Any]) -> Classified | None:
    """What the members of `value` settle; None when they leave the question to the text."""
    code = _integer(value.get("exitCode"))
    if code:
        return _failed("exit", str(code))
    if value.get("timedOut") is True:
        limit = _integer(value.get("timeoutMs"))
        return _failed("timeout", None if limit is None else f"{limit}ms")
    signal = _label(value.get("signal"))
    if signal is not None:
        return _failed("signal", signal)
    status = _integer(value.get("statusCode"))
    if status is not None and status >= 100:
        return _failed("http", str(status)) if status >= 400 else OK
    sandbox = value.get("sandbox")
    if isinstance(sandbox, dict) and sandbox.get("denied"):
        return _failed("sandbox", _label(sandbox["denied"]))
    return None


def _of_text(identity: Identified, output: Output, exit_code: int | None) -> Classified:
    if output.state == "running":
        return NEUTRAL
    if output.state == "timed out":
        return _failed("timeout")
    code = output.exit_code if exit_code is None else exit_code
    if code:
        return _failed("exit", str(code))
    if identity.reads_only:
        return _closing_marker(output.body, code) or OK
    text = _ends(output.body)
    return (
        _marker(text, _MARKERS)
        or _exception(text)
        or _marker(text, _DIAGNOSTICS)
        or _written_status(identity.writes_status, output.body)
        or OK
    )


def _closing_marker(text: str, exit_code: int | None) -> Classified | None:
    """The markers that the harness itself put below the output: whole lines, and nothing after them.

    An output that ends in `[exit code: 2]` while the harness says 0 only shows what stood in a file.
    """
    closing: list[str] = []
    for line in reversed(text[-MAX_TAIL:].rstrip().splitlines()):
        if not any(pattern.fullmatch(line.strip()) for _, _, pattern in _MARKERS):
            break
        closing.append(line)
    return _marker("\n".join(reversed(closing)), _MARKERS if exit_code is None else _MARKERS[1:])


def _marker(text: str, patterns: tuple[tuple[str, str, re.Pattern[str]], ...]) -> Classified | None:
    for reason, words, pattern in patterns:
        if words not in text or (found := _last(pattern, text)) is None:
            continue
        detail = found["detail"] if pattern.groups else None
        if reason != "exit" or int(found["detail"]) != 0:
            return _failed(reason, detail)
    return None


def _exception(text: str) -> Classified | None:
    start = text.rfind(_TRACEBACK)
    if start < 0:
        named = _last(_EXCEPTION, f"\n{text}") if "Error:" in text or "Exception:" in text else None
        return _failed("exception", named["name"]) if named else None
    raised = _RAISED.match(text, start)
    named = _last(_EXCEPTION, text, start)
    if named is not None:
        return _failed("exception", named["name"])
    if raised is None:
        return _failed("exception")
    name = raised["name"]
    return _failed("exception", name if name[0].isupper() else raised["path"] + name)


def _written_status(place: Literal["first", "last"] | None, body: str) -> Classified | None:
    if place is None:
        return None
    first = place == "first"
    number = _NUMBER.search(body[:MAX_HEAD]) if first else _last(_LAST_NUMBER, body[-MAX_TAIL:])
    return _failed("http", number[0]) if number and _STATUS.fullmatch(number[0]) else None


def _ends(text: str) -> str:
    if len(text) > MAX_HEAD + MAX_TAIL:
        # Joined within a line, so that the middle of one is not taken for its beginning.
        text = f"{text[:MAX_HEAD]}…{text[-MAX_TAIL:]}"
    return text.replace("\r\n", "\n") if "\r" in text else text


def _last(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    found = deque(pattern.finditer(text, start), maxlen=1)
    return found[0] if found else None


def _integer(value: Any) -> int | None:
    # JSON has one kind of number, and clients write statuses as 404.0; nothing measured here is beyond 64 bits.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if -_LARGEST <= value <= _LARGEST else None


def _label(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip()[:_MAX_DETAIL] or None
    number = _integer(value)
    return str(number) if number else None


def _failed(reason: str, detail: str | None = None) -> Classified:
    return Classified("failed", Failure(reason, detail))
