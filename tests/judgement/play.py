"""Plays judgement sessions and recordings through the engine."""

from __future__ import annotations

import gzip
import json
import pathlib
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import UNSET, structs

from breaker.engine import Engine
from breaker.events import Annotations, Call, Result, Settled, Verdict
from breaker.settings import Settings, preset

HERE = pathlib.Path(__file__).parent


def settings(off: Collection[str] = (), **limits: bool | int | None) -> Settings:
    """The profile `adaptive` with some rules off, and other limits."""
    base = preset("adaptive")
    silent = {name: False if isinstance(base.adaptive[name], bool) else None for name in off}
    return structs.replace(base, adaptive={**base.adaptive, **silent, **limits})


class Player:
    """An engine that is fed what goes over the wire."""

    def __init__(self, chosen: Settings | None = None) -> None:
        self.engine = Engine(chosen or preset("adaptive"))
        self.stopped: set[tuple[str, str]] = set()

    def guard(self, params: dict[str, Any]) -> Verdict:
        given = params.get("annotations")
        verdict = self.engine.guard(
            Call(
                agent=params["agent"],
                tool=params["tool"],
                arguments=params["arguments"],
                call_id=params["callId"],
                parent=params.get("parent"),
                annotations=Annotations(**{_snake(name): value for name, value in given.items()}) if given else None,
                step=params.get("step"),
                at=params.get("at"),
                can_ask=params.get("canAsk", True),
            )
        )
        if verdict.decision != "allow":
            self.stopped.add((params["agent"], params["callId"]))
        return verdict

    def approve(self, agent: str, call_id: str) -> Verdict:
        """The operator lets a call run that was asked about."""
        self.stopped.discard((agent, call_id))
        return self.engine.approve(agent, call_id, "approved")

    def settle(self, params: dict[str, Any]) -> int:
        """How many advisories came with the outcome. What was stopped never ran, and has none."""
        if (params["agent"], params["callId"]) in self.stopped:
            return 0
        raw = params["result"]
        report = self.engine.settle(
            Settled(
                agent=params["agent"],
                call_id=params["callId"],
                tool=params.get("tool"),
                arguments=params.get("arguments", UNSET),
                at=params.get("at"),
                result=Result(raw.get("content"), raw.get("value"), bool(raw.get("isError")), raw.get("error")),
            )
        )
        return len(report.advisories)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """The notifications: a user turn, a compaction, an agent that starts or ends."""
        match method:
            case "userTurn":
                self.engine.user_turn(params["agent"], params.get("source", "user"), params.get("at"))
            case "compacted":
                self.engine.compacted(params["agent"])
            case "agentStarted":
                self.engine.agent_started(params["agent"], params["parent"], params.get("kind", "subagent"))
            case "agentEnded":
                self.engine.agent_ended(params["agent"])


def play(case: dict[str, Any], chosen: Settings | None = None) -> tuple[int | None, Verdict | None]:
    """The index of the first call of a session that is stopped, and the verdict."""
    player = Player(chosen)
    for n, step in enumerate(case["steps"]):
        for method in ("compacted", "userTurn"):
            if method in step:
                player.tell(method, step[method])
        if "guard" not in step:
            continue
        guard = {"at": None, **step["guard"]}
        verdict = player.guard(guard)
        if verdict.decision == "ask" and step.get("operator") == "approved":
            verdict = player.approve(guard["agent"], guard["callId"])
        if verdict.decision != "allow":
            return n, verdict
        if "starts" in step:
            player.tell("agentStarted", step["starts"])
        settled = {"agent": guard["agent"], "callId": guard["callId"], "result": step["result"]}
        if "executed" in step:
            settled |= {"tool": guard["tool"], "arguments": step["executed"]}
        player.settle({**settled, "at": step.get("settledAt")})
    return None, None


def gates(verdict: Verdict | None) -> list[str]:
    """The gates that stopped a call."""
    return sorted({hit.gate for hit in verdict.hits}) if verdict else []


def cases(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The sessions of a file of JSON lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def recorded(path: pathlib.Path) -> Iterator[dict[str, Any]]:
    """The recorded sessions of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
