"""`toolbreaker state`: what is stored of agents, and a person's way to take it back."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from breaker.identity.compact import without_digest
from breaker.messages import preview
from breaker.options import ConfigError
from breaker.settings import Settings
from breaker.state import SHADOW
from protocol import layers
from protocol.store import opening
from protocol.store.base import Denial, SpecError, Store, StoredAgent, StoreError

BAR_CELLS = 20
WATCH_SECONDS = 2.0
CLEAR = "\x1b[H\x1b[2J\x1b[3J"
"""What a terminal is told so that it begins at the top of an empty screen."""

SHOWN_DENIALS = 10
SHOWN_NAMESPACES = 10
NAME_CHARS = 60

# The first is the root's alone.
_BUDGETS = (
    ("turn", "turn_spent", "max_tokens"),
    ("session", "session_spent", "session_max_tokens"),
    ("family", "family_spent", "family_max_tokens"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Show what is stored: agents, their turns, what they spent of their budgets, the last calls that were stopped. "
        "`state reset` takes it back."
    )
    parser.usage = (
        "%(prog)s [-h] [--state FILE|auto|ADDRESS] [--namespace NAME] [--json] [--watch [SECONDS]] "
        "[--SETTING VALUE ...]\n"
        "       %(prog)s reset [--state FILE|auto|ADDRESS] [--namespace NAME] [--budget] (AGENT | --all)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--watch",
        metavar="SECONDS",
        nargs="?",
        type=_seconds,
        const=WATCH_SECONDS,
        help=f"show it again and again until Ctrl-C, every {WATCH_SECONDS:g} seconds or as often as given; with --json "
        "one line each time",
    )
    parser.set_defaults(action="show")
    opening.add_place_options(parser, default="auto")
    layers.add_options(parser)
    reset = parser.add_subparsers(metavar="reset", title="taking it back", prog=parser.prog).add_parser(
        "reset",
        help="forget an agent and all it started, or everything",
        description="Forget an agent and all that it started, or everything. A running server notices within seconds.",
    )
    reset.add_argument("agent", metavar="AGENT", nargs="?", help="which agent (with --budget, all where none is given)")
    reset.add_argument("--all", action="store_true", help="every agent")
    reset.add_argument("--budget", action="store_true", help="take back only the tokens that were spent")
    reset.set_defaults(action="reset")
    opening.add_place_options(reset, default=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """0; 1 when the state cannot be read or an agent is unknown; 2 when the arguments are wrong."""
    try:
        settings = layers.sources_of(args, os.environ).resolve().settings
    except ConfigError as error:
        print(layers.complaint(error), file=sys.stderr)
        return 2
    if args.action == "reset":
        problem = _unclear(args)
        if problem:
            print(f"toolbreaker: {problem}", file=sys.stderr)
            return 2
    elif args.watch is not None:
        return _watch(args, settings)
    return _once(args, settings)


def _unclear(args: argparse.Namespace) -> str | None:
    """What is wrong with a reset that does not say plainly what it is to forget."""
    if args.all and args.agent is not None:
        return "give an AGENT or --all, not both"
    if args.agent is None and not args.all and not args.budget:
        return "`state reset AGENT` forgets one that `toolbreaker state` lists, `state reset --all` forgets everything"
    return None


def _watch(args: argparse.Namespace, settings: Settings) -> int:
    """Show it until Ctrl-C. A state that cannot be read now may be readable next time."""
    try:
        while True:
            if sys.stdout.isatty():
                print(CLEAR, end="")
            if _once(args, settings) == 2:
                return 2
            if not (args.json or sys.stdout.isatty()):
                print()
            sys.stdout.flush()
            time.sleep(args.watch)
    except KeyboardInterrupt:
        return 0


def _once(args: argparse.Namespace, settings: Settings) -> int:
    try:
        store = opening.open_existing(args.state, args.namespace)
    except SpecError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 2
    except StoreError as error:
        print(f"toolbreaker: {error}", file=sys.stderr)
        return 1
    if store is None:
        if args.action == "show" and args.json:
            print(json.dumps({"place": None, "agents": [], "denials": []}))
        else:
            print("Nothing is stored.")
            _point_elsewhere(args)
        return 0
    try:
        if args.action == "reset":
            return _reset(store, args)
        return _show(store, settings, args)
    except StoreError as error:
        print(f"toolbreaker: the state in {store.place}: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()


def _point_elsewhere(args: argparse.Namespace) -> None:
    """Where somebody found nothing: which namespaces hold something."""
    try:
        others = opening.namespaces(args.state, args.namespace)
    except (StoreError, OSError):
        return  # it is a hint
    if others:
        shown = ", ".join(_name(name) for name in others[:SHOWN_NAMESPACES])
        more = f" and {len(others) - SHOWN_NAMESPACES} more" if len(others) > SHOWN_NAMESPACES else ""
        print(f"That was the namespace {args.namespace}. Others hold something: {shown}{more} (--namespace NAME).")


def _show(store: Store, settings: Settings, args: argparse.Namespace) -> int:
    agents, denials = store.agents(), store.denials(SHOWN_DENIALS)
    if args.json:
        print(json.dumps({"place": store.place, "agents": [_plain(each) for each in agents], "denials": _all(denials)}))
        return 0
    now = time.time()
    print(f"{store.place}: {_some(len(agents), 'agent')}")
    if not agents:
        _point_elsewhere(args)
    for depth, agent in in_families(agents):
        print("\n".join(_described(agent, depth, settings, now)))
    if denials:
        print("\nlast denials")
        for denial in denials:
            when = datetime.fromtimestamp(denial.at).strftime("%Y-%m-%d %H:%M:%S")
            what = preview(without_digest(denial.what), NAME_CHARS)
            would = "would have been stopped: " if denial.code.startswith(SHADOW) else ""
            print(f"  {when}  {_name(denial.agent)}  {would}{denial.code.removeprefix(SHADOW)}  {what}")
    return 0


def _reset(store: Store, args: argparse.Namespace) -> int:
    names = store.reset(args.agent, budget=args.budget)
    if not names:
        print("Nothing is stored." if args.agent is None else f"No agent {_name(args.agent)} is stored.")
        _point_elsewhere(args)
        return 0 if args.agent is None else 1
    what = "Took back the tokens spent by" if args.budget else "Forgot"
    shown = ", ".join(_name(name) for name in names[:SHOWN_DENIALS])
    more = f" and {len(names) - SHOWN_DENIALS} more" if len(names) > SHOWN_DENIALS else ""
    print(f"{what} {_some(len(names), 'agent')}: {shown}{more}.")
    return 0


def in_families(agents: list[StoredAgent]) -> Iterator[tuple[int, StoredAgent]]:
    """The agents in their order, each followed by those it started, with how deep they are."""
    by_name = {agent.name: agent for agent in agents}
    below: dict[str | None, list[StoredAgent]] = {}
    for agent in agents:
        parent = agent.account.parent
        below.setdefault(parent if parent in by_name else None, []).append(agent)
    waiting = [(0, agent) for agent in reversed(below.get(None, []))]
    while waiting:
        depth, agent = waiting.pop()
        yield depth, agent
        waiting += [(depth + 1, child) for child in reversed(below.get(agent.name, []))]


def bar(spent: int, limit: int, cells: int = BAR_CELLS) -> str:
    """How much of a budget is spent, as a bar that is full at the limit and not before."""
    filled = min(cells, spent * cells // limit)
    return "█" * filled + "░" * (cells - filled)


def _described(agent: StoredAgent, depth: int, settings: Settings, now: float) -> Iterator[str]:
    account = agent.account
    indent = "  " * depth
    kind = "" if account.parent is None else f" ({account.kind} of {_name(account.parent)})"
    yield f"\n{indent}{_name(agent.name)}{kind}: {_some(agent.turns, 'turn')}, {_ago(now - agent.seen)}"
    for label, spent_in, limited_by in _BUDGETS if account.parent is None else _BUDGETS[1:]:
        spent, limit = getattr(account, spent_in), getattr(settings, limited_by)
        if limit is not None:
            share = round(100 * spent / limit)
            yield f"{indent}  {label:<8}{_printable(bar(spent, limit))}  {spent:,} of {limit:,} tokens ({share} %)"
        elif spent:
            yield f"{indent}  {label:<8}{spent:,} tokens (no limit)"
    running = f", {len(account.children)} running" if account.children else ""
    yield f"{indent}  {_some(account.requests, 'model request')}, {_some(account.tools, 'tool call')}{running}"
    if account.tools and not account.requests:
        yield f"{indent}  its harness shows no token usage: budgets are blind here"


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.01 to a day")
    return number


def _printable(text: str) -> str:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return text.replace("█", "#").replace("░", ".")
    return text


def _ago(seconds: float) -> str:
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"last seen {_some(int(seconds // size), unit)} ago"
    return "just seen"


def _some(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _name(name: str) -> str:
    return preview(name, NAME_CHARS)


def _plain(agent: StoredAgent) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(agent)
    del plain["account"]["request_ids"]  # stored as digests alone
    return plain


def _all(denials: list[Denial]) -> Any:
    return msgspec.to_builtins(denials)
