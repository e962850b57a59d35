"""What kind of thing it is to make a call again."""

from __future__ import annotations

from typing import Any

import pytest

from breaker.events import Annotations
from breaker.evidence.classes import is_incremental, of_tool

NAMED = [
    ("Read", "read"),
    ("read_file", "read"),
    ("mcp__hub__list_integration_resources", "read"),
    ("listSites", "read"),
    ("browser_navigate", "read"),
    ("browser_snapshot", "read"),
    ("web_search", "read"),
    ("check_inventory", "read"),
    ("Edit", "mutate"),
    ("str_replace", "mutate"),
    ("create_issue", "mutate"),
    ("set_status", "mutate"),
    ("browser_click", "act"),
    ("send_email", "act"),
    ("heartbeat_respond", "act"),
    ("open_ticket", "act"),
    ("press_key", "act"),
    ("get_job_status", "poll"),
    ("BashOutput", "poll"),
    ("check_messages", "poll"),
    ("get_update_status", "poll"),
    ("sleep", "wait"),
    ("wait_for_a_while", "wait"),
    ("wait_for_n_minutes", "wait"),
    ("wait_for_deploy", "poll"),
    ("jump", "act"),
    ("jump_to_definition", "other"),
    ("gather_context", "read"),
    ("TodoWrite", "bookkeeping"),
    ("update_plan", "bookkeeping"),
    ("TaskUpdate", "bookkeeping"),
    ("sequentialthinking", "bookkeeping"),
    ("Task", "spawn"),
    ("spawn_agent", "spawn"),
    ("delegate_task", "spawn"),
    ("run_python", "run"),
    ("execute_code", "run"),
    ("q7", "other"),
]


@pytest.mark.parametrize(("tool", "kind"), NAMED)
def test_the_name_of_a_tool_tells(tool: str, kind: str) -> None:
    assert of_tool(tool, {}) == kind


TOLD_BY_ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("process", {"action": "list"}, "read"),
    ("browser", {"action": "snapshot"}, "read"),
    ("browser", {"action": "click", "ref": "e1"}, "act"),
    ("str_replace_editor", {"command": "view", "path": "a"}, "read"),
    ("write_stdin", {"session_id": 4, "chars": ""}, "poll"),
    ("write_stdin", {"session_id": 4, "chars": "ls\n"}, "act"),
    ("execute_bash", {"command": "", "is_input": True}, "poll"),
    ("http_request", {"method": "GET", "url": "https://a.example"}, "read"),
    ("http_request", {"method": "POST", "url": "https://a.example"}, "act"),
    ("query", {"sql": "select 1"}, "read"),
    ("query", {"sql": " DELETE from t"}, "mutate"),
    ("wait", {"ids": ["a"]}, "poll"),
    ("wait", {"seconds": 5}, "wait"),
    ("zap", {"path": "a", "old_string": "x", "new_string": "y"}, "mutate"),
    ("zap", {"path": "a", "offset": 1, "limit": 5}, "read"),
]


@pytest.mark.parametrize(("tool", "arguments", "kind"), TOLD_BY_ARGUMENTS)
def test_arguments_tell_where_the_name_does_not(tool: str, arguments: dict[str, Any], kind: str) -> None:
    assert of_tool(tool, arguments) == kind


def test_annotations_of_the_harness_come_before_names() -> None:
    assert of_tool("update_thing", {}, Annotations(read_only_hint=True)) == "read"
    assert of_tool("read_thing", {}, Annotations(poll_hint=True)) == "poll"
    assert of_tool("read_thing", {}, Annotations(spawn_hint=True)) == "spawn"
    assert of_tool("read_thing", {}, Annotations(bookkeeping_hint=True)) == "bookkeeping"
    assert of_tool("q7", {}, Annotations(read_only_hint=False)) == "act"


def test_settings_come_before_annotations() -> None:
    assert of_tool("Q7", {}, Annotations(read_only_hint=True), {"q7": "act"}) == "act"


def test_small_equal_steps_are_told_from_other_deeds() -> None:
    assert is_incremental("press_key", {"key": "ArrowDown"})
    assert is_incremental("computer", {"action": "scroll"})
    assert is_incremental("click", {"name": "Next month"})
    assert not is_incremental("browser_click", {"ref": "e12"})
