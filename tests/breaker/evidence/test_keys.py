"""Which calls are the same action, and which are much the same."""

from __future__ import annotations

from typing import Any

import pytest

from breaker.evidence.facts import Facts
from breaker.evidence.keys import describe
from breaker.identity.identify import Identifier
from breaker.settings import preset

IDENTIFIER = Identifier(preset("adaptive"))


def facts(tool: str, arguments: Any) -> Facts:
    identity = IDENTIFIER.identify(tool, arguments)
    return describe(tool, arguments, reading=identity.reading if identity.kind == "shell" else None)


def shell(command: Any) -> Facts:
    return facts("bash", {"command": command})


SAME_ACTION = [
    ("pytest -q", "pytest -q 2>&1"),
    ("pytest -q", "pytest -q | cat"),
    ("pytest -q", "pytest -q 2>&1 | tail -20"),
    ("pytest -q", "pytest -q | head -n 100"),
    ("pytest -q", "cd . && pytest -q"),
    ("pytest -q", "timeout 60 pytest -q"),
    ("pytest -q", "pytest -q || true"),
    ("bash check.sh", "bash ./check.sh"),
    ("git status", ["bash", "-lc", "git status"]),
    ("sleep 300", "sleep 300 | cat"),
]


@pytest.mark.parametrize(("one", "other"), SAME_ACTION)
def test_pagers_silence_and_wrappers_make_no_other_action(one: Any, other: Any) -> None:
    assert shell(one).strict == shell(other).strict
    assert shell(one).kind == shell(other).kind


def test_other_commands_are_other_actions() -> None:
    assert shell("pytest -q a.py").strict != shell("pytest -q b.py").strict
    assert shell("cd a && make").strict != shell("cd b && make").strict
    assert shell("gh issue view 5").loose != shell("gh issue view 6").loose


SHELL_KINDS = [
    ("git status", "read"),
    ("cat a | grep b", "read"),
    ("ls; pwd", "read"),
    ("curl -s https://a.example/x", "read"),
    ("curl -o page.html https://a.example/x", "read"),
    ("gh pr checks 12", "read"),
    ("kubectl get pods", "read"),
    ("curl -X POST https://a.example/x", "act"),
    ("gh api graphql -f query=x", "act"),
    ("echo x > f", "mutate"),
    ("sed -i s/a/b/ f", "mutate"),
    ("git commit -m x", "mutate"),
    ("rm -rf build && ls", "mutate"),
    ("npm ci", "mutate"),
    ("pytest -q", "run"),
    ("npm test", "run"),
    ("python - <<'E'\nprint(1)\nE", "run"),
    ("sleep 5", "wait"),
    ("sleep 5; echo done", "wait"),
    ("echo ok", "wait"),
    ("test -f x && echo there", "read"),
    ("find . -name x -delete", "mutate"),
    ("ls | xargs rm", "mutate"),
    ("git stash list", "read"),
    ("git stash", "mutate"),
    ("cd src", "read"),
]


@pytest.mark.parametrize(("command", "kind"), SHELL_KINDS)
def test_commands_tell_what_a_script_does(command: str, kind: str) -> None:
    assert shell(command).kind == kind


MUCH_THE_SAME = [
    ("cat app.py", "head -60 app.py"),
    ("cat app.py", "sed -n '1,50p' ./app.py"),
    ("cat app.py", "nl -ba app.py | head -40"),
    ("ls src", "ls -la src/"),
    ("git status --short", "git diff --stat"),
    ("git status", "git -C . status --porcelain=v1"),
    ("git diff --name-only HEAD", "git ls-files --modified"),
    ("curl 'https://a.example/l?page=2'", "curl 'https://a.example/l?page=3'"),
    ("curl 'https://a.example/l?_=1760000000'", "curl 'https://a.example/l?_=1760000007'"),
]


@pytest.mark.parametrize(("one", "other"), MUCH_THE_SAME)
def test_flags_ranges_and_pages_of_a_look_make_it_much_the_same(one: str, other: str) -> None:
    assert shell(one).strict != shell(other).strict
    assert shell(one).loose == shell(other).loose


def test_a_run_is_never_much_the_same_as_another() -> None:
    assert shell("pytest -x").loose != shell("pytest").loose


def test_a_commit_in_other_words_is_much_the_same_and_a_file_in_other_words_is_not() -> None:
    commits = shell("git commit -m 'finish the first step'"), shell("git commit -m 'the first step is finished'")
    assert commits[0].loose == commits[1].loose
    assert not commits[0].content
    assert shell("echo 'some words for you' > f").content
    assert shell("cat > f <<'E'\nsome words for you\nE").content


