"""The two tracks, row by row of the published test list of dsh-repeat-tool-breaker (named in the docstrings)."""

from __future__ import annotations

import pytest
from play import OK, Play, decisions, engine, exit_code, named

from breaker import Call, Result, Settled, UnknownCallError
from breaker.settings import preset

DEFAULTS = preset("repeat-tool-breaker")
WARN, SUMMARIZE = DEFAULTS.warn_at or 0, DEFAULTS.summarize_at or 0
FAIL_WARN, FAIL_LIMIT = DEFAULTS.fail_warn_at or 0, int(DEFAULTS.fail_limit or 0)
CAP, HOST_CAP = int(DEFAULTS.limits["exact"] or 0), int(DEFAULTS.limits["host"] or 0)
HTTP_404 = Result(content="not found", value={"statusCode": 404})


def until_stopped(play: Play, make: object, most: int = 40) -> int:
    """Which call, counted from one, is the first that does not run."""
    for number in range(1, most + 1):
        if make(number).decision != "allow":  # type: ignore[operator]
            return number
    return 0


def test_the_shipped_numbers_are_the_published_ones() -> None:
    """T14"""
    settings = DEFAULTS
    assert (settings.warn_at, settings.summarize_at, settings.fail_warn_at, settings.fail_limit) == (7, 11, 3, 5)
    assert (settings.window, settings.on_limit, settings.exclude) == (16, "ask", ("todo_write",))
    caps = settings.limits
    assert [caps[kind] for kind in ("exact", "cmd", "net", "sink", "host")] == [12, 12, 12, 12, 16]
    assert [caps[k] for k in ("site", "family:http-fetch", "verb:curl", "verb:wget")] == [None] * 4


def test_hosts_taking_turns_are_one_resource() -> None:
    """T1, loop C: an alias, another time-out and another spelling make no new action."""
    play = Play(onLimit="deny")
    hosts = ["https://open-data.canada.ca/d", "http://www.open.canada.ca:80/d/"]

    def fetch(n: int) -> object:
        return play.shell(f"curl --max-time {n} -o /tmp/{n}.html {hosts[n % 2]}")

    assert until_stopped(play, fetch) == CAP
    assert "net:open.canada.ca/d" in named(play.guard("bash", command=f"curl {hosts[0]}"))


def test_the_tracks_look_on_where_every_kind_has_a_cap() -> None:
    play = Play(onLimit="deny", limits=dict.fromkeys(DEFAULTS.limits, 6))
    assert until_stopped(play, lambda _: play.call("read", file_path="a.py")) == 6
    failing = Play(onLimit="deny", limits=dict.fromkeys(DEFAULTS.limits, 99))
    assert until_stopped(failing, lambda _: failing.shell("make", exit_code(2))) == FAIL_LIMIT + 1


@pytest.mark.parametrize("decoy", ["description", "timeoutMs"])
def test_a_decoy_argument_makes_no_new_action(decoy: str) -> None:
    """T2, T3, loop B"""
    play = Play(onLimit="deny")
    assert until_stopped(play, lambda n: play.shell("make check", **{decoy: n})) == CAP


def test_no_fingerprint_shows_a_decoy() -> None:
    """The singled-out assertion: neither the decoy's text nor the time-out stands in any fingerprint."""
    call = Call("main", "bash", {"command": "ls", "description": "1st-decoy", "timeoutMs": 61234}, "c")
    shown = engine().guard(call, explain=True).fingerprints
    assert shown
    assert not any("1st-decoy" in f.fingerprint or "61234" in f.fingerprint for f in shown)


def test_the_same_call_verbatim_is_stopped_at_the_cap() -> None:
    """Loop A"""
    play = Play(onLimit="deny")
    assert until_stopped(play, lambda _: play.call("read", file_path="a.py", offset=0)) == CAP


def test_one_retry_after_a_failure_passes_but_a_call_that_keeps_failing_is_stopped() -> None:
    """T2b"""
    play = Play(onLimit="deny")
    dns = Result(content="curl: (6) Could not resolve host", value={"kind": "foreground", "exitCode": 6})
    assert play.shell("curl https://a.example/x", dns).decision == "allow"
    assert play.shell("curl https://a.example/x").decision == "allow"
    again = Play(onLimit="deny")
    assert until_stopped(again, lambda _: again.shell("curl https://a.example/x", dns)) == FAIL_LIMIT + 1


