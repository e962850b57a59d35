"""Looks that bring back what is known, and looks that find nothing: what counts, and up to what (breaker/README.md)."""

from __future__ import annotations

import pytest
from entries import call, counts, evidence, failed, found, settled

from breaker.adaptive_limits import Limits
from breaker.evidence.log import Entry
from breaker.rules.adaptive.base import case
from breaker.rules.adaptive.looks import fixed_answer, loose_key, nothing_found, reread

LOOK = call("read", "page 9", loose="read page")


def page(number: int = 0, answer: str = "text", **given: object) -> Entry:
    return settled("read", f"page {number}", answer, **{"loose": "read page", **given})


def news(number: int, answer: str = "news", **given: object) -> Entry:
    return page(number, answer, news=True, **given)


class TestLooseKey:
    def test_known_answers_of_looks_that_are_much_the_same_are_counted_up_to_8(self) -> None:
        (finding,) = found(loose_key, LOOK, *[page(n, f"known {n}") for n in range(5)])
        assert (finding.gate, finding.count, finding.limit, finding.scope) == ("looseKey", 5, 8, "")
        assert finding.detail == "5 answers of calls that are much the same were known already"
        assert counts(loose_key, LOOK, page(1, step=1), page(2, step=1), page(3, step=1)) == [(1, 8)]

    @pytest.mark.parametrize(
        ("facts", "limit"), [({"overview": True}, 4), ({"kind": "poll"}, 8), ({"kind": "other"}, 8)]
    )
    def test_the_limit_goes_by_what_the_call_is(self, facts: dict[str, object], limit: int) -> None:
        looks = [page(1), page(2)]
        assert counts(loose_key, call("read", "page 9", **{"loose": "read page", **facts}), *looks) == [(2, limit)]

    def test_of_runs_only_answers_that_came_before_count_and_up_to_12(self) -> None:
        run = call("make", "x", kind="run", loose="make")
        runs = [settled("make", str(n), answer, kind="run", loose="make") for n, answer in enumerate("abab")]
        assert counts(loose_key, run, *runs) == [(2, 12)]
        assert counts(loose_key, run, *runs[:2]) == []

    @pytest.mark.parametrize("kind", ["mutate", "act", "wait", "spawn", "bookkeeping"])
    def test_other_calls_are_not_stopped(self, kind: str) -> None:
        assert counts(loose_key, call("read", "page 9", loose="read page", kind=kind), page(1), page(1)) == []

    def test_a_question_in_new_words_is_not_stopped(self) -> None:
        asked = call("read", "page 9", loose="read page", words=(1, 2, 3))
        assert counts(loose_key, asked, page(1), page(2)) == []
        assert counts(loose_key, call("read", "page 1", loose="read page", words=(1,)), page(1), page(2)) == [(2, 8)]

    def test_news_counts_once_it_comes_again(self) -> None:
        assert counts(loose_key, LOOK, news(1), news(2, "more")) == []
        assert counts(loose_key, LOOK, news(1), news(2)) == [(1, 8)]

    def test_nothing_where_nothing_was_before_counts_from_the_second_time(self) -> None:
        assert counts(loose_key, LOOK, page(1, "", outcome="empty"), page(2, "", outcome="empty")) == [(1, 8)]

    @pytest.mark.parametrize("told", [{"first_read": True}, {"nod": True}])
    def test_a_part_read_for_the_first_time_and_a_nod_tell_something(self, told: dict[str, bool]) -> None:
        assert counts(loose_key, LOOK, page(1, **told), page(2, **told)) == []

    def test_what_goes_on_by_itself_is_counted_elsewhere_but_not_of_an_overview(self) -> None:
        moved = [page(1, moved=True), page(2, moved=True)]
        assert counts(loose_key, LOOK, *moved) == []
        assert counts(loose_key, call("read", "page 9", loose="read page", overview=True), *moved) == [(2, 4)]
        going_on = [page(1, live=1), page(2, live=1)]
        assert counts(loose_key, LOOK, *going_on) == []
        assert counts(loose_key, call("read", "page 9", loose="read page", overview=True), *going_on) == []

    def test_failures_and_other_looks_are_not_among_them(self) -> None:
        assert counts(loose_key, LOOK, page(1), page(2, outcome="fail"), settled(about="other")) == [(1, 8)]

    def test_something_new_changed_begins_anew_and_its_own_change_does_not(self) -> None:
        edit = settled("edit", kind="mutate", change=2)
        assert counts(loose_key, LOOK, page(1), page(2), edit, page(3)) == [(1, 8)]
        assert counts(loose_key, LOOK, page(1), page(2, change=2), page(3)) == [(3, 8)]

    def test_a_deed_done_before_begins_anew_once(self) -> None:
        deed = settled("edit", kind="mutate", change=1)
        assert counts(loose_key, LOOK, page(1), page(2), deed, page(3)) == [(1, 8)]
        assert counts(loose_key, LOOK, page(1), deed, page(2), deed, page(3)) == [(2, 8)]
        assert counts(loose_key, LOOK, news(1), deed, news(2)) == []

    def test_looks_with_minutes_between_are_polls(self) -> None:
        def with_gap(seconds: float) -> list[tuple[int, int]]:
            looks = [page(n, at=1000.0 + seconds * n, until=1000.0 + seconds * n) for n in range(4)]
            return counts(loose_key, LOOK, *looks, now=2000.0)

        assert (with_gap(119.0), with_gap(120.0)) == ([(4, 8)], [])

    def test_it_can_be_turned_off(self) -> None:
        assert counts(loose_key, LOOK, page(1), page(2), seen=None) == []


