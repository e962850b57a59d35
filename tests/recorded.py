"""Sessions for tests of the replay, made in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocol.readers import Message, Session


class Made:
    """Collects messages; `session()` gives them as a reader would."""

    def __init__(self, agent: str = "main") -> None:
        self.messages: list[Message] = []
        self.agent = agent
        self.calls = 0
        self.at: float | None = 1000.0

    def turn(self) -> Made:
        self._add("userTurn", source="user")
        return self

    def guard(self, command: str, **more: Any) -> str:
        self.calls += 1
        call_id = f"c{self.calls}"
        self._add("guard", callId=call_id, tool="bash", arguments={"command": command}, **more)
        return call_id

    def settle(self, call_id: str, exit_code: int = 0, text: str = "done") -> Made:
        value = {"kind": "foreground", "exitCode": exit_code}
        self._add("postExecute", callId=call_id, result={"content": text, "value": value})
        return self

    def runs(self, command: str, times: int = 1, exit_code: int = 0) -> Made:
        for _ in range(times):
            self.settle(self.guard(command), exit_code, f"{command} said {exit_code}")
        return self

    def usage(self, inputs: int) -> Made:
        self._add("usage", requestId=f"r{len(self.messages)}", inputTokens=inputs)
        return self

    def add(self, method: str, **params: Any) -> Made:
        self._add(method, **params)
        return self

    def _add(self, method: str, **params: Any) -> None:
        if self.at is not None:
            self.at += 1
        self.messages.append((method, {"agent": self.agent, "at": self.at, **params}))

    def session(self, name: str = "made", outcome: str | None = None, **more: Any) -> Session:
        def copies() -> Iterator[Message]:
            for method, params in self.messages:
                yield method, dict(params)

        return Session(name, "sessions", copies(), source="made.jsonl", outcome=outcome, **more)
