"""A session played against an engine, one line a call."""

from __future__ import annotations

from typing import Any

from breaker import Call, Engine, Layer, Report, Result, Settled, Verdict, resolve

OK = Result(content="done", value={"kind": "foreground", "exitCode": 0})
DENIED = Result(content="Error: denied", is_error=True, error={"code": "DENIED"})


def exit_code(number: int, text: str = "boom") -> Result:
    return Result(content=text, value={"kind": "foreground", "exitCode": number})


def engine(**config: Any) -> Engine:
    return Engine(resolve([Layer("test", {"profile": "repeat-tool-breaker", **config})]).settings)


class Play:
    """An agent in front of an engine: `call` guards, and settles what was allowed."""

    def __init__(self, agent: str = "main", on: Engine | None = None, **config: Any) -> None:
        self.engine = on or engine(**config)
        self.agent = agent
        self.calls = 0
        self.reports: list[Report] = []

    def guard(self, tool: str, **arguments: Any) -> Verdict:
        self.calls += 1
        return self.engine.guard(Call(self.agent, tool, arguments, f"{self.agent}-{self.calls}"))

    def call(self, tool: str, result: Result = OK, **arguments: Any) -> Verdict:
        verdict = self.guard(tool, **arguments)
        if verdict.decision == "ask":
            return verdict
        settled = Settled(self.agent, result if verdict.decision == "allow" else DENIED, verdict.call_id)
        self.reports.append(self.engine.settle(settled))
        return verdict

    def shell(self, command: str, result: Result = OK, **arguments: Any) -> Verdict:
        return self.call("bash", result, command=command, **arguments)

    @property
    def stages(self) -> list[tuple[str, str | None, int]]:
        """The advisories of the last settled call: stage, identity, count."""
        return [(a.stage, a.fingerprint, a.count) for a in self.reports[-1].advisories]


def decisions(verdicts: list[Verdict]) -> list[str]:
    return [verdict.decision for verdict in verdicts]


def named(verdict: Verdict) -> set[str | None]:
    return {hit.fingerprint for hit in verdict.hits}
