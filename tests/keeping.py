"""An engine in front of a store, as a process has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breaker.engine import Engine
from breaker.events import Usage
from breaker.options import Layer, resolve
from breaker.state import Account
from protocol.store.base import Store
from protocol.store.keeper import Keeper


def engine(*, compact: bool = False, key: bytes = b"k", **config: Any) -> Engine:
    return Engine(resolve([Layer("test", config)]).settings, key=key, compact=compact)


RUNNING: list[Process] = []


def end_all() -> None:
    """Let all keepers go, whose threads would otherwise find their stores closed."""
    while RUNNING:
        RUNNING.pop().keeper.close()


class Process:
    """What a serving process holds. `do` handles one message."""

    def __init__(
        self, store: Store | None, *, refresh_seconds: float = 3600.0, problem: str | None = None, **config: Any
    ) -> None:
        self.logged: list[str] = []
        self.keeper = Keeper(store, log=self.logged.append, refresh_seconds=refresh_seconds, problem=problem)
        self.engine = engine(**config)
        self.keeper.attach(self.engine)
        RUNNING.append(self)

    def do(self, act: Callable[[Engine], Any], *, waits: bool = False) -> Any:
        self.keeper.before()
        try:
            return act(self.engine)
        finally:
            self.keeper.after(waits=waits)

    def use(self, agent: str, tokens: int, request: str | None = None) -> Any:
        return self.do(lambda engine: engine.usage(Usage(agent, tokens, request_id=request)))

    def account(self, agent: str) -> Account:
        self.keeper.before()
        return self.engine.state.agents[agent].account
