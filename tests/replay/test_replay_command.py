"""`toolbreaker replay` as people run it."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from recorded import Made
from support import ROOT, run

from protocol.replay.collect import Progress, Trouble, _Answer, _merged, inputs
from protocol.replay.report import SessionReport
from protocol.replay.table import clean

DATA = Path(__file__).resolve().parents[1] / "readers" / "data"


def line(made: Made, name: str, outcome: str | None = None) -> str:
    return json.dumps({"session": name, "outcome": outcome, "messages": made.messages})


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    loop = Made().turn().runs("make check", 14)
    work = Made().turn().runs("ls").runs("pytest -q", 3, exit_code=1).turn().runs("pytest -q")
    path = tmp_path / "two.jsonl"
    path.write_text(f"{line(loop, 'the-loop', 'fail')}\n{line(work, 'the-work', 'success')}\n")
    return path


def out(*arguments: str, data: bytes = b"", status: int = 0) -> str:
    done = run("replay", *arguments, data=data)
    assert done.returncode == status, done.stderr.decode()
    return done.stdout.decode()


def test_the_table_has_a_row_a_session_and_a_total(recording: Path) -> None:
    lines = out(str(recording)).splitlines()
    assert lines[0].split()[:4] == ["session", "calls", "turns", "failed"]
    assert lines[1].split() == ["the-loop", "14", "1", "0%", "-", "14/12", "cmd:make:make", "check", "2", "3"]
    assert lines[2].strip() == "stopped at call 12: repeat 12/12 cmd:make:make check, REPEAT_TOOL_BLOCKED"
    assert lines[3].strip().startswith("the turn went on for 3 calls")
    assert lines[4].split()[:7] == ["the-work", "5", "2", "60%", "3", "cmd:pytest:pytest", "-q"]
    assert lines[-3] == "2 sessions, 19 calls, 3 user turns; 16% of the results are failures"
    assert lines[-2] == "1 session stopped, 3 calls blocked (repeat 3), 3 advisories in 2 sessions"


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_table_is_no_wider_than_the_terminal(columns: int) -> None:
    done = run("replay", str(ROOT / "examples" / "recordings"), COLUMNS=str(columns))
    lines = done.stdout.decode().splitlines()
    assert max(map(len, lines)) <= columns
    assert " ".join(lines[0].split()) == "session calls turns failed failure run repetition advised blocked"
    (row,) = (line.split() for line in lines if line.startswith("a-verbatim"))
    assert (row[:4], row[-2:]) == (["a-verbatim", "15", "1", "0%"], ["2", "3"])


def test_a_session_without_a_call_has_no_share_of_failures(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(line(Made().turn(), "silent"))
    assert out(str(tmp_path / "r.jsonl")).splitlines()[-2] == "1 session, 0 calls, 1 user turn"


def test_verbose_shows_each_event_as_a_line(recording: Path) -> None:
    lines = out("-v", str(recording)).splitlines()
    assert lines[0] == f"{recording}: the-loop (sessions, fail)"
    assert lines[1].strip() == "── a user's message"
    assert lines[8].strip().startswith("7 bash make check  ← advises warn")
    assert lines[13].strip().startswith("✗   12 bash make check  ← repeat 12/12 cmd:make:make check")
    assert any("failed: exit 1" in line for line in lines)


def test_json_and_json_lines_say_the_same(recording: Path) -> None:
    whole = json.loads(out("--json", str(recording)))
    rows = [json.loads(row) for row in out("--jsonl", str(recording)).splitlines()]
    assert [row["name"] for row in rows] == ["the-loop", "the-work"]
    assert rows[0]["firstStop"]["number"] == 12
    assert whole["sessions"] == rows
    assert whole["total"]["blocked"] == 3
    assert whole["settings"]["failLimit"] == 5


def test_options_and_a_config_file_change_what_is_stopped(recording: Path, tmp_path: Path) -> None:
    assert json.loads(out("--json", "--fail-limit", "3", str(recording)))["total"]["stopped"] == 1
    (tmp_path / "config.toml").write_text("[limits]\ncmd = 20\nexact = 20\n")
    assert json.loads(out("--json", "--config", str(tmp_path / "config.toml"), str(recording)))["total"]["stopped"] == 0
    assert json.loads(out("--json", "--profile", "loop-guard", str(recording)))["total"]["blockedBy"] != {"repeat": 3}


def test_a_recorded_config_lies_under_the_one_that_is_given(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    first = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"config": {"limits": {"cmd": 4, "exact": 4}}},
    }
    made = Made().turn().runs("make check", 5)
    requests = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for n, (m, p) in enumerate(made.messages, 1)]
    path.write_text("\n".join(json.dumps(each) for each in [first, *requests]))
    assert json.loads(out("--json", str(path)))["total"]["blocked"] == 2
    (tmp_path / "config.json").write_text('{"limits": {"cmd": 5, "exact": 5}}')
    assert json.loads(out("--json", "--config", str(tmp_path / "config.json"), str(path)))["total"]["blocked"] == 1


def test_a_record_of_a_server_is_judged_as_the_server_judged(tmp_path: Path) -> None:
    made = (
        Made().turn().runs("make check", 13).runs("curl -H 'Authorization: Bearer abcdefgh12345678' localhost/x", 6, 1)
    )
    requests = [{"jsonrpc": "2.0", "id": n, "method": m, "params": p} for n, (m, p) in enumerate(made.messages, 1)]
    for request in requests:
        if request["method"] == "guard":
            request["params"]["canAsk"] = False
    data = b"".join(json.dumps(each).encode() + b"\n" for each in requests)
    served = run("serve", "--record", str(tmp_path / "record.jsonl"), data=data)
    answers = [json.loads(line)["result"] for line in served.stdout.splitlines()]
    live = [answer["decision"] for answer in answers if "decision" in answer]
    events = json.loads(out("--json", str(tmp_path / "record.jsonl")))["sessions"][0]["events"]
    assert [event["decision"] for event in events if event["event"] == "call"] == live
    assert live.count("deny") == 3
    told = [[a["stage"] for a in event.get("advisories", [])] for event in events if event["event"] == "call"]
    assert sum(map(len, told)) == sum(len(answer.get("advisories", [])) for answer in answers)


def test_standard_input_folders_patterns_and_compression(recording: Path, tmp_path: Path) -> None:
    assert "the-loop" in out("-", data=recording.read_bytes())
    packed = tmp_path / "deep" / "er"
    packed.mkdir(parents=True)
    (packed / "a.jsonl.gz").write_bytes(gzip.compress(recording.read_bytes()))
    (packed / "notes.json").write_text('{"no": "recording"}')
    done = run("replay", str(tmp_path))
    assert done.returncode == 0
    assert done.stdout.decode().count("the-loop") == 2
    assert "1 file in folders is no recording" in done.stderr.decode()
    assert out(str(tmp_path / "**" / "*.gz")).count("the-loop") == 1


def test_compressed_recordings_in_folders_are_counted_apart_with_what_reads_them(recording: Path) -> None:
    for name in ("a.jsonl.zst", "b.jsonl.zst"):
        (recording.parent / name).write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    (recording.parent / "notes.json").write_text('{"no": "recording"}')
    prelude = "import sys\nsys.modules['zstandard'] = None"
    for command in (["replay"], ["sweep", "--set", "failLimit=3"]):
        done = run(*command, str(recording.parent), prelude=prelude)
        assert done.returncode == 0
        said = "2 recordings in folders are compressed with zstd, which needs the package zstandard: `pipx inject"
        assert said in done.stderr.decode()
    assert "1 file in folders is no recording" in run("replay", str(recording.parent), prelude=prelude).stderr.decode()


@pytest.mark.parametrize("command", [["replay"], ["sweep", "--set", "failLimit=3"]])
def test_a_folder_without_a_recording_is_named_with_how_much_was_looked_at(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").write_text("{}")
    done = run(*command, str(tmp_path))
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode().splitlines()[-1] == f"toolbreaker: no recording in {tmp_path} (2 files looked at)"


def test_several_processes_say_what_one_says(recording: Path) -> None:
    one = out("--json", str(recording), str(DATA / "dsh.jsonl"))
    assert out("--json", "-j", "2", str(recording), str(DATA / "dsh.jsonl")) == one
    assert out("--json", "-j", "2", str(recording)) == out("--json", str(recording))
    assert out("--jsonl", "-j", "2", "-", data=recording.read_bytes()).count("firstStop") == 2


def test_processes_that_share_a_file_give_its_sessions_in_order_and_then_its_trouble() -> None:
    reports = [SessionReport(name, "file", "wire") for name in "abc"]
    trouble = Trouble("file", "damaged")
    parts = [_Answer([reports[0], reports[2]], trouble), _Answer([reports[1]], trouble)]
    assert list(_merged(parts, Progress(1))) == [*reports, trouble]


def test_what_cannot_be_read_is_said_and_fails(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello\n")
    done = run("replay", str(tmp_path / "x"), str(tmp_path / "none.jsonl"), str(recording))
    assert done.returncode == 1
    assert "not a known recording (tried: " in done.stderr.decode()
    assert "No such file" in done.stderr.decode()
    assert "the-loop" in done.stdout.decode()
    assert run("replay", str(tmp_path / "none.jsonl")).stdout == b""


def test_wrong_arguments_end_with_2(recording: Path) -> None:
    assert b"no format; known are" in run("replay", "--format", "codexx", str(recording)).stderr
    for arguments in (["--format", "codexx"], ["--fail-limit", "1"], ["-", "-"]):
        assert run("replay", *arguments, str(recording)).returncode == 2


def test_a_recording_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    made = Made().turn().runs("printf '\x1b[2J\x1b]0;owned\x07'\nsecond \u202e line", 2, exit_code=3)
    (tmp_path / "r.jsonl").write_text(line(made, "\x1b[31mred\r\n", "\x1b[0m"))
    for shown in (out(str(tmp_path / "r.jsonl")), out("-v", str(tmp_path / "r.jsonl"))):
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
    assert clean("a\x1b[1m\ud800b\n", 40) == "a\N{REPLACEMENT CHARACTER}[1m\N{REPLACEMENT CHARACTER}b "


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_bar_shows_on_a_terminal_and_leaves_nothing() -> None:
    times = iter([0.0, 1.0, 2.0, 2.01])
    terminal = Terminal()
    progress = Progress(2, terminal, clock=lambda: next(times))
    progress.session(SessionReport("a", "a", "codex", calls=100))
    progress.file()
    progress.file()  # too soon after the last one to be drawn
    progress.clear()
    assert terminal.getvalue() == (
        "\r\x1b[K░░░░░░░░░░░░░░░░░░░░░░░░ 0/2 files, 1 session, 100 calls/s"
        "\r\x1b[K████████████░░░░░░░░░░░░ 1/2 files, 1 session, 50 calls/s"
        "\r\x1b[K"
    )
    silent = io.StringIO()
    quiet = Progress(1, silent)
    quiet.file()
    quiet.clear()
    assert silent.getvalue() == ""


def test_inputs_are_found_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.json", "c.txt", ".hidden.json"):
        (tmp_path / name).write_text("")
    assert [Path(each.path).name for each in inputs([str(tmp_path)])] == ["a.json", "b.jsonl"]
    assert [each.found for each in inputs([str(tmp_path / "c.txt"), str(tmp_path)])] == [False, True, True]
    assert [each.path for each in inputs([str(tmp_path / "*.nothing")])] == [str(tmp_path / "*.nothing")]
