"""Sessions in which the agent works. None of them may be stopped, however much of them repeats."""

# A line holds one call with its answer.
# ruff: noqa: E501, SIM905, B007

from __future__ import annotations

import json
from collections.abc import Callable

from judgement.build import Session, hexes, rng, uuid

Author = Callable[[], Session]
WORK: list[Author] = []


def work(author: Author) -> Author:
    WORK.append(author)
    return author


FAILED = "FAILED tests/test_rate.py::test_limit - assert {got} == 10\n{n} failed, {m} passed in 0.4{n}s"


# -- change and try again -----------------------------------------------------------------------------------


@work
def red_green() -> Session:
    s = Session("red-green", "allow", "edit, test, edit, test: the failure moves, then is gone")
    for n in range(12):
        s.sh("pytest -q tests/test_rate.py", FAILED.format(got=n, n=12 - n, m=n), 1)
        s.call(
            "edit_file", {"path": "rate.py", "old_string": f"limit = {n}", "new_string": f"limit = {n + 1}"}, "Edited."
        )
    return s.sh("pytest -q tests/test_rate.py", "12 passed in 0.41s")


@work
def stubborn_failure() -> Session:
    s = Session(
        "stubborn-failure", "allow", "ten different fixes written through the shell, the test fails alike each time"
    )
    for n in range(10):
        s.sh(f"cat > fix.py <<'EOF'\ndef limit():\n    return {n} + {n}\nEOF")
        s.sh(
            "python reproduce.py",
            'Traceback (most recent call last):\n  File "reproduce.py", line 4, in <module>\n    assert limit() == 1\nAssertionError',
            1,
        )
    return s


@work
def sed_and_build() -> Session:
    s = Session("sed-and-build", "allow", "sed -i between builds that break with one error")
    for n in range(9):
        s.sh(f"sed -i '{n + 10}s/int/long/' main.c")
        s.sh("make -s", "main.c:40:5: error: conflicting types for 'total'\nmake: *** [main.o] Error 1", 2)
    return s


@work
def docker_steps() -> Session:
    s = Session("docker-steps", "allow", "a Dockerfile edited between builds that fail at one step")
    for n in range(9):
        s.call(
            "Edit",
            {"file_path": "Dockerfile", "old_string": f"RUN apk add lib{n}", "new_string": f"RUN apk add lib{n + 1}"},
            "The file Dockerfile has been updated.",
        )
        s.sh(
            "docker build -t app .",
            'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2',
            1,
        )
    return s


@work
def refactoring_checks() -> Session:
    s = Session("refactoring-checks", "allow", "one file after the other changed, the same check green each time")
    for n in range(14):
        s.call("replace_in_file", {"path": f"src/mod{n}.rs", "diff": f"-use old::{n};\n+use new::{n};"}, "ok")
        s.sh("cargo check", "    Finished dev [unoptimized] target(s) in 0.31s")
        if n % 3 == 0:
            s.sh("git status --short", " M src/lib.rs")
    return s


@work
def status_between_edits() -> Session:
    s = Session(
        "status-between-edits",
        "allow",
        "git status and diff --stat after each of many edits of one file, both unchanged",
    )
    for n in range(12):
        s.call(
            "Edit",
            {"file_path": "a.py", "old_string": f"x{n}", "new_string": f"y{n}"},
            "The file a.py has been updated.",
        )
        s.sh("git status --short", " M a.py")
        s.sh("git diff --stat", " a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)")
    return s


@work
def edits_that_miss() -> Session:
    s = Session("edits-that-miss", "allow", "edits that fail once or twice, the file read again, then they succeed")
    for n in range(6):
        s.call(
            "edit",
            {"path": "lib.ts", "old": f"foo({n})", "new": f"bar({n})"},
            None,
            error="Could not find the exact text in lib.ts.",
        )
        s.call("read", {"path": "lib.ts"}, f"const a = foo({n}, 1)\nversion {n}")
        s.call("edit", {"path": "lib.ts", "old": f"foo({n}, 1)", "new": f"bar({n}, 1)"}, "Edited lib.ts")
    return s


@work
def one_document() -> Session:
    s = Session("one-document", "allow", "a document written section by section, with looks at it")
    for n in range(16):
        s.call(
            "insert_section",
            {
                "doc": "handbook",
                "after": n,
                "text": f"Section {n} treats topic {'abcdefghijklmnop'[n] * 6} and how its parts work together.",
            },
            "inserted",
        )
        if n % 5 == 4:
            s.call(
                "read_document",
                {"doc": "handbook"},
                "\n".join(f"Section {k} treats topic {'abcdefghijklmnop'[k] * 6}" for k in range(n + 1)),
            )
    return s


@work
def rewriting_a_page() -> Session:
    s = Session(
        "rewriting-a-page",
        "allow",
        "a page written anew many times after a look in the browser that still shows the flaw",
    )
    for n in range(8):
        s.call(
            "write_file",
            {
                "path": "index.html",
                "content": f"<html><style>.nav{{margin:{n}px;order:{n % 3}}}</style><body>Welcome</body></html>",
            },
            "Wrote 84 bytes to index.html",
        )
        s.call("browser_console", {"url": "http://localhost:8000"}, "[warning] layout shift detected in .nav")
    return s


@work
def notebook_cells() -> Session:
    s = Session("notebook-cells", "allow", "cells edited and run, the same NameError until the import is there")
    for n in range(7):
        s.call("edit_cell", {"index": 3, "source": f"frame = load('part{n}')\nframe.plot()"}, "Cell 3 updated")
        s.call(
            "run_cell",
            {"index": 3},
            "NameError: name 'load' is not defined",
            value={"kind": "foreground", "exitCode": 1},
        )
    s.call("edit_cell", {"index": 0, "source": "from tools import load"}, "Cell 0 updated")
    return s.call("run_cell", {"index": 3}, "<Figure size 640x480>")


@work
def bisecting() -> Session:
    s = Session("bisecting", "allow", "git bisect: two commands again and again, each answer another commit")
    r = rng("bisect")
    for n in range(11):
        s.sh("make -s test", "1 test failed" if n % 2 else "all tests passed", n % 2)
        left = 2 ** (11 - n)
        s.sh(
            "git bisect bad" if n % 2 else "git bisect good",
            f"Bisecting: {left} revisions left to test after this (roughly {11 - n} steps)\n[{hexes(r, 40)}] Change number {r.randrange(900)} of the parser",
        )
    return s


@work
def migrations() -> Session:
    s = Session("migrations", "allow", "revisions written and applied one by one with the same command")
    for n in range(9):
        s.call(
            "create_file",
            {"path": f"versions/{n:04d}_step.py", "content": f"def upgrade(): op.add_column('t', 'c{n}')"},
            "created",
        )
        s.sh("alembic upgrade head", "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.")
    return s


# -- many of a kind -----------------------------------------------------------------------------------------


@work
def batch_edit() -> Session:
    s = Session("batch-edit", "allow", "one replacement in forty files, every answer the same")
    for n in range(40):
        s.call(
            "str_replace",
            {"path": f"pkg/file{n}.go", "old_str": "ioutil.ReadAll", "new_str": "io.ReadAll"},
            "Replaced 1 occurrence.",
        )
    return s


@work
def static_answers() -> Session:
    s = Session("static-answers", "allow", "mutations with other ids, all answered by one static document")
    for n in range(26):
        s.sh(
            f'gh api graphql -f query=\'mutation {{ addSubIssue(input: {{issueId: "I_{n}", subIssueId: "I_{n + 100}"}}) {{ clientMutationId }} }}\'',
            '{"data":{"addSubIssue":{"clientMutationId":null}}}',
        )
    return s


@work
def deleting_one_by_one() -> Session:
    s = Session("deleting-one-by-one", "allow", "many resources removed one by one without a word")
    for n in range(24):
        s.call("delete_record", {"table": "leads", "id": 4100 + n}, "")
    return s


@work
def same_mail_to_many() -> Session:
    s = Session("same-mail-to-many", "allow", "one text to many people")
    for n in range(22):
        s.call(
            "send_email",
            {
                "to": f"user{n}@example.com",
                "subject": "Maintenance on Sunday",
                "body": "Dear customer, on Sunday we will be offline for an hour.",
            },
            "sent",
        )
    return s


@work
def facts_kept() -> Session:
    s = Session("facts-kept", "allow", "facts stored one after the other, each saved")
    facts = [
        "user lives near harbour",
        "prefers dark roast coffee",
        "works nights during winter",
        "cat named Biscuit",
        "allergic against peanuts",
        "plays cello weekly",
        "learning Portuguese grammar",
        "drives electric van",
        "brother studies medicine",
        "collects vintage stamps",
        "dislikes loud restaurants",
        "birthday falls in March",
        "runs marathons every autumn",
        "grew up beside mountains",
        "speaks fluent Danish",
    ]
    for fact in facts:
        s.call("memory_add", {"text": f"The {fact}"}, "saved")
    return s


@work
def flash_cards() -> Session:
    s = Session("flash-cards", "allow", "cards made from a text, front and back in prose, each answered alike")
    cards = [
        "anchor: heavy iron hook holding ships",
        "basalt: dark volcanic rock cooled quickly",
        "cipher: secret writing needing keys",
        "delta: river mouth splitting into channels",
        "ember: glowing coal left after flames",
        "fjord: narrow inlet carved by ice",
        "glacier: slow moving frozen mass",
        "harbor: sheltered water where vessels dock",
        "isotope: atom variant with extra neutrons",
        "jungle: dense tropical vegetation",
        "kernel: innermost seed portion",
        "lattice: crossed strips forming grid",
        "magnet: object attracting metal",
        "nebula: interstellar cloud of dust",
        "oxide: compound containing oxygen",
        "prism: glass body bending light",
        "quartz: hard crystalline mineral",
        "rotor: spinning machine element",
        "sonar: underwater sound ranging",
        "tundra: treeless arctic plain",
        "umbra: darkest shadow region",
        "vertex: corner point where edges meet",
        "willow: drooping riverside tree",
        "xenon: inert noble gas",
        "yeast: fungus used when baking",
        "zenith: highest point overhead",
    ]
    for card in cards:
        word, meaning = card.split(": ")
        s.call(
            "add_note", {"deck": "Science", "front": f"What does {word} mean?", "back": f"A {meaning}"}, "Note added."
        )
    return s


@work
def translations() -> Session:
    s = Session("translations", "allow", "strings translated key by key")
    for n in range(28):
        s.call(
            "set_translation",
            {"locale": "de", "key": f"screen{n // 4}.label{n}", "value": f"Beschriftung Nummer {n}"},
            '{"ok":true}',
        )
    return s


@work
def numbered_pages() -> Session:
    s = Session("numbered-pages", "allow", "a long list read page by page")
    for n in range(1, 31):
        s.call(
            "list_issues",
            {"repo": "o/r", "page": n, "per_page": 30},
            json.dumps(
                [
                    {"number": 30 * n - k, "title": f"Problem {30 * n - k} with part {(7 * n + k) % 97}"}
                    for k in range(5)
                ]
            ),
        )
    return s


@work
def cursor_pages() -> Session:
    s = Session("cursor-pages", "allow", "a cursor followed by one call without arguments that changes")
    for n in range(24):
        s.call(
            "next_batch",
            {"cursor": "current"},
            json.dumps({"rows": [f"row {n * 3 + k}: customer {chr(97 + (n * 3 + k) % 26) * 4}" for k in range(3)]}),
        )
    return s


@work
def chunks_of_a_file() -> Session:
    s = Session("chunks-of-a-file", "allow", "a large file read from end to end in windows that overlap a little")
    for n in range(24):
        start = 1 + 180 * n
        s.call(
            "read_file",
            {"path": "trace.log", "offset": start, "limit": 200},
            "\n".join(f"{k}: event {k * 37 % 1009} at node {k * 13 % 71}" for k in range(start, start + 200)),
        )
    return s


@work
def queue_worker() -> Session:
    s = Session("queue-worker", "allow", "a queue worked off: the next job is a bare number")
    for n in range(16):
        s.call("next_job", {}, str(5 + n))
        s.call("finish_job", {"job": 5 + n, "state": "done"}, "ok")
    return s


@work
def link_check() -> Session:
    s = Session("link-check", "allow", "the status of many links, some of them dead")
    for n in range(30):
        s.sh(
            f"curl -s -o /dev/null -w '%{{http_code}}' https://docs.example.com/p{n}",
            "404" if n % 5 in (1, 2, 3) else "200",
        )
    return s


@work
def files_there_or_not() -> Session:
    s = Session("files-there-or-not", "allow", "looking which of many names exist, many do not, some do")
    for n in range(30):
        there = n % 6 == 0
        s.call(
            "file_exists",
            {"path": f"locale/{'abcdefghijklmnopqrstuvwxyzabcd'[n]}{n}.po"},
            json.dumps({"exists": there, "size": 100 * n} if there else {"exists": False}),
        )
    return s


@work
def form_fields() -> Session:
    s = Session("form-fields", "allow", "a long form filled in field by field")
    for n in range(20):
        s.call("browser_type", {"element": f"Field {n}", "ref": f"e{20 + n}", "text": f"value {n}"}, "ok")
    return s.call("browser_click", {"element": "Submit", "ref": "e99"}, "Navigated to /thanks")


# -- the same deed, going on --------------------------------------------------------------------------------


@work
def date_picker() -> Session:
    s = Session("date-picker", "allow", "next month, next month, …: the page shows another month each time")
    months = [
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
        "January",
        "February",
    ]
    for month in months:
        s.call(
            "click",
            {"role": "button", "name": "Next month"},
            f"Page: Booking\nheading: {month}\nbutton: Previous month\nbutton: Next month",
        )
    return s


@work
def arrow_down() -> Session:
    s = Session("arrow-down", "allow", "a key pressed again and again to walk through a menu, every answer the same")
    for _ in range(14):
        s.call("press_key", {"key": "ArrowDown"}, "Pressed ArrowDown")
    return s.call("press_key", {"key": "Enter"}, "Pressed Enter")


@work
def scrolling_feed() -> Session:
    s = Session("scrolling-feed", "allow", "scrolling on and reading what came")
    for n in range(15):
        s.call("scroll_down", {"pixels": 800}, "scrolled")
        s.call(
            "get_page_text",
            {},
            f"Post {n}: news about topic {'klmnopqrstuvwxyz'[n] * 5}\nPost {n + 1}: more about {'bcdefghijklmnopq'[n] * 5}",
        )
    return s


@work
def next_page_button() -> Session:
    s = Session("next-page-button", "allow", "one link followed again and again, each time another page")
    for n in range(18):
        s.call(
            "browser_action",
            {"action": "click", "selector": "a.next"},
            f"Catalogue page {n + 2}\n- Lamp {n * 31 % 89} in {['oak', 'steel', 'glass'][n % 3]}\n- Chair {n * 17 % 61}",
        )
    return s


@work
def moving_in_a_game() -> Session:
    s = Session("moving-in-a-game", "allow", "few moves, many boards")
    r = rng("game")
    for n in range(24):
        board = "\n".join("".join(r.choice("#.@o*") for _ in range(8)) for _ in range(8))
        s.call("move", {"direction": ["left", "up", "left", "down"][n % 4]}, board)
    return s


@work
def number_board() -> Session:
    s = Session("number-board", "allow", "a game whose board is all numbers", clock=1_758_000_000, gap=2)
    r = rng("2048")
    for n in range(26):
        board = "\n".join(" ".join(str(2 ** r.randrange(1, 9)) for _ in range(4)) for _ in range(4))
        s.call("play", {"move": ["left", "up"][n % 2]}, board)
    return s


# -- repeated on purpose ------------------------------------------------------------------------------------


@work
def flaky_hunt() -> Session:
    s = Session("flaky-hunt", "allow", "one test run ten times to see how often it fails")
    for n in range(10):
        bad = n in (2, 3, 6, 9)
        s.sh(
            "pytest -q tests/test_race.py",
            "FAILED tests/test_race.py::test_close - TimeoutError" if bad else f"1 passed in 1.{n}2s",
            int(bad),
        )
    return s


@work
def seeds() -> Session:
    s = Session("seeds", "allow", "one test with many seeds, green each time")
    for n in range(18):
        s.sh(f"pytest -q -p randomly -p 'randomly_seed={n}' tests", "240 passed in 3.1s")
    return s


@work
def benchmark() -> Session:
    s = Session("benchmark", "allow", "one benchmark repeated for its numbers")
    r = rng("bench")
    for _ in range(12):
        s.sh(
            "./bench --filter decode",
            f"decode/1k  {900 + r.randrange(90)} ns/iter (+/- {r.randrange(40)})\ndecode/64k {51000 + r.randrange(2000)} ns/iter (+/- {r.randrange(900)})",
        )
    return s


@work
def timed_command() -> Session:
    s = Session("timed-command", "allow", "a command timed several times, nothing but durations coming back")
    r = rng("timed")
    for _ in range(9):
        s.sh(
            "time ./build/solver input.txt",
            f"\nreal\t0m{1 + r.random():.3f}s\nuser\t0m{1 + r.random():.3f}s\nsys\t0m0.0{r.randrange(10)}s",
        )
    return s


@work
def hello_twice_a_phase() -> Session:
    s = Session("smoke-test-each-phase", "allow", "one smoke test after each phase, each phase a new command")
    for n in range(12):
        s.sh(f"./provision.sh phase{n}", f"phase{n} applied")
        s.sh("./smoke.sh", "smoke: all 14 checks passed")
    return s


# -- waiting for the world ----------------------------------------------------------------------------------


@work
def ci_run() -> Session:
    s = Session("ci-run", "allow", "a CI run watched twice a minute until it is over", clock=1_759_000_000, gap=30)
    for _n in range(24):
        s.sh("gh run view 1188 --json status,conclusion", '{"conclusion":"","status":"in_progress"}')
    return s.sh("gh run view 1188 --json status,conclusion", '{"conclusion":"success","status":"completed"}')


@work
def ci_with_sleep() -> Session:
    s = Session("ci-with-sleep", "allow", "sleep and look in one command, no times known")
    for _n in range(14):
        s.sh(
            "sleep 60 && gh pr checks 12",
            "build\tpending\t0\thttps://ci.example/1\nlint\tpass\t31s\thttps://ci.example/2",
            8,
        )
    return s.sh(
        "sleep 60 && gh pr checks 12", "build\tpass\t12m\thttps://ci.example/1\nlint\tpass\t31s\thttps://ci.example/2"
    )


