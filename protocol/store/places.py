"""Where state is kept: what `--state` and `--namespace` mean."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from protocol.store.base import SpecError

DEFAULT_NAMESPACE = "default"
SCHEMES = ("redis://", "rediss://", "valkey://", "valkeys://", "unix://")

_NAMESPACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


def is_namespace(name: str) -> bool:
    """Whether a namespace can have this name, which is part of a file's."""
    return _NAMESPACE.fullmatch(name) is not None


def check_namespace(namespace: str) -> str:
    """The namespace. SpecError when none can have this name."""
    if not is_namespace(namespace):
        raise SpecError(
            f"the namespace {namespace!r} is not 1 to 64 letters, digits, dots, hyphens and underscores, "
            "the first of them no dot or hyphen"
        )
    return namespace


def state_file(spec: str, namespace: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The file that `--state auto` or `--state FILE` means."""
    if spec != "auto":
        return Path(spec).expanduser()
    return state_directory(environ) / f"{check_namespace(namespace)}.sqlite"


def state_directory(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's directory for state: XDG's, or what the platform has for it. A relative one is not believed."""
    given = environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(given):  # noqa: PTH117 - `Path` would make it one
        return Path(given) / "toolbreaker"
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "toolbreaker"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "toolbreaker"
    return Path.home() / ".local" / "state" / "toolbreaker"