def test_unrelated_calls_never_meet() -> None:
    """T4"""
    play = Play()
    assert until_stopped(play, lambda n: play.shell(f"python3 step_{n}.py")) == 0


def test_curl_and_wget_of_one_url_are_one_resource() -> None:
    """T5"""
    play = Play(onLimit="deny")
    programs = ["curl -s", "wget -q"]
    assert until_stopped(play, lambda n: play.shell(f"{programs[n % 2]} https://a.example/x")) == CAP


def test_an_excluded_tool_neither_counts_nor_resets_nor_takes_a_slot() -> None:
    """T6"""
    play = Play(onLimit="deny", window=4, limits={"exact": 3})
    play.call("read", file_path="a")
    play.call("read", file_path="a")
    assert until_stopped(play, lambda _: play.call("todo_write", todos=[]), most=20) == 0
    assert play.call("read", file_path="a").decision == "deny"


@pytest.mark.parametrize(
    ("pattern", "tool", "excluded"),
    [
        ("poll_*", "poll_job", True),
        ("*_job", "poll_job", True),
        ("poll_*", "Poll_job", False),
        ("poll_jo?", "poll_job", False),
        ("poll_jo[b]", "poll_job", False),
        ("poll_jo[b]", "poll_jo[b]", True),
        ("what?", "what?", True),
    ],
)
def test_an_asterisk_is_the_only_wildcard(pattern: str, tool: str, excluded: bool) -> None:
    play = Play(onLimit="deny", exclude=[pattern])
    assert until_stopped(play, lambda _: play.call(tool)) == (0 if excluded else CAP)


def test_only_included_tools_count_once_some_are_named() -> None:
    play = Play(onLimit="deny", include=["web_*"])
    assert until_stopped(play, lambda _: play.call("read", file_path="a")) == 0
    assert until_stopped(play, lambda _: play.call("web_fetch", url="https://a.example/")) == CAP


def test_a_tool_that_is_included_and_excluded_does_not_count() -> None:
    play = Play(onLimit="deny", include=["web_*"], exclude=["web_poll"])
    assert until_stopped(play, lambda _: play.call("web_poll", url="https://a.example/")) == 0


def test_one_agent_never_counts_for_another() -> None:
    """T7"""
    shared = engine(onLimit="deny")
    plays = [Play("main", shared), Play("sub", shared)]
    verdicts = [plays[n % 2].call("read", file_path="a") for n in range(2 * (CAP - 1))]
    assert set(decisions(verdicts)) == {"allow"}


def test_volatile_flags_make_no_new_command() -> None:
    """T8"""
    play = Play(onLimit="deny", limits={"net": None})
    flags = ["-s", "--max-time 30", "-sSL --retry 3", "--connect-timeout 5"]
    assert until_stopped(play, lambda n: play.shell(f"curl {flags[n % 4]} https://a.example/x")) == CAP


def test_another_position_of_a_file_is_another_action() -> None:
    """T10"""
    play = Play()
    assert until_stopped(play, lambda n: play.call("read", file_path="a.py", offset=100 * n)) == 0


def test_a_denied_call_spends_nothing_on_what_it_never_touched() -> None:
    """T11: only the identities that hit are committed, here the sink and not the address."""
    play = Play(onLimit="deny", limits={"sink": 3, "net": 3, "host": None})
    play.shell("curl -o f.html https://a.example/1")
    play.shell("curl -o f.html https://a.example/2")
    denied = [play.shell("curl -o f.html https://a.example/new") for _ in range(5)]
    assert [named(verdict) for verdict in denied] == [{"sink:f.html"}] * 5
    assert play.shell("curl https://a.example/new").decision == "allow"


def test_a_denied_call_cannot_be_retried_free() -> None:
    play = Play(onLimit="deny")
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    assert set(decisions([play.call("read", file_path="a") for _ in range(30)])) == {"deny"}


