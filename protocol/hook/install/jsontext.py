"""JSON as people write it, changed as text: comments, trailing commas, order and blanks stay as they are.

Inserting and then removing gives back the text byte for byte. To that end an insertion shows by its blanks whether
the array or object around it was there before: in one that was and was empty, a blank follows the opening bracket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from msgspec import Struct

MAX_DEPTH = 200


class MalformedError(ValueError):
    """The text is no JSON, not even with comments and trailing commas; the text says where."""


class Item(Struct):
    """A member of an object or an element of an array. `start` is where it begins, the key included."""

    key: str | None
    start: int
    node: Node
    comma: int | None = None
    """Where the comma behind it stands, if there is one."""


class Node(Struct):
    """A value in the text, from `start` to `end`."""

    kind: str
    """`{`, `[`, or `=` for anything else."""
    start: int
    end: int
    items: list[Item] = []
    gap: int = 0
    """Where the blanks before the closing bracket begin: behind the last item, comma or comment."""
    ends_line: bool = False
    """Whether a comment stands there that goes on to the end of its line."""

    def member(self, key: str) -> Item | None:
        """The member that counts: the last one of that name."""
        return next((item for item in reversed(self.items) if item.key == key), None)


_BLANK = re.compile(r"[ \t\r\n\ufeff]*")
_COMMENT = re.compile(r"//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)")
_CLOSING = {"{": "}", "[": "]"}


def parse(text: str) -> Node:
    """The value that the text holds. Raises MalformedError."""
    parser = _Parser(text)
    parser.skip()
    node = parser.value(0)
    parser.skip()
    if parser.at < len(text):
        parser.fail("something follows the value")
    return node


def value(text: str, node: Node) -> Any:
    """What a node means."""
    if node.kind == "{":
        return {item.key: value(text, item.node) for item in node.items}
    if node.kind == "[":
        return [value(text, item.node) for item in node.items]
    return json.loads(text[node.start : node.end], strict=False)


def insert(text: str, container: Node, key: str | None, new: Any) -> str:
    """The text with a new last item in `container`."""
    style = _Style(text, container)
    body = style.rendered(key, new)
    if not container.items:
        at = container.start + 1
        return f"{text[:at]} {style.lead}{body}{text[at:]}"
    last = container.items[-1]
    if last.comma is not None:
        return f"{text[: container.gap]}{style.lead}{body},{text[container.gap :]}"
    end = last.node.end
    return f"{text[:end]},{text[end : container.gap]}{style.lead}{body}{text[container.gap :]}"


def remove(text: str, chain: Sequence[tuple[Node, Item]]) -> str:
    """The text without the last item of a chain of containers, and without those that were made for it alone.

    `chain` goes from the outermost container to the innermost, each with the item in it that leads on.
    """
    container, item = chain[-1]
    begin = len(text[: item.start].rstrip(" \t\r\n"))
    if len(container.items) > 1:
        place = container.items.index(item)
        if item.comma is not None:
            return text[:begin] + text[item.comma + 1 :]
        comma = container.items[place - 1].comma
        assert comma is not None  # an item stands before the last one
        return text[:comma] + text[comma + 1 : begin] + text[item.node.end :]
    opening = container.start + 1
    alone = not text[opening : item.start].strip() and not text[item.node.end : container.end - 1].strip(" \t\r\n,")
    if alone and not was_there(text, container) and len(chain) > 1:
        return remove(text, chain[:-1])
    end = item.node.end if item.comma is None else item.comma + 1
    return text[:begin] + text[end:]


def was_there(text: str, container: Node) -> bool:
    """Whether a container with nothing in it but what was inserted was there before, and empty."""
    return text[container.start + 1 : container.start + 2] == " "


class _Style:
    """How a new item is set in a container: on a line of its own where lines are used, indented like its neighbours."""

    def __init__(self, text: str, container: Node) -> None:
        self.unit = _unit(text)
        self.newline = "\r\n" if "\r\n" in text else "\n"
        outer = _indent(text, container.start)
        inner = _indent(text, container.items[0].start) if container.items else outer + self.unit
        own_lines = not container.items or "\n" in text[container.start : container.items[0].start]
        self.on_lines = ("\n" in text.strip() and own_lines) or container.ends_line
        self.indent = inner
        self.lead = f"{self.newline}{self.indent}" if self.on_lines else " " if container.items else ""

    def rendered(self, key: str | None, new: Any) -> str:
        name = "" if key is None else f"{json.dumps(key)}: "
        if not self.on_lines:
            return name + json.dumps(new, ensure_ascii=False)
        lines = json.dumps(new, ensure_ascii=False, indent=self.unit).split("\n")
        return name + f"{self.newline}{self.indent}".join(lines)


def _unit(text: str) -> str:
    """One level of indentation: that of the first indented line."""
    found = re.search(r"\n([ \t]+)[\"\[{]", text)
    return found[1] if found and len(found[1]) <= 8 else "  "


def _indent(text: str, at: int) -> str:
    """The blanks that the line of this place begins with."""
    begin = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, begin)
    return found[0] if found else ""


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> tuple[int, bool]:
        """Go over blanks and comments; where the blanks after the last comment begin, and whether it ends its line."""
        text, gap, ends_line = self.text, self.at, False
        while True:
            found = _BLANK.match(text, self.at)
            self.at = found.end() if found else self.at
            comment = _COMMENT.match(text, self.at)
            if comment is None:
                return gap, ends_line
            self.at = gap = comment.end()
            ends_line = comment[0].startswith("//")

    def value(self, depth: int) -> Node:
        opening = self.text[self.at : self.at + 1]
        if opening in _CLOSING:
            if depth >= MAX_DEPTH:
                self.fail("it is nested too deeply")
            return self.container(opening, depth)
        found = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
        if found is None:
            self.fail("a value is missing")
        self.at = found.end()
        return Node("=", found.start(), found.end())

    def container(self, opening: str, depth: int) -> Node:
        node = Node(opening, self.at, 0, [])
        self.at += 1
        while True:
            node.gap, node.ends_line = self.skip()
            if self.text[self.at : self.at + 1] == _CLOSING[opening]:
                self.at += 1
                node.end = self.at
                return node
            if node.items and node.items[-1].comma is None:
                self.fail(f"a comma or {_CLOSING[opening]} is missing")
            start, key = self.at, self.key() if opening == "{" else None
            node.items.append(Item(key, start, self.value(depth + 1)))
            here = self.at
            self.skip()
            if self.text[self.at : self.at + 1] == ",":
                node.items[-1].comma = self.at
                self.at += 1
            else:
                self.at = here

    def key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            self.fail("a name in double quotes is missing")
        self.at = found.end()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            self.fail("a colon is missing")
        self.at += 1
        self.skip()
        try:
            return str(json.loads(found[0], strict=False))
        except ValueError:
            self.fail("a name has a wrong escape")

    def fail(self, problem: str) -> NoReturn:
        before = self.text[: self.at]
        line, column = before.count("\n") + 1, self.at - before.rfind("\n")
        raise MalformedError(f"line {line}, column {column}: {problem}")
