"""Where settings may be written, and which of them wins."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.options import ConfigError, Problem
from breaker.settings import Settings, preset
from protocol.layers import GUARD_VARIABLES, Sources, add_options, gather, options_of, read_file


def resolved(file: str | None = None, client: Any = None, **environ: str) -> Settings:
    return gather(file, environ).resolve(client).settings


def refused(sources: Sources, client: Any = None) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        sources.resolve(client)
    return str(raised.value).split("\n")


class TestOrder:
    def test_each_layer_wins_over_the_one_before(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text('{"warnAt": 1, "summarizeAt": 1, "failWarnAt": 1, "maxTokens": 1, "fanout": 1}')
        environ = {
            "DSH_LOOP_GUARD_MAX_TOKENS": "2",
            "TOOLBREAKER_WARN_AT": "3",
            "TOOLBREAKER_SUMMARIZE_AT": "3",
            "TOOLBREAKER_FAIL_WARN_AT": "3",
        }
        sources = gather(str(file), environ, {"--summarize-at": 4, "--fail-warn-at": 4})
        found = sources.resolve({"failWarnAt": 5}).settings
        assert found.session_max_tokens == 1_000_000_000
        assert found.fanout == 1
        assert found.max_tokens == 2
        assert (found.warn_at, found.summarize_at, found.fail_warn_at) == (3, 4, 5)

    def test_our_own_variable_wins_over_the_guards(self) -> None:
        environ = {"TOOLBREAKER_MAX_TOKENS": "7", "DSH_LOOP_GUARD_MAX_TOKENS": "8"}
        assert resolved(**environ).max_tokens == 7

    def test_the_profile_of_the_highest_layer_counts_and_the_values_of_all(self, tmp_path: Path) -> None:
        file = tmp_path / "config.yaml"
        file.write_text("profile: loop-guard\nwindow: 9\n")
        found = resolved(str(file), {"profile": "adaptive"}, TOOLBREAKER_PROFILE="repeat-tool-breaker")
        assert (found.profile, found.window, found.repeat_limit) == ("adaptive", 9, None)

    def test_a_map_in_a_variable_is_laid_over_the_files(self, tmp_path: Path) -> None:
        file = tmp_path / "config.json"
        file.write_text('{"limits": {"exact": 5, "cmd": 5}}')
        found = resolved(str(file), {"limits": {"net": 7}}, TOOLBREAKER_LIMITS='{"cmd": 6}')
        assert (found.limits["exact"], found.limits["cmd"], found.limits["net"]) == (5, 6, 7)

    @given(st.lists(st.integers(1, 50) | st.none(), min_size=4, max_size=4))
    def test_the_strongest_layer_that_says_something_is_heard(self, said: list[int | None]) -> None:
        guard, own, option, client = said
        environ = {
            **({} if guard is None else {"DSH_LOOP_GUARD_MAX_DENIALS": str(guard)}),
            **({} if own is None else {"TOOLBREAKER_MAX_DENIALS": str(own)}),
        }
        options = {} if option is None else {"--max-denials": option}
        config = {} if client is None else {"maxDenials": client}
        expected = next((value for value in reversed(said) if value is not None), 3)
        assert gather(None, environ, options).resolve(config).settings.max_denials == expected


class TestEnvironment:
    def test_every_variable_of_the_guard_is_its_setting(self) -> None:
        environ = dict.fromkeys(GUARD_VARIABLES, "1")
        environ |= {f"DSH_LOOP_GUARD_{name}_LIMIT": "6" for name in ("REPEAT", "CYCLE", "SAME_ERROR")}
        found = resolved(**environ)
        assert (found.max_tokens, found.session_max_tokens, found.family_max_tokens) == (1, 1, 1)
        assert (found.repeat_limit, found.cycle_limit, found.same_error_limit) == (6, 6, 6)
        assert (found.max_denials, found.warn_ratio) == (1, 1)

    def test_zero_and_negative_are_no_limit(self) -> None:
        found = resolved(DSH_LOOP_GUARD_MAX_TOKENS="0", DSH_LOOP_GUARD_SESSION_MAX_TOKENS="-1")
        assert (found.max_tokens, found.session_max_tokens) == (None, None)

    def test_values_are_json_or_else_text(self) -> None:
        found = resolved(
            TOOLBREAKER_ON_LIMIT="deny",
            TOOLBREAKER_LOCAL_HOSTS='"allow"',
            TOOLBREAKER_EXCLUDE='["a", "b"]',
            TOOLBREAKER_INCLUDE_LOCAL="true",
            TOOLBREAKER_WARN_AT="null",
            TOOLBREAKER_MAX_TOKENS="6e7",
        )
        assert (found.on_limit, found.local_hosts, found.exclude) == ("deny", "allow", ("a", "b"))
        assert (found.include_local, found.warn_at, found.max_tokens) == (True, None, 60_000_000)

    def test_an_empty_variable_is_an_absent_one(self) -> None:
        assert resolved(TOOLBREAKER_WINDOW="", TOOLBREAKER_ON_LIMIT=" ", DSH_LOOP_GUARD_MAX_TOKENS="") == preset()

    def test_a_problem_names_the_variable(self) -> None:
        lines = refused(gather(None, {"TOOLBREAKER_WINDOW": "3", "DSH_LOOP_GUARD_WARN_RATIO": "much"}))
        assert lines == [
            'DSH_LOOP_GUARD_WARN_RATIO: warnRatio: "much" is not a finite number (0 or null turns it off)',
            "TOOLBREAKER_WINDOW: window: 3 is less than 4",
        ]

    def test_an_unknown_variable_is_a_remark_and_no_failure(self) -> None:
        sources = gather(None, {"TOOLBREAKER_WARNAT": "3", "DSH_LOOP_GUARD_X": "1", "HOME": "/root"})
        assert sources.resolve().settings == preset()
        assert [note.split()[0] for note in sources.notes] == ["TOOLBREAKER_WARNAT", "DSH_LOOP_GUARD_X"]
        assert "did you mean TOOLBREAKER_WARN_AT?" in sources.notes[0]

    def test_what_all_variables_begin_with_makes_none_alike(self) -> None:
        (note,) = gather(None, {"TOOLBREAKER_COLOR": "1"}).notes
        assert "did you mean" not in note
        assert "lists the settings" in note

    def test_a_variable_for_the_file_gets_the_option_for_it(self) -> None:
        (note,) = gather(None, {"TOOLBREAKER_CONFIG": "a.json"}).notes
        assert note == "TOOLBREAKER_CONFIG is not a setting and has no effect (name the file with --config FILE)"

    def test_variables_of_the_program_that_are_no_settings_are_no_remark(self) -> None:
        environ = {"TOOLBREAKER_DISABLED": "0", "TOOLBREAKER_STATE": "x", "TOOLBREAKER_STATE_PASSWORD": "y"}
        assert gather(None, environ).notes == ()

    @pytest.mark.parametrize(
        ("value", "enabled"), [("1", False), ("true", False), ("0", True), ("", True), ("no", True)]
    )
    def test_the_off_switch_outranks_every_layer(self, value: str, enabled: bool) -> None:
        sources = gather(None, {"TOOLBREAKER_DISABLED": value, "TOOLBREAKER_ENABLED": "true"}, {"--enabled": True})
        assert sources.resolve({"enabled": True}).settings.enabled is enabled

    @given(st.dictionaries(st.sampled_from(["TOOLBREAKER_WINDOW", "TOOLBREAKER_LIMITS", "TOOLBREAKER_X"]), st.text()))
    def test_whatever_the_environment_holds_is_read_or_complained_about(self, environ: dict[str, str]) -> None:
        problems: tuple[Problem, ...] = ()
        try:
            gather(None, environ).resolve()
        except ConfigError as error:
            problems = error.problems
        assert {problem.source for problem in problems} <= set(environ)


SAME = {
    "config.json": '{"profile": "loop-guard", "limits": {"exact": 5, "verb:curl": null}, "exclude": ["a"]}',
    "config.toml": 'profile = "loop-guard"\nexclude = ["a"]\n[limits]\nexact = 5\n',
    "config.yaml": "profile: loop-guard\nexclude: [a]\nlimits:\n  exact: 5\n  'verb:curl': null\n",
    "config.yml": "# loops\nprofile: loop-guard\nexclude:\n- a\nlimits: {exact: 5}\n",
}


class TestFiles:
    @pytest.mark.parametrize("name", SAME)
    @pytest.mark.parametrize("extension", ["as named", "", ".conf"])
    def test_json_toml_and_yaml_say_the_same(self, tmp_path: Path, name: str, extension: str) -> None:
        file = tmp_path / (name if extension == "as named" else f"config{extension}")
        file.write_text(SAME[name])
        found = resolved(str(file))
        assert (found.profile, found.limits["exact"], found.exclude) == ("loop-guard", 5, ("a",))

    @pytest.mark.parametrize("name", SAME)
    def test_an_empty_file_says_nothing(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("\n")
        assert resolved(str(tmp_path / name)) == preset()

    def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(self, tmp_path: Path) -> None:
        file = tmp_path / "config.toml"
        file.write_bytes(b"\xef\xbb\xbfwindow = 8\r\nwarnAt = 3\r\n")
        assert resolved(str(file)).window == 8

    @pytest.mark.parametrize(
        ("name", "text", "place", "what"),
        [
            ("a.json", '{\n  "window": 8,\n}', "line 3", "property name"),
            ("a.toml", "window = 8\nwarnAt 3\n", "line 2", "Expected '='"),
            ("a.yaml", "window: 8\nlimits: {exact: 5\n", "line 3", "expected"),
            ("a.yaml", "window: 8\n*: 3\n", "line 2", "alias"),
            ("a", "# mine\nwindow = 8\nwarnAt 3\n", "line 3", "Expected '='"),
        ],
    )
    def test_a_malformed_file_is_named_with_line_and_cause(
        self, tmp_path: Path, name: str, text: str, place: str, what: str
    ) -> None:
        file = tmp_path / name
        file.write_text(text)
        (line,) = refused(gather(str(file)))
        assert line.startswith(f"{file}: ")
        assert place in line
        assert what in line

    def test_a_file_in_another_encoding_is_named_with_its_line(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_bytes(b'{\n"onLimit": "\xe9"}')
        assert refused(gather(str(file))) == [f"{file}: line 2: is not UTF-8"]

    @pytest.mark.parametrize("name", ["a.json", "a.toml", "a.yaml"])
    def test_nesting_without_end_is_a_problem_like_any_other(self, tmp_path: Path, name: str) -> None:
        file = tmp_path / name
        file.write_text(("limits = " if name == "a.toml" else "") + "[" * 100_000)
        (line,) = refused(gather(str(file)))
        assert line.startswith(f"{file}: ")

    def test_a_missing_file_and_a_directory_are_named(self, tmp_path: Path) -> None:
        assert "No such file" in refused(gather(str(tmp_path / "a.json")))[0]
        assert "directory" in refused(gather(str(tmp_path)))[0]

    def test_a_file_that_cannot_be_read_hides_no_other_problem(self, tmp_path: Path) -> None:
        assert len(refused(gather(str(tmp_path / "a.json"), {"TOOLBREAKER_WINDOW": "1"}), {"windw": 2})) == 3

    def test_what_a_file_says_wrongly_is_listed_by_key(self, tmp_path: Path) -> None:
        file = tmp_path / "a.yaml"
        file.write_text("warnAt: off\nlimits: {exact: .inf}\n5: 6\nwindow: 2026-01-01\n")
        lines = refused(gather(str(file)))
        assert [line.split(": ")[1] for line in lines] == ["warnAt", "limits.exact", "5", "window"]

    def test_a_list_is_no_configuration(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_text("[1]")
        assert refused(gather(str(file))) == [f"{file}: [1] is not an object of settings"]

    def test_json_alone_loads_neither_yaml_nor_toml(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_text("{}")
        code = f"import sys; from protocol.layers import read_file; read_file({str(file)!r}); "
        code += "sys.exit('yaml' in sys.modules or 'tomllib' in sys.modules)"
        root = Path(__file__).parents[2]
        assert subprocess.run([sys.executable, "-c", code], cwd=root, timeout=30, check=False).returncode == 0

    def test_the_layer_is_named_after_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_text("{}")
        assert read_file(str(file)).source == str(file)


class TestCommandLine:
    def parse(self, *arguments: str) -> Sources:
        parser = argparse.ArgumentParser()
        add_options(parser)
        args = parser.parse_args(arguments)
        return gather(args.config, {}, options_of(args))

    def test_every_setting_has_an_option_read_like_a_variable(self) -> None:
        found = self.parse(
            *("--profile", "loop-guard", "--warn-at", "-1", "--limits", '{"exact": 5}', "--shadow"),
            *("--on-limit", "deny", "--include-local", "false"),
        )
        settings = found.resolve().settings
        assert (settings.profile, settings.warn_at, settings.limits["exact"]) == ("loop-guard", None, 5)
        assert (settings.shadow, settings.on_limit, settings.include_local) == (True, "deny", False)

    def test_help_says_what_a_value_looks_like(self) -> None:
        parser = argparse.ArgumentParser()
        add_options(parser, listed=True)
        usage = parser.format_usage()
        for shown in ("--on-limit ask|deny", "--window N", "--shadow [true|false]", "--adaptive JSON", "--limits JSON"):
            assert shown in " ".join(usage.split())

    def test_a_problem_names_the_option(self) -> None:
        assert refused(self.parse("--window", "3")) == ["--window: window: 3 is less than 4"]

    def test_without_options_nothing_is_said(self) -> None:
        assert self.parse() == Sources()
