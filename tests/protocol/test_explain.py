"""`toolbreaker explain` tells somebody who was denied what their call is to the gate."""

from __future__ import annotations

import json

from recorded import Made
from support import ROOT, run

from breaker.settings import preset
from protocol.replay.judge import judge_call
from protocol.replay.why import why


def test_every_identity_of_a_command_is_shown_with_its_origin_and_cap() -> None:
    done = run("explain", "--tool", "bash", "cd /repo && curl -s https://a.example/x -o out.json")
    lines = done.stdout.decode().splitlines()
    shown = dict(zip(lines[::2], lines[1::2], strict=True))
    assert "stopped at 12 of 16" in shown["net:a.example/x"]
    assert "stopped at 16 of 16" in shown["host:a.example"]
    assert "curl" in shown["sink:/repo/out.json"]
    assert "not counted" in shown["verb:curl"]


def test_the_configured_caps_are_the_ones_that_are_shown() -> None:
    done = run("explain", "--json", "--limits", '{"verb:ls": 40, "cmd": null}', "ls -l")
    caps = {row["fingerprint"]: row["cap"] for row in json.loads(done.stdout)}
    assert caps["verb:ls"] == 40
    assert caps["cmd:ls:ls -l"] is None


def test_other_tools_are_described_by_arguments_on_standard_input() -> None:
    done = run("explain", "--tool", "web_fetch", "--json", data=b'{"url": "https://www.a.example/x"}')
    assert "net:a.example/x" in {row["fingerprint"] for row in json.loads(done.stdout)}


def test_other_tools_take_their_arguments_on_the_command_line_too() -> None:
    def shown(tool: str, text: str) -> list[str]:
        return [row["fingerprint"] for row in json.loads(run("explain", "--json", "--tool", tool, text).stdout)]

    assert "net:a.example/x" in shown("web_fetch", '{"url": "https://www.a.example/x"}')
    assert shown("read", '{"file_path":"a.py"}') == ['exact:read:{"file_path":"a.py"}']
    assert shown("read", "[1]") == ['exact:read:{"command":"[1]"}']
    assert any(each.startswith('exact:bash:{"command":') for each in shown("bash", '{"a":1}'))


def test_a_profile_that_counts_nothing_says_so_once() -> None:
    for profile in ("adaptive", "loop-guard"):
        first, *rest = run("explain", "curl https://a.example/x", "--profile", profile).stdout.decode().splitlines()
        assert first == f"`{profile}` counts none of these; --profile standard shows the caps."
        assert "net:a.example/x" in rest
        assert not any("counted" in line for line in rest)


def test_arguments_that_are_not_json_are_named() -> None:
    done = run("explain", "--tool", "web_fetch", data=b"url=x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"not JSON" in done.stderr


def test_no_secret_is_shown() -> None:
    done = run("explain", "curl -H 'Authorization: Bearer s3cr3tt0ken' https://user:pa55word@a.example/x")
    assert done.returncode == 0
    assert b"s3cr3tt0ken" not in done.stdout
    assert b"pa55word" not in done.stdout


RECORDING = str(ROOT / "examples" / "recordings" / "a-verbatim.jsonl")


def test_a_recorded_stop_is_explained_with_the_calls_that_led_to_it() -> None:
    done = run("explain", RECORDING, "--call", "12", "--profile", "standard")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "deny, REPEAT_TOOL_BLOCKED" in text
    assert "occurrence 12 in the window, is stopped at 12" in text
    assert [f"call {number:>5}" in text for number in range(1, 13)] == [True] * 11 + [False]


def test_a_call_that_the_recording_does_not_have_is_said() -> None:
    done = run("explain", RECORDING, "--call", "999")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no call 999" in done.stderr


def test_a_call_that_was_allowed_shows_where_every_adaptive_rule_stands() -> None:
    done = run("explain", RECORDING, "--call", "4", "--profile", "adaptive")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "\nallow\n" in text
    assert "sameAnswer 3 of 4: 3 times the same answer, and nothing new was changed in between" in text
    assert "progress: another edit, another command that succeeds, another answer, or a word from the user." in text
    assert "sleeps" in text.split("nothing against it: ")[1].splitlines()[0]


def test_the_evidence_is_shown_call_by_call() -> None:
    text = run("explain", RECORDING, "--call", "3", "--profile", "adaptive").stdout.decode()
    rows = [line.split("  ")[1:] for line in text.splitlines() if " call     " in line]
    assert [[cell.strip() for cell in row if cell][:3] for row in rows] == [
        ["= call", "1", "ok"],
        ["= call", "2", "ok"],
    ]
    assert "the answer of call 1 once more" in text


def test_calls_that_the_rules_count_as_the_same_are_marked_however_they_are_spelled() -> None:
    made = Made()
    for command in ("cat a.py", "cat ./a.py", "cat b.py", "cat a.py"):
        made.settle(made.guard(command), text="x = 1")
    settings = preset("adaptive")
    lines = list(why(*judge_call(made.session(), settings, 4), settings))
    assert [line for line in lines if line.startswith("  sameAnswer 2 of ")]
    assert [line[:3] for line in lines if line[4:8] == "call"] == ["  =", "  =", "   "]


def test_counts_that_the_profile_does_not_have_are_not_shown() -> None:
    for profile in ("adaptive", "loop-guard"):
        text = run("explain", RECORDING, "--call", "4", "--profile", profile).stdout.decode()
        assert "occurrence" not in text, profile
        assert "not counted" not in text, profile


def test_a_recording_without_a_call_gets_a_hint() -> None:
    done = run("explain", RECORDING)
    assert b"--call N explains the Nth call of a recording" in done.stderr
    assert run("explain", "ls " + "x" * 5000).stderr == b""
