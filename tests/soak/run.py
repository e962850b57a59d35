"""Two million calls of five thousand agents through one process: `make soak`, or run.py [--calls N] [--agents N] …

One line in a hundred is broken. At the end the process must hold no more memory than a tenth of the way in, within
10 %, and a fresh process must judge each agent's last turn as it did. Exit status 1 when either does not hold.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import threading
import time
from queue import SimpleQueue
from typing import Any, NamedTuple

from soak.traffic import BROKEN, Agent, Message, request
from support import Server

AT_ONCE = 100
"""Agents whose messages are on their way at the same time."""
OPTIONS = ("--max-line-bytes", "65536", "--subagent-tools", "0", "--subagent-requests", "0", "--fanout", "0")
"""Quotas outlast a turn; what is compared are the tracks."""
TRACKS = ("repeat", "failure")
ALLOWED_GROWTH = 0.10


class Outcome(NamedTuple):
    """What came of it. `memory` in bytes at each tenth; `denied` of `calls`."""

    calls: int
    broken: int
    denied: int
    asked: int
    seconds: float
    memory: list[int]
    compared: int
    verdicts: int
    different: list[str]

    @property
    def growth(self) -> float:
        return self.memory[-1] / self.memory[0] - 1


class Talk:
    """A server, written to by a thread, so that neither side waits for the other with its pipe full."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        while line := self._lines.get():
            self.server.send(line)

    def send(self, lines: list[bytes]) -> None:
        self._lines.put(b"".join(lines))

    def reply(self) -> Any:
        return json.loads(self.server.line())

    def close(self) -> int:
        self._lines.put(b"")
        return self.server.close()


def soak(calls: int, agents: int, seed: int = 1, profile: str = "standard", log: bool = False) -> Outcome:
    """Let `agents` make `calls` calls, one in a hundred lines broken; then ask a fresh process for a second opinion."""
    chance = random.Random(seed)
    host = [Agent(number, agents, seed) for number in range(agents)]
    begun = time.monotonic()
    memory: list[int] = []
    made = broken = denied = asked = 0
    with Server("--profile", profile, *OPTIONS) as server:
        talk = Talk(server)
        for number in itertools.count():
            batch = chance.sample(host, min(AT_ONCE, agents))
            said = [(agent, agent.next()) for agent in batch]
            lines, expected = _with_broken([request(message, number) for _, message in said], chance)
            talk.send(lines)
            replies = [talk.reply() for _ in range(expected)]
            wrong = [reply for reply in replies if "error" in reply]
            results = [reply["result"] for reply in replies if "error" not in reply]
            assert len(results) == len(said), wrong
            assert all(reply["error"]["code"] != -32603 for reply in wrong), wrong
            broken += len(wrong)
            for (agent, (method, _)), result in zip(said, results, strict=True):
                assert not (isinstance(result, dict) and result.get("degraded")), result
                agent.answered(result)
                if method in ("guard", "approval"):
                    made += method == "guard"
                    denied += result["decision"] == "deny"
                    asked += result["decision"] == "ask"
            if made * 10 >= calls * (len(memory) + 1):
                memory.append(_memory(talk))
                if log:
                    rate = made / (time.monotonic() - begun)
                    print(f"{made:>9} calls {memory[-1] / 1e6:8.1f} MB {rate:7.0f} calls/s", flush=True)
            if made >= calls:
                break
        took = time.monotonic() - begun
        talk.send([request(("status", {"agent": ""}), 0)])
        assert talk.reply()["result"]["server"]["faults"] == 0
        assert talk.close() == 0
        assert server.stderr() == ""
    verdicts, different = _second_opinion(host, profile)
    return Outcome(made, broken, denied, asked, took, memory, len(host), verdicts, different)


def _with_broken(lines: list[bytes], chance: random.Random) -> tuple[list[bytes], int]:
    """The lines with one in a hundred more that is broken, and how many replies are due."""
    mixed: list[bytes] = []
    expected = 0
    for line in lines:
        if chance.random() < 0.01:
            mixed.append(chance.choice(BROKEN) + b"\n")
            expected += 1
        mixed.append(line)
        expected += 1
    return mixed, expected


def _memory(talk: Talk) -> int:
    talk.send([request(("status", {"agent": ""}), 0)])
    return int(talk.reply()["result"]["server"]["memory"])


def _second_opinion(host: list[Agent], profile: str) -> tuple[int, list[str]]:
    """How many verdicts of last turns a fresh memory was asked about, and where it judged otherwise."""
    different: list[str] = []
    verdicts = 0
    with Server("--profile", profile, *OPTIONS) as server:
        talk = Talk(server)
        for agent in host:
            turn = agent.turn[: len(agent.answers)]
            fresh: Message = ("initialize", {})
            talk.send([request(message, 0) for message in (fresh, *turn)])
            replies = [talk.reply()["result"] for _ in range(len(turn) + 1)][1:]
            for (method, params), was, now in zip(turn, agent.answers, replies, strict=True):
                if method in ("guard", "approval"):
                    verdicts += 1
                    if _of_tracks(was) != _of_tracks(now):
                        different.append(f"{params['callId']}: {_of_tracks(was)} / {_of_tracks(now)}")
        assert talk.close() == 0
    return verdicts, different


def _of_tracks(verdict: dict[str, Any]) -> Any:
    hits = [hit for hit in verdict["hits"] if hit["gate"] in TRACKS]
    return verdict["decision"], hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000_000)
    parser.add_argument("--agents", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", default="standard")
    args = parser.parse_args()
    found = soak(args.calls, args.agents, args.seed, args.profile, log=True)
    print(f"{found.calls} calls of {args.agents} agents in {found.seconds:.0f} s, {found.broken} broken lines")
    print(f"{found.denied} denied, {found.asked} asked")
    print(f"memory {found.memory[0] / 1e6:.1f} MB at a tenth, {found.memory[-1] / 1e6:.1f} MB at the end")
    print(f"{found.verdicts} verdicts of {found.compared} last turns, {len(found.different)} otherwise when fresh")
    for each in found.different[:10]:
        print(f"  {each}")
    return int(found.growth > ALLOWED_GROWTH or bool(found.different))


if __name__ == "__main__":
    sys.exit(main())