@work
def rollout() -> Session:
    s = Session("rollout", "allow", "pods watched with a sleep between the looks, in calls of their own")
    for n in range(12):
        s.sh(
            "kubectl get pods -n shop",
            f"NAME       READY   STATUS              RESTARTS   AGE\nshop-7d9   0/1     ContainerCreating   0          {10 * n + 4}s",
        )
        s.sh("sleep 10")
    return s.sh(
        "kubectl get pods -n shop",
        "NAME       READY   STATUS    RESTARTS   AGE\nshop-7d9   1/1     Running   0          131s",
    )


@work
def build_output() -> Session:
    s = Session(
        "build-output", "allow", "a long build in the background, its output growing", clock=1_759_100_000, gap=15
    )
    s.call(
        "Bash",
        {"command": "bazel build //...", "run_in_background": True},
        "Command running in background with ID: bash_1",
        value={"kind": "background"},
    )
    for n in range(22):
        s.call(
            "BashOutput",
            {"bash_id": "bash_1"},
            f"<status>running</status>\n<stdout>\n[{40 * n} / 1,204] Compiling src/part{n}.cc\n</stdout>",
        )
    return s


@work
def quiet_build() -> Session:
    s = Session("quiet-build", "allow", "a build that says nothing for minutes", clock=1_759_200_000, gap=20)
    s.call("exec_command", {"cmd": "make release"}, "Process running with session ID 7", took=10)
    for _ in range(20):
        s.call(
            "write_stdin",
            {"session_id": 7, "chars": "", "yield_time_ms": 20000},
            "Chunk ID: ab12cd\nWall time: 20.0012 seconds\nProcess running with session ID 7\nOutput:\n",
            took=20,
        )
    return s


@work
def tail_with_sleep() -> Session:
    s = Session(
        "tail-with-sleep", "allow", "sleep and the end of a log in one command; the log stands still, then moves"
    )
    for n in range(9):
        s.sh("sleep 45; tail -3 train.log", "epoch 1\nloading shards\nwarming up")
    for n in range(10):
        s.sh("sleep 45; tail -3 train.log", f"epoch {n + 2}\nloss {1.9 - n / 10:.2f}\nstep {100 * n}")
    return s


@work
def until_it_answers() -> Session:
    s = Session("until-it-answers", "allow", "a server asked a few times, with pauses, until it is up")
    s.sh("npm run dev > dev.log 2>&1 &", "[1] 4821")
    for _ in range(6):
        s.sh("sleep 3 && curl -sf http://localhost:5173/", "", 7)
    return s.sh("sleep 3 && curl -sf http://localhost:5173/", "<!doctype html><title>App</title>")


@work
def backing_off() -> Session:
    s = Session("backing-off", "allow", "429 answered with longer and longer sleeps, then it works")
    r = rng("backoff")
    for n in range(6):
        s.call(
            "http_request",
            {"method": "GET", "url": "https://api.example.com/export"},
            f"HTTP 429 Too Many Requests, request {uuid(r)}",
            error="429 Too Many Requests",
        )
        s.sh(f"sleep {2 ** (n + 1)}")
    return s.call(
        "http_request",
        {"method": "GET", "url": "https://api.example.com/export"},
        '{"url": "https://cdn.example.com/x.zip"}',
    )


@work
def lock_held() -> Session:
    s = Session("lock-held", "allow", "a package lock that is held for a while", clock=1_759_300_000, gap=20)
    for _ in range(5):
        s.sh(
            "apt-get install -y jq",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)",
            100,
        )
    return s.sh("apt-get install -y jq", "Setting up jq (1.6-2.1ubuntu3) ...")


@work
def waiting_for_helpers() -> Session:
    s = Session(
        "waiting-for-helpers",
        "allow",
        "the results of four helpers waited for, a minute at a time",
        clock=1_759_400_000,
        gap=2,
    )
    for n in range(4):
        s.call(
            "spawn_agent",
            {"message": f"Look into module {n} and report"},
            json.dumps({"agent_id": f"h{n}"}),
            starts={"agent": f"h{n}", "parent": "main", "kind": "subagent"},
        )
    for _ in range(14):
        s.call(
            "wait",
            {"ids": ["h0", "h1", "h2", "h3"], "timeout_ms": 60000},
            json.dumps({"status": {}, "timed_out": True}),
            took=60,
        )
    return s.call(
        "wait",
        {"ids": ["h0", "h1", "h2", "h3"], "timeout_ms": 60000},
        json.dumps({"status": {"h0": "completed"}, "timed_out": False}),
    )


@work
def inbox() -> Session:
    s = Session("inbox", "allow", "an inbox looked into twice a minute", clock=1_759_500_000, gap=30)
    for _ in range(12):
        s.call("check_messages", {}, "No new messages.")
    return s.call("check_messages", {}, "1 new message from reviewer: looks good")


@work
def growing_file() -> Session:
    s = Session("growing-file", "allow", "the size of a download watched", clock=1_759_600_000, gap=20)
    for n in range(24):
        s.sh("du -m model.bin | cut -f1", str(31 * n + 7))
    return s


@work
def training_log() -> Session:
    s = Session(
        "training-log", "allow", "the last line of a training log, only its numbers move", clock=1_759_700_000, gap=60
    )
    for n in range(24):
        s.sh("tail -n 1 train.log", f"step {100 * n} loss {2.1 - n / 20:.3f} lr 0.0003")
    return s


@work
def log_tail() -> Session:
    s = Session("log-tail", "allow", "the end of a log read again and again, one line more each time")
    lines = [
        f"GET /item/{n * 7919 % 1000} from {['web', 'app', 'bot'][n % 3]} took route {n * 31 % 17}" for n in range(80)
    ]
    for n in range(18):
        s.sh("tail -n 40 access.log", "\n".join(lines[n : n + 40]))
    return s


@work
def two_watchers() -> Session:
    s = Session("two-watchers", "allow", "a team board that others change, looked at between pieces of work")
    for n in range(10):
        s.call("board_list", {"status": "open"}, f"{9 - n} open cards")
        s.call(
            "read_file",
            {"path": f"cards/card{n}.md"},
            f"Card {n}: do the {['first', 'second', 'third'][n % 3]} thing with part {n}",
        )
    return s


# -- looking around -----------------------------------------------------------------------------------------


@work
def searching_with_finds() -> Session:
    s = Session("searching-with-finds", "allow", "many searches, every third finds something")
    for n in range(24):
        found = n % 3 == 2
        s.call(
            "grep_search",
            {"pattern": f"{['handle', 'parse', 'emit'][n % 3]}{n}", "path": "src"},
            f"src/m{n}.ts:{n * 3}: function emit{n}() {{" if found else "No matches found",
        )
    return s


@work
def guessing_then_found() -> Session:
    s = Session("guessing-then-found", "allow", "a few wrong paths, then the right one")
    for name in ["config.yaml", "config.yml", "conf/app.yaml", "settings.toml", "etc/app.conf"]:
        s.sh(f"cat {name}", f"cat: {name}: No such file or directory", 1)
    s.sh("find . -name '*.ini'", "./deploy/app.ini")
    return s.sh("cat deploy/app.ini", "[app]\nport = 8080")


@work
def back_to_one_file() -> Session:
    s = Session("back-to-one-file", "allow", "one file looked at again, at other places, after each change")
    for n in range(10):
        s.call(
            "view",
            {"path": "core.c", "view_range": [40 * n + 1, 40 * n + 60]},
            "\n".join(f"{k}: int v{k} = f({k * k % 97});" for k in range(40 * n + 1, 40 * n + 61)),
        )
        s.call("insert", {"path": "core.c", "line": 40 * n + 5, "text": f"/* checked {n} */"}, "inserted")
        s.call(
            "view",
            {"path": "core.c", "view_range": [1, 20]},
            "\n".join(f"{k}: int v{k} = f({k * k % 97});" for k in range(1, 21)),
        )
    return s


@work
def same_search_other_places() -> Session:
    s = Session("same-search-other-places", "allow", "one question asked in many places, mostly the same answer")
    for n in range(12):
        s.call(
            "get_balance",
            {"account": f"AC-{100 + n}", "currency": "EUR"},
            json.dumps({"balance": 0.0, "currency": "EUR"}),
        )
    return s


@work
def after_compaction() -> Session:
    s = Session("after-compaction", "allow", "files read again after each summary of the history")
    for _ in range(5):
        for name in ["PLAN.md", "api.py", "db.py", "test_api.py"]:
            s.call("Read", {"file_path": name}, f"1\t# {name}\n2\tcontents")
        s.compacted()
    return s


@work
def plan_then_work() -> Session:
    s = Session("plan-then-work", "allow", "eighteen tasks written down before the work begins, then ticked off")
    things = [
        "schema",
        "loader",
        "parser",
        "printer",
        "cache",
        "index",
        "search view",
        "login form",
        "audit trail",
        "mail digest",
        "export job",
        "import wizard",
        "rate limit",
        "feature flag",
        "error page",
        "help text",
        "release notes",
        "smoke test",
    ]
    for n, thing in enumerate(things):
        s.call(
            "TaskCreate",
            {"subject": f"Write the {thing}", "description": f"The {thing} must cover case {n}"},
            f"Task #{n + 1} created successfully: Write the {thing}",
        )
    for n, thing in enumerate(things):
        s.call("TaskUpdate", {"taskId": str(n + 1), "status": "in_progress"}, f"Updated task #{n + 1} status")
        s.call(
            "Write",
            {"file_path": f"/app/{thing.replace(' ', '_')}.py", "content": f"# {thing}"},
            "File created successfully",
        )
        s.call("TaskUpdate", {"taskId": str(n + 1), "status": "completed"}, f"Updated task #{n + 1} status")
    return s


@work
def thinking_between() -> Session:
    s = Session("thinking-between", "allow", "a thought before each look")
    for n in range(16):
        s.call("think", {"thought": f"Next I need the details of booking {n}, then compare fares"}, "")
        s.call(
            "get_booking",
            {"id": f"BK{n:03d}"},
            json.dumps({"id": f"BK{n:03d}", "fare": 120 + n * 7 % 31, "seat": f"{n}A"}),
        )
    return s


# -- failing for a while ------------------------------------------------------------------------------------


@work
def burst_of_failures() -> Session:
    s = Session("burst-of-failures", "allow", "twelve calls of one step fail with one error; later it works")
    for n in range(12):
        s.call(
            "fetch_page",
            {"url": f"https://intranet.example/p{n}"},
            None,
            error="ECONNRESET: connection reset by peer",
            parallel=n > 0,
        )
    for n in range(12):
        s.call(
            "fetch_page",
            {"url": f"https://intranet.example/p{n}"},
            f"Page {n}: text about {'abcdefghijkl'[n] * 4}",
            parallel=n > 0,
        )
    return s


@work
def flaky_service() -> Session:
    s = Session("flaky-service", "allow", "a service that fails every other time")
    for n in range(16):
        s.call(
            "geocode",
            {"address": f"{n // 2} Main Street"},
            f"lat 5{n}.1 lon 1{n}.2" if n % 2 else None,
            **({} if n % 2 else {"error": "503 Service Unavailable"}),
        )
    return s


@work
def compile_errors_in_turn() -> Session:
    s = Session("compile-errors-in-turn", "allow", "nine compile errors of one kind, fixed one after the other")
    for n in range(9):
        s.sh(
            "tsc --noEmit",
            f"src/f{n}.ts({n + 3},5): error TS2322: Type 'string' is not assignable to type 'number'.",
            2,
        )
        s.sh(f"sed -i 's/id: string/id: number/' src/f{n}.ts")
    return s.sh("tsc --noEmit", "")


@work
def some_refusals() -> Session:
    s = Session("some-refusals", "allow", "a few things are not allowed; what is allowed gets on")
    for n in range(5):
        s.sh(
            f"docker exec db{n} psql -c 'select 1'",
            exit=None,
            error="Permission to use Bash with this command has been denied.",
            code="DENIED",
        )
        s.sh(f"grep -n 'port' compose/db{n}.yml", f"{n + 4}: port: 54{n}2")
    return s


@work
def trying_installs() -> Session:
    s = Session(
        "trying-installs", "allow", "different ways to install a package that will not, with reading in between"
    )
    ways = [
        "pip install lxml",
        "pip install --no-binary :all: lxml",
        "apt-get install -y libxml2-dev",
        "pip install lxml==4.9.3",
        "conda install -y lxml",
    ]
    for n, way in enumerate(ways):
        ok = way.startswith("apt")
        s.sh(
            way,
            "Setting up libxml2-dev ..." if ok else "error: command 'gcc' failed: No such file or directory",
            int(not ok),
        )
        s.sh(f"ls /usr/lib/gcc{n}", f"cc1\ncrt{n}.o")
    s.sh("apt-get install -y gcc", "Setting up gcc ...")
    return s.sh("pip install lxml", "Successfully installed lxml-5.2.1")


# -- many agents --------------------------------------------------------------------------------------------


@work
def helpers_in_rounds() -> Session:
    s = Session(
        "helpers-in-rounds",
        "allow",
        "ten helpers a round, three rounds, each with a task of its own",
        clock=1_759_800_000,
        gap=10,
    )
    for round_ in range(3):
        for n in range(10):
            s.call(
                "Task",
                {"description": f"Review part {n}", "prompt": f"Review part {n} in round {round_}"},
                f"Part {n}: finding {(n * 31 + round_ * 7) % 50} in {'abcdefghij'[n] * 3}",
                parallel=n > 0,
                took=0.2,
            )
        s.clock = (s.clock or 0) + 240
    return s


@work
def turns_of_two() -> Session:
    s = Session("turns-of-two", "allow", "a helper asked ten questions, each answered")
    for n in range(12):
        s.call(
            "send_to_agent",
            {"agent_id": "h1", "message": f"And what about module {'abcdefghijkl'[n] * 3}?"},
            f"Module {'abcdefghijkl'[n] * 3} holds {n * 7 % 11} classes and {n * 5 % 13} tests",
        )
    return s


@work
def repl_session() -> Session:
    s = Session("repl-session", "allow", "an interpreter driven line by line, often with the same prompt as answer")
    for n in range(18):
        s.call("write_stdin", {"session_id": 3, "chars": f"x{n} = model.layer({n})\n"}, ">>> ")
    for n in range(6):
        s.call("write_stdin", {"session_id": 3, "chars": f"print(x{n}.shape)\n"}, f"({n}, {n * n})\n>>> ")
    return s


# -- a second round, written before the rules were looked at again --------------------------------------------


@work
def every_five_minutes() -> Session:
    s = Session(
        "every-five-minutes",
        "allow",
        "a training job asked after every five minutes, as told",
        clock=1_761_000_000,
        gap=300,
    )
    for _ in range(8):
        s.sh("curl -s https://ml.example/api/jobs/7", '{"job": 7, "phase": "training"}')
    return s


@work
def heartbeat_rounds() -> Session:
    s = Session(
        "heartbeat-rounds",
        "allow",
        "the same short round every five minutes: read the list, look at the inbox, say all is well",
        clock=1_761_100_000,
        gap=2,
    )
    for _ in range(9):
        s.call("read", {"path": "HEARTBEAT.md"}, "1. look for unread mail\n2. answer HEARTBEAT_OK", gap=300)
        s.call("search_mail", {"query": "is:unread"}, "[]")
        s.call("heartbeat_respond", {"status": "ok"}, "accepted")
    return s


@work
def moving_files() -> Session:
    s = Session("moving-files", "allow", "files moved one by one: search for uses, move, search again, update")
    for n in range(9):
        name = f"Card{'ABCDEFGHI'[n]}"
        s.call(
            "search_file_content",
            {"pattern": f"components/{name}"},
            f"src/pages/p{n}.tsx:3: import {{ {name} }} from 'components/{name}'",
        )
        s.sh(f"git mv src/components/{name}.tsx src/ui/{name}.tsx", "")
        s.call(
            "replace",
            {"file_path": f"src/pages/p{n}.tsx", "old_string": f"components/{name}", "new_string": f"ui/{name}"},
            "Successfully modified file.",
        )
        s.call("search_file_content", {"pattern": f"components/{name}"}, "No matches found")
    return s


@work
def patient_ci_tool() -> Session:
    s = Session(
        "patient-ci-tool",
        "allow",
        "a tool that waits for CI itself and comes back undone a few times",
        clock=1_761_200_000,
        gap=3,
    )
    for _ in range(7):
        s.call("ci_status", {"pr": 1426, "wait": True}, "checks: 3 pending, 9 passed", took=120)
    return s.call("ci_status", {"pr": 1426, "wait": True}, "checks: 12 passed", took=60)


@work
def debugging_one_tool() -> Session:
    s = Session(
        "debugging-one-tool", "allow", "one tool called with ever other arguments while a failure is narrowed down"
    )
    for n in range(12):
        s.call(
            "bg_shell",
            {"action": "exec", "command": f"node -e \"require('./lib').probe({n})\""},
            f"probe {n}: {'Error: bad header at offset ' + str(n * 8) if n % 3 else 'ok, ' + str(n) + ' frames'}",
        )
    return s


@work
def select_all_keys() -> Session:
    s = Session("select-all-keys", "allow", "keys that show nothing: select all, copy, move, paste, field after field")
    for n in range(10):
        s.call("computer_use_key", {"key": "cmd+a"}, "ok")
        s.call("computer_use_key", {"key": "cmd+c"}, "ok")
        s.call("computer_use_click", {"x": 200, "y": 100 + 40 * n}, "ok")
        s.call("computer_use_key", {"key": "cmd+v"}, "ok")
    return s


@work
def reading_then_answering() -> Session:
    s = Session("reading-then-answering", "allow", "one reference page gone back to between many new ones")
    for n in range(8):
        s.call(
            "Read", {"file_path": "docs/index.md"}, "\n".join(f"- [Chapter {k}](ch{k}.md)" for k in range(8))
        ) if n % 2 == 0 else None
        s.call(
            "Read",
            {"file_path": f"docs/ch{n}.md"},
            f"Chapter {n}\nAbout {'pqrstuvw'[n] * 6} and the way it fits with {'abcdefgh'[n] * 5}.",
        )
    return s


@work
def sales_lookup() -> Session:
    s = Session("sales-lookup", "allow", "many records read one by one, most of them alike")
    for n in range(20):
        s.call(
            "get_order",
            {"order_id": 9000 + n},
            json.dumps({"order_id": 9000 + n, "state": "shipped", "items": 1, "carrier": "DHL"}),
        )
    return s


@work
def lint_file_by_file() -> Session:
    s = Session("lint-file-by-file", "allow", "a linter run on one file after the other without complaint")
    for n in range(20):
        s.sh(f"ruff check pkg/mod{n}.py", "All checks passed!")
    return s


