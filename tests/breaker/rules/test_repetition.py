"""The same call with the same answer, polls, and bare numbers: what counts, and up to what (breaker/README.md)."""

from __future__ import annotations

from typing import Any

import pytest
from entries import call, counts, failed, found, settled

from breaker.evidence.log import Entry
from breaker.rules.adaptive.base import pause
from breaker.rules.adaptive.repetition import numbers, same_answer

THIS = call()


def at(gap: float, *entries: Entry, lasting: float = 0.0) -> list[Entry]:
    """The same entries with so many seconds from the beginning of one to that of the next."""
    for number, entry in enumerate(entries):
        entry.at = 1000.0 + gap * number
        entry.until = entry.at + lasting
    return list(entries)


def times(number: int, **given: Any) -> list[Entry]:
    return [settled(**given) for _ in range(number)]


def gates(*entries: Entry, facts: Any = THIS, now: float | None = None, **limits: Any) -> list[tuple[str, int, int]]:
    return [(f.gate, f.count, f.limit) for f in found(same_answer, facts, *entries, now=now, **limits)]


class TestSameAnswer:
    def test_one_answer_of_one_call_is_counted(self) -> None:
        (finding,) = found(same_answer, THIS, *times(3))
        assert (finding.gate, finding.count, finding.limit) == ("sameAnswer", 3, 4)
        assert finding.detail == "3 times the same answer, and nothing new was changed in between"
        assert finding.scope == ""
        assert gates() == []
        assert gates(settled(about="other")) == []

    @pytest.mark.parametrize(
        ("given", "limit"),
        [
            ({"kind": "read"}, 4),
            ({"kind": "other"}, 5),
            ({"kind": "run"}, 10),
            ({"kind": "mutate"}, 8),
            ({"kind": "act"}, 10),
            ({"kind": "act", "incremental": True}, 20),
            ({"kind": "spawn"}, 10),
            ({"kind": "bookkeeping"}, 10),
            ({"kind": "read", "opaque": True}, 10),
            ({"kind": "run", "started": True}, 5),
            ({"kind": "poll", "live": -1}, 4),
            ({"kind": "poll", "long": True}, 4),
            ({"kind": "run", "outcome": "fail"}, 4),
            ({"kind": "act", "outcome": "fail", "failure": "errno 13"}, 4),
            ({"kind": "run", "outcome": "fail", "failure": "timeout"}, 8),
            ({"kind": "act", "outcome": "invalid"}, 4),
        ],
    )
    def test_the_limit_goes_by_what_the_call_is_and_how_it_went(self, given: dict[str, Any], limit: int) -> None:
        assert gates(*times(3, **given), facts=call(kind=given["kind"])) == [("sameAnswer", 3, limit)]

    @pytest.mark.parametrize(
        ("outcome", "said"),
        [("fail", "the same failure"), ("invalid", "the same rejection"), ("empty", "nothing found")],
    )
    def test_it_is_said_what_came_again(self, outcome: str, said: str) -> None:
        (finding,) = found(same_answer, THIS, *times(2, outcome=outcome))
        assert finding.detail == f"2 times {said}, and nothing new was changed in between"

    def test_a_command_that_came_back_empty_had_no_output(self) -> None:
        look = settled("bash", "git status", outcome="empty", shell=True)
        deed = settled("bash", "make", outcome="empty", kind="run", shell=True)
        for entry in (look, deed):
            facts = call("bash", entry.strict.removeprefix("bash "), kind=entry.kind)
            (finding,) = found(same_answer, facts, entry, entry)
            assert finding.detail == "2 times no output, and nothing new was changed in between"

    def test_refusals_and_waits_are_counted_elsewhere(self) -> None:
        assert gates(*times(3, outcome="denied")) == []
        assert gates(*times(3, outcome="denied", moved=True)) == []
        assert gates(*times(3, kind="wait"), facts=call(kind="wait")) == []

    def test_another_answer_begins_anew(self) -> None:
        assert gates(*times(3), settled(answer="other"), *times(2)) == [("sameAnswer", 2, 4)]

    def test_something_new_changed_begins_anew(self) -> None:
        assert gates(*times(3), settled("edit", kind="mutate", change=2), *times(2)) == [("sameAnswer", 2, 4)]

    def test_a_deed_done_before_begins_anew_once(self) -> None:
        deed = settled("edit", kind="mutate", change=1)
        assert gates(*times(2), deed, *times(3)) == [("sameAnswer", 3, 4)]
        assert gates(*times(2), deed, settled(), deed, *times(3)) == [("sameAnswer", 4, 4)]
        assert gates(*times(2), settled("edit", kind="mutate"), *times(3)) == [("sameAnswer", 5, 4)]

    def test_a_deed_that_succeeded_is_not_made_worth_while_by_another_one_done_before(self) -> None:
        click, other = call("click", kind="act"), settled("edit", kind="mutate", change=1)
        clicks = [settled("click", kind="act") for _ in range(2)]
        assert gates(*clicks, other, *clicks, facts=click) == [("sameAnswer", 4, 10)]
        assert gates(clicks[0], other, *clicks, facts=click) == [("sameAnswer", 3, 10)]
        broken = [failed("click", kind="act") for _ in range(2)]
        assert gates(*broken, other, *broken, facts=click) == [("sameAnswer", 2, 4)]

    def test_a_scroll_that_shows_another_part_begins_anew(self) -> None:
        scroll = call("scroll", kind="act")
        once = settled("scroll", kind="act", incremental=True)
        shown, known, new = settled("shot", news=True), settled("shot"), settled("shot", news=True, known=False)
        assert gates(once, shown, once, once, facts=scroll) == [("sameAnswer", 2, 20)]
        assert gates(once, known, once, once, facts=scroll) == [("sameAnswer", 3, 20)]
        assert gates(once, new, once, once, facts=scroll) == [("sameAnswer", 3, 20)]
        click = settled("click", kind="act")
        assert gates(click, shown, click, click, facts=call("click", kind="act")) == [("sameAnswer", 3, 10)]

    def test_calls_of_one_step_are_one_and_every_third_twin_one_more(self) -> None:
        assert gates(*times(3, step=1)) == [("sameAnswer", 1, 4)]
        assert gates(*times(4, step=1)) == [("sameAnswer", 2, 4)]
        assert gates(*times(7, step=1), settled(step=2)) == [("sameAnswer", 4, 4)]

    def test_a_deed_in_other_words_is_the_same_deed_and_a_look_is_not(self) -> None:
        sent = [settled("send", f"words {n}", "sent", kind="act", loose="send") for n in range(3)]
        (finding,) = found(same_answer, call("send", "words 9", kind="act", loose="send"), *sent)
        assert (finding.count, finding.limit) == (3, 10)
        looked = [settled("ask", f"words {n}", "no", loose="ask") for n in range(3)]
        assert gates(*looked, facts=call("ask", "words 9", loose="ask")) == []

    def test_looks_twenty_seconds_apart_with_nothing_in_between_may_come_8_times(self) -> None:
        assert gates(*at(20.0, *times(3)), now=2000.0) == [("sameAnswer", 3, 8)]
        assert gates(*at(19.9, *times(3)), now=2000.0) == [("sameAnswer", 3, 4)]
        between = at(20.0, settled(), settled(about="other"), settled(), settled())
        assert gates(*between, now=2000.0) == [("sameAnswer", 3, 4)]

    @pytest.mark.parametrize(
        ("limit", "given"),
        [("look", {}), ("failure", {"outcome": "fail"}), ("run", {"kind": "run"}), ("write", {"kind": "mutate"})],
    )
    def test_each_limit_can_be_turned_off(self, limit: str, given: dict[str, Any]) -> None:
        assert gates(*times(3, **given), facts=call(kind=given.get("kind", "read")), **{limit: None}) == []


