"""`toolbreaker check-config` as its user meets it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import pytest

from breaker.options import wire
from breaker.settings import Settings, preset
from protocol.commands import check_config


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})


def check(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    check_config.configure(parser)
    return check_config.run(parser.parse_args(arguments))


def test_it_prints_the_resolved_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--profile", "loop-guard") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == wire(preset("loop-guard"))
    assert err == ""


def test_what_it_prints_is_a_config_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("--warn-at", "0", "--repeat-limits", '{"bash": 3}')
    first = capsys.readouterr().out
    (tmp_path / "config").write_text(first)
    assert check("--config", str(tmp_path / "config")) == 0
    assert capsys.readouterr().out == first


def test_a_wrong_configuration_is_status_2_and_all_its_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("windw: 8\nlimits: {exatc: 3}\n")
    monkeypatch.setitem(os.environ, "TOOLBREAKER_WARN_AT", "often")
    assert check("--config", str(file), "--on-limit", "stop") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "toolbreaker: the configuration is wrong:",
        f"  {file}: windw: is not a setting (did you mean window?)",
        f"  {file}: limits.exatc: is not a kind of identity (did you mean exact?)",
        '  TOOLBREAKER_WARN_AT: warnAt: "often" is not an integer (0 or null turns it off)',
        '  --on-limit: onLimit: "stop" is not one of ask, deny',
    ]


def test_remarks_never_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"profile": "standard", "pathAliases": [], "warnAt": 20}')
    monkeypatch.setitem(os.environ, "TOOLBREAKER_WINDOWS", "8")
    assert check("--config", str(file)) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["warnAt"] == 20
    assert "TOOLBREAKER_WINDOWS is not a setting" in err
    assert "pathAliases is ignored" in err
    assert "warnAt (20) is above window (16)" in err


def test_it_explains_who_set_what(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--profile", "repeat-tool-breaker", "--window", "8", "--explain") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("window = 8") + 1].startswith("    from --window: ")
    assert lines[lines.index("fanout = null") + 1].startswith("    from profile repeat-tool-breaker: ")
    assert len(lines) == 3 * len(Settings.__struct_fields__)


def test_what_the_profile_does_not_touch_comes_from_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--profile", "adaptive", "--explain") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("window = 16") + 1].startswith("    from the defaults: ")
    assert lines[lines.index("window = 16") + 2].startswith("    by default 16: ")
    assert lines[lines.index("fanout = null") + 1].startswith("    from profile adaptive: ")
    assert lines[lines.index("fanout = null") + 2].startswith("    by default null, in standard 8: ")


def test_the_profile_where_nobody_names_one_is_adaptive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(os.environ, "TOOLBREAKER_PROFILE", raising=False)
    assert check("--explain") == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index('profile = "adaptive"')
    assert lines[at + 1].startswith("    from the defaults: ")
    assert lines[at + 2].startswith('    by default "adaptive": ')
