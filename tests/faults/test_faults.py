"""What can happen to a process: it is stopped, nobody reads, nothing ends, limits are low, disks are full."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import termios
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from support import PATIENCE, ROOT, Server, command_line, environment, message, notification, run, until

READ = {"tool": "read", "arguments": {"path": "a.py"}}
MEGABYTE = 1_000_000

LIMITED = """
import os
import resource
import protocol.stdio
serve = protocol.stdio.serve
def limited(*arguments, **options):
    {limit}
    return serve(*arguments, **options)
protocol.stdio.serve = limited
"""
"""Sets a limit once all is loaded: from then on it is the messages that meet it."""

ADDRESS_SPACE = """
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + {room}
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
"""


def resident(server: Server) -> int:
    """What the process holds, as the kernel sees it: it need not answer for that."""
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def state(server: Server) -> str:
    """The kernel's letter for what the process does: S sleeps, T is stopped."""
    return Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def waiting(pipe: IO[bytes] | None) -> int:
    """Bytes in a pipe that nobody has read."""
    assert pipe
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


# -- time that stands still ---------------------------------------------------------------------------------------


def test_a_process_that_was_stopped_goes_on_where_it_was(server: Server) -> None:
    server.call("guard", **READ)
    server.signal(signal.SIGSTOP)
    until(lambda: state(server) == "T", "the process being stopped")
    server.send(message("guard", READ, "while stopped"))
    assert waiting(server.process.stdin) > 0
    server.signal(signal.SIGCONT)
    assert json.loads(server.line())["id"] == "while stopped"
    assert server.call("guard", **READ, explain=True)["fingerprints"][0]["count"] == 3
    assert server.close() == 0
    assert server.stderr() == ""


def test_a_process_that_was_stopped_and_asked_to_end_ends_once_it_may(server: Server) -> None:
    server.call("status")
    server.signal(signal.SIGSTOP)
    until(lambda: state(server) == "T", "the process being stopped")
    server.signal(signal.SIGTERM)
    server.signal(signal.SIGCONT)
    assert server.wait() == 0


# -- ends of pipes ------------------------------------------------------------------------------------------------


def test_while_nobody_reads_it_waits_and_holds_no_more(server: Server) -> None:
    server.call("status")
    before = resident(server)
    request = message("nonsense", {}, "x" * 500)
    count = 4_000
    writer = threading.Thread(target=server.send, args=(request * count,), daemon=True)
    writer.start()
    until(lambda: waiting(server.process.stdout) > 50_000 and waiting(server.process.stdin) > 50_000, "full pipes")
    until(lambda: state(server) == "S", "the process waiting")
    assert resident(server) - before < MEGABYTE
    for _ in range(count):
        assert json.loads(server.line())["id"] == "x" * 500
    writer.join(PATIENCE)
    assert server.close() == 0
    assert server.rest() == b""


def test_a_writer_of_single_bytes_is_understood(server: Server) -> None:
    lines = b"\xef\xbb\xbf" + message("guard", {**READ, "agent": "é"}, 1).replace(b"\n", b"\r\n")
    lines += b"\r\n" + notification("guard", READ) + b"nonsense\n" + message("status", {"agent": "main"}, 2)
    for byte in lines:
        server.send(bytes([byte]))
    replies = [json.loads(server.line()) for _ in range(3)]
    assert [reply["id"] for reply in replies] == [1, None, 2]
    assert replies[2]["result"]["agents"]["main"]["unsettled"] == 1


def test_a_line_that_never_ends_is_not_held_and_does_not_keep_it_from_ending(server: Server) -> None:
    server.call("status")
    before = resident(server)
    piece = b"x" * MEGABYTE
    for _ in range(100):
        server.send(piece)
    assert resident(server) - before < 20 * MEGABYTE  # a line of 8 MiB would have been taken
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert (server.rest(), server.stderr()) == (b"", "")


def test_blank_lines_without_end_are_no_messages_and_take_no_memory(server: Server) -> None:
    server.call("status")
    before = resident(server)
    for _ in range(20):
        server.send(b"\n \r\n" * 50_000)
    assert server.call("status")["server"]["faults"] == 0
    assert resident(server) - before < MEGABYTE