def test_a_denial_begins_with_its_code_and_quotes_the_earlier_result() -> None:
    """T12"""
    play = Play(onLimit="deny")
    for _ in range(CAP):
        verdict = play.call("read", Result(content="the 7 lines of a.py"), file_path="a.py")
    assert verdict.decision == "deny"
    assert verdict.code == "REPEAT_TOOL_BLOCKED"
    reason = verdict.reason or ""
    assert reason.startswith("REPEAT_TOOL_BLOCKED")
    assert "the 7 lines of a.py" in reason
    for said in ("12th", "description", "timeout", "--max-time", "host"):
        assert said in reason


def test_only_a_person_resets() -> None:
    """T12"""
    play = Play(onLimit="deny")
    for _ in range(CAP):
        play.call("read", file_path="a")
    assert play.engine.user_turn("main", "plugin") is False
    assert play.call("read", file_path="a").decision == "deny"
    assert play.engine.user_turn("main", "user") is True
    assert play.call("read", file_path="a").decision == "allow"


def test_volume_is_no_loop() -> None:
    """T14b: four hundred different files of one program, and no address twice."""
    play = Play()
    assert until_stopped(play, lambda n: play.shell(f"wc -l src/{n}.py"), most=400) == 0


def test_pages_are_new_resources_and_the_host_adds_up() -> None:
    """T14c"""
    play = Play(onLimit="deny")

    def page(n: int) -> object:
        return play.call("web_fetch", url=f"https://api.example/items?page={n}")

    assert until_stopped(play, page) == HOST_CAP
    assert named(play.guard("web_fetch", url="https://api.example/items?page=99")) == {"host:api.example"}


def test_the_occurrence_stages_come_in_turn_and_once() -> None:
    """T24"""
    play = Play(onLimit="deny")
    told: dict[int, list[str]] = {}
    for number in range(1, CAP):
        play.call("read", file_path="a")
        told[number] = [f"{advisory.gate} {advisory.stage}" for advisory in play.reports[-1].advisories]
    assert {n: stages for n, stages in told.items() if stages} == {
        WARN: ["repeat warn"],
        SUMMARIZE: ["repeat summarize"],
    }
    assert play.call("read", file_path="a").decision == "deny"


def test_the_host_measure_adds_up_over_paths_and_leaves_local_hosts_out() -> None:
    """T25"""
    play = Play()
    for number in range(1, WARN + 1):
        play.call("web_fetch", url=f"https://a.example/{number}")
    assert play.stages == [("warn", "host:a.example", WARN)]
    assert until_stopped(play, lambda n: play.call("web_fetch", url=f"http://localhost:8080/{n}")) == 0


def test_an_exemption_covers_the_measure_that_hit_and_no_other() -> None:
    """T26"""
    play = Play(limits={"net": 3, "exact": 5})
    for _ in range(2):
        play.call("web_fetch", url="https://a.example/x")
    asked = play.call("web_fetch", url="https://a.example/x")
    assert (asked.decision, named(asked)) == ("ask", {"net:a.example/x"})
    assert play.engine.approve("main", asked.call_id, "approved").decision == "allow"
    play.engine.settle(Settled("main", OK, asked.call_id))
    assert play.call("web_fetch", url="https://a.example/x").decision == "allow"
    exact = play.call("web_fetch", url="https://a.example/x")
    assert exact.decision == "ask"
    assert all((hit.fingerprint or "").startswith("exact:") for hit in exact.hits)


@pytest.mark.parametrize("off", [0, -1, None])
def test_a_stage_that_is_off_says_nothing(off: int | None) -> None:
    """T27, T14d"""
    play = Play(warnAt=off, summarizeAt=off)
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    assert [a for report in play.reports for a in report.advisories] == []


def test_settings_are_not_checked_against_each_other() -> None:
    """T14e: a cap under a stage is no mistake, it means that the measure does not escalate."""
    play = Play(limits={"exact": 5}, warnAt=7, onLimit="deny")
    assert until_stopped(play, lambda _: play.call("read", file_path="a")) == 5
    assert [a for report in play.reports for a in report.advisories] == []


def test_an_approval_stops_the_counting_for_the_turn() -> None:
    """T20, T21: any measure can be asked about, and an exempt one is neither counted nor escalated."""
    play = Play(limits={"exact": 8})
    for _ in range(7):
        play.call("read", file_path="a")
    asked = play.call("read", file_path="a")
    assert asked.decision == "ask"
    assert play.engine.approve("main", asked.call_id, "approved").decision == "allow"
    play.reports.clear()
    assert set(decisions([play.call("read", file_path="a") for _ in range(30)])) == {"allow"}
    assert [a for report in play.reports for a in report.advisories] == []


