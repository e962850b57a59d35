"""The real process over its standard input and output."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import PATIENCE, START, Server, command_line, environment, message, notification, run, until

READ = {"tool": "read", "arguments": {"path": "a.py"}}


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """One process for the tests that leave it running. It must end well after all of them."""
    with Server() as server:
        yield server
        assert server.close() == 0
        assert server.rest() == b""
        assert server.stderr() == ""


@pytest.fixture
def server(shared: Server) -> Server:
    shared.call("initialize")
    return shared


@pytest.fixture
def fresh() -> Iterator[Server]:
    with Server() as server:
        yield server


def replies(server: Server, count: int) -> list[Any]:
    return [json.loads(server.line()) for _ in range(count)]


def ids(server: Server, count: int) -> list[Any]:
    return [reply["id"] for reply in replies(server, count)]


# -- framing --------------------------------------------------------------------------------------------------


def test_several_requests_in_one_write_are_answered_in_order(server: Server) -> None:
    server.send(b"".join(message("status", {}, number) for number in range(50)))
    assert ids(server, 50) == list(range(50))


def test_one_request_in_many_writes_is_one_request(server: Server) -> None:
    for byte in message("status", {}, "slow"):
        server.send(bytes([byte]))
    assert ids(server, 1) == ["slow"]


def test_a_request_may_be_split_anywhere(server: Server) -> None:
    line = message("guard", {"tool": "é", "arguments": "😀"}, 1)
    for split in range(len(line) + 1):
        server.send(line[:split])
        server.send(line[split:])
    assert ids(server, len(line) + 1) == [1] * (len(line) + 1)


def test_crlf_a_byte_order_mark_and_blank_lines_do_no_harm(server: Server) -> None:
    server.send(b"\xef\xbb\xbf" + message("status", {}, 1).replace(b"\n", b"\r\n"))
    server.send(b"\n\r\n  \n" + message("status", {}, 2))
    assert ids(server, 2) == [1, 2]


def test_a_last_line_without_a_line_feed_is_answered(fresh: Server) -> None:
    fresh.send(message("status", {}, "last").rstrip())
    assert fresh.close() == 0
    assert json.loads(fresh.rest())["id"] == "last"


def test_input_that_ends_in_the_middle_of_a_message_is_a_parse_error(fresh: Server) -> None:
    fresh.send(message("status")[:20])
    assert fresh.close() == 0
    assert json.loads(fresh.rest())["error"]["code"] == -32700


def test_input_that_ends_at_once_is_no_fault(fresh: Server) -> None:
    assert fresh.close() == 0
    assert (fresh.rest(), fresh.stderr()) == (b"", "")


def test_a_line_over_the_limit_is_skipped_without_being_held() -> None:
    with Server("--max-line-bytes", "100000") as server:
        before = server.call("status")["server"]["memory"]
        piece = b"x" * 1_000_000
        for _ in range(64):
            server.send(piece)
        server.send(b"\n")
        (reply,) = replies(server, 1)
        assert (reply["id"], reply["error"]["code"]) == (None, -32600)
        assert server.call("status")["server"]["memory"] - before < 4_000_000
        assert server.close() == 0


def test_a_message_of_megabytes_is_answered(server: Server) -> None:
    big = "x" * 5_000_000
    assert server.call("guard", tool="write", arguments={"path": "a", "content": big})["decision"] == "allow"


# -- requests, notifications, batches -------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["a", 1, 1.5, None])
def test_the_id_of_a_request_comes_back(server: Server, id_: Any) -> None:
    server.send(message("status", {}, id_))
    assert ids(server, 1) == [id_]


def test_a_notification_is_silent_and_takes_effect(server: Server) -> None:
    server.send(notification("guard", READ) * 2)
    assert server.call("guard", **READ, explain=True)["fingerprints"][0]["count"] == 3


def test_a_batch_gets_one_array(server: Server) -> None:
    lines = [message("status", {}, 1), b"7", notification("status"), message("nonsense", {}, 2)]
    server.send(b"[" + b",".join(line.strip() for line in lines) + b"]\n[]\n")
    first, second = replies(server, 2)
    assert [(each["id"], each.get("error", {}).get("code")) for each in first] == [
        (1, None),
        (None, -32600),
        (2, -32601),
    ]
    assert second["error"]["code"] == -32600


@pytest.mark.parametrize("params", [None, {}, {"later": 1}])
def test_params_may_be_null_empty_or_of_a_later_version(server: Server, params: Any) -> None:
    assert "result" in server.ask("status", params)


def test_params_may_be_absent(server: Server) -> None:
    server.send(b'{"jsonrpc":"2.0","id":1,"method":"status"}\n')
    assert "result" in replies(server, 1)[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense\n", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"status","params":{"x":NaN}}\n', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}\n', -32700),
        (b"[" * 100_000 + b"\n", -32700),
        (b"{}\n", -32600),
        (message("nonsense"), -32601),
        (message("status", [1]), -32602),
        (message("guard", {"tool": 1, "arguments": {}}), -32602),
    ],
)
def test_an_error_has_its_code_and_the_process_goes_on(server: Server, line: bytes, code: int) -> None:
    server.send(line)
    assert replies(server, 1)[0]["error"]["code"] == code
    assert server.call("status")


def test_a_wrong_param_is_named_by_its_path(server: Server) -> None:
    (problem,) = server.fail("guard", {"tool": "read"})["data"]
    assert problem["key"] == "$.arguments"


def test_a_lone_surrogate_is_replaced_and_the_call_judged(server: Server) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"guard","params":{"tool":"say","arguments":{"text":"\\ud83d"}}}\n'
    server.send(line)
    assert replies(server, 1)[0]["result"]["decision"] == "allow"


def test_initialize_again_starts_afresh_and_a_wrong_configuration_changes_nothing(server: Server) -> None:
    server.call("initialize", config={"limits": {"exact": 2}})
    server.call("guard", **READ)
    data = server.fail("initialize", {"config": {"window": 0, "nonsense": 1}})["data"]
    assert [problem["key"] for problem in data] == ["window", "nonsense"]
    assert server.call("guard", **READ)["decision"] == "ask"
    server.call("initialize", config={"limits": {"exact": 3}})
    assert [server.call("guard", **READ)["decision"] for _ in range(3)] == ["allow", "allow", "ask"]


def test_shutdown_is_answered_and_ends_the_process(fresh: Server) -> None:
    fresh.send(message("shutdown", {}, 1) + message("status", {}, 2))
    assert fresh.wait() == 0
    assert json.loads(fresh.rest()) == {"jsonrpc": "2.0", "id": 1, "result": {}}


# -- what does not belong on the wire -------------------------------------------------------------------------

NOISE = """
import os, subprocess, sys
from breaker.engine import Engine
judge = Engine.guard
def guard(self, call, **options):
    print("stray print")
    sys.stdout.flush()
    os.write(1, b"stray write\\n")
    subprocess.run(["sh", "-c", "echo stray child; cat"], timeout=10)
    return judge(self, call, **options)
