"""What the tests of the readers count in a recording."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from protocol.readers import Message


class Counts(NamedTuple):
    calls: int
    results: int
    failures: int
    turns: int


def failed(result: dict[str, Any]) -> bool:
    value = result.get("value") or {}
    return bool(result.get("isError") or value.get("exitCode") or value.get("timedOut") or value.get("signal"))


def counts(messages: Iterable[Message]) -> Counts:
    listed = list(messages)
    return Counts(
        sum(method == "guard" for method, _ in listed),
        sum(method == "postExecute" for method, _ in listed),
        sum(method == "postExecute" and failed(params["result"]) for method, params in listed),
        sum(method == "userTurn" for method, _ in listed),
    )
