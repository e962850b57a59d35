"""What a host of agents says in days, made up: work, loops, failures, questions, users, and broken lines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

Message = tuple[str, dict[str, Any]]
"""A method and its params."""

HOSTS = [f"{name}.example" for name in "alpha beta gamma delta epsilon zeta eta theta".split()]  # noqa: SIM905
FILES = [f"src/{folder}/{name}.py" for folder in ("core", "web", "db") for name in ("a", "b", "c", "d")]
WORDS = "the call returned nothing new and the table holds rows of names numbers dates paths".split()  # noqa: SIM905

BROKEN = [
    b"{",
    b"nonsense",
    b"\xff\xfe\x00",
    b"[" * 3000,
    b'{"jsonrpc":"2.0","id":1,"method":"guard","params":{"tool":"x","arguments":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"guard","params":{"tool":7,"arguments":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"guard","params":[1]}',
    b'{"jsonrpc":"2.0","id":1,"method":"nothing","params":{}}',
    b'{"jsonrpc":"1.0","id":1,"method":"status"}',
    b'{"jsonrpc":"2.0","id":1,"method":"postExecute","params":{"callId":"never","result":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"config":{"window":"x"}}}',
    b"x" * 70_000,
]
"""Lines that are answered with an error and change nothing. The last is longer than the server takes."""


class Agent:
    """One agent: what it says next, depending on what it was answered; and its last turn, to be played again."""

    def __init__(self, number: int, count: int, seed: int) -> None:
        self.random = random.Random(f"{seed} {number}")
        self.name = f"agent-{number}"
        # Each fifth agent works for the one before it.
        self.parent = f"agent-{number - 1}" if number % 5 == 4 and number < count else None
        self.calls = 0
        self.turn: list[Message] = []
        self.answers: list[Any] = []
        self.now = 1_000_000.0 + number
        self._steps = self._live()
        self._answer: Any = None

    def next(self) -> Message:
        method, params = self._steps.send(self._answer) if self._answer is not None else next(self._steps)
        if method == "userTurn":
            self.turn, self.answers = [], []
        elif method != "status":
            self.turn.append((method, params))
        return method, params

    def answered(self, result: Any) -> None:
        self._answer = result
        if len(self.answers) < len(self.turn):
            self.answers.append(result)

    def _live(self) -> Iterator[Message]:
        chance = self.random
        while True:
            loops = max(0.0, 0.2 - chance.random())  # one turn in five, and in one of ten what fails
            habit = self._call(chance)
            for _ in range(chance.randint(4, 60)):
                self.now += chance.random() * 20
                if loops and chance.random() < 0.9:
                    yield from self._one(*habit, "the same answer again", fails=loops < 0.1)
                else:
                    yield from self._one(*self._call(chance), self._text(), fails=chance.random() < 0.12)
            if chance.random() < 0.1:
                yield "compacted", {"agent": self.name}
            if chance.random() < 0.05:
                yield "status", {"agent": self.name}
            yield "userTurn", {"agent": self.name, "at": self.now}

    def _one(self, tool: str, arguments: Any, answer: str, fails: bool) -> Iterator[Message]:
        chance = self.random
        self.calls += 1
        call_id = f"{self.name}-{self.calls}"
        params: dict[str, Any] = {"agent": self.name, "callId": call_id, "tool": tool, "arguments": arguments}
        params |= {"at": self.now, "canAsk": chance.random() < 0.5}
        if self.parent:
            params["parent"] = self.parent
        verdict = yield "guard", params  # type: ignore[misc]
        if verdict["decision"] == "ask":
            outcome = chance.choice(["approved", "rejected", "cancelled", "unavailable"])
            verdict = yield "approval", {"agent": self.name, "callId": call_id, "outcome": outcome}  # type: ignore[misc]
        if verdict["decision"] == "deny":
            result: dict[str, Any] = {"content": f"Error: {verdict['reason']}", "isError": True}
        elif tool == "bash":
            result = {"content": answer, "value": {"kind": "foreground", "exitCode": int(fails)}}
        else:
            result = {"content": [{"type": "text", "text": answer}], "isError": fails}
        done: dict[str, Any] = {"agent": self.name, "callId": call_id, "result": result, "at": self.now + 1}
        if self.calls % 2:  # each model response made two calls
            done["usage"] = {"inputTokens": 500, "outputTokens": 20, "requestId": f"r-{call_id}"}
        yield "postExecute", done

    def _text(self) -> str:
        chance = self.random
        return " ".join(chance.choices(WORDS, k=chance.choice([3, 20, 60, 300]))) + f" {chance.randrange(10**6)}"

    @staticmethod
    def _call(chance: random.Random) -> tuple[str, Any]:
        host, file = chance.choice(HOSTS), chance.choice(FILES)
        number = chance.randrange(10_000)
        kind = chance.random()
        if kind < 0.15:
            return "bash", {"command": f"curl -sS -m {number % 60} https://{host}/v1/items?page={number % 20}"}
        if kind < 0.3:
            return "bash", {"command": f"cd src && make -j4 {file} 2>&1 | tail -{number % 40}", "timeout": number}
        if kind < 0.4:
            return "bash", {"command": f"cat > {file} <<'EOF'\nvalue = {number}\nEOF\npython3 {file}"}
        if kind < 0.5:
            return "fetch", {"url": f"http://www.{host}:80/page/{number % 50}", "reason": str(number)}
        if kind < 0.75:
            return "read", {"file_path": file, "offset": number % 5 * 100}
        if kind < 0.9:
            return "edit", {"file_path": file, "old": f"value = {number % 7}", "new": f"value = {number}"}
        return chance.choice(["grep", "todo_write", "web_search", "mcp__db__query"]), {"query": f"select {number % 9}"}


def request(message: Message, number: int) -> bytes:
    """A message as a line."""
    method, params = message
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
