"""Which tools are shells, which fetch URLs, which handle files, and which write: by their names and arguments."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from msgspec import Struct

from breaker.word_set import word_set

SHELL_TOOLS = word_set(
    "bash sh zsh shell pwsh powershell cmd terminal local_shell local_shell_call shell_command shell_exec exec_shell "
    "execute_bash execute_shell execute_shell_command execute_command exec_command exec run_shell run_shell_command "
    "run_command run_commands run_cmd run_bash run_bash_command run_terminal_cmd run_terminal_command run_in_terminal "
    "bash_tool bashtool shelltool bash_command bash_exec terminal_exec unified_exec execute_in_terminal "
    "terminal_command command_line launch_process execute"
)
"""Tools whose command is a shell script, lower case."""

POWERSHELL_TOOLS = frozenset({"pwsh", "powershell"})

JAVASCRIPT_TOOLS = frozenset({"exec"})
"""Shell tools to which a bare text, or one under `input`, is JavaScript and no script: Codex's code mode."""

FILE_TOOLS = word_set(
    "read write edit multiedit multi_edit view open create insert replace glob grep ls cat find "
    "str_replace str_replace_editor str_replace_based_edit_tool search_replace apply_patch apply_diff patch "
    "list_dir list_directory list_files search_files read_many_files fs_read fs_write fsread fswrite filesystem "
    "file_editor editor read_image view_image "
    "notebookread notebookedit notebook_read notebook_edit edit_notebook read_notebook "
    "write_to_file replace_in_file insert_content insert_edit_into_file search_and_replace"
)
"""Tools that handle files, lower case; `read_text_file` and the like are told by their words."""

_COMMAND_NAMES = ("command", "cmd", "script", "input")
_DIRECTORY_NAMES = (
    "workdir",
    "cwd",
    "working_directory",
    "workingDirectory",
    "working_dir",
    "workingDir",
    "work_dir",
    "directory",
    "dir_path",
)
_URL_NAMES = ("url", "href", "uri")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FILE_VERBS = word_set("read write edit create delete remove move copy rename view open list search append")
_READ_VERBS = word_set(
    "get list read search find view show fetch query lookup look describe check count browse glob grep ls cat open "
    "download inspect status wait poll watch navigate visit"
)
_WRITE_VERBS = word_set(
    "write create edit update add insert append post put patch send reply comment publish submit save store set "
    "replace apply upload draft delete remove close merge rename assign schedule notify email message record "
    "remember register make multiedit notebookedit modify change commit push new generate compose duplicate import "
    "upsert report respond answer share review approve reject reopen archive invite deploy trigger label tag"
)


class Shell(Struct, frozen=True):
    """A shell call's command: a script, or a list of words; and the directory it starts in."""

    command: str | tuple[str, ...]
    directory: str = ""
    powershell: bool = False


@lru_cache(maxsize=1024)
def short_name(tool: str) -> str:
    """The lower-case name without what a server puts before it: `mcp__files__Read` is `read`."""
    name = tool.lower()
    for separator in ("__", ".", "/", ":"):
        name = name.rsplit(separator, 1)[-1] or name
    return name


def is_shell(tool: str, extra: Collection[str] = ()) -> bool:
    """`extra`: further names from the settings, lower case."""
    return tool.lower() in extra or short_name(tool) in SHELL_TOOLS


def is_file_tool(tool: str) -> bool:
    name = short_name(tool)
    if name in FILE_TOOLS:
        return True
    words = _words(tool)
    return bool(words) and words[0] in _FILE_VERBS and words[-1] in ("file", "files")


@lru_cache(maxsize=1024)
def writes(tool: str) -> bool:
    """Whether the name says that the tool writes or creates: the first of its words that is a known verb decides."""
    for word in _words(tool):
        if word in _WRITE_VERBS:
            return True
        if word in _READ_VERBS:
            return False
    return False


@lru_cache(maxsize=1024)
def _words(tool: str) -> tuple[str, ...]:
    name = tool
    for separator in ("__", ".", "/", ":"):
        name = name.rsplit(separator, 1)[-1] or name
    return tuple(word.lower() for word in _WORD.findall(name))


def shell_call(tool: str, arguments: Any) -> Shell | None:
    """The command of a call to a shell tool; None for keystrokes and for arguments that hold none."""
    named = short_name(tool)
    powershell = named in POWERSHELL_TOOLS
    if type(arguments) is str:
        return Shell(arguments, powershell=powershell) if named not in JAVASCRIPT_TOOLS else None
    if type(arguments) is not dict or arguments.get("is_input") is True:
        return None
    for name in _COMMAND_NAMES if named not in JAVASCRIPT_TOOLS else _COMMAND_NAMES[:2]:
        command = arguments.get(name)
        if type(command) is str:
            return Shell(command, _directory(arguments), powershell)
        if type(command) is list and command and all(type(word) is str for word in command):
            if len(command) == 1:
                return Shell(command[0], _directory(arguments), powershell)
            return Shell(tuple(command), _directory(arguments), powershell)
    action = arguments.get("action")
    if type(action) is dict and "action" not in action:
        return shell_call(tool, action)
    return None


def url_argument(arguments: Any) -> tuple[str, ...]:
    """The texts under `url`, `href` or `uri`."""
    if type(arguments) is not dict:
        return ()
    for name in _URL_NAMES:
        value = arguments.get(name)
        if type(value) is str:
            return (value.strip(),)
        if type(value) is list and value and all(type(item) is str for item in value):
            return tuple(item.strip() for item in value)
    return ()


def _directory(arguments: dict[str, Any]) -> str:
    for name in _DIRECTORY_NAMES:
        value = arguments.get(name)
        if type(value) is str and value:
            return value
    return ""
