"""Claude Code transcripts: `~/.claude/projects/<cwd>/<session>.jsonl`, subagents in the file or beside it.

A subagent shows up as `isSidechain` rows with an `agentId`, as older `isSidechain` rows without one (a chain of
`parentUuid`s), or as `progress` rows that wrap its messages. What `claude -p --output-format stream-json` prints is
read too: there a subagent's rows carry `parent_tool_use_id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import wire
from .fields import Calls, Recent, blocks, converted, obj, path, seconds, seq, string, text
from .session import Context, Message, Session
from .wire import MAIN

NAME = "claude-code"

_TYPES = {"user", "assistant", "system", "progress", "attachment", "summary", "file-history-snapshot"}
_SPAWNERS = {"Task", "Agent"}

NOT_A_PERSON = (
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "<user-memory-input>",
    "<teammate-message",
    "<tick>",
    "<command-",
    "Caveat: The messages below",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)
"""How user rows begin that no person wrote to the model."""

_EXIT = re.compile(r"\A(?:Error: )?Exit code (\d{1,9})\b")
_TIMED_OUT = re.compile(r"^(?:Error: )?Command timed out after [^\n]{1,40}", re.MULTILINE)
_REJECTED = "The user doesn't want to "


def is_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if kind in ("user", "assistant"):
        return isinstance(row.get("message"), dict) and bool({"uuid", "sessionId", "session_id"} & set(row))
    if kind in _TYPES and {"uuid", "leafUuid", "messageId"} & set(row):
        return True
    if kind == "system" and row.get("subtype") == "init":
        return "session_id" in row
    return kind in ("queue-operation", "last-prompt") and "sessionId" in row


def read(rows: Iterator[Any], context: Context) -> Iterator[Session]:
    reader = _Reader(context)
    yield Session(context.name, NAME, reader.messages(rows), notes=context.notes)


class _Reader:
    def __init__(self, context: Context) -> None:
        self.notes = context.notes
        self.calls = Calls()
        self.rows_seen = Recent()
        self.requests_seen = Recent()
        self.blocks_seen = Recent()
        self.agents: dict[str, str] = {}
        """Subagents that run, with the agent that started each."""
        self.spawns: dict[str, tuple[str, str, str]] = {}
        """Raw id of an open spawning call -> its agent, its call id, the prompt."""
        self.spawned: dict[str, str] = {}
        """Raw id of a spawning call -> the agent it started."""
        self.chains: dict[str, str] = {}
        """Row uuid -> agent, for sidechains without agent ids."""
        self.commands: list[float | None] = []
        """The time of a slash command that may turn out to be a prompt."""
        self.summarised = False

    def messages(self, rows: Iterator[Any]) -> Iterator[Message]:
        yield from converted(rows, self.row, self.notes)
        yield from self.flush_command()
        for agent in list(self.agents):
            yield from self.end(agent, None)

    def row(self, row: dict[str, Any]) -> Iterator[Message]:
        uuid = string(row.get("uuid"))
        if uuid and not self.rows_seen.add(uuid):
            return
        kind, at = row.get("type"), seconds(row.get("timestamp"))
        if kind == "progress":
            yield from self.progress(row, at)
        elif kind in ("user", "assistant"):
            agent = self.agent_of(row, uuid)
            if agent != MAIN and agent not in self.agents:
                spawn = string(row.get("parent_tool_use_id"))
                yield from self.begin(agent, text(path(row, "message", "content")), spawn, at)
            yield from self.message(row, agent, at)
        elif kind == "system" and row.get("subtype") == "compact_boundary":
            self.summarised = True
            yield wire.compacted(self.agent_of(row, uuid), at)
        elif kind == "attachment":
            yield from self.attachment(row, at)

    def agent_of(self, row: dict[str, Any], uuid: str) -> str:
        spawn = string(row.get("parent_tool_use_id"))
        if spawn:
            return f"sub-{spawn}"
        if not row.get("isSidechain"):
            return MAIN
        agent = string(row.get("agentId"))
        if not agent:
            agent = self.chains.get(string(row.get("parentUuid"))) or f"sidechain-{len(self.agents) + 1}"
            self.chains[uuid] = agent
        return agent

    def begin(self, agent: str, prompt: str, spawn: str, at: float | None) -> Iterator[Message]:
        """A subagent's first row: it belongs to the call that named it, or to the one with its prompt."""
        if spawn not in self.spawns:
            waiting = (raw for raw in self.spawns if raw not in self.spawned)
            spawn = next((raw for raw in waiting if prompt and self.spawns[raw][2] == prompt), "")
        parent, call_id = (self.spawns[spawn][0], self.spawns[spawn][1]) if spawn else (MAIN, None)
        if spawn:
            self.spawned[spawn] = agent
        self.agents[agent] = parent
        yield wire.started(agent, parent, call_id=call_id, at=at)

    def end(self, agent: str, at: float | None) -> Iterator[Message]:
        if self.agents.pop(agent, None) is not None:
            yield wire.ended(agent, at)

    def progress(self, row: dict[str, Any], at: float | None) -> Iterator[Message]:
        """A subagent's message as its parent's file shows it."""
        data = obj(row.get("data"))
        agent, wrapped = string(data.get("agentId")), obj(data.get("message"))
        if data.get("type") != "agent_progress" or not agent or not wrapped:
            return
        if agent not in self.agents:
            yield from self.begin(agent, string(data.get("prompt")), string(row.get("parentToolUseID")), at)
        yield from self.message(wrapped, agent, seconds(wrapped.get("timestamp")) or at)

    def message(self, row: dict[str, Any], agent: str, at: float | None) -> Iterator[Message]:
        message = obj(row.get("message"))
        content = message.get("content")
        if row.get("type") == "assistant":
            yield from self.flush_command()
            yield from self.assistant(row, message, agent, at)
            return
        for block in seq(content):
            if obj(block).get("type") == "tool_result":
                yield from self.result(block, row, agent, at)
        if agent == MAIN:
            yield from self.user(row, content, at)

    def assistant(
        self, row: dict[str, Any], message: dict[str, Any], agent: str, at: float | None
    ) -> Iterator[Message]:
        self.summarised = False
        step = string(message.get("id")) or string(row.get("requestId"))
        counts = obj(message.get("usage"))
        if counts and message.get("model") != "<synthetic>" and (not step or self.requests_seen.add((agent, step))):
            used = wire.usage(
                agent,
                step,
                inputs=counts.get("input_tokens"),
                outputs=counts.get("output_tokens"),
                cache_read=counts.get("cache_read_input_tokens"),
                cache_write=counts.get("cache_creation_input_tokens"),
                at=at,
            )
            if used:
                yield used
        for block in seq(message.get("content")):
            if obj(block).get("type") != "tool_use":
                continue
            raw, tool, arguments = string(block.get("id")), string(block.get("name")), block.get("input", {})
            # The same block may be told twice, by a progress row and by the subagent's own row.
            if agent != MAIN and raw and not self.blocks_seen.add((agent, raw, step)):
                continue
            call_id = self.calls.open(agent, raw)
            if tool in _SPAWNERS:
                self.spawns[raw] = (agent, call_id, string(obj(arguments).get("prompt")))
            yield wire.guard(agent, call_id, tool, arguments, at, step)

    def result(self, block: dict[str, Any], row: dict[str, Any], agent: str, at: float | None) -> Iterator[Message]:
        raw = string(block.get("tool_use_id"))
        call_id = self.calls.close(agent, raw)
        if call_id is None:
            if not (agent != MAIN and self.calls.known(agent, raw)):
                self.notes.unpaired += 1
            return
        details = row.get("toolUseResult")
        launched = obj(details).get("status") == "async_launched"
        if raw in self.spawns:
            child = self.spawned.get(raw) or string(obj(details).get("agentId"))
            if child and child not in self.agents and raw not in self.spawned:
                # Its own rows are in another file.
                yield wire.started(child, agent, call_id=call_id, at=at)
                self.agents[child] = agent
            if not launched:
                yield from self.end(child, at)
            del self.spawns[raw]
        yield wire.settled(agent, call_id, _result(block, details), at)

    def user(self, row: dict[str, Any], content: Any, at: float | None) -> Iterator[Message]:
        if row.get("isCompactSummary"):
            if not self.summarised:
                yield wire.compacted(MAIN, at)
            return
        said = _said(content)
        if said is None:
            return
        if said.startswith(("<command-name>", "<command-message>")) and not row.get("isMeta"):
            yield from self.flush_command()
            self.commands.append(at)
            return
        if said.startswith("<local-command-std"):
            # The command was one of the client's own: the model never saw it as a request.
            self.commands.clear()
            return
        yield from self.flush_command()
        if row.get("isMeta") or not _by_person(row) or said.startswith(NOT_A_PERSON):
            return
        yield wire.user_turn(MAIN, at)

    def flush_command(self) -> Iterator[Message]:
        while self.commands:
            yield wire.user_turn(MAIN, self.commands.pop())

    def attachment(self, row: dict[str, Any], at: float | None) -> Iterator[Message]:
        """What a person typed while the agent was at work is attached to a later request."""
        attached = obj(row.get("attachment"))
        if attached.get("type") != "queued_command" or row.get("isSidechain") or not _by_person(attached):
            return
        said = _said(attached.get("prompt"))
        if said and attached.get("commandMode", "prompt") == "prompt" and not said.startswith(NOT_A_PERSON):
            yield wire.user_turn(MAIN, at)


