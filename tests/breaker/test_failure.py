"""What counts as a failure of a call that ran, what as a success, and what as neither."""

from __future__ import annotations

import time
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from breaker.events import Result
from breaker.failure import MAX_HEAD, classify, is_transient, message_of


class Facts(Struct, frozen=True):
    """What the classification knows of a call."""

    kind: str = "shell"
    reads_only: bool = False
    writes_status: Literal["first", "last"] | None = None


RUN = Facts()
READ = Facts(reads_only=True)
FETCH = Facts(kind="url")
OTHER = Facts(kind="other")
STATUS_FIRST = Facts(writes_status="first")
STATUS_LAST = Facts(writes_status="last")


def outcome(facts: Facts, **result: Any) -> str:
    """`ok`, `neutral`, or the reason of the failure with its detail."""
    found = classify(facts, Result(**result))
    if found.failure is None:
        assert found.kind in ("ok", "neutral")
        return found.kind
    assert found.kind == "failed"
    return found.failure.reason if found.failure.detail is None else f"{found.failure.reason} {found.failure.detail}"


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "said"),
        [
            ({"message": "no", "info": {"name": "FsError", "code": "ENOENT"}}, "error ENOENT"),
            ({"code": "ENOENT", "name": "Error"}, "error ENOENT"),
            ({"info": {"name": "FsError"}, "code": "EIO"}, "error EIO"),
            ({"info": {"name": "FsError"}}, "error FsError"),
            ({"name": "ToolDenied"}, "error ToolDenied"),
            ({"code": -32602, "message": "bad params"}, "error -32602"),
            ({"code": "DENIED", "name": "ToolDenied"}, "error DENIED"),
            ({"code": "", "name": None}, "error"),
            ("no such tool", "error"),
            (None, "error"),
            ([], "error"),
        ],
    )
    def test_a_thrown_error_is_named_by_its_code_or_name(self, error: Any, said: str) -> None:
        assert outcome(OTHER, is_error=True, error=error, content="Error: no") == said

    def test_an_error_without_a_name_is_known_by_its_exit_code(self) -> None:
        assert outcome(RUN, is_error=True, value={"exitCode": 3}, content="Exit code 3") == "error exit code 3"

    def test_an_error_comes_before_what_else_the_result_says(self) -> None:
        assert outcome(RUN, is_error=True, error={"code": "E"}, value={"kind": "background"}) == "error E"
        assert outcome(FETCH, is_error=True, error={"code": "E"}, value={"statusCode": 200}) == "error E"


class TestAborts:
    @pytest.mark.parametrize(
        "error",
        [
            {"info": {"name": "AbortError", "code": "ABORTED"}},
            {"code": "ABORTED_BEFORE_DISPATCH"},
            {"name": "AbortError"},
            {"code": "ABORT_ERR"},
            {"code": "aborted"},
            {"info": {"code": "Cancelled"}},
            {"code": "ERR_CANCELED", "name": "CanceledError"},
            {"name": "OperationCanceledException"},
            {"code": "INTERRUPTED"},
            {"code": "user-abort"},
            {"name": "Operation Cancelled"},
            {"aborted": True, "code": "E"},
            {"interrupted": True},
            "interrupted",
            "This operation was aborted",
            {"message": "The operation was aborted"},
        ],
    )
    def test_an_abort_is_neutral_however_it_is_spelled(self, error: Any) -> None:
        assert outcome(RUN, is_error=True, error=error) == "neutral"

    @pytest.mark.parametrize("text", ["[Request interrupted by user for tool use]", "Error: aborted by user after 2 s"])
    def test_an_error_whose_text_begins_with_an_abort_is_one(self, text: str) -> None:
        assert outcome(OTHER, is_error=True, content=[{"type": "text", "text": text}]) == "neutral"

    @pytest.mark.parametrize(
        "value",
        [
            {"aborted": True, "exitCode": 130},
            {"aborted": True, "exitCode": None, "signal": "SIGTERM"},
            {"interrupted": True, "stdout": "", "stderr": ""},
        ],
    )
    def test_a_command_that_was_aborted_is_neutral_whatever_it_ended_with(self, value: Any) -> None:
        assert outcome(RUN, value=value) == "neutral"

    def test_an_abort_that_did_not_happen_is_none(self) -> None:
        assert outcome(RUN, value={"aborted": False, "interrupted": False, "exitCode": 1}) == "exit 1"
        assert outcome(RUN, value={"exitCode": 0}, content="aborted by user") == "ok"
        assert outcome(OTHER, is_error=True, error={"code": "TRANSACTION_ABORTED_BY_RULE"}) == (
            "error TRANSACTION_ABORTED_BY_RULE"
        )


