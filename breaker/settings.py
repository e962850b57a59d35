"""The settings as the judgement reads them: everything present, everything valid, "off" always `None`.

`Settings()` is the profile `standard`; `PROFILES` holds what each profile changes of it. `setting_table`
describes every setting, and `options` turns what people write into a `Settings`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Struct

from breaker.adaptive_limits import switched

KINDS = ("host", "net", "site", "sink", "cmd", "exact", "verb", "family")
"""What may stand before the first colon of a fingerprint, in the order that breaks ties."""

EVERY_TOOL = "*"
"""Key of `ignore_args` for all tools; a tool's own list is added to it."""

EVERY_SHELL = "@shell"
"""Key of `ignore_args` for all shell tools, whatever their names; added like a tool's own list."""

DECOYS = (
    "description",
    "timeoutMs",
    "run_in_background",
    "justification",
    "reason",
    "title",
    "comment",
)
SHELL_DECOYS = ("timeout", "timeout_ms", "explanation", "yield_time_ms", "max_output_tokens")
CONTENT = ("title", "description", "reason", "comment")

NEVER_BLOCK = (
    "todo_write",
    "TodoWrite",
    "write_todos",
    "ask_user_question",
    "AskUserQuestion",
    "exit_plan_mode",
    "ExitPlanMode",
)
SPAWN_TOOLS = (
    "subagent",
    "subagent_fork",
    "workflow",
    "task",
    "agent",
    "spawn_agent",
    "new_task",
    "spawn_subagent",
    "subagent_spawn",
    "invoke_agent",
    "dispatch_agent",
    "delegate",
    "delegate_task",
    "delegate_to_agent",
    "runSubagent",
    "use_subagent",
    "use_subagents",
)


class Settings(Struct, frozen=True, rename="camel", kw_only=True):
    """The resolved configuration. `SETTINGS` says what each member means and where its number comes from."""

    enabled: bool = True
    shadow: bool = False
    profile: Literal["standard", "repeat-tool-breaker", "loop-guard", "adaptive"] = "standard"

    window: int = 16
    on_limit: Literal["ask", "deny"] = "ask"
    warn_at: int | None = 7
    summarize_at: int | None = 11
    fail_warn_at: int | None = 3
    fail_limit: int | float | None = 5
    limits: dict[str, int | float | None] = msgspec.field(
        default_factory=lambda: {
            "exact": 12,
            "cmd": 12,
            "net": 12,
            "sink": 12,
            "host": 16,
            "site": None,
            "family:http-fetch": None,
            "verb:curl": None,
            "verb:wget": None,
        }
    )
    exclude: tuple[str, ...] = ("todo_write",)
    include: tuple[str, ...] = ()

    local_hosts: Literal["deny", "allow"] = "deny"
    include_local: bool = False
    ignore_args: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=lambda: {
            EVERY_TOOL: DECOYS,
            EVERY_SHELL: SHELL_DECOYS,
            "bash": ("description", "timeoutMs", "run_in_background", "justification"),
        }
    )
    content_args: tuple[str, ...] = CONTENT
    host_aliases: dict[str, str] = msgspec.field(default_factory=lambda: {"open-data.canada.ca": "open.canada.ca"})
    shell_tools: tuple[str, ...] = ()
    url_tools: tuple[str, ...] = ()

    preview_chars: int = 400
    result_preview_chars: int = 800

    max_tokens: int | None = 60_000_000
    session_max_tokens: int | None = 1_000_000_000
    family_max_tokens: int | None = None
    warn_ratio: float | None = 0.7

    repeat_limit: int | None = None
    repeat_limits: dict[str, int | None] = msgspec.field(default_factory=dict)
    skeleton_limit: int | None = None
    cycle_limit: int | None = None
    cycle_periods: tuple[int, ...] = (2, 3, 4)
    same_error_limit: int | None = None

    adaptive: dict[str, bool | int | None] = msgspec.field(default_factory=lambda: switched(False))
    tool_classes: dict[str, str] = msgspec.field(default_factory=dict)

    subagent_requests: int | None = 150
    subagent_tools: int | None = 250
    fanout: int | None = 8
    workflow_agents: int | None = 24

    max_denials: int | None = 3
    never_block: tuple[str, ...] = NEVER_BLOCK
    spawn_tools: tuple[str, ...] = SPAWN_TOOLS

    state_refresh_seconds: int | float = 2


_TRACKS_OFF: dict[str, Any] = {"limits": dict.fromkeys(Settings().limits)}
_REPEAT_GATES_OFF: dict[str, Any] = {
    "repeatLimit": None,
    "repeatLimits": {},
    "skeletonLimit": None,
    "cycleLimit": None,
    "sameErrorLimit": None,
}
_PLUGIN_IDENTITY: dict[str, Any] = {
    "ignoreArgs": {
        EVERY_TOOL: DECOYS,
        "bash": ("description", "timeoutMs", "run_in_background", "justification"),
    },
    "contentArgs": (),
}

PROFILES: MappingProxyType[str, dict[str, Any]] = MappingProxyType(
    {
        "standard": {},
        "repeat-tool-breaker": {
            **_PLUGIN_IDENTITY,
            **_REPEAT_GATES_OFF,
            "maxTokens": None,
            "sessionMaxTokens": None,
            "familyMaxTokens": None,
            "subagentRequests": None,
            "subagentTools": None,
            "fanout": None,
            "workflowAgents": None,
        },
        "loop-guard": {
            **_PLUGIN_IDENTITY,
            **_TRACKS_OFF,
            "repeatLimit": 4,
            "repeatLimits": {"read": 5},
            "skeletonLimit": 10,
            "cycleLimit": 3,
            "cyclePeriods": (2,),
            "sameErrorLimit": 2,
        },
        "adaptive": {**_TRACKS_OFF, "fanout": None, "adaptive": switched(True)},
    }
)
"""What each profile changes of `Settings()`, by wire name. A value is the whole value, maps included."""


DEFAULT_PROFILE = "adaptive"
"""The profile where nobody names one: it alone lets work repeat a call as long as that brings something new."""


def preset(profile: str = DEFAULT_PROFILE) -> Settings:
    """The settings of a profile to which nobody added anything. An unknown name is a KeyError."""
    return msgspec.convert(values_of(profile), Settings)


def values_of(profile: str) -> dict[str, Any]:
    """The settings of a profile by wire name, for layers to be laid over."""
    return {**msgspec.to_builtins(Settings()), **PROFILES[profile], "profile": profile}
