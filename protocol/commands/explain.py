"""`toolbreaker explain`: what a call is to the gate, for somebody who wonders about a denial."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from breaker.identity.identify import Identifier, Origin
from breaker.options import ConfigError
from breaker.rules.tracks import cap
from breaker.settings import Settings
from protocol import layers


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Print every fingerprint of a call, what it was made from, and its cap. "
        "Without COMMAND the arguments are read from standard input, as JSON."
    )
    parser.usage = "%(prog)s [-h] [--tool NAME] [--json] [--config FILE] [--SETTING VALUE ...] [COMMAND]"
    parser.add_argument("command", metavar="COMMAND", nargs="?", help="a shell command line")
    parser.add_argument("--tool", default="bash", help="the tool's name (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    layers.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """0; 2 when the configuration or the arguments cannot be read."""
    try:
        settings = layers.sources_of(args, os.environ).resolve().settings
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    try:
        arguments = {"command": args.command} if args.command is not None else json.loads(sys.stdin.read())
    except ValueError as error:
        print(f"toolbreaker: the arguments on standard input are not JSON: {error}", file=sys.stderr)
        return 2
    found = Identifier(settings).explain(args.tool, arguments)
    if args.json:
        print(json.dumps([_row(origin, settings) for origin in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(_text(origin, settings) for origin in found))
    return 0


def _row(origin: Origin, settings: Settings) -> dict[str, Any]:
    return {
        "fingerprint": origin.fingerprint,
        "from": origin.origin,
        "cap": cap(settings.limits, origin.fingerprint),
    }


def _text(origin: Origin, settings: Settings) -> str:
    limit = cap(settings.limits, origin.fingerprint)
    counted = "not counted" if limit is None else f"stopped at {limit} of {settings.window} calls"
    return f"{origin.fingerprint}\n    {counted}; from {origin.origin}"