class TestBackground:
    def test_a_background_start_is_neutral(self) -> None:
        assert outcome(RUN, value={"kind": "background", "jobId": "j1"}, content="[exit code: 1]") == "neutral"

    @pytest.mark.parametrize(
        "text",
        [
            "Chunk ID: bb429e\nWall time: 1.0 seconds\nProcess running with session ID 86402\nOutput:\nTraceback",
            "Command running in background with ID: bofc546ii. Output is being written to: /tmp/x",
        ],
    )
    def test_a_command_that_still_runs_is_neutral(self, text: str) -> None:
        assert outcome(RUN, content=text) == "neutral"


class TestStructure:
    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ({"kind": "foreground", "exitCode": 2}, "exit 2"),
            ({"exitCode": -9}, "exit -9"),
            ({"exitCode": 1.0}, "exit 1"),
            ({"exitCode": 0}, "ok"),
            ({"exitCode": None, "signal": "SIGKILL"}, "signal SIGKILL"),
            ({"exitCode": 0, "signal": ""}, "ok"),
            ({"exitCode": 0, "signal": None, "timedOut": False}, "ok"),
            ({"timedOut": True, "timeoutMs": 5000}, "timeout 5000ms"),
            ({"timedOut": True, "timeoutMs": 5000, "signal": "SIGTERM", "exitCode": None}, "timeout 5000ms"),
            ({"timedOut": True}, "timeout"),
            ({"exitCode": 124, "timedOut": True, "timeoutMs": 1}, "exit 124"),
            ({"exitCode": 0, "sandbox": {"denied": True}}, "sandbox"),
            ({"exitCode": 0, "sandbox": {"denied": False}}, "ok"),
            ({"exitCode": 0, "sandbox": {"denied": "/etc/passwd"}}, "sandbox /etc/passwd"),
            ({"exitCode": 0, "sandbox": {}}, "ok"),
        ],
    )
    def test_a_command_is_judged_by_how_it_ended(self, value: Any, said: str) -> None:
        assert outcome(RUN, value=value, content="") == said

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (404, "http 404"),
            (400, "http 400"),
            (500.0, "http 500"),
            (399, "ok"),
            (200, "ok"),
            (None, "ok"),
            ("404", "ok"),
        ],
    )
    def test_a_fetch_is_judged_by_its_status(self, status: Any, said: str) -> None:
        assert outcome(FETCH, value={"statusCode": status}, content="x") == said

    def test_a_good_status_is_final_even_for_a_shell(self) -> None:
        text = "HTTP Error 400\nTraceback (most recent call last)"
        assert outcome(FETCH, value={"statusCode": 200}, content=text) == "ok"
        assert outcome(RUN, value={"statusCode": 200}, content=text) == "ok"

    @pytest.mark.parametrize(("status", "said"), [(100, "ok"), (399, "ok"), (99, "http 500"), (0, "http 500")])
    def test_what_is_no_status_leaves_the_question_to_the_text(self, status: int, said: str) -> None:
        assert outcome(RUN, value={"statusCode": status}, content="HTTP Error 500") == said

    @pytest.mark.parametrize("facts", [OTHER, FETCH])
    @pytest.mark.parametrize(
        "text",
        ["ValueError: boom\nTraceback (most recent call last):", "[exit code: 2]", "HTTP Error 500", "curl: (6) x"],
    )
    def test_the_prose_of_other_tools_is_not_read(self, facts: Facts, text: str) -> None:
        assert outcome(facts, content=text) == "ok"

    @pytest.mark.parametrize("value", [None, [], "exit 1", 5, True, {"exitCode": "many"}, {"exitCode": True}])
    def test_a_value_of_another_shape_says_nothing(self, value: Any) -> None:
        assert outcome(RUN, value=value, content="fine") == "ok"

    @pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), 10**400])
    def test_a_number_that_measures_nothing_says_nothing(self, number: float) -> None:
        assert outcome(RUN, value={"exitCode": number, "statusCode": number}, content="fine") == "ok"


