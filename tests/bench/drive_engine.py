"""Plays traces through the engine, the counterpart of drive_plugin.mjs. Prints what traces.py reads.

usage: drive_engine.py PROFILE PASSES TRACES...
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from breaker import Call, Engine, Layer, Result, Settled, resolve

DENIED = Result(content="Error: denied", is_error=True, error={"code": "DENIED", "name": "ToolDenied"})
EMPTY = Result(content=[])
"""What a call brings that did not run when the trace was written."""


class Message(NamedTuple):
    agent: str
    source: str


class Attempt(NamedTuple):
    """A call, what the operator says should it be asked about, and what is settled if it runs and if not."""

    call: Call
    approval: Any
    ran: Settled
    denied: Settled


def prepare(trace: dict[str, Any], profile: str) -> tuple[Engine, list[Message | Attempt]]:
    """An engine of its own for a trace, and the trace in its terms: everything that need not be timed.

    The traces are configured for the plugin; profiles that are not its own are measured as they are.
    """
    config = trace["config"] if profile == "repeat-tool-breaker" else {}
    settings = resolve([Layer("trace", {"profile": profile, **config})]).settings
    return Engine(settings, key=b"bench"), [event(step) for step in trace["steps"]]


def event(step: dict[str, Any]) -> Message | Attempt:
    if "userTurn" in step:
        return Message(step["userTurn"]["agent"], step["userTurn"]["source"])
    guard, expect, told = step["guard"], step["expect"], step["result"]
    agent, call_id = guard["agent"], guard["callId"]
    ran = expect.get("afterApproval", expect["decision"]) == "allow"
    result = Result(told["content"], told.get("value"), told["isError"], told.get("error")) if ran else EMPTY
    return Attempt(
        Call(agent, guard["tool"], guard["arguments"], call_id),
        step.get("approval", "unavailable"),
        Settled(agent, result, call_id),
        Settled(agent, DENIED, call_id),
    )


def play(engine: Engine, events: list[Message | Attempt]) -> int:
    """How many calls were blocked."""
    blocked = 0
    for event in events:
        if isinstance(event, Message):
            engine.user_turn(event.agent, event.source)
            continue
        call = event.call
        decision = engine.guard(call).decision
        if decision == "ask":
            decision = engine.approve(call.agent, call.call_id, event.approval).decision
        runs = decision == "allow"
        if not runs:
            blocked += 1
        engine.settle(event.ran if runs else event.denied)
    return blocked


def forget() -> None:
    """Empty the caches that engines share: what a pass knows, it must not know from the one before it."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "breaker":
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def main(profile: str, passes: int, files: list[str]) -> None:
    traces = [json.loads(line) for file in files for line in Path(file).read_text().splitlines()]
    calls = sum("guard" in step for trace in traces for step in trace["steps"])
    blocked, seconds = 0, []
    gc.freeze()  # as `serve` does
    for _ in range(passes):
        prepared = [prepare(trace, profile) for trace in traces]
        forget()
        began = time.process_time()
        blocked = sum(play(*trace) for trace in prepared)
        seconds.append(time.process_time() - began)
    print(json.dumps({"calls": calls, "blocked": blocked, "seconds": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
