"""Every regular expression of the packages, and the texts that would show one to take more than linear time."""

from __future__ import annotations

import ast
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # the parser is where a pattern's parts are to be had
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from support import PATIENCE, ROOT, environment

PACKAGES = ("breaker", "protocol")
ANCHORED = frozenset({"match", "fullmatch"})
SEARCHING = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})


class Pattern(NamedTuple):
    """A regular expression, the file that it stands in, and its name there; "" for one in a table or in a call."""

    file: str
    name: str
    source: str
    flags: int = 0
    binary: bool = False

    def compiled(self) -> re.Pattern[Any]:
        return re.compile(self.source.encode("latin-1") if self.binary else self.source, self.flags)


def noted() -> list[Pattern]:
    """All that importing all modules compiles: constants of modules, and what stands in tables."""
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("noting.py")), *PACKAGES],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Pattern(*row) for row in json.loads(done.stdout)]


def written() -> tuple[list[Pattern], set[str]]:
    """What functions give to `re.search`, `re.compile` and their like as a literal, and the files that compute it."""
    literal: list[Pattern] = []
    computed: set[str] = set()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            for node in _in_functions(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and _is_call(node.func) and node.args:
                    sources = list(_texts(node.args[0]))
                    literal += (Pattern(file, "", source) for source in sources)
                    if not sources or (isinstance(node.args[0], ast.IfExp) and len(sources) < 2):
                        computed.add(file)
    return list(dict.fromkeys(literal)), computed


def _in_functions(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from ast.walk(node)


def _is_call(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ANCHORED | SEARCHING | {"compile"}
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
    )


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


def is_searched(pattern: Pattern) -> bool:
    """Whether it is looked for at every place of a text; a pattern that is only matched begins at one.

    A pattern without a name is taken for one that is searched.
    """
    files = [ROOT / pattern.file]
    if not pattern.name.startswith("_"):
        files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    shape = re.compile(rf"\b{re.escape(pattern.name)}\.(\w+)\(")
    used = {use for path in files for use in shape.findall(path.read_text())} if pattern.name else set()
    return not used or bool(used & SEARCHING)


# ---- texts


def worst_texts(pattern: Pattern, size: int) -> Iterator[str]:
    """Texts of `size` characters on which a pattern that backtracks would do so.

    Behind each beginning that the pattern could have, a part of it is repeated that it would take in more than one
    way or again and again, and the text ends with something that spoils the match. Whatever a part may be, it is
    made of the characters that the pattern itself names.
    """
    tree = _parser.parse(pattern.source.encode("latin-1") if pattern.binary else pattern.source, pattern.flags)
    alphabet = _alphabet(tree)
    pumps: dict[tuple[str, str], None] = {}
    for head, body in _repeats(tree, "", alphabet):
        for piece in body:
            pumps[head, piece] = None
    for whole in _samples(tree, alphabet):
        for cut in range(1, min(len(whole), 24) + 1):
            pumps["", whole[:cut]] = None
        pumps["", whole] = None
    for character in alphabet:
        pumps["", character] = None
    for (head, piece), end in itertools.product(pumps, ("", "\0", "\n!")):
        if piece:
            yield head + piece * ((size - len(head)) // len(piece) + 1) + end


def _alphabet(tree: Any) -> list[str]:
    found = dict.fromkeys("a0 \n")
    for operation, argument in _walk(tree):
        if operation in (sre.LITERAL, sre.NOT_LITERAL):
            found[chr(argument)] = None
        elif operation is sre.IN:
            for kind, value in argument:
                if kind is sre.LITERAL:
                    found[chr(value)] = None
                elif kind is sre.RANGE:
                    found[chr(value[0])] = None
    return list(found)[:48]


def _walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    for operation, argument in tree:
        yield operation, argument
        for inner in _inside(operation, argument):
            yield from _walk(inner)


def _inside(operation: Any, argument: Any) -> list[Any]:
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return [argument[2]]
    if operation is sre.SUBPATTERN:
        return [argument[3]]
    if operation is sre.ATOMIC_GROUP:
        return [argument]
    if operation is sre.BRANCH:
        return list(argument[1])
    if operation in (sre.ASSERT, sre.ASSERT_NOT):
        return [argument[1]]
    return []


def _repeats(tree: Any, head: str, alphabet: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What may stand before each repetition of the pattern, and samples of what is repeated."""
    for operation, argument in tree:
        for inner in _inside(operation, argument):
            yield from _repeats(inner, head, alphabet)
        if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and argument[1] > 8:
            yield head, _samples(argument[2], alphabet)
        if operation not in (sre.ASSERT, sre.ASSERT_NOT, sre.AT):
            head += next(iter(_samples([(operation, argument)], alphabet)), "")


def _samples(tree: Any, alphabet: list[str], most: int = 12) -> list[str]:
    """Some texts that a part of a pattern matches."""
    made = [""]
    for operation, argument in tree:
        choices = _choices(operation, argument, alphabet)
        made = [head + tail for head, tail in itertools.islice(itertools.product(made, choices), most)]
    return list(dict.fromkeys(made))


def _choices(operation: Any, argument: Any, alphabet: list[str]) -> list[str]:
    if operation is sre.LITERAL:
        return [chr(argument)]
    if operation is sre.BRANCH:
        return [sample for branch in argument[1] for sample in _samples(branch, alphabet, 3)][:12]
    if operation in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
        return _samples(_inside(operation, argument)[0], alphabet)
    if operation in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        times = max(1, min(argument[0], 64))
        return [sample * times for sample in _samples(argument[2], alphabet)]
    if operation in (sre.IN, sre.ANY, sre.NOT_LITERAL):
        fits = re.compile(_spelled(operation, argument), re.DOTALL)
        return [character for character in alphabet if fits.fullmatch(character)] or ["x"]
    return [""]


def _spelled(operation: Any, argument: Any) -> str:
    """A class of the parsed pattern as source again."""
    if operation is sre.ANY:
        return r"[^\n]"
    if operation is sre.NOT_LITERAL:
        return f"[^{re.escape(chr(argument))}]"
    categories = {
        sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    parts: list[str] = []
    for kind, value in argument:
        if kind is sre.NEGATE:
            parts.insert(0, "^")
        elif kind is sre.LITERAL:
            parts.append(re.escape(chr(value)))
        elif kind is sre.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif kind is sre.CATEGORY:
            parts.append(categories[value])
    return f"[{''.join(parts)}]"