class TestText:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("boom\n[exit code: 2]", "exit 2"),
            ("fine\n[exit code: 0]", "ok"),
            ("a\n[exit code: 2]\nb\n[exit code: 0]", "ok"),
            ("got page (HTTP 404)", "http 404"),
            ("got page (HTTP 200)", "ok"),
            ("got pages (HTTP 503) and (HTTP 200)", "http 503"),
            ("(no output)\n[timed out after 300ms]\n[killed by signal: SIGTERM]", "timeout 300ms"),
            ("[killed by signal: SIGKILL]", "signal SIGKILL"),
            ("[sandbox: file access denied: /etc/shadow]", "sandbox"),
            ("got HTTP Error 503: busy", "http 503"),
            ("HTTP Error 200", "ok"),
            ("HTTP Error 40400", "ok"),
            ("curl: (6) Could not resolve host", "curl 6"),
            ("  0  0\rcurl: (28) Operation timed out", "curl 28"),
            ("curl: (0) fine", "ok"),
            ("ok", "ok"),
            ("", "ok"),
        ],
    )
    def test_what_a_shell_shows_is_the_evidence_that_is_left(self, text: str, said: str) -> None:
        assert outcome(RUN, content=text) == said
        assert outcome(RUN, content=[{"type": "image"}, {"type": "text", "text": text}]) == said
        assert outcome(RUN, content=text.replace("\n", "\r\n")) == said

    def test_without_content_the_streams_are_read(self) -> None:
        assert outcome(RUN, value={"exitCode": 0, "stdout": "x", "stderr": "curl: (7) refused"}) == "curl 7"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("Traceback (most recent call last):\n  File \"p.py\"\nKeyError: 'x'", "exception KeyError"),
            (
                'Traceback (most recent call last):\n  File "p.py", line 1\n    x()\nKeyboardInterrupt\n',
                "exception KeyboardInterrupt",
            ),
            ('Traceback (most recent call last):\n  File "p.py"\nzlib.error: bad data\n', "exception zlib.error"),
            (
                'Traceback (most recent call last):\n  File "p.py"\njinja2.TemplateNotFound: a.html',
                "exception TemplateNotFound",
            ),
            ("Traceback (most recent call last):", "exception"),
            ('Traceback (most recent call last):\n  File "p.py"\n\nDone: 5 files', "exception"),
            ("urllib.error.URLError: <urlopen error>", "exception URLError"),
            ("boom\nTypeError: x is not a function\n    at a.js:1", "exception TypeError"),
            ("java.lang.IllegalStateException: no", "exception IllegalStateException"),
            ("this page explains ValueError: what it means", "ok"),
            ("  onError: (e) => {\n", "ok"),
            ("onError: (e) => {\n", "ok"),
            ("  ValueError: indented", "ok"),
            ("ValidationError:\n  type: object", "ok"),
            ("Error: something", "ok"),
            ("ValueErrors: 0", "ok"),
        ],
    )
    def test_a_crash_shows_by_its_traceback_or_by_its_exception(self, text: str, said: str) -> None:
        assert outcome(RUN, value={"exitCode": 0}, content=text) == said
        assert outcome(RUN, value={"exitCode": 0}, content=text.replace("\n", "\r\n")) == said

    def test_of_chained_exceptions_the_last_is_named(self) -> None:
        text = (
            'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n\n'
            "During handling of the above exception, another exception occurred:\n\n"
            'Traceback (most recent call last):\n  File "a.py", line 3\n    raise Late from e\napp.errors.Late: no\n'
        )
        assert outcome(RUN, content=text) == "exception Late"
        assert outcome(RUN, content=f"{text}RuntimeError: after all\n") == "exception RuntimeError"

    def test_an_exception_comes_before_the_status_that_it_reports(self) -> None:
        text = "Traceback (most recent call last):\n  x\nurllib.error.HTTPError: HTTP Error 404: Not Found"
        assert outcome(RUN, content=text) == "exception HTTPError"


class TestWrittenStatus:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("404", "http 404"),
            ("500 1532", "http 500"),
            ("code=503\n", "http 503"),
            ("200\n404 /tmp/f", "ok"),
            ("404.5", "ok"),
            ("40404", "ok"),
            ("1532 404", "ok"),
            ("HTTP/1.1 404", "ok"),
            ("", "ok"),
        ],
    )
    def test_with_the_body_elsewhere_the_first_number_is_the_status(self, text: str, said: str) -> None:
        assert outcome(STATUS_FIRST, value={"exitCode": 0}, content=text) == said

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("<p>200 rooms</p>\n404", "http 404"),
            ("Not found404", "http 404"),
            ("404 is a number\n200", "ok"),
            ("500 rooms 12404", "ok"),
            ("nothing", "ok"),
        ],
    )
    def test_with_the_body_before_it_the_last_number_is_the_status(self, text: str, said: str) -> None:
        assert outcome(STATUS_LAST, value={"exitCode": 0}, content=text) == said

    def test_a_command_that_asks_for_no_status_has_none(self) -> None:
        assert outcome(RUN, content="404 /tmp/f") == "ok"


