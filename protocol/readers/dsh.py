"""DSH sessions: `$DSH_HOME/sessions/--<cwd>--/<id>/session.jsonl`, plain or as zstd with a frame a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from breaker.events import Outcome

from . import wire
from .fields import Calls, Recent, arguments, blocks, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "dsh"

_ROWS = ("tool/", "user/message", "assistant/", "turn/", "step/", "agent/", "request/", "permission/", "approval/",
         "sandbox/", "session/", "subagent/", "tool-workflow/", "todo/", "compaction/", "web/")  # fmt: skip
_SHELLS = ("bash", "pwsh")
_BACKGROUND = "(background)"
_EXIT = re.compile(r"^\[exit code: (-?\d{1,9})\]$", re.MULTILINE)
_TIMED_OUT = re.compile(r"^\[timed out after (\d{1,12})ms\]$", re.MULTILINE)
_SIGNAL = re.compile(r"^\[killed by signal: ([A-Z0-9]{1,12})\]$", re.MULTILINE)
_MARKERS = 200
"""Characters at the end of an output in which the harness's markers stand."""


def is_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if kind == "session":
        return "id" in row and ("cwd" in row or "createdAt" in row)
    return isinstance(kind, str) and kind.startswith(_ROWS) and isinstance(row.get("data"), dict) and "seq" in row


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader(context)
    yield Session(context.name, NAME, reader.messages(rows), notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.agent = MAIN
        self.tools: dict[str, str] = {}
        """Raw id of an open call -> its tool."""
        self.workflow: str | None = None
        """The call id of the workflow call that runs."""
        self.running: dict[tuple[str, Any], str] = {}
        """A workflow's run and number -> the agent."""
        self.asked: dict[str, str] = {}
        """An approval's id -> the call's raw id."""
        self.requests = Recent()
        self.summarised = False

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.row, self.notes)
        if self.agent != MAIN:
            yield wire.ended(self.agent, None)

    def row(self, row: dict[str, Any]) -> Iterator[Message]:
        kind, data, at = string(row.get("type")), obj(row.get("data")), seconds(row.get("time"))
        if kind == "session":
            yield from self.header(row)
        elif kind == "tool/call":
            yield from self.call(data, at)
        elif kind == "tool/result":
            yield from self.results(data, at)
        elif kind == "user/message":
            if path(data, "source", "kind") == "user" and self.agent == MAIN:
                yield wire.user_turn(self.agent, at)
        elif kind == "assistant/message":
            self.summarised = False
            yield from self.usage(data, at)
        elif kind == "approval/asked":
            self.asked[string(data.get("id"))] = string(data.get("callId"))
        elif kind == "approval/decided":
            raw = self.asked.pop(string(data.get("id")), "")
            if raw:
                yield wire.approval(self.agent, raw, _outcome(data.get("outcome")), at)
        elif kind.startswith(("tool-workflow/", "subagent/")):
            yield from self.lifecycle(kind, data, at)
        elif "compact" in kind and not kind.endswith(("start", "request")) and not self.summarised:
            self.summarised = True
            yield wire.compacted(self.agent, at)

    def header(self, row: dict[str, Any]) -> Iterator[Message]:
        if row.get("origin") != "subagent" or self.agent != MAIN:
            return
        self.agent = string(row.get("id")) or "subagent"
        depth = row.get("delegationDepth")
        nested = isinstance(depth, int) and depth > 1
        parent = (string(row.get("parentSession")) if nested else "") or MAIN
        yield wire.started(self.agent, parent, at=seconds(row.get("createdAt")))

    def call(self, data: dict[str, Any], at: float | None) -> Iterator[Message]:
        raw, tool = string(data.get("callId")), string(data.get("name"))
        call_id = self.calls.open(self.agent, raw)
        given = arguments(data.get("arguments"))
        self.tools[raw] = _BACKGROUND if obj(given).get("run_in_background") is True else tool
        if tool == "workflow":
            self.workflow = call_id
        yield wire.guard(self.agent, call_id, tool, given, at, _step(data))

    def results(self, data: dict[str, Any], at: float | None) -> Iterator[Message]:
        for part in seq(path(data, "message", "content")):
            part = obj(part)
            raw = string(part.get("toolCallId")) or string(path(data, "message", "source", "callId"))
            call_id = self.calls.close(self.agent, raw)
            if call_id is None:
                self.notes.unpaired += 1
                continue
            yield wire.settled(self.agent, call_id, _result(part, data, self.tools.pop(raw, "")), at)

    def usage(self, data: dict[str, Any], at: float | None) -> Iterator[Message]:
        counts, request = obj(data.get("usage")), string(path(data, "message", "id"))
        if request and not self.requests.add(request):
            return
        used = wire.usage(
            self.agent,
            request or None,
            inputs=counts.get("inputTokens"),
            outputs=counts.get("outputTokens"),
            cache_read=counts.get("cacheReadTokens"),
            cache_write=counts.get("cacheWriteTokens"),
            at=at,
        )
        if used:
            yield used

    def lifecycle(self, kind: str, data: dict[str, Any], at: float | None) -> Iterator[Message]:
        run, child = string(data.get("runId")), string(data.get("childId")) or string(data.get("id"))
        key = (run, data.get("seq"))
        if kind.endswith(("/agent-start", "subagent/start")) and child:
            workflow = kind.startswith("tool-workflow")
            self.running[key] = child
            call_id = self.workflow if workflow else None
            yield wire.started(child, self.agent, "workflow" if workflow else "subagent", call_id, at)
        elif kind.endswith(("/agent-end", "subagent/end")):
            over = self.running.pop(key, "")
            if over:
                yield wire.ended(over, at)


def _outcome(given: Any) -> str:
    """What the operator answered; what is no answer was none."""
    return given if given in get_args(Outcome) else "unavailable"


def _step(data: dict[str, Any]) -> str | None:
    turn, step = data.get("turn"), data.get("step")
    return f"{turn}.{step}" if turn is not None and step is not None else None


def _result(part: dict[str, Any], data: dict[str, Any], tool: str) -> dict[str, Any]:
    content = blocks(part.get("content"))
    error = part.get("isError") is True
    if error:
        info = obj(path(data, "error", "info")) or obj(data.get("error"))
        code = string(info.get("code")) or string(info.get("name"))
        rejected = text(content).startswith("Error: the user rejected tool")
        return wire.result(content, error=True, code=code or ("rejected" if rejected else None))
    if tool == _BACKGROUND:
        return wire.result(content, value=wire.BACKGROUND)
    if tool not in _SHELLS:
        return wire.result(content)
    tail = text(content)[-_MARKERS:]
    timed_out, signal, exited = _TIMED_OUT.search(tail), _SIGNAL.search(tail), _EXIT.search(tail)
    value = wire.foreground(
        exited[1] if exited else 0 if not (timed_out or signal) else None,
        timed_out=bool(timed_out),
        timeout_ms=timed_out[1] if timed_out else None,
        signal=signal[1] if signal else None,
    )
    return wire.result(content, value=value)
