"""`toolbreaker install HARNESS`: put the hooks into a client's settings."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from protocol.hook.install import opencode
from protocol.hook.install.clients import CLIENTS, Scope
from protocol.hook.install.plans import NAMES, Change, PlanError, installing


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Write the hooks into the client's settings; everything else in them stays byte for byte. Twice is the same "
        "as once, and `toolbreaker uninstall` is the way back."
    )
    add_target(parser)
    parser.add_argument("--config", metavar="FILE", help="a configuration for the hooks to use (not with opencode)")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare which client is meant, and which of its files."""
    parser.add_argument("harness", metavar="HARNESS", choices=NAMES, help=f"one of {', '.join(NAMES)}")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--user", dest="scope", action="store_const", const="user", help="for all projects of this user (the default)"
    )
    scope.add_argument(
        "--project", dest="scope", action="store_const", const="project", help="for the project in this directory"
    )
    parser.set_defaults(scope="user")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")


def run(args: argparse.Namespace) -> int:
    """0; 1 when the settings cannot be read, understood or written; 2 when the configuration is wrong or of no use."""
    arguments: list[str] = []
    if args.config is not None:
        if args.harness == opencode.NAME:
            print(
                "toolbreaker: opencode takes its settings in opencode.json, beside the plugin's path: see "
                "examples/opencode/README.md; nothing was written",
                file=sys.stderr,
            )
            return 2
        from breaker.options import ConfigError
        from protocol import layers

        try:
            layers.gather(args.config).resolve()
        except ConfigError as error:
            print(layers.complaint(error), file=sys.stderr)
            return 2
        arguments = ["--config", str(Path(args.config).absolute())]
    try:
        change = installing(args.harness, args.scope, os.environ, Path.cwd(), arguments)
    except PlanError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 1
    if change.is_none:
        print(f"{change.path}: nothing to do, the hooks are there")
        return 0
    status = carry_out([change], args.dry_run)
    if status == 0 and not args.dry_run:
        compile_ours()
        client = CLIENTS.get(args.harness)
        print(client.note if client else opencode.NOTE)
        print(_onward(args.harness, args.scope))
    return status


def _onward(harness: str, scope: Scope) -> str:
    """Where its user can look next, and the way back."""
    namespace = f" --namespace {opencode.NAMESPACE}" if harness == opencode.NAME else ""
    place = " --project" if scope == "project" else ""
    return (
        f"See what it does with `toolbreaker state{namespace}`; "
        f"take it out with `toolbreaker uninstall {harness}{place}`."
    )


def carry_out(changes: list[Change], dry_run: bool) -> int:
    """Make the changes, or show them; the exit status."""
    for change in changes:
        if dry_run:
            print(change.shown(), end="")
            continue
        try:
            change.carry_out()
        except OSError as error:
            print(f"toolbreaker: {change.path} cannot be written: {error.strerror}", file=sys.stderr)
            return 1
        print(f"{change.path}: {'removed' if change.after is None else 'written'}")
    return 0


def compile_ours() -> None:
    """Compile what a hook loads: it is started for every call, maybe where Python may keep nothing that it compiled."""
    import compileall

    root = Path(__file__).resolve().parents[2]
    for package in ("breaker", "protocol"):
        compileall.compile_dir(root / package, quiet=2)
