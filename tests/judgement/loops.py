"""Takes the last calls of recorded sessions and repeats them with the same answers: how soon is that stopped?

usage: PYTHONPATH=.:tests python -m judgement.loops FILE.jsonl.gz …
"""

from __future__ import annotations

import collections
import pathlib
import sys
from typing import Any

from judgement.play import Player, recorded

LENGTHS = (1, 2, 3, 5)
ROUNDS = 40


def last_calls(session: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The settled calls of a session's first agent, in order, with their answers."""
    opened: dict[str, dict[str, Any]] = {}
    settled = []
    for method, params in session["messages"]:
        if method == "guard" and params["agent"] == "main":
            opened[params["callId"]] = params
        elif method == "postExecute" and params["callId"] in opened:
            settled.append((opened.pop(params["callId"]), params))
    return settled


def stopped_after(session: dict[str, Any], length: int) -> tuple[int | None, str]:
    """How many looped calls ran before the stop, and the gate that stopped them."""
    player = Player()
    now = None
    for method, params in session["messages"]:
        if method == "guard":
            player.guard({"at": None, **params})
        elif method == "postExecute":
            player.settle(params)
        else:
            player.tell(method, params)
        now = params.get("at") or now
    tail = last_calls(session)[-length:]
    for n in range(ROUNDS * length):
        guard, settled = tail[n % length]
        call_id = f"again-{n}"
        now = None if now is None else now + 3
        verdict = player.guard({**guard, "callId": call_id, "at": now})
        if verdict.decision != "allow":
            return n, verdict.hits[0].gate
        player.settle({**settled, "callId": call_id, "at": None if now is None else now + 0.5})
    return None, ""


def main(paths: list[str]) -> None:
    for length in LENGTHS:
        rounds: collections.Counter[int] = collections.Counter()
        gates: collections.Counter[str] = collections.Counter()
        never = []
        total = 0
        for path in paths:
            for session in recorded(pathlib.Path(path)):
                if len(last_calls(session)) < length:
                    continue
                total += 1
                after, gate = stopped_after(session, length)
                if after is None:
                    never.append(session["session"])
                else:
                    rounds[after // length] += 1
                    gates[gate] += 1
        stopped = sum(rounds.values())
        print(
            f"last {length}: {stopped}/{total} stopped, whole rounds before: {dict(sorted(rounds.items()))} "
            "{dict(gates)}"
        )
        for name in never[:10]:
            print("   never:", name)


if __name__ == "__main__":
    main(sys.argv[1:])
