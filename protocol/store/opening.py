"""From `--state` to a store that can be used, or to the reason why there is none."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import TYPE_CHECKING

from protocol.about import lacking
from protocol.store.base import ForeignError, SpecError, Store, StoreError
from protocol.store.places import DEFAULT_NAMESPACE, SCHEMES, check_namespace, is_namespace, state_file

if TYPE_CHECKING:
    from protocol.store.redis import RedisStore

DEFAULT_DAYS = 30.0
VARIABLE = "TOOLBREAKER_STATE"


def open_store(
    spec: str, namespace: str = DEFAULT_NAMESPACE, *, brief: bool = False
) -> tuple[Store | None, str | None]:
    """The store that `none`, `auto`, a file or an address means, or none; and what went wrong, for people.

    A server need not be there yet.

    `brief` is for a process that handles one event. SpecError when something is not written as it must be, or names a
    file of something else.
    """
    check_namespace(namespace)
    if spec == "none":
        return None, None
    if not spec:
        raise SpecError("--state needs a file, an address, auto or none")
    if spec.startswith(SCHEMES):
        return _reached(spec, namespace), None
    _refuse_unknown_address(spec)
    place = spec
    try:
        path = state_file(spec, namespace)
        place = str(path)
        from protocol.store.sqlite import open_file

        store = open_file(path, brief=brief, ours=spec == "auto")
    except ForeignError as error:
        raise SpecError(
            f"--state {path}: {error}, and it was left as it is; name a state, or a file that is not there yet"
        ) from error
    except (StoreError, RuntimeError) as error:  # RuntimeError: there is no home directory
        return None, f"the state in {place}: {error}; counting goes on in memory"
    notes = "; ".join(store.notes)
    return store, f"the state in {place}: {notes}" if notes else None


def open_existing(spec: str, namespace: str = DEFAULT_NAMESPACE) -> Store | None:
    """A store to look into: nothing is made and nothing set aside; none where nothing is stored yet.

    Raises SpecError, and StoreError for one that cannot be read, or a file that was named and is not there.
    """
    check_namespace(namespace)
    if spec == "none":
        raise SpecError("--state none is no state to look into")
    if spec.startswith(SCHEMES):
        return _reached(spec, namespace)
    _refuse_unknown_address(spec)
    try:
        path = state_file(spec, namespace)
    except RuntimeError as error:
        raise StoreError(str(error)) from error
    if spec != "auto" and not path.exists():
        raise StoreError(f"the state in {path}: there is no such file")
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return None
    from protocol.store.sqlite import open_existing_file

    try:
        return open_existing_file(path)
    except StoreError as error:
        raise type(error)(f"the state in {path}: {error}") from error


def namespaces(spec: str, namespace: str) -> list[str]:
    """The other namespaces beside this one in which something is kept, where `spec` has any. Raises StoreError."""
    if spec == "auto":
        found = [path.stem for path in state_file(spec, namespace).parent.glob("*.sqlite") if path.stat().st_size]
    elif spec.startswith(SCHEMES):
        with closing(_reached(spec, namespace)) as store:
            found = store.namespaces()
    else:
        found = []
    return sorted(name for name in found if name != namespace and is_namespace(name))


def add_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare `--state`, `--namespace` and `--state-days`."""
    add_place_options(parser, default)
    parser.add_argument(
        "--state-days",
        metavar="DAYS",
        type=_positive,
        default=DEFAULT_DAYS,
        help="forget agents that nobody heard of for so long (default: %(default)g)",
    )


def add_place_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Declare `--state` and `--namespace`. The variable TOOLBREAKER_STATE stands for the former."""
    kept = default == argparse.SUPPRESS
    parser.add_argument(
        "--state",
        metavar="FILE|auto|ADDRESS|none",
        default=default if kept else os.environ.get(VARIABLE) or default,
        help="where budgets and quotas are kept: a file, auto for one in the user's state directory, redis://HOST of a "
        "Redis or Valkey server (its password in TOOLBREAKER_STATE_PASSWORD), or none"
        + ("" if kept else " (default: %(default)s)"),
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        default=default if kept else DEFAULT_NAMESPACE,
        help="which file of the state directory, or which part of a server"
        + ("" if kept else " (default: %(default)s)"),
    )


def _reached(address: str, namespace: str) -> RedisStore:
    try:
        from protocol.store.redis import RedisStore
    except ImportError as error:
        raise SpecError(f"--state with an address {lacking('redis')} ({error})") from error
    return RedisStore(address, namespace)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of days")
    return number


def _refuse_unknown_address(spec: str) -> None:
    scheme, address, _ = spec.partition("://")
    if address:
        raise SpecError(f"--state takes no address that begins with {scheme}://; known are {', '.join(SCHEMES)}")
