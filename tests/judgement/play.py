"""Plays judgement sessions through the rules directly, without an engine."""

from __future__ import annotations

import gzip
import json
import pathlib
from collections.abc import Collection, Iterator
from typing import Any

from breaker import failure
from breaker.events import Annotations, Result
from breaker.evidence import log as evidence
from breaker.evidence.answers import read_answer
from breaker.evidence.keys import Facts, describe
from breaker.identity.identify import Identifier
from breaker.rules.adaptive.assess import assess
from breaker.rules.adaptive.base import Finding
from breaker.adaptive_limits import Limits
from breaker.rules.adaptive.spawning import Tree
from breaker.settings import preset

HERE = pathlib.Path(__file__).parent


class Player:
    """One process' worth of agents, judged by the rules of the profile."""

    def __init__(self, limits: Limits | None = None, off: Collection[str] = ()) -> None:
        self.identifier = Identifier(preset("adaptive"))
        self.limits = limits or Limits()
        self.off = off
        self.tree = Tree()
        self.logs: dict[str, evidence.Log] = {}
        self.facts: dict[tuple[str, str], tuple[Facts, Any, int, float | None]] = {}

    def guard(self, params: dict[str, Any]) -> list[Finding]:
        """The findings that stop the call, none when it may run."""
        agent, tool, arguments = params["agent"], params["tool"], params["arguments"]
        now = params.get("at")
        self.tree.seen(agent, params.get("parent"), now)
        log = self.logs.setdefault(agent, evidence.Log())
        identity = self.identifier.identify(tool, arguments)
        given = params.get("annotations")
        hints = Annotations(**{_snake(k): v for k, v in given.items()}) if given else None
        facts = describe(tool, arguments, hints, reading=identity.reading if identity.kind == "shell" else None)
        found = [f for f in assess(facts, log, self.limits, now, self.off) if f.count >= f.limit]
        if "spawn" not in self.off:
            found += [f for f in self.tree.judge(agent, facts, self.limits, now) if f.count >= f.limit]
        if found:
            for finding in found:
                if finding.key:
                    evidence.observe_stopped(
                        log, finding.key, evidence.Shut(finding.gate, finding.count, finding.limit, finding.detail)
                    )
            return found
        step = evidence.observe_guard(log, params.get("step"))
        self.tree.allowed(agent, facts, now)
        self.facts[agent, params["callId"]] = facts, identity, step, now
        return []

    def settle(self, params: dict[str, Any]) -> None:
        agent = params["agent"]
        held = self.facts.pop((agent, params["callId"]), None)
        if held is None:
            return
        facts, identity, step, at = held
        raw = params["result"]
        result = Result(raw.get("content"), raw.get("value"), bool(raw.get("isError")), raw.get("error"))
        answer = read_answer(facts, result, failure.classify(facts.tool, identity, result))
        evidence.observe_settled(self.logs[agent], facts, answer, step, at, params.get("at"))

    def reset(self, agent: str) -> None:
        if agent in self.logs:
            self.logs[agent] = evidence.reset(self.logs[agent])

    def started(self, agent: str, parent: str, at: float | None = None) -> None:
        self.tree.started(agent, parent, at)

    def ended(self, agent: str) -> None:
        self.tree.ended(agent)


def play(
    case: dict[str, Any], limits: Limits | None = None, off: Collection[str] = ()
) -> tuple[int | None, list[Finding]]:
    """The index of the first call of a session that is stopped, and why."""
    player = Player(limits, off)
    for n, step in enumerate(case["steps"]):
        if "compacted" in step:
            player.reset(step["compacted"]["agent"])
            continue
        if "userTurn" in step:
            player.reset(step["userTurn"]["agent"])
            continue
        guard = step["guard"]
        found = player.guard(guard)
        if found:
            return n, found
        if "starts" in step:
            player.started(step["starts"]["agent"], step["starts"]["parent"], guard.get("at"))
        player.settle(
            {"agent": guard["agent"], "callId": guard["callId"], "result": step["result"], "at": step.get("settledAt")}
        )
    return None, []


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
