"""The command `toolbreaker`: which sub-commands there are. Only the one that runs is imported.

`hook` runs before and after every tool call of a client, and what is imported is what its user waits for: whatever
it does not need is imported where it is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from protocol.about import DISTRIBUTION, VERSION

if TYPE_CHECKING:
    import argparse
    from types import FrameType, ModuleType

COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("protocol.commands.serve", "judge an agent's tool calls over standard input and output"),
    "replay": ("protocol.commands.replay", "show what would have been stopped in recorded sessions"),
    "sweep": ("protocol.commands.sweep", "replay recorded sessions under many settings"),
    "explain": ("protocol.commands.explain", "show the identities of a call, or why a recorded one was stopped"),
    "check-config": ("protocol.commands.check_config", "print the resolved settings, or what is wrong with them"),
    "state": ("protocol.commands.state", "show what is stored of agents and budgets, or take it back"),
    "hook": ("protocol.commands.hook", "answer one hook event of a command-line client"),
    "install": ("protocol.commands.install", "add the hooks to a command-line client"),
    "uninstall": ("protocol.commands.uninstall", "take the hooks out again"),
}
"""Sub-commands by name: the module, which has `configure(parser)` and `run(args)`, and what it is for."""

USAGE_STATUS = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status. `hook` always ends with 0: to some clients 2 means "block"."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["hook"]:
        return _run_hook(arguments[1:], ends=argv is None)
    from protocol.streams import flush_or_discard, write_what_is_possible

    write_what_is_possible()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `toolbreaker … | head`
        flush_or_discard()
        return 0
    except OSError as error:  # what is said finds no room: `toolbreaker … > /dev/full`
        if error.filename is not None:
            raise
        flush_or_discard()
        print(f"{DISTRIBUTION}: cannot write: {error.strerror or error}", file=sys.stderr)
        return 1


def _run(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name in ("--version", "-V"):
        print(f"{DISTRIBUTION} {VERSION}")
        return 0
    if name in ("--help", "-h", "help"):
        print(usage())
        return 0
    problem = foreign_packages()
    if problem:
        print(f"{DISTRIBUTION}: {problem}", file=sys.stderr)
        return 1
    if name not in COMMANDS:
        if name:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            print(f"{DISTRIBUTION}: there is no command {name!r}{hint}", file=sys.stderr)
        print(usage(), file=sys.stderr)
        return USAGE_STATUS
    return run_command(name, arguments[1:])


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Run one sub-command. argparse ends the process with 2 when the arguments are wrong."""
    from importlib import import_module

    if name == "serve":  # it ends with 0 on these, and may be asked to before it is loaded
        import signal

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _end_quietly)
    module = import_module(COMMANDS[name][0])
    parser = _parser(name, module)
    args, unknown = parser.parse_known_args(arguments)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{_meant(parser, unknown)}")
    return int(module.run(args))


def usage() -> str:
    """What `--help` shows."""
    lines = [f"  {name:<13} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {DISTRIBUTION} COMMAND [OPTION …]",
            f"       {DISTRIBUTION} COMMAND --help",
            "",
            "A gate in front of an AI agent's tool calls: stops loops, lets work pass.",
            "",
            "commands:",
            *lines,
            "",
            "  --version     print the version",
        ]
    )


def foreign_packages() -> str | None:
    """What is wrong when another distribution's `breaker` or `protocol` stands in the place of ours."""
    from importlib.util import find_spec
    from pathlib import Path

    ours = Path(__file__).resolve().parent.parent
    for name in ("breaker", "protocol"):
        try:
            found = find_spec(name)
            origin = Path(found.origin if found and found.origin else "").resolve()
            # Both say in their first line whose they are; a namesake installed over ours does not.
            if origin.parent == ours / name and DISTRIBUTION in origin.read_text("utf-8")[:200]:
                continue
        except (ImportError, OSError, ValueError):
            origin = Path()
        return (
            f"the package `{name}` in {origin.parent} is not the one of {DISTRIBUTION}. Other distributions install "
            f"packages of that name: install {DISTRIBUTION} into an environment of its own (pipx or uv tool)"
        )
    return None


def _parser(name: str, module: ModuleType) -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(prog=f"{DISTRIBUTION} {name}", description=COMMANDS[name][1], allow_abbrev=False)
    module.configure(parser)
    return parser


def _meant(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> str:
    """Which option the first unknown one may have been meant for, in brackets."""
    from breaker.checks import nearest

    option = next((word.partition("=")[0] for word in unknown if word.startswith("--")), "")
    # argparse has no public list of its options.
    near = nearest(option, tuple(parser._option_string_actions), prefix="--") if option else None
    return f" ({near})" if near else ""


def _run_hook(arguments: list[str], *, ends: bool) -> int:
    """A hook that fails must look like no hook: whatever happens, the status is 0 and the client goes on.

    When the process `ends` with it, Python's own end is left out, which takes the memory apart piece by piece.
    """
    try:
        from protocol.hook.run import main as answer

        answer(arguments)
    except BaseException as error:
        from contextlib import suppress

        with suppress(Exception):
            print(f"{DISTRIBUTION} hook: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    if ends:
        os._exit(0)
    return 0


def _end_quietly(_number: int, _frame: FrameType | None) -> None:
    os._exit(0)
