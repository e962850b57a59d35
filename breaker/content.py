"""The text of a tool's result."""

from __future__ import annotations

from typing import Any

from breaker.events import Result


def text_of(result: Result) -> str:
    """What the model reads of a result: `content`, a string or a list of blocks; without any, what a shell wrote.

    A block that carries no `text` says nothing. Any other shape of content is no text.
    """
    text = _content(result.content)
    if text or not isinstance(result.value, dict):
        return text
    streams = (result.value.get("stdout"), result.value.get("stderr"))
    return "\n".join(stream for stream in streams if isinstance(stream, str) and stream)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") if isinstance(block, dict) else block for block in content)
    return "\n".join(text for text in texts if isinstance(text, str))
