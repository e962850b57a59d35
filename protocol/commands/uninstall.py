"""`toolbreaker uninstall HARNESS`: take the hooks out of a client's settings."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from protocol.commands.install import add_target, carry_out
from protocol.hook.install.plans import PlanError, uninstalling


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = "Take out what `toolbreaker install` put in; everything else stays byte for byte."
    add_target(parser)


def run(args: argparse.Namespace) -> int:
    """0; 1 when the settings cannot be read, understood or written."""
    try:
        changes = uninstalling(args.harness, args.scope, os.environ, Path.cwd())
    except PlanError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 1
    changes = [change for change in changes if not change.is_none]
    if not changes:
        print(f"{args.harness}: nothing to do, there are no hooks of toolbreaker")
    return carry_out(changes, args.dry_run)
