"""`toolbreaker check-config`: what a configuration comes to, or everything that is wrong with it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from breaker.options import ConfigError, Resolved, remarks, wire
from breaker.setting_table import SETTINGS, Setting
from breaker.settings import DEFAULT_PROFILE, PROFILES, values_of
from protocol import layers


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Print the resolved settings as JSON, which is a config file itself. Remarks go to stderr and never fail; "
        "a wrong setting is exit status 2."
    )
    parser.usage = "%(prog)s [-h] [--explain] [--SETTING VALUE ...] [FILE]"
    parser.add_argument("file", metavar="FILE", nargs="?", help="settings in JSON, TOML or YAML")
    parser.add_argument("--explain", action="store_true", help="print what each setting means and who set it")
    layers.add_options(parser, listed=True)


def run(args: argparse.Namespace) -> int:
    """0, or 2 with the list of problems on stderr."""
    if args.file and args.config:
        print("toolbreaker: give one file, either FILE or --config", file=sys.stderr)
        return 2
    args.config = args.file or args.config
    sources = layers.sources_of(args, os.environ)
    try:
        resolved = sources.resolve()
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    print(_explained(resolved) if args.explain else json.dumps(wire(resolved.settings), indent=2))
    for remark in (*sources.notes, *resolved.notes, *remarks(resolved.settings)):
        print(f"toolbreaker: {remark}", file=sys.stderr)
    return 0


def _explained(resolved: Resolved) -> str:
    values = wire(resolved.settings)
    profile = resolved.settings.profile
    origins = {**dict.fromkeys(PROFILES[profile], f"profile {profile}"), **resolved.origins}
    return "\n".join(
        f"{setting.name} = {_json(values[setting.name])}\n"
        f"    from {origins.get(setting.name, 'the defaults')}: {setting.meaning}\n"
        f"    {_default(setting)}: {setting.reason}"
        for setting in SETTINGS
    )


def _default(setting: Setting) -> str:
    """What the value is where nobody gives one, and in `standard`, which the reason speaks of, if it is another."""
    usual = values_of(DEFAULT_PROFILE)[setting.name]
    said = f"by default {_json(usual)}"
    return (
        said
        if usual == setting.default or setting.name == "profile"
        else f"{said}, in standard {_json(setting.default)}"
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
