"""One class of failure again and again, and calls that are refused: what counts, and up to what (breaker/README.md)."""

from __future__ import annotations

import pytest
from entries import call, counts, failed, found, settled

from breaker.evidence.log import Entry
from breaker.rules.adaptive.failures import denied, same_failure

CONNECT = call("connect", "a", kind="run")


def tries(times: int, failure: str = "errno 111", **given: object) -> list[Entry]:
    """Tries of one tool at different things."""
    return [failed("connect", str(number), failure, **{"kind": "run", **given}) for number in range(times)]


def at(entries: list[Entry], gap: float) -> list[Entry]:
    for number, entry in enumerate(entries):
        entry.at = entry.until = 1000.0 + gap * number
    return entries


class TestSameFailure:
    def test_failures_of_one_class_are_counted_up_to_6_whatever_the_arguments(self) -> None:
        (finding,) = found(same_failure, CONNECT, *tries(5))
        assert (finding.gate, finding.count, finding.limit) == ("sameFailure", 5, 6)
        assert finding.detail == "5 failures of one kind in a row: errno 111"
        assert finding.scope == "tool:connect"
        assert counts(same_failure, CONNECT, *tries(6, step=1), *tries(1)) == [(2, 6)]

    def test_only_a_tool_that_took_part_is_stopped(self) -> None:
        assert counts(same_failure, call("edit"), *tries(5)) == []
        assert counts(same_failure, call("ping"), *tries(2), failed("ping", failure="errno 111"), *tries(2)) == [(5, 6)]

    def test_another_class_of_failure_begins_anew(self) -> None:
        assert counts(same_failure, CONNECT, *tries(3), *tries(1, "errno 2"), *tries(2)) == [(2, 6)]
        assert counts(same_failure, CONNECT, *tries(3), *tries(2, "errno 2", outcome="invalid")) == [(2, 9)]

    def test_a_success_of_the_tool_begins_anew_and_a_look_of_another_does_not(self) -> None:
        good = settled("connect", kind="run", known=False)
        assert counts(same_failure, CONNECT, *tries(3), good, *tries(2)) == [(2, 6)]
        assert counts(same_failure, CONNECT, *tries(3), settled("connect"), *tries(2)) == [(2, 6)]
        for kind in ("read", "poll", "bookkeeping", "other"):
            fresh = settled(kind=kind, known=False, news=True)
            assert counts(same_failure, CONNECT, *tries(3), fresh, *tries(2)) == [(5, 6)], kind

    def test_what_succeeded_since_is_looked_past_but_its_own_failures_are_over(self) -> None:
        looked = settled("ping")
        assert counts(same_failure, CONNECT, *tries(2), failed("ping", failure="errno 111"), looked, *tries(3)) == [
            (3, 6)
        ]

    @pytest.mark.parametrize("news", [{"known": False}, {"news": True}])
    def test_a_run_of_another_tool_that_is_new_begins_anew(self, news: dict[str, bool]) -> None:
        assert counts(same_failure, CONNECT, *tries(3), settled("make", kind="run", **news), *tries(2)) == [(2, 6)]

    def test_a_run_that_told_nothing_new_and_a_refusal_do_not(self) -> None:
        assert counts(same_failure, CONNECT, *tries(3), settled("make", kind="run"), *tries(2)) == [(5, 6)]
        refused = settled("make", kind="run", outcome="denied", known=False)
        assert counts(same_failure, CONNECT, *tries(3), refused, *tries(2)) == [(5, 6)]

    def test_something_new_changed_begins_anew(self) -> None:
        assert counts(same_failure, CONNECT, *tries(3), settled(change=2), *tries(2)) == [(2, 6)]

    def test_what_was_written_before_it_failed_begins_anew_with_that_failure(self) -> None:
        assert counts(same_failure, CONNECT, *tries(3), *tries(1, change=2), *tries(2)) == [(3, 6)]

    def test_a_status_that_is_not_there_yet_is_no_failure(self) -> None:
        pending = failed("connect", failure="http 404", live=1)
        assert counts(same_failure, CONNECT, *tries(3), pending, *tries(2)) == [(5, 6)]
        assert counts(same_failure, CONNECT, pending) == []

    def test_a_class_told_by_a_text_that_differs_has_9_tries(self) -> None:
        differing = [settled("connect", str(n), f"E{n % 2}", outcome="fail", failure="E") for n in range(4)]
        (finding,) = found(same_failure, CONNECT, *differing)
        assert (finding.count, finding.limit) == (4, 9)
        assert finding.detail == "4 failures of one kind in a row: the same error"
        assert counts(same_failure, CONNECT, *[settled("connect", outcome="fail", failure="E")] * 4) == [(4, 6)]
        assert counts(same_failure, CONNECT, *[failed("connect", failure="E", same=f"E{n}") for n in range(4)]) == [
            (4, 6)
        ]

    def test_calls_that_are_rejected_as_wrong_have_9_tries_however_long_one_waits(self) -> None:
        wrong = tries(4, outcome="invalid")
        (finding,) = found(same_failure, CONNECT, *wrong)
        assert (finding.count, finding.limit) == (4, 9)
        assert finding.detail == "4 failures of one kind in a row: the call was rejected as wrong"
        other_words = tries(2, "no such argument", outcome="invalid")
        assert counts(same_failure, CONNECT, *wrong[:2], *other_words) == [(4, 9)]
        assert counts(same_failure, CONNECT, *wrong[:2], settled("sleep", kind="wait", slept=9.0), *wrong[2:]) == [
            (4, 9)
        ]

    def test_with_pauses_between_the_tries_there_are_12(self) -> None:
        wait = settled("sleep", kind="wait")
        assert counts(same_failure, CONNECT, *tries(2), wait, *tries(2)) == [(4, 12)]
        assert counts(same_failure, CONNECT, *tries(3), *tries(1, slept=0.5)) == [(4, 12)]

    def test_what_may_pass_by_itself_has_12_tries_five_seconds_apart_and_8_without_a_clock(self) -> None:
        assert counts(same_failure, CONNECT, *at(tries(4, "timeout"), 5.0), now=1100.0) == [(4, 12)]
        assert counts(same_failure, CONNECT, *at(tries(4, "timeout"), 4.9), now=1100.0) == [(4, 6)]
        assert counts(same_failure, CONNECT, *at(tries(4), 5.0), now=1100.0) == [(4, 6)]
        assert counts(same_failure, CONNECT, *tries(4, "timeout")) == [(4, 8)]
        assert counts(same_failure, CONNECT, *tries(4, "timeout"), transient_failure=None) == [(4, 6)]
        assert counts(same_failure, CONNECT, *tries(4, "timeout"), same_failure=10) == [(4, 10)]

    def test_it_can_be_turned_off(self) -> None:
        assert counts(same_failure, CONNECT, *tries(6), same_failure=None) == []
        assert counts(same_failure, CONNECT, *tries(6, "timeout"), same_failure=None) == []


