"""Stores of every engine, on a place of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from keeping import end_all

from protocol.store.base import Store
from protocol.store.sqlite import open_file

Opener = Callable[[], Store]


@pytest.fixture(params=["sqlite"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens one more store on the same place, as another process would."""
    opened: list[Store] = []

    def open_one() -> Store:
        opened.append(open_file(tmp_path / "state.sqlite"))
        return opened[-1]

    yield open_one
    end_all()
    for store in opened:
        store.close()


@pytest.fixture
def store(another: Opener) -> Store:
    return another()
