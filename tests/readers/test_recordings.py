"""Every recording of the shared corpus is read, and holds what was counted in the raw file by other means."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import Counts, counts

from protocol.readers import open_recording

RAW = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "raw"
SESSIONS = RAW.parent / "sessions"

pytestmark = pytest.mark.skipif(not RAW.is_dir(), reason=f"the recordings are not at {RAW}")

# Counted with jq 1.6 and grep on the raw files, never with the readers (F being the file):
#
# claude-code   calls     jq 'select(.type=="assistant").message.content[]?|select(.type=="tool_use").id' F | sort -u
#               results   the same with user rows and tool_result; failures those with is_error true
#               turns     user rows that are not isMeta, isSidechain, isCompactSummary, with a string or text blocks
#                         that do not begin <command-, <local-command or [Request interrupted
#               (00ef13bd: line 58 is no JSON, a mask left `\d` in it; sed 's/\\dev@/dev@/g' first)
# codex         calls     grep -cE '"type": ?"(function_call|custom_tool_call|tool_search_call)"'; results …_output
#               failures  outputs with `exited with code [1-9]`, `"exit_code":[1-9]`, `unsupported call`, `Command
#                         blocked`, `verification failed`, `unable to locate`, `Script failed`
#               turns     event_msg rows user_message, or item_completed with a UserMessage; none in a subagent
#               codemode  plus its nested calls: item_completed CommandExecution and FileChange, ids `exec-…`: 6 + 1,
#                         two with exit_code 3
# gemini-cli    calls     jq '[..|.toolCalls?//empty|.[]]|unique_by(.id)|length' (-s for jsonl); failures status error,
#                         or `Exit Code: [1-9]` or `exceeded the timeout` in the result; a cancelled one is none
#               turns     user entries by id with text that is not <session_context>; none in a subagent
# opencode      calls     jq '[.messages[].parts[]|select(.type=="tool")]|length'; failures status error, metadata.exit
#                         not 0, or `exceeding timeout`; turns role user, none when info.parentID is set
# dsh           calls     grep -cE '"type": ?"tool/call"'; failures tool/result with isError true, [exit code: [1-9] or
#                         [timed out after; turns user/message with source kind user, none with origin subagent
# swe-agent     calls     jq '.trajectory|map(select(.action!=""))|length', or assistant entries of the history; the
#                         task is the one turn; nothing tells failures
# mini-swe      calls     assistant messages less the answers `Please always provide EXACTLY ONE action` (2 in
#                         django-13590, 1 in matplotlib-25287); failures `^<returncode>[1-9]` and `timed out and has`
# openhands     calls     jq '[.[]|select(.kind=="ActionEvent")]|length'; failures is_error true or exit_code not 0
# tau-bench     calls     jq '.[]|[.traj[]|.tool_calls//[]|length]|add'; failures tool content beginning Error; user
# cline         calls     jq '[.messages[].content[]|select(.type=="tool_use")]|length'; turns user messages without a
#                         tool_result, less the compaction summary
BY_HAND: dict[str, list[tuple[int, int, int, int]]] = {
    "claude-code/00ef13bd-99a1-4001-a829-09985a069ab2.jsonl": [(23, 23, 0, 5)],
    "claude-code/06381696-0074-49f8-863e-6ad4fac507f9.jsonl": [(3, 2, 0, 1)],
    "claude-code/34b1e2a4-8cec-4bb9-94a0-ec9e9c639c8e.jsonl": [(20, 20, 4, 2)],
    "claude-code/7ff991f5-9a8b-4e94-ae66-40204bc3049b.jsonl": [(12, 12, 0, 3)],
    "claude-code/87a7858d-3f94-4c65-a2d5-307e9337b041.jsonl": [(15, 15, 2, 1)],
    "claude-code/ba517c53-22ac-41fe-8d0b-aad3b421f359.jsonl": [(25, 25, 0, 2)],
    "claude-code/ccc58457-00a5-4a2f-82a9-175e4473c60b.jsonl": [(31, 31, 2, 7)],
    "claude-code/full-session-two.jsonl": [(10, 10, 1, 4)],
    "claude-code/scripted-compact.jsonl": [(4, 4, 0, 1)],
    "claude-code/scripted-fail-deny.jsonl": [(3, 3, 3, 1)],
    "claude-code/scripted-mixed.jsonl": [(12, 12, 4, 1)],
    "claude-code/scripted-sub.jsonl": [(4, 4, 0, 1)],
    "claude-code/scripted-sub.subagent-2.jsonl": [(2, 2, 0, 0)],
    "claude-code/scripted-sub.subagent.jsonl": [(1, 1, 0, 0)],
    "cline/agentic.compaction.json": [(0, 0, 0, 1)],
    "cline/basic.compaction.json": [(0, 0, 0, 5)],
    "cline/session.messages.json": [(11, 11, 0, 5)],
    "codex/019ed50c-2fb3-7002-a384-360bea6e7f04.jsonl": [(101, 101, 2, 6)],
    "codex/019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl": [(23, 21, 3, 2)],
    "codex/019ed917-1cf7-72a3-92f5-c0aa98fb134e.jsonl": [(98, 98, 4, 2)],
    "codex/codemode.jsonl": [(6 + 7, 6 + 7, 1 + 2, 1)],
    "codex/rollout-2025-09-24T20-12-23-01997ea4-a70d-7da3-8c20-c736db82a7c5.jsonl": [(16, 16, 3, 2)],
    "codex/rollout-2025-09-25T15-12-14-019982b8-3422-79e0-8b3b-05abaf4f3c3e.jsonl": [(34, 34, 0, 1)],
    "codex/scripted-deny.jsonl": [(3, 3, 2, 1)],
    "codex/scripted-mixed.jsonl": [(17, 17, 7, 1)],
    "codex/sub-v1-2.jsonl": [(2, 2, 0, 0)],
    "codex/sub-v1.jsonl": [(6, 6, 0, 1)],
    "copilot-cli/1afc31c8-d97f-4331-bae9-b6417f1b79a9.jsonl": [(0, 0, 0, 1)],
    "dsh/01241477-e2d7-4094-b3d9-fa9e4182a7cd.jsonl": [(1, 1, 0, 0)],
    "dsh/60c863cf-31a5-4d9c-9b5a-9416f9497a9c.jsonl": [(1, 1, 0, 0)],
    "dsh/peer-blocked.jsonl": [(14, 14, 3, 1)],
    "dsh/session-8f71a4c0-6d74-4620-af9f-38831eaa8d29.jsonl": [(15, 15, 9, 1)],
    "dsh/three-agents.jsonl.zstd": [(15, 15, 9, 1)],
    "gemini-cli/scripted-deny.jsonl": [(3, 3, 2, 1)],
    "gemini-cli/scripted-mixed.jsonl": [(16, 16, 7, 1)],
    "gemini-cli/scripted-sub.jsonl": [(4, 4, 0, 1)],
    "gemini-cli/session-2025-10-27T19-55-981c87cb.json": [(13, 13, 3, 3)],
    "gemini-cli/session-2025-10-29T10-39-a63242d9.json": [(1, 1, 1, 1)],
    "gemini-cli/session-2025-10-29T10-40-359abdd0.json": [(1, 1, 0, 1)],
    "gemini-cli/sub.subagent-2.jsonl": [(2, 2, 0, 0)],
    "gemini-cli/sub.subagent.jsonl": [(3, 3, 0, 0)],
    "mini-swe-agent/tests__test_data__github_issue.traj.json": [(10, 10, 2, 1)],
    "mini-swe-agent/tests__test_data__local.traj.json": [(2, 2, 0, 1)],
    "mini-swe-agent/trajs__django__django-13590__django__django-13590.traj.json": [(28 - 2, 26, 1, 1)],
    "mini-swe-agent/trajs__django__django-14580__django__django-14580.traj.json": [(30, 30, 1, 1)],
    "mini-swe-agent/trajs__matplotlib__matplotlib-25287__matplotlib__matplotlib-25287.traj.json": [(32 - 1, 31, 4, 1)],
    "opencode/exit2.export.json": [(3, 3, 2, 1)],
    "opencode/mixed.export.json": [(15, 15, 7, 1)],
    "opencode/sub.export.json": [(4, 4, 0, 1)],
    "opencode/sub.ses_dd3831eabffe3Jiht7T6No9vbd.export.json": [(1, 1, 0, 0)],
    "opencode/sub.ses_dd3831f19ffe7WwYmgV9NYxvaB.export.json": [(2, 2, 0, 0)],
    "openhands/7510150b294841dda032a87239ebdf25__events.json": [(49, 49, 2, 4)],
    "swe-agent/eps.traj": [(14, 14, 0, 1)],
    "swe-agent/function_calling_simple.traj": [(5, 5, 0, 1)],
    "swe-agent/marshmallow-1867.traj": [(12, 12, 0, 1)],
    "tau-bench/gpt-4o-airline.json": [
        (8, 8, 1, 8),
        (0, 0, 0, 6),
        (7, 7, 0, 5),
        (20, 20, 5, 11),
        (6, 6, 0, 7),
        (6, 6, 0, 7),
    ],
}

# jq -r 'select(.type=="assistant").message.id' F | sort -u | wc -l (claude-code); grep -c token_usage_record and
# distinct .payload.info.total_token_usage of token_count rows (codex); step-finish parts (opencode); messages with
# tokens by id (gemini-cli); assistant/message rows (dsh)
REQUESTS = {
    "claude-code/34b1e2a4-8cec-4bb9-94a0-ec9e9c639c8e.jsonl": 22,
    "claude-code/scripted-mixed.jsonl": 11,
    "codex/scripted-mixed.jsonl": 17,
    "dsh/peer-blocked.jsonl": 15,
    "gemini-cli/scripted-mixed.jsonl": 15,
    "opencode/mixed.export.json": 14,
}


def test_the_table_names_every_recording() -> None:
    assert {str(path.relative_to(RAW)) for path in RAW.rglob("*") if path.is_file()} == set(BY_HAND)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_recording_holds_what_was_counted_in_it(name: str) -> None:
    found, folder = [], name.split("/", maxsplit=1)[0]
    for session in open_recording(RAW / name):
        assert session.format == folder
        found.append(counts(session.messages))
        assert session.notes.skipped == 0
        assert session.notes.unpaired == 0
    assert found == [Counts(*expected) for expected in BY_HAND[name]]


@pytest.mark.parametrize("name", REQUESTS)
def test_a_model_request_is_counted_once(name: str) -> None:
    requests = [method for session in open_recording(RAW / name) for method, _ in session.messages if method == "usage"]
    assert len(requests) == REQUESTS[name]


@pytest.mark.parametrize(
    # zcat F | jq -r '.messages[][0]' | grep -c guard; zcat F | wc -l
    ("name", "sessions", "calls"),
    [("claude-code", 60, 5267), ("codex", 8, 1003), ("swe-bench", 200, 7884), ("tau-bench", 70, 477)],
)
def test_sessions_in_wire_terms_are_taken_as_they_are(name: str, sessions: int, calls: int) -> None:
    found = [(session.outcome, counts(session.messages)) for session in open_recording(SESSIONS / f"{name}.jsonl.gz")]
    assert len(found) == sessions
    assert sum(counted.calls for _, counted in found) == calls
    assert any(outcome for outcome, _ in found)
