"""Accounts in Redis or Valkey, for agents on many machines.

A request to the model costs one round trip: a script adds it to all sums and answers with them. When no answer came,
the same entries are sent again under the same ticket, and count once.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from breaker.state import Account, Entry
from protocol.store import redis_scripts as scripts
from protocol.store.base import (
    KEPT_DENIALS,
    LARGEST,
    SHOWN_SPENDERS,
    AwayError,
    BrokenError,
    Denial,
    SpecError,
    StoredAgent,
    StoreError,
)

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 2.0

LOCK_SECONDS = 10.0
"""How long an event may keep others out; a process that died holds it no longer than that."""

WAIT_SECONDS = 4.0
"""How long an event waits for its turn."""

SCANNED_KEYS = 1_000
SCANNED_PAGES = 100
"""How many keys of a server are looked through for the names of namespaces, and in how many steps."""

DAY = 86_400.0
PASSWORD = "TOOLBREAKER_STATE_PASSWORD"

_SCHEMES = {"valkey": "redis", "valkeys": "rediss"}
# What a server says when it will do better later, by the first word.
_LATER = frozenset(
    {"BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOAUTH", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN"}
)


class _EmptiedError(AwayError):
    """The server holds nothing of what it was told before."""


class RedisStore:
    """A namespace on a server. It need not be there yet: every method raises AwayError while it is not."""

    engine = "redis"
    near = False
    writable = True

    def __init__(self, address: str, namespace: str) -> None:
        self.place = f"{without_credentials(address)} ({namespace})"
        self.notes: list[str] = []
        self._prefix = f"toolbreaker:{{{namespace}}}:"
        self._db = _connect(address)
        self._apply = self._db.register_script(scripts.APPLY)
        self._reset = self._db.register_script(scripts.RESET)
        self._expire = self._db.register_script(scripts.EXPIRE)
        self._unlock = self._db.register_script(scripts.UNLOCK)
        self._commit = self._db.register_script(scripts.COMMIT)
        self._has_key = False
        self._token: str | None = None
        self._later: dict[str, Any] = {}
        self.key = secrets.token_bytes(32)
        with suppress(AwayError):
            self._find_key()

    # -- accounts -------------------------------------------------------------------------------------------

    def apply(self, entries: Sequence[Entry], ticket: str | None = None) -> dict[str, Account]:
        self._find_key()
        plain = json.dumps([_plain(entry) for entry in entries])
        try:
            told = self._run_apply(plain, ticket)
        except _EmptiedError:
            self._note_loss()
            told = self._run_apply(plain, ticket)
        return {name.decode(): _account(*parts) for name, *parts in told}

    def _run_apply(self, entries: str, ticket: str | None) -> Any:
        with _errors():
            return self._apply(
                keys=[self._prefix],
                args=[entries, ticket or "", LARGEST, SHOWN_SPENDERS, KEPT_DENIALS, self.key],
            )

    def read(self, names: Iterable[str]) -> dict[str, Account]:
        asked = list(names)
        with _errors(), self._db.pipeline(transaction=True) as pipe:
            pipe.get(self._key("key"))
            for name in asked:
                pipe.zscore(self._key("agents"), name)
                pipe.hgetall(self._key("agent", name))
                pipe.zrevrange(self._key("turn", name), 0, SHOWN_SPENDERS - 1, withscores=True)
                pipe.zrevrange(self._key("family", name), 0, SHOWN_SPENDERS - 1, withscores=True)
                pipe.hgetall(self._key("workflows", name))
                pipe.hgetall(self._key("children", name))
                pipe.smembers(self._key("marks", name))
            key, *answers = pipe.execute() if asked else [None]
        if asked and self._has_key and key != self.key:
            self._note_loss()
        each = [answers[at : at + 7] for at in range(0, len(answers), 7)]
        return {name: _account(*parts) for name, (known, *parts) in zip(asked, each, strict=True) if known is not None}

    def load(self, name: str) -> Account | None:
        return self.read([name]).get(name)

    def changed(self) -> bool:
        return True  # finding out would cost as much as asking

    def _find_key(self) -> None:
        """The key that all processes use: the one that is there, else ours from now on."""
        if self._has_key:
            return
        # It comes first and goes with all the rest: one that is gone, or was made anew, tells that all is lost.
        with _errors():
            self._db.set(self._key("key"), self.key, nx=True)
            self.key = _bytes(self._db.get(self._key("key")))
        self._has_key = True

    def _note_loss(self) -> None:
        """The server was emptied: begin anew, under a key that tells others so as well."""
        self._has_key = False
        self.key = secrets.token_bytes(32)
        self._find_key()
        self.notes.append("the server was emptied; what was spent before is not counted any more, on any machine")

    # -- whole memories -------------------------------------------------------------------------------------

    def begin(self) -> None:
        token = secrets.token_hex(16)
        deadline = time.monotonic() + WAIT_SECONDS
        with _errors():
            while not self._db.set(self._key("lock"), token, nx=True, px=int(LOCK_SECONDS * 1000)):
                if time.monotonic() > deadline:
                    raise AwayError("another process keeps it locked")
                time.sleep(0.01)
        self._token = token
        self._later = {}

    def commit(self) -> None:
        with _errors():
            kept = self._commit(keys=[self._key("lock"), *self._later], args=[self._token, *self._later.values()])
        self._token = None
        if not kept:
            raise AwayError(f"it took longer than {LOCK_SECONDS:g} s, and another event may have gone on meanwhile")

    def rollback(self) -> None:
        """What was applied since `begin` stays, since there is no undoing it; memories are forgotten."""
        self._later = {}
        if self._token is not None:
            with suppress(redis.RedisError):
                self._unlock(keys=[self._key("lock")], args=[self._token])
            self._token = None

    def memory(self, name: str) -> bytes | None:
        return self._kept("memory", name)

    def remember(self, memories: Mapping[str, bytes]) -> None:
        for name, memory in memories.items():
            self._keep("memory", name, memory)

    def extra(self, name: str) -> bytes | None:
        return self._kept("extra", name)

    def keep_extra(self, name: str, extra: bytes) -> None:
        self._keep("extra", name, extra)

    def _kept(self, kind: str, name: str) -> bytes | None:
        with _errors():
            found = self._db.get(self._key(kind, name))
        return None if found is None else _bytes(found)

    def _keep(self, kind: str, name: str, what: bytes) -> None:
        """Store it at once, or when the event is over."""
        with _errors():
            self._db.zadd(self._key("agents"), {name: time.time()})
            if self._token is None:
                self._db.set(self._key(kind, name), what)
        if self._token is not None:
            self._later[self._key(kind, name)] = what

    def count_calls(self, named: int) -> int:
        with _errors():
            known = int(self._db.get(self._key("calls")) or 0)
            if named > known:
                self._db.set(self._key("calls"), named)
        return max(named, known)

    # -- for people -----------------------------------------------------------------------------------------

    def expire(self, days: float) -> int:
        with _errors():
            return int(self._expire(keys=[self._prefix], args=[days * DAY, json.dumps(scripts.OF_AN_AGENT)]))

    def agents(self) -> list[StoredAgent]:
        with _errors():
            heard = self._db.zrevrange(self._key("agents"), 0, -1, withscores=True)
            names = [name.decode() for name, _ in heard]
            with self._db.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.hget(self._key("agent", name), "turns")
                turns = pipe.execute()
        accounts = self.read(names)
        return [
            StoredAgent(name, int(count or 0), seen, accounts[name])
            for name, count, (_, seen) in zip(names, turns, heard, strict=True)
            if name in accounts
        ]

    def denials(self, most: int) -> list[Denial]:
        with _errors():
            rows = [json.loads(row) for row in self._db.lrange(self._key("denials"), 0, most - 1)]
        return [Denial(float(row["at"]), row["agent"], row["code"], row["what"]) for row in rows]

    def reset(self, agent: str | None = None, *, budget: bool = False) -> list[str]:
        with _errors():
            args = ["budget" if budget else "all", json.dumps(scripts.OF_AN_AGENT)]
            args += [] if agent is None else [agent]
            names = [name.decode() for name in self._reset(keys=[self._prefix], args=args)]
            if not budget:
                self._forget_denials(set(names))
        return names

    def _forget_denials(self, names: set[str]) -> None:
        for row in self._db.lrange(self._key("denials"), 0, -1):
            if json.loads(row)["agent"] in names:
                self._db.lrem(self._key("denials"), 0, row)

    def namespaces(self) -> list[str]:
        """The namespaces of this server that hold agents, as far as they are found among its first keys.

        Whoever else has such keys may have names among them that no namespace can have.
        """
        found: set[str] = set()
        cursor = 0
        with _errors():
            for _ in range(SCANNED_PAGES):
                cursor, keys = self._db.scan(cursor, match="toolbreaker:{*}:agents", count=SCANNED_KEYS)
                found |= {key.decode(errors="replace").partition("{")[2].partition("}")[0] for key in keys}
                if not cursor:
                    break
        return sorted(found)

    def give_up(self) -> str:
        self.close()
        return "nothing there was changed"

    def close(self) -> None:
        self.rollback()
        with suppress(redis.RedisError, OSError):
            self._db.close()

    def _key(self, kind: str, name: str | None = None) -> str:
        return f"{self._prefix}{kind}" if name is None else f"{self._prefix}{kind}:{name}"


def without_credentials(address: str) -> str:
    """The address as it may be shown."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _connect(address: str) -> Any:
    scheme, colon, rest = address.partition(":")
    # Every retry is the keeper's business, who knows what must not wait.
    given: dict[str, Any] = {
        "socket_connect_timeout": CONNECT_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
    }
    password = os.environ.get(PASSWORD)
    if password:
        given["password"] = password
    try:
        return redis.Redis.from_url(f"{_SCHEMES.get(scheme, scheme)}{colon}{rest}", **given)
    except ValueError as error:
        raise SpecError(f"{without_credentials(address)} is not an address of a server: {error}") from error


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
        raise AwayError(f"it is out of reach: {_first_line(error)}") from error
    except redis.ResponseError as error:
        said = _first_line(error)
        word = said.split(" ", 1)[0]
        if (
            isinstance(error, redis.exceptions.NoPermissionError | redis.ReadOnlyError | redis.BusyLoadingError)
            or word in _LATER
        ):
            raise AwayError(f"it does not serve us: {said}") from error
        if word == "EMPTIED":
            raise _EmptiedError("it was emptied, more than once") from error
        if "WRONGTYPE" in said:
            raise BrokenError("its keys are those of another program") from error
        raise StoreError(said) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _plain(entry: Entry) -> dict[str, Any]:
    plain: dict[str, Any] = {"op": entry.op, "agent": entry.agent, "line": entry.line}
    plain["amount"] = str(min(entry.amount, LARGEST))  # a number would come out of Lua as 9e+15
    if entry.at is not None:
        plain["at"] = repr(entry.at)
    return plain | {name: value for name, value in (("key", entry.key), ("kind", entry.kind)) if value is not None}


