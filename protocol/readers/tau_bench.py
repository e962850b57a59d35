"""tau-bench results (a list of `{task_id, reward, traj}`) and tau2-bench results (`{simulations: [{messages}]}`).

Customers are simulated people: each of their messages is a user turn. Tools that a tau2 customer calls are not the
agent's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import wire
from .chat import Chat
from .fields import blocks, obj, path, seq, string, text
from .session import Context, Message, Session

NAME = "tau-bench"
NAME2 = "tau2-bench"


def is_document(value: Any) -> bool:
    runs = seq(value)[:3] or [value]
    return any(isinstance(obj(run).get("traj"), list) and "reward" in obj(run) for run in runs)


def is_document2(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    runs = seq(value.get("simulations"))[:3]
    return any(isinstance(obj(run).get("messages"), list) for run in runs) or _is_simulation(value)


def _is_simulation(value: dict[str, Any]) -> bool:
    return isinstance(value.get("messages"), list) and "reward_info" in value and "task_id" in value


def read_document(value: Any, context: Context) -> Iterator[Session]:
    for number, run in enumerate(seq(value) or [value]):
        run = obj(run)
        messages = _Tau(context.notes, _answered).messages(iter(seq(run.get("traj"))))
        yield Session(_name(run, number), NAME, messages, outcome=_outcome(run.get("reward")), notes=context.notes)


def read_document2(value: Any, context: Context) -> Iterator[Session]:
    for number, run in enumerate(seq(value.get("simulations")) or [value]):
        run = obj(run)
        reward = path(run, "reward_info", "reward")
        messages = _Tau(context.notes).messages(iter(seq(run.get("messages"))))
        yield Session(_name(run, number), NAME2, messages, outcome=_outcome(reward), notes=context.notes)


def _name(run: dict[str, Any], number: int) -> str:
    task, trial = run.get("task_id"), run.get("trial")
    if task is None:
        return f"run {number + 1}"
    return f"task {task}" if trial is None else f"task {task} trial {trial}"


def _outcome(reward: Any) -> str | None:
    """A reward of 1 (give or take rounding) is a success; there is nothing between."""
    if isinstance(reward, bool) or not isinstance(reward, int | float):
        return None
    return "success" if reward > 1 - 1e-6 else "failure"


def _answered(_tool: str, content: Any) -> dict[str, Any]:
    # Its tools catch every exception and return its text after this word.
    return wire.result(blocks(content), error=text(content).startswith("Error"))


class _Tau(Chat):
    def message(self, message: dict[str, Any]) -> Iterator[Message]:
        if message.get("requestor") == "user":
            return
        for part in seq(message.get("tool_messages")):
            if obj(part).get("requestor") != "user":
                yield from super().message({"role": "tool", **obj(part)})
        if not message.get("tool_messages"):
            yield from super().message(message)

    def by_person(self, message: dict[str, Any], content: Any) -> bool:
        return bool(string(content).strip()) and not message.get("tool_calls")
