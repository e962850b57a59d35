"""Codex rollouts: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl`, a file a thread.

Rows are `{timestamp, type, payload}`; the oldest ones are bare items. Facts about a call (exit code, success) stand
in `event_msg` rows, before the output row that carries the text. In code mode the nested calls stand there alone.
Searches that the model's provider runs (`web_search_call`) are no tool calls of the harness and are left out.
The events that `codex exec --json` prints (`item.completed`) are read too.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from . import wire
from .fields import Calls, Recent, arguments, blocks, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "codex"

_ROW_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
_ITEM_TYPES = {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning",
               "local_shell_call", "message", "web_search_call", "tool_search_call", "tool_search_output"}  # fmt: skip

NOT_A_PERSON = (
    "<environment_context>",
    "<user_instructions>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<skill>",
    "<user_shell_command>",
    "<INSTRUCTIONS>",
    "<collaboration_mode>",
    "<model_switch>",
    "<hook_prompt",
    "# AGENTS.md instructions",
)
"""How `user` items begin that the harness put there."""

_ERRORS = (
    "unsupported call: ",
    "unsupported custom tool call: ",
    "apply_patch verification failed",
    "Command blocked by ",
    "exec_command failed",
    "write_stdin failed",
    "execution error",
    "failed to parse function arguments",
    "failed in sandbox",
    "unable to locate image",
    "tool call error",
    "collab spawn failed",
)
"""How an output begins whose call could not be carried out."""
_REJECTED = ("exec command rejected by user", "patch rejected by user", "rejected by user", "user rejected")
_ABORTED = re.compile(r"\A(?:aborted(?: by user)?\b|user cancelled\b|Wall time[^\n]{0,40}\naborted by user)")

_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID \d", re.MULTILINE)
_TIMED_OUT = re.compile(r"command timed out after \d{1,12} milliseconds")
_SCRIPT_FAILED = "Script failed"
_HEADER = 400
"""Characters of an output in which its header stands."""
_PRINTED = {"command_execution": "exec_command", "file_change": "apply_patch", "mcp_tool_call": "mcp"}
"""Items of printed events that are calls, with the tool's name where the item has none."""
_OVER = ("completed", "errored", "shutdown", "interrupted", "not_found")
"""The states of a subagent that works no more."""


def is_row(row: dict[str, Any]) -> bool:
    if row.get("type") in _ROW_TYPES:
        return isinstance(row.get("payload"), dict)
    if row.get("record_type") == "state" or _is_printed(row):
        return True
    return row.get("type") in _ITEM_TYPES and ("call_id" in row or "role" in row or "summary" in row)


