"""What a reader makes of each format, on a few rewritten lines of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.readers import Message, Session, open_recording

DATA = Path(__file__).parent / "data"


def sessions(name: str) -> list[tuple[Session, list[Message]]]:
    return [(session, list(session.messages)) for session in open_recording(DATA / name)]


def messages(name: str) -> list[Message]:
    ((session, listed),) = sessions(name)
    assert session.notes.skipped == 0
    assert session.notes.unpaired == 0
    return listed


def shown(listed: list[Message]) -> list[str]:
    """One line a message: enough to see order, agents, pairing and outcome."""
    return [_line(method, params) for method, params in listed]


def _line(method: str, params: dict[str, Any]) -> str:
    agent = params.get("agent", "?")
    if method == "guard":
        return f"{agent} {params['callId']} {params['tool']}"
    if method == "postExecute":
        return f"{agent} {params['callId']} -> {_outcome(params['result'])}"
    if method == "agentStarted":
        return f"{agent} started by {params['parent']} {params.get('callId', '')}".rstrip()
    if method == "usage":
        billed = (params["inputTokens"], params["cacheReadTokens"], params["cacheWriteTokens"])
        return f"{agent} used {billed} {params['outputTokens']}"
    return f"{agent} {method}" + (f" {params['outcome']}" if "outcome" in params else "")


def _outcome(result: dict[str, Any]) -> str:
    value = result.get("value", {})
    if result.get("isError"):
        return " ".join(["error", result.get("error", {}).get("code", "")]).strip()
    for name in ("timedOut", "interrupted", "aborted"):
        if value.get(name):
            return f"{name} {value.get('timeoutMs', '')}".strip()
    if value.get("kind") == "background":
        return "background"
    return f"exit {value['exitCode']}" if "exitCode" in value else "ok"


FORMATS = {
    "chat-anthropic.jsonl": "chat",
    "chat-openai.json": "chat",
    "claude-code-sidechain.jsonl": "claude-code",
    "claude-code-stream.jsonl": "claude-code",
    "claude-code.jsonl": "claude-code",
    "cline-xml.json": "cline",
    "cline.json": "cline",
    "codex-exec.jsonl": "codex",
    "codex-old.jsonl": "codex",
    "codex-subagent.jsonl": "codex",
    "codex.jsonl": "codex",
    "copilot-cli.jsonl": "copilot-cli",
    "dsh.jsonl": "dsh",
    "gemini-cli-checkpoint.json": "gemini-cli",
    "gemini-cli.json": "gemini-cli",
    "gemini-cli.jsonl": "gemini-cli",
    "mini-swe-agent-2.traj.json": "mini-swe-agent",
    "mini-swe-agent.traj.json": "mini-swe-agent",
    "opencode-run.jsonl": "opencode",
    "opencode.json": "opencode",
    "openhands-old.json": "openhands",
    "openhands.json": "openhands",
    "record.jsonl": "record",
    "requests.jsonl": "requests",
    "sessions.jsonl": "sessions",
    "swe-agent-history.traj": "swe-agent",
    "swe-agent.traj": "swe-agent",
    "tau-bench.json": "tau-bench",
    "tau2-bench.json": "tau2-bench",
}


def test_every_excerpt_is_in_the_list() -> None:
    assert {path.name for path in DATA.iterdir()} == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_found_by_content(name: str, tmp_path: Path) -> None:
    nameless = tmp_path / "recording"
    nameless.write_bytes((DATA / name).read_bytes())
    assert {session.format for session in open_recording(nameless)} == {FORMATS[name]}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_that_is_named_reads_the_same(name: str) -> None:
    told = [list(session.messages) for session in open_recording(DATA / name, FORMATS[name])]
    assert told == [listed for _, listed in sessions(name)]


class TestClaudeCode:
    def test_a_session_with_a_subagent_in_progress_rows(self) -> None:
        assert shown(messages("claude-code.jsonl")) == [
            "main userTurn",
            "main used (10, 30, 20) 1",
            "main t1 Bash",
            "main t2 Task",
            "a77 started by main t2",
            "a77 used (5, 0, 0) 2",
            "a77 t3 Read",
            "a77 t3 -> ok",
            "a77 agentEnded",
            "main t2 -> ok",
            "main t1 -> exit 2",
            "main compacted",
            "main userTurn",  # /review, whose prompt the model got; /model only changed a setting
            "main t4 Bash",
            "main t5 Edit",
            "main t6 Bash",
            "main t7 Bash",
            "main t6 -> background",
            "main t4 -> timedOut 1000",
            "main t5 -> error rejected",
        ]

    def test_calls_of_one_answer_share_a_step_and_carry_their_time(self) -> None:
        calls = [params for method, params in messages("claude-code.jsonl") if method == "guard"]
        assert [call["step"] for call in calls] == ["m1", "m1", "m2", "m3", "m3", "m3", "m3"]
        assert calls[0]["at"] == 1767607203.0  # date -u -d 2026-01-05T10:00:03Z +%s
        assert calls[0]["arguments"] == {"command": "make", "description": "Build"}

    def test_an_old_sidechain_is_a_subagent_of_the_call_with_its_prompt(self) -> None:
        assert shown(messages("claude-code-sidechain.jsonl")) == [
            "main userTurn",
            "main t1 Task",
            "sidechain-1 started by main t1",
            "sidechain-1 t2 Read",
            "sidechain-1 t2 -> ok",
            "sidechain-1 agentEnded",
            "main t1 -> ok",
        ]

    def test_the_printed_stream_is_read_as_well(self) -> None:
        assert shown(messages("claude-code-stream.jsonl")) == [
            "main used (7, 0, 0) 1",
            "main t1 Task",
            "sub-t1 started by main t1",
            "sub-t1 t2 Bash",
            "sub-t1 t2 -> ok",
            "sub-t1 agentEnded",
            "main t1 -> ok",
        ]


class TestCodex:
    def test_a_session(self) -> None:
        assert shown(messages("codex.jsonl")) == [
            "main userTurn",
            "main c1 exec_command",
            "main c2 exec_command",
            "main c2 -> background",
            "main c1 -> exit 1",
            "main used (40, 60, 0) 5",
            "main c3 apply_patch",
            "main c3 -> error",
            "main c4 shell",
            "main c4 -> timedOut 10000",
            "main c5 exec",
            "main exec-1 exec_command",
            "main exec-1 -> exit 1",
            "main c5 -> ok",
            "main c6 spawn_agent",
            "th2 started by main c6",
            "main c6 -> ok",
            "th2 agentEnded",
            "main compacted",
        ]

    def test_calls_without_a_result_between_them_came_in_one_step(self) -> None:
        steps = [params["step"] for method, params in messages("codex.jsonl") if method == "guard"]
        assert steps == ["s1", "s1", "s2", "s3", "s4", "s4", "s5"]

    def test_a_subagent_has_a_file_and_a_prompt_that_no_person_wrote(self) -> None:
        listed = messages("codex-subagent.jsonl")
        assert shown(listed) == [
            "th2 started by main",
            "th2 l1 local_shell",
            "th2 l1 -> exit 2",
            "th2 agentEnded",
        ]
        assert listed[1][1]["arguments"] == {"command": ["ls"], "timeout_ms": 1000}

    def test_printed_events_and_the_oldest_rows(self) -> None:
        assert shown(messages("codex-exec.jsonl")) == [
            "main item_0 exec_command",
            "main item_0 -> exit 1",
            "main item_1 apply_patch",
            "main item_1 -> ok",
            "main used (30, 20, 0) 3",
        ]
        assert shown(messages("codex-old.jsonl")) == ["main userTurn", "main o1 shell", "main o1 -> exit 0"]


class TestGemini:
    def test_a_line_that_is_written_again_counts_once(self) -> None:
        assert shown(messages("gemini-cli.jsonl")) == [
            "main userTurn",
            "main used (60, 40, 0) 5",
            "main k1 run_shell_command",
            "main k2 read_file",
            "main k1 -> exit 3",
            "main k2 -> error",
            "main k3 run_shell_command",
            "main k4 run_shell_command",
            "main k5 invoke_agent",
            "main k3 -> timedOut 6000",
            "main k4 -> aborted",
            "g2 started by main k5",
            "g2 agentEnded",
            "main k5 -> ok",
        ]

    def test_a_document_and_a_saved_chat(self) -> None:
        assert shown(messages("gemini-cli.json")) == [
            "main userTurn",
            "main z1 run_shell_command",
            "main z1 -> exit 127",
        ]
        assert shown(messages("gemini-cli-checkpoint.json")) == [
            "main userTurn",
            "main call-1 read_file",
            "main call-2 read_file",
            "main call-1 -> ok",
            "main call-2 -> error",
        ]


def test_copilot_events() -> None:
    listed = messages("copilot-cli.jsonl")
    assert shown(listed) == [
        "main userTurn",
        "main q1 bash",
        "main q2 task",
        "sub-q2 started by main q2",
        "sub-q2 q3 view",
        "sub-q2 q3 -> error failure",
        "sub-q2 agentEnded",
        "main q2 -> ok",
        "main q1 -> exit 2",
        "main used (50, 30, 0) 4",
        "main compacted",
    ]
    assert [params.get("step") for method, params in listed if method == "guard"] == ["am1", "am1", None]


class TestOpencode:
    def test_results_come_in_the_order_in_which_calls_ended(self) -> None:
        assert shown(messages("opencode.json")) == [
            "main userTurn",
            "main used (10, 5, 1) 2",
            "main call_1 bash",
            "main call_1#2 bash",
            "main call_2 task",
            "main call_1#2 -> timedOut 1500",
            "ses_2 started by main call_2",
            "ses_2 agentEnded",
            "main call_2 -> ok",
            "main call_1 -> exit 1",
            "main call_1#3 edit",
            "main call_9 read",
            "main call_1#3 -> error",
            "main compacted",
        ]

    def test_the_printed_rows_are_read_as_well(self) -> None:
        assert shown(messages("opencode-run.jsonl")) == [
            "main call_1 bash",
            "main call_1 -> exit 1",
            "main used (10, 5, 1) 2",
        ]

    def test_times_are_in_seconds(self) -> None:
        assert messages("opencode.json")[0][1]["at"] == 1775030400.0


class TestDsh:
    def test_markers_errors_approvals_and_workflows(self) -> None:
        listed = messages("dsh.jsonl")
        assert shown(listed) == [
            "main userTurn",
            "main used (36, 64, 0) 2",
            "main d1 bash",
            "main d2 bash",
            "main d1 -> timedOut 300",
            "main d2 -> error INVALID",
            "main d3 bash",
            "main approval approved",
            "main d3 -> exit 1",
            "main d4 workflow",
            "kid started by main d4",
            "kid agentEnded",
            "main d4 -> ok",
        ]
        assert listed[3][1]["arguments"] == "{broken"
        assert listed[4][1]["result"]["value"]["signal"] == "SIGTERM"

    def test_a_subagents_file_names_its_agent(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text(
            '{"type":"session","id":"kid","cwd":"/","parentSession":"session-1","origin":"subagent","delegationDepth":1}\n'
            '{"type":"user/message","seq":1,"time":1,"data":{"source":{"kind":"user"},"content":[]}}\n'
        )
        ((_, listed),) = [(s, list(s.messages)) for s in open_recording(tmp_path / "f")]
        assert shown(listed) == ["kid started by main", "kid agentEnded"]


class TestSweAgents:
    def test_a_trajectory_without_times_or_exit_codes(self) -> None:
        listed = messages("swe-agent.traj")
        assert shown(listed) == [
            "main userTurn",
            "main step-1 bash",
            "main step-1 -> ok",
            "main step-3 bash",
            "main step-3 -> timedOut",
        ]
        assert all(params["at"] is None for _, params in listed)
        assert sessions("swe-agent.traj")[0][0].outcome == "submitted"

    def test_a_history_without_its_demonstration(self) -> None:
        assert shown(messages("swe-agent-history.traj")) == [
            "main userTurn",
            "main h1 open",
            "main h1 -> ok",
            "main call-1 bash",
            "main call-1 -> ok",
        ]

    def test_an_answer_with_two_commands_was_never_run(self) -> None:
        listed = messages("mini-swe-agent.traj.json")
        assert shown(listed) == [
            "main userTurn",
            "main used (75, 25, 0) 7",
            "main call-1 bash",
            "main call-1 -> exit 0",
            "main call-2 bash",
            "main call-2 -> exit 1",
            "main call-3 bash",
            "main call-3 -> timedOut",
        ]
        assert listed[2][1]["arguments"] == {"command": "ls"}
        assert listed[2][1]["at"] == 1763500000

    def test_tool_calls_of_its_second_version(self) -> None:
        assert shown(messages("mini-swe-agent-2.traj.json")) == [
            "main userTurn",
            "main v1 bash",
            "main v2 bash",
            "main v1 -> exit 0",
            "main v2 -> exit 1",
        ]


class TestOpenHands:
    def test_events(self) -> None:
        listed = messages("openhands.json")
        assert shown(listed) == [
            "main userTurn",
            "main terminal:0 terminal",
            "main terminal:0 -> exit 2",
            "main nope:1 nope",
            "main nope:1 -> error",
            "main compacted",
        ]
        assert listed[1][1]["arguments"] == {"command": "ls"}

    def test_older_events(self) -> None:
        listed = messages("openhands-old.json")
        assert shown(listed) == [
            "main userTurn",
            "main used (40, 0, 0) 3",
            "main w1 execute_bash",
            "main w1 -> exit 2",
            "main event-3 read",
            "main event-3 -> error",
        ]
        assert listed[2][1]["arguments"] == {"command": "make"}
        assert sessions("openhands-old.json")[0][0].outcome == "resolved"

    def test_a_folder_with_an_event_a_file(self, tmp_path: Path) -> None:
        for number, event in enumerate(json.loads((DATA / "openhands.json").read_text())):
            (tmp_path / f"event-{number:05}-x.json").write_text(json.dumps(event, indent=1))
        ((session, listed),) = [(s, list(s.messages)) for s in open_recording(tmp_path)]
        assert session.format == "openhands"
        assert listed == messages("openhands.json")


class TestBenchmarks:
    def test_rewards_are_outcomes_and_customers_take_turns(self) -> None:
        (first, listed), (second, _) = sessions("tau-bench.json")
        assert (first.name, first.outcome) == ("task 3 trial 0", "success")
        assert (second.name, second.outcome) == ("task 4 trial 0", "failure")
        assert shown(listed) == ["main userTurn", "main userTurn", "main y1 get_user", "main y1 -> error"]

    def test_the_customers_own_tools_are_left_out(self) -> None:
        listed = messages("tau2-bench.json")
        assert shown(listed) == ["main userTurn", "main x1 find", "main x2 find", "main x1 -> ok", "main x2 -> error"]


class TestChat:
    def test_a_reminder_beside_a_result_is_no_person(self, tmp_path: Path) -> None:
        reminder = {"type": "text", "text": "<system-reminder>Mind the todo list</system-reminder>"}
        rows = [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}, reminder]},
        ]
        (tmp_path / "f").write_text(json.dumps(rows))
        ((_, listed),) = [(s, list(s.messages)) for s in open_recording(tmp_path / "f", "anthropic")]
        assert shown(listed) == ["main a read", "main a -> ok"]

    def test_results_in_another_order_and_the_legacy_call(self) -> None:
        assert shown(messages("chat-openai.json")) == [
            "main userTurn",
            "main call_a weather",
            "main call_b weather",
            "main call_b -> ok",
            "main call_a -> ok",
            "main call-1 umbrella",
            "main call-1 -> ok",
        ]

    def test_blocks(self) -> None:
        assert shown(messages("chat-anthropic.jsonl")) == ["main userTurn", "main tu1 read", "main tu1 -> error"]


class TestCline:
    def test_blocks_words_and_summaries(self) -> None:
        assert shown(messages("cline.json")) == [
            "main userTurn",
            "main used (10, 90, 0) 5",
            "main b1 run_commands",
            "main b2 editor",
            "main b1 -> error",
            "main b2 -> ok",
            "main compacted",
        ]

    def test_calls_written_as_xml(self) -> None:
        listed = messages("cline-xml.json")
        assert shown(listed) == [
            "main userTurn",
            "main call-1 execute_command",
            "main call-1 -> exit 2",
            "main call-2 read_file",
            "main call-2 -> error rejected",
        ]
        assert listed[1][1]["arguments"] == {"command": "make", "requires_approval": "false"}


class TestOwnTraffic:
    def test_initialize_begins_a_session_with_its_config(self) -> None:
        (first, one), (second, two) = sessions("requests.jsonl")
        assert first.config == {"failLimit": 3}
        assert first.can_ask
        assert second.config is None
        assert not second.can_ask
        assert [method for method, _ in one] == ["userTurn", "guard", "postExecute"]
        assert [method for method, _ in two] == ["guard"]
        assert one[1][1]["at"] is None
        assert one[2][1]["at"] == 12.5

    def test_a_record_gives_times_and_the_ids_that_the_server_made(self) -> None:
        listed = messages("record.jsonl")
        assert shown(listed) == ["? made-1 bash", "? made-1 -> ok"]
        assert [params["at"] for _, params in listed] == [1700000000.0, 1700000001.0]

    def test_sessions_carry_their_outcome(self) -> None:
        (first, one), (second, two) = sessions("sessions.jsonl")
        assert (first.name, first.outcome) == ("one", "resolved")
        assert (second.name, second.outcome) == ("two", "unresolved")
        assert [params["at"] for _, params in one] == [None, None, None]
        assert two[0][1]["at"] == 5
