"""The judgement of toolbreaker as a library: pure, without I/O, clock or wire.

>>> from breaker import Call, Engine, Settings
>>> Engine(Settings()).guard(Call(agent="main", tool="read", arguments={"file_path": "a.py"})).decision
'allow'
"""

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