def _is_printed(row: dict[str, Any]) -> bool:
    kind = string(row.get("type"))
    if kind.startswith("item."):
        return "type" in obj(row.get("item"))
    return kind == "thread.started" or (kind == "turn.completed" and "usage" in row)


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader(context)
    yield Session(context.name, NAME, reader.messages(rows), notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.agent, self.parent = MAIN, ""
        self.identified = False
        self.steps, self.deciding = 0, False
        self.facts: OrderedDict[str, dict[str, Any]] = OrderedDict()
        """What events said about calls whose output is yet to come."""
        self.names: OrderedDict[str, str] = OrderedDict()
        """The tools of the calls that are open."""
        self.last_said: str | None = None
        self.summarised = False
        self.totals: Any = None
        self.records_usage = False
        self.requests_seen = Recent()
        self.children: dict[str, bool] = {}
        """Subagents this thread started; False once they are over."""

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.row, self.notes)
        if self.agent != MAIN:
            yield wire.ended(self.agent, None)

    def row(self, row: dict[str, Any]) -> Iterator[Message]:
        kind, payload, at = row.get("type"), obj(row.get("payload")), seconds(row.get("timestamp"))
        if kind == "session_meta" and not self.identified:
            yield from self.identify(payload, at)
        elif kind == "response_item":
            yield from self.item(payload, at)
        elif kind == "event_msg":
            yield from self.event(payload, at)
        elif kind == "token_usage_record":
            self.records_usage = True
            yield from self.usage(payload.get("usage"), string(payload.get("response_id")), at)
        elif kind == "compacted":
            yield from self.compacted(at)
        elif "payload" not in row and kind in _ITEM_TYPES:
            yield from self.item(row, at)
        elif _is_printed(row):
            yield from self.printed(string(kind), row)

    def printed(self, kind: str, row: dict[str, Any]) -> Iterator[Message]:
        item = obj(row.get("item"))
        raw, called = string(item.get("id")), _PRINTED.get(string(item.get("type")))
        if kind == "turn.completed":
            self.deciding = False
            yield from self.usage(row.get("usage"), "", None)
        elif called and kind in ("item.started", "item.completed"):
            if not (kind == "item.completed" and self.names.get(raw)):
                given = {name: item[name] for name in ("command", "changes", "arguments") if name in item}
                yield from self.call({"call_id": raw}, string(item.get("tool")) or called, given, None)
            if kind == "item.completed":
                answer = item.get("aggregated_output", item.get("result", item.get("error", "")))
                facts = {"exit_code": item.get("exit_code"), "success": item.get("status") != "failed"}
                _keep(self.facts, raw, facts)
                yield from self.output({"call_id": raw, "output": answer}, None)

    def identify(self, meta: dict[str, Any], at: float | None) -> Iterator[Message]:
        self.identified = True
        spawn = obj(path(meta, "source", "subagent", "thread_spawn"))
        if not spawn and not isinstance(path(meta, "source", "subagent"), str | dict):
            return
        self.agent = string(meta.get("id")) or "subagent"
        depth = spawn.get("depth")
        parent = string(meta.get("parent_thread_id")) or string(spawn.get("parent_thread_id"))
        self.parent = parent if parent and isinstance(depth, int) and depth > 1 else MAIN
        yield wire.started(self.agent, self.parent, at=at)

    def item(self, item: dict[str, Any], at: float | None) -> Iterator[Message]:
        kind = string(item.get("type"))
        if kind == "message":
            if item.get("role") == "user":
                yield from self.said(text(item.get("content")), at, item)
            return
        if kind == "function_call":
            yield from self.call(item, _tool(item), arguments(item.get("arguments")), at)
        elif kind == "custom_tool_call":
            yield from self.call(item, _tool(item), {"command": string(item.get("input"))}, at)
        elif kind == "local_shell_call":
            yield from self.call(item, "local_shell", _shell_action(item.get("action")), at)
        elif kind == "tool_search_call":
            yield from self.call(item, "tool_search", arguments(item.get("arguments")), at)
        elif kind.endswith("_output"):
            yield from self.output(item, at)

    def call(self, item: dict[str, Any], tool: str, given: Any, at: float | None) -> Iterator[Message]:
        if not self.deciding:
            self.deciding = True
            self.steps += 1
        self.last_said, self.summarised = None, False
        raw = string(item.get("call_id")) or string(item.get("id"))
        call_id = self.calls.open(self.agent, raw)
        _keep(self.names, raw, tool)
        yield wire.guard(self.agent, call_id, tool, given, at, f"s{self.steps}")
        if tool == "close_agent":
            yield from self.over(string(obj(given).get("id")) or string(obj(given).get("target")), at)

    def output(self, item: dict[str, Any], at: float | None) -> Iterator[Message]:
        self.deciding = False
        raw = string(item.get("call_id"))
        call_id = self.calls.close(self.agent, raw)
        if call_id is None:
            self.notes.unpaired += 1
            return
        tool = self.names.pop(raw, "")
        answer = item.get("output", item.get("tools"))
        if tool.endswith("spawn_agent"):
            yield from self.spawned(answer, call_id, at)
        elif tool.endswith(("wait_agent", "wait")):
            states = obj(obj(arguments(answer)).get("status"))
            for child, state in states.items():
                if _is_over(state):
                    yield from self.over(child, at)
        yield wire.settled(self.agent, call_id, _result(answer, self.facts.pop(raw, {})), at)

    def spawned(self, answer: Any, call_id: str, at: float | None) -> Iterator[Message]:
        child = string(obj(arguments(answer)).get("agent_id"))
        if child and child not in self.children:
            self.children[child] = True
            yield wire.started(child, self.agent, call_id=call_id, at=at)

    def over(self, child: str, at: float | None) -> Iterator[Message]:
        if self.children.get(child):
            self.children[child] = False
            yield wire.ended(child, at)

    def event(self, event: dict[str, Any], at: float | None) -> Iterator[Message]:
        kind, raw = string(event.get("type")), string(event.get("call_id"))
        if kind == "user_message":
            yield from self.said(string(event.get("message")), at, event)
        elif kind == "token_count" and not self.records_usage:
            yield from self.token_count(obj(event.get("info")), at)
        elif kind == "exec_command_end" and raw:
            _keep(self.facts, raw, {"exit_code": event.get("exit_code"), "timed_out": event.get("timed_out")})
        elif kind == "patch_apply_end" and raw:
            _keep(self.facts, raw, {"success": event.get("success")})
        elif kind == "mcp_tool_call_end" and raw:
            outcome = obj(event.get("result"))
            failed = "Err" in outcome or obj(outcome.get("Ok")).get("isError") is True
            _keep(self.facts, raw, {"success": not failed})
        elif kind == "item_completed":
            yield from self.completed(obj(event.get("item")), event, at)
        elif kind == "context_compacted":
            yield from self.compacted(at)

    def completed(self, item: dict[str, Any], event: dict[str, Any], at: float | None) -> Iterator[Message]:
        kind, raw = string(item.get("type")), string(item.get("id"))
        if kind == "UserMessage":
            yield from self.said(text(item.get("content")), at, item)
        elif kind == "ContextCompaction":
            yield from self.compacted(at)
        elif kind in ("CommandExecution", "FileChange", "McpToolCall"):
            facts = _facts(kind, item)
            if self.calls.known(self.agent, raw):
                if raw in self.names:
                    _keep(self.facts, raw, facts)
            elif item.get("source") != "user_shell":
                yield from self.nested(kind, item, facts, event, at)

    def nested(
        self, kind: str, item: dict[str, Any], facts: dict[str, Any], event: dict[str, Any], at: float | None
    ) -> Iterator[Message]:
        """A call that a script of code mode made: it is told once, when it is over."""
        call_id = self.calls.open(self.agent, string(item.get("id")))
        self.calls.close(self.agent, string(item.get("id")))
        given: dict[str, Any]
        if kind == "CommandExecution":
            tool, given = "exec_command", {"cmd": _command(item.get("command"))}
        elif kind == "FileChange":
            tool, given = "apply_patch", {"changes": item.get("changes")}
        else:
            tool, given = string(item.get("tool")) or "mcp", obj(item.get("arguments"))
        begun = seconds(event.get("started_at_ms")) or at
        yield wire.guard(self.agent, call_id, tool, given, begun, f"s{self.steps}")
        answer = item.get("aggregated_output", item.get("stdout", item.get("result", "")))
        ended = seconds(event.get("completed_at_ms")) or at
        yield wire.settled(self.agent, call_id, _result(answer, facts), ended)

    def said(self, words: str, at: float | None, source: dict[str, Any]) -> Iterator[Message]:
        """A message of a person, which the file may tell as an item and as an event."""
        self.deciding = False
        words = words.strip()
        if words.startswith("<subagent_notification>"):
            yield from self.notified(words, at)
        if self.agent != MAIN or not words or words.startswith(NOT_A_PERSON) or _by_harness(source):
            return
        if words == self.last_said:
            self.last_said = None
            return
        self.last_said = words
        yield wire.user_turn(self.agent, at)

    def notified(self, words: str, at: float | None) -> Iterator[Message]:
        start, stop = words.find("{"), words.rfind("}")
        notice = obj(arguments(words[start : stop + 1])) if 0 <= start < stop else {}
        if _is_over(notice.get("status")):
            yield from self.over(string(notice.get("agent_path")) or string(notice.get("agent_id")), at)

    def compacted(self, at: float | None) -> Iterator[Message]:
        if not self.summarised:
            self.summarised = True
            yield wire.compacted(self.agent, at)

    def token_count(self, info: dict[str, Any], at: float | None) -> Iterator[Message]:
        """The event comes again with every change of the rate limits: new is what moves the totals."""
        last, totals = info.get("last_token_usage"), info.get("total_token_usage")
        if last is None or (totals is not None and totals == self.totals):
            return
        self.totals = totals
        yield from self.usage(last, "", at)

    def usage(self, counts: Any, request: str, at: float | None) -> Iterator[Message]:
        if request and not self.requests_seen.add(request):
            return
        counts = obj(counts)
        used = wire.usage(
            self.agent,
            request or None,
            inputs=counts.get("input_tokens"),
            outputs=counts.get("output_tokens"),
            cache_read=counts.get("cached_input_tokens"),
            cache_write=counts.get("cache_write_input_tokens"),
            inclusive=True,
            at=at,
        )
        if used:
            yield used