class TestReaders:
    @pytest.mark.parametrize(
        "text",
        [
            "Traceback (most recent call last):\nValueError: boom",
            "step 1\n[exit code: 2]\nstep 2",
            "HTTP Error 500",
            "curl: (6) Could not resolve host",
            "urllib.error.URLError: x",
            "seen (HTTP 404)",
        ],
    )
    def test_reading_about_failures_is_recovery(self, text: str) -> None:
        assert outcome(READ, content=text) == "ok"
        assert outcome(READ, value={"exitCode": 0}, content=text) == "ok"

    def test_a_reader_that_fails_itself_has_failed(self) -> None:
        assert outcome(READ, value={"exitCode": 1}, content="cat: missing.log") == "exit 1"
        assert outcome(READ, value={"timedOut": True, "timeoutMs": 10}) == "timeout 10ms"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("ValueError: x\n[exit code: 1]", "exit 1"),
            ("ValueError: x\n[exit code: 1]\n\n", "exit 1"),
            ("x\n[timed out after 300ms]\n[killed by signal: SIGTERM]", "timeout 300ms"),
            ("x\n[sandbox: file access denied: /etc]", "sandbox"),
            ("x\n[exit code: 0]", "ok"),
            ("a line that quotes [exit code: 1]", "ok"),
        ],
    )
    def test_the_harness_closes_its_output_with_a_marker(self, text: str, said: str) -> None:
        assert outcome(READ, content=text) == said

    def test_every_other_mark_counts_beside_the_exit_code_0_of_a_reader(self) -> None:
        assert outcome(READ, value={"exitCode": 0}, content="x\n(HTTP 404)") == "http 404"

    def test_a_file_that_ends_in_an_exit_code_is_no_failure_when_the_harness_says_0(self) -> None:
        assert outcome(READ, value={"exitCode": 0}, content="log\n[exit code: 1]") == "ok"


class TestEnvelopes:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            (
                "Chunk ID: 4b2\nWall time: 0.3 seconds\nProcess exited with code 3\nOriginal token count: 9\nOutput:\n",
                "exit 3",
            ),
            ("Wall time: 0.3 seconds\nProcess exited with code 0\nOutput:\nfine", "ok"),
            ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", "exit 1"),
            ('{"output":"no\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}', "exit 1"),
            ('{"output": "yes", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', "ok"),
            ("<returncode>2</returncode>\n<output>\nno\n</output>", "exit 2"),
            ("<returncode>0</returncode>\n<output>\nKeyError: 1\n</output>", "exception KeyError"),
            ("<untrusted_context>\nOutput: x\nExit Code: 3\nProcess Group PGID: 1\n</untrusted_context>", "exit 3"),
            (
                "Output: x\nError: (none)\nExit Code: 127\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 8",
                "exit 127",
            ),
            ("<untrusted_context>\nOutput: x\nProcess Group PGID: 1\n</untrusted_context>", "ok"),
            (
                "<untrusted_context>\nCommand was automatically cancelled because it exceeded the timeout of 1 minutes",
                "timeout",
            ),
        ],
    )
    def test_the_exit_code_that_a_harness_writes_around_the_output_counts(self, text: str, said: str) -> None:
        assert outcome(RUN, content=text) == said

    @pytest.mark.parametrize(
        "text",
        [
            "log: Process exited with code 3",
            "Process exited with code 3",
            "Exit code: 1",
            "Exit code 1\nmore",
            "x <returncode>2</returncode>",
            "Exit Code: 3\nnothing else",
        ],
    )
    def test_a_commands_own_words_are_no_envelope(self, text: str) -> None:
        assert outcome(RUN, content=text) == "ok"

    def test_a_reader_is_judged_by_its_envelope(self) -> None:
        shown = "Wall time: 1 seconds\nProcess exited with code {}\nOutput:\nTraceback (most recent call last):\nE: 1"
        assert outcome(READ, content=shown.format(0)) == "ok"
        assert outcome(READ, content=shown.format(1)) == "exit 1"

    def test_a_written_status_is_looked_for_inside_the_envelope(self) -> None:
        text = (
            "Chunk ID: 404404\nWall time: 0.3 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n{}"
        )
        assert outcome(STATUS_FIRST, content=text.format(404)) == "http 404"
        assert outcome(STATUS_FIRST, content=text.format(200)) == "ok"

    def test_other_tools_have_no_envelope(self) -> None:
        assert outcome(OTHER, content="<returncode>2</returncode>") == "ok"


