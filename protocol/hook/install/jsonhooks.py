"""What a JSON file of hooks becomes when ours are put in or taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from protocol.hook.install import jsontext
from protocol.hook.install.clients import Client, group, is_ours
from protocol.hook.install.jsontext import Item, Node


class ForeignError(ValueError):
    """The file is not of the shape that the client reads; the text says where."""


def with_hooks(text: str | None, client: Client, command: str) -> str:
    """The file with our hooks in it, once. `None` is a file that is not there.

    Raises MalformedError, ForeignError.
    """
    wanted = {event: group(client, command) for event in client.events}
    if text is not None:
        there = _groups_of_ours(text)
        if dict(there) == wanted and len(there) == len(wanted):
            return text
        text = without_hooks(text)
    lists = {event: [entry] for event, entry in wanted.items()}
    if text is None:
        return f"{json.dumps({'hooks': lists}, indent=2, ensure_ascii=False)}\n"
    if _hooks(text) is None:
        return jsontext.insert(text, jsontext.parse(text), "hooks", lists)
    for event, entry in wanted.items():
        hooks = _hooks(text)
        assert hooks is not None  # it was there, and only grew
        listed = hooks.node.member(event)
        if listed is None:
            text = jsontext.insert(text, hooks.node, event, [entry])
        else:
            text = jsontext.insert(text, listed.node, None, entry)
    return text


def without_hooks(text: str) -> str | None:
    """The file without hooks of ours; `None` when there would be nothing in it that was not made for them."""
    before = text
    while chain := _way_to_ours(text):
        before, text = text, jsontext.remove(text, chain)
    made = before != text and not jsontext.was_there(before, jsontext.parse(before))
    return None if made and text == "{\n}\n" else text


def _groups_of_ours(text: str) -> list[tuple[str, Any]]:
    """The groups with a hook of ours in them, in their order."""
    return [
        (str(listed.key), jsontext.value(text, item.node))
        for listed in _lists(text)
        for item in listed.node.items
        if any(is_ours(jsontext.value(text, hook.node)) for hook in _inner(item))
    ]


def _way_to_ours(text: str) -> list[tuple[Node, Item]] | None:
    """From the top of the file down to the last hook of ours, or to the group that holds no other.

    The last one first: what stands first in a container shows whether it was made for us.
    """
    root, hooks = jsontext.parse(text), _hooks(text)
    for listed in reversed(_lists(text)):
        for item in reversed(listed.node.items):
            inner = item.node.member("hooks") if item.node.kind == "{" else None
            for hook in _inner(item):
                if hooks is None or inner is None or not is_ours(jsontext.value(text, hook.node)):
                    continue
                way = [(root, hooks), (hooks.node, listed), (listed.node, item)]
                return way if len(inner.node.items) == 1 else [*way, (item.node, inner), (inner.node, hook)]
    return None


def _inner(item: Item) -> Iterator[Item]:
    inner = item.node.member("hooks") if item.node.kind == "{" else None
    if inner is not None and inner.node.kind == "[":
        yield from inner.node.items


def _lists(text: str) -> list[Item]:
    """The lists of events. Gemini CLI had switches among them, which are no lists."""
    hooks = _hooks(text)
    if hooks is None:
        return []
    switches = ("enabled", "disabled", "notifications")
    lists = [item for item in hooks.node.items if item.key not in switches]
    for item in lists:
        if item.node.kind != "[":
            raise ForeignError(f"hooks.{item.key} is not a list")
    return lists


def _hooks(text: str) -> Item | None:
    root = jsontext.parse(text)
    if root.kind != "{":
        raise ForeignError("it does not hold an object")
    hooks = root.member("hooks")
    if hooks is not None and hooks.node.kind != "{":
        raise ForeignError("`hooks` is not an object")
    return hooks
