"""What every reader gives back: sessions, each a stream of wire messages, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Message = tuple[str, dict[str, Any]]
"""A method of the wire protocol and its params."""


class RecordingError(Exception):
    """The file as a whole cannot be read; the text says why and what was tried."""


class CompressedError(RecordingError):
    """The file is compressed in a way that only a package which is not there can undo."""


@dataclass
class Notes:
    """What was left out on the way. Filled while the messages are consumed, so read it afterwards."""

    lines: int = 0
    skipped: int = 0
    """Lines or entries that could not be understood."""
    mended: int = 0
    """Lines that were no valid JSON but could be read once their bad escapes were replaced."""
    unpaired: int = 0
    """Results whose call is not in the file."""
    samples: list[str] = field(default_factory=list)
    """The first few reasons, with line numbers."""

    def skip(self, why: str, line: int | None = None) -> None:
        self.skipped += 1
        if len(self.samples) < 5:
            self.samples.append(f"line {line or self.lines}: {why}")


@dataclass
class Session:
    """One agent run with all its subagents, in the order in which things happened.

    `messages` can be consumed once, and before the next session of the same file is asked for.
    """

    name: str
    format: str
    messages: Iterator[Message]
    source: str = ""
    outcome: str | None = None
    config: dict[str, Any] | None = None
    """The config that the recorded `initialize` carried."""
    can_ask: bool = True
    """False when the recorded harness said that it has nobody to ask."""
    notes: Notes = field(default_factory=Notes)


@dataclass
class Context:
    """What a reader is told about the file it reads."""

    name: str
    source: str
    notes: Notes