def refused(tool: str = "deploy", about: str = "a", **given: object) -> Entry:
    return settled(tool, about, "no", **{"kind": "run", "outcome": "denied", **given})


DEPLOY = call("deploy", "a", kind="run")


class TestDenied:
    def test_the_same_call_may_be_refused_3_times_and_any_of_the_tool_8_times(self) -> None:
        same, any_call = found(denied, DEPLOY, refused(), refused(about="b"), refused())
        assert (same.gate, same.count, same.limit, same.scope) == ("denied", 2, 3, "")
        assert same.detail == "2 times it was not allowed"
        assert (any_call.gate, any_call.count, any_call.limit) == ("denied", 3, 8)
        assert (any_call.detail, any_call.scope) == ("3 calls in a row were not allowed", "denied:deploy")

    def test_refusals_of_one_step_are_one(self) -> None:
        assert counts(denied, DEPLOY, *[refused(step=1)] * 3) == [(1, 3), (1, 8)]

    def test_a_call_that_was_allowed_since_may_be_tried_again(self) -> None:
        good = settled("deploy", kind="run")
        assert counts(denied, DEPLOY, refused(), refused(), good) == []
        assert counts(denied, DEPLOY, refused(), good, refused()) == [(2, 3), (1, 8)]

    def test_a_call_never_refused_and_a_tool_never_refused_are_not_stopped(self) -> None:
        assert counts(denied, call("deploy", "new", kind="run"), refused(), refused()) == [(2, 8)]
        assert counts(denied, call("look"), refused(), refused()) == []
        assert counts(denied, call("look"), refused(), refused("look", kind="read", about="b")) == [(2, 8)]

    @pytest.mark.parametrize("kind", ["read", "wait", "bookkeeping"])
    def test_looks_waits_and_plans_of_other_tools_do_not_end_the_row(self, kind: str) -> None:
        between = settled("other", kind=kind)
        assert counts(denied, call("deploy", "new"), refused(), between, refused()) == [(2, 8)]

    @pytest.mark.parametrize(
        "between",
        [
            settled("make", kind="run"),
            settled("make", kind="run", outcome="empty"),
            settled("deploy", "other", kind="read"),
        ],
    )
    def test_a_run_and_whatever_the_tool_itself_may_do_end_it(self, between: Entry) -> None:
        assert counts(denied, call("deploy", "new"), refused(), refused(), between, refused()) == [(1, 8)]

    def test_a_failure_does_not_end_it(self) -> None:
        assert counts(denied, call("deploy", "new"), refused(), failed("make", kind="run"), refused()) == [(2, 8)]

    def test_each_part_can_be_turned_off(self) -> None:
        assert counts(denied, DEPLOY, refused(), denied=None) == [(1, 8)]
        assert counts(denied, DEPLOY, refused(), denied_any=None) == [(1, 3)]