def test_time_outs_and_reasons_make_no_other_action() -> None:
    one = facts("lookup", {"q": "a", "timeout": 5, "justification": "first"})
    assert one.strict == facts("lookup", {"q": "a", "timeout": 9, "justification": "again"}).strict
    assert one.strict != facts("lookup", {"q": "b"}).strict


def test_paging_free_text_and_references_make_a_call_much_the_same() -> None:
    assert facts("list_issues", {"page": 1}).loose == facts("list_issues", {"page": 2}).loose
    assert (
        facts("web_search", {"query": "how to cancel a task"}).loose
        == facts("web_search", {"query": "cancel one task how"}).loose
    )
    assert (
        facts("browser_click", {"element": "Pay", "ref": "e1"}).loose
        == facts("browser_click", {"element": "Pay", "ref": "e9"}).loose
    )
    assert (
        facts("computer", {"action": "left_click", "coordinate": [512, 300]}).loose
        == facts("computer", {"action": "left_click", "coordinate": [509, 303]}).loose
    )


def test_what_names_a_thing_is_no_free_text() -> None:
    assert (
        facts("browser_click", {"element": "Step 1 of the wizard"}).loose
        != facts("browser_click", {"element": "Step 2 of the wizard"}).loose
    )


def test_the_lines_of_a_file_that_are_read_are_told_by_the_arguments() -> None:
    assert facts("read", {"path": "a", "offset": 49, "limit": 40}).span == (49, 89)
    assert facts("view", {"path": "a", "view_range": [1, 20]}).span == (1, 21)
    assert facts("view", {"path": "a", "start_line": 5, "end_line": 9}).span == (5, 10)
    assert shell("sed -n '10,20p' a.py").span == (10, 21)
    assert shell("head -n 30 a.py").span == (1, 31)
    assert shell("cat a.py").span is None
    assert shell("cat a.py").target == shell("head -5 ./a.py").target != ""


def test_the_seconds_that_a_call_sleeps_are_told_by_its_words() -> None:
    assert shell("sleep 2m; tail log").slept == 120
    assert facts("wait", {"seconds": 30}).slept == 30
    assert shell("pytest").slept == 0


@pytest.mark.parametrize(
    "arguments", [None, 5, "text", ["a"], {"a": float("inf")}, {"a": "\ud83d"}, {"a": {"b": [{}] * 300}}]
)
def test_any_arguments_have_keys(arguments: Any) -> None:
    assert facts("tool", arguments).strict


def test_arguments_nested_deeply_have_keys() -> None:
    deep: Any = "bottom"
    for _ in range(400):
        deep = {"a": [deep]}
    assert facts("tool", deep).strict


def test_things_of_a_list_that_differ_in_a_number_have_one_template() -> None:
    one, other = facts("get_box", {"box": "team-01"}), facts("get_box", {"box": "team-27"})
    assert one.template == other.template != ""
    assert one.loose != other.loose
    assert shell("cat part1.txt").template == shell("cat part2.txt").template != shell("cat text1.txt").template
    assert facts("get_box", {"box": "team"}).template == ""


def test_the_bytes_of_a_dump_are_a_part_of_a_file() -> None:
    assert shell("xxd -s 4096 -l 64 disk.img").span == (4096, 4160)
    assert shell("xxd -s 0x10 -l 64 disk.img").target == shell("xxd disk.img").target
    assert shell("xxd disk.img").span is None


def test_questions_to_a_person_are_others_by_every_word() -> None:
    assert facts("ask_user", {"question": "Item 7: is the exit there?"}).content
    assert not facts("ask_expert", {"question": "Item 7: is the exit there?"}).content


def test_what_a_program_is_given_to_do_is_no_remark() -> None:
    one = shell("ssh web 'sudo systemctl restart nginx now'")
    other = shell("ssh web 'sudo systemctl status nginx now'")
    assert one.content
    assert one.loose != other.loose
    assert (
        shell('psql shop -c "update t set a where id is 7"').loose
        != shell('psql shop -c "update t set a where id is 8"').loose
    )
    assert not shell("git commit -m 'put the loader right'").content


def test_a_script_that_is_written_and_run_at_once_writes_something() -> None:
    assert shell("cat > t.py <<'E'\nprint(1)\nE\npython3 t.py").writes
    assert shell("sed -i 's/a/b/' x.py && pytest -q").writes
    assert not shell("apply_patch <<'E'\n-a\n+b\nE\n").writes
    assert not shell("pytest -q > log; tail log").writes
