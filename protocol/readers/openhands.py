"""OpenHands event streams: since version 1 `ActionEvent` and `ObservationEvent`, before it pairs linked by `cause`.

They come as a JSON list, as `{events: […]}`, as `{history: […]}` (the evaluation's output rows) or as JSON lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from . import wire
from .fields import Calls, Recent, arguments, blocks, converted, obj, path, seconds, seq, string, text, whole
from .session import Context, Message, Session
from .wire import MAIN

NAME = "openhands"

_OLD_TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell"}
_NO_TOOLS = {"message", "system", "recall", "change_agent_state", "null", "condensation_request", "start"}
_NOISE = ("thought", "security_risk", "summary", "confirmation_state", "hidden", "blocking", "is_static", "impl_source",
          "keep_prompt", "cwd", "is_confirmed", "kind")  # fmt: skip
_SHELL_OBSERVATIONS = ("run", "TerminalObservation", "ExecuteBashObservation")


def is_event(row: dict[str, Any]) -> bool:
    if string(row.get("kind")).endswith(("Event", "Observation", "Condensation")) and "source" in row:
        return True
    return isinstance(row.get("id"), int) and "source" in row and ("action" in row or "observation" in row)


def is_document(value: Any) -> bool:
    events = _events(value)
    return bool(events) and any(is_event(obj(event)) for event in events[:5])


def _events(value: Any) -> list[Any]:
    listed = seq(value)
    if isinstance(value, dict):
        listed = seq(value.get("events")) or seq(value.get("history")) or seq(value.get("trajectory"))
    # The oldest evaluation output holds pairs.
    return [event for entry in listed for event in (entry if isinstance(entry, list) else [entry])]


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    yield Session(context.name, NAME, _Reader(context).messages(rows), notes=context.notes)


def read_document(value: Any, context: Context) -> Iterator[Session]:
    fields = obj(value)
    name = string(fields.get("instance_id")) or string(fields.get("id")) or context.name
    resolved = path(fields, "report", "resolved")
    outcome = {True: "resolved", False: "unresolved"}.get(resolved) if isinstance(resolved, bool) else None
    messages = _Reader(context).messages(iter(_events(value)))
    yield Session(name, NAME, messages, outcome=outcome, notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.by_event: dict[Any, str] = {}
        """Id of an action event -> the raw id of its call."""
        self.requests = Recent()

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.event, self.notes)

    def event(self, event: dict[str, Any]) -> Iterator[Message]:
        yield from self.new(event) if "kind" in event else self.old(event)

    def new(self, event: dict[str, Any]) -> Iterator[Message]:
        kind, at = string(event.get("kind")), seconds(event.get("timestamp"))
        if kind == "ActionEvent":
            raw = string(event.get("tool_call_id"))
            self.by_event[event.get("id")] = raw
            tool = string(event.get("tool_name")) or string(path(event, "tool_call", "name"))
            given = _without_noise(_given(event))
            call_id = self.calls.open(MAIN, raw)
            yield wire.guard(MAIN, call_id, tool, given, at, string(event.get("llm_response_id")) or None)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            raw = self.by_event.pop(event.get("action_id"), "") or string(event.get("tool_call_id"))
            yield from self.settle(raw, _new_result(kind, event), at)
        elif kind == "MessageEvent":
            if event.get("source") == "user":
                yield wire.user_turn(MAIN, at)
        elif kind == "Condensation":
            yield wire.compacted(MAIN, at)

    def settle(self, raw: str, result: dict[str, Any], at: float | None) -> Iterator[Message]:
        call_id = self.calls.close(MAIN, raw)
        if call_id is None:
            self.notes.unpaired += 1
        else:
            yield wire.settled(MAIN, call_id, result, at)

    def old(self, event: dict[str, Any]) -> Iterator[Message]:
        action, observation, at = event.get("action"), event.get("observation"), seconds(event.get("timestamp"))
        if isinstance(action, str):
            if action == "message" and event.get("source") == "user":
                yield wire.user_turn(MAIN, at)
            elif action == "condensation":
                yield wire.compacted(MAIN, at)
            elif action not in _NO_TOOLS and event.get("source") != "user":
                yield from self.old_call(event, action, at)
        elif isinstance(observation, str) and event.get("cause") is not None:
            raw = self.by_event.pop(event.get("cause"), "")
            if raw:
                yield from self.settle(raw, _old_result(observation, event), at)

    def old_call(self, event: dict[str, Any], action: str, at: float | None) -> Iterator[Message]:
        metadata = obj(event.get("tool_call_metadata"))
        response = obj(metadata.get("model_response"))
        yield from self.usage(response, at)
        raw = string(metadata.get("tool_call_id")) or f"event-{event.get('id')}"
        self.by_event[event.get("id")] = raw
        tool = string(metadata.get("function_name")) or _OLD_TOOLS.get(action, action)
        given = _asked(response, string(metadata.get("tool_call_id")))
        if given is None:
            given = {name: value for name, value in obj(event.get("args")).items() if value not in (None, "")}
        call_id = self.calls.open(MAIN, raw)
        step = string(response.get("id")) or f"event-{event.get('id')}"
        yield wire.guard(MAIN, call_id, tool, _without_noise(given), at, step)

    def usage(self, response: dict[str, Any], at: float | None) -> Iterator[Message]:
        request, counts = string(response.get("id")), obj(response.get("usage"))
        if not counts or (request and not self.requests.add(request)):
            return
        used = wire.usage(
            MAIN,
            request or None,
            inputs=counts.get("prompt_tokens"),
            outputs=counts.get("completion_tokens"),
            cache_read=path(counts, "prompt_tokens_details", "cached_tokens"),
            inclusive=True,
            at=at,
        )
        if used:
            yield used


def _given(event: dict[str, Any]) -> Any:
    """What the model wrote; the parsed action has defaults filled in."""
    written = path(event, "tool_call", "arguments")
    if written is None:
        written = path(event, "tool_call", "function", "arguments")
    return arguments(written) if written is not None else event.get("action")


def _without_noise(given: Any) -> Any:
    """The arguments without what describes the call (its risk, its summary) instead of making it."""
    if not isinstance(given, dict):
        return given
    only_thought = set(given) <= {"thought"}
    return {name: value for name, value in given.items() if name not in _NOISE or only_thought}


def _asked(response: dict[str, Any], raw: str) -> Any:
    for choice in seq(response.get("choices")):
        for call in seq(path(choice, "message", "tool_calls")):
            if raw and obj(call).get("id") == raw:
                return arguments(path(call, "function", "arguments"))
    return None


def _new_result(kind: str, event: dict[str, Any]) -> dict[str, Any]:
    if kind == "AgentErrorEvent":
        return wire.result(text(event.get("error")), error=True)
    if kind == "UserRejectObservation":
        return wire.result(text(event.get("rejection_reason")), error=True, code="rejected")
    observation = obj(event.get("observation"))
    content = observation.get("content", observation.get("output"))
    shown = blocks([{**part, "type": "text"} if "text" in obj(part) else part for part in seq(content)] or content)
    if string(observation.get("kind")) in _SHELL_OBSERVATIONS:
        metadata = obj(observation.get("metadata"))
        code = observation.get("exit_code")
        return _ran(
            shown,
            metadata.get("exit_code") if code is None else code,
            observation.get("timeout") is True,
            observation.get("is_error") is True or observation.get("error") is True,
        )
    return wire.result(shown, error=observation.get("is_error") is True or observation.get("error") is True)


def _ran(content: Any, code: Any, timed_out: bool, error: bool) -> dict[str, Any]:
    number = whole(code)
    if timed_out:
        return wire.result(content, value=wire.foreground(timed_out=True))
    if number == -1:
        # It still runs: the harness gave up waiting and lets the agent decide.
        return wire.result(content, value=wire.BACKGROUND)
    return wire.result(content, error=error and number in (None, 0), value=wire.foreground(number))


def _old_result(observation: str, event: dict[str, Any]) -> dict[str, Any]:
    content = text(event.get("content"))
    extras = obj(event.get("extras"))
    if observation == "error":
        return wire.result(content, error=True, code=string(extras.get("error_id")) or None)
    if observation == "user_rejected":
        return wire.result(content, error=True, code="rejected")
    if observation == "run":
        code = path(extras, "metadata", "exit_code")
        said = content + string(path(extras, "metadata", "suffix"))
        timed_out = "[The command timed out after" in said[-600:]
        return _ran(content, extras.get("exit_code") if code is None else code, timed_out, False)
    if observation == "mcp":
        failed = '"isError": true' in content[:2000] or _says_error(content)
        return wire.result(content, error=failed)
    return wire.result(content, error=extras.get("error") is True)


def _says_error(content: str) -> bool:
    try:
        return obj(json.loads(content)).get("isError") is True
    except (ValueError, RecursionError):
        return False