def test_windows_line_ends_make_no_difference(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_bytes(b"limits:\r\n  exact: 3\r\nonLimit: deny\r\n")
    lines = b"".join(message("guard", {**READ, "callId": f"c{number}"}, number) for number in range(3))
    unix, windows = (
        run("serve", "--config", str(config), data=data) for data in (lines, lines.replace(b"\n", b"\r\n"))
    )
    assert unix.stdout == windows.stdout
    assert json.loads(windows.stdout.splitlines()[2])["result"]["decision"] == "deny"
    recording = tmp_path / "requests.jsonl"
    recording.write_bytes(lines.replace(b"\n", b"\r\n"))
    replayed = run("replay", "--config", str(config), str(recording))
    assert (replayed.returncode, replayed.stderr) == (0, b"")
    assert b"REPEAT_TOOL_BLOCKED" in run("replay", "--json", "--config", str(config), str(recording)).stdout


# -- many -----------------------------------------------------------------------------------------------------------


def test_ten_thousand_sessions_fit_into_one_process(server: Server) -> None:
    def say(numbers: range) -> list[bytes]:
        return [
            message("guard", {**READ, "agent": f"session-{number}", "callId": "c"}, number)
            + message(
                "postExecute", {"agent": f"session-{number}", "callId": "c", "result": {"content": "text"}}, number
            )
            for number in numbers
        ]

    before = server.call("status", agent="nobody")["server"]["memory"]
    for start in range(0, 10_000, 50):
        server.send(b"".join(say(range(start, start + 50))))
        replies = [json.loads(server.line())["result"] for _ in range(100)]
        assert [reply.get("decision", "settled") for reply in replies] == ["allow", "settled"] * 50
    # 10 kB each, with what Python adds: the 20 000 that are remembered stay below half a gigabyte.
    assert server.call("status", agent="nobody")["server"]["memory"] - before < 10_000 * 10_000
    verdict = server.call("guard", **READ, agent="session-0", explain=True)
    assert verdict["fingerprints"][0]["count"] == 2


def test_sessions_that_begin_afresh_leave_nothing_behind(server: Server) -> None:
    def sessions(count: int) -> int:
        for _ in range(count):
            server.call("initialize")
            for number in range(3):
                server.call("guard", **READ, agent=f"a{number}")
        memory = server.call("status", agent="nobody")["server"]["memory"]
        assert isinstance(memory, int)
        return memory

    before = sessions(50)
    assert sessions(300) - before < MEGABYTE


# -- limits ---------------------------------------------------------------------------------------------------------

LARGE: list[tuple[str, Any]] = [
    ("guard", {"tool": "write", "arguments": {"path": "a", "content": "x" * 7 * MEGABYTE}}),
    ("guard", {"tool": "bash", "arguments": {"command": "a " * 3 * MEGABYTE}}),
    ("guard", {"tool": "x", "arguments": [[]] * 2 * MEGABYTE}),
    ("guard", {"tool": "fetch", "arguments": {"url": "https://a.example/" + "%41" * 2 * MEGABYTE}}),
    ("postExecute", {**READ, "result": {"content": "Error: no\n" * 700_000, "isError": True}}),
    ("nonsense", {"x": ["\ud83d" * 100_000]}),
]


@pytest.mark.parametrize("room", [1, 4, 16, 64])
def test_where_memory_ends_messages_are_answered_and_the_process_goes_on(room: int) -> None:
    limit = ADDRESS_SPACE.format(room=room * MEGABYTE)
    with Server(prelude=LIMITED.format(limit=limit)) as server:
        for number, (method, params) in enumerate(LARGE):
            server.send(message(method, params, number))
            reply = json.loads(server.line())
            assert reply.get("result") is not None or reply["error"]["code"] in (-32603, -32601, -32700), reply
        assert server.call("guard", **READ)["decision"] == "allow"
        assert server.close() == 0


def test_with_no_descriptor_left_it_serves() -> None:
    limit = "os.open(os.devnull, os.O_RDONLY); n = len(os.listdir('/proc/self/fd')) - 1"
    limit += "; resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))"
    with Server(prelude=LIMITED.format(limit=limit)) as server:
        shell = {"command": "curl https://a.example/x | jq ."}
        assert server.call("guard", tool="bash", arguments=shell)["decision"] == "allow"
        assert server.call("status")["server"]["faults"] == 0
        assert server.close() == 0
        assert server.stderr() == ""


# -- disks ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_recording_on_a_full_disk_ends_with_a_word_and_the_serving_goes_on() -> None:
    with Server("--record", "/dev/full") as server:
        for _ in range(3):
            assert server.call("guard", **READ)["decision"] == "allow"
        assert server.close() == 0
        assert server.stderr().count("No space left on device") == 1


def test_a_recording_past_the_allowed_size_ends_with_a_word_and_what_is_there_can_be_replayed(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    with Server("--record", str(file), prelude=LIMITED.format(limit=limit)) as server:
        for number in range(20):
            assert server.call("guard", tool="read", arguments={"path": number})["decision"] == "allow"
        assert server.close() == 0
        assert "File too large" in server.stderr()
    assert file.stat().st_size == 2000
    replayed = run("replay", "--json", str(file))
    assert replayed.returncode == 0
    assert json.loads(replayed.stdout)


# -- what a terminal may be -------------------------------------------------------------------------------------------

C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}


def test_a_locale_without_letters_changes_nothing_on_the_wire(tmp_path: Path) -> None:
    call = {"tool": "write", "arguments": {"path": "straße/日本.txt", "text": "😀"}, "explain": True}
    config = tmp_path / "größe.json"
    config.write_text(json.dumps({"previewChars": 300}))
    lines = message("guard", call) + message("initialize", {"config": {"größe": 1}})
    plain, c = (run("serve", "--config", str(config), data=lines, **variables) for variables in ({}, C_LOCALE))
    assert plain.stdout == c.stdout
    assert "straße/日本.txt" in c.stdout.decode()
    assert (c.returncode, c.stderr) == (0, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", '{"tool": "bash", "arguments": {"command": "curl https://bücher.example/ä > größe"}}'),
        ("check-config", "größe.json"),
        ("replay", "größe.jsonl"),
        ("--help",),
        ("größe",),
    ],
)
def test_a_locale_without_letters_stops_no_command(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "größe.json").write_text('{"größe": 1, "exclude": ["日本"]}', "utf-8")
    lines = [message("guard", {"tool": "write", "arguments": {"text": "ä 日本 😀"}}, number) for number in range(20)]
    (tmp_path / "größe.jsonl").write_bytes(b"".join(lines))
    done = run(*arguments, cwd=tmp_path, **C_LOCALE)
    assert b"Traceback" not in done.stderr
    assert done.stdout or done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["explain", "check-config", "replay", "state", "hook"])
def test_commands_end_well_when_standard_descriptors_are_closed(command: str, closed: str, tmp_path: Path) -> None:
    call = '{"tool": "bash", "arguments": {"command": "make"}}'
    recording = tmp_path / "recording.jsonl"
    recording.write_bytes(message("guard", READ))
    given = {
        "explain": ["explain", call],
        "check-config": ["check-config"],
        "replay": ["replay", str(recording)],
        "state": ["state", "path"],
        "hook": ["hook", "claude-code"],
    }[command]
    line = ["sh", "-c", f'exec "$@" {closed}', "sh", *command_line(*given)]
    variables = {"XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        line, input=b"{}", capture_output=True, timeout=PATIENCE, env=environment(**variables), check=False, cwd=ROOT
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)


def test_words_for_people_that_nobody_can_hear_stop_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.Popen(
        command_line("serve"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=writing,
        env=environment(TOOLBREAKER_NONSENSE="1"),  # worth a remark
    )
    os.close(writing)
    output, _ = process.communicate(message("status"), PATIENCE)
    assert b'"result"' in output
    assert process.returncode == 0
