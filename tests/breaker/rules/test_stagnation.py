"""Steps that bring nothing, plans without deeds, sleeping on: what counts, and up to what (breaker/README.md)."""

from __future__ import annotations

from typing import Any

import pytest
from entries import call, counts, found, settled

from breaker.evidence.log import Entry
from breaker.rules.adaptive.stagnation import no_news, plans, sleeps


def stale(times: int, **given: Any) -> list[Entry]:
    """Steps that were all taken before."""
    return [settled(about=str(number % 3), answer=f"{number % 3}", **given) for number in range(times)]


def new_looks(times: int) -> list[Entry]:
    return [settled(about=f"new {number}", answer=f"new {number}", known=False, news=True) for number in range(times)]


THIS = call(about="1")


class TestNoNews:
    def test_steps_taken_before_are_counted_up_to_12(self) -> None:
        (finding,) = found(no_news, THIS, *stale(12))
        assert (finding.gate, finding.count, finding.limit) == ("noNews", 12, 12)
        assert finding.detail == "12 steps in a row repeated earlier ones and told nothing new"
        assert finding.scope == ""

    def test_calls_of_one_step_count_once(self) -> None:
        assert counts(no_news, THIS, *stale(6, step=1), *stale(3, step=2)) == [(2, 12)]

    @pytest.mark.parametrize(
        "facts", [call(about="unheard of"), call(about="1", kind="wait"), call(about="1", kind="poll")]
    )
    def test_a_new_action_a_wait_and_a_poll_are_not_stopped(self, facts: Any) -> None:
        assert counts(no_news, facts, *stale(12)) == []

    def test_with_a_deed_done_before_among_them_there_may_be_20_and_with_nothing_else_32(self) -> None:
        deed = settled("edit", kind="mutate", change=1)
        assert counts(no_news, THIS, *stale(3), deed) == [(4, 20)]
        assert counts(no_news, THIS, deed, *stale(3)) == [(4, 20)]
        assert counts(no_news, call("edit"), deed, settled("edit", kind="mutate", change=1)) == [(2, 32)]

    def test_something_new_changed_begins_anew(self) -> None:
        assert counts(no_news, THIS, *stale(5), settled("edit", kind="mutate", change=2), *stale(2)) == [(2, 12)]

    @pytest.mark.parametrize(
        "entry",
        [
            settled(kind="wait"),
            settled(kind="poll"),
            settled(kind="run", slept=5.0),
            settled(kind="read", live=1),
        ],
    )
    def test_waits_and_polls_neither_count_nor_end_it(self, entry: Entry) -> None:
        assert counts(no_news, THIS, *stale(3), entry, *stale(2)) == [(5, 12)]

    @pytest.mark.parametrize("entry", [settled(kind="run", slept=4.9), settled(kind="act", live=1), settled(live=-1)])
    def test_what_hardly_sleeps_and_a_deed_that_goes_on_count(self, entry: Entry) -> None:
        assert counts(no_news, THIS, *stale(3), entry, *stale(2)) == [(6, 12)]

    def test_two_new_looks_take_one_step_back(self) -> None:
        assert counts(no_news, THIS, *stale(4), *new_looks(1)) == [(4, 12)]
        assert counts(no_news, THIS, *stale(4), *new_looks(2)) == [(3, 12)]
        assert counts(no_news, THIS, *stale(4), *new_looks(5)) == [(2, 12)]

    def test_what_was_counted_is_not_taken_back_by_news_before_it(self) -> None:
        assert counts(no_news, THIS, *stale(1), *new_looks(6), *stale(3)) == [(3, 12)]

    def test_ten_new_looks_are_looked_past_and_no_more(self) -> None:
        assert counts(no_news, THIS, *stale(7), *new_looks(10)) == [(2, 12)]
        assert counts(no_news, THIS, *stale(7), *new_looks(11)) == []

    @pytest.mark.parametrize(
        "entry", [settled("build", kind="run", known=False, news=True), settled(answer="other", news=True)]
    )
    def test_a_new_run_and_another_answer_of_a_known_look_begin_anew(self, entry: Entry) -> None:
        assert counts(no_news, THIS, *stale(5), entry, *stale(2)) == [(2, 12)]

    def test_minutes_without_any_call_begin_anew(self) -> None:
        def with_pause(seconds: float) -> list[tuple[int, int]]:
            early, late = stale(3, at=1000.0, until=1010.0), stale(2, at=1010.0 + seconds, until=1010.0 + seconds)
            return counts(no_news, THIS, *early, *late, now=1010.0 + seconds)

        assert (with_pause(119.0), with_pause(120.0)) == ([(5, 12)], [(2, 12)])

    def test_it_can_be_turned_off(self) -> None:
        assert counts(no_news, THIS, *stale(12), no_news=None) == []


def todo(number: int, **given: Any) -> Entry:
    return settled("todo", str(number), kind="bookkeeping", **given)


PLAN = call("todo", kind="bookkeeping")


