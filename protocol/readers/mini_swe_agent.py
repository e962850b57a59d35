"""mini-swe-agent trajectories (`*.traj.json`): a chat in which each answer holds one fenced command.

The next user message is its result, `<returncode>N</returncode>` first. An answer without exactly one command was
never run: what follows is the harness asking for the right form. Since version 2 commands come as `tool_calls`, and
`extra` carries the return code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .chat import Task
from .fields import obj, path, seconds, seq, string, text
from .session import Context, Message, Session

NAME = "mini-swe-agent"
SHELL = "bash"

_FENCE = re.compile(r"^```(?:bash|sh|mswea_bash_command)[ \t]*\n", re.MULTILINE)
_RETURNCODE = re.compile(r"\A\s*<returncode>(-?\d{1,9})</returncode>|\A\s*\{\s*\"returncode\": ?(-?\d{1,9})\b")
_TIMED_OUT = re.compile(r"timed out and has been killed")
_REJECTED = "Command not executed. The user rejected"


def is_document(value: Any) -> bool:
    if isinstance(value, dict) and string(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return True
    messages = value.get("messages") if isinstance(value, dict) else value
    return any(_is_observation(obj(message)) for message in seq(messages)[:12])


def _is_observation(message: dict[str, Any]) -> bool:
    if message.get("role") not in ("user", "tool"):
        return False
    return "returncode" in obj(message.get("extra")) or bool(_RETURNCODE.match(text(message.get("content"))[:60]))


def read_document(value: Any, context: Context) -> Iterator[Session]:
    whole = obj(value)
    messages = seq(whole.get("messages")) if whole else seq(value)
    outcome = string(path(value, "info", "exit_status")) or None
    name = string(whole.get("instance_id")) or context.name
    yield Session(
        name, NAME, _Mini(context.notes, _observed).messages(iter(messages)), outcome=outcome, notes=context.notes
    )


class _Mini(Task):
    def time(self, message: dict[str, Any]) -> float | None:
        at = seconds(path(message, "extra", "timestamp"))
        return at if at is not None else seconds(path(message, "extra", "response", "created"))

    def assistant(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        if message.get("tool_calls"):
            yield from super().assistant(message, at)
            return
        actions = seq(path(message, "extra", "actions"))
        commands = [string(obj(action).get("command")) for action in actions] or fenced(text(message.get("content")))
        if actions or len(commands) == 1:
            for command in commands:
                yield from self.call("", SHELL, {"command": command}, at)

    def answer(self, raw: str, content: Any, holder: dict[str, Any], at: float | None) -> Iterator[Message]:
        code = path(holder, "extra", "returncode")
        for method, params in super().answer(raw, content, holder, at):
            if code is not None and "value" not in params["result"]:
                params["result"]["value"] = wire.foreground(code)
            yield method, params


def fenced(answer: str) -> list[str]:
    """The commands in fences of a shell language; a fence that is not closed holds none."""
    commands, position = [], 0
    while match := _FENCE.search(answer, position):
        end = answer.find("\n```", match.end() - 1)
        if end < 0:
            break
        commands.append(answer[match.end() : max(end, match.end())].strip())
        position = end + 4
    return commands


def _observed(_tool: str, content: Any) -> dict[str, Any]:
    said = text(content)
    head = said[:2000]
    code = _RETURNCODE.match(head)
    if code:
        return wire.result(said, value=wire.foreground(code[1] or code[2]))
    if said.startswith(_REJECTED):
        return wire.result(said, error=True, code="rejected")
    return wire.result(said, value=wire.foreground(timed_out=bool(_TIMED_OUT.search(head))))
