"""What a store of accounts does, whatever engine it runs on.

The judgement keeps accounts in memory and says what changes in them, entry by entry. A store adds up the entries of
any number of processes, and gives back what the accounts are now. It never judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # not at run time: the command line needs its words before the judgement is loaded
    from breaker.state import Account, Entry

LARGEST = 2**53 - 1
"""Where every sum ends: the largest integer that all engines and JSON clients hold exactly."""

SHOWN_SPENDERS = 16
"""How many of the largest spenders of a budget an account that was read holds; texts name three."""

KEPT_DENIALS = 200


class StoreError(Exception):
    """The store did not do what was asked, and kept nothing of it. The text says why, for people."""


class AwayError(StoreError):
    """It may be asked again later: locked, full, out of reach."""


class ReadOnlyError(StoreError):
    """It can be read, and not be written."""


class BrokenError(StoreError):
    """It will not do better: what is there is not, or no longer, a state."""


class ForeignError(BrokenError):
    """It never was a state: what is there belongs to something else."""


class SpecError(ValueError):
    """`--state` or `--namespace` is not written as it must be."""


class StoredAgent(Struct, frozen=True):
    """An agent as `toolbreaker state` shows it. `seen` is seconds since the epoch."""

    name: str
    turns: int
    seen: float
    account: Account


class Denial(Struct, frozen=True):
    """A call that was stopped: when, whose, with which code, and for what (in its short form).

    The code of one that only would have been stopped begins with `breaker.state.SHADOW`.
    """

    at: float
    agent: str
    code: str
    what: str


class Store(Protocol):
    """Accounts of agents, shared by processes. Every method may raise a StoreError."""

    engine: str
    """`sqlite` or `redis`."""

    place: str
    """Where it is, for people, without credentials."""

    near: bool
    """Whether reading it is cheap enough to be done while a call waits."""

    writable: bool
    """Whether it can be written at all."""

    key: bytes
    """What digests of secrets are keyed by, the same for all processes on it."""

    notes: list[str]
    """What was found amiss when it was opened, and since: it only grows."""

    def apply(self, entries: Sequence[Entry], ticket: str | None = None) -> dict[str, Account]:
        """Add entries, all or none, and return the accounts of their agents and of everybody above these.

        A charge whose request was charged before changes nothing. With a `ticket`, entries that came under the same
        ticket before change nothing; where an answer cannot get lost on its way, nobody need ask for them twice, and
        the ticket is not looked at.
        """

    def read(self, names: Iterable[str]) -> dict[str, Account]:
        """The accounts of those of these agents that are known."""

    def load(self, name: str) -> Account | None:
        """The account of one agent. Alone of all methods it may be called while another thread calls one."""

    def changed(self) -> bool:
        """Whether anybody else may have written since this was asked last."""

    def begin(self) -> None:
        """Keep all others from writing until `commit` or `rollback`, so that whole memories can be changed."""

    def commit(self) -> None:
        """Keep what was done since `begin`."""

    def rollback(self) -> None:
        """Forget what was done since `begin`: memories, and entries where the engine can. Raises nothing."""

    def memory(self, name: str) -> bytes | None:
        """What `remember` stored of this agent."""

    def remember(self, memories: Mapping[str, bytes]) -> None:
        """Store memories, opaque here, of agents."""

    def extra(self, name: str) -> bytes | None:
        """What `keep_extra` stored of this agent."""

    def keep_extra(self, name: str, extra: bytes) -> None:
        """Store what somebody beside the engine remembers of an agent, opaque here."""

    def count_calls(self, named: int) -> int:
        """Note how many calls were given names by now, if more than before; the number of all processes."""

    def expire(self, days: float) -> int:
        """Forget agents that nobody heard of for so long, at most once a day; how many they were."""

    def agents(self) -> list[StoredAgent]:
        """All agents, the one heard of last first."""

    def denials(self, most: int) -> list[Denial]:
        """The last calls that were stopped, newest first."""

    def reset(self, agent: str | None = None, *, budget: bool = False) -> list[str]:
        """Forget an agent and all it started, or everybody; with `budget` only what they spent. Their names."""

    def give_up(self) -> str:
        """It is broken: let go of it, see to it that it is in nobody's way, and say what was done."""

    def close(self) -> None:
        """Let go of it. Raises nothing."""


def described(store: Store | None, problem: str | None) -> dict[str, object]:
    """A store, or that there is none, and what is amiss with it, as `status` tells it."""
    found: dict[str, object] = {"engine": store.engine if store else "none", "degraded": problem is not None}
    if store is not None:
        found["place"] = store.place
    if problem is not None:
        found["problem"] = problem
    return found
