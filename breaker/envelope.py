"""What a harness wraps around the output of a shell command when it has no structured result.

Only forms that stand at the very beginning or end of a text, with enough around them that a command's own output
is not taken for one.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

_EDGE_CHARS = 1_000

State = Literal["exited", "running", "timed out", "unknown"]


class Output(Struct, frozen=True):
    """The command's own output, and what the harness's wrapping says of how it ended."""

    body: str
    state: State = "unknown"
    exit_code: int | None = None


class _Form(Struct, frozen=True):
    """`head` and `tail` are looked for in the first and last characters; a group `exit` holds the exit code."""

    head: re.Pattern[str] | None = None
    tail: re.Pattern[str] | None = None
    state: State = "exited"


_EXIT = r"(?P<exit>-?\d{1,10})"
_CHUNK = r"\A(?:Chunk ID: \S{1,40}\n)?Wall time: [\d.]{1,20} seconds\n"
_COUNT = r"(?:\nOriginal token count: \d{1,12})?\nOutput:(?:\n|\Z)"

_FORMS: tuple[_Form, ...] = (
    # Codex, shell sessions
    _Form(head=re.compile(rf"{_CHUNK}Process exited with code {_EXIT}{_COUNT}")),
    _Form(head=re.compile(rf"{_CHUNK}Process running with session ID \d{{1,20}}{_COUNT}"), state="running"),
    # Codex, single commands, as text and as JSON
    _Form(head=re.compile(rf"\AExit code: {_EXIT}\nWall time: [\d.]{{1,20}} seconds\nOutput:(?:\n|\Z)")),
    _Form(
        head=re.compile(r'\A\{"output":\s?"'),
        tail=re.compile(rf'",\s?"metadata":\s?\{{"exit_code":\s?{_EXIT}[^{{}}]{{0,200}}\}}\}}\s{{0,9}}\Z'),
    ),
    # mini-swe-agent
    _Form(head=re.compile(rf"\A<returncode>{_EXIT}</returncode>\s{{0,9}}(?:<output>\n?)?")),
    # Gemini CLI, which leaves the exit code out when it is 0
    _Form(
        tail=re.compile(
            rf"\nExit Code: {_EXIT}(?:\nSignal: [^\n]{{0,40}})?(?:\nBackground PIDs: [^\n]{{0,200}})?"
            r"\nProcess Group PGID: \d{1,12}(?:\n</untrusted_context>)?\s{0,9}\Z"
        )
    ),
    _Form(
        head=re.compile(r"\A<untrusted_context>\nCommand was automatically cancelled because it exceeded the timeout"),
        state="timed out",
    ),
    # Claude Code
    _Form(head=re.compile(r"\ACommand running in background with ID: \S{1,40}"), state="running"),
)


def open_envelope(text: str) -> Output:
    """Take the command's own output out of what a harness wrapped around it."""
    head, tail = text[:_EDGE_CHARS], text[-_EDGE_CHARS:]
    for form in _FORMS:
        before = form.head.match(head) if form.head else None
        after = form.tail.search(tail) if form.tail else None
        if (form.head and not before) or (form.tail and not after):
            continue
        code = _exit_code(before) if before and not after else _exit_code(after)
        end = len(text) - len(tail) + after.start() if after else len(text)
        return Output(text[before.end() if before else 0 : end], form.state, code)
    return Output(text)


def _exit_code(match: re.Match[str] | None) -> int | None:
    return int(match["exit"]) if match and "exit" in match.re.groupindex else None
