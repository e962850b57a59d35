"""`toolbreaker check-config` as its user meets it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import pytest

from breaker.adaptive_limits import RULES
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


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[str]]:
    """What `--explain` says below the line of each setting, by that line."""
    assert check(*arguments, "--explain") == 0
    found: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("    "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


def labels(lines: list[str]) -> list[str]:
    return [line.split(": ")[0] for line in lines]


def test_it_explains_who_set_what(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(capsys, "--profile", "repeat-tool-breaker", "--window", "8")
    assert labels(found["window = 8   (--window)"]) == ["meaning", "by default", "why"]
    assert labels(found["fanout = null   (profile repeat-tool-breaker)"]) == ["meaning", "in standard", "why"]
    assert len(found) == len(Settings.__struct_fields__)


def test_what_the_profile_does_not_touch_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(capsys, "--profile", "adaptive")
    assert found["enabled = true   (default)"] == [
        "meaning: false: every call is allowed and nothing is counted",
        "why: a gate that is installed is meant to work",
    ]
    assert found["fanout = null   (profile adaptive)"][1] == "in standard: 8"
    assert found['profile = "adaptive"   (--profile)']


def test_of_a_map_it_shows_elsewhere_what_differs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(capsys, "--profile", "standard", "--limits", '{"exact": 9}')
    (line,) = (line for line in found if line.startswith("adaptive = "))
    assert line.endswith("(profile standard)")
    # The profiles switch the rules; the limits behind them are the same in all.
    assert json.loads(found[line][1].removeprefix("by default: ")).keys() == set(RULES)
    (line,) = (line for line in found if line.startswith("limits = "))
    assert found[line][2] == 'in standard: {"exact": 12}'


def test_the_profile_where_nobody_names_one_is_adaptive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(os.environ, "TOOLBREAKER_PROFILE", raising=False)
    assert labels(explained(capsys)['profile = "adaptive"   (default)']) == ["meaning", "why"]