def _by_person(row: dict[str, Any]) -> bool:
    origin = row.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return kind in (None, "human", "user")


def _said(content: Any) -> str | None:
    """The words of a user row; None when it only carries results."""
    if isinstance(content, str):
        return content.lstrip() or None
    said = [block for block in seq(content) if obj(block).get("type") in ("text", "image", "document")]
    return text(said).lstrip() or "(attachment)" if said else None


def _result(block: dict[str, Any], details: Any) -> dict[str, Any]:
    said = text(block.get("content"))
    content = blocks(block.get("content"))
    facts = obj(details)
    if facts.get("backgroundTaskId") or facts.get("status") == "async_launched":
        return wire.result(content, value=wire.BACKGROUND)
    if facts.get("interrupted") or said.startswith("[Request interrupted by user"):
        return wire.result(content, value=wire.foreground(interrupted=True))
    error = block.get("is_error") is True
    if error:
        timed_out = _TIMED_OUT.search(said[:400])
        if timed_out:
            limit = wire.milliseconds(timed_out[0])
            return wire.result(content, value=wire.foreground(timed_out=True, timeout_ms=limit))
        code = _EXIT.match(said)
        if code:
            return wire.result(content, value=wire.foreground(code[1]))
    return wire.result(content, error=error, code="rejected" if error and said.startswith(_REJECTED) else None)