Engine.guard = guard
"""


def test_stray_output_reaches_stderr_and_a_child_reads_no_request() -> None:
    with Server(prelude=NOISE) as server:
        server.send(message("guard", READ, 1) + message("status", {}, 2))
        assert ids(server, 2) == [1, 2]
        assert server.close() == 0
        assert server.rest() == b""
        assert set(server.stderr().split("\n")) >= {"stray print", "stray write", "stray child"}


FAULT = """
from breaker.engine import Engine
def fault(self, *args, **options):
    raise RuntimeError("a secret detail")
Engine.guard = Engine.status = fault
"""


def test_a_fault_while_judging_lets_the_call_pass_and_is_logged_once() -> None:
    with Server(prelude=FAULT) as server:
        for _ in range(2):
            assert server.call("guard", **READ) == {"decision": "allow", "hits": [], "degraded": True}
        assert server.fail("status") == {"code": -32603, "message": "Internal error"}
        assert server.close() == 0
        assert server.stderr().count("Traceback") == 1
        assert "RuntimeError: a secret detail" in server.stderr()


# -- the end --------------------------------------------------------------------------------------------------

HELD = """
import os
from breaker.engine import Engine
judge = Engine.guard
def guard(self, call, **options):
    os.write({started}, b"x")
    os.read({release}, 1)
    return judge(self, call, **options)
