"""Where settings are written: a file, the environment, the command line, and what the client sends.

Weakest first: `--config FILE`, the variables of dsh-loop-guard, our own variables, options, `initialize`. Each
variable and each option is a layer of its own, so that a problem names the place where it can be mended.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from breaker.checks import LISTED, nearest
from breaker.options import ConfigError, Layer, Problem, Resolved, resolve
from breaker.readable import readable
from breaker.setting_table import SETTINGS, Setting

PREFIX = "TOOLBREAKER_"
DISABLED = f"{PREFIX}DISABLED"
"""Stops the gate whatever any layer says, so that a user gets out of any configuration."""

RESERVED = frozenset({DISABLED, f"{PREFIX}STATE", f"{PREFIX}STATE_PASSWORD"})
"""Variables of ours that are no settings."""

GUARD_PREFIX = "DSH_LOOP_GUARD_"
GUARD_VARIABLES = {
    f"{GUARD_PREFIX}MAX_TOKENS": "maxTokens",
    f"{GUARD_PREFIX}SESSION_MAX_TOKENS": "sessionMaxTokens",
    f"{GUARD_PREFIX}FAMILY_MAX_TOKENS": "familyMaxTokens",
    f"{GUARD_PREFIX}REPEAT_LIMIT": "repeatLimit",
    f"{GUARD_PREFIX}CYCLE_LIMIT": "cycleLimit",
    f"{GUARD_PREFIX}SAME_ERROR_LIMIT": "sameErrorLimit",
    f"{GUARD_PREFIX}MAX_DENIALS": "maxDenials",
    f"{GUARD_PREFIX}WARN_RATIO": "warnRatio",
}
"""The variables of dsh-loop-guard, and the settings that they are."""

_VARIABLES = {setting.variable: setting.name for setting in SETTINGS}
_MEANT = {f"{PREFIX}CONFIG": "name the file with --config FILE"}
"""What to do instead, for variables that people expect and that are no settings."""
_NO = frozenset({"", "0", "false", "no", "off"})
_TOML_LINE = re.compile(r"""\[|[\w"'][\w."' -]*=""")


class Sources(Struct, frozen=True):
    """All layers but the client's, and what deserves a word on stderr.

    `unreadable` are problems of the file itself; `switch` outranks every layer.
    """

    layers: tuple[Layer, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    switch: Layer | None = None

    def resolve(self, client: Any = None) -> Resolved:
        """The settings, with `client` (the config of `initialize`) as the strongest layer. Raises ConfigError."""
        layers = [*self.layers, Layer("initialize", client)]
        try:
            resolved = resolve([*layers, self.switch] if self.switch else layers)
        except ConfigError as error:
            raise ConfigError([*self.unreadable, *error.problems]) from None
        if self.unreadable:
            raise ConfigError(self.unreadable)
        return resolved


def gather(
    file: str | None = None, environ: Mapping[str, str] | None = None, options: Mapping[str, Any] | None = None
) -> Sources:
    """Read every layer. `options` are those of the command line, by option name, as `options_of` finds them."""
    layers: list[Layer] = []
    unreadable: tuple[Problem, ...] = ()
    if file is not None:
        try:
            layers.append(read_file(file))
        except ConfigError as error:
            unreadable = error.problems
    variables, notes = _environment(environ or {})
    layers.extend(variables)
    by_option = {setting_option(setting): setting.name for setting in SETTINGS}
    layers.extend(Layer(option, {by_option[option]: value}) for option, value in (options or {}).items())
    disabled = (environ or {}).get(DISABLED, "").strip().lower() not in _NO
    switch = Layer(DISABLED, {"enabled": False}) if disabled else None
    return Sources(tuple(layers), unreadable, tuple(notes), switch)


def complaint(error: ConfigError) -> str:
    """What a command says on stderr about a configuration that it cannot use."""
    lines = "".join(f"\n  {readable(str(problem))}" for problem in error.problems)
    return f"toolbreaker: the configuration is wrong:{lines}"


def read_file(path: str) -> Layer:
    """A file in JSON, TOML or YAML, by its extension, or else by what it looks like.

    Raises ConfigError, which names the file, and the line where the file is not well formed.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _unreadable(path, f"line {line}: is not UTF-8") from None
    except ValueError as error:
        raise _unreadable(path, f"cannot be read: {error}") from None
    parse = _PARSERS.get(Path(path).suffix.lower()) or _PARSERS[_looks_like(text)]
    try:
        return Layer(path, parse(text))
    except RecursionError:
        raise _unreadable(path, "is nested too deeply") from None
    except _Malformed as error:
        raise _unreadable(path, str(error)) from None


def setting_option(setting: Setting) -> str:
    """The name of a setting on the command line."""
    return f"--{setting.attribute.replace('_', '-')}"


def add_options(parser: argparse.ArgumentParser, *, listed: bool = False) -> None:
    """Let a command take `--config FILE` and an option for every setting; `listed`, its help shows each of them."""
    parser.add_argument("--config", metavar="FILE", help="settings in JSON, TOML or YAML")
    group = parser.add_argument_group("settings", "each value is read as JSON, else as text" if listed else _ELSEWHERE)
    for setting in SETTINGS:
        group.add_argument(
            setting_option(setting),
            dest=_destination(setting),
            metavar=_METAVARS.get(setting.shape, "VALUE").format("|".join(setting.choices)),
            nargs="?" if setting.shape == "flag" else None,
            const="true" if setting.shape == "flag" else None,
            help=setting.meaning.replace("%", "%%") if listed else argparse.SUPPRESS,
        )


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """The settings among parsed arguments, by option name."""
    given = {setting_option(setting): getattr(args, _destination(setting), None) for setting in SETTINGS}
    return {option: _json_or_text(text) for option, text in given.items() if text is not None}


def sources_of(args: argparse.Namespace, environ: Mapping[str, str]) -> Sources:
    """The layers of a command whose parser went through `add_options`."""
    return gather(args.config, environ, options_of(args))


_ELSEWHERE = "any that `toolbreaker check-config --help` lists, such as --profile, --shadow"
_METAVARS = {"choice": "{}", "flag": "true|false", "integer": "N", "number": "N"} | dict.fromkeys(
    ("words", "integers", "wordMap", "wordsMap", "integerMap", "limitMap", "switchMap", "choiceMap"), "JSON"
)


def _destination(setting: Setting) -> str:
    return f"setting_{setting.attribute}"


def _environment(environ: Mapping[str, str]) -> tuple[list[Layer], list[str]]:
    known = {**GUARD_VARIABLES, **_VARIABLES}
    # An empty variable is how many shells and CI systems spell an absent one.
    layers = [
        Layer(variable, {name: _json_or_text(environ[variable])})
        for variable, name in known.items()
        if environ.get(variable, "").strip()
    ]
    notes = [
        f"{variable} is not a setting and has no effect "
        f"({_MEANT.get(variable) or nearest(variable, tuple(names), LISTED, prefix)})"
        for prefix, names in ((PREFIX, _VARIABLES), (GUARD_PREFIX, GUARD_VARIABLES))
        for variable in sorted(environ)
        if variable.startswith(prefix) and variable not in names and variable not in RESERVED
    ]
    return layers, notes


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class _Malformed(Exception):  # noqa: N818 - carries its text to `read_file` and is never seen outside
    pass


def _unreadable(path: str, problem: str) -> ConfigError:
    return ConfigError([Problem("", problem, None, path)])


def _looks_like(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith("{"):
        return ".json"
    return ".toml" if _TOML_LINE.match(first) else ".yaml"


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else None
    except json.JSONDecodeError as error:
        raise _Malformed(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError as error:
        raise _Malformed(str(error)) from None


def _toml(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise _Malformed(str(error)) from None


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        cause = ": ".join(part for part in (error.context, error.problem) if part)
        raise _Malformed(f"{place}{cause}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise _Malformed(" ".join(str(error).split())) from None
    except (AttributeError, LookupError):  # PyYAML, of `!!timestamp x`, `!!bool x`, `!!int ""`
        raise _Malformed("a value is not what its tag says") from None


_PARSERS: dict[str, Callable[[str], Any]] = {".json": _json, ".toml": _toml, ".yaml": _yaml, ".yml": _yaml}
