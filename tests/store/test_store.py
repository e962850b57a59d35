"""What every store promises, whatever engine it runs on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from breaker.state import Account, Entry
from protocol.store.base import KEPT_DENIALS, LARGEST, Store


def charge(agent: str, tokens: int, request: str | None = None, *line: str) -> Entry:
    return Entry("charge", agent, tokens, request, line)


def start(agent: str, parent: str, kind: str = "subagent", call: str | None = None) -> Entry:
    return Entry("start", agent, key=call, line=(parent,), kind=kind, at=100.0)


def spent(account: Account) -> tuple[int, int, int]:
    return account.turn_spent, account.session_spent, account.family_spent


def account(store: Store, name: str) -> Account:
    return store.read([name])[name]


def test_a_new_place_knows_nobody(store: Store) -> None:
    assert store.agents() == []
    assert store.read(["main"]) == {}
    assert store.load("main") is None


def test_tokens_go_to_the_turn_of_the_root_the_session_of_the_agent_and_all_families(store: Store) -> None:
    store.apply([start("sub", "main"), start("leaf", "sub")])
    told = store.apply([charge("leaf", 7), charge("sub", 100), charge("main", 1000)])
    assert {name: spent(each) for name, each in told.items()} == {
        "main": (1107, 1000, 1107),
        "sub": (0, 100, 107),
        "leaf": (0, 7, 7),
    }
    assert told["main"].turn_spenders == {"main": 1000, "sub": 100, "leaf": 7}
    assert told["sub"].family_spenders == {"sub": 100, "leaf": 7}
    assert [told[name].requests for name in ("main", "sub", "leaf")] == [1, 1, 1]


def test_what_was_told_is_what_is_read(store: Store, another: Callable[[], Store]) -> None:
    told = store.apply([start("sub", "main"), charge("sub", 7, "r1"), Entry("tool", "sub", 1, line=("main",))])
    assert another().read(["main", "sub"]) == told
    assert another().load("sub") == told["sub"]


def test_a_request_counts_once_for_everybody_and_for_ever(store: Store, another: Callable[[], Store]) -> None:
    store.apply([charge("main", 10, "r1")])
    assert spent(another().apply([charge("main", 10, "r1")])["main"]) == (10, 10, 10)
    store.close()
    assert spent(another().apply([charge("main", 10, "r1"), charge("main", 5, "r2")])["main"]) == (15, 15, 15)


def test_requests_without_an_id_all_count(store: Store) -> None:
    assert store.apply([charge("main", 10), charge("main", 10)])["main"].session_spent == 20


def test_one_id_under_two_agents_is_two_requests(store: Store) -> None:
    store.apply([charge("one", 10, "r1"), charge("two", 10, "r1")])
    assert account(store, "two").session_spent == 10


def test_a_turn_takes_back_what_the_turn_spent_and_nothing_else(store: Store) -> None:
    store.apply([charge("main", 10), Entry("warn", "main", key="turnBudget"), Entry("pass", "main", key="fanout")])
    after = store.apply([Entry("turn", "main"), charge("main", 1)])["main"]
    assert spent(after) == (1, 11, 11)
    assert after.turn_spenders == {"main": 1}
    assert after.family_spenders == {"main": 11}
    assert (after.warned, after.passed) == (set(), set())
    assert [agent.turns for agent in store.agents()] == [1]


def test_a_turn_of_a_subagent_leaves_its_root_alone(store: Store) -> None:
    store.apply([start("sub", "main"), charge("sub", 10), Entry("turn", "sub", line=("main",))])
    assert spent(account(store, "main")) == (10, 0, 10)


def test_warnings_and_passes_are_remembered(store: Store) -> None:
    told = store.apply([Entry("warn", "main", key="turnBudget"), Entry("pass", "main", key="workflowAgents c1")])
    assert told["main"].warned == {"turnBudget"}
    assert told["main"].passed == {"workflowAgents c1"}


def test_agents_of_one_workflow_call_are_numbered_by_all_processes_together(
    store: Store, another: Callable[[], Store]
) -> None:
    other = another()
    for number in range(1, 6):
        told = (store, other)[number % 2].apply([start(f"w{number}", "main", "workflow", "call-1")])
        assert told[f"w{number}"].ordinal == number
    assert other.apply([start("x", "main", "workflow", "call-2")])["x"].ordinal == 1
    assert account(store, "main").workflows == {"call-1": 5, "call-2": 1}


def test_who_runs_is_known_until_the_end(store: Store) -> None:
    store.apply([start("one", "main"), start("two", "main")])
    assert account(store, "main").children == {"one": 100.0, "two": 100.0}
    store.apply([Entry("end", "one", line=("main",)), Entry("tool", "two", 1, line=("main",), at=160.0)])
    assert account(store, "main").children == {"two": 160.0}
    store.apply([start("one", "main")])
    assert set(account(store, "main").children) == {"one", "two"}


def test_a_start_told_again_without_a_time_keeps_the_one_that_is_known(store: Store) -> None:
    again = Entry("start", "one", line=("main",), kind="subagent")
    store.apply([start("one", "main"), again])
    assert account(store, "main").children == {"one": 100.0}
    store.apply([Entry("end", "one", line=("main",)), again])
    assert account(store, "main").children == {"one": None}


def test_whoever_waits_for_an_agent_that_lives_is_alive_as_well(store: Store) -> None:
    store.apply([start("sub", "main"), start("leaf", "sub"), start("other", "main")])
    store.apply([Entry("tool", "leaf", 1, line=("sub", "main"), at=160.0)])
    assert account(store, "sub").children == {"leaf": 160.0}
    assert account(store, "main").children == {"sub": 160.0, "other": 100.0}


def test_an_agent_keeps_its_first_parent_and_circles_are_not_believed(store: Store) -> None:
    store.apply([start("b", "a"), start("c", "b")])
    store.apply([start("b", "z"), start("a", "c"), start("a", "a")])
    found = store.read(["a", "b", "c"])
    assert [found[name].parent for name in "abc"] == [None, "a", "b"]
    assert spent(store.apply([charge("c", 5)])["a"]) == (5, 0, 5)


def test_a_process_that_does_not_know_the_parents_charges_them_all_the_same(store: Store) -> None:
    store.apply([start("sub", "main"), start("leaf", "sub")])
    told = store.apply([charge("leaf", 5)])
    assert {name: each.family_spent for name, each in told.items()} == {"leaf": 5, "sub": 5, "main": 5}


def test_a_process_that_knows_the_parents_teaches_them(store: Store) -> None:
    told = store.apply([charge("leaf", 5, None, "sub", "main")])
    assert {name: each.family_spent for name, each in told.items()} == {"leaf": 5, "sub": 5, "main": 5}
    assert spent(account(store, "main")) == (5, 0, 5)


def test_sums_end_at_the_largest_exact_integer(store: Store) -> None:
    told = store.apply([charge("main", LARGEST - 1), charge("main", 10**30), charge("main", LARGEST)])
    assert spent(told["main"]) == (LARGEST, LARGEST, LARGEST)


def test_entries_are_added_all_or_none(store: Store) -> None:
    unknown = Entry("nonsense", "main")  # type: ignore[arg-type]
    with pytest.raises(Exception, match="nonsense"):
        store.apply([charge("main", 10), unknown])
    assert store.read(["main"]) == {}
    assert store.apply([charge("main", 1)])["main"].session_spent == 1


def test_the_last_denials_are_kept_newest_first(store: Store) -> None:
    store.apply([Entry("deny", "main", key="CODE", kind=f"net:{n}", at=float(n)) for n in range(KEPT_DENIALS + 50)])
    kept = store.denials(10_000)
    assert len(kept) == KEPT_DENIALS
    assert (kept[0].agent, kept[0].code, kept[0].what, kept[0].at) == ("main", "CODE", "net:249", 249.0)
    assert [denial.what for denial in store.denials(2)] == ["net:249", "net:248"]


def test_agents_are_listed_with_the_one_heard_of_last_first(store: Store) -> None:
    for name in ("one", "two", "three", "one"):
        store.apply([charge(name, 1)])
    assert [agent.name for agent in store.agents()] == ["one", "three", "two"]


def test_resetting_an_agent_forgets_all_that_it_started(store: Store) -> None:
    store.apply([start("sub", "main"), start("leaf", "sub"), charge("leaf", 5, "r1"), charge("other", 1)])
    store.apply([Entry("deny", "sub", key="CODE", kind="x", line=("main",))])
    assert sorted(store.reset("sub")) == ["leaf", "sub"]
    assert sorted(agent.name for agent in store.agents()) == ["main", "other"]
    assert account(store, "main").family_spent == 5  # what it was charged stays
    assert account(store, "main").children == {}
    assert store.denials(10) == []
    assert store.apply([charge("leaf", 2, "r1")])["leaf"].session_spent == 2


def test_resetting_budgets_keeps_everything_else(store: Store) -> None:
    store.apply([start("sub", "main"), charge("sub", 5, "r1"), Entry("tool", "sub", 1), Entry("pass", "sub", key="q")])
    store.apply([Entry("warn", "main", key="turnBudget")])
    assert sorted(store.reset(budget=True)) == ["main", "sub"]
    found = store.read(["main", "sub"])
    assert [spent(found[name]) for name in ("main", "sub")] == [(0, 0, 0), (0, 0, 0)]
    assert (found["main"].warned, found["main"].family_spenders) == (set(), {})
    assert (found["sub"].parent, found["sub"].tools, found["sub"].requests, found["sub"].passed) == (
        "main",
        1,
        1,
        {"q"},
    )
    assert store.apply([charge("sub", 5, "r1")])["sub"].session_spent == 0  # the same request still counts once


def test_resetting_whom_nobody_knows_changes_nothing(store: Store) -> None:
    store.apply([charge("main", 5)])
    assert store.reset("nobody") == []
    assert store.reset("") == []  # as from a shell whose variable is not set
    assert store.reset() == ["main"]
    assert store.reset() == []


def test_memories_come_back_as_they_were(store: Store, another: Callable[[], Store]) -> None:
    store.begin()
    store.apply([charge("main", 5)])
    store.remember({"main": b"\x00\xffmemory"})
    store.commit()
    assert another().memory("main") == b"\x00\xffmemory"
    assert another().memory("nobody") is None


def test_what_is_not_committed_is_forgotten(store: Store, another: Callable[[], Store]) -> None:
    store.begin()
    store.apply([charge("main", 5, "r1")])
    store.remember({"main": b"memory"})
    store.rollback()
    assert another().memory("main") is None
    assert another().apply([charge("main", 5, "r1")])["main"].session_spent == 5


def test_what_somebody_beside_the_engine_remembers_is_kept_apart(store: Store, another: Callable[[], Store]) -> None:
    store.remember({"main": b"memory"})
    store.keep_extra("main", b"extra")
    assert (another().memory("main"), another().extra("main"), another().extra("nobody")) == (b"memory", b"extra", None)


def test_calls_are_named_on_where_the_last_process_ended(store: Store, another: Callable[[], Store]) -> None:
    assert store.count_calls(0) == 0
    assert store.count_calls(7) == 7
    assert another().count_calls(3) == 7


def test_it_says_when_others_wrote(store: Store, another: Callable[[], Store]) -> None:
    store.changed()
    another().apply([charge("main", 5)])
    assert store.changed()


def test_all_stores_on_a_place_have_one_key(store: Store, another: Callable[[], Store]) -> None:
    assert len(store.key) == 32
    assert another().key == store.key
