"""The hooks in clients' settings: put in once, taken out without a trace, and never in a session's way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import PATIENCE, environment

from protocol.hook.install import jsonhooks, jsontext, tomlhooks
from protocol.hook.install.clients import CLIENTS, command_line
from protocol.hook.install.jsonhooks import ForeignError
from protocol.hook.install.jsontext import MalformedError

Command = Callable[..., subprocess.CompletedProcess[str]]
LINE = command_line(["/opt/toolbreaker/bin/toolbreaker"], CLIENTS["claude-code"])

# What people have in such files: comments, tabs, other hooks, keys of other versions, no line feed at the end.
SETTINGS = {
    "plain": '{\n  "permissions": {\n    "allow": ["Bash"]\n  },\n  "includeCoAuthoredBy": false\n}\n',
    "one line": '{"model":"opus","env":{"A":"1"}}',
    "empty object": "{}",
    "empty object on lines": "{\n}\n",
    "comments": '// mine\n{\n  "a": 1, // why\n  /* and\n   this */\n  "future": {"x": [1, 2,],}, // last\n}\n// end\n',
    "comment behind the last member": '{\n  "a": 1 // why\n}\n',
    "tabs": '{\n\t"a": [\n\t\t1\n\t]\n}',
    "four blanks, CRLF": '{\r\n    "a": 1,\r\n    "b": {\r\n        "c": null\r\n    }\r\n}\r\n',
    "a mark in front": '\ufeff{\n  "a": 1\n}\n',
    "no hooks yet": '{\n  "hooks": {}\n}\n',
    "empty lists": '{\n  "hooks": {\n    "PreToolUse": [],\n    "Stop": [ ]\n  }\n}\n',
    "other hooks": json.dumps(
        {
            "hooks": {
                "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint", "timeout": 5}]}],
                "Notification": [{"hooks": [{"type": "command", "command": "say toolbreaker"}]}],
            },
            "z": "ü \\u00fc",
        },
        indent=4,
        ensure_ascii=False,
    ),
    "other hooks on one line": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lint"}]}]}, "z": 1}\n',
    "hooks with trailing commas": '{\n  "hooks": {\n    "Stop": [\n      {"hooks": [],}, // mine\n    ],\n  },\n}\n',
    "the same key twice": '{\n  "hooks": {"Stop": []},\n  "hooks": {"PreToolUse": []}\n}\n',
}


def meaning(text: str) -> Any:
    return jsontext.value(text, jsontext.parse(text))


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_what_is_put_in_and_taken_out_leaves_every_byte_as_it_was(text: str, client: Any) -> None:
    line = command_line(["/opt/toolbreaker/bin/toolbreaker"], client)
    once = jsonhooks.with_hooks(text, client, line)
    assert jsonhooks.with_hooks(once, client, line) == once
    before, after = meaning(text), meaning(once)
    assert {name: value for name, value in after.items() if name != "hooks"} == {
        name: value for name, value in before.items() if name != "hooks"
    }
    for event in client.events:
        assert after["hooks"][event][:-1] == before.get("hooks", {}).get(event, [])
        assert after["hooks"][event][-1]["hooks"][0]["command"] == line
    assert jsonhooks.without_hooks(once) == text


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_a_file_without_our_hooks_is_left_as_it_is(text: str) -> None:
    assert jsonhooks.without_hooks(text) == text


def test_comments_stay_where_they_were() -> None:
    text = jsonhooks.with_hooks(SETTINGS["comments"], CLIENTS["claude-code"], LINE)
    assert '"a": 1, // why\n' in text
    assert '"future": {"x": [1, 2,],}, // last\n  "hooks": {' in text
    assert text.endswith("},\n}\n// end\n")


def test_new_hooks_look_like_their_neighbours() -> None:
    text = jsonhooks.with_hooks(SETTINGS["other hooks"], CLIENTS["claude-code"], LINE)
    assert text == json.dumps(json.loads(text), indent=4, ensure_ascii=False)


def test_hooks_of_an_earlier_place_are_replaced() -> None:
    old = command_line(["/usr/old/toolbreaker"], CLIENTS["claude-code"])
    for text in SETTINGS.values():
        before = jsonhooks.with_hooks(text, CLIENTS["claude-code"], old)
        assert jsonhooks.with_hooks(before, CLIENTS["claude-code"], LINE) == jsonhooks.with_hooks(
            text, CLIENTS["claude-code"], LINE
        )


def test_hooks_that_somebody_put_beside_ours_stay() -> None:
    text = jsonhooks.with_hooks("{}", CLIENTS["claude-code"], LINE)
    value = json.loads(text)
    value["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "lint"})
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "bell"}]})
    rest = jsonhooks.without_hooks(json.dumps(value, indent=2))
    assert rest is not None
    assert json.loads(rest) == {
        "hooks": {
            "PreToolUse": [{"hooks": [{"type": "command", "command": "lint"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "bell"}]}],
        }
    }


@pytest.mark.parametrize(
    "text", ["", " \n", "{", '{"a": }', "{'a': 1}", '{"a": 1} x', "[" * 5000, '{"a": 01}', '{"a" 1}']
)
def test_what_is_no_json_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(MalformedError, match=r"line \d+, column \d+: "):
        jsonhooks.with_hooks(text, CLIENTS["claude-code"], LINE)


@pytest.mark.parametrize("text", ["[]", "7", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
def test_what_the_client_could_not_read_is_refused(text: str) -> None:
    with pytest.raises(ForeignError):
        jsonhooks.with_hooks(text, CLIENTS["claude-code"], LINE)


BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n    ", " // c\n", "/* c */", "\n// c\n  "])
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"a\\"}b"', '"//"', '"ü"', "[]", "{ }", "[1 , 2]"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Objects as odd as people write them, with or without hooks."""

    def container(brackets: str, items: list[str]) -> str:
        text = brackets[0] + draw(BLANKS)
        for number, item in enumerate(items):
            text += item + draw(BLANKS)
            if number < len(items) - 1 or draw(st.booleans()):
                text += "," + draw(BLANKS)
        return text + brackets[1]

    def member(key: str, value: str) -> str:
        return f'"{key}"{draw(BLANKS)}:{draw(BLANKS)}{value}'

    entry = '{"hooks": [{"type": "command", "command": "lint"}]}'
    members = [member(key, draw(SCALARS)) for key in draw(st.lists(st.sampled_from("abc"), max_size=2, unique=True))]
    if draw(st.booleans()):
        events = draw(st.lists(st.sampled_from(["PreToolUse", "Stop", "Other"]), max_size=3, unique=True))
        lists = [member(event, container("[]", [entry] * draw(st.integers(0, 2)))) for event in events]
        members.insert(draw(st.integers(0, len(members))), member("hooks", container("{}", lists)))
    return draw(BLANKS) + container("{}", members) + draw(BLANKS)


