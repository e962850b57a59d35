"""What `judge` needs to know of a client, and what it remembers of a session between two events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from breaker.events import Result, Usage

Event = dict[str, Any]
Kind = Literal["call", "result", "prompt", "stop", "started", "ended", "compacted"]

MAX_FILES = 256
MAX_OPEN = 256


class FileNotes(Struct, array_like=True):
    """How far a transcript was read: bytes, the model response it was in, and whether it keeps records of usage."""

    offset: int = 0
    step: str = ""
    records: bool = False


class OpenCall(Struct, array_like=True):
    """A call of a client that gives its calls no ids: ours, its tool, a digest of its arguments."""

    call_id: str
    tool: str
    digest: bytes


class Notes(Struct):
    """What is remembered of a session beside the engine's memory, subagents included."""

    files: dict[str, FileNotes] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    """Calls that a person is asked about, with the model response each came in."""
    open: list[OpenCall] = field(default_factory=list)
    made: int = 0


class News(Struct):
    """What the new rows of transcripts say."""

    usages: list[Usage] = field(default_factory=list)
    compacted: bool = False


class Harness(Protocol):
    """A client. Every function takes the event as the client wrote it and trusts none of its types."""

    KINDS: Mapping[str, Kind]
    """What events mean, by their names; others are none of our business."""

    def agent(self, event: Event) -> tuple[str, str | None]:
        """Who the event is about, and the agent that started it if it is a subagent. "" when it is about nobody."""

    def call(self, event: Event) -> tuple[str, Any, str]:
        """Tool, arguments, and the call's id or ""."""

    def result(self, event: Event) -> Result:
        """How the call went."""

    def by_person(self, event: Event) -> bool:
        """Whether a prompt was written by a person."""

    def can_ask(self, event: Event, environ: Mapping[str, str]) -> bool:
        """Whether a question would reach somebody, and their answer be honoured."""

    def transcripts(self, event: Event) -> list[tuple[str, bool]]:
        """Files with the model's usage of this agent, and whether each began with the agent."""

    def row(self, row: bytes, agent: str, notes: FileNotes, news: News) -> None:
        """Take in one row of a transcript."""

    def deny(self, event: Event, reason: str) -> dict[str, Any]:
        """The answer that stops a call."""

    def ask(self, event: Event, reason: str) -> dict[str, Any]:
        """The answer that asks the operator."""

    def tell(self, event: Event, text: str) -> dict[str, Any]:
        """The answer that gives the model a text."""


def text(value: Any) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def members(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def count(value: Any) -> int:
    """A token count: 0 for anything but a positive integer."""
    return value if isinstance(value, int) and value > 0 else 0
