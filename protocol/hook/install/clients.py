"""Where each client keeps its hooks, and what has to stand there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

Scope = Literal["user", "project"]

PATIENCE = 20
"""Seconds after which a client goes on without us. An event takes hundredths of one, and gives up by itself after 8."""


class Client(Struct, frozen=True):
    """A client whose hooks are entries of a file.

    `folder` is in the home directory or the project's. The variable `moved_by` names another home directory, or
    another folder, as `moves` says. `timeout` is in the client's own unit.
    """

    name: str
    folder: str
    file: str
    events: tuple[str, ...]
    timeout: int
    moved_by: str
    moves: Literal["home", "folder"]
    label: str | None = None
    note: str = ""


CLIENTS: dict[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            folder=".claude",
            file="settings.json",
            events=(
                "PreToolUse",
                "PostToolUse",
                "PostToolUseFailure",
                "UserPromptSubmit",
                "Stop",
                "SubagentStart",
                "SubagentStop",
                "PostCompact",
            ),
            timeout=PATIENCE,
            moved_by="CLAUDE_CONFIG_DIR",
            moves="folder",
            note="A session that runs already keeps the hooks that it began with.",
        ),
        Client(
            name="codex",
            folder=".codex",
            file="hooks.json",
            events=("PreToolUse", "PostToolUse", "UserPromptSubmit", "SubagentStart", "SubagentStop", "PostCompact"),
            timeout=PATIENCE,
            moved_by="CODEX_HOME",
            moves="folder",
            note="Codex runs no hook that you have not reviewed: start codex, open /hooks, read these entries and "
            "trust them. Until then nothing is judged. It asks again when they change, and reads those of a project "
            "only once you trust the project.",
        ),
        Client(
            name="gemini-cli",
            folder=".gemini",
            file="settings.json",
            events=("BeforeTool", "AfterTool", "BeforeAgent"),
            timeout=PATIENCE * 1000,
            moved_by="GEMINI_CLI_HOME",
            moves="home",
            label="toolbreaker",
            note="Gemini CLI does not tell its subagents apart: their calls count as the main agent's.",
        ),
    )
}

_OURS = re.compile(r"""(?:toolbreaker|protocol/__main__\.py)['"]* hook (?:claude-code|codex|gemini-cli)\b""")


def hooks_file(client: Client, scope: Scope, environ: Mapping[str, str], directory: Path) -> Path:
    """The file of the user, or of the project in `directory`."""
    if scope == "project":
        return directory / client.folder / client.file
    moved = environ.get(client.moved_by)
    if not moved:
        return Path.home() / client.folder / client.file
    return Path(moved, client.file) if client.moves == "folder" else Path(moved, client.folder, client.file)


def command_line(program: Sequence[str], client: Client, arguments: Sequence[str] = ()) -> str:
    """What the client hands to a shell, in words that sh, bash, zsh and fish understand alike.

    It ends with 0 when the program is gone, cannot be run, or fails: to some clients anything else stops the call.
    """
    words = [shlex.quote(word) for word in (*program, "hook", client.name, *arguments)]
    there = [f"[ -x {words[0]} ]", *(f"[ -e {word} ]" for word in words[1 : len(program)])]
    return " && ".join([*there, " ".join(words)]) + " || true"


def group(client: Client, command: str) -> dict[str, Any]:
    """What stands in the list of an event."""
    name = {"name": client.label} if client.label else {}
    return {"hooks": [{"type": "command", **name, "command": command, "timeout": client.timeout}]}


def is_ours(hook: Any) -> bool:
    """Whether a hook in somebody's file is one of ours, of whatever version and place."""
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None
