"""opencode's plugin: a file that loads the one that comes with this program, for as long as that is there."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from protocol.hook.install.clients import Scope

NAME = "opencode"
NAMESPACE = "opencode"
"""Under which the plugin keeps its state."""

NOTE = "opencode cannot ask about a call: calls at a limit are denied."

_HEAD = "// Written by `toolbreaker install opencode`; `toolbreaker uninstall opencode` removes it.\n"
_PLUGIN = Path("opencode", "toolbreaker.js")


def plugin_file(scope: Scope, environ: Mapping[str, str], directory: Path) -> Path:
    """The file in the plugin folder of the user, or of the project in `directory`."""
    if scope == "project":
        return directory / ".opencode" / "plugin" / "toolbreaker.js"
    config = environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "opencode" / "plugin" / "toolbreaker.js"


def shipped() -> Path | None:
    """The plugin as it comes with this program: in the source tree, or where an installation keeps its data."""
    tree = Path(__file__).resolve().parents[3] / "examples" / _PLUGIN
    data = Path(sys.prefix) / "share" / "toolbreaker" / _PLUGIN
    return next((path for path in (tree, data) if path.is_file()), None)


def plugin(program: str) -> str | None:
    """The text of the file. A plugin that throws would stop every call, so one that cannot be loaded does nothing."""
    path = shipped()
    if path is None:
        return None
    return f"""{_HEAD}\
const program = {json.dumps(program)}
const plugin = {json.dumps(path.as_uri())}

export const ToolbreakerPlugin = async (input, options) => {{
  try {{
    process.env.TOOLBREAKER ||= program
    return await (await import(plugin)).ToolbreakerPlugin(input, options)
  }} catch {{
    return {{}} // toolbreaker was removed
  }}
}}
"""


def is_ours(text: str) -> bool:
    """Whether a plugin file was written by this program."""
    return text.startswith(_HEAD)