def _keep(kept: OrderedDict[str, Any], key: str, value: Any) -> None:
    kept[key] = value
    if len(kept) > 1000:
        kept.popitem(last=False)


def _tool(item: dict[str, Any]) -> str:
    """MCP tools are told apart by their server; the harness's own name spaces only group."""
    name, space = string(item.get("name")), string(item.get("namespace"))
    return f"{space}__{name.lstrip('_')}" if space.startswith("mcp__") else name


def _shell_action(action: Any) -> Any:
    known = obj(action)
    return {name: known[name] for name in ("command", "working_directory", "timeout_ms", "env") if known.get(name)}


def _command(words: Any) -> str:
    """The script of `bash -lc SCRIPT`, else the words."""
    listed = [string(word) for word in seq(words)]
    if len(listed) == 3 and listed[1] in ("-c", "-lc"):
        return listed[2]
    return " ".join(listed) if listed else string(words)


def _facts(kind: str, item: dict[str, Any]) -> dict[str, Any]:
    if kind == "CommandExecution":
        return {"exit_code": item.get("exit_code")}
    if kind == "McpToolCall":
        return {"success": item.get("status") != "failed" and not item.get("error")}
    return {"success": item.get("status") not in ("failed", "declined")}


def _by_harness(source: dict[str, Any]) -> bool:
    metadata = seq(path(source, "internal_chat_message_metadata_passthrough", "content_item_metadata"))
    origins = [path(entry, "provenance", "type") for entry in metadata]
    return bool(origins) and all(origin not in (None, "user") for origin in origins)


