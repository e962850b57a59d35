"""`toolbreaker check-config`: what a configuration comes to, or everything that is wrong with it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from breaker.options import ConfigError, Resolved, remarks, wire
from breaker.setting_table import SETTINGS
from breaker.settings import DEFAULT_PROFILE, PROFILES, preset
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
    values, usual, standard = wire(resolved.settings), wire(preset(DEFAULT_PROFILE)), wire(preset("standard"))
    profile = resolved.settings.profile
    origins = {**dict.fromkeys(PROFILES[profile], f"profile {profile}"), **resolved.origins}
    lines = []
    for setting in SETTINGS:
        name, value = setting.name, values[setting.name]
        untouched = "default" if value == usual[name] else f"profile {profile}"
        lines.append(f"{name} = {_json(value)}   ({origins.get(name, untouched)})")
        lines.append(f"    meaning: {setting.meaning}")
        if value != usual[name]:
            lines.append(f"    by default: {_other(usual[name], value)}")
        # The reason speaks of the number in `standard`.
        if standard[name] not in (value, usual[name]) and name != "profile":
            lines.append(f"    in standard: {_other(standard[name], value)}")
        lines.append(f"    why: {setting.reason}")
    return "\n".join(lines)


def _other(elsewhere: Any, value: Any) -> str:
    """What the value is elsewhere; of a map, the entries alone in which it differs."""
    if isinstance(elsewhere, dict):
        elsewhere = {key: each for key, each in elsewhere.items() if key not in value or value[key] != each}
    return _json(elsewhere)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
