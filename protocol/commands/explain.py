"""`toolbreaker explain`: what a call is to the gate, or why a recorded one was stopped."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from breaker.identity.identify import Identifier, Origin
from breaker.identity.tools import is_shell
from breaker.options import ConfigError
from breaker.rules.tracks import cap
from breaker.settings import Settings
from protocol import layers
from protocol.numbers import at_least


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Print every fingerprint of a call, what it was made from, and its cap. "
        "COMMAND is a shell command line, or with a --tool that is no shell its arguments as a JSON object. "
        "Without COMMAND the arguments are read from standard input, as JSON. "
        "With --call, judge a recording up to that call and say why it got its verdict."
    )
    parser.usage = (
        "%(prog)s [-h] [--tool NAME] [--json] [--SETTING VALUE ...] [COMMAND]\n"
        "       %(prog)s --call N [--session NAME] [--SETTING VALUE ...] RECORDING"
    )
    parser.add_argument(
        "command", metavar="COMMAND", nargs="?", help="a command line or arguments; with --call a recording"
    )
    parser.add_argument("--call", type=at_least(1), metavar="N", help="the Nth call of a recording, counted from 1")
    parser.add_argument("--session", metavar="NAME", help="which session, where the recording holds several")
    parser.add_argument("--tool", metavar="NAME", default="bash", help="the tool's name (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    layers.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """0; 2 when the configuration or the arguments cannot be read."""
    try:
        settings = layers.sources_of(args, os.environ).resolve().settings
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    if args.call is not None:
        return _recorded(args.command or "-", args.call, args.session, settings)
    given = None if args.command is not None else sys.stdin.read()
    if given is not None and not given.strip():
        print("toolbreaker: give a COMMAND, or the arguments of a call as JSON on standard input", file=sys.stderr)
        return 2
    try:
        arguments = _arguments(args.tool, args.command, settings) if given is None else json.loads(given)
    except ValueError as error:
        print(f"toolbreaker: the arguments on standard input are not JSON: {error}", file=sys.stderr)
        return 2
    if given is None and _is_data(args.command):
        print(f"toolbreaker: {args.command} is a file; --call N explains the Nth call of a recording", file=sys.stderr)
    found = Identifier(settings).explain(args.tool, arguments)
    if args.json:
        print(json.dumps([_row(origin, settings) for origin in found], indent=2, ensure_ascii=False))
    else:
        print("\n".join(_texts(found, settings)))
        if settings.adaptive != Settings().adaptive:
            print(f"The profile {settings.profile} weighs what calls brought: --call shows it for a recorded one.")
    return 0


def _recorded(path: str, number: int, name: str | None, settings: Settings) -> int:
    from protocol.readers import RecordingError, open_recording
    from protocol.replay.judge import judge_call
    from protocol.replay.why import why

    names = []
    try:
        for session in open_recording(path):
            names.append(session.name)
            if name in (None, session.name):
                report, closeup = judge_call(session, settings, number)
                lines = list(why(report, closeup, settings))
                if not lines:
                    has = f"its calls are 1 to {report.calls}" if report.calls else "it has no calls"
                    print(f"toolbreaker: {session.name} has no call {number}: {has}", file=sys.stderr)
                    return 1
                print("\n".join(lines))
                return 0
    except RecordingError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 1
    found = f"there is no session {name!r}, but {', '.join(names)}" if names else "there is no session"
    print(f"toolbreaker: {path}: {found}", file=sys.stderr)
    return 1


def _arguments(tool: str, text: str, settings: Settings) -> dict[str, Any]:
    """The arguments of a call: what a shell would run, or what another tool was given, as JSON."""
    if not is_shell(tool, {name.lower() for name in settings.shell_tools}):
        with suppress(ValueError, RecursionError):
            given = json.loads(text)
            if isinstance(given, dict):
                return given
    return {"command": text}


def _is_data(command: str) -> bool:
    """Whether a command is the name of a file that nobody could run."""
    try:
        return Path(command).is_file() and not os.access(command, os.X_OK)
    except OSError:  # longer than any name
        return False


def _row(origin: Origin, settings: Settings) -> dict[str, Any]:
    return {
        "fingerprint": origin.fingerprint,
        "from": origin.origin,
        "cap": cap(settings.limits, origin.fingerprint),
    }


def _texts(found: list[Origin], settings: Settings) -> Iterator[str]:
    """Two lines an identity; what holds for all of them once, above."""
    limits = [cap(settings.limits, origin.fingerprint) for origin in found]
    counted = any(limit is not None for limit in limits)
    if not counted:
        hint = "" if settings.profile == "standard" else "; --profile standard shows the caps"
        yield f"`{settings.profile}` counts none of these{hint}."
    for origin, limit in zip(found, limits, strict=True):
        said = "not counted; " if limit is None else f"stopped at {limit} of {settings.window} calls; "
        yield f"{origin.fingerprint}\n    {said if counted else ''}from {origin.origin}"
