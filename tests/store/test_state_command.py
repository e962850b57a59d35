"""`toolbreaker state`: what a person sees, and a person's way out."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest
from keeping import RedisServer
from support import PATIENCE, Server, command_line, environment, run, until

from breaker.state import Entry
from protocol.commands.state import bar
from protocol.store.sqlite import open_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "state.sqlite"
    store = open_file(path)
    store.apply(
        [
            Entry("turn", "main"),
            Entry("start", "helper", line=("main",), kind="subagent", at=1.0),
            Entry("charge", "main", 30, "r1"),
            Entry("charge", "helper", 20, "r2"),
            Entry("tool", "helper", 1),
            Entry("deny", "main", key="LOOP_GUARD_REPEAT", kind="exact:read:{}#0123456789abcdef", at=86_400.0),
            Entry("charge", "else\x1b[31mwhere", 1),
        ]
    )
    store.close()
    return path


def out(*arguments: str, status: int = 0) -> str:
    ended = run(*arguments)
    assert ended.returncode == status, ended.stderr.decode()
    return ended.stdout.decode() or ended.stderr.decode()


def test_agents_turns_budgets_and_denials_are_shown(path: Path) -> None:
    shown = out("state", "--state", str(path), "--max-tokens", "100", "--family-max-tokens", "40")
    assert f"{path}: 3 agents" in shown
    assert "main: 1 turn, just seen" in shown
    assert "██████████░░░░░░░░░░  50 of 100 tokens (50 %)" in shown
    assert "████████████████████  50 of 40 tokens (125 %)" in shown
    assert "  helper (subagent of main): 0 turns" in shown
    assert "1 model request, 0 tool calls, 1 running" in shown
    assert "1 model request, 1 tool call\n" in shown
    assert "1 running" in shown
    assert "main  LOOP_GUARD_REPEAT  exact:read:{}\n" in shown
    assert "\x1b" not in shown


def test_what_would_have_been_stopped_in_shadow_is_shown_as_such(tmp_path: Path) -> None:
    path = str(tmp_path / "state.sqlite")
    with Server("--state", path, "--shadow", "--repeat-limit", "2") as server:
        for number in range(2):
            told = server.call("guard", callId=f"c{number}", tool="read", arguments={"file_path": "a.py"})
        assert server.close() == 0
    assert (told["decision"], told["wouldHave"]) == ("allow", "deny")
    last = out("state", "--state", path).splitlines()[-1]
    assert last.endswith('main  would have been stopped: LOOP_GUARD_REPEAT  exact:read:{"file_path":"a.py"}')
    assert json.loads(out("state", "--state", path, "--json"))["denials"][0]["code"] == "shadow LOOP_GUARD_REPEAT"


def test_the_same_as_json(path: Path) -> None:
    shown = json.loads(out("state", "--state", str(path), "--json"))
    spent = {agent["name"]: agent["account"]["session_spent"] for agent in shown["agents"]}
    assert spent == {"main": 30, "helper": 20, "else\x1b[31mwhere": 1}
    assert shown["denials"][0]["code"] == "LOOP_GUARD_REPEAT"


@pytest.mark.parametrize(("spent", "filled"), [(0, 0), (49, 9), (99, 19), (100, 20), (1000, 20)])
def test_a_bar_is_full_at_the_limit_and_not_before(spent: int, filled: int) -> None:
    assert bar(spent, 100, 20).count("█") == filled


def test_a_reset_says_what_it_did(path: Path) -> None:
    assert out("state", "reset", "helper", "--state", str(path)) == "Forgot 1 agent: helper.\n"
    budgets = out("state", "--state", str(path), "reset", "--budget")
    assert budgets == "Took back the tokens spent by 2 agents: main, elsewhere.\n"
    assert "0 of 60,000,000" in out("state", "--state", str(path))
    assert out("state", "reset", "--all", "--state", str(path)).startswith("Forgot 2 agents")
    assert out("state", "reset", "--all", "--state", str(path)) == "Nothing is stored.\n"


@pytest.mark.parametrize(
    ("arguments", "said"), [((), "`state reset --all` forgets everything"), (("main", "--all"), "not both")]
)
def test_a_reset_that_does_not_say_what_to_forget_forgets_nothing(
    path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert said in out("state", "reset", "--state", str(path), *arguments, status=2)
    assert "3 agents" in out("state", "--state", str(path))


def test_the_help_of_a_reset_has_a_usage_of_its_own() -> None:
    shown = " ".join(out("state", "reset", "--help").split())
    assert shown.startswith("usage: toolbreaker state reset [-h] [--all] [--budget]")


def test_an_agent_that_is_not_stored_is_exit_status_1(path: Path) -> None:
    assert "No agent nobody is stored" in out("state", "reset", "nobody", "--state", str(path), status=1)


def test_where_nothing_is_stored_yet_nothing_is_made(tmp_path: Path) -> None:
    ended = run("state", XDG_STATE_HOME=str(tmp_path))
    assert (ended.returncode, ended.stdout) == (0, b"Nothing is stored.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("action", [(), ("--json",), ("reset", "main"), ("reset", "--all")])
def test_a_file_that_was_named_and_is_not_there_is_exit_status_1(action: tuple[str, ...], tmp_path: Path) -> None:
    place = tmp_path / "state.sqlite"
    said = out("state", "--state", str(place), *action, status=1)
    assert said == f"toolbreaker: the state in {place}: there is no such file\n"
    assert list(tmp_path.iterdir()) == []


def test_auto_and_namespace_find_what_serve_wrote(tmp_path: Path) -> None:
    with Server("--state", "auto", "--namespace", "team", XDG_STATE_HOME=str(tmp_path)) as server:
        server.call("usage", agent="a", inputTokens=5)
        assert server.close() == 0
    ended = run("state", "--json", "--namespace", "team", XDG_STATE_HOME=str(tmp_path))
    assert [agent["name"] for agent in json.loads(ended.stdout)["agents"]] == ["a"]
    by_variable = run(
        "state", "--json", TOOLBREAKER_STATE=str(tmp_path / "toolbreaker" / "team.sqlite"), XDG_STATE_HOME="/nowhere"
    )
    assert by_variable.stdout == ended.stdout


@pytest.mark.parametrize("action", [(), ("reset", "--all"), ("reset", "somebody")])
def test_who_looks_into_an_empty_namespace_is_told_of_the_others(action: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("dsh", "team", "copy of team"):  # the last is no name of a namespace
        store = open_file(tmp_path / "toolbreaker" / f"{name}.sqlite")
        store.apply([Entry("charge", "main", 1)])
        store.close()
    ended = run("state", *action, XDG_STATE_HOME=str(tmp_path))
    assert b"That was the namespace default. Others hold something: dsh, team (--namespace NAME)." in ended.stdout
    assert not (tmp_path / "toolbreaker" / "default.sqlite").exists()
    shown = run("state", "--namespace", "dsh", XDG_STATE_HOME=str(tmp_path))
    assert b"Others hold" not in shown.stdout


def test_who_looks_into_an_empty_namespace_of_a_server_is_told_of_the_others(redis_server: RedisServer) -> None:
    from protocol.store.redis import RedisStore

    store = RedisStore(redis_server.address, "fleet")
    store.apply([Entry("charge", "main", 1)])
    store.close()
    for _ in range(2):  # having looked there leaves nothing to be told of
        shown = out("state", "--state", redis_server.address, "--namespace", "flet")
        others = shown.split("Others hold something: ")[1].split(" (")[0].split(", ")
        assert "fleet" in others
        assert "flet" not in others
    store = RedisStore(redis_server.address, "fleet")
    store.reset()
    store.close()


def test_nothing_has_the_shape_of_something_as_json(tmp_path: Path) -> None:
    shown = json.loads(run("state", "--json", XDG_STATE_HOME=str(tmp_path)).stdout)
    assert (shown["agents"], shown["denials"]) == ([], [])


def test_a_broken_file_is_named_and_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "state.sqlite"
    place.write_bytes(b"not a database" * 100)
    assert str(place) in out("state", "--state", str(place), status=1)
    assert [each.name for each in tmp_path.iterdir()] == ["state.sqlite"]


@pytest.mark.parametrize("arguments", [("--state", "none"), ("--namespace", "../x"), ("--max-tokens", "many")])
def test_wrong_arguments_are_exit_status_2(arguments: tuple[str, ...]) -> None:
    out("state", *arguments, status=2)


def test_a_reset_lets_a_running_server_go_on(tmp_path: Path) -> None:
    """The way out of a budget that a denial names."""
    place = str(tmp_path / "state.sqlite")
    with Server("--state", place, "--max-tokens", "10") as server:
        server.call("usage", inputTokens=10)
        denied = server.call("guard", tool="read", arguments={})
        assert denied["code"] == "LOOP_GUARD_BUDGET_EXHAUSTED"
        assert "toolbreaker state reset --budget" in denied["reason"]
        out("state", "reset", "--budget", "--state", place)
        server.call("usage", inputTokens=1)
        assert server.call("guard", tool="read", arguments={})["decision"] == "allow"


def test_watching_shows_what_changes_until_it_is_interrupted(path: Path) -> None:
    with Server("--state", str(path), "--watch", "0.02", "--json", command="state") as watching:

        def spent() -> int:
            agents = json.loads(watching.line())["agents"]
            return int(next(agent["account"]["session_spent"] for agent in agents if agent["name"] == "main"))

        assert spent() == 30
        store = open_file(path)
        store.apply([Entry("charge", "main", 12)])
        store.close()
        until(lambda: spent() == 42, "it was shown")
        watching.signal(signal.SIGINT)
        assert watching.rest() is not None
        assert watching.wait() == 0
        assert watching.stderr() == ""


def test_watching_begins_before_anything_is_stored(tmp_path: Path) -> None:
    place = tmp_path / "toolbreaker" / "default.sqlite"
    with Server("--watch", "0.02", command="state", XDG_STATE_HOME=str(tmp_path)) as watching:
        assert watching.line() == b"Nothing is stored."
        store = open_file(place)
        store.apply([Entry("charge", "main", 12)])
        store.close()
        until(lambda: watching.line().startswith(b"main: 0 turns"), "it was shown")


def test_a_terminal_is_redrawn(path: Path) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    shown = b""
    command = command_line("state", "--state", str(path), "--watch", "0.02")
    process = subprocess.Popen(command, stdout=theirs, env=environment())
    try:
        deadline = time.monotonic() + PATIENCE
        while shown.count(b"\x1b[H\x1b[2J") < 3 and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 1 << 16)
        process.send_signal(signal.SIGINT)
        while process.poll() is None and time.monotonic() < deadline:
            if select.select([ours], [], [], 0.02)[0]:
                os.read(ours, 1 << 16)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)
        os.close(theirs)
    first, second = shown.split(b"\x1b[H\x1b[2J")[1:3]
    assert b"main: 1 turn" in first
    assert b"main: 1 turn" in second


@pytest.mark.parametrize("seconds", ["0", "-1", "often", "nan"])
def test_watching_needs_a_time(path: Path, seconds: str) -> None:
    out("state", "--state", str(path), f"--watch={seconds}", status=2)