@work
def approvals_needed() -> Session:
    s = Session("approvals-needed", "allow", "a plan shown three times, each time sent back with other remarks")
    remarks = ["use the existing cache", "leave the API as it is", "one step fewer, and write tests first"]
    for n, remark in enumerate(remarks):
        s.call(
            "submit_plan",
            {
                "plan": f"Plan {n}: rework the loader in {3 - n} steps and keep {['nothing', 'the cache', 'the cache and the API'][n]}"
            },
            None,
            error=f"The user doesn't want to proceed with this plan. They said: {remark}",
            code="REJECTED",
        )
        s.call("read_file", {"path": f"src/loader{n}.ts"}, f"export const loader{n} = {n}")
    return s.call(
        "submit_plan", {"plan": "Plan 3: tests first, then the loader in one step, cache and API kept"}, "approved"
    )


@work
def long_training_prints() -> Session:
    s = Session(
        "long-training-prints",
        "allow",
        "a metric read once a minute, often unchanged for a while",
        clock=1_761_300_000,
        gap=60,
    )
    for n in range(25):
        s.sh("python read_metric.py", f"best_val_loss={1.9 - (n // 6) / 10:.1f}")
    return s


@work
def retry_until_merged() -> Session:
    s = Session(
        "retry-until-merged", "allow", "a merge queue: fetch, rebase, push rejected because others were faster, again"
    )
    r = rng("merge")
    for n in range(5):
        s.sh("git fetch origin", f"   {hexes(r, 7)}..{hexes(r, 7)}  main -> origin/main")
        s.sh(
            "git rebase origin/main",
            f"Successfully rebased and updated refs/heads/feature onto commit by {['ann', 'bob', 'cleo', 'dan', 'eve'][n]}.",
        )
        s.sh(
            "git push origin HEAD:main", " ! [rejected] HEAD -> main (fetch first)\nerror: failed to push some refs", 1
        )
    return s.sh("git push origin HEAD:main", "   1a2b3c4..5d6e7f8  HEAD -> main")


@work
def guess_the_port() -> Session:
    s = Session("guess-the-port", "allow", "a few ports tried, then the right one")
    for port in (3000, 5000, 8000, 8080):
        s.sh(f"curl -s localhost:{port}/health", "curl: (7) Failed to connect: Connection refused", 7)
    s.sh("docker compose ps", "api   0.0.0.0:8971->80/tcp")
    return s.sh("curl -s localhost:8971/health", '{"ok":true}')


@work
def ledger_entries() -> Session:
    s = Session("ledger-entries", "allow", "bookings made one by one with the same answer")
    for n in range(24):
        s.call(
            "post_entry",
            {"account": 4000 + n % 7, "amount": 10.5 * (n + 1), "text": "Office supplies for the second quarter"},
            "booked",
        )
    return s


@work
def tests_by_name() -> Session:
    s = Session(
        "tests-by-name", "allow", "failing tests run one by one, all failing alike, between looks at their code"
    )
    for n in range(5):
        s.sh(
            f"pytest -q tests/test_api.py::test_case_{n}",
            f"E   AttributeError: 'NoneType' object has no attribute 'id'\nFAILED tests/test_api.py::test_case_{n}",
            1,
        )
        s.sh(
            f"sed -n '{20 * n + 1},{20 * n + 20}p' tests/test_api.py",
            "\n".join(f"    step_{k}(client)" for k in range(20 * n, 20 * n + 20)),
        )
    s.call("Edit", {"file_path": "conftest.py", "old_string": "return None", "new_string": "return client"}, "updated")
    return s.sh("pytest -q tests/test_api.py", "5 passed in 0.9s")


@work
def tictactoe() -> Session:
    s = Session(
        "waiting-for-the-other-player",
        "allow",
        "a turn-based game: the state is looked at until the other has moved",
        clock=1_761_400_000,
        gap=12,
    )
    for n in range(5):
        s.call("make_move", {"cell": n}, "move accepted, waiting for opponent")
        for _ in range(3):
            s.call("get_game_state", {}, f"turn: opponent, moves: {2 * n + 1}")
        s.call("get_game_state", {}, f"turn: you, moves: {2 * n + 2}, board {'xo' * (n + 1)}")
    return s


@work
def same_command_other_place() -> Session:
    s = Session("same-command-other-place", "allow", "the same commands in many directories")
    for n in range(10):
        s.sh(f"cd services/s{n} && npm ci", "added 812 packages in 9s")
        s.sh(f"cd services/s{n} && npm test", "Tests: 12 passed, 12 total")
    return s


@work
def wait_for_file() -> Session:
    s = Session("wait-for-file", "allow", "a file that another process will write, looked for with pauses")
    for _ in range(7):
        s.sh("sleep 20; ls out/report.json", "ls: cannot access 'out/report.json': No such file or directory", 2)
    return s.sh("sleep 20; ls out/report.json", "out/report.json")


@work
def subtitles() -> Session:
    s = Session("subtitles", "allow", "a long text translated in pieces with one tool and a fixed answer")
    for n in range(22):
        s.call(
            "save_subtitle",
            {"index": n, "text": f"In scene {n} the captain speaks about {'abcdefghijklmnopqrstuv'[n] * 4}"},
            "ok",
        )
    return s


@work
def screenshots_of_a_flow() -> Session:
    s = Session("screenshots-of-a-flow", "allow", "a screenshot after each click, the picture without its data")
    for n in range(10):
        s.call("browser_click", {"element": f"Step {n + 1} of the wizard", "ref": f"e{n + 4}"}, "Clicked.")
        s.call(
            "browser_take_screenshot",
            {},
            [{"type": "text", "text": f"Took a screenshot: /tmp/playwright/page-{n}.png"}, {"type": "image"}],
        )
    return s


# -- a third round ------------------------------------------------------------------------------------------


@work
def opaque_deeds() -> Session:
    s = Session("opaque-deeds", "allow", "a tool whose name says nothing changes a file between failing tests")
    for n in range(9):
        s.call("zap", {"where": "core.py", "what": f"x = {n}"}, "done")
        s.sh("pytest -q", "1 failed, 3 passed in 0.2s\nFAILED test_core.py::test_x - assert 0 == 1", 1)
    return s


@work
def operator_said_yes() -> Session:
    s = Session(
        "operator-said-yes",
        "allow",
        "a green test run fourteen times because a person wants it; asked, the person says yes",
    )
    for n in range(14):
        s.sh("make stress", "stress: 400 passed, 0 failed", operator="approved")
    return s


@work
def rewritten_by_a_hook() -> Session:
    s = Session("rewritten-by-a-hook", "allow", "another hook adds a time-out to each command before it runs")
    for n in range(8):
        s.sh(
            f"python step{n}.py", f"step {n} wrote {n * 3} rows", executed={"command": f"timeout 60 python step{n}.py"}
        )
        s.sh("python check.py", f"{n * 3} rows", executed={"command": "timeout 60 python check.py"})
    return s


@work
def annotated_polls() -> Session:
    s = Session(
        "annotated-polls", "allow", "a tool marked as a poll answers alike for a while", clock=1_763_000_000, gap=8
    )
    for _ in range(11):
        s.call("k4", {"handle": "h"}, "nothing yet")
        s.case["steps"][-1]["guard"]["annotations"] = {"readOnlyHint": True, "pollHint": True}
    return s.call("k4", {"handle": "h"}, "finished: 3 rows")


@work
def small_context() -> Session:
    s = Session("small-context", "allow", "a file read again before each of many edits of it, as the harness wants")
    for n in range(12):
        s.call(
            "Read",
            {"file_path": "/a/list.ts"},
            "\n".join(f"{k + 1}\titem({k}{', done' if k < n else ''})" for k in range(14)),
        )
        s.call(
            "Edit",
            {"file_path": "/a/list.ts", "old_string": f"item({n})", "new_string": f"item({n}, done)"},
            "The file /a/list.ts has been updated.",
        )
    return s


@work
def sampling_a_sensor() -> Session:
    s = Session("sampling-a-sensor", "allow", "a value sampled twice a minute, as asked", clock=1_763_100_000, gap=30)
    for n in range(12):
        s.call("read_sensor", {"sensor": "boiler"}, f"{61 + n % 2}.{n % 4} C")
    return s


@work
def snapshots_between_acts() -> Session:
    s = Session("snapshots-between-acts", "allow", "a form filled in, the page looked at after each field")
    for n in range(10):
        s.call("browser_type", {"element": f"Field {n}", "ref": f"e{n}", "text": f"v{n}"}, "ok")
        s.call(
            "browser_snapshot",
            {},
            "\n".join(f'- textbox "Field {k}": {"v" + str(k) if k <= n else ""} [ref=e{k}]' for k in range(10)),
        )
    return s


@work
def deploy_stages() -> Session:
    s = Session(
        "deploy-stages",
        "allow",
        "a deployment watched: pending for long, then in progress, then done",
        clock=1_763_200_000,
        gap=20,
    )
    for state, times in (("PENDING", 8), ("IN_PROGRESS", 14), ("SUCCEEDED", 1)):
        for _ in range(times):
            s.call("get_deployment", {"id": "d-1"}, json.dumps({"id": "d-1", "status": state}))
    return s


@work
def review_many_files() -> Session:
    s = Session("review-many-files", "allow", "a review: one diff after the other, comments in between")
    for n in range(16):
        s.sh(f"git diff main -- pkg/f{n}.go", f"-  return {n}\n+  return {n + 1}\n pkg f{n} context {n * 7}")
        if n % 3 == 0:
            s.call(
                "add_review_comment",
                {"path": f"pkg/f{n}.go", "line": n, "body": "Please add a test for this case."},
                "ok",
            )
    return s


@work
def two_same_edits_in_two_files() -> Session:
    s = Session("headers-everywhere", "allow", "the same header put into many files by one command each")
    for n in range(15):
        s.sh(f"sed -i '1i // Copyright Example' src/m{n}.js")
    return s.sh("git diff --stat", " 15 files changed, 15 insertions(+)")


@work
def slow_tests_polled() -> Session:
    s = Session("slow-tests-polled", "allow", "a test run in the background; its log grows line by line, with pauses")
    s.sh("pytest > t.log 2>&1 &", "[1] 777")
    for n in range(14):
        s.sh(
            "sleep 15; tail -2 t.log",
            f"tests/test_{'abcdefghijklmn'[n]}.py ......\ntests/test_{'bcdefghijklmno'[n]}.py ...",
        )
    return s


@work
def repeated_lookups_other_keys() -> Session:
    s = Session("word-by-word", "allow", "a dictionary asked for one word after the other, some unknown")
    words = "tide moss ember quill zzyx harp loom wren qqrt fern dusk opal xylo brine".split()
    for word in words:
        s.call(
            "define",
            {"word": word},
            "no entry" if word in ("zzyx", "qqrt", "xylo") else f"{word}: a thing of the {word[::-1]} kind",
        )
    return s


@work
def cold_start() -> Session:
    s = Session(
        "cold-start",
        "allow",
        "a service that answers 503 a few times while it starts, asked every ten seconds",
        clock=1_763_300_000,
        gap=10,
    )
    for _ in range(7):
        s.call("http_get", {"url": "https://fn.example/run"}, None, error="503 Service Unavailable")
    return s.call("http_get", {"url": "https://fn.example/run"}, "hello")


@work
def undo_twice() -> Session:
    s = Session("undo-twice", "allow", "a change tried, taken back, tried otherwise, taken back, and kept at last")
    for n in range(4):
        s.call("Edit", {"file_path": "p.c", "old_string": "f(x)", "new_string": f"f(x + {n})"}, "updated")
        s.sh("make test", f"expected 10 got {n * 2}", 1)
        s.sh("git checkout p.c", "Updated 1 path from the index")
    s.call("Edit", {"file_path": "p.c", "old_string": "f(x)", "new_string": "g(x)"}, "updated")
    return s.sh("make test", "ok")


@work
def paging_backwards() -> Session:
    s = Session("paging-backwards", "allow", "a log read from its end to its beginning in pieces")
    for n in range(18):
        start = 3400 - 200 * n
        s.sh(
            f"sed -n '{start},{start + 199}p' build.log",
            "\n".join(f"[{k}] unit {k * 29 % 613} linked" for k in range(start, start + 200)),
        )
    return s


@work
def many_small_scripts() -> Session:
    s = Session("many-small-scripts", "allow", "one-line programs to look at data from many sides, all short answers")
    for n in range(20):
        s.sh(
            f'python3 -c "import d; print(d.table[{n}].{["name", "size", "kind", "age"][n % 4]})"',
            ["blue", "12", "leaf", "3"][n % 4],
        )
    return s


@work
def undecided_user() -> Session:
    s = Session("undecided-user", "allow", "a person asked several questions one by one")
    for n in range(9):
        s.call(
            "ask_user",
            {"question": f"Shall part {n} ({'abcdefghi'[n] * 4}) be kept as it is?"},
            ["yes", "no", "yes"][n % 3],
        )
    return s


@work
def cat_and_mouse() -> Session:
    s = Session(
        "fix-one-of-many", "allow", "a type checker that finds one error less each time, the last lines always alike"
    )
    for n in range(11, 0, -1):
        s.sh(
            "mypy app",
            "\n".join(f"app/m{k}.py:{k * 3}: error: Incompatible return value" for k in range(n))
            + f"\nFound {n} errors in {n} files",
            1,
        )
        s.call("Edit", {"file_path": f"app/m{n - 1}.py", "old_string": "-> int", "new_string": "-> str"}, "updated")
    return s.sh("mypy app", "Success: no issues found in 40 source files")


@work
def same_read_by_many_agents() -> Session:
    s = Session("same-read-by-many-agents", "allow", "eight helpers each read the same two files")
    for n in range(8):
        for name in ("RULES.md", "spec.md"):
            s.call("Read", {"file_path": name}, f"# {name}", agent=f"helper{n}", parent="main")
    return s


@work
def retry_with_fixes_in_arguments() -> Session:
    s = Session("query-put-right", "allow", "a query put right step by step: another error each time, then rows")
    errors = [
        'column "nme" does not exist',
        'relation "user" does not exist',
        'syntax error at or near "form"',
        "operator does not exist: text = integer",
        'column reference "id" is ambiguous',
        "aggregate functions are not allowed in WHERE",
    ]
    for n, error in enumerate(errors):
        s.call("execute_sql", {"query": f"select {n} from users u where u.id = {n}"}, None, error=f"ERROR: {error}")
    return s.call("execute_sql", {"query": "select name from users"}, "ann\nbob")


# -- a fourth round -----------------------------------------------------------------------------------------


@work
def wizard_next() -> Session:
    s = Session(
        "wizard-next",
        "allow",
        "the same button pressed through twelve pages, each answered alike, the page looked at each time",
    )
    for n in range(12):
        s.call("browser_click", {"element": "Next", "ref": "e3"}, "Clicked.")
        s.call(
            "browser_snapshot",
            {},
            f'- heading "Step {n + 2}"\n- textbox "{"abcdefghijkl"[n] * 5}"\n- button "Next" [ref=e3]',
        )
    return s


@work
def vim_by_keys() -> Session:
    s = Session("vim-by-keys", "allow", "an editor in a terminal driven by keys, the screen looked at now and then")
    for n in range(12):
        s.sh("tmux send-keys -t ed j", "")
        if n % 4 == 3:
            s.sh("tmux capture-pane -p -t ed", f"line {n - 1}\nline {n} of the {'abc'[n // 4] * 5} text\n-- NORMAL --")
    return s


@work
def rebuild_images() -> Session:
    s = Session(
        "rebuild-images", "allow", "the same build and up after each change of one file; up always says the same"
    )
    for n in range(9):
        s.call("write_file", {"path": "nginx.conf", "content": f"worker_processes {n};"}, "ok")
        s.sh("docker compose build web", "web  Built")
        s.sh("docker compose up -d web", " Container web-1  Started")
        s.sh("curl -s localhost/health", "502 Bad Gateway" if n < 8 else "ok")
    return s


@work
def mailbox_sorted() -> Session:
    s = Session("mailbox-sorted", "allow", "mails moved one by one, the list read after each")
    for n in range(12):
        s.call(
            "list_mails",
            {"folder": "inbox"},
            "\n".join(f"{k}: mail about {'abcdefghijklm'[k] * 4}" for k in range(n, 13)),
        )
        s.call("move_mail", {"id": n, "to": "archive"}, "moved")
    return s


@work
def many_zero_counts() -> Session:
    s = Session("many-zero-counts", "allow", "how often a word occurs in each of many files: mostly not at all")
    for n in range(22):
        s.sh(f"grep -c TODO src/part{n}.c", "0" if n % 4 else str(n + 1), 1 if n % 4 else 0)
    return s


@work
def awaiting_a_person() -> Session:
    s = Session(
        "awaiting-a-person", "allow", "an approval waited for, looked at every half minute", clock=1_765_000_000, gap=30
    )
    for _ in range(16):
        s.call(
            "get_approval", {"request": "r-7"}, json.dumps({"request": "r-7", "state": "pending", "approver": "dana"})
        )
    return s.call(
        "get_approval", {"request": "r-7"}, json.dumps({"request": "r-7", "state": "approved", "approver": "dana"})
    )


@work
def optimise_step_by_step() -> Session:
    s = Session(
        "optimise-step-by-step",
        "allow",
        "a program made faster: edit, build without a word, time; only the times differ",
    )
    r = rng("optimise")
    for n in range(10):
        s.call(
            "Edit",
            {"file_path": "sim.c", "old_string": f"#define TILE {2**n}", "new_string": f"#define TILE {2 ** (n + 1)}"},
            "updated",
        )
        s.sh("make -s", "")
        s.sh("time ./sim", f"\nreal\t0m{9 - n * 0.6 + r.random() / 9:.3f}s\nuser\t0m8.1s\nsys\t0m0.1s")
    return s


@work
def pick_and_place() -> Session:
    s = Session("pick-and-place", "allow", "a robot told the same few moves for each of many parts")
    for _ in range(8):
        s.call("move_arm", {"to": "bin"}, "reached bin")
        s.call("close_gripper", {}, "gripped")
        s.call("move_arm", {"to": "belt"}, "reached belt")
        s.call("release_gripper", {}, "released")
    return s


@work
def same_fix_other_modules() -> Session:
    s = Session(
        "same-fix-other-modules",
        "allow",
        "one missing import fixed in module after module, the same error named each time",
    )
    for n in range(10):
        s.sh(
            "python -m app",
            f"Traceback (most recent call last):\n  File \"app/m{n}.py\", line 3, in <module>\nNameError: name 'Optional' is not defined",
            1,
        )
        s.sh(f"sed -i '1i from typing import Optional' app/m{n}.py", "")
    return s.sh("python -m app", "started")