def test_what_is_exempted_while_a_call_runs_is_not_warned_of_when_it_ends() -> None:
    play = Play(warnAt=2, limits={"exact": 3})
    play.call("read", file_path="a")
    running = play.guard("read", file_path="a")
    asked = play.guard("read", file_path="a")
    play.engine.approve("main", asked.call_id, "approved")
    assert play.engine.settle(Settled("main", OK, running.call_id)).advisories == ()


@pytest.mark.parametrize("explain", [False, True])
def test_to_be_explained_changes_no_verdict(explain: bool) -> None:
    """Identities without a cap are shown then; exempt calls take no slot for their sake and push nothing out."""
    play = Play(window=4, limits={"exact": 2, "cmd": 2})
    play.call("read", file_path="a")
    play.shell("make")
    asked = play.shell("make")
    play.engine.approve("main", asked.call_id, "approved")
    for number in range(4):
        play.engine.guard(Call("main", "bash", {"command": "make"}, f"again-{number}"), explain=explain)
    assert play.guard("read", file_path="a").decision == "ask"


@pytest.mark.parametrize("outcome", ["rejected", "cancelled", "unavailable"])
def test_a_declined_ask_denies_without_asking_again(outcome: str) -> None:
    """T22"""
    play = Play()
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    asked = play.call("read", file_path="a")
    answer = play.engine.approve("main", asked.call_id, outcome)  # type: ignore[arg-type]
    assert (answer.decision, answer.code) == ("deny", "REPEAT_TOOL_BLOCKED")
    later = play.call("read", file_path="a")
    assert later.decision == "deny"
    assert "exemption" in (later.reason or "")


def test_a_person_clears_exemptions_and_refusals() -> None:
    """T23"""
    play = Play()
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    play.engine.approve("main", play.call("read", file_path="a").call_id, "rejected")
    play.engine.user_turn("main")
    for _ in range(CAP - 1):
        assert play.call("read", file_path="a").decision == "allow"
    assert play.call("read", file_path="a").decision == "ask"


def test_while_one_question_is_open_the_same_identity_is_not_asked_about_again() -> None:
    play = Play()
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    assert play.guard("read", file_path="a").decision == "ask"
    assert play.guard("read", file_path="a").decision == "deny"


def test_a_call_that_waits_for_another_ones_answer_is_told_so() -> None:
    play = Play()
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    asked = play.guard("read", file_path="a")
    assert "operator is being asked" in (play.guard("read", file_path="a").reason or "")
    play.engine.approve("main", asked.call_id, "rejected")
    later = play.guard("read", file_path="a").reason or ""
    assert "operator is being asked" not in later
    assert "exemption" in later


def test_an_approval_that_comes_after_the_next_message_exempts_nothing_and_the_call_counts() -> None:
    play = Play(limits={"exact": 3})
    for _ in range(2):
        play.call("read", file_path="a")
    asked = play.guard("read", file_path="a")
    play.engine.user_turn("main")
    assert play.engine.approve("main", asked.call_id, "approved").decision == "allow"
    status = play.engine.status("main")["agents"]["main"]
    assert (status["exempt"], status["window"]["calls"]) == ([], 1)
    assert play.call("read", file_path="a").decision == "allow"
    assert play.call("read", file_path="a").decision == "ask"


def test_a_refusal_that_comes_after_the_next_message_refuses_nothing() -> None:
    play = Play(limits={"exact": 3})
    for _ in range(2):
        play.call("read", file_path="a")
    asked = play.guard("read", file_path="a")
    play.engine.user_turn("main")
    assert play.engine.approve("main", asked.call_id, "cancelled").decision == "deny"
    status = play.engine.status("main")["agents"]["main"]
    assert (status["refused"], status["window"]["calls"]) == ([], 0)


def test_a_guard_that_is_sent_again_asks_the_same_question_again() -> None:
    play = Play(limits={"exact": 2})
    play.call("read", file_path="a")
    call = Call("main", "read", {"file_path": "a"}, "same")
    assert play.engine.guard(call) == play.engine.guard(call)
    assert play.engine.approve("main", "same", "approved").decision == "allow"


