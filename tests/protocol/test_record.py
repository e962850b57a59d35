"""`--record`: everything that went over the wire, without its secrets, and a replay that judges the same."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from support import Memory, Server, message, notification, run

from protocol.record import Recording


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "arguments": {"command": command}}


def test_every_line_in_and_out_is_recorded_with_its_time(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with Server("--record", str(file)) as server:
        result = server.call("guard", **bash("ls"))
        server.send(notification("userTurn"))
        server.send(b"nonsense\n")
        error = json.loads(server.line())
        assert server.close() == 0
    rows = recorded(file)
    assert [next(name for name in row if name != "t") for row in rows] == ["in", "out", "in", "in", "out"]
    assert [row["t"] for row in rows] == sorted(row["t"] for row in rows)
    assert rows[0]["in"] == json.loads(message("guard", bash("ls"), 1))
    assert rows[1]["out"] == {"jsonrpc": "2.0", "id": 1, "result": result}
    assert rows[3]["in"] == "nonsense"
    assert rows[4]["out"] == error


def test_the_time_of_a_request_is_the_one_it_was_judged_by(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    memory = Memory(recorder=Recording(str(file), b"k", print))
    memory.now = 1234.5678
    memory.call("status")
    assert recorded(file)[0]["t"] == 1234.5678


def test_only_its_owner_can_read_a_recording(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch(0o644)
    for file in (old, new):
        run("serve", "--record", str(file), data=message("status"))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(recorded(file)) == 2


SECRETS = [
    bash("curl https://bob:hunter2@h.example/x"),
    bash("curl -H 'Authorization: Bearer hunter2' https://h.example/x"),
    bash("TOKEN=hunter2 ./deploy"),
    bash("export API_KEY='hunter2'; ./deploy"),
    bash("cd /srv && sshpass -p hunter2 ssh bob@h.example uptime"),
    bash("mysqldump -u root -phunter2 shop > shop.sql"),
    {"tool": "shell", "arguments": {"command": ["curl", "-su", "bob:hunter2", "https://h.example/x"]}},
    {
        "tool": "web_fetch",
        "arguments": {"url": "https://x:hunter2@h.example/", "headers": {"authorization": "hunter2"}},
    },
    {"tool": "login", "arguments": {"user": "bob", "password": "hunter2", "deep": [{"apiKey": "hunter2"}]}},
]


@pytest.mark.parametrize("call", SECRETS)
def test_a_secret_never_reaches_the_file(tmp_path: Path, call: dict[str, Any]) -> None:
    file = tmp_path / "a.jsonl"
    with Server("--record", str(file)) as server:
        server.call("guard", callId="c", **call, explain=True)
        server.call("postExecute", callId="c", result={"content": "printenv: TOKEN=hunter2"})
        server.send(b'nonsense TOKEN=hunter2 "\n')
        server.line()
        server.close()
    assert "hunter2" not in file.read_text()
    assert len(recorded(file)) == 6


def decisions(requests: list[Any]) -> list[Any]:
    """What a fresh process decides on some requests."""
    lines = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
    done = run("serve", "--limits", '{"exact": 3, "cmd": 3, "net": 3}', data=lines)
    out = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    return [(result["decision"], [(hit["gate"], hit["count"]) for hit in result["hits"]]) for result in out]


def test_equal_stays_equal_and_a_replay_judges_the_same(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    calls = [call for call in SECRETS for _ in range(3)]
    calls += [bash("TOKEN=other ./deploy"), bash("curl https://bob:other@h.example/y")]
    requests = [json.loads(message("guard", call, number)) for number, call in enumerate(calls)]
    lines = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
    run("serve", "--record", str(file), data=lines)
    masked = [row["in"] for row in recorded(file) if "in" in row]
    assert masked != requests
    assert decisions(masked) == decisions(requests)


def test_a_secret_has_other_pseudonyms_in_another_recording(tmp_path: Path) -> None:
    seen = set()
    for name in ("a", "b"):
        run("serve", "--record", str(tmp_path / name), data=message("guard", SECRETS[2]))
        seen.add(json.dumps(recorded(tmp_path / name)[0]["in"]))
    assert len(seen) == 2


def test_a_recording_that_was_cut_off_is_continued_on_a_line_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"t": 1, "in": {"jsonr')
    run("serve", "--record", str(file), data=message("status"))
    assert [json.loads(line)["t"] > 1 for line in file.read_text().splitlines()[1:]] == [True, True]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_disk_is_one_line_on_stderr_and_serving_goes_on() -> None:
    mode = os.stat("/dev/full").st_mode  # noqa: PTH116
    with Server("--record", "/dev/full") as server:
        for _ in range(3):
            assert server.call("guard", **bash("ls"))["decision"] == "allow"
        assert server.close() == 0
        (line,) = server.stderr().splitlines()
        assert "/dev/full" in line
        assert "No space left" in line
    assert os.stat("/dev/full").st_mode == mode  # noqa: PTH116


def test_a_recording_that_cannot_be_opened_is_said_at_the_start(tmp_path: Path) -> None:
    done = run("serve", "--record", str(tmp_path / "missing" / "a.jsonl"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert "cannot record" in done.stderr.decode()


def test_two_processes_may_record_to_one_file(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    lines = b"".join(message("guard", bash(f"ls {number}"), number) for number in range(50))
    threads = [
        threading.Thread(target=run, args=("serve", "--record", str(file)), kwargs={"data": lines}) for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recorded(file)) == 200