@work
def watch_then_act() -> Session:
    s = Session(
        "watch-then-act",
        "allow",
        "a queue looked at, and when something is in it, worked on",
        clock=1_765_100_000,
        gap=15,
    )
    for n in range(18):
        filled = n % 5 == 4
        s.call("queue_peek", {"name": "in"}, json.dumps({"head": f"job-{n}"} if filled else {"head": None}))
        if filled:
            s.call("queue_process", {"job": f"job-{n}"}, f"job-{n} done")
    return s


# -- a fifth round ------------------------------------------------------------------------------------------


@work
def debugger_steps() -> Session:
    s = Session("debugger-steps", "allow", "a debugger stepped through a loop of three lines, values looked at")
    for n in range(24):
        s.call(
            "write_stdin",
            {"session_id": 2, "chars": "n\n"},
            f"{10 + n % 3}\t  {['i += 1', 'total += i', 'if done:'][n % 3]}\n(pdb)",
        )
        if n % 6 == 5:
            s.call("write_stdin", {"session_id": 2, "chars": "p total\n"}, f"{n * n}\n(pdb)")
    return s


@work
def orchestrator_lists() -> Session:
    s = Session(
        "orchestrator-lists", "allow", "helpers at work looked at four times a minute", clock=1_767_000_000, gap=15
    )
    for _ in range(16):
        s.call("list_agents", {}, "a: working, b: working, c: idle")
    return s.call("list_agents", {}, "a: done, b: done, c: idle")


@work
def plan_after_edits() -> Session:
    s = Session("plan-after-edits", "allow", "terraform plan after each edit, no changes until the last one")
    for n in range(9):
        s.call("edit_file", {"path": "main.tf", "old": f"v{n}", "new": f"v{n + 1}"}, "edited")
        s.sh("terraform plan -no-color", "No changes. Your infrastructure matches the configuration.")
    return s


@work
def tests_404() -> Session:
    s = Session("tests-404", "allow", "tests of routes that are not there yet, run one by one with looks at the router")
    for n in range(6):
        s.sh(
            f"pytest -q tests/test_routes.py::test_{'abcdef'[n]}",
            f"E   assert 404 == 200\nFAILED tests/test_routes.py::test_{'abcdef'[n]}",
            1,
        )
        s.sh(
            f"sed -n '{n * 30 + 1},{n * 30 + 30}p' router.py",
            "\n".join(f"route {k}: handler_{k * 7 % 31}" for k in range(n * 30, n * 30 + 30)),
        )
    return s


@work
def resend_to_each() -> Session:
    s = Session("invite-each", "allow", "an invitation sent to each of many people, all answered alike")
    for n in range(25):
        s.call("invite", {"email": f"p{n}@example.org", "role": "viewer"}, json.dumps({"status": "sent"}))
    return s


@work
def rerun_ci() -> Session:
    s = Session("rerun-ci", "allow", "a flaky CI job started anew three times and watched", clock=1_767_100_000, gap=25)
    for n in range(3):
        s.sh("gh run rerun 55 --failed", "✓ Requested rerun (failed jobs) of run 55")
        for _ in range(7):
            s.sh("gh run view 55 --json status,conclusion", '{"conclusion":"","status":"in_progress"}')
        s.sh(
            "gh run view 55 --json status,conclusion",
            json.dumps({"conclusion": "success" if n == 2 else "failure", "status": "completed"}),
        )
    return s


@work
def read_rules_each_time() -> Session:
    s = Session("read-rules-each-time", "allow", "the rules read before each file that is written, as the rules want")
    for n in range(10):
        s.call("read_file", {"path": "STYLE.md"}, "Use tabs. Name things well.")
        s.call("write_file", {"path": f"gen/g{n}.ts", "content": f"export const g{n} = {n}"}, "ok")
    return s


@work
def slow_queries() -> Session:
    s = Session(
        "slow-queries",
        "allow",
        "a query made faster: an index made, the plan looked at, the next index",
        clock=1_767_200_000,
        gap=9,
    )
    for n in range(9):
        s.call("execute_sql", {"sql": f"create index i{n} on t (c{n})"}, "CREATE INDEX")
        s.call(
            "execute_sql",
            {"sql": "explain analyze select * from t where a = 1"},
            f"Seq Scan on t (rows=100)\nExecution Time: {90 - n}.{n} ms",
        )
    return s


@work
def checking_boxes() -> Session:
    s = Session("checking-boxes", "allow", "twenty boxes ticked one after the other by their position")
    for n in range(20):
        s.call("computer", {"action": "left_click", "coordinate": [40, 120 + 36 * n]}, "ok")
    return s


@work
def two_minutes_apart() -> Session:
    s = Session(
        "two-minutes-apart",
        "allow",
        "a backup watched by the size of its file, minutes apart, without change for a while",
        clock=1_767_300_000,
        gap=150,
    )
    for n in range(11):
        s.sh("ls -l /backup/db.dump", f"-rw-r--r-- 1 pg pg {[0, 4096][n > 6]} Jan  3 10:00 /backup/db.dump")
    return s


# -- a sixth round ------------------------------------------------------------------------------------------


@work
def team_board() -> Session:
    s = Session(
        "team-board", "allow", "the board of a team looked at while the others work", clock=1_768_300_000, gap=20
    )
    for n in range(3):
        for _ in range(7):
            s.call(
                "task_list",
                {"status": "in_progress", "owner": "ana"},
                f"#{n + 1} [in_progress] part {n + 1} (owner: ana)",
            )
        s.call(
            "task_list", {"status": "in_progress", "owner": "ana"}, f"#{n + 2} [in_progress] part {n + 2} (owner: ana)"
        )
    return s


@work
def render_cycles() -> Session:
    s = Session("render-cycles", "allow", "a script written, run, edited and run again, each run prints the same line")
    for n in range(9):
        s.call("write_file", {"path": "scene.py", "content": f"import bpy\nlight = {n}\n"}, "Wrote scene.py")
        s.sh("blender -b scene.blend -P scene.py", "Saved: '/tmp/frame_0001.png'\nBlender quit")
        s.call("read_file", {"path": "/tmp/frame_0001.png"}, f"[image {n * 7919 % 9973}]")
        s.call("edit", {"path": "scene.py", "old": f"light = {n}", "new": f"light = {n}.5"}, "Edited scene.py")
        s.sh("blender -b scene.blend -P scene.py", "Saved: '/tmp/frame_0001.png'\nBlender quit")
    return s


@work
def wrapped_polls() -> Session:
    s = Session(
        "wrapped-polls", "allow", "a long process read through a tool that runs code", clock=1_768_400_000, gap=2
    )
    for n in range(15):
        s.call(
            "exec",
            {"code": 'const r = await tools.write_stdin({session_id: 7, chars: "", yield_time_ms: 30000}); text(r)'},
            f"Script completed\nWall time {30 + n / 10:.1f} seconds\nOutput:\nProcess running with session ID 7\n",
            took=30,
        )
    return s


@work
def answers_of_a_person() -> Session:
    s = Session("answers-of-a-person", "allow", "twenty questions of a form asked of a person who says yes")
    for n in range(20):
        s.call(
            "ask_user",
            {"question": f"Item {n + 1}: {['smoke alarm', 'exit', 'ladder', 'lamp'][n % 4]} present?"},
            "yes",
        )
    return s


@work
def pull_requests_one_by_one() -> Session:
    s = Session("pull-requests-one-by-one", "allow", "the state of thirty pull requests, all open")
    for n in range(30):
        s.sh(f"gh pr view {410 + n} --json state,mergeable", '{"mergeable":"MERGEABLE","state":"OPEN"}')
    return s


@work
def maze() -> Session:
    s = Session("maze", "allow", "a maze of text explored, walls in many places")
    ways = "north east south west".split()
    for n in range(36):
        wall = n % 4 != 3
        s.call(
            "go",
            {"direction": ways[n % 4]},
            "There is a wall." if wall else f"You are in room {n * 31 % 97}. Exits: {ways[n % 3]}.",
        )
    return s


@work
def types_put_right() -> Session:
    s = Session("types-put-right", "allow", "types put right file by file; the number of errors falls slowly")
    for n in range(14):
        s.call(
            "Edit",
            {"file_path": f"src/m{n}.ts", "old_string": "any", "new_string": f"T{n}"},
            f"The file src/m{n}.ts has been updated.",
        )
        s.sh("npx tsc --noEmit | tail -1", f"Found {12 - n // 4} errors in 3 files.", 2)
    return s


@work
def mailboxes_empty() -> Session:
    s = Session("mailboxes-empty", "allow", "each of thirty mailboxes looked into, most are empty")
    for n in range(30):
        s.call("list_messages", {"mailbox": f"team-{n:02d}@example.org", "unread": True}, json.dumps({"messages": []}))
    return s.call("list_messages", {"mailbox": "team-30@example.org", "unread": True}, json.dumps({"messages": ["m1"]}))


@work
def load_watched() -> Session:
    s = Session("load-watched", "allow", "the load of a machine watched for half an hour", clock=1_768_500_000, gap=2)
    for n in range(28):
        s.sh(
            "sleep 60; uptime",
            f" 10:{n:02d}:01 up 3 days,  2 users,  load average: {9 - n / 5:.2f}, 8.10, 7.9",
            took=60,
        )
    return s


@work
def zero_blocks() -> Session:
    s = Session("zero-blocks", "allow", "the blocks of a disk read one by one, most hold zeros")
    for n in range(24):
        s.sh(
            f"xxd -s {n * 4096} -l 64 disk.img",
            "\n".join(f"{n * 4096 + k * 16:08x}: " + "0000 " * 8 + " ................" for k in range(4)),
        )
    return s


@work
def container_comes_up() -> Session:
    s = Session("container-comes-up", "allow", "a container looked at until it is healthy", clock=1_768_600_000, gap=12)
    for n in range(14):
        s.sh(
            "docker ps --filter name=db",
            f"CONTAINER STATUS NAMES\n3f2a Up {12 * (n + 1)} seconds (health: starting) db",
        )
    return s.sh("docker ps --filter name=db", "CONTAINER STATUS NAMES\n3f2a Up 3 minutes (healthy) db")


@work
def patches_and_tests() -> Session:
    s = Session("patches-and-tests", "allow", "patch after patch, all answered alike, tests green in between")
    for n in range(16):
        s.call(
            "apply_patch", {"input": f"*** Begin Patch\n*** Update File: f{n}.py\n-a{n}\n+b{n}\n*** End Patch"}, "Done!"
        )
        s.sh("make test", "ok")
    return s


@work
def board_of_others() -> Session:
    s = Session("board-of-others", "allow", "a file that other agents write read before each task is taken")
    for n in range(12):
        s.call("read_file", {"path": "BOARD.md"}, f"next: T{n}")
        s.call("claim", {"task": f"T{n}"}, "claimed")
        s.call("write_file", {"path": f"out/T{n}.md", "content": f"result {n}"}, "written")
        s.call("complete", {"task": f"T{n}"}, "completed")
    return s


@work
def versions_tried() -> Session:
    s = Session("versions-tried", "allow", "one version of a package after the other tried until the tests pass")
    for n in range(10):
        s.sh(f"npm install left@1.{n}", "added 1 package in 2s")
        s.sh("npm test", "TypeError: left is not a function" if n < 9 else "ok 4 tests", int(n < 9))
    return s


# -- a seventh round ----------------------------------------------------------------------------------------


@work
def load_more() -> Session:
    s = Session("load-more", "allow", "a button that shows more pressed until all is there")
    for n in range(18):
        shown = "\n".join(f"- article {k * 37 % 1009}" for k in range((n + 1) * 10))
        s.call(
            "browser_click",
            {"element": "Load more", "ref": "e9"},
            f"Clicked. Page:\n{shown}\n- button Load more [ref=e9]",
        )
    return s


@work
def rows_of_pages() -> Session:
    s = Session("rows-of-pages", "allow", "the same script run on page after page")
    for n in range(15):
        s.call("browser_navigate", {"url": f"https://x.example/list?page={n + 1}"}, "Navigated.")
        s.call(
            "browser_evaluate",
            {"function": "() => [...document.querySelectorAll('tr')].map(r => r.innerText)"},
            json.dumps([f"row {n * 10 + k}: {k * 17 % 23}" for k in range(6)] if n != 4 else []),
        )
    return s


@work
def chess() -> Session:
    s = Session("chess", "allow", "a game of chess, the board looked at after each move")
    r = rng("chess")
    for n in range(16):
        s.call("make_move", {"uci": f"{'abcdefgh'[n % 8]}{2 + n % 3}{'abcdefgh'[n % 8]}{3 + n % 3}"}, "ok")
        s.call("get_board", {}, "/".join("".join(r.choice("pnbrqk.") for _ in range(8)) for _ in range(8)))
    return s


@work
def typesetting() -> Session:
    s = Session("typesetting", "allow", "a paper put right place by place and set again; the setter says the same")
    for n in range(13):
        s.call(
            "Edit",
            {"file_path": "main.tex", "old_string": f"teh {n}", "new_string": f"the {n}"},
            "The file main.tex has been updated.",
        )
        s.sh(
            "latexmk -pdf main.tex",
            "Latexmk: All targets (main.pdf) are up-to-date\nOutput written on main.pdf (12 pages).",
        )
    return s


@work
def rebase() -> Session:
    s = Session("rebase", "allow", "a long rebase with a conflict in the same file at each commit")
    for n in range(9):
        s.sh("git rebase --continue", "CONFLICT (content): Merge conflict in a.c\nerror: could not apply commit", 1)
        s.call("Read", {"file_path": "a.c"}, f"<<<<<<< HEAD\nint a = {n};\n=======\nint a = {n + 1};\n>>>>>>> commit")
        s.call(
            "Edit",
            {"file_path": "a.c", "old_string": f"<<<<<<< HEAD\nint a = {n};", "new_string": f"int a = {n + 1};"},
            "The file a.c has been updated.",
        )
        s.sh("git add a.c", "")
    return s.sh("git rebase --continue", "Successfully rebased and updated refs/heads/x.")


@work
def alerts_dismissed() -> Session:
    s = Session("alerts-dismissed", "allow", "twenty-five alerts put away one by one")
    for n in range(25):
        s.sh(
            f"gh api -X PATCH repos/o/r/code-scanning/alerts/{300 + n} -f state=dismissed -f dismissed_reason='false positive'",
            json.dumps({"number": 300 + n, "state": "dismissed"}),
        )
    return s


@work
def cleaning_data() -> Session:
    s = Session("cleaning-data", "allow", "a table made clean step by step, the same look after each step")
    for n in range(10):
        s.call("execute_cell", {"code": f"df['c{n}'] = df['c{n}'].fillna({n})"}, "")
        s.call("execute_cell", {"code": "df.isna().sum().sum()"}, str(41 - 4 * n if n != 5 else 25))
        s.call("execute_cell", {"code": "df.shape"}, "(1000, 12)")
    return s


@work
def mutants() -> Session:
    s = Session("mutants", "allow", "mutants made, tested and taken back; the tests find each")
    for n in range(12):
        s.sh(f"sed -i '{n * 3 + 4}s/+/-/' calc.py", "")
        s.sh("pytest -q", "1 failed, 30 passed", 1)
        s.sh("git checkout calc.py", "Updated 1 path from the index")
    return s


@work
def same_score() -> Session:
    s = Session(
        "same-score", "allow", "one parameter after the other tried, the score stays", clock=1_769_300_000, gap=3
    )
    for n in range(16):
        s.sh(
            f"python train.py --lr {['1e-4', '3e-4', '1e-3', '3e-3'][n % 4]} --seed {n // 4}",
            "epoch 3: acc 0.91",
            took=40,
        )
    return s


@work
def waiting_out_a_limit() -> Session:
    s = Session(
        "waiting-out-a-limit",
        "allow",
        "a limit of an hour waited out, a try each few minutes",
        clock=1_769_400_000,
        gap=2,
    )
    for _ in range(9):
        s.sh("curl -s https://api.example/v1/export", '{"error": "rate limit exceeded, try again later"}')
        s.sh("sleep 300", "", took=300)
    return s.sh("curl -s https://api.example/v1/export", '{"rows": 12}')


@work
def orders_of_a_customer() -> Session:
    s = Session("orders-of-a-customer", "allow", "all orders of a customer looked up, some are not there")
    for n in range(14):
        s.call(
            "get_order_details",
            {"order_id": f"#W{7000000 + n * 13579}"},
            "Error: order not found" if n % 3 == 1 else json.dumps({"status": "delivered", "items": [n * 11 % 97]}),
        )
    return s


@work
def polishing_a_draft() -> Session:
    s = Session("polishing-a-draft", "allow", "the draft of a letter polished sentence by sentence")
    body = "Dear team, we will move the release to Friday because the tests are slow."
    for old, new in [
        ("team", "all"), ("will move", "are moving"), ("release", "launch"), ("Friday", "Monday"), ("because", "since"),
        ("tests", "checks"), ("slow", "late"), ("Dear", "Hello"), ("we", "I"), ("are", "am"),
    ]:  # fmt: skip
        body = body.replace(old, new, 1)
        s.call("update_draft", {"id": "d1", "body": body}, json.dumps({"id": "d1", "saved": True}))
    return s


@work
def console_of_an_engine() -> Session:
    s = Session(
        "console-of-an-engine", "allow", "a script changed, the game played, its console looked at: nothing there"
    )
    for n in range(9):
        s.call("script_update", {"path": "Player.cs", "contents": f"class Player {{ int v = {n}; }}"}, "Script saved.")
        s.call("play_mode", {"action": "play"}, "Playing")
        s.call("get_console_logs", {"types": ["error"]}, json.dumps({"logs": []}))
        s.call("play_mode", {"action": "stop"}, "Stopped")
    return s


@work
def layers_of_a_drawing() -> Session:
    s = Session("layers-of-a-drawing", "allow", "the parts of a drawing set one by one, a picture after each")
    for n in range(16):
        s.call(
            "set_node_property",
            {"node": f"1:{n + 20}", "property": "fills", "value": "#0055ff"},
            json.dumps({"ok": True}),
        )
        if n % 2:
            s.call("get_screenshot", {"node": "1:2"}, [{"type": "image", "mimeType": "image/png"}])
    return s


@work
def reading_around() -> Session:
    s = Session(
        "reading-around", "allow", "a question looked into on the web: searches that overlap, pages that are read"
    )
    topics = "price range charging speed warranty battery heat resale winter service recall".split()
    for n, topic in enumerate(topics):
        known = [f"https://site{k}.example/cars" for k in range(5)]
        new = [f"https://{topic}{k}.example/a" for k in range(2)]
        s.call("web_search", {"query": f"electric car {topic} comparison"}, "\n".join([*known, *new]))
        s.call("web_fetch", {"url": new[0]}, f"About {topic}: " + " ".join(f"{topic}{k * n}" for k in range(30)))
    return s


