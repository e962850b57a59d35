"""What Claude Code and the clients that took over its hooks have in common."""

from __future__ import annotations

from typing import Any

from breaker.events import Result
from protocol.hook.harness import Event, members, text


def agent(event: Event) -> tuple[str, str | None]:
    """The session, or the subagent in it."""
    session, sub = text(event.get("session_id")), text(event.get("agent_id"))
    return (f"{session}/{sub}", session) if session and sub else (session, None)


def call(event: Event) -> tuple[str, Any, str]:
    """Tool, arguments, id."""
    return text(event.get("tool_name")), event.get("tool_input"), text(event.get("tool_use_id"))


def deny(event: Event, reason: str) -> dict[str, Any]:
    return _decided(event, "deny", reason)


def ask(event: Event, reason: str) -> dict[str, Any]:
    return _decided(event, "ask", reason)


def tell(event: Event, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}


def plain_result(response: Any) -> Result:
    """A response of which nothing more is known than its text; MCP's has content and a flag."""
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        return Result(response["content"], is_error=response.get("isError") is True)
    return Result(said(response))


def said(response: Any) -> Any:
    """What the model reads of a response: the text or blocks in it, else all of it as JSON."""
    if isinstance(response, str | list) or response is None:
        return response
    known = members(response)
    for name in ("content", "text", "result", "output", "stdout"):
        if isinstance(known.get(name), str | list):
            return known[name]
    if isinstance(members(known.get("file")).get("content"), str):
        return known["file"]["content"]
    import msgspec

    return msgspec.json.encode(response).decode()


def _decided(event: Event, decision: str, reason: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "hookEventName": event["hook_event_name"],
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
    }
