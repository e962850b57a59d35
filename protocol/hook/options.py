"""The options of `toolbreaker hook`. Few processes get any, so what reads them is imported for those alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from breaker.settings import Settings, preset
from protocol.store.opening import DEFAULT_DAYS
from protocol.store.places import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    import argparse

VARIABLES = ("TOOLBREAKER_", "DSH_LOOP_GUARD_")
"""How the names of variables begin that stand for options."""


class Options(Struct, frozen=True):
    """What the arguments behind the client's name, and the environment, come to."""

    settings: Settings = field(default_factory=preset)
    state: str = "auto"
    namespace: str = DEFAULT_NAMESPACE
    days: float = DEFAULT_DAYS


class OptionsError(Exception):
    """Arguments or settings that are wrong; the text says how, for people."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from protocol import layers
    from protocol.store import opening

    opening.add_options(parser, default="auto")
    layers.add_options(parser)


def options_of(arguments: Sequence[str], environ: Mapping[str, str]) -> Options:
    """Raises OptionsError."""
    if not arguments and not any(name.startswith(VARIABLES) for name in environ):
        return Options()
    import argparse

    from breaker.options import ConfigError
    from protocol import layers

    parser = argparse.ArgumentParser(prog="toolbreaker hook", add_help=False, allow_abbrev=False, exit_on_error=False)
    configure(parser)
    try:
        args, unknown = parser.parse_known_args(list(arguments))
        settings = layers.sources_of(args, environ).resolve().settings
    except argparse.ArgumentError as error:
        raise OptionsError(str(error)) from None
    except ConfigError as error:
        raise OptionsError(layers.complaint(error)) from None
    if unknown:
        raise OptionsError(f"unknown arguments: {' '.join(unknown)}")
    return Options(settings, args.state, args.namespace, args.state_days)
