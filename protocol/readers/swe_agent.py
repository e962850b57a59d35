"""SWE-agent trajectories (`*.traj`): `{trajectory: [{action, observation, …}], history, info}`, or the history alone.

Actions are lines for its shell. No exit code is recorded, and no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .chat import Task
from .fields import obj, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "swe-agent"
SHELL = "bash"

_TIMED_OUT = re.compile(
    r"EXECUTION TIMED OUT|was cancelled because it took more than \d{1,9} seconds|because it was running for more than"
)


def is_document(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    steps, history = seq(value.get("trajectory")), seq(value.get("history"))
    if steps:
        return any("action" in obj(step) and "observation" in obj(step) for step in steps[:5])
    return any(_has_marks(obj(message)) for message in history[:8])


def _has_marks(message: dict[str, Any]) -> bool:
    return "role" in message and ("message_type" in message or "action" in message or "thought" in message)


def read_document(value: Any, context: Context) -> Iterator[Session]:
    info = obj(value.get("info"))
    name = string(value.get("instance_id")) or string(obj(info).get("instance_id")) or context.name
    steps = seq(value.get("trajectory"))
    if steps:
        messages = _steps(steps, context)
    else:
        messages = _History(context.notes, observed).messages(iter(seq(value.get("history"))))
    yield Session(name, NAME, messages, outcome=string(info.get("exit_status")) or None, notes=context.notes)


def _steps(steps: list[Any], context: Context) -> Iterator[Message]:
    yield wire.user_turn(MAIN)
    for number, step in enumerate(steps):
        step = obj(step)
        action = step.get("action")
        if not isinstance(action, str) or not action.strip():
            if not isinstance(action, str):
                context.notes.skip(f"step {number + 1} has no action")
            continue
        call_id = f"step-{number + 1}"
        yield wire.guard(MAIN, call_id, SHELL, {"command": action.rstrip("\n")}, step=call_id)
        if "observation" in step:
            yield wire.settled(MAIN, call_id, observed(SHELL, step["observation"]))


def observed(_tool: str, observation: Any) -> dict[str, Any]:
    said = text(observation)
    timed_out = bool(_TIMED_OUT.search(said[:400]))
    return wire.result(said, value=wire.foreground(timed_out=timed_out))


class _History(Task):
    """The message list: calls stand in `tool_calls`, else in `action`, with the next message as the result."""

    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        if message.get("is_demo") is not True:
            yield from super().message(message)

    def assistant(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        action = string(message.get("action")).strip()
        if message.get("tool_calls") or not action:
            yield from super().assistant(message, at)
        else:
            yield from self.call("", SHELL, {"command": action}, at)