def _account(agent: Any, turn: Any, family: Any, workflows: Any, children: Any, marks: Any) -> Account:
    fields = {name.decode(): value.decode() for name, value in _pairs(agent)}

    def number(name: str) -> int:
        return int(fields.get(name, 0))

    split = [mark.decode().partition(" ") for mark in marks]
    return Account(
        fields.get("parent"),
        fields.get("kind", "agent"),
        fields.get("started_by"),
        ordinal=number("ordinal"),
        turn_spent=number("turn"),
        session_spent=number("session"),
        family_spent=number("family"),
        requests=number("requests"),
        tools=number("tools"),
        turn_spenders={name.decode(): int(float(tokens)) for name, tokens in _pairs(turn)},
        family_spenders={name.decode(): int(float(tokens)) for name, tokens in _pairs(family)},
        workflows={call.decode(): int(count) for call, count in _pairs(workflows)},
        children={name.decode(): float(alive) if alive else None for name, alive in _pairs(children)},
        warned={name for kind, _, name in split if kind == "warn"},
        passed={name for kind, _, name in split if kind == "pass"},
    )


def _pairs(answer: Any) -> Iterable[tuple[Any, Any]]:
    """A map or a list of pairs, which a script gives as one flat list."""
    if isinstance(answer, dict):
        return list(answer.items())
    if answer and not isinstance(answer[0], bytes):
        return [tuple(pair) for pair in answer]
    return list(zip(answer[::2], answer[1::2], strict=True))


def _bytes(value: Any) -> bytes:
    return bytes(value)