def test_a_question_that_can_be_put_to_nobody_any_more_is_a_denial() -> None:
    play = Play(limits={"exact": 2})
    play.call("read", file_path="a")
    assert play.engine.guard(Call("main", "read", {"file_path": "a"}, "same")).decision == "ask"
    denied = play.engine.guard(Call("main", "read", {"file_path": "a"}, "same", can_ask=False))
    assert denied.decision == "deny"
    assert "being asked" not in (denied.reason or "")
    with pytest.raises(UnknownCallError):
        play.engine.approve("main", "same", "approved")


def test_another_call_under_the_id_of_an_open_question_is_judged_by_itself() -> None:
    play = Play(limits={"exact": 2})
    play.call("read", file_path="a")
    assert play.engine.guard(Call("main", "read", {"file_path": "a"}, "same")).decision == "ask"
    assert play.engine.guard(Call("main", "read", {"file_path": "b"}, "same")).decision == "allow"


def test_a_question_that_is_asked_again_is_explained_again() -> None:
    play = Play(limits={"exact": 2})
    play.call("read", file_path="a")
    call = Call("main", "read", {"file_path": "a"}, "same")
    assert play.engine.guard(call, explain=True) == play.engine.guard(call, explain=True)


def test_where_nobody_can_be_asked_the_answer_is_a_denial() -> None:
    play = Play()
    for _ in range(CAP - 1):
        play.call("read", file_path="a")
    assert play.engine.guard(Call("main", "read", {"file_path": "a"}, "x", can_ask=False)).decision == "deny"


@pytest.mark.parametrize(("allow", "stopped"), [("deny", CAP), ("allow", 0)])
def test_local_addresses_count_as_configured(allow: str, stopped: int) -> None:
    """T17, T18, T19: `deny` counts the address; `allow` leaves the exact action alone to count."""
    play = Play(onLimit="deny", localHosts=allow, limits={"exact": 99, "cmd": 99}, window=100)
    assert until_stopped(play, lambda n: play.shell(f"curl -d '{n}' -G http://127.0.0.1:9/x; : {n}")) in (0, stopped)
    assert until_stopped(play, lambda _: play.call("web_fetch", url="http://10.0.0.7/x", n=play.calls)) == stopped


def test_one_public_address_makes_a_local_call_public() -> None:
    """T17"""
    play = Play(onLimit="deny", localHosts="allow")
    both = "curl http://127.0.0.1:9/{n} https://a.example/y"
    assert until_stopped(play, lambda n: play.shell(both.format(n=n))) == CAP


def test_four_addresses_may_share_the_null_device() -> None:
    play = Play(onLimit="deny", limits={"sink": 2, "host": None})
    verdicts = [play.shell(f"curl -s -o /dev/null https://{h}.example/") for h in "abcd"]
    assert set(decisions(verdicts)) == {"allow"}


def test_failures_in_a_row_are_told_with_the_reason_and_not_as_a_command_line() -> None:
    """T30"""
    play = Play()
    for number in range(FAIL_WARN):
        play.call("web_fetch", HTTP_404, url=f"https://api.invalid.example/v{number}")
    assert play.stages == [("failWarn", "host:api.invalid.example", FAIL_WARN)]
    (advisory,) = play.reports[-1].advisories
    assert advisory.gate == "failure"
    assert advisory.text.startswith("CONVERGENCE_CHECK:")
    assert "http 404" in advisory.text


@pytest.mark.parametrize(
    ("caps", "told"), [({}, "exact:look:{}"), ({"family:http-fetch": FAIL_WARN + 9}, "family:http-fetch")]
)
def test_an_exact_call_is_named_in_the_failure_advisory_only_where_there_is_nothing_else(
    caps: dict[str, int], told: str
) -> None:
    """T30"""
    play = Play(limits={"host": None, "net": None, **caps})
    for _ in range(FAIL_WARN):
        play.call("web_fetch" if caps else "look", HTTP_404, **({"url": "https://a.example/"} if caps else {}))
    assert play.stages == [("failWarn", told, FAIL_WARN)]


