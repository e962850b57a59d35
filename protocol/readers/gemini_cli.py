"""Gemini CLI chats: `~/.gemini/tmp/<project>/chats/session-*.json`, since 0.50 or so as JSON lines.

In the line form a message is written again, with the same id, whenever it grew; `{"$set": …}` rows change the
header. A call is written once it is over, so a file holds no call without a result unless it was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .chat import Chat
from .fields import Calls, Recent, arguments, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "gemini-cli"

_TYPES = {"user", "gemini", "info", "error", "warning"}
NOT_A_PERSON = (
    "<session_context>",
    "This is the Gemini CLI.",
    "System: Please continue.",
    "<state_snapshot>",
)

_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_SIGNAL = re.compile(r"^Signal: (SIG[A-Z0-9]{1,10}|[1-9]\d{0,2})$", re.MULTILINE)
_TIMED_OUT = re.compile(
    r"^Command was automatically cancelled because it exceeded the timeout of [^\n]{1,40}", re.MULTILINE
)
_CANCELLED = re.compile(r"^(?:Command was cancelled|Command cancelled by user|\[Operation Cancelled\])", re.MULTILINE)
_BACKGROUND = re.compile(r"^Command moved to background \(PID: \d", re.MULTILINE)
_SHELL = "run_shell_command"


def is_row(row: dict[str, Any]) -> bool:
    if "$set" in row or "$rewindTo" in row:
        return True
    if "sessionId" in row and "projectHash" in row:
        return True
    return row.get("type") in _TYPES and "id" in row and "timestamp" in row and ("content" in row or "toolCalls" in row)


def is_document(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_content(entry) for entry in value[:10])
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    if "projectHash" in value and "sessionId" in value:
        return True
    return any(obj(message).get("type") == "gemini" for message in value["messages"][:20])


def _is_content(entry: Any) -> bool:
    return obj(entry).get("role") in ("user", "model") and isinstance(obj(entry).get("parts"), list)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader(context)
    yield Session(context.name, NAME, reader.messages(rows), notes=context.notes)


def read_document(value: Any, context: Context) -> Iterator[Session]:
    if isinstance(value, list):
        # What `/chat save` writes: the contents as the model gets them, without ids and times.
        yield Session(context.name, NAME, _Contents(context.notes).messages(iter(value)), notes=context.notes)
        return
    header = {name: member for name, member in value.items() if name != "messages"}
    name = string(value.get("sessionId")) or context.name
    reader = _Reader(context)
    rows = iter([header, *seq(value.get("messages"))])
    yield Session(name, NAME, reader.messages(rows), notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.agent = MAIN
        self.ids = Recent()
        self.told = Recent()
        self.requests = Recent()

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.row, self.notes)
        if self.agent != MAIN:
            yield wire.ended(self.agent, None)

    def row(self, row: dict[str, Any]) -> Iterator[Message]:
        if "sessionId" in row and "type" not in row:
            if row.get("kind") == "subagent" and self.agent == MAIN:
                self.agent = string(row.get("sessionId"))
                yield wire.started(self.agent, MAIN, at=seconds(row.get("startTime")))
            return
        changes = obj(row.get("$set"))
        for message in seq(changes.get("messages")):
            yield from self.message(obj(message))
        if "type" in row:
            yield from self.message(row)

    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        kind, message_id, at = message.get("type"), string(message.get("id")), seconds(message.get("timestamp"))
        if kind == "user":
            if self.ids.add(message_id or object()) and self.agent == MAIN and _by_person(message.get("content")):
                yield wire.user_turn(self.agent, at)
        elif kind == "gemini":
            yield from self.usage(message, message_id, at)
            yield from self.tool_calls(seq(message.get("toolCalls")), message_id, at)
        elif kind == "info" and text(message.get("content")).startswith("Chat history compressed"):
            yield wire.compacted(self.agent, at)

    def usage(self, message: dict[str, Any], message_id: str, at: float | None) -> Iterator[Message]:
        tokens = obj(message.get("tokens"))
        used = wire.usage(
            self.agent,
            message_id,
            inputs=tokens.get("input"),
            outputs=tokens.get("output"),
            cache_read=tokens.get("cached"),
            inclusive=True,
            at=at,
        )
        if used and self.requests.add(message_id or object()):
            yield used

    def tool_calls(self, calls: list[Any], step: str, at: float | None) -> Iterator[Message]:
        fresh = []
        for entry in calls:
            call = obj(entry)
            raw = string(call.get("id"))
            if not call.get("name") or (raw and not self.told.add((step, raw))):
                continue
            call_id = self.calls.open(self.agent, raw)
            fresh.append((call, call_id))
            yield wire.guard(self.agent, call_id, string(call["name"]), arguments(call.get("args")), at, step)
        for call, call_id in fresh:
            ended = seconds(call.get("timestamp")) or at
            child = string(call.get("agentId"))
            if child:
                yield wire.started(child, self.agent, call_id=call_id, at=at)
                yield wire.ended(child, ended)
            if "result" in call or call.get("status") in ("success", "error", "cancelled"):
                yield wire.settled(self.agent, call_id, _result(call), ended)


class _Contents(Chat):
    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        parts = [obj(part) for part in seq(message.get("parts"))]
        if message.get("role") == "model":
            self.steps += 1
        for call in (obj(part["functionCall"]) for part in parts if "functionCall" in part):
            name = string(call.get("name"))
            yield from self.call(string(call.get("id")), name, arguments(call.get("args")), None)
        for part in parts:
            answer = obj(part.get("functionResponse"))
            if not answer:
                continue
            raw, name = string(answer.get("id")), string(answer.get("name"))
            if not self.calls.known(self.agent, raw):
                raw = next((waits for waits in self.calls.waiting(self.agent) if self.tools.get(waits) == name), raw)
            call_id = self.calls.close(self.agent, raw)
            if call_id is None:
                self.notes.unpaired += 1
            else:
                yield wire.settled(self.agent, call_id, _result({"name": name, "result": [part]}), None)
        if message.get("role") == "user" and _by_person(parts):
            yield wire.user_turn(self.agent)


def _by_person(content: Any) -> bool:
    if isinstance(content, list):
        content = "\n".join(string(obj(part).get("text")) for part in content)
    said = string(content).strip()
    return bool(said) and not said.startswith(NOT_A_PERSON)


def _result(call: dict[str, Any]) -> dict[str, Any]:
    status, (said, failed) = call.get("status"), _answer(call.get("result"))
    if status == "cancelled":
        return wire.result(said, value={"kind": "foreground", "aborted": True})
    if status == "error" or failed:
        return wire.result(said, error=True)
    if call.get("name") != _SHELL:
        return wire.result(said)
    if _BACKGROUND.search(said[:400]):
        return wire.result(said, value=wire.BACKGROUND)
    timed_out = _TIMED_OUT.search(said[:400])
    if timed_out:
        return wire.result(said, value=wire.foreground(timed_out=True, timeout_ms=wire.milliseconds(timed_out[0])))
    if _CANCELLED.search(said[:400]):
        return wire.result(said, value=wire.foreground(interrupted=True))
    # The command's own output comes before these lines and may hold the same words.
    code = _last(_EXIT, said)
    signal = _last(_SIGNAL, said)
    return wire.result(said, value=wire.foreground(code, signal=signal) or wire.foreground(0))


def _last(pattern: re.Pattern[str], said: str) -> str | None:
    found = None
    for match in pattern.finditer(said[-2000:]):
        found = match[1]
    return found


def _answer(result: Any) -> tuple[str, bool]:
    """The text of a call's function responses, and whether one of them is an error."""
    if isinstance(result, str):
        return result, False
    parts, failed = [], False
    for part in [result] if isinstance(result, dict) else seq(result):
        response = path(part, "functionResponse", "response")
        if isinstance(response, dict):
            failed = failed or ("error" in response and "output" not in response)
            parts.append(text(response.get("output", response.get("error", response))))
        else:
            parts.append(text(obj(part).get("text", part if isinstance(part, str) else "")))
    return "\n".join(part for part in parts if part), failed
