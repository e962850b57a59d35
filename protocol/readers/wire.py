"""Building the params of wire messages. Every message carries `at`: seconds, or None when nobody knows."""

from __future__ import annotations

import re
from typing import Any

from .fields import count, whole
from .session import Message

MAIN = "main"


def guard(
    agent: str,
    call_id: str,
    tool: str,
    arguments: Any,
    at: float | None = None,
    step: str | None = None,
    parent: str | None = None,
) -> Message:
    params = {"agent": agent, "callId": call_id, "tool": tool, "arguments": arguments, "at": at}
    if step:
        params["step"] = step
    if parent:
        params["parent"] = parent
    return "guard", params


def settled(agent: str, call_id: str, result: dict[str, Any], at: float | None = None) -> Message:
    return "postExecute", {"agent": agent, "callId": call_id, "result": result, "at": at}


def user_turn(agent: str, at: float | None = None) -> Message:
    return "userTurn", {"agent": agent, "source": "user", "at": at}


def usage(
    agent: str,
    request_id: str | None,
    *,
    inputs: Any = 0,
    outputs: Any = 0,
    cache_read: Any = 0,
    cache_write: Any = 0,
    inclusive: bool = False,
    at: float | None = None,
) -> Message | None:
    """One model request; `inclusive` says that the input count contains the cached ones. None when all are 0."""
    read, written, total = count(cache_read), count(cache_write), count(inputs)
    fresh = max(0, total - read - written) if inclusive else total
    if not (fresh or read or written or count(outputs)):
        return None
    params: dict[str, Any] = {
        "agent": agent,
        "inputTokens": fresh,
        "outputTokens": count(outputs),
        "cacheReadTokens": read,
        "cacheWriteTokens": written,
        "at": at,
    }
    if request_id:
        params["requestId"] = request_id
    return "usage", params


def started(
    agent: str, parent: str, kind: str = "subagent", call_id: str | None = None, at: float | None = None
) -> Message:
    params: dict[str, Any] = {"agent": agent, "parent": parent, "kind": kind, "at": at}
    if call_id:
        params["callId"] = call_id
    return "agentStarted", params


def ended(agent: str, at: float | None = None) -> Message:
    return "agentEnded", {"agent": agent, "at": at}


def compacted(agent: str, at: float | None = None) -> Message:
    return "compacted", {"agent": agent, "at": at}


def approval(agent: str, call_id: str, outcome: str, at: float | None = None) -> Message:
    return "approval", {"agent": agent, "callId": call_id, "outcome": outcome, "at": at}


def result(
    content: Any,
    *,
    error: bool = False,
    code: str | None = None,
    value: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A result; `code` names the error where the format does."""
    made: dict[str, Any] = {"content": content, "isError": error}
    if code:
        made["error"] = {"code": code}
    if value:
        made["value"] = value
    return made


def foreground(
    exit_code: Any = None,
    *,
    timed_out: bool = False,
    timeout_ms: Any = None,
    signal: str | None = None,
    interrupted: bool = False,
) -> dict[str, Any] | None:
    """The value of a command that was waited for; None when nothing of it is known.

    A command that ran out of time also has the exit code of its kill: the time-out is what happened.
    """
    value: dict[str, Any] = {}
    code = whole(exit_code)
    if code is not None and not timed_out and not interrupted:
        value["exitCode"] = code
    if timed_out:
        value["timedOut"] = True
        limit = whole(timeout_ms)
        if limit is not None:
            value["timeoutMs"] = limit
    if signal:
        value["signal"] = signal
    if interrupted:
        value["interrupted"] = True
    return {"kind": "foreground", **value} if value else None


BACKGROUND: dict[str, Any] = {"kind": "background"}
"""The value of a command that is still running: nobody knows yet how it ends."""

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) ?(ms|milliseconds|s|sec|seconds|m|minutes)\b")
_MILLISECONDS = {"ms": 1, "milliseconds": 1, "s": 1000, "sec": 1000, "seconds": 1000, "m": 60_000, "minutes": 60_000}


def milliseconds(text: str) -> int | None:
    """The first duration in a sentence such as `timed out after 2m 0.0s` or `exceeding timeout 1500 ms`."""
    match = _DURATION.search(text)
    return round(float(match[1]) * _MILLISECONDS[match[2]]) if match else None