def test_what_neither_failed_nor_succeeded_brings_no_failure_advisory() -> None:
    play = Play()
    for _ in range(FAIL_WARN):
        play.shell("make", exit_code(2))
    play.shell("make", Result(content="started", value={"kind": "background", "jobId": "j"}))
    assert play.stages == []


def test_the_failing_target_is_stopped_and_the_recovery_is_not() -> None:
    """T31"""
    play = Play(onLimit="deny")
    for _ in range(FAIL_LIMIT):
        assert play.shell("make build", exit_code(2)).decision == "allow"
    stopped = play.shell("make build")
    assert stopped.decision == "deny"
    assert {hit.gate for hit in stopped.hits} == {"failure"}
    assert play.shell("grep -n error build.log").decision == "allow"
    assert play.shell("make -C other build").decision == "allow"


def test_only_its_own_success_ends_a_streak() -> None:
    """T32"""
    play = Play(onLimit="deny")
    for _ in range(FAIL_LIMIT - 1):
        play.shell("make build", exit_code(2))
    play.shell("cat Makefile")
    play.shell("make build", exit_code(2))
    assert play.shell("make build").decision == "deny"
    fresh = Play(onLimit="deny")
    for result in [exit_code(2)] * (FAIL_LIMIT - 1) + [OK] + [exit_code(2)] * (FAIL_LIMIT - 1):
        assert fresh.shell("make build", result).decision == "allow"


def test_its_own_denial_is_no_failure() -> None:
    """T33"""
    play = Play(onLimit="deny", limits={"exact": 2, "cmd": None})
    play.call("read", file_path="a")
    for _ in range(FAIL_LIMIT + 1):
        assert play.call("read", file_path="a").decision == "deny"
    assert play.engine.status("main")["agents"]["main"]["streaks"] == {}


def test_a_denial_of_another_policy_is_a_failure() -> None:
    play = Play(onLimit="deny")
    refused = Result(content="Error: not permitted", is_error=True, error={"code": "PERMISSION"})
    assert until_stopped(play, lambda _: play.shell("rm -r build", refused)) == FAIL_LIMIT + 1


def test_a_measure_without_a_cap_has_no_streak() -> None:
    """T34"""
    play = Play(onLimit="deny", limits={"exact": None, "cmd": None})
    assert until_stopped(play, lambda _: play.shell("make build", exit_code(2))) == 0
    assert all(report.advisories == () for report in play.reports)


def test_without_a_failure_limit_the_advisory_stays_and_comes_once() -> None:
    """T35"""
    play = Play(onLimit="deny", failLimit=None, warnAt=0, summarizeAt=0)
    for _ in range(CAP - 1):
        assert play.shell("make", exit_code(2)).decision == "allow"
    assert [a.stage for report in play.reports for a in report.advisories] == ["failWarn"]


def test_without_the_failure_advisory_the_gate_stays() -> None:
    """T36"""
    play = Play(onLimit="deny", failWarnAt=0)
    assert until_stopped(play, lambda _: play.shell("make", exit_code(2))) == FAIL_LIMIT + 1
    assert all(report.advisories == () for report in play.reports)


def test_background_starts_and_aborts_neither_grow_nor_end_a_streak() -> None:
    play = Play(onLimit="deny")
    neutral = [
        Result(content="started", value={"kind": "background", "jobId": "j"}),
        Result(content="Error: aborted", is_error=True, error={"code": "ABORTED"}),
    ]
    for result in [exit_code(2)] * 4 + neutral + [exit_code(2)]:
        assert play.shell("make", result).decision == "allow"
    assert play.shell("make").decision == "deny"


def test_an_outcome_that_is_told_twice_counts_once() -> None:
    play = Play()
    verdict = play.guard("bash", command="make")
    settled = Settled("main", exit_code(2), verdict.call_id, "bash", {"command": "make"})
    play.engine.settle(settled)
    with pytest.raises(UnknownCallError, match="settled already"):
        play.engine.settle(settled)
    streaks = play.engine.status("main")["agents"]["main"]["streaks"]
    assert {streak["count"] for streak in streaks.values()} == {1}


