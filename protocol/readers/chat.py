"""Plain lists of chat messages: OpenAI's `tool_calls` and `role: tool`, Anthropic's blocks, Responses items.

Many programs save just the list they send to the model. Formats that add something of their own build on `Chat`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import wire
from .fields import Calls, Recent, arguments, blocks, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Notes, Session
from .wire import MAIN

NAME = "chat"

_ROLES = {"system", "developer", "user", "assistant", "tool", "function", "model"}
_ITEMS = {"function_call", "function_call_output"}

_REMINDERS = ("<system-reminder>", "<environment_details>", "<task-notification>")
"""How texts begin that a harness puts beside results."""

Verdict = Callable[[str, Any], dict[str, Any]]
"""(tool, content) -> the wire result."""


def is_message(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    if row.get("type") in _ITEMS:
        return "call_id" in row
    return row.get("role") in _ROLES and ("content" in row or "tool_calls" in row)


def is_row(row: dict[str, Any]) -> bool:
    return is_message(row) and "uuid" not in row and "sessionId" not in row


def is_document(value: Any) -> bool:
    listed = _list(value)
    return bool(listed) and all(is_message(entry) for entry in listed[:20])


def _list(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for name in ("messages", "conversation", "input", "trajectory", "history", "traj"):
            if isinstance(value.get(name), list):
                return seq(value[name])
        return []
    return seq(value)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    yield Session(context.name, NAME, Chat(context.notes).messages(rows), notes=context.notes)


def read_document(value: Any, context: Context) -> Iterator[Session]:
    name = string(obj(value).get("id")) or string(obj(value).get("session_id")) or context.name
    yield Session(name, NAME, Chat(context.notes).messages(iter(_list(value))), notes=context.notes)


def plain(_tool: str, content: Any) -> dict[str, Any]:
    return wire.result(blocks(content))


class Chat:
    """Turns chat messages into wire messages. Subclasses say what a user's words and a result mean to them."""

    def __init__(self, notes: Notes, verdict: Verdict = plain) -> None:
        self.notes = notes
        self.verdict = verdict
        self.calls = Calls()
        self.tools: dict[str, str] = {}
        """Raw id of a waiting call -> its tool."""
        self.requests = Recent()
        self.steps = 0
        self.agent = MAIN

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.message, self.notes)

    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        role, at = message.get("role"), self.time(message)
        if message.get("type") == "function_call":
            yield from self.item(message, at)
        elif message.get("type") == "function_call_output":
            yield from self.answer(string(message.get("call_id")), message.get("output"), message, at)
        elif role in ("assistant", "model"):
            self.steps += 1
            yield from self.usage(message, at)
            yield from self.assistant(message, at)
        elif role in ("tool", "function"):
            yield from self.tool(message, at)
        elif role == "user":
            yield from self.user(message, at)

    def time(self, message: dict[str, Any]) -> float | None:
        for name in ("timestamp", "ts", "created_at", "created"):
            at = seconds(message.get(name))
            if at is not None:
                return at
        return None

    def usage(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        counts = obj(message.get("usage")) or obj(path(message, "extra", "response", "usage"))
        request = string(message.get("id")) or string(path(message, "extra", "response", "id"))
        if not counts or (request and not self.requests.add(request)):
            return
        if "prompt_tokens" in counts:
            details = obj(counts.get("prompt_tokens_details"))
            used = wire.usage(
                self.agent,
                request or None,
                inputs=counts.get("prompt_tokens"),
                outputs=counts.get("completion_tokens"),
                cache_read=details.get("cached_tokens"),
                inclusive=True,
                at=at,
            )
        else:
            used = wire.usage(
                self.agent,
                request or None,
                inputs=counts.get("input_tokens"),
                outputs=counts.get("output_tokens"),
                cache_read=counts.get("cache_read_input_tokens"),
                cache_write=counts.get("cache_creation_input_tokens"),
                at=at,
            )
        if used:
            yield used

    @property
    def step(self) -> str:
        return f"s{self.steps}"

    def assistant(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        for call in seq(message.get("tool_calls")):
            call = obj(call)
            function = obj(call.get("function")) or call
            given = arguments(function.get("arguments", function.get("args", function.get("input"))))
            yield from self.call(string(call.get("id")), string(function.get("name")), given, at)
        legacy = obj(message.get("function_call"))
        if legacy.get("name"):
            yield from self.call("", string(legacy["name"]), arguments(legacy.get("arguments")), at)
        for block in map(obj, seq(message.get("content"))):
            if block.get("type") in ("tool_use", "tool-call"):
                given = arguments(block.get("input", block.get("args", block.get("arguments"))))
                raw = string(block.get("id")) or string(block.get("toolCallId"))
                yield from self.call(raw, string(block.get("name")) or string(block.get("toolName")), given, at)

    def item(self, item: dict[str, Any], at: float | None) -> Iterator[Message]:
        raw = string(item.get("call_id"))
        yield from self.call(raw, string(item.get("name")), arguments(item.get("arguments")), at)

    def call(self, raw: str, tool: str, given: Any, at: float | None) -> Iterator[Message]:
        if not tool:
            self.notes.skip("a call without a tool's name")
            return
        call_id = self.calls.open(self.agent, raw)
        self.tools[raw or call_id] = tool
        yield wire.guard(self.agent, call_id, tool, given, at, self.step)

    def tool(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        content = message.get("content")
        inner = [part for part in map(obj, seq(content)) if part.get("type") in ("tool_result", "tool-result")]
        for part in inner:
            raw = string(part.get("toolCallId")) or string(part.get("tool_use_id"))
            yield from self.answer(raw, part.get("output", part.get("result", part.get("content"))), part, at)
        if inner:
            return
        ids = [string(entry) for entry in seq(message.get("tool_call_ids"))]
        raw = string(message.get("tool_call_id")) or (ids[0] if ids else "") or string(message.get("id"))
        if not self.calls.known(self.agent, raw):
            raw = self.calls.oldest(self.agent) or raw
        yield from self.answer(raw, content, message, at)

    def user(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        content = message.get("content")
        for block in map(obj, seq(content)):
            if block.get("type") == "tool_result":
                yield from self.answer(string(block.get("tool_use_id")), block.get("content"), block, at)
        if self.by_person(message, content):
            yield wire.user_turn(self.agent, at)

    def by_person(self, _message: dict[str, Any], content: Any) -> bool:
        if isinstance(content, list):
            said = [block for block in map(obj, content) if block.get("type") not in ("tool_result", None)]
            return any(not string(block.get("text")).lstrip().startswith(_REMINDERS) for block in said)
        return bool(text(content).strip())

    def answer(self, raw: str, content: Any, holder: dict[str, Any], at: float | None) -> Iterator[Message]:
        call_id = self.calls.close(self.agent, raw)
        if call_id is None:
            self.notes.unpaired += 1
            return
        result = self.verdict(self.tools.get(raw, ""), content)
        if holder.get("is_error") is True or holder.get("isError") is True or holder.get("error") is True:
            result["isError"] = True
        yield wire.settled(self.agent, call_id, result, at)


class Task(Chat):
    """A conversation in which a user's first message is the task, and later ones are what calls gave back."""

    def __init__(self, notes: Notes, verdict: Verdict = plain) -> None:
        super().__init__(notes, verdict)
        self.begun = False

    def user(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        waiting = self.calls.oldest(self.agent)
        if waiting is not None:
            yield from self.answer(waiting, message.get("content"), message, at)
        elif not self.begun:
            self.begun = True
            yield wire.user_turn(self.agent, at)