class TestLongTexts:
    def test_a_crash_at_the_end_of_a_long_text_is_seen(self) -> None:
        text = "line of a long log\n" * 100_000
        assert (
            outcome(RUN, content=f"{text}Traceback (most recent call last):\n  x\nKeyError: 1") == "exception KeyError"
        )
        assert outcome(READ, content=f"{text}[exit code: 1]") == "exit 1"
        assert outcome(STATUS_LAST, content=f"{text}404") == "http 404"

    def test_a_status_at_the_beginning_of_a_long_text_is_seen(self) -> None:
        assert outcome(STATUS_FIRST, content="404 " + "x" * 1_000_000) == "http 404"

    @pytest.mark.parametrize("more", range(12))
    def test_the_middle_of_a_line_is_never_taken_for_its_beginning(self, more: int) -> None:
        assert outcome(RUN, content="see " + "KeyError: x " * 50_000 + "y" * more) == "ok"

    def test_the_middle_of_a_long_text_is_not_read(self) -> None:
        lines = "line of a long log\n" * 3_000
        assert outcome(RUN, content=f"{lines}[exit code: 2]\n{lines}") == "ok"

    def test_a_text_of_64_kilobytes_is_read_whole(self) -> None:
        mark = "[exit code: 2]"
        half = "x" * (MAX_HEAD - len(mark) // 2)
        assert outcome(RUN, content=half + mark + half) == "exit 2"
        assert outcome(RUN, content=f"{half}{mark}{half}x") == "ok"

    @pytest.mark.parametrize(
        "piece",
        [
            "a.",
            "A",
            "1",
            "1.",
            "Error",
            "\n",
            " ",
            "[",
            "[exit code: ",
            "\nTraceback (most recent call last)\n ",
            "curl: (",
        ],
    )
    @pytest.mark.parametrize("facts", [RUN, READ, STATUS_FIRST, STATUS_LAST])
    def test_no_text_takes_long(self, piece: str, facts: Facts) -> None:
        text = piece * (3_000_000 // len(piece))
        start = time.thread_time()
        outcome(facts, content=text)
        is_transient(Result(content=text), text)
        assert time.thread_time() - start < 2


MEMBERS = ["kind", "exitCode", "timedOut", "timeoutMs", "signal", "statusCode", "sandbox", "denied", "info"]
MEMBERS += ["code", "name", "message", "aborted", "text", "type", "stdout", "stderr"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=4),
    max_leaves=10,
)
FACTS = st.sampled_from([RUN, READ, FETCH, OTHER, STATUS_FIRST, STATUS_LAST])


@given(FACTS, JSON, JSON, st.booleans(), JSON)
def test_any_json_is_classified(facts: Facts, content: Any, value: Any, is_error: bool, error: Any) -> None:
    result = Result(content, value, is_error, error)
    found = classify(facts, result)
    assert (found.failure is not None) == (found.kind == "failed")
    is_transient(result, message_of(result))


class TestTransient:
    @pytest.mark.parametrize(
        "text",
        [
            "read ECONNRESET",
            "curl: (7) Failed to connect to a.example port 443: Connection refused",
            "ConnectionResetError: [Errno 104] Connection reset by peer",
            "requests.exceptions.ReadTimeout: HTTPSConnectionPool: Read timed out.",
            "curl: (6) Could not resolve host: a.example",
            "socket.gaierror: [Errno -2] Name or service not known",
            "getaddrinfo EAI_AGAIN a.example",
            "dial tcp: lookup a.example: no such host",
            "HTTP Error 429: Too Many Requests",
            "HTTP/1.1 502 Bad Gateway",
            "Request failed with status code 503",
            "504 Gateway Time-out",
            "503",
        ],
    )
    def test_a_network_that_fails_for_a_while_is(self, text: str) -> None:
        assert is_transient(Result(content=text), text)

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_a_busy_server_is(self, status: int) -> None:
        assert is_transient(Result(value={"statusCode": status}), "")

    def test_an_error_code_of_the_network_is(self) -> None:
        assert is_transient(Result(is_error=True, error={"info": {"code": "ETIMEDOUT"}}), "Error: no")
        assert is_transient(Result(is_error=True, error={"message": "connect ECONNREFUSED 127.0.0.1:80"}), "")

    @pytest.mark.parametrize(
        "text",
        [
            "HTTP Error 404: Not Found",
            "KeyError: 503",
            "x.py:429: error",
            "[timed out after 5000ms]",
            "ENOENT",
            "",
            "500",
        ],
    )
    def test_a_mistake_is_not(self, text: str) -> None:
        assert not is_transient(Result(content=text), text)


def test_the_message_of_an_error_is_found_wherever_it_stands() -> None:
    assert message_of(Result(error={"message": "a", "info": {"code": "x"}})) == "a"
    assert message_of(Result(error="b")) == "b"
    assert message_of(Result(error=[1])) == ""
