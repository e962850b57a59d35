"""Stores of every engine, on a place of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from keeping import RedisServer, end_all

from protocol.store.base import Store
from protocol.store.sqlite import open_file

Opener = Callable[[], Store]

_numbers = count(1)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One server for all tests that need any."""
    with RedisServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "redis"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens one more store on the same place, as another process would."""
    opened: list[Store] = []
    if request.param == "redis":
        address = request.getfixturevalue("redis_server").address
        namespace = f"test-{next(_numbers)}"

    def open_one() -> Store:
        if request.param == "redis":
            from protocol.store.redis import RedisStore

            opened.append(RedisStore(address, namespace))
        else:
            opened.append(open_file(tmp_path / "state.sqlite"))
        return opened[-1]

    yield open_one
    end_all()
    for store in opened:
        store.close()


@pytest.fixture
def store(another: Opener) -> Store:
    return another()