@settings(max_examples=300, deadline=None)
@given(documents())
def test_any_document_comes_back_byte_for_byte(text: str) -> None:
    client = CLIENTS["claude-code"]
    once = jsonhooks.with_hooks(text, client, LINE)
    assert jsonhooks.with_hooks(once, client, LINE) == once
    assert meaning(once)["hooks"]["PreToolUse"][-1]["hooks"][0]["command"] == LINE
    assert jsonhooks.without_hooks(once) == text


# ---- TOML

CONFIGS = {
    "hooks": 'model = "m"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "bell"\n',
    "no line feed at the end": '[[hooks.Stop]]\nhooks = [{ type = "command", command = "bell" }] # mine',
    "CRLF": '[[hooks.Stop]]\r\nmatcher = "x"\r\n',
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
def test_toml_comes_back_byte_for_byte(text: str) -> None:
    client = CLIENTS["codex"]
    once = tomlhooks.with_hooks(text, client, 'it\'s "quoted" \\ so')
    hooks = tomllib.loads(once)["hooks"]
    assert hooks["PreToolUse"][0]["hooks"][0]["command"] == 'it\'s "quoted" \\ so'
    assert hooks["Stop"] == tomllib.loads(text)["hooks"]["Stop"]
    assert tomlhooks.with_hooks(once, client, 'it\'s "quoted" \\ so') == once
    assert tomlhooks.without_hooks(tomlhooks.with_hooks(once, client, "another")) == text


def test_toml_whose_hooks_cannot_be_added_to_is_refused() -> None:
    with pytest.raises(ForeignError):
        tomlhooks.with_hooks("hooks = { Stop = [], PreToolUse = [] }\n", CLIENTS["codex"], "x")


def test_only_events_are_hooks() -> None:
    assert not tomlhooks.has_hooks('[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:0"\n')
    assert tomlhooks.has_hooks(CONFIGS["hooks"])
    assert not tomlhooks.has_hooks(tomlhooks.with_hooks("", CLIENTS["codex"], "x"))


# ---- the commands


@pytest.fixture
def toolbreaker(tmp_path: Path) -> Path:
    """An installed program: its interpreter is the one that runs the tests."""
    program = tmp_path / "it's bin" / "toolbreaker"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -W error -c "{CLI}" "$0" "$@"\n')
    program.chmod(0o755)
    return program


CLI = "import sys; sys.argv = sys.argv[1:]; from protocol.cli import main; sys.exit(main())"


@pytest.fixture
def command(tmp_path: Path, toolbreaker: Path) -> Command:
    (tmp_path / "project").mkdir()

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
        kept = {name: value for name, value in environment().items() if name not in moved}
        return subprocess.run(
            [str(toolbreaker), *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env={**kept, "HOME": str(tmp_path), **variables},
            cwd=tmp_path / "project",
            check=False,
        )

    return run


FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "opencode": ".config/opencode/plugin/toolbreaker.js",
}


@pytest.mark.parametrize("harness", FILES)
def test_without_settings_there_is_a_file_of_ours_and_then_none(tmp_path: Path, command: Command, harness: str) -> None:
    path = tmp_path / FILES[harness]
    done = command("install", harness)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(path) in done.stdout
    written = path.read_bytes()
    again = command("install", harness)
    assert (again.returncode, path.read_bytes()) == (0, written)
    assert "nothing to do" in again.stdout
    assert command("uninstall", harness).returncode == 0
    assert not path.exists()
    assert "nothing to do" in command("uninstall", harness).stdout


@pytest.mark.parametrize("harness", ["claude-code", "gemini-cli"])
def test_settings_come_back_with_their_mode_and_through_a_link(tmp_path: Path, command: Command, harness: str) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text(SETTINGS["comments"])
    real.chmod(0o640)
    link = tmp_path / FILES[harness]
    link.parent.mkdir()
    link.symlink_to(real)
    assert command("install", harness).returncode == 0
    assert link.is_symlink()
    assert "toolbreaker" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert command("uninstall", harness).returncode == 0
    assert (link.is_symlink(), real.read_text()) == (True, SETTINGS["comments"])
    assert [path.name for path in real.parent.iterdir()] == ["settings.json"]


def test_a_dry_run_shows_the_change_and_makes_none(tmp_path: Path, command: Command) -> None:
    path = tmp_path / FILES["claude-code"]
    path.parent.mkdir()
    path.write_text(SETTINGS["plain"])
    done = command("install", "claude-code", "--dry-run")
    assert done.returncode == 0
    assert '+    "PreToolUse": [' in done.stdout
    assert path.read_text() == SETTINGS["plain"]
    command("install", "claude-code")
    written = path.read_text()
    shown = command("uninstall", "claude-code", "--dry-run").stdout
    assert '-    "PreToolUse": [' in shown
    assert path.read_text() == written


@pytest.mark.parametrize(
    ("arguments", "onward"),
    [
        (("claude-code",), "`toolbreaker state`; take it out with `toolbreaker uninstall claude-code`."),
        (("codex", "--project"), "`toolbreaker state`; take it out with `toolbreaker uninstall codex --project`."),
        (("opencode",), "`toolbreaker state --namespace opencode`; take it out with `toolbreaker uninstall opencode`."),
    ],
)
def test_who_installed_it_is_told_where_to_look_and_the_way_back(
    command: Command, arguments: tuple[str, ...], onward: str
) -> None:
    assert command("install", *arguments).stdout.splitlines()[-1] == f"See what it does with {onward}"
    assert "uninstall" not in command("install", *arguments).stdout


def test_opencode_takes_no_configuration_here_and_says_where_it_does(tmp_path: Path, command: Command) -> None:
    (tmp_path / "config.json").write_text("{}")
    done = command("install", "opencode", "--config", str(tmp_path / "config.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "opencode takes its settings in opencode.json" in done.stderr
    assert not (tmp_path / FILES["opencode"]).exists()


@pytest.mark.parametrize("harness", ["claude-code", "codex", "gemini-cli"])
def test_a_project_has_hooks_of_its_own(tmp_path: Path, command: Command, harness: str) -> None:
    assert command("install", harness, "--project").returncode == 0
    assert (tmp_path / "project" / FILES[harness]).exists()
    assert not (tmp_path / FILES[harness]).exists()
    assert "nothing to do" in command("uninstall", harness, "--user").stdout
    assert command("uninstall", harness, "--project").returncode == 0
    assert not (tmp_path / "project" / FILES[harness]).exists()


@pytest.mark.parametrize(
    ("harness", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "moved/settings.json"),
        ("codex", "CODEX_HOME", "moved/hooks.json"),
        ("gemini-cli", "GEMINI_CLI_HOME", "moved/.gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "moved/opencode/plugin/toolbreaker.js"),
    ],
)
def test_a_client_that_lives_elsewhere_is_found(
    tmp_path: Path, command: Command, harness: str, variable: str, file: str
) -> None:
    assert command("install", harness, **{variable: str(tmp_path / "moved")}).returncode == 0
    assert (tmp_path / file).exists()


def test_codex_keeps_its_hooks_in_one_file(tmp_path: Path, command: Command) -> None:
    config = tmp_path / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(CONFIGS["hooks"])
    done = command("install", "codex")
    assert done.returncode == 0
    assert "reviewed" in done.stdout
    assert not config.with_name("hooks.json").exists()
    assert command("install", "codex").stdout.endswith("nothing to do, the hooks are there\n")
    assert command("uninstall", "codex").returncode == 0
    assert config.read_text() == CONFIGS["hooks"]


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 5}', "\xff"])
def test_settings_that_cannot_be_understood_are_left_alone(tmp_path: Path, command: Command, text: str) -> None:
    path = tmp_path / FILES["claude-code"]
    path.parent.mkdir()
    path.write_text(text, encoding="latin-1")
    for name in ("install", "uninstall"):
        done = command(name, "claude-code")
        assert (done.returncode, done.stdout) == (1, "")
        assert str(path) in done.stderr
        assert "left as it is" in done.stderr
    assert path.read_text(encoding="latin-1") == text


def test_a_plugin_of_somebody_else_is_left_alone(tmp_path: Path, command: Command) -> None:
    path = tmp_path / FILES["opencode"]
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    assert command("install", "opencode").returncode == 1
    assert command("uninstall", "opencode").returncode == 1
    assert path.read_text() == "export const Mine = async () => ({})\n"


def test_a_configuration_is_checked_before_it_is_installed(tmp_path: Path, command: Command) -> None:
    (tmp_path / "project" / "wrong.json").write_text('{"window": 1}')
    done = command("install", "claude-code", "--config", "wrong.json")
    assert done.returncode == 2
    assert "window" in done.stderr
    (tmp_path / "project" / "right.json").write_text('{"window": 20}')
    assert command("install", "claude-code", "--config", "right.json").returncode == 0
    assert f"--config {tmp_path / 'project' / 'right.json'}" in (tmp_path / FILES["claude-code"]).read_text()


def test_wrong_words_are_status_2(command: Command) -> None:
    assert command("install", "emacs").returncode == 2
    assert command("install").returncode == 2
    assert command("uninstall", "codex", "--user", "--project").returncode == 2


# ---- what the client's shell gets

SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(shell)]


def lines(tmp_path: Path, command: Command, harness: str) -> list[str]:
    assert command("install", harness).returncode == 0
    hooks = json.loads((tmp_path / FILES[harness]).read_text())["hooks"]
    return [entry["hooks"][0]["command"] for listed in hooks.values() for entry in listed]


def in_shell(shell: str, line: str, data: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, "-c", line], input=data, capture_output=True, text=True, timeout=PATIENCE, env=os.environ, check=False
    )


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("harness", CLIENTS)
def test_the_line_hands_the_event_to_the_program_and_its_answer_back(
    tmp_path: Path, command: Command, toolbreaker: Path, shell: str, harness: str
) -> None:
    (line,) = set(lines(tmp_path, command, harness))
    toolbreaker.write_text('#!/bin/sh\necho "$@"\ncat\nexit 2\n')
    done = in_shell(shell, line, "event")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hook {harness}\nevent", "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("harness", CLIENTS)
def test_the_line_of_a_program_that_was_removed_ends_with_0(
    tmp_path: Path, command: Command, toolbreaker: Path, shell: str, harness: str
) -> None:
    (line,) = set(lines(tmp_path, command, harness))
    toolbreaker.unlink()
    done = in_shell(shell, line, "event")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "broken", ["#!/nowhere/python\n", "#!/bin/sh\nexit 127\n", "#!/bin/sh\nkill -9 $$\n", "\x7fELF nothing"]
)
@pytest.mark.parametrize("shell", SHELLS)
def test_the_line_of_a_program_that_cannot_run_ends_with_0(
    tmp_path: Path, command: Command, toolbreaker: Path, shell: str, broken: str
) -> None:
    (line,) = set(lines(tmp_path, command, "gemini-cli"))
    toolbreaker.write_text(broken)
    done = in_shell(shell, line, "event")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_source_tree_has_a_line_too() -> None:
    line = command_line([sys.executable, "/nowhere/protocol/__main__.py"], CLIENTS["codex"])
    assert jsonhooks.without_hooks(jsonhooks.with_hooks("{}", CLIENTS["codex"], line)) == "{}"
    assert in_shell("sh", line).returncode == 0
