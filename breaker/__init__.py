"""The judgement of toolbreaker as a library: pure, without I/O, clock or wire.

>>> from breaker import Call, Engine, Settings
>>> Engine(Settings()).guard(Call(agent="main", tool="read", arguments={"file_path": "a.py"})).decision
'allow'

A name is imported when it is first used: a process that lives for one event pays for what it needs alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from breaker.engine import Engine, UnknownCallError
    from breaker.events import (
        Advisory,
        Annotations,
        Call,
        Failure,
        FingerprintCount,
        Hit,
        Report,
        Result,
        Settled,
        Usage,
        Verdict,
    )
    from breaker.options import ConfigError, Layer, Problem, resolve
    from breaker.settings import Settings

__all__ = [
    "Advisory",
    "Annotations",
    "Call",
    "ConfigError",
    "Engine",
    "Failure",
    "FingerprintCount",
    "Hit",
    "Layer",
    "Problem",
    "Report",
    "Result",
    "Settings",
    "Settled",
    "UnknownCallError",
    "Usage",
    "Verdict",
    "resolve",
]

_ELSEWHERE = {
    "Engine": "engine",
    "UnknownCallError": "engine",
    "ConfigError": "options",
    "Layer": "options",
    "Problem": "options",
    "resolve": "options",
    "Settings": "settings",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'events')}"), name)
