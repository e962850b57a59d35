"""The one interface that every rule has."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from breaker.events import Call, Hit
from breaker.evidence.facts import Facts
from breaker.failure import Classified
from breaker.identity.identify import Identity
from breaker.state import Agent, Notice, Pending, State


class View(Struct):
    """What a rule sees of a call before it runs: the call, what it is, and the memory (to read, not to change).

    `exact` is the identity that every call has; `skeleton` is a shell command's, where a rule asks for it; `facts`
    are what the adaptive rules know of the call, where they are on.
    """

    call: Call
    identity: Identity
    exact: str
    skeleton: str | None
    agent: Agent
    state: State
    facts: Facts | None = None


class Aftermath(Struct):
    """What a rule sees of a call that ran: what was judged then, and how it went."""

    name: str
    agent: Agent
    pending: Pending
    outcome: Classified
    state: State


class Rule:
    """A rule finds hits against a call, and things worth saying; by default it finds nothing.

    `active` is False where the settings turn it off: it is not asked then.
    """

    active = True

    def judge(self, view: View) -> Iterable[Hit]:
        """What speaks against the call, or nothing."""
        return ()

    def foresee(self, agent: Agent, pending: Pending) -> Notice | None:
        """What to tell the agent once the call, which may run and is not counted yet, is over."""
        return None

    def review(self, after: Aftermath) -> Notice | None:
        """What to tell the agent now that the call is over, its outcome being counted already."""
        return None
