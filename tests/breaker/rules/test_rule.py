"""The adaptive rules as a whole: which of them look, what stays shut, what is said before a stop."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from entries import call, evidence, settled
from judgement.play import HERE, cases, play

from breaker import Call, Engine, Layer, Result, Settled, Usage, Verdict, resolve
from breaker.adaptive_limits import RULES as NAMES
from breaker.adaptive_limits import Limits
from breaker.events import Annotations
from breaker.evidence.facts import Facts
from breaker.evidence.log import Entry, Log, Shut
from breaker.rules.adaptive import rule
from breaker.rules.adaptive.assess import RULES, assess
from breaker.rules.adaptive.base import Finding, case


class Agent:
    """One agent under the profile `adaptive`, every call settled at once when it may run."""

    now: float | None = None

    def __init__(self, **config: Any) -> None:
        self.engine = Engine(resolve([Layer("test", {"profile": "adaptive", **config})]).settings)
        self.told: list[tuple[str, str, int, str | None]] = []
        self.calls = 0

    def call(self, tool: str, content: str = "text", explain: bool = False, **arguments: Any) -> Verdict:
        return self.annotated(None, tool, content, explain, **arguments)

    def annotated(
        self, annotations: Annotations | None, tool: str, content: str, explain: bool = False, **arguments: Any
    ) -> Verdict:
        self.calls += 1
        name = f"c{self.calls}"
        given = Call("main", tool, arguments, name, step=name, can_ask=False, at=self.now, annotations=annotations)
        verdict = self.engine.guard(given, explain=explain)
        if verdict.decision == "allow":
            report = self.engine.settle(Settled("main", Result(content), name, at=self.now))
            self.told = [(each.gate, each.stage, each.count, each.fingerprint) for each in report.advisories]
        return verdict

    def ran(self, times: int, tool: str = "read_file", **arguments: Any) -> str:
        """`+` for each of so many equal calls that ran, `-` for each that did not."""
        given = arguments or {"path": "a.py"}
        return "".join("+" if self.call(tool, **given).decision == "allow" else "-" for _ in range(times))


class TestWhichRulesLook:
    def test_a_rule_that_is_off_finds_nothing(self) -> None:
        log = evidence([settled()] * 3)
        gates = {finding.gate for finding in assess(call(), log, Limits())}
        assert gates == {"sameAnswer", "looseKey", "numbers", "noNews"}
        left = assess(call(), log, Limits(), off=frozenset({"sameAnswer", "noNews"}))
        assert {finding.gate for finding in left} == {"looseKey", "numbers"}

    def test_evidence_older_than_half_an_hour_is_none(self) -> None:
        log = evidence([settled(at=1000.0, until=1000.0)] * 3)
        assert assess(call(), log, Limits(), 1000.0 + 1800)
        assert assess(call(), log, Limits(), 1000.0 + 1801) == []

    def test_with_every_rule_off_nothing_is_kept(self) -> None:
        agent = Agent(adaptive=dict.fromkeys(NAMES, False))
        assert agent.ran(20) == "+" * 20
        assert agent.engine.snapshot()["agents"]["main"]["evidence"] is None
        one_left = Agent(adaptive=dict.fromkeys(NAMES[1:], False))
        assert one_left.ran(6) == "++++--"

    def test_the_kind_that_settings_give_a_tool_counts_however_its_name_is_written(self) -> None:
        assert Agent(toolClasses={"Read_File": "act"}).ran(12) == "+" * 10 + "--"

    def test_a_tool_that_settings_say_starts_agents_is_one_unless_its_kind_is_given(self) -> None:
        few = {"depth": 5, "children": 2}
        for classes, expected in (({}, "-"), ({"launch": "read"}, "+")):
            agent = Agent(spawnTools=["Launch"], toolClasses=classes, adaptive=few)
            for name in ("one", "two"):
                agent.engine.agent_started(name, "main", "subagent")
            assert agent.ran(1, "LAUNCH", what="it") == expected

    def test_the_same_request_by_another_program_is_the_same_call(self) -> None:
        agent = Agent()
        url = "https://a.example/items"
        commands = [f"curl -s {url}", f"wget -qO- {url}"] * 2
        assert "".join(agent.ran(1, "bash", command=command) for command in [*commands, commands[0]]) == "++++-"
        assert agent.ran(1, "bash", command="curl -s https://a.example/others") == "+"

    @pytest.mark.parametrize(("limits", "ran"), [({}, 20), ({"emptyList": 5}, 5), ({"nothingFound": 5}, 20)])
    def test_of_empty_lists_asked_for_by_name_as_many_run_as_their_own_limit_says(
        self, limits: dict[str, int], ran: int
    ) -> None:
        agent = Agent(adaptive=limits)
        decisions = [agent.call("list_items", "[]", folder=name).decision for name in "abcdefghijklmnopqrstuvw"]
        assert decisions.index("deny") == ran

    @pytest.mark.parametrize(("limits", "ran"), [({}, 14), ({"nothingFound": 5}, 5)])
    def test_of_guesses_at_what_is_not_there_as_many_run_as_of_searches(self, limits: dict[str, int], ran: int) -> None:
        agent = Agent(adaptive={"sameFailure": False, **limits})
        decisions = [agent.call("get_item", "404 Not Found", id=name).decision for name in "abcdefghijklmnopqrstuvw"]
        assert decisions.index("deny") == ran

    def test_the_start_of_an_agent_can_be_repeated_too_often_as_any_call_can(self) -> None:
        assert Agent().ran(12, "Task", prompt="look into it") == "+" * 10 + "--"

    def test_more_calls_than_are_described_at_a_time_are_described_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rule, "_CACHED", 2)
        agent = Agent()
        ran = "".join(agent.ran(1, path=f"{number}.py") for _ in range(5) for number in range(3))
        assert ran == "+" * 12 + "---"

    def test_what_the_harness_says_of_a_call_is_part_of_what_it_is(self) -> None:
        agent = Agent()
        looks, deeds = Annotations(read_only_hint=True), Annotations(read_only_hint=False)
        for _ in range(3):
            agent.annotated(looks, "zorp", "text", about="a")
        last = agent.annotated(deeds, "zorp", "text", about="a")
        assert last.decision == "allow"
        kinds = [entry["kind"] for entry in agent.engine.snapshot()["agents"]["main"]["evidence"]["entries"]]
        assert kinds[:3] == ["read"] * 3
        assert kinds[3] != "read"


def test_a_rule_that_is_not_asked_would_have_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at all; or no repetition, where only those that count repetitions are not asked."""

    def checked(facts: Facts, log: Log, limits: Limits, now: float | None, off: Collection[str]) -> list[Finding]:
        found = assess(facts, log, limits, now, off)
        about = case(facts, log, limits, now)
        every = [(name, finding) for name, asked in RULES.items() for finding in asked.rule(about)]
        if not log.shut:
            assert found == [finding for name, finding in every if name not in off or finding.count > 1]
        return found

    monkeypatch.setattr(rule, "assess", checked)
    for session in cases(HERE / "loops.jsonl"):
        play(session)


