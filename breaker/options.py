"""From what people write, in layers, to one valid `Settings`, or to the list of everything that is wrong.

Each value is checked alone; no setting is checked against another. `remarks` says what looks unintended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from breaker.checks import LISTED, Hint, check, nearest, shown
from breaker.readable import readable
from breaker.setting_table import BY_NAME
from breaker.settings import DEFAULT_PROFILE, Settings, values_of

REMOVED: dict[str, str] = {
    "denyAfter": "use limits.exact",
    "warnAfter": "use warnAt and limits",
    "registerAdvisory": "use warnAt and limits",
    "maxSamePath": "nothing replaces it: the same file at another place is another action",
    "readTools": "nothing replaces it: every tool is known by its own arguments",
    "matchReadBySubstring": "nothing replaces it: every tool is known by its own arguments",
}
"""Settings of earlier versions, with what to use instead."""

IGNORED: dict[str, str] = {"pathAliases": "file tools are known by their whole arguments"}
"""Settings that are accepted and do nothing, with the reason."""

_KEY_CHARS = 200
_HINTS = 100


class Layer(Struct, frozen=True):
    """Settings as written, by wire name, and where they come from (`"environment"`, a file's name)."""

    source: str
    values: Any


class Problem(Struct, frozen=True):
    """One thing that is wrong: the key path as written, what is wrong, what to do, the layer it stands in."""

    key: str
    problem: str
    hint: str | None = None
    source: str = ""

    def __str__(self) -> str:
        where = ": ".join(part for part in (self.source, self.key) if part)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}: {self.problem}{hint}" if where else f"{self.problem}{hint}"


class ConfigError(ValueError):
    """A configuration with problems, all of them in `problems`; its text has a line for each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def data(self) -> list[dict[str, str]]:
        """The problems as the wire has them: `key`, `problem` and, where there is one, `hint`."""
        return [
            {"key": each.key, "problem": each.problem, **({"hint": each.hint} if each.hint else {})}
            for each in self.problems
        ]


class Resolved(Struct, frozen=True):
    """Valid settings, the layer that each explicitly given one comes from, and what deserves a word."""

    settings: Settings
    origins: dict[str, str]
    notes: tuple[str, ...] = ()


def resolve(layers: Sequence[Layer]) -> Resolved:
    """Lay `layers`, weakest first, over the profile that the strongest of them names.

    Maps merge one level deep, everything else replaces. Raises ConfigError with every problem of every layer.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    read = [(layer.source, _read(layer, problems, notes)) for layer in layers]
    if problems:
        raise ConfigError(problems)
    profile = next((values["profile"] for _, values in reversed(read) if "profile" in values), None)
    values = values_of(profile or DEFAULT_PROFILE)
    origins: dict[str, str] = {}
    for source, given in read:
        for name, value in given.items():
            values[name] = {**values[name], **value} if isinstance(value, dict) else value
            origins[name] = source
    return Resolved(msgspec.convert(values, Settings), origins, tuple(notes))


def wire(settings: Settings) -> dict[str, Any]:
    """The whole configuration by wire name, as plain JSON data."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings))
    return plain


def remarks(settings: Settings) -> list[str]:
    """What is valid and yet hardly what somebody wants: numbers that can never speak, gates left open."""
    said: list[str] = []
    if not settings.enabled:
        said.append("enabled is false: every call is allowed and nothing is counted")
    if settings.shadow:
        said.append("shadow is true: everything is judged and nothing is stopped")
    caps = {kind: cap for kind, cap in settings.limits.items() if cap is not None}
    plain = Settings()
    if not caps:
        said.extend(
            f"{name} has no effect: every entry of limits is null in the profile {settings.profile}"
            for name, value, usual in (
                ("failLimit", settings.fail_limit, plain.fail_limit),
                ("failWarnAt", settings.fail_warn_at, plain.fail_warn_at),
                ("warnAt", settings.warn_at, plain.warn_at),
                ("summarizeAt", settings.summarize_at, plain.summarize_at),
            )
            if value != usual
        )
    for name, stage in (("warnAt", settings.warn_at), ("summarizeAt", settings.summarize_at)):
        if stage is None or not caps:
            continue
        if stage >= max(caps.values()):
            said.append(f"{name} ({stage}) is at or above every limit and can never speak")
        said.extend(_beyond_window(name, stage, settings.window))
    for kind, cap in caps.items():
        said.extend(_beyond_window(f"limits.{kind}", cap, settings.window))
    warn, limit = settings.fail_warn_at, settings.fail_limit
    if caps and warn is not None and limit is not None and warn > limit:
        said.append(f"failWarnAt ({warn}) is above failLimit ({limit}) and can never speak")
    if settings.max_denials is None:
        said.append(
            "maxDenials is off: what a repeat or budget gate stops, and a tool that is shut as a whole, stays stopped "
            "until the user speaks"
        )
    return said


def _read(layer: Layer, problems: list[Problem], notes: list[str]) -> dict[str, Any]:
    def complain(key: str, problem: str, hint: Hint = None) -> None:
        # A flood of unknown keys must not take minutes: the nearest name is looked for a few times only.
        if callable(hint):
            hint = hint() if len(problems) < _HINTS else None
        problems.append(Problem(key[:_KEY_CHARS], problem, hint, layer.source))

    if layer.values is None:
        return {}
    if not isinstance(layer.values, Mapping):
        complain("", f"{shown(layer.values)} is not an object of settings")
        return {}
    read: dict[str, Any] = {}
    for key, value in layer.values.items():
        name = readable(key) if isinstance(key, str) else shown(key)
        if name in IGNORED:
            notes.append(f"{layer.source}: {name} is ignored: {IGNORED[name]}")
        elif name in REMOVED:
            complain(name, "was removed", REMOVED[name])
        elif name in BY_NAME:
            read[name] = check(BY_NAME[name], value, complain)
            if read[name] is None and isinstance(value, int | float) and value < 0:
                notes.append(f"{layer.source}: {name} is {shown(value)}, which turns it off as 0 does")
        else:
            complain(name, "is not a setting", partial(nearest, name, tuple(BY_NAME), LISTED))
    return read


def _beyond_window(name: str, number: float, window: int) -> list[str]:
    if number <= window:
        return []
    # A window full of one identity makes the call in hand its occurrence number window + 1.
    if number <= window + 1:
        return [f"{name} ({number}) is above window ({window}): only a window with nothing else in it gets there"]
    return [f"{name} ({number}) is above window ({window}) and can never speak"]