STATUS = call("status", kind="poll")


def polls(number: int, **given: Any) -> list[Entry]:
    return [settled("status", **{"kind": "poll", **given}) for _ in range(number)]


class TestPolls:
    def test_without_a_clock_a_poll_may_come_20_times(self) -> None:
        (finding,) = found(same_answer, STATUS, *polls(3))
        assert (finding.gate, finding.count, finding.limit) == ("poll", 3, 20)
        assert finding.detail == "3 times the same answer, and nothing new was changed in between"

    def test_in_haste_12_times_with_five_seconds_between_30_and_what_goes_on_for_ever(self) -> None:
        assert gates(*at(4.9, *polls(3)), facts=STATUS, now=2000.0) == [("poll", 3, 12)]
        assert gates(*at(5.0, *polls(3)), facts=STATUS, now=2000.0) == [("poll", 3, 30)]
        assert gates(*at(4.9, *polls(3, live=1)), facts=STATUS, now=2000.0) == [("poll", 3, 12)]
        assert gates(*at(5.0, *polls(3, live=1)), facts=STATUS, now=2000.0) == []

    def test_the_time_slept_stands_for_a_clock(self) -> None:
        nap = settled("bash", "sleep", kind="wait", slept=4.0)
        assert gates(*polls(1), nap, *polls(1), facts=STATUS) == [("poll", 2, 12)]
        assert gates(*polls(1), nap, nap, *polls(1), facts=STATUS) == [("poll", 2, 30)]
        assert gates(*polls(1), nap, nap, nap, *polls(2), facts=STATUS) == [("poll", 3, 30)]
        assert gates(*polls(2, slept=5.0), facts=STATUS) == [("poll", 2, 30)]
        assert gates(*polls(3, slept=2.0), facts=STATUS) == [("poll", 3, 12)]

    @pytest.mark.parametrize("given", [{"live": 1}, {"moved": True}, {"slept": 1.0}])
    def test_a_look_at_what_goes_on_by_itself_is_a_poll(self, given: dict[str, Any]) -> None:
        assert [gate for gate, _, _ in gates(*times(3, **given))] == ["poll"]

    @pytest.mark.parametrize("given", [{"moved": True}, {"slept": 1.0}])
    def test_what_says_that_it_is_over_is_none(self, given: dict[str, Any]) -> None:
        assert gates(*times(3, live=-1, **given)) == [("sameAnswer", 3, 4)]

    @pytest.mark.parametrize("kind", ["spawn", "bookkeeping"])
    def test_nor_is_the_start_of_an_agent_or_a_plan(self, kind: str) -> None:
        assert gates(*times(3, kind=kind, live=1), facts=call(kind=kind)) == [("sameAnswer", 3, 10)]

    def test_nor_what_is_rejected_or_left_running(self) -> None:
        assert gates(*times(3, outcome="invalid", live=1)) == [("sameAnswer", 3, 4)]
        assert gates(*times(3, kind="run", started=True, live=1), facts=call(kind="run")) == [("sameAnswer", 3, 5)]

    def test_a_wait_between_the_looks_makes_them_a_poll(self) -> None:
        wait = settled("wait", kind="wait")
        assert gates(settled(), wait, settled()) == [("poll", 2, 20)]

    def test_a_failure_is_polled_with_a_wait_between_or_where_it_may_pass_with_time_between(self) -> None:
        wait = settled("wait", kind="wait")
        assert gates(failed(), wait, failed()) == [("poll", 2, 20)]
        assert gates(*at(5.0, failed(failure="timeout"), failed(failure="timeout")), now=2000.0) == [("poll", 2, 30)]
        assert gates(*at(4.9, failed(failure="timeout"), failed(failure="timeout")), now=2000.0) == [
            ("sameAnswer", 2, 8)
        ]
        assert gates(*at(5.0, failed(), failed()), now=2000.0) == [("sameAnswer", 2, 4)]
        act = failed("click", kind="act")
        assert gates(act, wait, act, act, facts=call("click", kind="act")) == [("poll", 3, 20)]
        moved = at(5.0, failed(moved=True), failed(moved=True))
        assert gates(*moved, now=2000.0) == [("sameAnswer", 2, 4)]

    def test_a_deed_is_polled_when_it_sleeps_long_or_a_wait_stands_before_each(self) -> None:
        click, wait = call("click", kind="act"), settled("wait", kind="wait")
        one = settled("click", kind="act")
        assert gates(one, wait, one, wait, one, facts=click) == [("poll", 3, 20)]
        assert gates(one, wait, one, facts=click) == [("poll", 2, 20)]
        assert gates(one, wait, one, one, facts=click) == [("sameAnswer", 3, 10)]
        assert gates(one, facts=click) == [("sameAnswer", 1, 10)]
        assert [gate for gate, _, _ in gates(settled("click", kind="act", slept=20.0), facts=click)] == ["poll"]
        assert gates(settled("click", kind="act", slept=19.0, live=1), facts=click) == [("sameAnswer", 1, 10)]

    def test_what_comes_after_minutes_without_any_call_is_scheduled(self) -> None:
        run = call("make", kind="run")

        def after(gap: float, *between: Entry, count: int = 3) -> list[tuple[str, int, int]]:
            made = [settled("make", kind="run") for _ in range(count)]
            return gates(*at(gap, *made, lasting=1.0), facts=run, now=2500.0)

        assert after(121.0) == [("poll", 3, 30)]
        assert after(120.9) == [("sameAnswer", 3, 10)]
        assert after(121.0, count=1) == [("sameAnswer", 1, 10)]

    def test_the_longest_pause_between_two_tries_is_what_counts(self) -> None:
        def made(begin: float) -> Entry:
            return settled("make", kind="run", at=begin, until=begin)

        look = settled(at=1125.0, until=1125.0)
        entries = [made(1000.0), look, made(1130.0), made(1240.0)]
        assert gates(*entries, facts=call("make", kind="run"), now=2000.0) == [("sameAnswer", 3, 10)]
        entries[-1] = made(1250.0)
        assert gates(*entries, facts=call("make", kind="run"), now=2000.0) == [("poll", 3, 30)]

    @pytest.mark.parametrize("limit", ["blind_poll", "hasty_poll", "idle_poll"])
    def test_each_limit_can_be_turned_off(self, limit: str) -> None:
        shown = {"blind_poll": polls(3), "hasty_poll": at(1.0, *polls(3)), "idle_poll": at(9.0, *polls(3))}[limit]
        assert gates(*shown, facts=STATUS, now=None if limit == "blind_poll" else 2000.0, **{limit: None}) == []