def _is_over(state: Any) -> bool:
    return state in _OVER if isinstance(state, str) else any(name in _OVER for name in obj(state))


def _result(answer: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """The wire result of an output in any of its shapes: text with a header, JSON in a string, content items."""
    opened = arguments(answer) if isinstance(answer, str) and answer.startswith('{"output"') else answer
    success, code = facts.get("success"), facts.get("exit_code")
    content: Any = _content(opened)
    if isinstance(opened, dict):
        success = opened.get("success", success)
        code = path(opened, "metadata", "exit_code") if "metadata" in opened else code
        content = _content(opened.get("output", opened.get("content", opened)))
    said = text(content)
    header = said[:_HEADER].partition("\nOutput:")[0]
    timed_out = _TIMED_OUT.search(said[:_HEADER])
    if timed_out or facts.get("timed_out") is True:
        limit = wire.milliseconds(timed_out[0]) if timed_out else None
        return wire.result(content, value=wire.foreground(timed_out=True, timeout_ms=limit))
    if _ABORTED.match(said):
        return wire.result(content, value=wire.foreground(interrupted=True))
    if said.startswith(_REJECTED):
        return wire.result(content, error=True, code="rejected")
    if said.startswith(_ERRORS) or (isinstance(answer, list) and said.startswith(_SCRIPT_FAILED)):
        return wire.result(content, error=True)
    exited = _EXITED.search(header)
    if exited or code is not None:
        return wire.result(content, value=wire.foreground(exited[1] if exited else code))
    if _RUNNING.search(header):
        return wire.result(content, value=wire.BACKGROUND)
    return wire.result(content, error=success is False)


def _content(value: Any) -> Any:
    if isinstance(value, list):
        items = [{**item, "type": "text"} if "text" in obj(item) else item for item in value]
        return blocks(items)
    return blocks(value)
