"""Hooks in Codex's `config.toml`, for users who have theirs there: Codex complains about hooks in two files."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from protocol.hook.install.clients import Client, group
from protocol.hook.install.jsonhooks import ForeignError

_BEGIN = "\n# >>> toolbreaker: written by `toolbreaker install`, removed by `toolbreaker uninstall`\n"
_END = "# <<< toolbreaker\n"


def has_hooks(text: str) -> bool:
    """Whether events have hooks in it, ours aside. Raises ForeignError."""
    hooks = _parsed(without_hooks(text)).get("hooks")
    return isinstance(hooks, dict) and any(isinstance(listed, list) for listed in hooks.values())


def with_hooks(text: str, client: Client, command: str) -> str:
    """The file with our block at its end, once. Raises ForeignError."""
    block = f"{_BEGIN}{''.join(_event(event, group(client, command)) for event in client.events)}{_END}"
    if block in text:
        return text
    changed = without_hooks(text) + block
    _parsed(changed)
    return changed


def without_hooks(text: str) -> str:
    """The file without our block."""
    begin = text.find(_BEGIN)
    end = text.find(_END, begin)
    return text if begin < 0 or end < 0 else without_hooks(text[:begin] + text[end + len(_END) :])


def _event(event: str, entry: dict[str, Any]) -> str:
    lines = [f"[[hooks.{event}]]"]
    for hook in entry["hooks"]:
        lines.append(f"[[hooks.{event}.hooks]]")
        # A string or a number of JSON is one of TOML.
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in hook.items()]
    return "\n".join(lines) + "\n"


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise ForeignError(str(error)) from None