def test_an_id_may_be_used_again_for_another_call() -> None:
    """Some models name the calls of every response `call_0`, `call_1`, …"""
    play = Play(onLimit="deny")
    for _ in range(FAIL_LIMIT):
        assert play.engine.guard(Call("main", "bash", {"command": "make"}, "call_0")).decision == "allow"
        play.engine.settle(Settled("main", exit_code(2), "call_0", "bash", {"command": "make"}))
    read = Settled("main", Result(is_error=True), "call_0", "read", {"path": "a"})  # never guarded
    assert play.engine.settle(read).failure is not None
    assert play.engine.guard(Call("main", "bash", {"command": "make"}, "call_0")).decision == "deny"


@pytest.mark.parametrize("said", ["content", "error"])
def test_a_denial_that_comes_back_without_an_id_is_not_taken_for_an_open_call(said: str) -> None:
    play = Play(onLimit="deny", limits={"exact": 3, "cmd": None})
    play.shell("make")
    running = play.guard("bash", command="make")
    denied = play.guard("bash", command="make")
    assert (running.decision, denied.decision) == ("allow", "deny")
    told = Result(denied.reason, is_error=True) if said == "content" else Result(None, None, True, denied.reason)
    assert play.engine.settle(Settled("main", told, tool="bash", arguments={"command": "make"})).failure is None
    assert play.engine.settle(Settled("main", exit_code(2), running.call_id)).failure is not None


def test_an_outcome_of_an_earlier_turn_is_dropped() -> None:
    play = Play(onLimit="deny")
    late = [play.guard("bash", command="make") for _ in range(FAIL_LIMIT)]
    play.engine.user_turn("main")
    for verdict in late:
        assert play.engine.settle(Settled("main", exit_code(2), verdict.call_id)).advisories == ()
    assert play.shell("make").decision == "allow"


def test_a_call_approved_after_the_next_message_is_seen_through_in_the_turn_it_runs_in() -> None:
    play = Play(limits={"exact": 2, "cmd": None}, failWarnAt=1)
    play.shell("make")
    asked = play.shell("make")
    play.engine.user_turn("main")
    play.engine.approve("main", asked.call_id, "approved")
    report = play.engine.settle(Settled("main", exit_code(2), asked.call_id))
    assert [advisory.stage for advisory in report.advisories] == ["failWarn"]


def test_an_outcome_pairs_by_call_id_whatever_its_arguments_now_say() -> None:
    play = Play(onLimit="deny")
    for _ in range(FAIL_LIMIT):
        verdict = play.guard("bash", command="make")
        play.engine.settle(Settled("main", exit_code(2), verdict.call_id, "bash", {"command": "make -j8"}))
    assert play.shell("make").decision == "deny"
    assert play.shell("make -j8").decision == "allow"


def test_an_outcome_without_an_id_means_the_oldest_open_call_like_it() -> None:
    play = Play(onLimit="deny")
    for name in ("a", "b", "a"):
        play.guard("bash", command=f"make {name}")
    for _ in range(2):
        play.engine.settle(Settled("main", exit_code(2), tool="bash", arguments={"command": "make a"}))
    streaks = play.engine.status("main")["agents"]["main"]["streaks"]
    assert {name: streak["count"] for name, streak in streaks.items() if name.startswith("cmd:")} == {
        name: 2 for name in streaks if name.startswith("cmd:")
    }
    assert len([name for name in streaks if name.startswith("cmd:")]) == 1


def test_a_call_that_was_never_guarded_is_seen_by_the_failure_track_alone() -> None:
    play = Play(onLimit="deny")
    for _ in range(FAIL_LIMIT):
        play.engine.settle(Settled("main", exit_code(2), tool="bash", arguments={"command": "make"}))
    assert play.engine.status("main")["agents"]["main"]["window"]["calls"] == 0
    assert {hit.gate for hit in play.shell("make").hits} == {"failure"}


def test_switched_off_it_allows_everything_and_counts_nothing() -> None:
    play = Play(enabled=False)
    assert until_stopped(play, lambda _: play.call("read", file_path="a")) == 0
    play.engine.agent_started("sub", "main", "subagent")
    play.engine.compacted("main")
    play.engine.user_turn("main")
    play.engine.agent_ended("sub")
    assert play.engine.status()["enabled"] is False
    assert play.engine.status()["agents"] == {}
