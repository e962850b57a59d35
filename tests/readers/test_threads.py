"""A run with subagents in files of their own becomes one session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import run

from protocol.readers import open_recording
from protocol.readers.threads import Thread, merged, thread_of
from protocol.replay.collect import Input, together

DATA = Path(__file__).parent / "data"
RAW = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "raw"


def claude(path: Path, second: int, agent: str | None, *calls: str) -> Path:
    """A transcript whose calls come two seconds apart, each answered a second later."""
    rows: list[dict[str, Any]] = []
    marks = {"isSidechain": agent is not None, "sessionId": "run-1", **({"agentId": agent} if agent else {})}
    prompt = "Look into src"

    def row(kind: str, content: Any) -> None:
        stamp = f"2026-01-05T10:00:{second + len(rows):02}Z"
        message = {"role": kind, "content": content, "id": f"{agent}-{len(rows)}"}
        rows.append({"type": kind, "uuid": f"{agent}-{len(rows)}", "timestamp": stamp, "message": message, **marks})

    row("user", prompt if agent else "Go")
    for number, command in enumerate(calls):
        tool, given = ("Task", {"prompt": prompt}) if command == "Task" else ("Bash", {"command": command})
        call_id = f"{agent}-t{number}"
        row("assistant", [{"type": "tool_use", "id": call_id, "name": tool, "input": given}])
        if command != "Task":
            row("user", [{"type": "tool_result", "tool_use_id": call_id, "content": "ok"}])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        claude(tmp_path / "agent-a1.jsonl", 5, "a1", "ls", "pwd"),
        claude(tmp_path / "run-1.jsonl", 0, None, "make", "Task", "date"),
    ]


def test_the_head_of_a_file_says_whose_it_is(files: list[Path]) -> None:
    assert thread_of(files[0]) == Thread("claude-code", "run-1", True)
    assert thread_of(files[1]) == Thread("claude-code", "run-1", False)
    assert thread_of(DATA / "codex.jsonl") == Thread("codex", "th1", False)
    assert thread_of(DATA / "codex-subagent.jsonl") == Thread("codex", "th1", True)
    assert thread_of(DATA / "opencode.json") == Thread("opencode", "ses_1", False)
    assert thread_of(DATA / "dsh.jsonl") == Thread("dsh", "session-1", False)
    assert thread_of(DATA / "gemini-cli.jsonl") is None
    assert thread_of(DATA / "none") is None
    assert thread_of(DATA) is None


def test_subagents_join_the_file_of_their_run_whatever_the_order(files: list[Path]) -> None:
    inputs = [Input(str(path)) for path in [files[0], DATA / "codex.jsonl", files[1], DATA / "tau-bench.json"]]
    assert together(inputs) == [
        Input(str(DATA / "codex.jsonl")),
        Input(str(files[1]), subagents=(str(files[0]),)),
        Input(str(DATA / "tau-bench.json")),
    ]


def test_a_subagent_without_the_file_of_its_run_stays_alone(files: list[Path]) -> None:
    assert together([Input(str(files[0])), Input("-")]) == [Input(str(files[0])), Input("-")]


def test_messages_come_in_the_order_of_their_times(files: list[Path]) -> None:
    opened = [open_recording(files[1]), open_recording(files[0])]
    session = merged([next(sessions) for sessions in opened])
    told = [
        (params["agent"], method, params.get("arguments", {}).get("command"))
        for method, params in session.messages
        if method in ("guard", "agentStarted", "agentEnded")
    ]
    # main: make at 1, Task at 3, date at 4; the subagent: its prompt at 5, ls at 6, pwd at 8
    assert told == [
        ("main", "guard", "make"),
        ("main", "guard", None),
        ("main", "guard", "date"),
        ("a1", "agentStarted", None),
        ("a1", "guard", "ls"),
        ("a1", "guard", "pwd"),
        ("a1", "agentEnded", None),
    ]


def test_what_two_files_tell_counts_once(files: list[Path], tmp_path: Path) -> None:
    """The parent's file may show the subagent's calls in progress rows."""
    copies = [next(open_recording(path)) for path in (files[0], files[0])]
    listed = list(merged(copies).messages)
    assert [method for method, _ in listed].count("guard") == 2
    assert [method for method, _ in listed].count("postExecute") == 2
    assert [method for method, _ in listed].count("agentStarted") == 1


def test_the_command_puts_them_together_unless_told_otherwise(files: list[Path], tmp_path: Path) -> None:
    rows = run("replay", "--jsonl", str(tmp_path)).stdout.splitlines()
    (report,) = map(json.loads, rows)
    assert (report["name"], report["calls"], report["agents"]) == ("run-1", 5, 2)
    apart = [json.loads(row) for row in run("replay", "--jsonl", "--apart", str(tmp_path)).stdout.splitlines()]
    assert [(report["name"], report["calls"]) for report in apart] == [("agent-a1", 2), ("run-1", 3)]
    cells = json.loads(run("sweep", "--set", "failLimit=5", "--json", str(tmp_path)).stdout)["cells"]
    assert cells[0]["total"]["sessions"] == 1


@pytest.mark.skipif(not RAW.is_dir(), reason=f"the recordings are not at {RAW}")
def test_the_recorded_subagents_find_their_runs() -> None:
    found = together([Input(str(path)) for path in sorted(RAW.rglob("*")) if path.is_file()])
    joined = {Path(each.path).name: len(each.subagents) for each in found if each.subagents}
    # ls of the folders; the children of dsh name session-8f71a4c0… as their parentSession
    assert joined == {
        "scripted-sub.jsonl": 2,
        "sub-v1.jsonl": 1,
        "session-8f71a4c0-6d74-4620-af9f-38831eaa8d29.jsonl": 2,
        "sub.export.json": 2,
    }