def part(*span: int, again: bool = True, **given: object) -> Entry:
    return settled("read", f"f.py {span}", **{"loose": "read f.py", "target": "f.py", "read_already": again, **given})


class TestReread:
    FILE = call("read", "f.py", loose="read f.py", target="f.py")

    def test_reads_of_what_was_read_already_are_counted_up_to_10(self) -> None:
        (finding,) = found(reread, self.FILE, part(0, 9), part(3, 9), part(4, 9))
        assert (finding.gate, finding.count, finding.limit) == ("reread", 3, 10)
        assert finding.detail == "3 reads of the file that this call names showed lines that were read already"
        assert finding.scope == "file:f.py"
        assert counts(reread, self.FILE, part(0, 9, step=1), part(3, 9, step=1)) == [(1, 10)]

    def test_first_reads_and_reads_of_other_files_are_not_among_them(self) -> None:
        assert counts(reread, self.FILE, part(0, 9), part(9, 18, again=False), part(3, 9, target="g.py")) == [(1, 10)]
        assert counts(reread, self.FILE, part(9, 18, again=False)) == []

    def test_only_reads_of_a_file_are_stopped(self) -> None:
        assert counts(reread, call("read", "f.py"), part(0, 9, target="")) == []
        assert counts(reread, call("edit", "f.py", kind="mutate", target="f.py"), part(0, 9)) == []
        assert counts(reread, self.FILE, part(0, 9), reread=None) == []

    def test_something_new_changed_begins_anew(self) -> None:
        assert counts(reread, self.FILE, part(0, 9), settled("edit", kind="mutate", change=2), part(3, 9)) == [(1, 10)]

    @pytest.mark.parametrize(
        ("known", "stopped"),
        [
            ([(0, 8)], True),  # eight lines of ten
            ([(0, 7)], False),
            ([(0, 4), (6, 10)], True),
            ([(2, 99)], True),
            ([(3, 99)], False),
            ([(10, 99)], False),
            ([], False),
            (None, False),
        ],
    )
    def test_a_part_that_was_not_read_for_three_quarters_is_not_stopped(
        self, known: list[tuple[int, int]] | None, stopped: bool
    ) -> None:
        facts = call("read", "f.py 0", loose="read f.py", target="f.py", span=(0, 10))
        log = evidence([part(0, 9)])
        if known is not None:
            log.spans["f.py"] = known
        assert bool(list(reread(case(facts, log, Limits(), None)))) is stopped

    @pytest.mark.parametrize(
        ("span", "known", "stopped"), [((20, 28), (20, 26), True), ((20, 28), (20, 25), False), ((5, 6), (5, 6), True)]
    )
    def test_three_quarters_are_enough_wherever_the_part_stands(
        self, span: tuple[int, int], known: tuple[int, int], stopped: bool
    ) -> None:
        log = evidence([part(0, 9)])
        log.spans["f.py"] = [known]
        facts = call("read", "f.py 0", target="f.py", span=span)
        assert bool(list(reread(case(facts, log, Limits(), None)))) is stopped

    def test_a_part_of_no_length_is_covered_by_nothing(self) -> None:
        facts = call("read", "f.py 0", target="f.py", span=(5, 5))
        log = evidence([part(0, 9)])
        log.spans["f.py"] = [(0, 10)]
        assert list(reread(case(facts, log, Limits(), None))) == []


def long(about: str, answer: str = "the page of errors", **given: object) -> Entry:
    return settled("fetch", about, answer, **{"long": True, **given})


class TestFixedAnswer:
    FETCH = call("fetch", "new")

    def test_different_looks_with_one_long_answer_are_counted_up_to_8(self) -> None:
        (finding,) = found(fixed_answer, self.FETCH, long("a"), long("b"), long("c"))
        assert (finding.gate, finding.count, finding.limit) == ("fixedAnswer", 3, 8)
        assert finding.detail == "3 different looks brought the same answer"
        assert finding.scope == "looks:fetch"
        assert counts(fixed_answer, self.FETCH, long("a", step=1), long("b", step=1)) == [(1, 8)]

    def test_the_same_look_again_and_again_is_counted_elsewhere(self) -> None:
        assert counts(fixed_answer, self.FETCH, long("a"), long("a")) == []

    def test_another_answer_a_short_one_and_a_deed_of_the_tool_end_the_row(self) -> None:
        rows = [long("x"), long("y")], [long("a"), long("b"), long("c")]
        assert counts(fixed_answer, self.FETCH, *rows[0], long("z", "other"), *rows[1]) == [(3, 8)]
        assert counts(fixed_answer, self.FETCH, *rows[0], long("z", long=False), *rows[1]) == [(3, 8)]
        assert counts(fixed_answer, self.FETCH, *rows[0], long("z", kind="act"), *rows[1]) == [(3, 8)]

    def test_other_tools_in_between_do_not(self) -> None:
        assert counts(fixed_answer, self.FETCH, long("a"), settled(), long("b")) == [(2, 8)]

    def test_other_calls_are_not_stopped(self) -> None:
        assert counts(fixed_answer, call("fetch", "new", kind="act"), long("a"), long("b")) == []
        assert counts(fixed_answer, call("read"), long("a"), long("b")) == []
        assert counts(fixed_answer, self.FETCH, long("a"), long("b"), fixed_answer=None) == []


