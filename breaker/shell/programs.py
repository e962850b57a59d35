"""What is known of single programs: which options take values, make no other action, name output files, hold text.

The tables follow the programs' manuals. A row that is missing says that nothing is volatile, nothing is an output
file, and any word may be a URL. Names with blanks are sub-commands; `git *` is any other sub-command of git.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from breaker.shell.program_table import ALIASES, TABLE

Operands = Literal["", "all", "first"]


class Program(Struct, frozen=True, kw_only=True):
    """One row. Options are written with their dashes.

    `volatile` options make no other action of the command (`-p=x`: only with that value; `--retry*`: every option
    that begins so). `output` options name the file that the payload goes to, `output_operands` says which operands
    do; both stand under the directory that a `chdir` option names. The values of `text` options and the
    `text_operands` are text that is neither fetched nor run; a `pattern` option takes the place of the first operand.
    Without `clusters`, `-abc` is one option, and the `glued` ones may have their value glued to them; with them, the
    `whole` ones still are single options.
    """

    name: str
    valued: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset()
    volatile_prefixes: tuple[str, ...] = ()
    output: frozenset[str] = frozenset()
    output_operands: Operands = ""
    chdir: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()
    text_operands: Operands = ""
    pattern: frozenset[str] = frozenset()
    clusters: bool = True
    whole: frozenset[str] = frozenset()
    glued: tuple[str, ...] = ()
    subcommands: bool = False
    drops: bool = False  # whether this row or one of its sub-commands has volatile options
    sinks: bool = False  # whether this row or one of its sub-commands has outputs


_VERSION = re.compile(r"(?<=[a-z+])-?\d+(?:\.\d+)*\Z")
_VERSIONED = frozenset(
    {"python", "pypy", "pip", "ruby", "perl", "php", "lua", "node", "gcc", "g++", "clang", "clang++"}
)
_OF_A_MACHINE = frozenset({"gcc", "g++", "clang", "clang++", "ld", "gfortran", "strip", "objcopy"})
"""Tools whose name may begin with the machine that they work for: `arm-none-eabi-gcc`."""


@lru_cache(maxsize=2048)
def base_name(word: str) -> str:
    """The program that a command word runs: without directories and `.exe`."""
    name = word.rsplit("/", 1)[-1]
    if "\\" in name:
        name = name.rsplit("\\", 1)[-1]
    if name[-4:].lower() == ".exe":
        name = name[:-4].lower()
    return name or word


@lru_cache(maxsize=2048)
def program(name: str) -> Program:
    """The row of a program, by its base name: `python3.11` is `python`, `egrep` is `grep`."""
    row_name = family(name)
    return _row(row_name) or Program(name=row_name)


@lru_cache(maxsize=2048)
def family(name: str) -> str:
    """The name of the row that describes the program."""
    if name in TABLE:
        return name
    if name in ALIASES:
        return ALIASES[name]
    plain = _VERSION.sub("", name)
    if plain in _VERSIONED:
        return ALIASES.get(plain, plain)
    machine, dash, tool = plain.rpartition("-")
    return ALIASES.get(tool, tool) if dash and machine and tool in _OF_A_MACHINE else name


@lru_cache(maxsize=4096)
def find(name: str, subcommand: str) -> Program:
    """The row of a sub-command; without one, that of any other sub-command of the program."""
    words = name.split(" ")
    full = ALIASES.get(f"{name} {subcommand}", f"{name} {subcommand}")
    row = _row(full)
    while row is None and words:
        row = _row(f"{' '.join(words)} *")
        words.pop()
    return row or Program(name=full)


@lru_cache(maxsize=4096)
def _row(name: str) -> Program | None:
    data = TABLE.get(name)
    if data is None:
        return None
    volatile = _split(data, "volatile")
    below = [row for key, row in TABLE.items() if key.startswith(name + " ")] if data.get("subcommands") else []
    rows = [data, *below]
    output = _split(data, "output")
    chdir = _split(data, "chdir")
    text = _split(data, "text")
    pattern = _split(data, "pattern")
    return Program(
        name=name,
        valued=frozenset((*_split(data, "valued"), *output, *chdir, *text, *pattern)),
        volatile=frozenset(option for option in volatile if not option.endswith("*")),
        volatile_prefixes=tuple(option[:-1] for option in volatile if option.endswith("*")),
        output=frozenset(output),
        output_operands=_operands(data.get("output_operands", "")),
        chdir=frozenset(chdir),
        text=frozenset((*text, *pattern)),
        text_operands=_operands(data.get("text_operands", "")),
        pattern=frozenset(pattern),
        clusters=data.get("clusters") != "no",
        whole=frozenset(_split(data, "whole")),
        glued=tuple(_split(data, "glued")),
        subcommands=data.get("subcommands") == "yes",
        drops=any(row.get("volatile") for row in rows),
        sinks=any(row.get("output") or row.get("output_operands") for row in rows),
    )


def _split(data: dict[str, str], member: str) -> list[str]:
    return data.get(member, "").split()


def _operands(text: str) -> Operands:
    return text if text in ("all", "first") else ""  # type: ignore[return-value]  # one of the literals
