"""Reading members of foreign JSON without trusting its types."""

from __future__ import annotations

import json
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from breaker.setting_table import LARGEST

from .session import Message, Notes
from .source import decode


def obj(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def seq(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def path(value: Any, *names: str) -> Any:
    """The member reached through nested objects, or None."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def whole(value: Any) -> int | None:
    """An integer, also one written as `3.0` or `"3"`; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 12:
        return int(value)
    return None


def count(value: Any) -> int:
    """A token count: a non-negative integer as the wire takes it, 0 when missing."""
    number = whole(value)
    return min(number, LARGEST) if number is not None and number > 0 else 0


def seconds(value: Any) -> float | None:
    """Seconds since the epoch from an ISO 8601 string, seconds or milliseconds; None when it is no time.

    A time without a zone is taken as UTC: only differences matter to the rules.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        try:
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (OverflowError, OSError, ValueError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number) or number <= 0:
        return None
    # The year 5138 in seconds is 1973 in milliseconds.
    return number / 1000 if number > 1e11 else number


def arguments(value: Any) -> Any:
    """A call's arguments. A string that holds JSON is opened; one that does not is kept as it is."""
    if value is None:
        return {}
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    try:
        return decode(value.encode("utf-8", "replace"))
    except ValueError:
        return value


def text(content: Any) -> str:
    """The text of a content field: a string, a list of blocks, or anything else as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part for part in map(_block, content) if part)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _block(block: Any) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        for name in ("text", "content", "thinking"):
            if isinstance(block.get(name), str):
                return str(block[name])
        return "" if "type" in block else json.dumps(block, ensure_ascii=False)
    return ""


def blocks(content: Any) -> Any:
    """A result's content in wire form: a string, or a list of blocks that each have a type."""
    if isinstance(content, str) or content is None:
        return content or ""
    if isinstance(content, list) and all(isinstance(block, dict) and "type" in block for block in content):
        return [{**block, "type": "text"} if _is_text(block) else {"type": block["type"]} for block in content]
    return text(content)


def _is_text(block: dict[str, Any]) -> bool:
    return isinstance(block.get("text"), str)


class Recent:
    """A set that remembers the last `limit` members: files grow to gigabytes, memory does not."""

    def __init__(self, limit: int = 100_000) -> None:
        self._members: OrderedDict[Any, None] = OrderedDict()
        self._limit = limit

    def __contains__(self, member: Any) -> bool:
        return member in self._members

    def add(self, member: Any) -> bool:
        """True when the member is new."""
        if member in self._members:
            return False
        self._members[member] = None
        if len(self._members) > self._limit:
            self._members.popitem(last=False)
        return True


class Calls:
    """The ids of one session's calls, made unique per agent, and which of them wait for a result."""

    def __init__(self) -> None:
        self._uses: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._open: OrderedDict[tuple[str, str], deque[str]] = OrderedDict()
        self._made = 0

    def open(self, agent: str, raw: str) -> str:
        """The id under which the call goes over the wire; a repeated one gets a number."""
        if not raw:
            self._made += 1
            raw = f"call-{self._made}"
        key = (agent, raw)
        uses = self._uses[key] = self._uses.pop(key, 0) + 1
        call_id = raw if uses == 1 else f"{raw}#{uses}"
        self._open.setdefault(key, deque()).append(call_id)
        for ids, limit in ((self._uses, 100_000), (self._open, 10_000)):
            while len(ids) > limit:
                ids.popitem(last=False)
        return call_id

    def close(self, agent: str, raw: str) -> str | None:
        """The oldest waiting call with that id, which then waits no more; None when there is none."""
        waiting = self._open.get((agent, raw))
        if not waiting:
            return None
        call_id = waiting.popleft()
        if not waiting:
            del self._open[agent, raw]
        return call_id

    def waiting(self, agent: str) -> Iterator[str]:
        """The raw ids of the agent's calls without a result, the oldest first."""
        return (raw for owner, raw in self._open if owner == agent)

    def oldest(self, agent: str) -> str | None:
        return next(self.waiting(agent), None)

    def known(self, agent: str, raw: str) -> bool:
        """Whether the agent ever made a call with that id."""
        return (agent, raw) in self._uses


MALFORMED = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What code raises that meets a string where it expects an object."""


def converted(
    rows: Iterable[Any], convert: Callable[[dict[str, Any]], Iterator[Message]], notes: Notes
) -> Iterator[Message]:
    """The messages of all rows. A row that is not what its format promises costs itself, never the file."""
    for row in rows:
        try:
            yield from convert(obj(row))
        except MALFORMED as error:
            notes.skip(f"not understood: {error!r}"[:200])