def missed(about: str, tool: str = "grep", **given: object) -> Entry:
    return settled(tool, about, "", **{"outcome": "empty", **given})


class TestNothingFound:
    GREP = call("grep", "new")

    def test_looks_that_find_nothing_are_counted_up_to_14(self) -> None:
        absent = failed("grep", "c", "not found"), failed("grep", "d", "http 404")
        (finding,) = found(nothing_found, self.GREP, missed("a"), missed("b"), *absent)
        assert (finding.gate, finding.count, finding.limit) == ("nothingFound", 4, 14)
        assert (finding.detail, finding.scope) == ("4 looks found nothing", "looks:grep")
        assert counts(nothing_found, self.GREP, missed("a", step=1), missed("b", step=1)) == [(1, 14)]

    def test_lists_asked_for_by_name_may_be_empty_up_to_20(self) -> None:
        lists = [missed(about, "list_items", known=False) for about in "abc"]
        asked = call("list_items", "new")
        assert counts(nothing_found, asked, *lists) == [(3, 20)]
        assert counts(nothing_found, asked, *lists, nothing_found=5) == [(3, 20)]
        assert counts(nothing_found, asked, *lists, empty_list=None) == []

    @pytest.mark.parametrize(
        "other",
        [
            missed("d", "search_items", known=False),
            missed("a", "list_items", known=True),
            missed("d", "list_items", known=False, shell=True),
            failed("list_items", "d", "not found", known=False),
        ],
        ids=["a search", "a list looked at before", "a command", "a guess at what is not there"],
    )
    def test_with_any_other_look_among_them_the_limit_is_that_of_searches(self, other: Entry) -> None:
        lists = [missed(about, "list_items", known=False) for about in "abc"]
        asked = call("list_items", "new")
        assert counts(nothing_found, asked, *lists, other) == [(4, 14)]
        assert counts(nothing_found, asked, *lists, other, nothing_found=5) == [(4, 5)]

    def test_what_fails_otherwise_or_is_no_look_has_found_neither_something_nor_nothing(self) -> None:
        other = failed("grep", "b", "errno 13"), missed("c", kind="run"), settled("grep", "d", "known")
        assert counts(nothing_found, self.GREP, missed("a"), *other) == [(1, 14)]

    def test_other_calls_are_not_stopped(self) -> None:
        assert counts(nothing_found, call("make", kind="run"), missed("a", "make")) == []
        assert counts(nothing_found, call("read"), missed("a")) == []
        assert counts(nothing_found, self.GREP, missed("a"), nothing_found=None) == []
        assert counts(nothing_found, self.GREP, settled("grep")) == []

    @pytest.mark.parametrize("news", [{"news": True}, {"known": False}])
    def test_what_the_tool_found_begins_anew(self, news: dict[str, bool]) -> None:
        hit = settled("grep", "hit", **news)
        assert counts(nothing_found, self.GREP, missed("a"), missed("b"), hit, missed("c")) == [(1, 14)]

    def test_something_new_changed_begins_anew(self) -> None:
        edit = settled("edit", kind="mutate", change=2)
        assert counts(nothing_found, self.GREP, missed("a"), edit, missed("c")) == [(1, 14)]

    def test_what_another_tool_found_takes_one_back(self) -> None:
        hit = settled("ls", "src", news=True)
        (finding,) = found(nothing_found, self.GREP, missed("a"), missed("b"), hit, hit, missed("c"), missed("d"))
        assert (finding.count, finding.detail) == (2, "4 looks found nothing")
        for kind in ("wait", "bookkeeping"):
            said = settled("ls", "src", news=True, kind=kind)
            assert counts(nothing_found, self.GREP, missed("a"), said, missed("b")) == [(2, 14)]

    def test_those_that_go_through_a_list_by_number_count_once(self) -> None:
        pages = [missed(f"page {n}", template="page #") for n in range(4)]
        assert counts(nothing_found, self.GREP, *pages) == [(1, 14)]
        assert counts(nothing_found, self.GREP, *[missed("page 1", template="page #")] * 4) == [(4, 14)]
        assert counts(nothing_found, self.GREP, *[missed(f"page {n}") for n in range(4)]) == [(4, 14)]
        mixed = missed("a 1", template="a #"), missed("b 1", template="b #"), missed("a 2", template="a #")
        assert counts(nothing_found, self.GREP, *mixed) == [(3, 14)]