Engine.guard = guard
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_working_lets_the_message_in_hand_be_answered(number: signal.Signals) -> None:
    started, has_started = os.pipe()
    release, releasing = os.pipe()
    prelude = HELD.format(started=has_started, release=release)
    try:
        with Server(prelude=prelude, pass_fds=(has_started, release)) as server:
            server.send(message("guard", READ, "in hand") + message("status", {}, "not looked at"))
            assert select.select([started], [], [], PATIENCE)[0]
            server.signal(number)
            os.write(releasing, b"x")
            assert server.wait() == 0
            assert json.loads(server.rest())["id"] == "in hand"
            assert server.stderr() == ""
    finally:
        for descriptor in (started, has_started, release, releasing):
            os.close(descriptor)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_idle_ends_the_process(fresh: Server, number: signal.Signals) -> None:
    fresh.call("status")
    fresh.signal(number)
    assert fresh.wait() == 0
    assert (fresh.rest(), fresh.stderr()) == (b"", "")


LOADING = """
import os, sys
class Loading:
    def find_spec(self, name, path, target=None):
        if name == "breaker.engine":
            os.write({started}, b"x")
            os.read({release}, 1)
sys.meta_path.insert(0, Loading())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_still_loading_ends_the_process(number: signal.Signals) -> None:
    started, has_started = os.pipe()
    release, releasing = os.pipe()
    prelude = LOADING.format(started=has_started, release=release)
    try:
        with Server(prelude=prelude, pass_fds=(has_started, release)) as server:
            assert select.select([started], [], [], PATIENCE)[0]
            server.signal(number)
            assert server.wait() == 0
            assert (server.rest(), server.stderr()) == (b"", "")
    finally:
        for descriptor in (started, has_started, release, releasing):
            os.close(descriptor)


def test_a_signal_in_the_middle_of_a_line_ends_the_process(fresh: Server) -> None:
    fresh.send(message("status", {}, 1) + message("status", {}, 2)[:10])
    assert ids(fresh, 1) == [1]
    fresh.signal(signal.SIGTERM)
    assert fresh.wait() == 0
    assert fresh.rest() == b""


def test_a_signal_ends_a_process_whose_reader_does_not_read() -> None:
    prelude = "import protocol.stdio\nprotocol.stdio.GRACE_SECONDS = 0.2"
    with Server(prelude=prelude) as server:
        server.call("status")
        request = message("userTurn")  # a short reply: the pipe fills up to its last bytes
        writer = subprocess.Popen(
            [sys.executable, "-c", "import sys\nwhile True: sys.stdout.buffer.write(sys.argv[1].encode())", request],
            stdout=server.process.stdin,
        )
        try:
            until(lambda: _is_full(server), "the pipe being full")
            server.signal(signal.SIGTERM)
            assert server.wait() == 0
        finally:
            writer.kill()
            writer.wait(PATIENCE)


def _is_full(server: Server) -> bool:
    """Whether the pipe that nobody reads has hardly any room left: the next reply blocks."""
    assert server.process.stdout
    waiting = array("i", [0])
    fcntl.ioctl(server.process.stdout, termios.FIONREAD, waiting)
    return waiting[0] > 60_000


def test_a_reader_that_has_gone_is_no_fault(fresh: Server) -> None:
    fresh.call("status")
    assert fresh.process.stdout
    fresh.process.stdout.close()
    fresh.send(message("status"))
    assert fresh.wait() == 0
    assert fresh.stderr() == ""


def test_a_harness_that_died_with_all_its_pipes_is_no_fault() -> None:
    read_error, write_error = os.pipe()
    process = subprocess.Popen(
        command_line("serve", prelude=FAULT),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=write_error,
        env=environment(),
    )
    os.close(write_error)
    assert process.stdin
    assert process.stdout
    os.close(read_error)
    process.stdout.close()
    process.stdin.write(message("guard", READ))  # a fault to be logged, and a reply: neither can be written
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_standard_descriptors_that_are_closed_are_no_fault(closed: str) -> None:
    line = ["sh", "-c", f'exec "$@" {closed}', "sh", *command_line("serve")]
    done = subprocess.run(
        line, input=message("status"), capture_output=True, timeout=PATIENCE, env=environment(), check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"result" in done.stdout) == (closed == "2>&-")


def test_a_pipe_that_does_not_block_gets_whole_replies() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(
        command_line("serve"), stdin=subprocess.PIPE, stdout=writing, env=environment(), bufsize=0
    )
    os.close(writing)
    assert process.stdin
    try:
        process.stdin.write(message("nonsense", {}, "x" * 300_000))
        process.stdin.close()
        data = b""
        while piece := os.read(reading, 4096):
            data += piece
        assert json.loads(data)["id"] == "x" * 300_000
        assert process.wait(PATIENCE) == 0
    finally:
        os.close(reading)
        process.kill()
        process.wait(PATIENCE)


def test_on_a_terminal_it_says_what_it_is() -> None:
    master, slave = pty.openpty()
    try:
        with Server(stdin=slave) as server:
            os.close(slave)
            until(lambda: "JSON-RPC" in server.stderr(), "a word on stderr")
            os.write(master, b"\x04")  # Ctrl-D
            assert server.wait() == 0
            assert server.rest() == b""
    finally:
        os.close(master)


# -- where and how it is started ------------------------------------------------------------------------------


def test_a_hostile_working_directory_changes_nothing(tmp_path: Path) -> None:
    for name in ("breaker", "protocol"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('hostile')")
    for name in ("msgspec.py", "json.py", "sitecustomize.py", "jsonrpcserver.py", "usercustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('hostile')")
    script = tmp_path / "bin" / "toolbreaker"
    script.parent.mkdir()
    script.write_text(START)
    done = subprocess.run(
        [sys.executable, str(script), "serve"],
        input=message("status"),
        capture_output=True,
        timeout=PATIENCE,
        env=environment(),
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"result"' in done.stdout


def test_a_wrong_configuration_at_the_start_is_status_2_with_the_list(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"window": 1, "limts": {}}')
    done = run("serve", "--config", str(config), TOOLBREAKER_ON_LIMIT="panic")
    assert (done.returncode, done.stdout) == (2, b"")
    for part in ("window", "limts", "onLimit"):
        assert part in done.stderr.decode()


def test_settings_of_the_command_line_and_the_environment_hold() -> None:
    with Server("--profile", "loop-guard", TOOLBREAKER_WINDOW="9") as server:
        config = server.call("initialize")["config"]
        assert (config["profile"], config["window"]) == ("loop-guard", 9)


def test_an_unknown_variable_is_a_remark_on_stderr() -> None:
    done = run("serve", TOOLBREAKER_NONSENSE="1")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "TOOLBREAKER_NONSENSE" in done.stderr.decode()


@pytest.mark.parametrize("arguments", [["--max-line-bytes", "0"], ["--max-line-bytes", "x"], ["--nonsense"]])
def test_wrong_arguments_are_status_2(arguments: list[str]) -> None:
    done = run("serve", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")


def test_memory_stays_flat_over_many_messages() -> None:
    with Server() as server:
        line = message("guard", READ) + message("postExecute", {**READ, "result": {}})

        def talk(times: int) -> int:
            for _ in range(times):
                server.send(line * 20)
                ids(server, 40)
                server.send(notification("userTurn"))
            memory = server.call("status")["server"]["memory"]
            assert isinstance(memory, int)
            return memory

        before = talk(20)
        assert talk(100) - before < 1_000_000
        assert server.close() == 0