def test_a_pause_lasts_from_the_end_of_one_call_to_the_beginning_of_the_next() -> None:
    after = settled(at=1010.0, until=1012.0)
    assert pause(settled(at=1000.0, until=1004.0), after) == 6.0
    assert pause(settled(at=1000.0), after) == 10.0
    assert [pause(None, after), pause(settled(), after), pause(settled(at=1000.0), settled())] == [0.0] * 3


def clock(second: int, **given: Any) -> Entry:
    return settled(answer=f"12:00:{second}", **{"bones": "#:#:#", "news": True, **given})


class TestNumbers:
    def test_answers_that_differ_in_numbers_alone_may_come_30_times_without_a_clock(self) -> None:
        (finding,) = found(numbers, THIS, *[clock(n) for n in range(3)])
        assert (finding.gate, finding.count, finding.limit) == ("numbers", 3, 30)
        assert finding.detail == "the answers differed in numbers alone"

    def test_and_20_times_in_haste_and_for_ever_with_five_seconds_between(self) -> None:
        assert counts(numbers, THIS, *at(4.9, clock(1), clock(2)), now=2000.0) == [(2, 20)]
        assert counts(numbers, THIS, *at(5.0, clock(1), clock(2)), now=2000.0) == []

    def test_an_answer_that_differs_in_more_begins_anew(self) -> None:
        assert counts(numbers, THIS, clock(1), settled(answer="done"), clock(2), clock(3)) == [(2, 30)]

    def test_other_calls_in_between_do_not(self) -> None:
        assert counts(numbers, THIS, clock(1), settled(about="other"), clock(2)) == [(2, 30)]

    def test_failures_and_deeds_are_not_among_them(self) -> None:
        assert counts(numbers, THIS, clock(1), clock(2, outcome="fail")) == []
        assert counts(numbers, call(kind="act"), clock(1, kind="act"), clock(2, kind="act")) == []
        assert counts(numbers, THIS) == []
        assert counts(numbers, THIS, settled(about="other")) == []

    def test_each_limit_can_be_turned_off(self) -> None:
        assert counts(numbers, THIS, clock(1), clock(2), blind_numbers=None) == []
        assert counts(numbers, THIS, *at(1.0, clock(1), clock(2)), now=2000.0, numbers=None) == []
