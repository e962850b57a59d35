"""How a call went, and what of its answer counts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from breaker import failure
from breaker.events import Result
from breaker.evidence.answers import read_answer
from breaker.evidence.facts import Answer, Facts
from breaker.evidence.keys import describe
from breaker.identity.identify import Identifier
from breaker.settings import preset

IDENTIFIER = Identifier(preset("adaptive"))


def answer(
    content: Any,
    tool: str = "lookup",
    arguments: Any = None,
    *,
    value: Any = None,
    error: Any = None,
    is_error: bool = False,
) -> Answer:
    arguments = {} if arguments is None else arguments
    identity = IDENTIFIER.identify(tool, arguments)
    facts: Facts = describe(tool, arguments, reading=identity.reading if identity.kind == "shell" else None)
    result = Result(content, value, is_error, error)
    return read_answer(facts, result, failure.classify(identity, result))


def shell(content: str, command: str = "make", exit: int | None = None) -> Answer:  # noqa: A002 - the shell's word
    value = None if exit is None else {"kind": "foreground", "exitCode": exit}
    return answer(content, "bash", {"command": command}, value=value)


EMPTY = [
    "",
    "[]",
    "{}",
    "null",
    "No matches found",
    "No files found",
    "(no sessions)",
    "Warning: the file is shorter than the provided offset (900). It has 12 lines.",
    "No new messages.",
    "Found 0 results",
    "0 lemmas found",
    '{"items": [], "total": 0, "nextCursor": null}',
    '{"query": "x", "results": []}',
    '{"ok": true, "items": [], "generatedAt": "2026-04-14T10:00:07Z", "requestId": "9f8e7d6c5b4a"}',
    '{"exists": false}',
    '{"result": "No matches found", "timestamp": "2026-03-01T00:00:00Z"}',
    "[2026-03-01T00:00:07Z] ",
    "[2026-03-01T00:00:07Z] No matches found",
]


@pytest.mark.parametrize("text", EMPTY)
def test_an_answer_that_found_nothing_is_empty(text: str) -> None:
    assert answer(text).outcome == "empty"


SOMETHING = [
    "5",
    "ok",
    "No errors found",
    "nothing to commit, working tree clean",
    '{"balance": 0.0, "currency": "EUR"}',
    '{"ok": true}',
    '{"timed_out": true, "status": {}}',
    "false",
]


@pytest.mark.parametrize("text", SOMETHING)
def test_an_answer_that_says_something_is_not_empty(text: str) -> None:
    assert answer(text).outcome == "ok"


def test_a_look_that_ends_with_one_and_says_nothing_found_nothing() -> None:
    assert shell("", "grep -rn x src", 1).outcome == "empty"
    assert shell("", "pytest -q", 1).outcome == "fail"
    assert shell("grep: src: No such file or directory", "grep -rn x src", 2).outcome == "fail"


CLASSES = [
    ("cat: a: No such file or directory", "not found"),
    ("Error: 404 Not Found: no issue with this id", "not found"),
    ('ERROR: relation "users_1" does not exist', "not found"),
    ("Error: listen EADDRINUSE: address already in use :::8080", "in use"),
    ("curl: (7) Failed to connect to localhost port 3000: Connection refused", "refused"),
    ("Error: connect ETIMEDOUT 10.0.0.1:443", "timeout"),
    ("429 Too Many Requests. Request id: req_1", "rate"),
    ("Error: 401 Unauthorized", "auth"),
    ("deploy@host: Permission denied (publickey).", "auth"),
    ("bash: foo: command not found", "no command"),
    ("Error: getaddrinfo ENOTFOUND registry.npmjs.org", "dns"),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'", "not found"),
    ("E: Could not get lock /var/lib/dpkg/lock-frontend", "locked"),
    ("Error: listen EPERM: operation not permitted 0.0.0.0:8080", "permission"),
    ("503 Service Unavailable", "unavailable"),
    ("File content (41000 tokens) exceeds maximum allowed tokens (25000)", "too large"),
]


@pytest.mark.parametrize(("text", "name"), CLASSES)
def test_a_failure_that_the_system_names_is_hard(text: str, name: str) -> None:
    found = answer(text, is_error=True, error={"code": "TOOL_ERROR", "message": text})
    assert (found.outcome, found.failure, found.hard) == ("fail", name, True)


def test_a_failure_that_only_its_text_tells_is_soft_whatever_varies_in_it() -> None:
    one = shell("main.c:40:5: error: conflicting types for 'total'\nmake: *** [main.o] Error 1", exit=2)
    other = shell("util.c:9:1: error: conflicting types for 'sum'\nmake: *** [util.o] Error 1", exit=2)
    third = shell("main.c:40:5: error: expected ';' before 'return'\nmake: *** [main.o] Error 1", exit=2)
    assert not one.hard
    assert one.failure == other.failure != third.failure


@pytest.mark.parametrize(
    "text",
    [
        "Error: document could not be opened",
        "ls: cannot access 'x': No such file or directory",
        "fatal: not a git repository",
        'Traceback (most recent call last):\n  File "x"\nValueError: no',
        "  Cell In[1], line 1\n    x = '\n        ^\nSyntaxError: unterminated string literal (detected at line 1)",
        json.dumps({"error": {"code": 500, "message": "boom"}}),
        json.dumps({"success": False, "reason": "boom"}),
        json.dumps({"output": "boom", "exit_code": 2}),
        "Just a moment...\nEnable JavaScript and cookies to continue",
    ],
)
def test_a_short_answer_that_reads_like_a_failure_is_one_though_nothing_flags_it(text: str) -> None:
    assert answer(text, "run_job").outcome == "fail"


def test_a_long_answer_that_begins_with_an_error_is_what_was_looked_at() -> None:
    log = "Error: boom\n" + "\n".join(f"line {n}" for n in range(200))
    assert answer(log).outcome == "ok"
    assert shell("x = 1\nraise ValueError: no", "tail -2 app.log", 0).outcome == "ok"


DENIED = [
    ("Permission denied by policy", {"code": "DENIED", "message": "Permission denied by policy"}),
    ("The user doesn't want to proceed with this tool use. The tool use was rejected.", None),
    ("Permission to use Bash with command rm has been denied.", None),
    ("Blocked by hook: force pushes are not allowed by policy.", None),
    ("This command requires approval", None),
]


@pytest.mark.parametrize(("text", "error"), DENIED)
def test_what_somebody_does_not_want_is_denied(text: str, error: Any) -> None:
    assert answer(text, is_error=error is not None, error=error).outcome == "denied"


@pytest.mark.parametrize(
    "text",
    [
        "Unknown tool: central_list_sites",
        "validation error: command is required",
        "<tool_use_error>InputValidationError: The parameter `offset` type is expected as `number`</tool_use_error>",
        "Invalid arguments for tool search: expected string, received object",
        "Tool 'shell' does not exist. Available tools: read_file",
    ],
)
def test_a_call_that_was_wrong_itself_is_invalid(text: str) -> None:
    assert answer(text, is_error=True, error={"message": text}).outcome == "invalid"


def test_an_abort_is_no_evidence() -> None:
    assert answer("", is_error=True, error={"code": "ABORTED"}).outcome == "aborted"


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("(session 2 still running)", 1),
        ('{"status": "IN_PROGRESS"}', 1),
        ("build\tpending\t0", 1),
        ("<status>completed</status>", -1),
        ("no such session", -1),
        ("46 items", 0),
    ],
)
def test_short_answers_say_whether_something_goes_on(text: str, live: int) -> None:
    assert answer(text, "get_status").live == live


def test_long_answers_do_not() -> None:
    assert answer("the job is running\n" * 60).live == 0


def test_a_command_left_running_is_told_from_a_look_at_one() -> None:
    found = shell("Command still running (session neat-cloud, pid 17). Use process for follow-up.", "bash run.sh")
    assert found.started
    assert found.live == 0


ENVELOPES = [
    lambda text, n: text,
    lambda text, n: json.dumps(
        {"result": text, "timestamp": f"2026-03-01T00:00:0{n}Z", "requestId": f"{n}f8e7d6c5b4a39"}
    ),
    lambda text, n: f"[2026-03-01T00:0{n}:07.00{n}Z] {text}",
    lambda text, n: f"{text}\n(took 0.{n}s, request 3f2a9c1e-1111-4000-8000-aaaaaaaaaa{n:02d})",
    lambda text, n: [{"type": "text", "text": text}],
]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_times_and_ids_around_an_answer_make_no_other_answer(envelope: Any) -> None:
    assert answer(envelope("row one\nrow two", 1)).same == answer(envelope("row one\nrow two", 2)).same
    assert answer(envelope("row one\nrow two", 1)).same != answer(envelope("row one\nrow three", 1)).same


def test_line_numbers_make_no_other_lines() -> None:
    plain, numbered = answer("def f():\n    return 1"), answer("     1\tdef f():\n     2\t    return 1")
    assert set(plain.lines) == set(numbered.lines)


def test_pictures_are_told_by_their_data_and_opaque_without() -> None:
    def picture(data: str | None) -> Answer:
        block = {"type": "image"} if data is None else {"type": "image", "data": data}
        return answer([{"type": "text", "text": "ok"}, block])

    assert picture("aaaa").same != picture("bbbb").same
    assert picture("aaaa").bones == picture("bbbb").bones
    assert answer([{"type": "image"}]).opaque
    assert answer([{"type": "image", "data": "aaaa"}], "get_screenshot").outcome == "ok"


def test_an_error_that_stands_in_a_log_is_no_failure_of_the_command_that_shows_it() -> None:
    assert shell("error: connection lost", "grep -i lost app.log", 0).outcome == "ok"
    assert shell("grep: app.log: No such file or directory", "grep -i lost app.log 2>&1 | head", 0).outcome == "fail"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("zcat a.gz | head", "gzip: a.gz: No such file or directory"),
        ("less a.txt | head", "a.txt: No such file or directory"),
    ],
)
def test_a_file_that_is_not_there_is_a_failure_under_whatever_name_the_program_speaks(command: str, text: str) -> None:
    assert shell(text, command, 0).outcome == "fail"


def test_a_name_of_any_length_in_an_answer_is_read() -> None:
    assert answer('{"%s": "a"}' % ("n" * 100_000)).same != answer('{"%s": "b"}' % ("n" * 100_000)).same


def test_a_list_that_holds_no_blocks_is_read_as_data() -> None:
    assert answer([{"id": "T1", "title": "a"}]).same != answer([{"id": "T2", "title": "b"}]).same
    assert answer([{"type": "text", "text": ""}]).same == answer("").same


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000,
        "error " * 20_000,
        "no " * 30_000,
        "(" * 50_000,
        "a: " * 40_000,
        "~ " * 50_000,
        "is required " * 9_000,
        "[" * 5_000,
        "'" * 50_000,
        "/" * 50_000,
    ],
)
def test_no_answer_takes_long(text: str) -> None:
    began = time.process_time()
    answer(text)
    answer(text, is_error=True, error={"message": text})
    shell(text, exit=1)
    assert time.process_time() - began < 0.5


def test_a_structured_result_is_the_answer_where_there_is_no_text() -> None:
    assert answer(None, value={"rows": [1, 2]}).same != answer(None, value={"rows": [1, 3]}).same
    assert answer(None, value={"rows": []}).outcome == "empty"
    assert answer(None, value={"kind": "foreground", "exitCode": 0}).outcome == "empty"


def test_a_number_is_a_status_only_where_one_is_named() -> None:
    test = shell("E   assert 404 == 200\nFAILED tests/test_api.py::test_get", "pytest -q", 1)
    assert not test.hard
    assert shell("HTTP/1.1 404 Not Found", "./fetch.sh", 1).failure == "not found"
    assert shell("upstream returned status code 503", "./fetch.sh", 1).failure == "unavailable"
    assert shell("404", "./fetch.sh", 1).failure == "not found"


def test_where_nobody_answers_a_deed_failed_for_now() -> None:
    told = answer("(no answer)", "ask_user", {"question": "Shall I go on?"})
    assert (told.outcome, told.failure) == ("fail", "no answer")
    assert answer("No reply yet", "check_inbox").outcome == "empty"


def test_names_that_nobody_chose_differ_by_numbers_alone() -> None:
    drawn = [
        answer(text).bones for text in ("3f0c9a1e-77aa-4b1e-9d2c-0a1b2c3d4e5f", "9d2c0a1b-11bb-4c3d-8e4f-5a6b7c8d9e0f")
    ]
    assert drawn[0] == drawn[1]


def test_what_says_one_thing_over_and_over_says_little() -> None:
    assert answer("0000 " * 100).size < 20
    assert answer(" ".join(f"word{n}" for n in range(100))).size > 400


def test_members_and_resources_are_answers_whatever_carries_them() -> None:
    assert answer({"percent": 4}).same != answer({"percent": 8}).same
    carried = [[{"type": "resource", "resource": {"uri": "a:b", "text": text}}] for text in ("one two", "three four")]
    assert answer(carried[0]).same != answer(carried[1]).same
    assert answer(carried[0]).same == answer("one two").same
