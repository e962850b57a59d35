"""Small builders for judgement sessions, so that a session reads as what the agent did."""

from __future__ import annotations

import random
from typing import Any

Step = dict[str, Any]
MISSING: Any = object()


class Session:
    """One recorded session: calls with their answers, in order, as a harness would send them.

    `clock=None` leaves times out. Otherwise each call begins `gap` seconds after the one before it ended and takes
    `took` seconds. `parallel=True` puts calls into the step of the call before.
    """

    def __init__(self, name: str, want: str, why: str, clock: float | None = None, gap: float = 3.0) -> None:
        self.case: dict[str, Any] = {"case": name, "want": want, "why": why, "steps": []}
        self.clock = clock
        self.gap = gap
        self.count = 0
        self.step = -1

    def call(
        self,
        tool: str,
        arguments: Any,
        content: Any,
        *,
        agent: str = "main",
        parent: str | None = None,
        exit: int | None = None,  # noqa: A002 - the shell's word
        error: str | None = None,
        code: str = "TOOL_ERROR",
        value: Any = MISSING,
        parallel: bool = False,
        gap: float | None = None,
        took: float = 0.3,
        **more: Any,
    ) -> Session:
        if not parallel or self.step < 0:
            self.step += 1
        guard: Step = {"agent": agent, "callId": f"c{self.count}", "tool": tool, "arguments": arguments}
        guard["step"] = f"s{self.step}"
        if parent:
            guard["parent"] = parent
        result: Step = {"content": content, "isError": error is not None}
        if exit is not None:
            result["value"] = {"kind": "foreground", "exitCode": exit}
        if value is not MISSING:
            result["value"] = value
        if error is not None:
            result["content"] = error if content is None else content
            result["error"] = {"code": code, "message": error}
        one: Step = {"guard": guard, "result": result}
        if self.clock is not None:
            if not parallel:
                self.clock += self.gap if gap is None else gap
            guard["at"] = round(self.clock, 3)
            self.clock += took
            one["settledAt"] = round(self.clock, 3)
        one |= more
        self.count += 1
        self.case["steps"].append(one)
        return self

    def sh(self, command: str, out: str = "", exit: int = 0, tool: str = "Bash", **more: Any) -> Session:  # noqa: A002
        return self.call(tool, {"command": command}, out, exit=exit, **more)

    def compacted(self, agent: str = "main") -> Session:
        self.case["steps"].append({"compacted": {"agent": agent}})
        return self


def rng(seed: str) -> random.Random:
    """A random source that is the same in every run."""
    return random.Random(seed)


def hexes(source: random.Random, length: int) -> str:
    return "".join(source.choice("0123456789abcdef") for _ in range(length))


def uuid(source: random.Random) -> str:
    return "-".join(hexes(source, n) for n in (8, 4, 4, 4, 12))