class TestWhatStaysShut:
    WHY = Shut("noNews", 12, 12, "12 steps in a row")

    def shut(self, key: str, *entries: Entry) -> Log:
        log = evidence(entries)
        log.shut[key] = self.WHY
        return log

    @pytest.mark.parametrize("key", ["the call", "its kin"])
    def test_a_call_that_was_stopped_is_found_shut_for_the_same_reason(self, key: str) -> None:
        facts = call(strict="the call", loose="its kin")
        (finding,) = assess(facts, self.shut(key), Limits())
        assert (finding.gate, finding.count, finding.limit, finding.detail) == ("noNews", 12, 12, "12 steps in a row")
        assert finding.scope == ""

    def test_another_call_is_not(self) -> None:
        assert assess(call(about="other"), self.shut("read a"), Limits()) == []

    def test_what_is_at_a_limit_again_gives_its_own_reason(self) -> None:
        gates = [f.gate for f in assess(call(), self.shut("read a", *[settled()] * 4), Limits()) if f.count >= f.limit]
        assert gates == ["sameAnswer"]
        below = assess(call(), self.shut("read a", *[settled()] * 3), Limits())
        assert [f.gate for f in below if f.count >= f.limit] == ["noNews"]

    def test_of_a_loose_repetition_every_spelling_is_shut(self) -> None:
        agent = Agent()
        issue = "17, open: the clock of the server runs two hours late"
        pages = [agent.call("list_issues", issue, page=number).decision for number in range(11)]
        assert pages == ["allow"] * 9 + ["deny"] * 2
        self.look_around(agent)
        assert agent.call("list_issues", issue, page=99).decision == "deny"

    def look_around(self, agent: Agent) -> None:
        for number in range(45):
            agent.call("read_file", f"text {number} of {'abcdefghij'[number % 10] * 5}", path=f"{number}.py")

    def test_a_command_stays_shut_however_long_ago_it_was_stopped(self) -> None:
        agent = Agent()
        assert agent.ran(5, "bash", command="git log -1") == "++++-"
        self.look_around(agent)
        assert agent.ran(1, "bash", command="git log -1") == "-"

    def test_of_a_call_that_was_repeated_as_it_is_no_other_spelling_is_shut(self) -> None:
        agent = Agent()
        assert agent.ran(5, "list_issues", page=1) == "++++-"
        self.look_around(agent)
        assert [agent.ran(1, "list_issues", page=page) for page in (1, 2)] == ["-", "+"]

    def test_what_other_gates_stop_is_not_shut(self) -> None:
        agent = Agent(repeatLimit=2, maxTokens=10)
        assert agent.ran(2, "grep", pattern="x") == "+-"
        agent.engine.usage(Usage("main", input_tokens=10))
        assert agent.ran(1, "grep", pattern="y") == "-"
        assert agent.engine.snapshot()["agents"]["main"]["evidence"]["shut"] == {}