@work
def waiting_for_a_push() -> Session:
    s = Session("waiting-for-a-push", "allow", "waiting until a colleague has pushed", clock=1_769_500_000, gap=2)
    for n in range(14):
        s.sh(
            "sleep 60 && git fetch -q && git log origin/main -1 --oneline",
            f"{'1f2e3d4 fix' if n < 13 else '5c6b7a8 add'} it",
            took=61,
        )
    return s


@work
def rollout_times_out() -> Session:
    s = Session(
        "rollout-times-out", "allow", "a slow rollout watched half a minute at a time", clock=1_769_600_000, gap=2
    )
    for n in range(9):
        s.sh(
            "kubectl rollout status deploy/api --timeout=30s",
            f'Waiting for deployment "api" rollout to finish: {1 + n // 5} of 3 updated replicas are available...\n'
            "error: timed out waiting for the condition",
            1,
            took=30,
        )
    return s.sh("kubectl rollout status deploy/api --timeout=30s", 'deployment "api" successfully rolled out')


@work
def cells_of_a_sheet() -> Session:
    s = Session("cells-of-a-sheet", "allow", "a column of a sheet read cell by cell")
    for n in range(32):
        s.call("read_cell", {"sheet": "Q3", "cell": f"B{n + 2}"}, json.dumps({"value": [0, 0, "", 12][n % 4]}))
    return s


@work
def workers_take_their_time() -> Session:
    s = Session(
        "workers-take-their-time", "allow", "helpers waited for, each wait times out", clock=1_769_700_000, gap=3
    )
    for _ in range(12):
        s.call(
            "wait_agent",
            {"ids": ["a1", "a2"], "timeout_ms": 30000},
            json.dumps({"status": {}, "timed_out": True}),
            took=30,
        )
    return s.call(
        "wait_agent",
        {"ids": ["a1", "a2"], "timeout_ms": 30000},
        json.dumps({"status": {"a1": "done"}, "timed_out": False}),
    )


@work
def services_restarted() -> Session:
    s = Session("services-restarted", "allow", "a config put right on a server, the service started anew each time")
    for n in range(8):
        s.sh(f"ssh web 'sudo sed -i \"s/workers {n};/workers {n + 1};/\" /etc/nginx/nginx.conf'", "")
        s.sh("ssh web 'sudo systemctl restart nginx'", "")
        s.sh("ssh web 'systemctl is-active nginx'", "failed" if n < 7 else "active", 3 if n < 7 else 0)
    return s


@work
def rows_put_right() -> Session:
    s = Session("rows-put-right", "allow", "thirty rows of a table put right one by one from the shell")
    for n in range(30):
        s.sh(f"psql shop -c \"update orders set state = 'sent' where id = {4100 + n * 3}\"", "UPDATE 1")
    return s


@work
def queries_of_many_kinds() -> Session:
    s = Session("queries-of-many-kinds", "allow", "a table looked at from many sides with much the same words")
    for n in range(20):
        column = ["state", "country", "plan", "source"][n % 4]
        s.sh(
            f'sqlite3 shop.db "select {column}, count(*) from users where month = {n // 4 + 1} group by {column}"',
            "\n".join(f"{column}{k}|{(n + 3) * (k + 7) * 13 % 89}" for k in range(4)),
        )
    return s


# -- an eighth round: told in few words, as reports tell it --------------------------------------------------


@work
def chunks_alike() -> Session:
    s = Session("chunks-alike", "allow", "a generated file read in parts that all look alike")
    for n in range(14):
        s.call("read", {"path": "gen.sql", "offset": n * 200, "limit": 200}, "INSERT INTO t VALUES (...)")
    return s


@work
def each_package() -> Session:
    s = Session("each-package", "allow", "the same command in each of sixteen packages")
    for n in range(16):
        s.call("bash", {"command": "npm test", "workdir": f"packages/p{n:02d}"}, "ok", exit=0)
    return s


@work
def posts_of_payloads() -> Session:
    s = Session("posts-of-payloads", "allow", "twelve payloads sent to one address")
    for n in range(12):
        s.sh(f"curl -s -X POST -d '{{\"id\": {n}}}' http://localhost:3000/items", '{"ok":true}')
    return s


@work
def stepper() -> Session:
    s = Session("stepper", "allow", "plus pressed until there are nine guests")
    for n in range(8):
        s.call("click", {"selector": "#plus"}, "ok")
    return s.call("get_text", {"selector": "#guests"}, "9")


@work
def next_of_twenty() -> Session:
    s = Session("next-of-twenty", "allow", "next pressed through twenty pages")
    for n in range(19):
        s.call("click", {"selector": "text=Next"}, f"page {n + 2} of 20")
    return s


@work
def server_starts() -> Session:
    s = Session("server-starts", "allow", "a server asked each second until it is up", clock=1_770_000_000, gap=0.5)
    s.sh("npm start &", "")
    for _ in range(6):
        s.sh(
            "sleep 1; curl -s localhost:3000",
            "curl: (7) Failed to connect to localhost port 3000: Connection refused",
            7,
            took=1,
        )
    return s.sh("sleep 1; curl -s localhost:3000", "hello")


@work
def exponential() -> Session:
    s = Session(
        "exponential", "allow", "a limited interface tried again after ever longer pauses", clock=1_770_100_000, gap=1
    )
    for n in range(7):
        s.call("api_get", {"path": "/v1/x"}, None, error="429 Too Many Requests", gap=2**n)
    return s.call("api_get", {"path": "/v1/x"}, {"ok": True}, gap=128)


@work
def counts_fall() -> Session:
    s = Session("counts-fall", "allow", "a queue asked how long it is while it is worked off")
    for n in range(15):
        s.call("queue_length", {"queue": "q"}, str(300 - 17 * n))
    return s


@work
def status_after_edits() -> Session:
    s = Session("status-after-edits", "allow", "the status asked after each edit of one file")
    for n in range(12):
        s.call("edit", {"path": "a.c", "old": f"a{n}", "new": f"b{n}"}, "ok")
        s.sh("git status --short", " M a.c")
        s.sh("git diff --stat", f" a.c | {n + 1} +-")
    return s


@work
def two_heredocs() -> Session:
    s = Session("two-heredocs", "allow", "a script written and run in one command, in ever new forms that fail alike")
    for n in range(11):
        s.sh(f"cat > t.py <<'E'\nv = {n}\nraise SystemExit(v > 9)\nE\npython3 t.py", "assertion failed", 1)
    return s


@work
def same_files_by_helpers() -> Session:
    s = Session("same-files-by-helpers", "allow", "five helpers read the same three files")
    for k in range(5):
        for n in range(3):
            s.call("read", {"path": f"f{n}.md"}, f"f{n}", agent=f"h{k}", parent="main")
    return s


@work
def compacted_twice() -> Session:
    s = Session("compacted-twice", "allow", "the same files read again after each summary")
    for _ in range(4):
        for n in range(4):
            s.call("read", {"path": f"f{n}.md"}, f"f{n}")
        for n in range(2):
            s.call("read", {"path": f"f{n}.md"}, f"f{n}")
        s.compacted()
    return s


@work
def slow_import() -> Session:
    s = Session("slow-import", "allow", "an import whose state is asked for, in per cent", clock=1_770_200_000, gap=8)
    for n in range(24):
        s.call("import_state", {"id": "i1"}, {"state": "IMPORTING", "percent": min(99, n * 4)})
    return s


@work
def redirects() -> Session:
    s = Session("redirects", "allow", "status codes of ten addresses")
    for n in range(10):
        s.sh(f"curl -sI https://example.com/old/{'abcdefghij'[n]} | head -1", "HTTP/2 301")
    return s


@work
def labels() -> Session:
    s = Session("labels", "allow", "thirty pictures labelled, the next one asked for each time")
    for n in range(30):
        s.call("next_item", {}, f"item {n}")
        s.call("label", {"item": n, "label": ["cat", "dog"][n % 2]}, "ok")
    return s


@work
def green_again() -> Session:
    s = Session("green-again", "allow", "tests green after each of ten refactorings")
    for n in range(10):
        s.sh(f"sed -i 's/old_{n}/new_{n}/g' src/*.py", "")
        s.sh("pytest -q", "212 passed")
    return s


@work
def retries_of_an_upload() -> Session:
    s = Session("retries-of-an-upload", "allow", "parts of an upload, some tried twice")
    for n in range(14):
        if n % 3 == 0:
            s.call("upload_part", {"upload": "u", "part": n}, None, error="socket hang up")
        s.call("upload_part", {"upload": "u", "part": n}, {"etag": f"e{n}"})
    return s


@work
def thoughts_on_the_way() -> Session:
    s = Session("thoughts-on-the-way", "allow", "a thought before each look at another file")
    for n in range(12):
        s.call(
            "think",
            {
                "thought": f"The {'parser lexer loader writer reader server client driver router worker cache index'.split()[n]} may be the cause, because of its {'locks order bounds types state calls loops paths names keys sizes dates'.split()[n]}."
            },
            "",
        )
        s.call("read", {"path": f"src/m{n}.c"}, f"code {n}")
    return s


@work
def tail_that_stays() -> Session:
    s = Session(
        "tail-that-stays",
        "allow",
        "a log looked at each half minute until the nightly job writes",
        clock=1_770_300_000,
        gap=30,
    )
    for _ in range(7):
        s.sh("tail -1 job.log", "03:00 done")
    return s.sh("tail -1 job.log", "04:00 start")


@work
def denied_then_other() -> Session:
    s = Session("denied-then-other", "allow", "what is not allowed is given up, another way is gone")
    for n in range(5):
        s.call("bash", {"command": f"rm -rf build/{n}"}, None, error="Denied by policy", code="DENIED")
        s.call("write", {"path": f"todo/{n}.md", "content": f"remove build/{n} by hand"}, "ok")
    return s


# -- a ninth round ------------------------------------------------------------------------------------------


@work
def router_batch() -> Session:
    s = Session("router-batch", "allow", "twenty actions through one tool in one response")
    for n in range(20):
        s.call("run_action", {"action": f"crm.contact.{n}", "input": {"id": n}}, "ok", parallel=n > 0)
    return s


@work
def batch_refused() -> Session:
    s = Session("batch-refused", "allow", "ten calls of one response refused at once, then another way")
    for n in range(10):
        s.call(
            "bash",
            {"command": f"git -C r{n} pull"},
            None,
            error='Tool "bash" is denied.',
            code="DENIED",
            parallel=n > 0,
        )
    for n in range(4):
        s.call("read", {"path": f"r{n}/VERSION"}, f"1.{n}")
    return s


@work
def productive_debugging() -> Session:
    s = Session(
        "productive-debugging", "allow", "prints put in, run, read, taken out, on and on; the test fails all the time"
    )
    for n in range(10):
        s.call("edit", {"path": "a.py", "old": f"x{n}", "new": f"x{n}; print({n})"}, "ok")
        s.sh("python t.py", f"{n * 31 % 17}\nAssertionError", 1)
        s.sh(f"grep -n 'f{n}(' *.py", f"b.py:{n}: def f{n}(x)")
        s.call("read", {"path": "b.py", "offset": n * 20, "limit": 20}, f"def f{n}(x): ...")
    return s


@work
def fractions_done() -> Session:
    s = Session("fractions-done", "allow", "a job that says how much of it is done, asked at once again")
    for n in range(25):
        s.call("job", {"id": "j"}, f"{n}/25 files converted")
    return s


@work
def steps_of_a_checklist() -> Session:
    s = Session("steps-of-a-checklist", "allow", "each step of a list done and ticked")
    for n in range(15):
        s.call("bash", {"command": f"make step{n}"}, "ok", exit=0)
        s.call("task_update", {"step": n, "status": "done"}, "ok")
    return s


@work
def looks_between_waits() -> Session:
    s = Session("looks-between-waits", "allow", "short waits between looks at two jobs, neither says much")
    for n in range(9):
        s.call("wait", {"seconds": 20}, "")
        s.call("job_status", {"id": "a"}, "RUNNING")
        s.call("job_status", {"id": "b"}, "RUNNING" if n < 8 else "DONE")
    return s


@work
def zero_rows_yet() -> Session:
    s = Session(
        "zero-rows-yet",
        "allow",
        "a table looked at while a stream fills it, empty at first",
        clock=1_771_200_000,
        gap=15,
    )
    for n in range(10):
        s.call("run_query", {"sql": "select count(*) from events"}, "0" if n < 7 else str(n * 40))
    return s


@work
def unit_after_unit() -> Session:
    s = Session("unit-after-unit", "allow", "unit after unit written, built and checked in with the same words")
    for n in range(12):
        s.call("write", {"path": f"u{n}.rs", "content": f"pub fn u{n}() {{}}"}, "ok")
        s.sh("cargo build", "Finished")
        s.sh("git add -A && git commit -m 'Add unit'", f"[main {n:07x}] Add unit")
    return s


@work
def attach_files() -> Session:
    s = Session("attach-files", "allow", "attach_file to one e-mail, each True")
    for i in range(15):
        s.call("attach_file", {"email_id": "1", "filename": f"report-{i}.pdf"}, "true")
    return s


@work
def dcc_verify() -> Session:
    s = Session(
        "dcc-verify",
        "allow",
        "write script, run, edit, verify; verification prints the same each time",
        clock=1_772_000_000,
    )
    for i in range(14):
        s.call("edit", {"file_path": "rig.py", "old_string": f"v{i}", "new_string": f"v{i + 1}"}, "ok", gap=20)
        s.call(
            "run_shell_command",
            {"command": "blender -b scene.blend -P rig.py"},
            "Blender 4.1\nBlender quit",
            exit=0,
            gap=2,
            took=9,
        )
        s.call("run_shell_command", {"command": "python verify_stage.py --stage 3"}, "stage 3: FAIL (2 checks)", exit=1)
    return s


@work
def tdd_cycle() -> Session:
    s = Session("tdd-cycle", "allow", "red green: write test, fail, write code, pass, 15 cycles in one step naming")
    for i in range(15):
        s.call("edit_file", {"path": "tests/test_calc.py", "content": f"def test_{i}(): ..."}, "File updated.")
        s.call("execute_bash", {"command": "pytest -q"}, f"{i} passed, 1 failed in 0.4{i % 10}s", exit=1)
        s.call("edit_file", {"path": "calc.py", "content": f"def f{i}(): ..."}, "File updated.")
        s.call("execute_bash", {"command": "pytest -q"}, f"{i + 1} passed in 0.4{i % 10}s", exit=0)
    return s


@work
def ci_wait() -> Session:
    s = Session(
        "ci-wait",
        "allow",
        "waits for GitHub checks with gh run view, every 30 s, for 25 minutes, in_progress",
        clock=1_772_000_000,
    )
    for i in range(40):
        s.call(
            "bash",
            {"command": "sleep 30 && gh run view 8812345 --json status,conclusion"},
            '{"conclusion":"","status":"in_progress"}' if i < 39 else '{"conclusion":"success","status":"completed"}',
            exit=0,
            gap=4,
            took=31,
        )
    return s


@work
def slurm_queue() -> Session:
    s = Session("slurm-queue", "allow", "squeue while a job is pending; no clock is told")
    for i in range(14):
        s.call(
            "run_command",
            {"command": "squeue -u me -h -o '%i %T %M'"},
            f"88213 {'PENDING' if i < 5 else 'RUNNING'} {max(0, i - 5) * 2}:1{i % 10}",
            exit=0,
        )
        s.call("run_command", {"command": "sleep 120"}, "", exit=0)
    return s


@work
def git_bisect() -> Session:
    s = Session("git-bisect", "allow", "bisect: run the test on each commit; verdict good/bad repeats")
    r = rng("git-bisect")
    for i in range(12):
        s.call("Bash", {"command": "make -s test-one && echo GOOD || echo BAD"}, "BAD" if i % 3 else "GOOD", exit=0)
        s.call(
            "Bash",
            {"command": "git bisect " + ("bad" if i % 3 else "good")},
            f"Bisecting: {2 ** (12 - i)} revisions left to test after this (roughly {12 - i} steps)\n[{r.getrandbits(160):040x}] change {i}",
            exit=0,
        )
    return s


@work
def flaky_hunt_too() -> Session:
    s = Session("flaky-hunt-too", "allow", "runs a flaky test 12 times with different seeds; mostly the same line")
    r = rng("flaky-hunt-too")
    for i in range(12):
        s.call(
            "Bash",
            {"command": f"pytest tests/test_net.py -q -p randomly --randomly-seed={r.randrange(10**5)}"},
            "1 passed in 0.31s" if i != 8 else "1 failed in 0.33s",
            exit=0 if i != 8 else 1,
        )
    return s


@work
def translate_docs() -> Session:
    s = Session("translate-docs", "allow", "translation of 40 documents: read, write; write answers the same")
    r = rng("translate-docs")
    for i in range(40):
        s.call("read_file", {"path": f"docs/en/{i:02d}.md"}, f"# Chapter {i}\nSome text about topic {r.random()}")
        s.call("write_file", {"path": f"docs/de/{i:02d}.md", "content": f"# Kapitel {i}"}, "Successfully wrote file.")
    return s


@work
def email_triage() -> Session:
    s = Session("email-triage", "allow", "inbox: get next, label, archive; each get the next mail", clock=1_772_000_000)
    r = rng("email-triage")
    for i in range(30):
        s.call(
            "gmail_get_next_unread",
            {},
            {
                "id": f"{r.getrandbits(64):x}",
                "from": f"user{i}@example.com",
                "subject": f"Question {r.choice(['invoice', 'refund', 'login', 'shipping'])}",
            },
        )
        s.call("gmail_modify_labels", {"id": f"m{i}", "add": ["Support"], "remove": ["UNREAD"]}, {"ok": True})
    return s


@work
def heartbeat() -> Session:
    s = Session(
        "heartbeat",
        "allow",
        "scheduled heartbeat every 10 minutes: reads HEARTBEAT.md and answers nothing to do",
        clock=1_772_000_000,
    )
    for i in range(30):
        s.call("read", {"path": "HEARTBEAT.md"}, "# HEARTBEAT\n- check mail\n- check calendar\n", gap=600)
    return s


@work
def gdb_step() -> Session:
    s = Session("gdb-step", "allow", "debugger: next, next, next; terse lines")
    r = rng("gdb-step")
    for i in range(30):
        s.call(
            "gdb_command",
            {"command": "next"},
            f"{100 + i}\t    {r.choice(['i++;', 'x = f(x);', 'if (p == NULL)', 'p = p->next;'])}",
        )
    return s


