"""A scripted agent of a fleet: it asks before each step, and spends what a model would have cost.

usage: agent.py NAME [--steps N] [--tokens N]

Where the sums are kept comes from TOOLBREAKER_STATE and TOOLBREAKER_STATE_PASSWORD. Stopped by the fleet's budget, it
asks again every half a second until somebody lifts it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = "fleet"
"""The agent above all: nobody runs it, it has the budget that all share."""

CONFIG = Path(__file__).with_name("fleet.json")
TOOLBREAKER = [sys.executable, "-c", "import sys; from protocol.cli import main; sys.exit(main())"]
ASK_AGAIN_SECONDS = 0.5


class Gate:
    """`toolbreaker serve` as a child process."""

    def __init__(self) -> None:
        command = [*TOOLBREAKER, "serve", "--namespace", ROOT, "--config", str(CONFIG)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, method: str, **params: Any) -> Any:
        """The result of one request."""
        assert self._process.stdin
        assert self._process.stdout
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]

    def close(self) -> None:
        """Let it store what is left, and end."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def work(name: str, steps: int, tokens: int) -> None:
    """Do the steps, one call of a tool and one of the model each."""
    gate = Gate()

    def say(what: str) -> None:
        print(f"{name}: {what}", flush=True)

    gate.ask("agentStarted", agent=name, parent=ROOT, kind="subagent")
    for step in range(1, steps + 1):
        call = {"agent": name, "tool": "read", "arguments": {"file_path": f"chapter-{step}.md"}, "canAsk": False}
        verdict = gate.ask("guard", **call)
        if verdict["decision"] == "deny":
            say(f"stopped before step {step}. {verdict['reason'].splitlines()[0]}")
            while verdict["decision"] == "deny":
                time.sleep(ASK_AGAIN_SECONDS)
                verdict = gate.ask("guard", **call)
            say("goes on")
        # A number makes a request to the model count once, however often it is reported.
        usage = {"requestId": f"{name}-{time.time_ns()}", "inputTokens": tokens}
        gate.ask("postExecute", agent=name, tool="read", result={"content": "text"}, usage=usage)
        spent = gate.ask("status", agent=ROOT)["agents"][ROOT]["spent"]["family"]
        say(f"step {step} of {steps}, {tokens:,} tokens; the fleet spent {spent:,}")
    gate.ask("agentEnded", agent=name)
    gate.close()
    say("done")


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted agent of a fleet.")
    parser.add_argument("name")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=5_000)
    args = parser.parse_args()
    work(args.name, args.steps, args.tokens)


if __name__ == "__main__":
    main()