class TestWhatIsSaidBefore:
    @pytest.mark.parametrize(("limit", "told"), [(3, 2), (4, 3), (6, 4), (7, 5), (10, 7)])
    def test_at_two_thirds_of_a_limit_the_agent_is_told_once(self, limit: int, told: int) -> None:
        agent = Agent(adaptive={"look": limit, "looseKey": False, "noNews": None, "numbers": None, "reread": None})
        heard = []
        for number in range(1, limit + 1):
            agent.call("read_file", path="a.py")
            if agent.told:
                heard.append((number, agent.told))
        assert heard == [(told, [("sameAnswer", "warn", told, 'exact:read_file:{"path":"a.py"}')])]

    def test_what_is_too_old_is_not_told_either(self) -> None:
        agent = Agent(adaptive={"numbers": None})
        agent.now = 1000.0
        agent.ran(2)
        agent.now += 1801
        agent.ran(1)
        assert agent.told == []

    def test_an_abort_is_no_evidence_and_nothing_to_tell(self) -> None:
        agent = Agent()
        agent.engine.guard(Call("main", "read_file", {"path": "a.py"}, "first"))
        aborted = Result(is_error=True, error={"code": "ABORTED"})
        assert agent.engine.settle(Settled("main", aborted, "first")).advisories == ()
        assert agent.ran(5) == "++++-"

    def test_of_two_repetitions_nothing_is_told_where_the_second_is_the_last(self) -> None:
        agent = Agent(adaptive={"look": 2, "looseKey": False, "noNews": None, "numbers": None})
        agent.ran(1)
        assert agent.told == []
        agent.ran(1)
        assert agent.told == []

    def test_the_command_stands_for_the_call_and_what_was_seen_is_said(self) -> None:
        agent = Agent()
        agent.ran(2, "bash", command="git log -1")
        agent.calls += 1
        agent.engine.guard(Call("main", "bash", {"command": "git log -1"}, "last", step="last"))
        (advisory,) = agent.engine.settle(Settled("main", Result("text"), "last")).advisories
        assert advisory.fingerprint is not None
        assert advisory.fingerprint.startswith("cmd:git:git log -1")
        assert "3 times the same answer" in advisory.text
        assert "(limit 4)" in advisory.text

    def test_what_an_operator_let_go_on_is_not_told(self) -> None:
        agent = Agent(adaptive={"look": 4, "looseKey": False, "noNews": 9, "numbers": None})
        agent.ran(4)
        asked = agent.engine.guard(Call("main", "read_file", {"path": "a.py"}, "asked", step="asked"))
        assert asked.decision == "ask"
        agent.engine.approve("main", "asked", "approved")
        assert agent.engine.settle(Settled("main", Result("text"), "asked")).advisories == ()
        for _ in range(20):
            assert agent.call("read_file", path="a.py").decision == "allow"
            assert agent.told == []

    def test_an_explained_call_shows_where_every_rule_stands(self) -> None:
        agent = Agent()
        agent.ran(2)
        stands = {hit.gate: hit for hit in agent.call("read_file", explain=True, path="a.py").rules or ()}
        hit = stands["sameAnswer"]
        assert (hit.count, hit.limit, hit.fingerprint) == (2, 4, 'exact:read_file:{"path":"a.py"}')


def test_a_rule_can_be_exempt_as_a_whole_tool() -> None:
    agent = Agent()
    for number in range(6):
        agent.engine.guard(Call("main", "edit", {"path": "a.py", "old": f"x{number}"}, f"e{number}", step=f"e{number}"))
        agent.engine.settle(Settled("main", Result("Error: no match", is_error=True), f"e{number}"))
    asked = agent.engine.guard(Call("main", "edit", {"path": "a.py", "old": "y"}, "asked", step="asked"))
    assert (asked.decision, [hit.fingerprint for hit in asked.hits]) == ("ask", ["tool:edit"])
    agent.engine.approve("main", "asked", "approved")
    agent.engine.settle(Settled("main", Result("Error: no match", is_error=True), "asked"))
    assert agent.call("edit", "Error: no match", path="a.py", old="z").decision == "allow"
