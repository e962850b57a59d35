"""What a replay says of a session. Limits are the profile's: 12 of the same, 5 failures in a row."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from recorded import Made

from breaker.settings import preset
from protocol.readers import open_recording
from protocol.replay.judge import judge_session
from protocol.replay.report import CallEvent, MarkEvent, SessionReport

STANDARD = preset("standard")
DENY = msgspec.structs.replace(STANDARD, on_limit="deny")


def judged(made: Made, settings=STANDARD, **more: object) -> SessionReport:  # type: ignore[no-untyped-def]
    return judge_session(made.session(**more), settings)


def decisions(report: SessionReport) -> str:
    return "".join(
        {"allow": ".", "deny": "x", "ask": "?"}[e.decision] for e in report.events if isinstance(e, CallEvent)
    )


def test_a_loop_is_stopped_at_its_twelfth_round_and_the_replay_goes_on() -> None:
    report = judged(Made().turn().runs("make check", 14), DENY)
    assert decisions(report) == "." * 11 + "xxx"
    assert (report.calls, report.turns, report.settled, report.failed) == (14, 1, 14, 0)
    assert report.blocked == 3
    assert report.blocked_by == {"repeat": 3}
    assert report.advisories == {"warn": 1, "summarize": 1}


def test_the_first_stop_says_what_the_turn_still_did() -> None:
    made = Made().turn().runs("make check", 12)
    made.usage(500).runs("ls").runs("make check", 2)
    made.turn().usage(9000).runs("pwd", 3)
    stop = judged(made, DENY).first_stop
    assert stop is not None
    assert (stop.number, stop.agent, stop.tool) == (12, "main", "bash")
    assert (stop.gate, stop.count, stop.limit) == ("repeat", 12, 12)
    assert stop.fingerprint == "cmd:make:make check"
    assert stop.code == "REPEAT_TOOL_BLOCKED"
    # the 12th, one ls and two more of the loop; the next turn is not counted
    assert (stop.calls, stop.blocked, stop.tokens) == (4, 3, 500)
    # its guard at second 0, its result 1, the usage 2, then three calls of 2 seconds each
    assert stop.seconds == 8.0


def test_a_stopped_calls_recorded_result_is_not_used() -> None:
    """The twelfth would have failed and the eleven before did not: no row of failures comes of it."""
    made = Made().turn().runs("make check", 11)
    made.runs("make check", 5, exit_code=2)
    report = judged(made, DENY)
    assert report.longest_run is None
    assert (report.settled, report.failed) == (16, 5)
    assert report.blocked_by == {"repeat": 5}


def test_failures_in_a_row_are_found_with_their_identity_and_reason() -> None:
    report = judged(Made().turn().runs("pytest -q", 4, exit_code=1).runs("pytest -q").runs("pytest -q", 2, exit_code=1))
    assert report.longest_run is not None
    assert (report.longest_run.fingerprint, report.longest_run.count) == ("cmd:pytest:pytest -q", 4)
    assert report.longest_run.reason == "exit 1"
    assert report.advisories["failWarn"] == 1
    assert report.blocked == 0


def test_a_background_start_neither_grows_nor_ends_a_row_of_failures() -> None:
    made = Made().turn().runs("pytest -q", 2, exit_code=1)
    call_id = made.guard("pytest -q")
    made.add("postExecute", callId=call_id, result={"content": "", "value": {"kind": "background"}})
    made.runs("pytest -q", 1, exit_code=1)
    for events in (True, False):
        report = judge_session(made.session(), STANDARD, events=events)
        assert report.longest_run is not None
        assert report.longest_run.count == 3
        assert (report.settled, report.failed) == (4, 3)


def test_a_user_turn_begins_a_new_row() -> None:
    report = judged(Made().turn().runs("pytest -q", 2, exit_code=1).turn().runs("pytest -q", 2, exit_code=1))
    assert report.longest_run is not None
    assert report.longest_run.count == 2


class TestAsks:
    def test_nobody_is_there_to_answer(self) -> None:
        report = judged(Made().turn().runs("make check", 14))
        assert decisions(report) == "." * 11 + "xxx"
        assert (report.asked, report.granted, report.blocked) == (1, 0, 3)
        call = report.events[12]
        assert isinstance(call, CallEvent)
        assert call.answer == "unavailable"
        assert call.question
        assert call.reason
        assert call.reason.startswith("REPEAT_TOOL_BLOCKED")

    def test_the_recordings_answer_counts(self) -> None:
        made = Made().turn().runs("make check", 11)
        call_id = made.guard("make check")
        made.runs("ls").add("approval", callId=call_id, outcome="approved")
        made.settle(call_id).runs("make check", 5)
        report = judged(made)
        assert decisions(report) == "." * 18
        assert (report.asked, report.granted, report.blocked) == (1, 1, 0)

    def test_an_answer_to_another_gates_question_is_ignored(self) -> None:
        made = Made().turn()
        call_id = made.guard("rm x")
        made.add("approval", callId=call_id, outcome="rejected").settle(call_id, 1)
        report = judged(made)
        assert (report.asked, report.blocked, report.skipped) == (0, 0, 0)

    def test_a_recorded_harness_that_cannot_ask_gets_denials(self) -> None:
        report = judged(Made().turn().runs("make check", 13), can_ask=False)
        assert (report.asked, report.blocked) == (0, 2)


def test_agents_are_judged_apart() -> None:
    made = Made().turn().runs("make check", 8)
    made.add("agentStarted", agent="kid", parent="main", kind="subagent")
    made.agent = "kid"
    made.runs("make check", 8)
    report = judged(made)
    assert report.blocked == 0
    assert report.agents == 2
    assert [e.kind for e in report.events if isinstance(e, MarkEvent)] == ["userTurn", "agentStarted"]


def test_the_strongest_repetition_is_the_one_nearest_its_limit() -> None:
    report = judged(Made().turn().runs("ls", 3).runs("make check", 5).runs("pwd", 2))
    assert report.strongest is not None
    assert (report.strongest.fingerprint, report.strongest.count, report.strongest.limit) == (
        "cmd:make:make check",
        5,
        12,
    )


def test_calls_without_times_or_results_are_judged_too() -> None:
    made = Made()
    made.at = None
    for _ in range(13):
        made.guard("make check")
    report = judged(made, DENY)
    assert (report.blocked, report.settled, report.seconds) == (2, 0, None)
    assert {e.recorded for e in report.events if isinstance(e, CallEvent)} == {"unknown"}


def test_events_hold_what_the_model_would_have_read() -> None:
    report = judged(Made().turn().runs("make check", 12), DENY)
    seventh, twelfth = report.events[7], report.events[12]
    assert isinstance(seventh, CallEvent)
    assert isinstance(twelfth, CallEvent)
    assert [advisory.stage for advisory in seventh.advisories] == ["warn"]
    assert [(each.fingerprint, each.count, each.limit) for each in twelfth.identities] == [
        ("cmd:make:make check", 12, 12),
        ('exact:bash:{"command":"make check"}', 12, 12),
    ]
    assert twelfth.reason is not None
    assert "make check said 0" in twelfth.reason


def test_secrets_of_a_call_do_not_reach_the_report() -> None:
    made = Made().turn()
    made.settle(made.guard("curl -H 'Authorization: Bearer abcdefgh12345678' https://user:hunter2@example.com/"))
    text = msgspec.json.encode(judged(made)).decode()
    assert "abcdefgh12345678" not in text
    assert "hunter2" not in text


def test_a_message_that_is_none_costs_itself_and_is_said() -> None:
    made = Made().turn().runs("ls")
    made.add("guard", tool=5, arguments={}).add("usage", inputTokens=-3).add("postExecute", callId="who", result={})
    report = judged(made.runs("pwd"))
    assert report.calls == 2
    assert report.skipped == 3
    assert "guard" in report.remarks[0]


def test_results_without_ids_find_their_calls() -> None:
    made = Made().turn()
    for command in ("ls", "pwd"):
        made.add("guard", tool="bash", arguments={"command": command})
    failed = {"content": "", "value": {"exitCode": 1}}
    made.add("postExecute", tool="bash", arguments={"command": "pwd"}, result=failed)
    made.add("postExecute", tool="bash", result={"content": "a"})
    made.add("postExecute", tool="bash", arguments={"command": "never guarded"}, result=failed)
    report = judged(made)
    assert [e.recorded for e in report.events if isinstance(e, CallEvent)] == ["ok", "failed"]
    assert (report.settled, report.failed, report.skipped) == (2, 1, 0)


def test_shadow_in_the_settings_shows_its_stops() -> None:
    report = judged(Made().turn().runs("make check", 13), msgspec.structs.replace(DENY, shadow=True))
    assert report.blocked == 2


def test_tokens_ride_along_with_a_result_even_of_a_stopped_call() -> None:
    made = Made().turn()
    for number in range(13):
        call_id = made.guard("make check")
        result = {"content": "x"}
        made.add("postExecute", callId=call_id, result=result, usage={"inputTokens": 10, "requestId": f"q{number}"})
    report = judged(made, DENY)
    assert (report.requests, report.tokens) == (13, 130)


DATA = Path(__file__).resolve().parents[1] / "readers" / "data"


@pytest.mark.parametrize("profile", ["standard", "repeat-tool-breaker", "loop-guard", "adaptive"])
def test_every_format_goes_through_every_profile(profile: str) -> None:
    for path in sorted(DATA.iterdir()):
        for session in open_recording(path):
            report = judge_session(session, preset(profile))
            assert report.skipped == 0, (path.name, report.remarks)
            assert report.calls == sum(isinstance(event, CallEvent) for event in report.events)
            assert msgspec.json.decode(msgspec.json.encode(report), type=SessionReport) == report


def test_requests_full_of_nonsense_cost_only_themselves() -> None:
    made = Made().turn().runs("ls")
    for agent in (5, [], {}, None, ""):
        made.add("guard", agent=agent, callId="x", tool="bash", arguments=None)
        made.add("approval", agent=agent, callId=["x"], outcome="approved")
        made.add("postExecute", agent=agent, callId="x", result=None)
        made.add("userTurn", agent=agent, parent=3)
        made.add("agentStarted", agent=agent, parent=agent, kind="other", at="soon")
    report = judged(made.runs("pwd"))
    assert report.calls == 4
    msgspec.json.encode(report)


RAW = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "raw"


@pytest.mark.skipif(not RAW.is_dir(), reason=f"the recordings are not at {RAW}")
def test_the_recorded_run_of_fourteen_equal_calls_stops_where_it_stopped_then() -> None:
    """DSH ran eleven, asked about the twelfth, which was rejected, and denied the other two."""
    (report,) = (judge_session(session, STANDARD) for session in open_recording(RAW / "dsh" / "peer-blocked.jsonl"))
    assert decisions(report) == "." * 11 + "xxx"
    twelfth = [event for event in report.events if isinstance(event, CallEvent)][11]
    assert twelfth.answer == "rejected"