class TestPlans:
    def test_plans_written_before_are_counted_of_the_last_20_and_of_the_last_40_calls(self) -> None:
        entries = [todo(n) if n % 2 else settled(about=str(n)) for n in range(40)]
        first, second = found(plans, PLAN, *entries, thoughts=None)
        assert (first.gate, first.count, first.limit, first.scope) == ("plans", 10, 14, "plans:todo")
        assert first.detail == "10 of the last 20 calls were plans or thoughts, and nothing was done"
        assert (second.count, second.limit, second.scope) == (20, 22, "plans:todo")

    def test_other_calls_are_not_stopped(self) -> None:
        assert counts(plans, call("todo", kind="read"), *[todo(n) for n in range(20)]) == []

    @pytest.mark.parametrize(
        "deed",
        [
            settled("edit", kind="mutate"),
            settled("click", kind="act", outcome="empty"),
            settled("make", kind="run", change=2),
        ],
    )
    def test_a_deed_among_them_is_what_plans_are_for(self, deed: Entry) -> None:
        assert counts(plans, PLAN, deed, *[todo(n) for n in range(19)], thoughts=None) == []
        assert counts(plans, PLAN, deed, *[todo(n) for n in range(20)], thoughts=None) == [(20, 14)]

    def test_a_deed_that_failed_is_none(self) -> None:
        broken = settled("edit", kind="mutate", outcome="fail")
        assert counts(plans, PLAN, broken, todo(1), thoughts=None) == [(1, 14), (1, 22)]

    def test_new_plans_count_only_where_nothing_stands_between_them(self) -> None:
        new = [todo(n, known=False) for n in range(5)]
        assert counts(plans, PLAN, todo(7), settled(), *new) == [(1, 14), (1, 22), (5, 26)]
        (row,) = found(plans, PLAN, *new)
        assert (row.gate, row.detail, row.scope) == ("plans", "5 plans or thoughts in a row", "plans:todo")

    def test_plans_of_one_step_count_once(self) -> None:
        assert counts(plans, PLAN, *[todo(n, step=1) for n in range(5)]) == [(1, 14), (1, 22), (1, 26)]

    def test_each_part_can_be_turned_off(self) -> None:
        entries = [todo(n) for n in range(3)]
        assert counts(plans, PLAN, *entries, thoughts=None) == [(3, 14), (3, 22)]
        assert counts(plans, PLAN, *entries, plans=None) == [(3, 26)]
        assert counts(plans, PLAN, settled()) == []


def sleep(seconds: float = 1.0, **given: Any) -> Entry:
    return settled("bash", f"sleep {seconds}", kind="wait", slept=seconds, shell=True, **given)


def echo(text: str = "a") -> Entry:
    return settled("bash", f"echo {text}", kind="wait", shell=True)


SLEEP = call("bash", "sleep 5", kind="wait", slept=5.0, shell=True)
ECHO = call("bash", "echo b", kind="wait", shell=True)
WAIT = call("wait", kind="wait")


class TestSleeps:
    def test_waits_in_a_row_are_counted_up_to_3(self) -> None:
        (finding,) = found(sleeps, SLEEP, sleep(), sleep(2.0))
        assert (finding.gate, finding.count, finding.limit) == ("sleeps", 2, 3)
        assert finding.detail == "2 waits in a row with nothing looked at in between"
        assert counts(sleeps, WAIT, settled("wait", kind="wait")) == [(1, 3)]
        assert counts(sleeps, call(), sleep()) == []
        assert counts(sleeps, SLEEP) == []

    def test_two_are_enough_when_they_are_longer_than_ten_minutes_in_all(self) -> None:
        assert counts(sleeps, SLEEP, sleep(595.0)) == [(1, 3)]
        assert counts(sleeps, SLEEP, sleep(595.5)) == [(1, 2)]

    def test_printing_is_counted_apart_and_up_to_6(self) -> None:
        (finding,) = found(sleeps, ECHO, sleep(700.0), echo(), echo("c"))
        assert (finding.count, finding.limit) == (2, 6)
        assert finding.detail == "2 commands that only print or do nothing in a row with nothing looked at in between"
        assert counts(sleeps, SLEEP, sleep(), echo(), echo("c")) == [(1, 3)]
        assert counts(sleeps, WAIT, settled("wait", kind="wait"), echo(), echo("c")) == [(1, 3)]
        assert counts(sleeps, SLEEP, settled("wait", kind="wait"), sleep()) == [(2, 3)]

    def test_plans_in_between_are_no_looks(self) -> None:
        assert counts(sleeps, SLEEP, sleep(), todo(1), sleep()) == [(2, 3)]

    def test_a_new_look_takes_one_back_and_a_look_that_comes_again_is_what_is_waited_for(self) -> None:
        assert counts(sleeps, SLEEP, sleep(), sleep(), *new_looks(1), sleep()) == [(2, 3)]
        assert counts(sleeps, SLEEP, sleep(), *new_looks(1), sleep()) == [(1, 3)]
        assert counts(sleeps, SLEEP, sleep(), *new_looks(2), sleep()) == []
        assert counts(sleeps, SLEEP, sleep(), sleep(), *stale(1), sleep()) == [(1, 3)]
        deed = settled("edit", kind="mutate", known=False)
        assert counts(sleeps, SLEEP, sleep(), deed, sleep()) == [(1, 3)]

    def test_looks_before_the_first_wait_take_none_back(self) -> None:
        assert counts(sleeps, SLEEP, *new_looks(10), sleep(300.0), sleep(300.0)) == [(2, 2)]
        assert counts(sleeps, SLEEP, *new_looks(10), sleep(300.0), *new_looks(1), sleep(300.0)) == [(1, 2)]

    def test_what_is_printed_beside_as_many_looks_is_a_heading(self) -> None:
        assert counts(sleeps, ECHO, echo(), *new_looks(1), echo("c")) == [(2, 6)]
        assert counts(sleeps, ECHO, echo(), *new_looks(2), echo("c")) == [(1, 6)]
        assert counts(sleeps, ECHO, echo(), *new_looks(2), echo("c"), echo("d")) == [(2, 6)]

    def test_each_limit_can_be_turned_off(self) -> None:
        assert counts(sleeps, SLEEP, sleep(), sleeps=None) == []
        assert counts(sleeps, SLEEP, sleep(900.0), sleeps=None) == [(1, 2)]
        assert counts(sleeps, ECHO, echo(), echoes=None) == []
