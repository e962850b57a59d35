"""Every cell of a sweep is what a replay with those settings gives."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from recorded import Made
from support import STANDARD, run

from breaker.options import ConfigError, Layer
from protocol.layers import Sources
from protocol.readers import Session, open_recording
from protocol.replay import plot
from protocol.replay.judge import judge_session
from protocol.replay.sweep import Cell, Identifiers, axis, grid, sweep

SESSIONS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "sessions"


def made() -> Iterator[Session]:
    """Loops and failures of several lengths, with outcomes, over several kinds of identity."""
    for number, (command, times, code, outcome) in enumerate(
        [
            ("make check", 9, 0, "success"),
            ("make check", 17, 0, "fail"),
            ("pytest -q", 4, 1, "success"),
            ("pytest -q", 7, 2, "fail"),
            ("curl -s https://example.com/a -o /tmp/x", 13, 0, "fail"),
            ("ls", 1, 0, None),
        ]
    ):
        session = Made().turn().runs(command, times, exit_code=code).runs("pwd").usage(10)
        yield session.session(f"s{number}", outcome)


AXES = [axis("limits.cmd=8,12,null"), axis("failLimit=3,5"), axis("limits.site=null,6")]


def test_every_cell_equals_a_replay_with_those_settings() -> None:
    cells = sweep(made(), grid(AXES, Sources(), 6))
    assert len(cells) == 12
    for cell in cells:
        expected = Cell(cell.values)
        limits = {key.partition(".")[2]: value for key, value in cell.values.items() if "." in key}
        layer = Layer("test", {"limits": limits, "failLimit": cell.values["failLimit"]})
        settings = Sources((layer,)).resolve().settings
        for session in made():
            expected.add(judge_session(session, settings), 6)
        assert cell == expected
    assert len({msgspec.json.encode(cell.total) for cell in cells}) > 4, "the grid makes a difference"


@pytest.mark.skipif(not SESSIONS.is_dir(), reason=f"the recordings are not at {SESSIONS}")
def test_every_cell_equals_a_replay_on_real_sessions() -> None:
    axes = [axis("limits.exact=8,12"), axis("failLimit=3,5")]
    path = SESSIONS / "codex.jsonl.gz"
    cells = sweep(open_recording(path), grid(axes, Sources(), 6))
    for cell in cells:
        expected = Cell(cell.values)
        layer = Layer("t", {"limits": {"exact": cell.values["limits.exact"]}, "failLimit": cell.values["failLimit"]})
        settings = Sources((layer,)).resolve().settings
        for session in open_recording(path):
            expected.add(judge_session(session, settings), 6)
        assert cell == expected


def test_settings_that_make_the_same_identities_share_them() -> None:
    wanted = grid([axis("failLimit=3,5"), axis("limits.site=null,6")], Sources(), 6)
    identifiers = Identifiers(b"")
    shared = [id(identifiers.of(settings)) for settings in wanted.settings]
    assert shared[0] == shared[2]
    assert shared[1] == shared[3]
    assert shared[0] != shared[1]


class TestAxes:
    def test_values_are_json_else_text(self) -> None:
        assert axis("limits.exact=8,12,null").values == (8, 12, None)
        assert axis("profile=standard,loop-guard").values == ("standard", "loop-guard")
        assert axis("cyclePeriods=[2,3],[2]").values == ([2, 3], [2])
        assert axis('exclude=["a,b"],[]').values == (["a,b"], [])
        assert axis("enabled=true").values == (True,)

    def test_the_last_axis_changes_fastest(self) -> None:
        values = [cell.values for cell in grid(AXES[:2], Sources(), 1).cells()]
        assert values[:3] == [
            {"limits.cmd": 8, "failLimit": 3},
            {"limits.cmd": 8, "failLimit": 5},
            {"limits.cmd": 12, "failLimit": 3},
        ]

    @pytest.mark.parametrize("text", ["failLimit", "=3", "failLimit="])
    def test_what_is_no_axis_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="KEY=VALUE"):
            axis(text)

    def test_wrong_values_and_too_many_are_refused(self) -> None:
        with pytest.raises(ConfigError):
            grid([axis("failLimit=1,3")], Sources(), 1)
        with pytest.raises(ValueError, match="too many"):
            grid([axis("window=" + ",".join(map(str, range(4, 60))))] * 2, Sources(), 1)


class TestCommand:
    @pytest.fixture
    def recording(self, tmp_path: Path) -> Path:
        path = tmp_path / "made.jsonl"
        rows = [
            {"session": session.name, "outcome": session.outcome, "messages": list(session.messages)}
            for session in made()
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        return path

    def test_table_and_bars(self, recording: Path, tmp_path: Path) -> None:
        done = run(
            "sweep",
            str(recording),
            "--set",
            "limits.cmd=8,null",
            "--set",
            "failLimit=3,null",
            "--svg",
            str(tmp_path / "a.svg"),
        )
        assert done.returncode == 0, done.stderr.decode()
        lines = done.stdout.decode().splitlines()
        assert lines[0].split()[:3] == ["limits.cmd", "failLimit", "stopped"]
        assert "of fail" in lines[0]
        assert lines[4].split()[:2] == ["null", "null"]
        assert lines[5] == "≥N: sessions in which the same action failed N times in a row or more"
        assert lines[7] == "sessions stopped"
        assert lines[8].startswith("limits.cmd=8 failLimit=3")
        assert "█" in lines[8]
        assert (tmp_path / "a.svg").read_text().startswith("<svg")

    def test_processes_do_not_change_the_grid(self, recording: Path) -> None:
        arguments = ["sweep", str(recording), "--set", "failLimit=3,5", "--json"]
        one, two = run(*arguments), run(*arguments, "-j", "3")
        assert one.returncode == two.returncode == 0
        assert json.loads(one.stdout) == json.loads(two.stdout)
        assert json.loads(one.stdout)["axes"] == {"failLimit": [3, 5]}

    def test_errors(self, recording: Path, tmp_path: Path) -> None:
        assert run("sweep", str(recording), "--set", "failLimit=1").returncode == 2
        assert run("sweep", str(recording), "--set", "failLimits=3").returncode == 2
        assert b"null turns it off" in run("sweep", str(recording), "--set", "failLimit=off").stderr
        assert b"null turns it off" in run("sweep", "--help").stdout
        assert run("sweep", str(recording), "--set", "nothing").returncode == 2
        assert run("sweep", "-", "-", "--set", "failLimit=3").returncode == 2
        assert run("sweep", str(tmp_path / "none"), "--set", "failLimit=3").returncode == 1
        done = run("sweep", str(recording), "--set", "failLimit=3", "--svg", str(tmp_path / "none" / "a.svg"))
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.decode().splitlines()[-1].endswith("a.svg: No such file or directory")


class TestPlot:
    def test_a_bar_is_drawn_in_eighths(self) -> None:
        assert plot.bar(0, 10) == ""
        assert plot.bar(10, 10) == "█" * 40
        assert plot.bar(1, 320) == "▏"
        assert plot.bar(5, 0) == ""

    def test_labels_of_recordings_are_escaped_in_the_svg(self) -> None:
        cells = sweep(
            (Made().turn().runs("make", 12).session("x", '<script>"&\x1b') for _ in range(2)),
            grid([axis("limits.cmd=8")], Sources(), 1),
        )
        drawn = plot.svg(cells)
        assert "<script>" not in drawn
        assert "&lt;script&gt;" in drawn
        assert "\x1b" not in drawn
        from xml.etree import ElementTree

        ElementTree.fromstring(drawn)

    def test_runs_are_cumulative(self) -> None:
        (cell,) = sweep(made(), grid([axis("failLimit=null")], STANDARD, 8))
        counts = cell.total.runs
        # pytest failed 4 and 7 times in a row, nothing else failed
        assert counts == [2, 2, 2, 2, 1, 1, 1, 0]
        assert all(a >= b for a, b in itertools.pairwise(counts))
