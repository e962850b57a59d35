"""Reads a program's arguments into options and operands, by what its table says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from breaker.shell.programs import Program, find
from breaker.shell.quoting import quote
from breaker.shell.script import Word

MAX_CLUSTER = 256
"""Letters read of a cluster (`-abc`)."""


class Argument(Struct, frozen=True):
    """An option (`name` as written, `value` where it takes one) or, without a name, an operand.

    `program` is the table that holds here: that of the sub-command behind it.
    """

    name: str
    value: Word | None
    program: Program


def read_arguments(words: Sequence[Word], program: Program) -> Iterator[Argument]:
    """The arguments behind the program's name. `-abc`, `-oFILE`, `--name=value` come out as single options."""
    index, count = 1, len(words)
    while index < count:
        word = words[index]
        index += 1
        text = word.text
        if text[:1] != "-" or text == "-":
            yield Argument("", word, program)
            if program.subcommands:
                program = find(program.name, text)
            continue
        if text == "--":
            yield Argument("--", None, program)
            for rest in words[index:]:
                yield Argument("", rest, program)
            return
        if text in program.valued:
            value = words[index] if index < count else None
            index += 1
            yield Argument(text, value, program)
        elif text in program.volatile or text in program.whole:
            yield Argument(text, None, program)
        elif text[1] == "-":
            name, equals, _ = text.partition("=")
            yield Argument(name, tail(word, len(name) + 1) if equals else None, program)
        elif not program.clusters:
            name, equals, _ = text.partition("=")
            glued = next((option for option in program.glued if text.startswith(option)), None)
            if equals and name in program.valued:
                yield Argument(name, tail(word, len(name) + 1), program)
            elif glued:
                yield Argument(glued, tail(word, len(glued)), program)
            else:
                yield Argument(text, None, program)
        else:
            for at in range(1, min(len(text), MAX_CLUSTER)):
                name = "-" + text[at]
                if name not in program.valued:
                    yield Argument(name, None, program)
                    continue
                if at + 1 < len(text):
                    value = tail(word, at + 1)
                else:
                    value = words[index] if index < count else None
                    index += 1
                yield Argument(name, value, program)
                break


def tail(word: Word, start: int) -> Word:
    """The word from its character `start` on."""
    text = word.text[start:]
    if word.literal:
        return Word(text, quote(text))
    head = word.text[:start]
    key = word.key[start:] if word.key.startswith(head) else word.key
    return Word(text, key, literal=False)


def is_volatile(argument: Argument) -> bool:
    """Whether the option makes no other action of the command."""
    name, program = argument.name, argument.program
    if not name:
        return False
    if name in program.volatile or name.startswith(program.volatile_prefixes):
        return True
    return argument.value is not None and f"{name}={argument.value.text}" in program.volatile


def option_value(words: Sequence[Word], options: frozenset[str]) -> Word | None:
    """What the last of the options is given: in the next word, behind `=`, or glued to its letter."""
    found: Word | None = None
    for index, word in enumerate(words):
        text = word.text
        name = text.partition("=")[0] if text[:2] == "--" else text[:2]
        if name not in options:
            continue
        if text == name:
            found = words[index + 1] if index + 1 < len(words) else None
        else:
            found = tail(word, len(name) + (text[:2] == "--"))
    return found


def skip_options(words: Sequence[Word], index: int, valued: frozenset[str]) -> int:
    """Where the operands begin: behind the options, of which the `valued` take the next word, and behind `--`."""
    count = len(words)
    while index < count:
        text = words[index].text
        if text[:1] != "-" or text == "-":
            return index
        index += 1
        if text == "--":
            return index
        if text[1] == "-" or text in valued:
            if text in valued:
                index += 1
            continue
        for at in range(1, len(text)):
            if "-" + text[at] in valued:
                if at + 1 == len(text):
                    index += 1
                break
    return min(index, count)
