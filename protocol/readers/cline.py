"""Cline sessions: `{version, agent, sessionId, messages}`, or the bare list of `api_conversation_history.json`.

Calls are `tool_use` blocks, in older files XML in the text; results are `tool_result` blocks or text that begins
`[tool for 'x'] Result:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .chat import Chat
from .fields import arguments, blocks, obj, path, seq, string, text
from .session import Context, Message, Session

NAME = "cline"

_XML_TOOLS = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "search_files", "list_files",
    "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question",
    "plan_mode_respond", "attempt_completion", "new_task", "apply_diff", "insert_content", "web_fetch", "condense",
    "codebase_search", "update_todo_list", "switch_mode",
)  # fmt: skip
_XML = re.compile(rf"<({'|'.join(_XML_TOOLS)})>")
_PARAMETER = re.compile(r"<([a-z_]{1,40})>")
_RESULT = re.compile(r"\A\[([a-zA-Z_][\w.-]{0,80})(?: for '[^\n]{0,4000}'| [^\]\n]{0,4000})?\](?: Result:)?\s*")
_NOTICES = ("<SYSTEM_NOTICE>", "<environment_details>", "[ERROR] You did not use a tool", "[TASK RESUMPTION]",
            "Context summary:", "# TODO LIST", "# task_progress")  # fmt: skip
_ERRORS = ("The tool execution failed with the following error", "<tool_error>", "Error executing ", "<error>")
_EXIT = re.compile(r"\A(?:Command failed with exit code|Command exited with code|Exit code:) ?(-?\d{1,9})\b")
_DENIED = ("The user denied this operation", "The user rejected")


def is_document(value: Any) -> bool:
    if isinstance(value, dict):
        if not isinstance(value.get("messages"), list):
            return False
        known = {"sessionId", "system_prompt", "agent", "updated_at"} & set(value)
        return len(known) >= 2 and all("role" in obj(message) for message in value["messages"][:5])
    return any(_is_mark(obj(message)) for message in seq(value)[:6])


def _is_mark(message: dict[str, Any]) -> bool:
    for block in seq(message.get("content")):
        said = string(obj(block).get("text"))
        if message.get("role") == "user" and (
            said.startswith(("<task>", "<environment_details>")) or (_RESULT.match(said) and "] Result:" in said[:5000])
        ):
            return True
    return False


def read_document(value: Any, context: Context) -> Iterator[Session]:
    fields = obj(value)
    name = string(fields.get("sessionId")) or context.name
    messages = _Cline(context.notes, _answered).messages(iter(seq(fields.get("messages")) or seq(value)))
    yield Session(name, NAME, messages, notes=context.notes)


class _Cline(Chat):
    def usage(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        metrics = obj(message.get("metrics"))
        request = string(message.get("id"))
        if metrics and (not request or self.requests.add(request)):
            used = wire.usage(
                self.agent,
                request or None,
                inputs=metrics.get("inputTokens"),
                outputs=metrics.get("outputTokens"),
                cache_read=metrics.get("cacheReadTokens"),
                cache_write=metrics.get("cacheWriteTokens"),
                inclusive=True,
                at=at,
            )
            if used:
                yield used

    def assistant(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        content = message.get("content")
        yield from super().assistant(message, at)
        if any(obj(block).get("type") == "tool_use" for block in seq(content)):
            return
        call = _xml_call(text(content))
        if call:
            yield from self.call("", call[0], call[1], at)

    def user(self, message: dict[str, Any], at: float | None) -> Iterator[Message]:
        kind = string(path(message, "metadata", "kind"))
        if kind.startswith("compaction"):
            yield wire.compacted(self.agent, at)
        content = message.get("content")
        answered = False
        for block in map(obj, seq(content) or [{"type": "text", "text": text(content)}]):
            said = string(block.get("text"))
            if block.get("type") == "tool_result":
                yield from self.answer(string(block.get("tool_use_id")), block.get("content"), block, at)
            elif block.get("type") == "text" and _RESULT.match(said) and not answered:
                raw = self.waiting(said)
                if raw is not None:
                    answered = True
                    yield from self.answer(raw, _RESULT.sub("", said, count=1) or _next_text(content, said), block, at)
        if kind != "compaction_summary" and self.by_person(message, content):
            yield wire.user_turn(self.agent, at)

    def waiting(self, said: str) -> str | None:
        """The call that a result in words is about: the oldest of that tool."""
        match = _RESULT.match(said)
        named = match[1] if match else ""
        return next((raw for raw in self.calls.waiting(self.agent) if self.tools.get(raw) == named), None)

    def by_person(self, _message: dict[str, Any], content: Any) -> bool:
        said = [content] if isinstance(content, str) else [obj(block).get("text") for block in seq(content)]
        results = [words for words in map(string, said) if _RESULT.match(words) and "] Result:" in words[:5000]]
        if results:
            return any("<feedback>" in words for words in map(string, said))
        return any(words.strip() and not words.lstrip().startswith(_NOTICES) for words in map(string, said))


def _next_text(content: Any, said: str) -> str:
    """The block after the one that only names the tool holds the result."""
    texts = [string(obj(block).get("text")) for block in seq(content)]
    position = texts.index(said) + 1 if said in texts else len(texts)
    return texts[position] if position < len(texts) else ""


def _xml_call(answer: str) -> tuple[str, dict[str, str]] | None:
    """The call that an answer writes out as XML: one at most."""
    found = _XML.search(answer)
    if not found:
        return None
    tool = found[1]
    end = answer.rfind(f"</{tool}>")
    body = answer[found.end() : end if end >= found.end() else len(answer)]
    given: dict[str, str] = {}
    position = 0
    while parameter := _PARAMETER.search(body, position):
        close = body.find(f"</{parameter[1]}>", parameter.end())
        if close < 0:
            break
        given[parameter[1]] = body[parameter.end() : close].strip("\n")
        position = close + len(parameter[1]) + 3
    return tool, given


def _answered(_tool: str, content: Any) -> dict[str, Any]:
    opened = arguments(content) if isinstance(content, str) and content.startswith(("{", "[")) else content
    parts = [obj(part) for part in (opened if isinstance(opened, list) else [opened])]
    said = text(content)
    failed = any(part.get("success") is False for part in parts)
    if said.startswith(_DENIED):
        return wire.result(said, error=True, code="rejected")
    if said.startswith(_ERRORS) or (failed and not any(part.get("success") is True for part in parts)):
        return wire.result(blocks(content), error=True)
    code = _EXIT.match(said)
    return wire.result(blocks(content), value=wire.foreground(code[1]) if code else None)