@work
def pdb_repeat() -> Session:
    s = Session("pdb-repeat", "allow", "pdb in a terminal: n / p x; p x the same for a while")
    for i in range(16):
        s.call("terminal_input", {"session": "t1", "input": "n\n"}, f"> /app/m.py({20 + i})f()\n-> step{i}()\n(Pdb)")
        s.call("terminal_input", {"session": "t1", "input": "p state\n"}, "'INIT'\n(Pdb)")
    return s


@work
def game_2048() -> Session:
    s = Session("game-2048", "allow", "a game by arrows; keys repeat, board changes, sometimes it does not")
    r = rng("game-2048")
    for i in range(60):
        s.call(
            "press_key",
            {"key": ["ArrowUp", "ArrowLeft"][i % 2] if i % 7 else "ArrowRight"},
            {"board": [[r.choice([0, 2, 4, 8]) for _ in range(4)] for _ in range(2)], "score": i // 2 * 4},
        )
    return s


@work
def form_fill() -> Session:
    s = Session("form-fill", "allow", "fills a form of 24 fields; every answer is 'ok'", clock=1_772_000_000)
    for i in range(24):
        s.call("browser_type", {"ref": f"e{40 + i}", "text": f"value {i}"}, "ok", gap=2)
    return s


@work
def tail_log() -> Session:
    s = Session("tail-log", "allow", "tail of a log while the app is used; partly the same lines", clock=1_772_000_000)
    r = rng("tail-log")
    lines = []
    for i in range(20):
        if i % 3 == 2:
            lines.append(
                f"2026-03-01T10:0{i % 10}:11Z INFO handled /api/{r.choice(['a', 'b', 'c'])} {r.randrange(100)}ms"
            )
        s.call("bash", {"command": "tail -n 5 /var/log/app.log"}, "\n".join(lines[-5:]), exit=0, gap=12)
    return s


@work
def mass_migration() -> Session:
    s = Session("mass-migration", "allow", "60 files: read, edit, type check of the file; type check prints nothing")
    for i in range(30):
        s.call("Read", {"file_path": f"/r/src/c{i}.tsx"}, f"export class C{i} extends React.Component {{}}")
        s.call(
            "Edit",
            {"file_path": f"/r/src/c{i}.tsx", "old_string": "class", "new_string": "function"},
            "The file has been updated.",
        )
        s.call("Bash", {"command": "npx tsc --noEmit"}, "", exit=0)
    return s


@work
def research_crawl_misses() -> Session:
    s = Session(
        "research-crawl-misses",
        "allow",
        "research: many searches, some without hits, fetches in between",
        clock=1_772_000_000,
    )
    r = rng("research-crawl-misses")
    for i in range(24):
        s.call(
            "web_search",
            {
                "query": f"{r.choice(['tensile', 'fatigue', 'creep'])} strength alloy {7000 + i * 5} {r.choice(['temper', 'datasheet', 'handbook'])}"
            },
            "No results found." if i % 3 else f"1. Alloy {7000 + i * 5} sheet https://ex.org/a{i}",
        )
        if i % 3 == 0:
            s.call(
                "web_fetch",
                {"url": f"https://ex.org/a{i}"},
                f"Alloy {7000 + i * 5} yields at {r.randrange(200, 600)} MPa",
            )
    return s


@work
def k8s_rollout() -> Session:
    s = Session(
        "k8s-rollout",
        "allow",
        "kubectl get pods until ready; the same line for 6 minutes with an age that moves",
        clock=1_772_000_000,
    )
    for i in range(24):
        s.call(
            "bash",
            {"command": "kubectl get pods -n prod"},
            f"NAME        READY   STATUS              RESTARTS   AGE\napi-7f9-x2   0/1     ContainerCreating   0          {i * 15 + 4}s",
            exit=0,
            gap=15,
        )
    return s


@work
def customer_lookup() -> Session:
    s = Session(
        "customer-lookup",
        "allow",
        "support agent looks up many orders; all answers have the same form, several not found",
    )
    r = rng("customer-lookup")
    for i in range(20):
        s.call(
            "get_order_details",
            {"order_id": f"#W{r.randrange(10**6, 10**7)}"},
            "Error: order not found"
            if i % 2
            else json.dumps(
                {"status": "delivered", "total": round(r.random() * 100, 2), "items": [f"item {r.randrange(99)}"]}
            ),
        )
    return s


@work
def paginate_api() -> Session:
    s = Session(
        "paginate-api", "allow", "pages through an API with a cursor, same url argument plus cursor; some pages empty"
    )
    r = rng("paginate-api")
    for i in range(30):
        s.call(
            "http_get",
            {"url": f"https://api.ex.com/items?cursor={r.getrandbits(40):x}"},
            json.dumps({"items": [] if i % 4 == 0 else [{"id": r.getrandbits(30)}], "next": f"{r.getrandbits(40):x}"}),
        )
    return s


@work
def repl_explore() -> Session:
    s = Session("repl-explore", "allow", "python REPL: many small expressions that print True, None, 0")
    for i in range(30):
        s.call("python", {"code": f"df[df.col{i}.isna()].shape[0]"}, "0")
    return s


@work
def deploy_retry() -> Session:
    s = Session(
        "deploy-retry",
        "allow",
        "deploy fails on registry 503 five times with growing sleeps, then goes through",
        clock=1_772_000_000,
    )
    for i in range(6):
        s.call(
            "bash",
            {"command": "docker push reg.ex.com/app:v3"},
            "received unexpected HTTP status: 503 Service Unavailable" if i < 5 else "v3: digest: sha256:ab size: 1578",
            exit=1 if i < 5 else 0,
            took=10,
        )
        if i < 5:
            s.call("bash", {"command": f"sleep {15 * 2**i}"}, "", exit=0, took=15 * 2**i)
    return s


@work
def lint_fix() -> Session:
    s = Session(
        "lint-fix",
        "allow",
        "eslint after each edit with error count dropping by one; then all files",
        clock=1_772_000_000,
    )
    for i in range(20):
        s.call("apply_patch", {"input": f"*** Update File: src/a{i % 4}.ts\n@@\n-x{i}\n+y{i}"}, "Done!", gap=5)
        s.call(
            "shell",
            {"command": ["bash", "-lc", "npx eslint src --format unix | tail -1"]},
            f"{40 - 2 * i} problems",
            exit=0 if i == 20 else 1,
        )
    return s


@work
def reread_before_edit() -> Session:
    s = Session(
        "reread-before-edit",
        "allow",
        "one long file read in chunks, edits in between by a formatter-run, reading again chunk by chunk",
    )
    r = rng("reread-before-edit")
    for k in range(3):
        for o in range(0, 1200, 200):
            s.call(
                "Read",
                {"file_path": "/r/big.py", "offset": o, "limit": 200},
                f"lines {o} version {k} " + "x" * r.randrange(20, 40),
            )
        s.call("Bash", {"command": "ruff format big.py"}, "1 file reformatted", exit=0)
    return s


@work
def openhands_poll_server() -> Session:
    s = Session(
        "openhands-poll-server",
        "allow",
        "starts a server, curls health until up; connection refused 8 times over 2 minutes",
        clock=1_772_000_000,
    )
    s.call("execute_bash", {"command": "nohup java -jar app.jar > out.log 2>&1 &"}, "[1] 4123", exit=0)
    for i in range(9):
        s.call(
            "execute_bash",
            {"command": "sleep 12; curl -sf localhost:8080/health"},
            "curl: (7) Failed to connect to localhost port 8080: Connection refused" if i < 8 else '{"status":"UP"}',
            exit=7 if i < 8 else 0,
            took=12,
        )
    return s


@work
def screenshot_loop() -> Session:
    s = Session(
        "screenshot-loop",
        "allow",
        "game play by screenshots: act, screenshot; screenshot answer is a placeholder",
        clock=1_772_000_000,
    )
    r = rng("screenshot-loop")
    for i in range(25):
        s.call("computer", {"action": "left_click", "coordinate": [r.randrange(1200), r.randrange(800)]}, "", gap=3)
        s.call("computer", {"action": "screenshot"}, "[image]", gap=2)
    return s


@work
def doze_doze_look() -> Session:
    s = Session(
        "doze-doze-look",
        "allow",
        "commands end after two minutes, so it sleeps twice before it looks at the training",
        clock=1_771_000_000,
    )
    for n in range(10):
        s.sh("sleep 110", "", tool="execute_bash", took=110)
        s.sh("sleep 110", "", tool="execute_bash", took=110)
        s.sh("tail -n 2 train.log", f"epoch {n // 2} loss {2.0 / (n // 2 + 1):.3f}", tool="execute_bash")
    return s


@work
def move_components() -> Session:
    s = Session("move-components", "allow", "search, move, search, replace for each of many components")
    for n in range(12):
        s.sh(f'grep -rl "components/C{n}\'" src', f"src/p{n % 5}.tsx", tool="run_shell_command")
        s.sh(f"git mv src/components/C{n}.tsx src/ui/C{n}.tsx", "", tool="run_shell_command")
        s.sh(
            f'grep -rl "components/C{n}\'" src | xargs sed -i "s#components/C{n}\'#ui/C{n}\'#"',
            "",
            tool="run_shell_command",
        )
        s.sh(f'grep -rn "components/C{n}\'" src', "", 1, tool="run_shell_command")
    return s


@work
def promql_by_fives() -> Session:
    s = Session(
        "promql-by-fives", "allow", "five queries side by side for each service of a cluster, many of them empty"
    )
    for n in range(9):
        for k, q in enumerate(["up", "errors_total", "latency_p99", "restarts", "saturation"]):
            s.call(
                "execute_promql",
                {"query": f'{q}{{service="svc{n}"}}'},
                {"status": "success", "data": {"result": [] if k % 2 else [{"value": str(n * k)}]}},
                parallel=k > 0,
            )
    return s


@work
def failed_log_by_patterns() -> Session:
    s = Session("failed-log-by-patterns", "allow", "the log of a failed run searched for one word after the other")
    for n, word in enumerate(
        "error fail vuln severity timeout killed oom denied refused panic warn deprecated".split()
    ):
        s.sh(
            f"run=$(gh run list --limit 1 --json databaseId -q '.[0].databaseId'); gh run view \"$run\" --log-failed 2>&1 | grep -v '^$' | grep -iE '{word}' | head -5",
            "" if n % 3 else f"build\tRun tests\t2026-05-01T10:00:00Z {word}: step {n}",
            1 if n % 3 else 0,
        )
    return s


@work
def commit_after_commit() -> Session:
    s = Session("commit-after-commit", "allow", "small commits, each after the same three checks, which say the same")
    for n in range(10):
        s.call("edit", {"file_path": f"src/m{n}.py", "old_string": "print(", "new_string": "log.info("}, "ok")
        s.sh("ruff check .", "All checks passed!")
        s.sh("pytest -q", "210 passed in 4.31s")
        s.sh("git add -A && git commit -qm 'Log instead of print'", "")
        s.sh("git status --short", "")
    return s


@work
def text_adventure() -> Session:
    s = Session("text-adventure", "allow", "a maze of rooms that look alike")
    r = rng("maze")
    for n in range(50):
        way = r.choice(["north", "south", "east", "west", "down"])
        s.call(
            "game_command",
            {"input": way},
            r.choice(
                [
                    "You can't go that way.",
                    "Dead end.",
                    f"A room with a {r.choice('lamp rope cage rod bird key'.split())} and exits {r.choice(['N', 'S', 'NE', 'W'])} and {r.choice(['E', 'D', 'U'])}.",
                ]
            ),
        )
        if n % 4 == 3:
            s.call(
                "game_command",
                {"input": "look"},
                f"A room with exits {r.choice(['N', 'S', 'NE', 'W'])} and {r.choice(['E', 'D', 'U'])}.",
            )
    return s


@work
def batch_delete() -> Session:
    s = Session(
        "batch-delete", "allow", "old rows deleted ten thousand at a time with one statement, until none are left"
    )
    for n in range(18):
        s.call(
            "execute_sql",
            {"sql": "DELETE FROM events WHERE created_at < '2025-01-01' LIMIT 10000"},
            "Query OK, 10000 rows affected" if n < 17 else "Query OK, 4211 rows affected",
        )
    return s


@work
def rebase_on() -> Session:
    s = Session("rebase-on", "allow", "a long rebase, each commit conflicts in the same file")
    for n in range(14):
        s.sh("git status --short", "UU CHANGELOG.md")
        s.call(
            "Read", {"file_path": "/r/CHANGELOG.md"}, f"<<<<<<< HEAD\n- entry {n}\n=======\n- other {n}\n>>>>>>> work"
        )
        s.call(
            "Edit",
            {"file_path": "/r/CHANGELOG.md", "old_string": f"<<<<<<< HEAD\n- entry {n}", "new_string": f"- entry {n}"},
            "The file has been updated.",
        )
        s.sh(
            "git add CHANGELOG.md && GIT_EDITOR=true git rebase --continue",
            "CONFLICT (content): Merge conflict in CHANGELOG.md\nerror: could not apply"
            if n < 13
            else "Successfully rebased",
            1 if n < 13 else 0,
        )
    return s


@work
def learning_rates() -> Session:
    s = Session("learning-rates", "allow", "a sweep of settings, most runs end in nan", clock=1_771_000_000)
    for n in range(16):
        s.sh(
            f"python train.py --lr {0.1 / 2**n:.6f} --steps 200",
            f"step 200 loss {'nan' if n < 11 else 3.1 - n / 10}",
            took=40,
        )
    return s


@work
def sensor_by_the_minute() -> Session:
    s = Session("sensor-by-the-minute", "allow", "a furnace watched by the minute", clock=1_771_000_000)
    for n in range(30):
        s.call("read_sensor", {"name": "furnace"}, {"value": 640 + n % 5, "unit": "C"}, gap=60)
    return s


@work
def long_poll_for_a_person() -> Session:
    s = Session(
        "long-poll-for-a-person",
        "allow",
        "waits for a message of its user in polls of a minute each",
        clock=1_771_000_000,
    )
    for n in range(26):
        s.call(
            "wait_for_message",
            {"channel": "ops", "timeout": 60},
            "No new messages." if n < 25 else "user: go ahead",
            took=60,
            gap=2,
        )
    return s


@work
def inbox_gets_shorter() -> Session:
    s = Session("inbox-gets-shorter", "allow", "search the inbox, archive the first hit, search again")
    for n in range(20):
        s.call(
            "gmail_search",
            {"query": "in:inbox is:unread older_than:30d", "max": 1},
            {"messages": [{"id": f"18f{n:x}a", "subject": "Newsletter"}], "estimate": 20 - n},
        )
        s.call("gmail_archive", {"id": f"18f{n:x}a"}, "archived")
    return s


@work
def glossary_each_time() -> Session:
    s = Session("glossary-each-time", "allow", "the glossary is read before every page that is translated")
    for n in range(16):
        s.call("read_file", {"path": "glossary.md"}, "cache = Zwischenspeicher\nhook = Haken")
        s.call("read_file", {"path": f"en/{n}.md"}, f"Page {n} on hooks and caches, part {n * 7}")
        s.call("write_file", {"path": f"de/{n}.md", "content": f"Seite {n}"}, "ok")
    return s


@work
def unused_functions() -> Session:
    s = Session(
        "unused-functions",
        "allow",
        "every function looked for, most are used nowhere; what is dead is noted at the end",
    )
    r = rng("dead")
    for n in range(36):
        name = "".join(r.choice("abcdefghijk") for _ in range(8))
        s.sh(
            f"grep -rnw {name} --include=*.py src | grep -v 'def {name}'",
            f"src/a.py:{n}: {name}()" if n % 7 == 6 else "",
            0 if n % 7 == 6 else 1,
        )
    return s


@work
def strings_one_by_one() -> Session:
    s = Session(
        "strings-one-by-one",
        "allow",
        "strings of a user interface set one by one, some of them equal",
        clock=1_771_000_000,
    )
    for n in range(40):
        s.call(
            "set_translation",
            {"locale": "fr", "key": f"form.field{n}.cancel", "value": "Annuler"},
            {"status": "ok"},
            gap=1,
        )
    return s


@work
def pod_log_quiet() -> Session:
    s = Session(
        "pod-log-quiet",
        "allow",
        "a pod that is quiet most of the time, its log looked at every 40 s",
        clock=1_771_000_000,
    )
    for n in range(18):
        s.sh("kubectl logs deploy/worker --tail=3", f"INFO consumed batch {n // 4}\nINFO idle\nINFO idle", gap=40)
    return s


@work
def scroll_and_shoot() -> Session:
    s = Session("scroll-and-shoot", "allow", "a long page scrolled and looked at by pictures")
    r = rng("scroll")
    for n in range(24):
        s.call("browser_scroll", {"direction": "down", "amount": 600}, "Scrolled.")
        s.call("browser_screenshot", {}, [{"type": "image", "data": hexes(r, 64)}])
    return s


@work
def shuffling_pieces() -> Session:
    s = Session("shuffling-pieces", "allow", "a game of chess, the pieces shuffle for a while")
    for n in range(20):
        s.call(
            "make_move",
            {"uci": ["g1f3", "f3g1"][n % 2] if n < 6 else f"a{n % 7 + 1}a{n % 7 + 2}"},
            {"ok": True, "reply": ["g8f6", "f6g8"][n % 2], "fullmove": n + 1},
        )
        s.call("get_board", {}, {"fen": f"rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - {n} {n + 1}"})
    return s


@work
def three_thousand_lines() -> Session:
    s = Session("three-thousand-lines", "allow", "one generated file read to its end by sed, its lines are much alike")
    for n in range(30):
        lines = "\n".join(f"    case 0x{k:04x}: return handler_{k};" for k in range(n * 100, n * 100 + 100, 10))
        s.call(
            "shell",
            {"command": ["bash", "-lc", f"sed -n '{n * 100 + 1},{n * 100 + 100}p' src/table.c"]},
            json.dumps({"output": lines, "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
        )
    return s


@work
def pins_tried() -> Session:
    s = Session("pins-tried", "allow", "one version after the other until one can be installed")
    for n in range(8):
        s.sh(
            f"pip install 'torchdata==0.{9 - n}.0'",
            f"ERROR: Could not find a version that satisfies the requirement torchdata==0.{9 - n}.0\nERROR: No matching distribution found for torchdata==0.{9 - n}.0"
            if n < 7
            else "Successfully installed torchdata-0.2.0",
            1 if n < 7 else 0,
        )
    return s


@work
def scripts_that_say_done() -> Session:
    s = Session("scripts-that-say-done", "allow", "edits by small scripts that all print the same word")
    for n in range(16):
        s.sh(
            f"python3 - <<'EOF'\nimport re\np='src/f{n}.py'\nt=open(p).read()\nopen(p,'w').write(t.replace('a{n}','b{n}'))\nprint('done')\nEOF",
            "done",
        )
        s.sh("python3 -m compileall -q src", "")
    return s


@work
def louder_and_louder() -> Session:
    s = Session(
        "louder-and-louder", "allow", "one test that crashes, run with ever more tracing, its sources read in between"
    )
    flags = [
        "",
        "RUST_BACKTRACE=1 ",
        "RUST_BACKTRACE=full ",
        "RUST_LOG=debug ",
        "RUST_LOG=trace ",
        "RUST_TEST_THREADS=1 ",
        "MIRIFLAGS=-Zx ",
        "RUSTFLAGS=-g ",
    ]
    for n, flag in enumerate(flags):
        s.sh(
            f"{flag}cargo test parse_header",
            f"thread 'parse_header' panicked at src/h.rs:{40}:\ncalled `Option::unwrap()` on a `None` value"
            + f"\n  {n}: frame{n}" * n,
            101,
        )
        s.call("Read", {"file_path": f"/r/src/h{n}.rs"}, f"fn h{n}() {{ parse(b{n}) }}")
    return s


@work
def sudoku() -> Session:
    s = Session("sudoku", "allow", "a grid filled cell by cell, wrong cells are told as such")
    r = rng("sudoku")
    for n in range(45):
        bad = r.random() < 0.3
        s.call(
            "set_cell", {"row": n // 9, "col": n % 9, "value": r.randrange(1, 10)}, "conflict in row" if bad else "ok"
        )
    return s


@work
def same_sheet_checks() -> Session:
    s = Session("same-sheet-checks", "allow", "cells written, and the total read again after each; it stays 0 for long")
    for n in range(16):
        s.call(
            "update_cell", {"sheet": "Budget", "cell": f"B{n + 2}", "value": f"=C{n + 2}*D{n + 2}"}, {"updatedCells": 1}
        )
        s.call("read_cell", {"sheet": "Budget", "cell": "B40"}, {"value": 0})
    return s


@work
def list_then_each() -> Session:
    s = Session(
        "list-then-each", "allow", "a ticket queue taken from the top: list, open, answer, close; lists look alike"
    )
    for n in range(14):
        s.call(
            "list_tickets",
            {"status": "open", "limit": 3},
            [{"id": 500 + n + k, "title": "Cannot log in"} for k in range(3)],
        )
        s.call("get_ticket", {"id": 500 + n}, {"id": 500 + n, "title": "Cannot log in", "body": "please help"})
        s.call(
            "reply_ticket",
            {"id": 500 + n, "text": "Please reset your password with the link on the login page."},
            {"ok": True},
        )
        s.call("close_ticket", {"id": 500 + n}, {"ok": True})
    return s


@work
def wait_for_page() -> Session:
    s = Session(
        "wait-for-page",
        "allow",
        "a slow page: wait, snapshot, wait, snapshot, until the spinner is gone",
        clock=1_771_000_000,
    )
    for n in range(9):
        s.call("browser_wait_for", {"time": 5}, "Waited for 5 seconds", took=5)
        s.call("browser_snapshot", {}, "- generic: Loading your report..." if n < 8 else "- table: 40 rows")
    return s


@work
def emulator_boot() -> Session:
    s = Session("emulator-boot", "allow", "an emulator that boots for three minutes", clock=1_771_000_000)
    s.sh("nohup emulator -avd test -no-window > emu.log 2>&1 &", "")
    for n in range(18):
        s.sh("sleep 10; adb shell getprop sys.boot_completed", "" if n < 17 else "1", 0, took=10)
    return s


@work
def who_is_free() -> Session:
    s = Session(
        "who-is-free", "allow", "a slot looked for in the calendars of twenty colleagues; an empty one means free"
    )
    for (
        name
    ) in "anna ben carla dirk eva finn gina hugo ines jan kira leo mia nils olga paul rosa sven tina uwe".split():
        s.call(
            "list_events",
            {"calendar": f"{name}@corp.example", "from": "2026-05-04T14:00", "to": "2026-05-04T15:00"},
            [],
        )
    return s


@work
def names_taken() -> Session:
    s = Session("names-taken", "allow", "names for a product checked one by one, nearly all are taken")
    r = rng("names")
    for n in range(26):
        s.call(
            "check_domain",
            {"name": "".join(r.choice("bdfklmnoprstuvaeiou") for _ in range(6)) + ".io"},
            "taken" if n != 19 else "available",
        )
    return s


@work
def flights_by_day() -> Session:
    s = Session("flights-by-day", "allow", "flights looked for day by day, there are none for long")
    for n in range(20):
        s.call(
            "search_direct_flight",
            {"origin": "JFK", "destination": "SEA", "date": f"2026-05-{n + 1:02}"},
            [] if n < 18 else [{"flight": "HAT083", "price": 120}],
        )
    return s


@work
def links_of_a_page() -> Session:
    s = Session("links-of-a-page", "allow", "the links of a site checked, some sections are gone")
    r = rng("links")
    for n in range(40):
        code = "200" if n % 9 in (0, 1, 2, 7) else "404"
        s.sh(f"curl -s -o /dev/null -w '%{{http_code}}' https://docs.example/{hexes(r, 6)}", code)
    return s


@work
def hosts_by_ssh() -> Session:
    s = Session("hosts-by-ssh", "allow", "twenty hosts asked for their uptime, a few are down", clock=1_771_000_000)
    for n in range(20):
        down = n in (4, 5, 6, 7, 15)
        s.sh(
            f"ssh -o ConnectTimeout=5 web{n:02} uptime",
            f"ssh: connect to host web{n:02} port 22: Connection timed out"
            if down
            else f" 10:0{n % 10}:11 up {n + 3} days,  1 user,  load average: 0.{n:02}, 0.10, 0.09",
            255 if down else 0,
            took=5,
        )
    return s


@work
def name_servers() -> Session:
    s = Session("name-servers", "allow", "a change of a name waited for, minutes apart", clock=1_771_000_000)
    for n in range(22):
        s.sh("sleep 60; dig +short shop.example.com", "192.0.2.10" if n < 21 else "198.51.100.7", took=60)
    return s


@work
def status_after_each_edit() -> Session:
    s = Session(
        "status-after-each-edit",
        "allow",
        "one file edited in many places, the status is looked at after each edit and stays the same",
    )
    for n in range(14):
        s.call("edit", {"path": "a.ts", "old_string": f"old{n}", "new_string": f"new{n}"}, "ok")
        s.sh("git status --short", " M a.ts")
        s.sh("git diff --stat", " a.ts | 2 +-")
    return s


@work
def wizard() -> Session:
    s = Session("wizard", "allow", "a form of fifteen pages, Next clicked on each")
    for n in range(15):
        s.call("browser_type", {"ref": "e4", "text": f"answer {n}"}, "ok")
        s.call("browser_click", {"element": "Next", "ref": "e9"}, "ok")
    return s


@work
def wizard_without_words() -> Session:
    s = Session(
        "wizard-without-words", "allow", "a tour of eighteen pictures, Next clicked on each, the page is looked at"
    )
    for n in range(18):
        s.call("click", {"selector": "button.next"}, "Clicked")
        s.call("get_text", {"selector": "h1"}, f"Exhibit {'ABCDEFGHIJKLMNOPQR'[n]}")
    return s


@work
def tests_one_by_one() -> Session:
    s = Session(
        "tests-one-by-one",
        "allow",
        "test files run one by one to see which of them hang; all pass",
        clock=1_771_000_000,
    )
    for n in range(30):
        s.sh(f"timeout 60 npx jest test/part{n}.test.ts --silent", "PASS", took=3)
    return s


@work
def hook_formats() -> Session:
    s = Session(
        "hook-formats", "allow", "a hook reformats after each write, so the file is read again before the next edit"
    )
    for n in range(12):
        s.call(
            "Edit",
            {"file_path": "/r/a.go", "old_string": f"x{n}", "new_string": f"y{n}"},
            "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
            error="File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.",
        )
        s.call("Read", {"file_path": "/r/a.go"}, f"package a\n\nvar y{n} = {n}\n")
        s.call(
            "Edit",
            {"file_path": "/r/a.go", "old_string": f"x{n}", "new_string": f"y{n}"},
            "The file /r/a.go has been updated.",
        )
    return s


@work
def powershell_watch() -> Session:
    s = Session("powershell-watch", "allow", "an installer watched with PowerShell", clock=1_771_000_000)
    for n in range(16):
        s.call(
            "powershell",
            {
                "command": "Start-Sleep -Seconds 15; Get-Process setup -ErrorAction SilentlyContinue | Select-Object Name,Id"
            },
            "Name  Id\n----  --\nsetup 5120" if n < 15 else "",
            took=15,
        )
    return s


@work
def twelve_questions() -> Session:
    s = Session("twelve-questions", "allow", "a person is asked twelve short questions and says yes to each")
    for n in range(12):
        s.call("ask_user", {"question": f"Keep setting number {n}?", "options": ["yes", "no"]}, "yes")
    return s


@work
def domain_records() -> Session:
    s = Session("domain-records", "allow", "records created, the list is read after each as the provider asks")
    for n in range(14):
        s.call(
            "create_record",
            {"zone": "example.com", "type": "A", "name": f"h{n}", "value": f"192.0.2.{n}"},
            {"success": True},
        )
        s.call("list_zones", {}, {"zones": ["example.com"]})
    return s


@work
def wordle() -> Session:
    s = Session("wordle", "allow", "words guessed, the answers are alike")
    words = "crane slate pious mound fudge vixen blimp jerky woven fjord glyph quick bawdy chump dwelt".split()
    for n, word in enumerate(words):
        s.call("guess", {"word": word}, ["⬛⬛⬛⬛⬛", "⬛🟨⬛⬛⬛", "⬛⬛⬛⬛⬛", "⬛⬛🟨⬛⬛"][n % 4])
    return s


@work
def compacted_thrice() -> Session:
    s = Session(
        "compacted-thrice",
        "allow",
        "the same three files read at the beginning of each stretch, after the history was summarised",
    )
    for k in range(5):
        for f in ("plan.md", "state.json", "api.ts"):
            s.call("read", {"path": f}, f"{f} content")
        s.call("edit", {"path": "api.ts", "old_string": f"a{k}", "new_string": f"b{k}"}, "ok")
        s.compacted()
    return s


@work
def quarter_by_quarter() -> Session:
    s = Session("quarter-by-quarter", "allow", "filings looked for by company and year, half of them are not there")
    for c in ("acme", "globex", "initech", "umbrella"):
        for y in range(2018, 2026):
            s.call(
                "search_filings",
                {"query": f"{c} annual report {y}", "limit": 3},
                "No results." if y % 2 else f"{c} 10-K {y}: revenue {y * 7 % 400} m",
            )
    return s


@work
def log_lines_by_id() -> Session:
    s = Session(
        "log-lines-by-id", "allow", "requests traced through a log by their ids; most left only one kind of line"
    )
    r = rng("trace")
    for n in range(24):
        i = hexes(r, 12)
        s.sh(
            f"grep {i} /var/log/gateway.log | tail -3",
            f"2026-05-01T10:00:{n:02}Z {i} upstream timed out" if n % 4 else "",
            0 if n % 4 else 1,
        )
    return s


@work
def green_stays_green() -> Session:
    s = Session(
        "green-stays-green",
        "allow",
        "a refactoring in small steps, the tests stay green and say the same",
        clock=1_771_000_000,
    )
    for n in range(25):
        s.call(
            "apply_patch",
            {"patch": f"*** Begin Patch\n*** Update File: m.py\n-a{n}\n+b{n}\n*** End Patch"},
            "Success. Updated the following files:\nM m.py",
        )
        s.sh("make test", "ok  all 88 tests passed", took=4)
    return s


@work
def upload_parts() -> Session:
    s = Session("upload-parts", "allow", "a large file sent in parts")
    for n in range(30):
        s.call("upload_part", {"uploadId": "u-77", "partNumber": n + 1, "file": f"part{n:03}"}, {"ok": True})
    return s


@work
def same_prompt_many_files() -> Session:
    s = Session("same-prompt-many-files", "allow", "a helper is started for each of sixteen files with the same order")
    for n in range(16):
        s.call(
            "Task",
            {
                "subagent_type": "general",
                "description": "Convert a file",
                "prompt": f"Convert src/legacy/file{n}.js to TypeScript, keep the behaviour and report when it is done.",
            },
            "Converted. No type errors.",
            parallel=n % 4 > 0,
        )
    return s


@work
def interleaved_builds() -> Session:
    s = Session(
        "interleaved-builds",
        "allow",
        "two builds watched in turn, each answer says that it goes on",
        clock=1_771_000_000,
    )
    for n in range(26):
        s.call(
            "get_build",
            {"id": "b1"},
            {"id": "b1", "state": "BUILDING"} if n < 20 else {"id": "b1", "state": "OK"},
            gap=15,
        )
        s.call("get_build", {"id": "b2"}, {"id": "b2", "state": "BUILDING"}, gap=1)
    return s


@work
def curl_until_up() -> Session:
    s = Session(
        "curl-until-up", "allow", "a machine restarts, its page is asked for every ten seconds", clock=1_771_000_000
    )
    for n in range(11):
        s.sh("curl -s -m 5 http://10.0.0.7/health || echo down", "down" if n < 10 else '{"status":"ok"}', gap=10)
    return s


@work
def quiet_cells() -> Session:
    s = Session("quiet-cells", "allow", "cells of a notebook run in order, most print nothing")
    for n in range(25):
        s.call("execute_cell", {"index": n}, "" if n % 3 else f"shape ({n * 10}, 4)")
    return s


@work
def latex_runs() -> Session:
    s = Session("latex-runs", "allow", "a paper typeset three times after each edit, as references need it")
    for n in range(8):
        s.call("edit", {"path": "paper.tex", "old_string": f"o{n}", "new_string": f"n{n}"}, "ok")
        for _ in range(3):
            s.sh(
                "pdflatex -interaction=batchmode paper.tex",
                "This is pdfTeX, Version 3.14 (preloaded format=pdflatex)\nentering extended mode",
            )
    return s


@work
def benchmark_runs() -> Session:
    s = Session("benchmark-runs", "allow", "one benchmark run nine times for its spread", clock=1_771_000_000)
    for n in range(9):
        s.sh("./bench --case sort", f"sort: {1200 + n * 37 % 90} ns/op", took=20)
    return s


@work
def apt_lock() -> Session:
    s = Session(
        "apt-lock",
        "allow",
        "another process holds the lock of the package manager for two minutes",
        clock=1_771_000_000,
    )
    for n in range(8):
        s.sh(
            "sudo apt-get install -y jq",
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 811 (unattended-upgr)"
            if n < 7
            else "Setting up jq (1.7)",
            100 if n < 7 else 0,
            gap=15,
        )
    return s


@work
def incident_room() -> Session:
    s = Session(
        "incident-room",
        "allow",
        "an incident: error rate, latency and deploys looked at every minute while the others work",
        clock=1_771_000_000,
    )
    for n in range(14):
        s.call("query_range", {"expr": "rate(errors[1m])", "last": "5m"}, {"v": round(0.31 - n * 0.02, 2)}, gap=55)
        s.call("list_deploys", {"service": "api", "limit": 3}, [{"id": "d-88", "state": "active"}], gap=2)
        s.call("get_incident", {"id": "INC-7"}, {"status": "investigating", "updates": n // 4}, gap=2)
    return s


@work
def review_comments() -> Session:
    s = Session("review-comments", "allow", "comments of a review answered one by one with the same word")
    for n in range(22):
        s.call("reply_to_review_comment", {"comment_id": 9000 + n, "body": "Done."}, {"id": 9500 + n})
    return s


@work
def resolve_threads() -> Session:
    s = Session(
        "resolve-threads", "allow", "threads resolved, the list asked for again after each; the next is always first"
    )
    for n in range(15):
        s.call(
            "list_threads",
            {"pr": 12, "state": "open", "first": 1},
            [{"id": f"T{n}", "path": "src/a.ts", "body": "nit: rename"}],
        )
        s.call("resolve_thread", {"id": f"T{n}"}, {"resolved": True})
    return s


@work
def camera_watch() -> Session:
    s = Session(
        "camera-watch", "allow", "a camera looked at every thirty seconds until somebody comes", clock=1_771_000_000
    )
    r = rng("camera")
    for n in range(25):
        s.call(
            "get_camera_snapshot",
            {"entity": "camera.door"},
            [{"type": "image", "source": {"type": "base64", "data": hexes(r, 80)}}],
            gap=30,
        )
    return s


@work
def encode_progress() -> Session:
    s = Session("encode-progress", "allow", "a film encoded in the background, its progress looked at")
    s.sh("nohup ffmpeg -i in.mov -c:v libx265 out.mp4 > enc.log 2>&1 &", "[1] 3301")
    for n in range(20):
        s.sh(
            "sleep 30; tail -c 120 enc.log",
            f"frame={n * 700} fps= 24 q=28.0 size={n * 512}kB time=00:0{n // 10}:{n * 3 % 60:02}.00 bitrate=1200.1kbits/s speed=0.98x",
        )
    return s


@work
def kaggle_scores() -> Session:
    s = Session("kaggle-scores", "allow", "features added one by one, the score hardly moves")
    for n in range(15):
        s.call("edit_cell", {"index": 4, "source": f"features.append('f{n}')"}, "ok")
        s.call("run_all", {}, f"CV score: 0.81{n % 3}")
    return s


@work
def ansible_until_green() -> Session:
    s = Session(
        "ansible-until-green", "allow", "a playbook run after each mended task; the recap is alike", clock=1_771_000_000
    )
    for n in range(11):
        s.sh(f"sed -i 's/bad{n}/good{n}/' roles/web/tasks/main.yml", "")
        s.sh("ansible-playbook site.yml", "PLAY RECAP ****\nweb1 : ok=7 changed=0 unreachable=0 failed=1", 2, took=30)
    return s


@work
def seeds_of_pictures() -> Session:
    s = Session("seeds-of-pictures", "allow", "one picture drawn with ever other seeds until it is good")
    for n in range(14):
        s.call(
            "generate_image",
            {"prompt": "a lighthouse at dawn, oil on canvas", "seed": 100 + n},
            {"status": "ok", "file": "out.png"},
        )
        s.call("view_image", {"path": "out.png"}, [{"type": "image", "data": f"{n:064d}"}])
    return s


@work
def contracts_read() -> Session:
    s = Session("contracts-read", "allow", "forty contracts searched for the same three clauses")
    for n in range(20):
        for k, clause in enumerate(["indemnification", "termination for convenience", "governing law"]):
            s.call(
                "search_document",
                {"document": f"contract-{n}.pdf", "query": clause},
                "No matches." if (n + k) % 3 else f"§{n + 3}: {clause} applies as set out in schedule {n}",
                parallel=k > 0,
            )
    return s


@work
def device_matrix() -> Session:
    s = Session("device-matrix", "allow", "one flow tested on many devices; it passes on most")
    for n in range(18):
        s.call(
            "run_flow",
            {"flow": "checkout.yaml", "device": f"device-{n}"},
            "FAILED: element 'Pay' not visible" if n % 6 == 5 else "PASSED",
        )
    return s


@work
def type_letter_by_letter() -> Session:
    s = Session("type-letter-by-letter", "allow", "a word typed on a television key by key")
    for c in "bookkeeping mississippi balloon":
        s.call("press_key", {"key": c}, "ok")
    return s


@work
def backtrace_walk() -> Session:
    s = Session("backtrace-walk", "allow", "frames of a core dump walked up, locals shown in each")
    for n in range(18):
        s.call("debugger", {"command": "up"}, f"#{n}  0x00005555 in f{n % 4} (p=0x0) at src/x.c:{20 + n}")
        s.call("debugger", {"command": "info locals"}, "No locals." if n % 2 else f"i = {n}")
    return s


@work
def trade_watch() -> Session:
    s = Session("trade-watch", "allow", "a price watched each half minute until it crosses a line", clock=1_771_000_000)
    for n in range(30):
        s.call("get_price", {"symbol": "ABC"}, {"price": 101.5 + (n * 7 % 5) / 10}, gap=30)
    return s


@work
def todo_ticks() -> Session:
    s = Session(
        "todo-ticks", "allow", "one task after another: start it, do it with one command, tick it", clock=1_771_000_000
    )
    for n in range(16):
        s.call(
            "TodoWrite",
            {"todos": [{"content": f"Task {k}", "status": "completed" if k < n else "pending"} for k in range(16)]},
            "Todos have been modified successfully.",
        )
        s.sh(f"./migrate.sh table_{n}", "ok", took=8)
    return s


@work
def same_search_many_repos() -> Session:
    s = Session(
        "same-search-many-repos", "allow", "one pattern looked for in thirty repositories, it is in none but the last"
    )
    for n in range(30):
        s.call(
            "grep_repo",
            {"repo": f"org/service-{n}", "pattern": "log4j-core"},
            "No matches found" if n < 29 else "pom.xml:31: log4j-core 2.14",
        )
    return s


@work
def ports_of_a_board() -> Session:
    s = Session(
        "ports-of-a-board",
        "allow",
        "a board reset and flashed until its serial line answers right",
        clock=1_771_000_000,
    )
    for n in range(9):
        s.sh(
            f"sed -i 's/BAUD {9600 + n * 100}/BAUD {9700 + n * 100}/' main.h && make flash",
            "avrdude done.  Thank you.",
            took=15,
        )
        s.sh("timeout 5 cat /dev/ttyUSB0", "", 124, took=5)
    return s


@work
def lookups_between_writes() -> Session:
    s = Session("lookups-between-writes", "allow", "a sheet filled from a register, many entries are not in it")
    for n in range(24):
        s.call(
            "lookup_company",
            {"name": f"{'Alpha Beta Gamma Delta'.split()[n % 4]} Works {'abcdefghijklmnopqrstuvwxyz'[n]}"},
            "not found" if n % 3 else f"HRB {4000 + n}",
        )
        s.call("append_row", {"sheet": "out", "values": [n, "?" if n % 3 else f"HRB {4000 + n}"]}, "1 row appended")
    return s


@work
def mine_and_craft() -> Session:
    s = Session("mine-and-craft", "allow", "a game: dig, dig, dig, look into the bag")
    for n in range(36):
        s.call("dig", {"block": "stone"}, "dug 1 stone")
        if n % 3 == 2:
            s.call("inventory", {}, {"stone": n + 1, "stick": 2})
    return s


@work
def queue_often_empty() -> Session:
    s = Session(
        "queue-often-empty",
        "allow",
        "jobs taken from a queue and done; the queue is often empty for a while",
        clock=1_771_000_000,
    )
    for n in range(24):
        s.call("next_job", {}, None if n % 4 else {"job": n, "kind": "resize"}, gap=20)
        if n % 4 == 0:
            s.call("finish_job", {"job": n}, {"ok": True})
    return s


@work
def pages_of_a_scan() -> Session:
    s = Session("pages-of-a-scan", "allow", "pages of a scanned book read one by one, many are blank")
    for n in range(40):
        s.call(
            "ocr_page", {"file": "book.pdf", "page": n + 1}, "" if n % 3 else f"Chapter {n}: of ships and winds {n * 3}"
        )
    return s


@work
def retry_after() -> Session:
    s = Session(
        "retry-after",
        "allow",
        "a service that lets through one request of three, the others are told to wait",
        clock=1_771_000_000,
    )
    for n in range(24):
        s.call(
            "http_get",
            {"url": f"https://api.example/items/{n // 3}"},
            {"statusCode": 429, "body": "Too Many Requests", "headers": {"Retry-After": "10"}}
            if n % 3 < 2
            else {"statusCode": 200, "body": f"item {n // 3}"},
            gap=11,
        )
    return s


@work
def cargo_check_cycle() -> Session:
    s = Session("cargo-check-cycle", "allow", "a compiler that shows the same first error, mended from behind")
    for n in range(13):
        s.call(
            "str_replace_editor",
            {"command": "str_replace", "path": f"/w/src/m{n}.rs", "old_str": "Foo", "new_str": "Bar"},
            f"The file /w/src/m{n}.rs has been edited.",
        )
        s.call(
            "bash",
            {"command": "cd /w && cargo check 2>&1 | head -5"},
            "error[E0412]: cannot find type `Foo` in this scope\n --> src/lib.rs:9:14",
            exit=0,
        )
    return s


@work
def approvals_one_by_one() -> Session:
    s = Session("approvals-one-by-one", "allow", "invoices looked at and approved one by one", clock=1_771_000_000)
    for n in range(20):
        s.call(
            "get_invoice",
            {"id": f"INV-{1000 + n}"},
            {"id": f"INV-{1000 + n}", "amount": 40 + n % 3, "vendor": "ACME", "status": "pending"},
        )
        s.call("approve_invoice", {"id": f"INV-{1000 + n}"}, {"status": "approved"})
    return s


@work
def fuzz_targets() -> Session:
    s = Session("fuzz-targets", "allow", "a fuzzer run on target after target, none crashes", clock=1_771_000_000)
    for n in range(16):
        s.sh(
            f"timeout 60 cargo fuzz run target_{n} -- -max_total_time=50", "Done 1048576 runs in 51 second(s)", took=55
        )
    return s


@work
def kernel_bisect_by_hand() -> Session:
    s = Session(
        "kernel-bisect-by-hand", "allow", "options switched off one by one, the crash stays", clock=1_771_000_000
    )
    for n in range(14):
        s.sh(f"scripts/config --disable OPT_{n}", "")
        s.sh("make -s -j8 bzImage && ./boot.sh", "Kernel panic - not syncing: VFS: Unable to mount root fs", 1, took=90)
    return s


@work
def sentences_labelled() -> Session:
    s = Session("sentences-labelled", "allow", "sentences labelled one after the other; there are three labels")
    for n in range(45):
        s.call(
            "get_next_item",
            {},
            {"item": n, "text": f"Sentence about {'cats dogs birds fish'.split()[n % 4]} number {n}"},
        )
        s.call("submit_label", {"item": n, "label": ["positive", "neutral", "negative"][n % 3]}, "ok")
    return s


@work
def same_label_by_hotkey() -> Session:
    s = Session("same-label-by-hotkey", "allow", "pictures sorted by a key each, many in a row are of one kind")
    for n in range(40):
        s.call("press", {"key": "1" if n % 11 else "2"}, f"{n + 1}/40 done")
    return s


@work
def container_healthy() -> Session:
    s = Session(
        "container-healthy", "allow", "containers of a stack looked at until all are healthy", clock=1_771_000_000
    )
    for n in range(15):
        s.sh(
            "docker compose ps --format 'table {{.Name}}\\t{{.Status}}'",
            f"NAME   STATUS\napi    Up {n * 12} seconds (health: starting)\ndb     Up {n * 12} seconds (healthy)",
            gap=12,
        )
    return s


@work
def reads_before_writing() -> Session:
    s = Session("reads-before-writing", "allow", "a big module read function by function, some twice, then written")
    r = rng("reads")
    for n in range(24):
        s.call(
            "read_symbol",
            {"file": "core.py", "symbol": f"fn_{r.randrange(20)}"},
            f"def fn(): return {r.randrange(10**6)}",
        )
    s.call("write_file", {"path": "core2.py", "content": "..."}, "ok")
    return s


@work
def commit_log_walk() -> Session:
    s = Session("commit-log-walk", "allow", "old commits shown one by one; many touch only a version")
    r = rng("commits")
    for n in range(30):
        s.sh(
            f"git show --stat {hexes(r, 8)}",
            "commit\n    Bump version\n\n package.json | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)",
        )
    return s


@work
def hyphenation_fixes() -> Session:
    s = Session(
        "hyphenation-fixes",
        "allow",
        "the same little replacement in forty files, found by one search that gets shorter",
    )
    for n in range(20):
        s.call("Grep", {"pattern": "e-mail"}, "\n".join(f"docs/p{k}.md" for k in range(n, 20)))
        s.call(
            "Edit",
            {"file_path": f"docs/p{n}.md", "old_string": "e-mail", "new_string": "email", "replace_all": True},
            "The file has been updated.",
        )
    return s


@work
def cloud_init() -> Session:
    s = Session("cloud-init", "allow", "twelve machines created one by one, each waited for", clock=1_771_000_000)
    for n in range(8):
        s.sh(f"gcloud compute instances create vm{n}", f"NAME  STATUS\nvm{n}   RUNNING", took=20)
        for k in range(4):
            s.sh(
                f"sleep 15; gcloud compute ssh vm{n} --command 'cloud-init status'",
                "status: running" if k < 3 else "status: done",
                took=17,
            )
    return s


@work
def migrations_by_table() -> Session:
    s = Session("migrations-by-table", "allow", "rows of each table counted before and after it is moved")
    for n in range(15):
        s.call("query", {"sql": f"SELECT COUNT(*) FROM old.t{n}"}, [{"count": 120}])
        s.call("execute", {"sql": f"INSERT INTO new.t{n} SELECT * FROM old.t{n}"}, {"rowCount": 120})
        s.call("query", {"sql": f"SELECT COUNT(*) FROM new.t{n}"}, [{"count": 120}])
    return s


@work
def a_phone_tree() -> Session:
    s = Session(
        "a-phone-tree", "allow", "a telephone menu: listen, press, listen; on hold for long", clock=1_771_000_000
    )
    for n in range(12):
        s.call(
            "listen",
            {"seconds": 15},
            "Your call is important to us. Please hold." if n < 11 else "Hello, how can I help?",
            took=15,
        )
    s.call("speak", {"text": "I would like to move my appointment."}, "ok")
    return s


@work
def cells_of_a_form() -> Session:
    s = Session(
        "cells-of-a-form",
        "allow",
        "check boxes of a permission matrix ticked, each looks like the others",
        clock=1_771_000_000,
    )
    for n in range(36):
        s.call("browser_click", {"element": "checkbox", "ref": f"c{n}"}, "clicked", gap=1)
    return s


@work
def plus_button() -> Session:
    s = Session(
        "plus-button",
        "allow",
        "the number of guests set by a plus button, a slider moved by an arrow key",
        clock=1_771_000_000,
    )
    for n in range(8):
        s.call("browser_click", {"element": "Add guest", "ref": "e21"}, "clicked", gap=1)
    for n in range(15):
        s.call("browser_press_key", {"key": "ArrowRight"}, "pressed", gap=1)
    s.call("browser_snapshot", {}, "guests: 9, price: 75")
    return s


@work
def hold_for_review() -> Session:
    s = Session(
        "hold-for-review", "allow", "a review by a person waited for, looked at every ten minutes", clock=1_771_000_000
    )
    for n in range(20):
        s.call("get_pull_request", {"number": 41}, {"state": "open", "reviews": [], "mergeable": True}, gap=600)
    return s


@work
def errors_of_each_file() -> Session:
    s = Session(
        "errors-of-each-file",
        "allow",
        "a type checker run on file after file, all have the same fault, noted for later",
    )
    for n in range(12):
        s.sh(
            f"mypy src/m{n}.py",
            f"src/m{n}.py:{n + 3}: error: Missing return type annotation  [no-untyped-def]\nFound 1 error in 1 file (checked 1 source file)",
            1,
        )
    return s


@work
def diff_by_file() -> Session:
    s = Session("diff-by-file", "allow", "a large change reviewed file by file, the status looked at now and then")
    for n in range(24):
        s.sh(f"git diff main -- src/f{n}.ts", f"-const a{n} = require('x')\n+import a{n} from 'x'")
        if n % 4 == 3:
            s.sh("git diff --stat main | tail -1", " 24 files changed, 24 insertions(+), 24 deletions(-)")
    return s


@work
def redis_scan() -> Session:
    s = Session("redis-scan", "allow", "keys scanned by cursor, most pages hold none that fit")
    r = rng("scan")
    for n in range(30):
        s.sh(
            f"redis-cli SCAN {r.randrange(10**6)} MATCH 'sess:*' COUNT 100",
            f'1) "{r.randrange(10**6)}"\n2) (empty array)' if n % 3 else f'1) "{r.randrange(10**6)}"\n2) 1) "sess:{n}"',
        )
    return s


@work
def night_watch() -> Session:
    s = Session(
        "night-watch",
        "allow",
        "a round every five minutes: disk, queue and certificate, all is well",
        clock=1_771_000_000,
    )
    for n in range(14):
        s.sh("df -h / | tail -1", "/dev/sda1  50G  21G  27G  44% /", gap=300)
        s.call("queue_depth", {"queue": "mail"}, {"depth": 0})
        s.sh("openssl x509 -checkend 604800 -noout -in cert.pem", "Certificate will not expire")
    return s


@work
def step_through_js() -> Session:
    s = Session(
        "step-through-js", "allow", "a debugger of a browser stepped through a loop of four lines, a variable looked at"
    )
    for n in range(20):
        s.call("debugger_step_over", {}, {"paused": True, "line": 10 + n % 4, "file": "cart.js"})
        s.call("debugger_evaluate", {"expression": "total"}, {"type": "number", "value": n // 4 * 5})
    return s


@work
def build_farm() -> Session:
    s = Session(
        "build-farm", "allow", "one package built for many targets, each build says the same", clock=1_771_000_000
    )
    for n, t in enumerate(
        "x86_64-linux aarch64-linux armv7-linux riscv64-linux x86_64-darwin aarch64-darwin x86_64-windows i686-windows wasm32 s390x ppc64le mips64 sparc64 loongarch64".split()
    ):
        s.sh(
            f"zig build -Dtarget={t}",
            "" if n % 5 else "error: unable to find libc for target",
            0 if n % 5 else 1,
            took=20,
        )
    return s


@work
def slides() -> Session:
    s = Session("slides", "allow", "slides added one by one, the deck looked at now and then")
    for n in range(20):
        s.call("add_slide", {"layout": "title_and_body"}, {"ok": True, "slide": n + 1})
        s.call("set_text", {"slide": n + 1, "shape": "title", "text": f"Part {n + 1}"}, {"ok": True})
    return s


@work
def blank_slides() -> Session:
    s = Session("blank-slides", "allow", "twelve blank slides added in a row", clock=1_771_000_000)
    for n in range(12):
        s.call("add_slide", {"layout": "blank"}, {"ok": True, "slide": n + 1}, gap=1)
    return s


@work
def doctests() -> Session:
    s = Session("doctests", "allow", "examples of a manual tried in a shell one by one, all print ok")
    for n in range(30):
        s.call("ipython", {"code": f"assert norm([{n}, {n + 1}]) >= 0; print('ok')"}, "ok")
    return s


@work
def price_list() -> Session:
    s = Session("price-list", "allow", "prices of articles looked up, many are equal")
    for n in range(30):
        s.call("get_product", {"sku": f"SKU-{n:04}"}, {"price": 9.99, "stock": 0 if n % 2 else 5})
    return s


@work
def review_then_tests() -> Session:
    s = Session(
        "review-then-tests",
        "allow",
        "files read, a test run after every few to be sure that nothing is broken by others",
        clock=1_771_000_000,
    )
    for n in range(24):
        s.call("read_file", {"path": f"src/part{n}.py"}, f"class Part{n}:\n    value = {n * 3}")
        if n % 4 == 3:
            s.sh("pytest -q", "88 passed in 2.1s", took=3)
    return s


@work
def waits_for_lock_file() -> Session:
    s = Session(
        "waits-for-lock-file", "allow", "another agent holds a lock; it looks every twenty seconds", clock=1_771_000_000
    )
    for n in range(16):
        s.sh("sleep 20; test -e .lock && echo locked || echo free", "locked" if n < 15 else "free", took=20)
    return s


@work
def hex_dump_walk() -> Session:
    s = Session("hex-dump-walk", "allow", "an image of a disk looked through, most of it is zeros")
    for n in range(30):
        s.sh(
            f"xxd -s {n * 4096} -l 64 disk.img",
            "\n".join(
                f"{n * 4096 + k * 16:08x}: 0000 0000 0000 0000 0000 0000 0000 0000  ................" for k in range(4)
            ),
        )
    return s


@work
def vote_counting() -> Session:
    s = Session("vote-counting", "allow", "ballots entered one by one, often for the same party")
    for n in range(40):
        s.call("enter_ballot", {"ballot": n, "choice": ["A", "A", "B"][n % 3]}, "recorded")
    return s


@work
def wifi_scan() -> Session:
    s = Session("wifi-scan", "allow", "an antenna turned a little, the signal measured, for the best direction")
    for n in range(24):
        s.call("rotate", {"degrees": 15}, "ok")
        s.call("measure_signal", {}, {"dbm": -70 + n * 5 % 13 + n / 10})
    return s


@work
def typo_hunt() -> Session:
    s = Session("typo-hunt", "allow", "frequent typos looked for in a book, few are found")
    for n, w in enumerate(
        "teh recieve seperate definately occured untill wich wierd thier goverment begining beleive calender cemetary concious embarass enviroment existance foriegn gaurd".split()
    ):
        s.call(
            "search_text",
            {"file": "book.txt", "query": w},
            f"line {n * 31}: ... {w} ..." if n % 6 == 5 else "0 matches",
        )
    return s
