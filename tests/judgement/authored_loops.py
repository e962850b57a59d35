"""Sessions in which the agent goes round in circles. Each must be stopped; no two escape by the same spelling.

They are invented after what users of agents report in public: the kinds are theirs, the words are not.
"""

# A line holds one call with its answer.
# ruff: noqa: E501, SIM905, B007, F541

from __future__ import annotations

import json
from collections.abc import Callable

from judgement.build import Session, hexes, rng, uuid

Author = Callable[[], Session]
LOOPS: list[Author] = []


def loop(author: Author) -> Author:
    LOOPS.append(author)
    return author


SOURCE = [
    f"    {name} = compute({n}, mode='{name}')"
    for n, name in enumerate(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"] * 40)
]


# -- edits that do nothing ----------------------------------------------------------------------------------


@loop
def stale_anchor() -> Session:
    s = Session(
        "stale-anchor", "stop", "an edit whose anchor is gone, its replacement varied, the file read in between"
    )
    text = "\n".join(f"{n}\tline {n} of the finder" for n in range(30))
    for n in range(14):
        s.call("read_file", {"path": "src/Finder.tsx"}, text)
        s.call(
            "edit_file",
            {"path": "src/Finder.tsx", "old_string": "const open = true", "new_string": f"const open = state.v{n}"},
            None,
            error="Failed to edit, 0 occurrences found for old_string in src/Finder.tsx. No edits made.",
        )
    return s


@loop
def same_write() -> Session:
    s = Session("same-write", "stop", "the same file written with the same content again and again, each a success")
    body = "export const limits = { retries: 3 };\n"
    for _ in range(15):
        s.call(
            "write_to_file",
            {"path": "config/limits.ts", "content": body},
            "The content was successfully saved to config/limits.ts.",
        )
    return s


@loop
def noop_edit_and_test() -> Session:
    s = Session(
        "noop-edit-and-test", "stop", "one identical edit reported as done, then the same red test, over and over"
    )
    diff = "@@ -3,1 +3,1 @@\n-RE = r'\\\\s*'\n+RE = r'\\\\\\\\s*'\n"
    for n in range(12):
        s.call("apply_diff", {"path": "parse.py", "diff": diff}, '{"ok": true, "path": "parse.py"}')
        s.sh(
            "pytest -q tests/test_parse.py",
            f"FAILED tests/test_parse.py::test_ws - AssertionError\n1 failed, 7 passed in 0.{20 + n}s",
            1,
        )
    return s


@loop
def edit_there_and_back() -> Session:
    s = Session("edit-there-and-back", "stop", "two edits undo each other, the same two red results take turns")
    for n in range(24):
        a, b = ("timeout = 5", "timeout = 50") if n % 2 == 0 else ("timeout = 50", "timeout = 5")
        s.call(
            "Edit",
            {"file_path": "/app/client.py", "old_string": a, "new_string": b},
            "The file /app/client.py has been updated.",
        )
        s.sh(
            "make check", f"FAIL: test_slow ({'too slow' if n % 2 else 'gave up early'})\nmake: *** [check] Error 1", 2
        )
    return s


@loop
def two_formatters() -> Session:
    s = Session("two-formatters", "stop", "two formatters rewrite each other's output")
    for _ in range(16):
        s.sh("npx prettier --write src/app.ts", "src/app.ts 41ms")
        s.sh("npx eslint --fix src/app.ts", "")
    return s


@loop
def patch_rejected() -> Session:
    s = Session("patch-rejected", "stop", "patches of one file that never apply, each with another context")
    for n in range(16):
        patch = f"*** Begin Patch\n*** Update File: lib/job.rb\n@@ def perform_{n}\n-  run\n+  run_{n}\n*** End Patch"
        s.call(
            "apply_patch",
            {"input": patch},
            f"apply_patch verification failed: Failed to find context 'def perform_{n}' in lib/job.rb",
            exit=1,
        )
    return s


# -- the same thing said in other words ---------------------------------------------------------------------


@loop
def reworded_report() -> Session:
    s = Session("reworded-report", "stop", "a report handed in again and again, every time in other words")
    words = [
        "the",
        "focused",
        "review",
        "work",
        "remains",
        "complete",
        "and",
        "verified",
        "with",
        "all",
        "checks",
        "green",
        "ready",
        "for",
        "hand",
        "over",
    ]
    r = rng("report")
    for _ in range(45):
        picked = r.sample(words, 9)
        s.call(
            "yield_result",
            {"result": {"data": {"status": " ".join(picked).capitalize() + "."}}, "type": ["section"]},
            "Result submitted.",
        )
    return s


@loop
def message_storm() -> Session:
    s = Session("message-storm", "stop", "one answer sent to a chat many times in slightly other words; ids differ")
    words = [
        "your",
        "sleep",
        "score",
        "improved",
        "this",
        "week",
        "and",
        "resting",
        "heart",
        "rate",
        "went",
        "down",
        "while",
        "steps",
        "stayed",
        "about",
        "same",
    ]
    r = rng("storm")
    for _ in range(30):
        text = " ".join(r.sample(words, 12))
        s.call(
            "message",
            {"action": "send", "to": "+15550100", "text": text},
            json.dumps({"ok": True, "messageId": f"om_{hexes(r, 16)}", "ts": 1754484526 + r.randrange(10**6)}),
        )
    return s


@loop
def same_message() -> Session:
    s = Session(
        "same-message",
        "stop",
        "the very same message sent again, every delivery with an id of its own",
        clock=1_754_480_000,
        gap=4,
    )
    r = rng("same message")
    for _ in range(24):
        s.call(
            "sessions_send",
            {"session": "main", "message": "Deployment finished, please check."},
            json.dumps({"delivered": True, "message_id": uuid(r)}),
        )
    return s


@loop
def rephrased_search() -> Session:
    s = Session(
        "rephrased-search", "stop", "one web search in ever other words; the hits are the same ones, reshuffled"
    )
    words = ["python", "asyncio", "timeout", "handling", "best", "practice", "cancel", "task", "wait_for", "example"]
    hits = [
        f"{title} - https://site{n}.example/{title.replace(' ', '-')}"
        for n, title in enumerate(
            [
                "Timeouts in asyncio",
                "Cancelling tasks",
                "wait_for explained",
                "Structured concurrency",
                "Async pitfalls",
            ]
        )
    ]
    r = rng("search")
    for _ in range(28):
        query = " ".join(r.sample(words, 6))
        s.call("web_search", {"query": query}, "\n".join(r.sample(hits, 5)))
    return s


@loop
def commit_nothing() -> Session:
    s = Session("commit-nothing", "stop", "a commit of nothing with ever new messages")
    for n in range(14):
        s.sh(
            f"git add -A && git commit -m 'Finish step {n} of the cleanup for good'",
            "On branch main\nnothing to commit, working tree clean",
            1,
        )
    return s


@loop
def todo_flips() -> Session:
    s = Session("todo-flips", "stop", "a task list handed in with two spellings by turns, nothing done in between")
    for n in range(24):
        title = "Auto-update check" if n % 2 else "Auto-Update Check"
        todos = [{"content": f"Phase {k}: {title}", "status": "pending"} for k in range(4)]
        s.call(
            "todo_list_write",
            {"todos": todos},
            "NOTE: this update removed 4 unfinished items. If you did not mean to, write the complete list again.",
        )
        if n % 6 == 5:
            s.call("read_file", {"path": "PLAN.md"}, "Phase 0: Auto-update check")
    return s


@loop
def thinking_aloud() -> Session:
    s = Session("thinking-aloud", "stop", "thoughts in a row without a deed")
    for n in range(26):
        s.call(
            "sequentialthinking",
            {
                "thought": f"Maybe I should look at the parser again before I decide ({n})",
                "thoughtNumber": n,
                "nextThoughtNeeded": True,
            },
            json.dumps({"thoughtNumber": n, "totalThoughts": n + 3, "nextThoughtNeeded": True}),
        )
    return s


# -- looking at what was seen -------------------------------------------------------------------------------


@loop
def round_of_files() -> Session:
    s = Session("round-of-files", "stop", "five files read in turn, again and again, nothing written")
    names = ["README.md", "src/index.ts", "src/router.ts", "package.json", "tsconfig.json"]
    for _ in range(9):
        for name in names:
            s.call("Read", {"file_path": f"/repo/{name}"}, f"1\tcontents of {name}\n2\tmore of {name}")
    return s


@loop
def overlapping_windows() -> Session:
    s = Session("overlapping-windows", "stop", "one file read in windows that hardly move on, and back to the start")
    for n in range(36):
        start = 1 + 4 * (n % 12)
        lines = "\n".join(f"{k}: {SOURCE[k]}" for k in range(start, start + 100))
        s.call("view_file", {"path": "core/engine.py", "start_line": start, "end_line": start + 99}, lines)
    return s


@loop
def spellings_of_a_read() -> Session:
    s = Session("spellings-of-a-read", "stop", "one file looked at with cat, head, sed, nl, less and awk by turns")
    body = SOURCE[:60]
    ways = [
        ("cat app/main.py", body),
        ("head -60 app/main.py", body),
        ("sed -n '1,50p' app/main.py", body[:50]),
        ("nl -ba app/main.py | head -40", [f"{n:6d}\t{line}" for n, line in enumerate(body[:40], 1)]),
        ("cat app/main.py | head -n 45", body[:45]),
        ("awk 'NR<=55' app/main.py", body[:55]),
        ("tail -n 60 app/main.py", body),
        ("sed -n '5,48p' ./app/main.py", body[4:48]),
    ]
    for n in range(40):
        command, out = ways[n % len(ways)]
        s.sh(command, "\n".join(out))
    return s


@loop
def near_duplicate_discovery() -> Session:
    s = Session(
        "near-duplicate-discovery", "stop", "a repository listed in ever other ways, what comes back being known"
    )
    files = ["src/a.rs", "src/b.rs", "src/lib.rs", "Cargo.toml", "README.md", "tests/t.rs"]
    out = "\n".join(files)
    ways = [
        (
            "ls -la",
            "total 24\n" + "\n".join(f"-rw-r--r-- 1 u u 120 Jan 3 10:00 {f}" for f in ["Cargo.toml", "README.md"]),
        ),
        ("find . -type f -not -path './.git/*'", "\n".join("./" + f for f in files)),
        ("git ls-files", out),
        ("find . -name '*.rs'", "\n".join("./" + f for f in files if f.endswith(".rs"))),
        ("ls src tests", "src:\na.rs\nb.rs\nlib.rs\n\ntests:\nt.rs"),
        ("git status --short && git ls-files | head -50", out),
        ("find . -maxdepth 2 -type f | sort", "\n".join("./" + f for f in sorted(files))),
        ("git log --oneline -5", "a1b2c3d first\n"),
        (
            "ls -l src",
            "total 12\n" + "\n".join(f"-rw-r--r-- 1 u u 120 Jan 3 10:00 {f}" for f in ["a.rs", "b.rs", "lib.rs"]),
        ),
        ("find src -type f | head -20", "src/a.rs\nsrc/b.rs\nsrc/lib.rs"),
    ]
    for n in range(44):
        s.sh(*ways[(n * 7) % len(ways)], tool="shell")
        if n % 9 == 8:
            s.call("file_read", {"path": files[n % 6]}, f"// {files[n % 6]}")
    return s


@loop
def three_reads_a_step() -> Session:
    s = Session("three-reads-a-step", "stop", "three known files read at once in every step")
    for _ in range(10):
        for n, name in enumerate(["a.py", "b.py", "c.py"]):
            s.call("Read", {"file_path": name}, f"1\t# {name}", parallel=n > 0)
    return s


@loop
def repl_reprints() -> Session:
    s = Session("repl-reprints", "stop", "one value printed again in an interpreter with other blanks and calls")
    for n in range(24):
        code = ["print(df.head())", "df.head()", "print(df.head( ))", "print(df.head())  # look again"][n % 4]
        s.call("run_python", {"code": code}, "   id  price\n0   1   9.99\n1   2   4.50")
    return s


@loop
def file_too_large() -> Session:
    s = Session("file-too-large", "stop", "a file that is too large to read, asked for with other parameters")
    for n in range(14):
        size = 41_000 + n % 3
        s.call(
            "Read",
            {"file_path": "/repo/data/big.json", "limit": 5_000 - 10 * n},
            None,
            error=f"File content ({size} tokens) exceeds maximum allowed tokens (25000). Please use offset and limit parameters.",
        )
    return s


@loop
def unchanged_stub() -> Session:
    s = Session("unchanged-stub", "stop", "the harness answers that the file is unchanged, and it is read again")
    s.call("read", {"path": "docs/spec.md"}, "The specification.\n" * 20)
    for _ in range(16):
        s.call(
            "read",
            {"path": "docs/spec.md"},
            "File unchanged since last read. The content from the earlier read result is still current.",
        )
    return s


# -- nothing found ------------------------------------------------------------------------------------------


@loop
def nothing_found_anywhere() -> Session:
    s = Session("nothing-found-anywhere", "stop", "a symbol that does not exist, looked for under ever other names")
    for n in range(26):
        name = ["getUserToken", "fetchUserToken", "userToken", "UserTokenService", "token_for_user", "authToken"][n % 6]
        s.call(
            "Grep",
            {"pattern": f"{name}{'' if n < 6 else n}", "path": "/repo/src"},
            "No matches found" if n % 3 else "No files found",
        )
    return s


@loop
def empty_lists() -> Session:
    s = Session(
        "empty-lists", "stop", "a listing asked for with ever other filters, each time empty JSON with a fresh time"
    )
    r = rng("lists")
    for n in range(40):
        arguments = {"integration": ["github", "pagerduty", "slack", "jira"][n % 4], "type": f"resource{n % 7}"}
        body = {
            "items": [],
            "total": 0,
            "nextCursor": None,
            "generatedAt": f"2026-04-14T10:{n:02d}:07.{r.randrange(1000):03d}Z",
            "requestId": uuid(r),
        }
        s.call("mcp__hub__list_integration_resources", arguments, [{"type": "text", "text": json.dumps(body)}])
    return s


@loop
def past_the_last_page() -> Session:
    s = Session("past-the-last-page", "stop", "pages asked for far past the end of a list")
    for n in range(2):
        s.call(
            "list_commits",
            {"repo": "o/r", "page": n + 1},
            json.dumps([{"sha": hexes(rng(f"sha{n}{k}"), 40), "message": f"change {n} {k}"} for k in range(5)]),
        )
    for n in range(2, 24):
        s.call("list_commits", {"repo": "o/r", "page": n + 1}, "[]")
    return s


@loop
def empty_queries() -> Session:
    s = Session("empty-queries", "stop", "searches without a query that bring nothing")
    for _ in range(14):
        s.call("search_web", {"query": ""}, json.dumps({"urls": [], "count": 0}))
    return s


# -- failing alike ------------------------------------------------------------------------------------------


@loop
def failing_alike() -> Session:
    s = Session("failing-alike", "stop", "ever other commands against a database that does not answer")
    for n in range(22):
        command = [
            f"python manage.py migrate --database=db{n}",
            f"DATABASE_HOST=db{n} python manage.py showmigrations",
            f"python manage.py check --deploy -v {n}",
            f"psql -h db{n} -c 'select 1'",
        ][n % 4]
        s.sh(
            command,
            f'psycopg2.OperationalError: connection to server at "db{n}" (10.0.0.{n}), port 5432 failed: Connection refused',
            1,
        )
    return s


@loop
def unknown_tools() -> Session:
    s = Session("unknown-tools", "stop", "tools that do not exist, one guessed name after the other")
    names = ["central_list_sites", "list_sites", "sites_list", "get_sites", "central_sites", "site_list", "listSites"]
    for n in range(21):
        name = names[n % 7]
        s.call(name, {"limit": 10}, None, error=f"Unknown tool: {name}", code="TOOL_NOT_FOUND")
    return s


@loop
def wrong_arguments() -> Session:
    s = Session("wrong-arguments", "stop", "a call rejected for its arguments, the wrong one varied")
    for n in range(16):
        s.call(
            "search_nodes",
            {"query": {"text": f"q{n}"}, "filter": [n]},
            None,
            error=f'Invalid arguments for tool search_nodes: [{{"code": "invalid_type", "expected": "string", "received": "object", "path": ["query"]}}] (request {n})',
            code="-32602",
        )
    return s


@loop
def throttled() -> Session:
    s = Session(
        "throttled",
        "stop",
        "an API that says 429 is asked again at once, every refusal with a new request id",
        clock=1_760_000_000,
        gap=1.2,
    )
    r = rng("throttled")
    for n in range(22):
        s.call(
            "http_get",
            {"url": f"https://api.example.com/v1/orders/{n}"},
            None,
            error=f"429 Too Many Requests: rate limit reached for org-{hexes(r, 12)}. Request id: req_{hexes(r, 24)}. Try again in {20 - n % 3}.{r.randrange(1000)}s",
        )
    return s


@loop
def error_text_drifts() -> Session:
    s = Session(
        "error-text-drifts", "stop", "one failing command; process ids, times and attempt counters change in its error"
    )
    for n in range(16):
        out = f"[2026-08-03T09:{n:02d}:11Z] worker pid={4000 + 7 * n} attempt {n + 1}: fatal: could not open lock file (waited {1.1 + n / 7:.2f}s)"
        s.sh("./deploy.sh staging", out, 75)
    return s


@loop
def key_refused() -> Session:
    s = Session("key-refused", "stop", "ever other commands over an ssh connection that is refused")
    for n in range(16):
        s.sh(
            [
                "ssh deploy@10.1.2.3 uptime",
                "ssh -v deploy@10.1.2.3 'ls /srv'",
                "scp x.tgz deploy@10.1.2.3:/srv/",
                "rsync -a dist/ deploy@10.1.2.3:/srv/",
            ][n % 4]
            + ("" if n < 4 else f" # try {n}"),
            "deploy@10.1.2.3: Permission denied (publickey).",
            255,
        )
    return s


@loop
def push_and_pull() -> Session:
    s = Session("push-and-pull", "stop", "a push that is rejected, a pull that brings nothing, and again")
    for _ in range(12):
        s.sh(
            "git push origin main",
            " ! [remote rejected] main -> main (protected branch hook declined)\nerror: failed to push some refs to 'origin'",
            1,
        )
        s.sh("git pull --rebase origin main", "Current branch main is up to date.")
    return s


@loop
def restart_and_ask() -> Session:
    s = Session("restart-and-ask", "stop", "a server restarted the same way, asked, not there, restarted")
    for n in range(12):
        s.sh("pkill -f server.js; nohup node server.js > /tmp/server.log 2>&1 &", f"[1] {31000 + n * 13}")
        s.sh(
            "curl -s http://localhost:3000/health",
            "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Connection refused",
            7,
        )
    return s


@loop
def two_tools_failing() -> Session:
    s = Session("two-tools-failing", "stop", "two remote tools fail by turns with one error that carries a trace id")
    r = rng("two tools")
    for n in range(24):
        s.call(
            ["crm_find", "crm_list"][n % 2],
            {"name": f"customer {n}"},
            None,
            error=json.dumps({"error": "Internal Server Error", "status": 500, "traceId": uuid(r)}),
        )
    return s


@loop
def sql_guesses() -> Session:
    s = Session("sql-guesses", "stop", "queries on a table that does not exist, guessed differently each time")
    for n in range(18):
        q = f"select {['*', 'id', 'count(*)'][n % 3]} from users_{n} where active limit {n}"
        s.call(
            "query",
            {"sql": q},
            f'ERROR:  relation "users_{n}" does not exist\nLINE 1: {q[:30]}\n                      ^',
        )
    return s


@loop
def failures_not_flagged() -> Session:
    s = Session("failures-not-flagged", "stop", "a tool that reports failures as ordinary short answers")
    for n in range(16):
        s.call("open_document", {"id": f"doc-{n}"}, f"Error: document doc-{n} could not be opened (HTTP 403)")
    return s


# -- refused ------------------------------------------------------------------------------------------------


@loop
def refused_variants() -> Session:
    s = Session("refused-variants", "stop", "what is not allowed, tried in ever other spellings")
    for n in range(18):
        command = [
            "rm -rf build",
            "rm -r ./build",
            "find build -delete",
            "sudo rm -rf build",
            "python -c 'import shutil; shutil.rmtree(\"build\")'",
        ][n % 5] + f" #{n}"
        s.sh(
            command,
            "",
            tool="Bash",
            exit=None,
            error="The user doesn't want to proceed with this tool use. The tool use was rejected.",
            code="REJECTED",
        )
    return s


@loop
def refused_in_prose() -> Session:
    s = Session(
        "refused-in-prose", "stop", "a hook blocks one command; nothing is flagged, the reason is reworded each time"
    )
    for n in range(14):
        s.call(
            "bash",
            {"command": "git push --force", "justification": f"needed now, take {n}"},
            "Blocked by hook: force pushes are not allowed by policy.",
        )
    return s


# -- waiting ------------------------------------------------------------------------------------------------


@loop
def sleeping_on() -> Session:
    s = Session("sleeping-on", "stop", "sleeps one after the other with nothing looked at")
    for n in range(9):
        s.sh(f"sleep {180 + 20 * (n % 3)}; echo done", "done")
    return s


@loop
def waiting_tool() -> Session:
    s = Session("waiting-tool", "stop", "a wait without an end, called again as soon as it returns")
    for n in range(40):
        s.call(
            "WaitFor",
            {"reason": f"Waiting for the review to arrive, round {n}"},
            json.dumps({"status": "waiting", "registered": True}),
        )
    return s


@loop
def finished_process() -> Session:
    s = Session(
        "finished-process",
        "stop",
        "the output of a process that ended long ago, asked for again",
        clock=1_755_000_000,
        gap=8,
    )
    for _ in range(18):
        s.call(
            "BashOutput",
            {"bash_id": "bash_3"},
            "<status>completed</status>\n<exit_code>0</exit_code>\n<stdout></stdout>",
        )
    return s


@loop
def impatient_poll() -> Session:
    s = Session(
        "impatient-poll",
        "stop",
        "a job's status asked for every second, each answer with the time of asking",
        clock=1_755_100_000,
        gap=0.9,
    )
    for n in range(45):
        s.call(
            "get_job_status",
            {"job_id": "train-7"},
            json.dumps(
                {
                    "job_id": "train-7",
                    "status": "RUNNING",
                    "checked_at": f"2026-05-01T12:00:{n:02d}Z",
                    "latency_ms": 11 + n % 5,
                }
            ),
        )
    return s


@loop
def poll_without_clock() -> Session:
    s = Session("poll-without-clock", "stop", "a live process asked for output without pause, no times known")
    for _ in range(45):
        s.call("read_terminal", {"terminal_id": "t1"}, "Compiling... still running")
    return s


@loop
def what_second() -> Session:
    s = Session("what-second", "stop", "the clock read over and over", clock=1_756_000_000, gap=2)
    for n in range(50):
        s.sh("date +%S", f"{(2 * n) % 60:02d}", tool="exec")
    return s


@loop
def counting_processes() -> Session:
    s = Session(
        "counting-processes", "stop", "a count that wavers between the same few numbers", clock=1_756_100_000, gap=1.5
    )
    for n in range(45):
        s.sh("ps aux | grep -c '[n]ode'", str([3, 4, 3, 5, 4][n % 5]))
    return s


@loop
def echoing() -> Session:
    s = Session("echoing", "stop", "echo, again and again, instead of the call that was meant")
    for n in range(20):
        s.sh(["echo ok", "echo 'ok'", 'echo "ready"', "true"][n % 4], ["ok", "ok", "ready", ""][n % 4])
    return s


# -- after the work is done ---------------------------------------------------------------------------------


@loop
def verifying_forever() -> Session:
    s = Session(
        "verifying-forever", "stop", "all is green and committed; tests, lint, status and diff run round and round"
    )
    for n in range(10):
        s.sh("npm test", f"Test Suites: 12 passed, 12 total\nTests: 88 passed, 88 total\nTime: {4 + n / 10:.2f} s")
        s.sh("npm run lint", "> lint\n> eslint .\n")
        s.sh("git status", "On branch feature\nnothing to commit, working tree clean")
        s.sh("git diff --stat", "")
    return s


@loop
def table_again() -> Session:
    s = Session("table-again", "stop", "one table made again and again, each time a success")
    for _ in range(14):
        s.call("create_table", {"title": "Findings", "columns": ["File", "Issue"]}, "Table 'Findings' created.")
    return s


# -- browsers -----------------------------------------------------------------------------------------------


def page(refs: int, title: str = "Checkout") -> str:
    return f'- Page URL: https://shop.example/checkout\n- Page Title: {title}\n```yaml\n- heading "{title}" [ref=s{refs}e3]\n- textbox "Card number" [ref=s{refs}e5]\n- button "Pay now" [ref=s{refs}e9]\n```'


@loop
def click_without_effect() -> Session:
    s = Session(
        "click-without-effect", "stop", "a button pressed, the page looked at: the same page with fresh references"
    )
    for n in range(18):
        s.call("browser_snapshot", {}, page(n))
        s.call("browser_click", {"element": "Pay now button", "ref": f"s{n}e9"}, "Clicked.")
    return s


@loop
def jittering_click() -> Session:
    s = Session("jittering-click", "stop", "clicks a few pixels apart at one spot, the screen stays as it is")
    r = rng("jitter")
    for _ in range(26):
        x, y = 512 + r.randrange(-3, 4), 300 + r.randrange(-3, 4)
        s.call(
            "computer",
            {"action": "left_click", "coordinate": [x, y]},
            [
                {"type": "text", "text": "ok"},
                {"type": "image", "data": "iVBORw0KGgoAAAANSUhEUgAA", "mimeType": "image/png"},
            ],
        )
    return s


@loop
def pages_in_a_circle() -> Session:
    s = Session("pages-in-a-circle", "stop", "three pages visited in turn, each the same but for a nonce")
    r = rng("circle")
    for n in range(30):
        url = ["https://a.example/", "https://a.example/about", "https://a.example/contact"][n % 3]
        s.call(
            "browser_navigate",
            {"url": url},
            f"Title: {url[-7:]}\nnonce: {hexes(r, 32)}\nNothing about prices on this page.",
        )
    return s


# -- many agents --------------------------------------------------------------------------------------------


@loop
def widening_tree() -> Session:
    s = Session("widening-tree", "stop", "each subagent starts five more at once", clock=1_757_000_000, gap=0.8)
    agents = [("main", None)]
    made = 0
    for agent, parent in agents:
        for _ in range(5):
            if made >= 60:
                break
            made += 1
            child = f"w{made}"
            s.call(
                "Task",
                {
                    "prompt": f"Research angle {made} of the topic",
                    "subagent_type": "general-purpose",
                    "run_in_background": True,
                },
                f"Async agent launched, id {child}",
                agent=agent,
                **({"parent": parent} if parent else {}),
                starts={"agent": child, "parent": agent, "kind": "subagent"},
            )
            agents.append((child, agent))
    return s


@loop
def delegating_again() -> Session:
    s = Session(
        "delegating-again",
        "stop",
        "one task handed to a new subagent again, with one and the same report",
        clock=1_757_100_000,
        gap=5,
    )
    for n in range(16):
        s.call(
            "delegate_task",
            {"goal": "Find out why the login test fails"},
            "I was not able to find the cause. The test fails with a time-out.",
            took=20,
            starts={"agent": f"d{n}", "parent": "main", "kind": "subagent"},
        )
    return s


# -- a second round, written before the rules were looked at again --------------------------------------------


@loop
def blocked_page_everywhere() -> Session:
    s = Session(
        "blocked-page-everywhere",
        "stop",
        "ever other addresses of a site that answers all of them with one page for robots",
    )
    body = "Just a moment...\nEnable JavaScript and cookies to continue\nThis website uses a security service to protect itself from automated access.\nPlease complete the check below to go on. If you are the owner of this site, you can learn more about the cause here."
    for n in range(20):
        s.call("web_fetch", {"url": f"https://shop.example.com/item/{n * 37}"}, body)
    return s


@loop
def image_loaded_again() -> Session:
    s = Session(
        "image-loaded-again",
        "stop",
        "one picture loaded again and again, encoded anew each time",
        clock=1_760_100_000,
        gap=2,
    )
    r = rng("image")
    for _ in range(40):
        s.call(
            "view_image",
            {"path": "out/chart.png"},
            [
                {"type": "text", "text": "Image loaded into your context."},
                {"type": "image", "data": hexes(r, 64), "mimeType": "image/png"},
            ],
        )
    return s


@loop
def started_over() -> Session:
    s = Session(
        "started-over",
        "stop",
        "a long script started anew instead of looking after the one that runs",
        clock=1_760_200_000,
        gap=6,
    )
    r = rng("over")
    names = "neat calm brave quick warm clear bold fresh".split()
    things = "cloud river stone field lake forest ridge bay".split()
    for _ in range(24):
        s.call(
            "exec",
            {"command": "bash run_scan.sh", "timeoutSeconds": 300},
            f"Command still running (session {r.choice(names)}-{r.choice(things)}, pid {r.randrange(10**5, 10**6)}). Use process (list/poll/log/kill) for follow-up.",
            took=30,
        )
    return s


@loop
def read_edit_test_rounds() -> Session:
    s = Session(
        "read-edit-test-rounds", "stop", "a file read, an edit that fails, a test that fails, and the same again"
    )
    for _ in range(12):
        s.call(
            "read",
            {"filePath": "/w/src/queue.ts"},
            "export class Queue {\n  private items = []\n  push(x) { this.items.push(x) }\n}",
        )
        s.call(
            "edit",
            {
                "filePath": "/w/src/queue.ts",
                "oldString": "private items: T[] = []",
                "newString": "private items: T[] = new Array()",
            },
            None,
            error="oldString not found in content",
        )
        s.sh("bun test queue", "queue > pops in order\nerror: expect(received).toBe(expected)\n 1 fail", 1, tool="bash")
    return s


@loop
def syntax_errors() -> Session:
    s = Session("syntax-errors", "stop", "code with an open string handed to an interpreter, other code each time")
    for n in range(16):
        s.call(
            "execute_ipython_cell",
            {"code": f"open('f{n}.txt', 'w').write('it's row {n}\\n)"},
            f"  Cell In[{n + 1}], line 1\n    open('f{n}.txt', 'w').write('it's row {n}\n                                ^\nSyntaxError: unterminated string literal (detected at line 1)",
        )
    return s


@loop
def wrong_ids() -> Session:
    s = Session("wrong-ids", "stop", "records asked for under ids that do not exist")
    r = rng("wrong ids")
    for n in range(18):
        s.sh(f"pup error-tracking issues get {uuid(r)}", "Error: 404 Not Found: no issue with this id", 1, tool="shell")
    return s


@loop
def build_success_again() -> Session:
    s = Session(
        "build-success-again", "stop", "the build is green, and is built again, and again", clock=1_760_300_000, gap=9
    )
    for n in range(20):
        s.sh(
            "mvn -q verify",
            f"[INFO] BUILD SUCCESS\n[INFO] Total time:  {14 + n % 3}.{n}53 s\n[INFO] Finished at: 2026-03-10T12:{n:02d}:29+01:00",
            took=15,
        )
    return s


@loop
def listing_five_then_six() -> Session:
    s = Session("listing-five-then-six", "stop", "a directory listed with and without flags by turns")
    for n in range(22):
        s.sh(
            "ls /home/dev/.jupyter/custom/" if n % 11 < 6 else "ls -la /home/dev/.jupyter/custom/",
            "custom.css\nlogo.svg"
            if n % 11 < 6
            else "total 16\n-rw-r--r-- 1 dev dev 220 Jan  3 10:00 custom.css\n-rw-r--r-- 1 dev dev 900 Jan  3 10:00 logo.svg",
        )
    return s


@loop
def goal_created_again() -> Session:
    s = Session("goal-created-again", "stop", "one goal set again and again, other things looked at in between")
    for n in range(16):
        s.call("create_goal", {"objective": "Make the landing page faster"}, json.dumps({"ok": True, "goal": "active"}))
        if n % 3 == 2:
            s.call("get_goal", {}, json.dumps({"objective": "Make the landing page faster", "status": "active"}))
    return s


@loop
def heartbeat_answers() -> Session:
    s = Session(
        "heartbeat-answers", "stop", "a sign of life answered over and over within one turn", clock=1_760_400_000, gap=4
    )
    for n in range(30):
        s.call(
            "heartbeat_respond",
            {"status": "ok", "note": f"No changes. All clear. ({n})"},
            json.dumps({"accepted": True, "at": 1760400000 + 4 * n}),
        )
    return s


@loop
def three_searches_by_turns() -> Session:
    s = Session("three-searches-by-turns", "stop", "three mail searches by turns, nothing new in any of them")
    for n in range(30):
        query = ["is:unread", "from:ask.edu.kw", "label:urgent newer_than:1d"][n % 3]
        s.sh(
            f'gog gmail messages search "{query}" --max 5',
            json.dumps({"messages": [{"id": f"18f{n % 3}", "subject": "Old"}], "nextPageToken": ""}),
            tool="exec",
        )
    return s


@loop
def docs_lookup_rounds() -> Session:
    s = Session(
        "docs-lookup-rounds", "stop", "components listed and described round and round, what comes back being known"
    )
    for n in range(36):
        call = [
            ("list_components", {}),
            ("describe_trigger", {"name": "github.push"}),
            ("list_integration_resources", {"integration": "github", "type": "repo"}),
        ][n % 3]
        s.call(*call, ['["http", "if", "wait"]', "Trigger github.push: fires on push", "[]"][n % 3])
    return s


@loop
def lemma_search() -> Session:
    s = Session(
        "lemma-search", "stop", "one lemma looked for with no result a dozen times", clock=1_760_500_000, gap=80
    )
    for _ in range(12):
        s.call("search_mathlib_lemmas", {"goal": "gale_shapley_man_optimal"}, "0 lemmas found")
    return s


@loop
def undo_and_redo() -> Session:
    s = Session("undo-and-redo", "stop", "a change stashed, tested, brought back, tested, for ever")
    for _ in range(14):
        s.sh("git stash", "Saved working directory and index state WIP on main: 4c1d2e3 base")
        s.sh("go test ./...", "ok  \texample.com/m\t0.012s")
        s.sh(
            "git stash pop",
            "On branch main\nChanges not staged for commit:\n\tmodified:   m.go\nDropped refs/stash@{0} (9f8e7d6c5b4a39281706f5e4d3c2b1a098765432)",
        )
        s.sh(
            "go test ./...", "--- FAIL: TestSum (0.00s)\n    m_test.go:9: got 3, want 4\nFAIL\texample.com/m\t0.013s", 1
        )
    return s


@loop
def ask_the_same_helper() -> Session:
    s = Session("ask-the-same-helper", "stop", "a helper asked the same in other words, with the same answer")
    words = "could you please check whether the deployment pipeline is green and tell me its current state now".split()
    r = rng("helper")
    for _ in range(26):
        s.call(
            "send_to_agent",
            {"agent_id": "ops", "message": " ".join(r.sample(words, 12)) + "?"},
            "I do not have access to the pipeline.",
        )
    return s


@loop
def append_the_same() -> Session:
    s = Session("append-the-same", "stop", "the same paragraph appended to a file again and again")
    for n in range(20):
        s.sh("echo '## Summary of changes' >> NOTES.md", "")
        if n % 4 == 3:
            s.sh(
                "tail -5 NOTES.md",
                "## Summary of changes\n## Summary of changes\n## Summary of changes\n## Summary of changes\n## Summary of changes",
            )
    return s


@loop
def scrolling_at_the_end() -> Session:
    s = Session("scrolling-at-the-end", "stop", "scrolling on although the page is at its end")
    for _ in range(20):
        s.call("browser_scroll", {"direction": "down", "amount": 500}, "Scrolled down")
        s.call(
            "browser_snapshot",
            {},
            "- Page URL: https://news.example/\n- contentinfo: Imprint, Privacy, (c) News\n- text: You have reached the end",
        )
    return s


@loop
def schema_of_a_table() -> Session:
    s = Session("schema-of-a-table", "stop", "one table described through three tools and queries, all known")
    schema = "id integer\nname text\ncreated timestamp"
    for n in range(28):
        call = [
            ("describe_table", {"table": "orders"}),
            (
                "run_query",
                {"sql": "select column_name, data_type from information_schema.columns where table_name = 'orders'"},
            ),
            ("run_query", {"sql": "select * from orders limit 0"}),
            ("get_schema", {"table": "orders"}),
        ][n % 4]
        s.call(*call, schema)
    return s


@loop
def kill_and_start() -> Session:
    s = Session("kill-and-start", "stop", "a port freed and a server started, which finds the port taken, ever again")
    for n in range(12):
        s.sh("lsof -ti:8080 | xargs kill -9", "")
        s.sh(
            "npm run start",
            f"Error: listen EADDRINUSE: address already in use :::8080\n    at Server.setupListenHandle (node:net:1898:16)\n  pid: {4000 + n}",
            1,
        )
    return s


@loop
def progress_that_is_none() -> Session:
    s = Session(
        "progress-that-is-none", "stop", "a bar that stands still but for its clock", clock=1_760_600_000, gap=1.5
    )
    for n in range(40):
        s.call(
            "read_output",
            {"handle": "dl-1"},
            f"\x1b[2K\rDownloading model.bin  [======>      ] 46%  eta 00:{59 - n % 40:02d}  {'⠋⠙⠹⠸⠼⠴⠦⠧'[n % 8]}",
        )
    return s


# -- a third round ------------------------------------------------------------------------------------------


@loop
def opaque_tools_by_turns() -> Session:
    s = Session(
        "opaque-tools-by-turns",
        "stop",
        "two tools whose names say nothing, marked as reading, by turns with the same answers",
    )
    for n in range(16):
        s.call("q7", {"k": "alpha"}, "row 1") if n % 2 else s.call("z2", {"k": "beta"}, "row 2")
        s.case["steps"][-1]["guard"]["annotations"] = {"readOnlyHint": True}
    return s


@loop
def export_again() -> Session:
    s = Session(
        "export-again", "stop", "a report exported again and again; only the name of the temporary file differs"
    )
    r = rng("export")
    for _ in range(18):
        s.call("export_report", {"report": "q3", "format": "pdf"}, f"Saved to /tmp/export-{hexes(r, 8)}.pdf")
    return s


@loop
def verbose_variants() -> Session:
    s = Session(
        "verbose-variants", "stop", "one failing build called with ever other switches and filters, nothing changed"
    )
    ways = [
        "npm run build",
        "npm run build --verbose",
        "CI=1 npm run build",
        "npm run build 2>&1 | grep -i error",
        "npm run build -- --mode=production",
        "npx vite build",
        "npx vite build --debug",
        "npm run build --silent",
        "NODE_ENV=production npm run build",
        "npx vite build --logLevel info",
    ]
    for n in range(30):
        way = ways[n % len(ways)]
        s.sh(
            way,
            'error during build:\nRollupError: Could not resolve "./Chart" from "src/App.tsx"',
            0 if "grep" in way else 1,
        )
    return s


@loop
def cache_busted() -> Session:
    s = Session("cache-busted", "stop", "one page fetched with a new number at the end of its address each time")
    for n in range(20):
        s.sh(
            f"curl -s 'https://status.example/api/v1/state?_={1760000000 + n * 7}'",
            '{"state": "degraded", "since": "yesterday"}',
        )
    return s


@loop
def grep_the_same_answer() -> Session:
    s = Session("grep-the-same-answer", "stop", "one definition looked up in many ways, all of which show the one line")
    line = "src/conf.py:12:MAX_RETRIES = 5"
    ways = [
        "grep -rn MAX_RETRIES src",
        "rg -n MAX_RETRIES",
        "grep -n MAX_RETRIES src/conf.py",
        "git grep -n MAX_RETRIES",
        "grep -rn 'MAX_RETRIES =' src",
        "rg -n 'MAX_RETRIES =' src",
    ]
    for n in range(30):
        s.sh(ways[n % 6], line if "conf.py" not in ways[n % 6] else "12:MAX_RETRIES = 5")
    return s


@loop
def same_tests_many_files() -> Session:
    s = Session("same-tests-many-files", "stop", "three green test files run round and round after the last change")
    s.call("Edit", {"file_path": "a.py", "old_string": "1", "new_string": "2"}, "updated")
    for n in range(36):
        s.sh(f"pytest -q tests/test_{'abc'[n % 3]}.py", f"{4 + n % 3} passed in 0.{10 + n}s")
    return s


@loop
def rewritten_plan_file() -> Session:
    s = Session("rewritten-plan-file", "stop", "a memory file written with the same text and read back, over and over")
    for _ in range(14):
        s.call("fs_write", {"path": "memory/today.md", "content": "- fix login\n- update docs\n"}, "ok")
        s.call("fs_read", {"path": "memory/today.md"}, "- fix login\n- update docs")
    return s


@loop
def not_logged_in() -> Session:
    s = Session("not-logged-in", "stop", "commands of one program that all want a login first")
    for n in range(16):
        s.sh(
            f"gh {['pr list', 'issue list', 'repo view', 'run list'][n % 4]} --limit {n + 5}",
            "To get started with GitHub CLI, please run:  gh auth login\nAlternatively, populate the GH_TOKEN environment variable with a GitHub API authentication token.",
            4,
        )
    return s


@loop
def device_not_there() -> Session:
    s = Session("device-not-there", "stop", "a device asked for, listed, asked for, and never there")
    for _ in range(14):
        s.sh("adb devices", "List of devices attached\n")
        s.sh("adb shell getprop ro.build.version.sdk", "adb: no devices/emulators found", 1)
    return s


@loop
def wait_then_nothing() -> Session:
    s = Session(
        "wait-then-nothing",
        "stop",
        "a job that ended in failure is waited for and asked again",
        clock=1_762_000_000,
        gap=2,
    )
    for _ in range(14):
        s.call("sleep", {"seconds": 5}, "slept", took=5)
        s.call("get_job", {"id": "j-9"}, json.dumps({"id": "j-9", "state": "failed", "error": "exit status 1"}))
    return s


@loop
def thoughts_in_new_words() -> Session:
    s = Session("thoughts-in-new-words", "stop", "thirty thoughts in a row, no two alike, and no deed")
    r = rng("thoughts")
    for _ in range(40):
        words = ["".join(r.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(7)) for _ in range(9)]
        s.call("think", {"thought": " ".join(words)}, "Your thought has been logged.")
    return s


@loop
def same_question_to_the_user() -> Session:
    s = Session(
        "same-question-to-a-service",
        "stop",
        "a support ticket opened again with the same words, each with a new number",
    )
    for n in range(14):
        s.call(
            "open_ticket",
            {"subject": "Export fails", "body": "The export of the third quarter fails with a time-out."},
            f"Ticket #{88120 + n} opened",
        )
    return s


@loop
def shrinking_limits() -> Session:
    s = Session("shrinking-limits", "stop", "a read that times out, with ever smaller limits")
    for n in range(14):
        s.call(
            "db_read",
            {"table": "events", "limit": 10_000 // (n + 1)},
            None,
            error=f"Query timed out after {30000 + n} ms",
        )
    return s


@loop
def toggling_a_setting() -> Session:
    s = Session("toggling-a-setting", "stop", "a switch set on and off, and the state looked at, for ever")
    for n in range(24):
        s.call("set_feature", {"name": "dark", "value": n % 2 == 0}, "ok")
        s.call("get_feature", {"name": "dark"}, "on" if n % 2 == 0 else "off")
    return s


@loop
def install_again() -> Session:
    s = Session(
        "install-again", "stop", "a package that is there already, installed again after each import that fails"
    )
    for _ in range(12):
        s.sh("pip install torch", "Requirement already satisfied: torch in /usr/lib/python3/dist-packages (2.3.0)")
        s.sh(
            "python -c 'import torch'",
            "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'torch'",
            1,
        )
    return s


@loop
def context_files_again() -> Session:
    s = Session("context-files-again", "stop", "the same four context files read in other orders")
    r = rng("context")
    names = ["SOUL.md", "USER.md", "MEMORY.md", "TOOLS.md"]
    for _ in range(10):
        for name in r.sample(names, 4):
            s.call("read", {"path": name}, f"# {name}\nremember this")
    return s


@loop
def dom_dump_with_ads() -> Session:
    s = Session(
        "dom-dump-with-ads",
        "stop",
        "a long page read again and again, one advertisement in it changes",
        clock=1_762_100_000,
        gap=3,
    )
    r = rng("ads")
    body = [f"paragraph {n} about the history of {['salt', 'silk', 'steel'][n % 3]} number {n}" for n in range(40)]
    for _ in range(30):
        body[17] = f"Sponsored: {''.join(r.choice('abcdefgh') for _ in range(9))}"
        s.call("get_page_content", {"tab": 1}, "\n".join(body))
    return s


@loop
def exhausted_quota() -> Session:
    s = Session("exhausted-quota", "stop", "pictures ordered although the quota is used up, each with another text")
    for n in range(14):
        s.call(
            "generate_image",
            {"prompt": f"a red fox in scene {n} under a {['pale', 'dark', 'clear'][n % 3]} sky"},
            json.dumps(
                {"error": {"code": 429, "message": "You exceeded your current quota", "request_id": f"req_{n:024x}"}}
            ),
        )
    return s


@loop
def empty_string_edits() -> Session:
    s = Session("empty-string-edits", "stop", "edits whose old and new text are equal, on ever other lines")
    for n in range(16):
        s.call(
            "Edit",
            {"file_path": "/x/view.tsx", "old_string": f"line {n}", "new_string": f"line {n}"},
            None,
            error="No changes to make: old_string and new_string are exactly the same.",
        )
    return s


@loop
def ci_over_long_ago() -> Session:
    s = Session(
        "ci-over-long-ago", "stop", "a CI run that is over, looked at every ten seconds", clock=1_762_200_000, gap=10
    )
    for _ in range(16):
        s.sh("gh run view 99 --json status,conclusion", '{"conclusion":"failure","status":"completed"}')
    return s


# -- a fourth round -----------------------------------------------------------------------------------------


@loop
def lists_of_sessions() -> Session:
    s = Session(
        "lists-of-sessions",
        "stop",
        "helpers listed again and again while none runs; times of asking differ",
        clock=1_764_000_000,
        gap=3,
    )
    for n in range(30):
        s.call(
            "sessions_list",
            {"kinds": ["subagent"], "activeMinutes": 60},
            json.dumps({"count": 0, "sessions": [], "now": 1764000000 + 3 * n}),
        )
    return s


@loop
def search_replace_nothing() -> Session:
    s = Session(
        "search-replace-nothing",
        "stop",
        "a replacement over files that matches nothing, other patterns each time, each a success",
    )
    for n in range(24):
        s.call(
            "search_and_replace",
            {"path": "src", "search": f"oldName{n % 6}", "replace": "newName"},
            "Replaced 0 occurrences in 0 files",
        )
    return s


@loop
def apt_without_rights() -> Session:
    s = Session("apt-without-rights", "stop", "packages installed without the right to, one after the other")
    for n in range(14):
        s.sh(
            f"apt-get install -y {['jq', 'curl', 'gcc', 'make', 'git', 'tree', 'vim'][n % 7]}",
            "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\nE: Unable to acquire the dpkg frontend lock, are you root?",
            100,
        )
    return s


@loop
def summary_written_again() -> Session:
    s = Session(
        "summary-written-again", "stop", "the work is done; a closing summary is handed in over and over in other words"
    )
    words = "all requested changes were implemented tests pass documentation updated nothing remains open everything verified final summary complete".split()
    r = rng("summary")
    for _ in range(30):
        s.call(
            "attempt_completion",
            {"result": " ".join(r.sample(words, 13)).capitalize() + "."},
            "The user has not answered yet.",
        )
    return s


@loop
def open_and_close() -> Session:
    s = Session("open-and-close", "stop", "a dialog opened and closed, opened and closed")
    for n in range(26):
        s.call(
            "browser_click",
            {"element": "Settings", "ref": "e5"} if n % 2 == 0 else {"element": "Close", "ref": "e8"},
            '- dialog "Settings"\n- button "Close"' if n % 2 == 0 else '- button "Settings"\n- text: Welcome',
        )
    return s


@loop
def notebook_restarts() -> Session:
    s = Session("notebook-restarts", "stop", "a kernel restarted, all cells run, the same cell fails, restarted")
    for n in range(10):
        s.call("restart_kernel", {"notebook": "a.ipynb"}, "Kernel restarted.")
        s.call("run_all_cells", {"notebook": "a.ipynb"}, f"Cell [{n + 1}] failed\nKeyError: 'price'")
    return s


@loop
def dns_over_and_over() -> Session:
    s = Session("dns-over-and-over", "stop", "pages of ever other hosts, none of which resolves")
    for n in range(16):
        s.sh(
            f"curl -sS https://host{n}.internal.example/api",
            f"curl: (6) Could not resolve host: host{n}.internal.example",
            6,
        )
    return s


@loop
def mkdir_again() -> Session:
    s = Session("mkdir-again", "stop", "a directory made that is there, listed, made again")
    for _ in range(14):
        s.sh("mkdir -p out/reports", "")
        s.sh("ls out", "reports")
    return s


@loop
def questions_to_a_page() -> Session:
    s = Session("questions-to-a-page", "stop", "one page asked ever other questions, which it does not answer")
    r = rng("questions")
    words = (
        "what exact release date pricing plan enterprise tier discount annual licence seats minimum contract".split()
    )
    for _ in range(24):
        s.call(
            "web_fetch",
            {"url": "https://vendor.example/pricing", "prompt": " ".join(r.sample(words, 7))},
            "The page does not contain this information. It only shows a contact form for sales enquiries and a phone number for callers from abroad.",
        )
    return s


@loop
def half_a_plan() -> Session:
    s = Session(
        "half-a-plan",
        "stop",
        "one item of a plan set to in progress, to pending, to in progress",
        clock=1_764_100_000,
        gap=5,
    )
    for n in range(30):
        s.call(
            "plan_update", {"step": 3, "status": "in_progress" if n % 2 else "pending"}, f"Plan updated. 2 of 6 done."
        )
    return s


@loop
def twins_in_one_step() -> Session:
    s = Session("twins-in-one-step", "stop", "one response that orders the very same test run forty times")
    for n in range(40):
        s.sh("mvn -q test", "[ERROR] Tests run: 8, Failures: 1", 1, parallel=n > 0)
    return s


# -- a fifth round ------------------------------------------------------------------------------------------


@loop
def review_before_finish() -> Session:
    s = Session(
        "review-before-finish",
        "stop",
        "the end is announced again and again, and turned down for one and the same reason",
    )
    for n in range(12):
        s.call(
            "finish",
            {"summary": f"Everything is done, version {n}"},
            "You must run the review tool before you can finish.",
        )
    return s


@loop
def busy_signal() -> Session:
    s = Session("busy-signal", "stop", "a service that is busy is asked other things at once")
    for n in range(18):
        s.call(
            "translate",
            {"text": f"sentence number {n}", "to": "fr"},
            "The service is busy. Please try again in 30 seconds.",
        )
    return s


@loop
def report_of_a_helper() -> Session:
    s = Session("report-of-a-helper", "stop", "the long report of a helper that is done, fetched again and again")
    for _ in range(16):
        s.call(
            "TaskOutput",
            {"task_id": "t5"},
            "Report of the helper: " + "the loader has three call sites, two tests and no owner. " * 6,
        )
    return s


@loop
def formatter_undoes() -> Session:
    s = Session("formatter-undoes", "stop", "an edit that a formatter takes back each time; the file looks as before")
    for _ in range(14):
        s.call(
            "Edit",
            {"file_path": "m.go", "old_string": "a  := 1", "new_string": "a:=1"},
            "The file m.go has been updated.",
        )
        s.call("Read", {"file_path": "m.go"}, "1\tpackage m\n2\ta  := 1")
    return s


@loop
def memory_questions() -> Session:
    s = Session("memory-questions", "stop", "a memory that is empty asked in ever other words")
    words = "project deadline customer preference budget colour meeting owner release branch license contact".split()
    for n in range(24):
        s.call(
            "mcp__memory__search_nodes",
            {"query": f"what is the {words[n % 12]} of the {words[(n * 5 + 1) % 12]}"},
            json.dumps({"entities": [], "relations": []}),
        )
    return s


@loop
def pwd_and_ls() -> Session:
    s = Session("pwd-and-ls", "stop", "where am I, what is here, where am I")
    for n in range(20):
        s.sh(["pwd", "ls", "whoami", "ls -a"][n % 4], ["/work", "a b c", "dev", ". .. a b c"][n % 4])
    return s


@loop
def reaction_again() -> Session:
    s = Session("reaction-again", "stop", "the same reaction added to the same message")
    for n in range(15):
        s.call("add_reaction", {"message": "m-1", "emoji": "eyes"}, json.dumps({"ok": True, "ts": 1765000000.1 + n}))
    return s


@loop
def two_wrong_branches() -> Session:
    s = Session("two-wrong-branches", "stop", "two branches that do not exist checked out by turns")
    for n in range(16):
        name = ["main", "master"][n % 2]
        s.sh(f"git checkout {name}", f"error: pathspec '{name}' did not match any file(s) known to git", 1)
    return s


@loop
def long_poll_of_the_dead() -> Session:
    s = Session(
        "long-poll-of-the-dead", "stop", "a session that is gone is read again and again", clock=1_766_000_000, gap=10
    )
    for _ in range(14):
        s.call("read_process", {"session": "calm-lake"}, "No active session calm-lake")
    return s


@loop
def same_branch_names() -> Session:
    s = Session("make-the-branch", "stop", "a branch made that exists, with other names now and then")
    for n in range(18):
        s.sh(
            f"git checkout -b feature/{['login', 'log-in', 'login2'][n % 3]}",
            f"fatal: a branch named 'feature/{['login', 'log-in', 'login2'][n % 3]}' already exists",
            128,
        )
    return s


# -- a sixth round ------------------------------------------------------------------------------------------


@loop
def asserting_a_name() -> Session:
    s = Session("asserting-a-name", "stop", "a class name that nobody gave looked for in ever other spellings")
    file = "src/Titlebar.tsx"
    ways = [
        (f"grep -c 'titlebar-left' {file}", "0", 1),
        (f'grep -n "titlebar-left" {file} | head', "", 0),
        (f'test -n "$(grep titlebar-left {file})" || echo MISSING', "MISSING", 0),
        (f"cat {file}", '<div className="tb-left">\n  <Toggle />\n</div>', 0),
        (f"rg titlebar-left {file} && echo yes || echo no", "no", 0),
        (f"awk '/titlebar-left/' {file} | wc -l", "0", 0),
    ]
    for n in range(48):
        command, answer, code = ways[n * 5 % 6 if n % 7 else n % 6]
        s.sh(command, answer, code)
    return s


@loop
def malformed_envelope() -> Session:
    s = Session("malformed-envelope", "stop", "a gateway tool called with its arguments one level too deep")
    for n in range(28):
        s.call(
            "tool_call",
            {"arguments": {"args": ["--help", "help", "list"][n % 3], "name": f"mcp__gw__{'ab'[n % 2]}"}},
            json.dumps({"error": "tool_call requires a 'name' argument"}),
        )
    return s


@loop
def search_and_get() -> Session:
    s = Session(
        "search-and-get", "stop", "a memory searched and read by turns in one heartbeat", clock=1_768_000_000, gap=2
    )
    for _ in range(18):
        s.call("memory_search", {"query": "open tasks"}, json.dumps({"hits": [{"path": "MEMORY.md", "line": 4}]}))
        s.call("memory_get", {"path": "MEMORY.md", "from": 4}, "- water the plants\n- call the bank")
    return s


@loop
def one_person_everywhere() -> Session:
    s = Session("one-person-everywhere", "stop", "a person that does not exist looked up by every tool there is, again")
    tools = ["get_user", "find_account", "lookup_contact", "search_members", "crm_get_person", "directory_search"]
    for n in range(42):
        key = ["id", "q", "email", "name"][n // 6 % 4]
        value = ["u-81f", "u81f", "U-81F", "ana@example.org", "Ana B", "ana b", "a.b"][n // 6]
        s.call(tools[n % 6], {key: value}, json.dumps({"user": None}))
    return s


@loop
def five_in_a_circle() -> Session:
    s = Session("five-in-a-circle", "stop", "read, failing edit, other read, failing test, status, and again")
    for _ in range(8):
        s.call("read_file", {"path": "a.rs"}, "fn a() { b(); }")
        s.call(
            "edit_file",
            {"path": "a.rs", "old": "fn a() {b();}", "new": "fn a() { c(); }"},
            None,
            error="old text not found in a.rs",
        )
        s.call("read_file", {"path": "b.rs"}, "pub fn b() {}")
        s.sh("cargo test -q", "test t ... FAILED\nassertion failed: a() == 1", 101)
        s.sh("git status --short", " M b.rs")
    return s


@loop
def directory_in_powershell() -> Session:
    s = Session("directory-in-powershell", "stop", "one folder listed by every command of a shell of Windows")
    ways = [
        "Get-ChildItem D:\\Agents",
        "Get-ChildItem -Path D:\\Agents -Force",
        "dir D:\\Agents",
        "Get-ChildItem D:\\Agents | Format-Table",
        "ls D:\\Agents",
    ]
    listing = "Mode  LastWriteTime        Length Name\nd---- 4/19/2026 9:07 AM         main\nd---- 4/19/2026 9:07 AM         work"
    for n in range(30):
        s.call("powershell", {"command": ways[n % 5]}, listing)
    return s


@loop
def versions_by_turns() -> Session:
    s = Session("versions-by-turns", "stop", "two versions of a package installed by turns, each fails in its own way")
    for n in range(20):
        s.sh(f"npm install left@{1 + n % 2}", f"added 1 package in {n % 4 + 1}s")
        s.sh("npm test", ["TypeError: left is not a function", "Error: Cannot find module 'left/pad'"][n % 2], 1)
    return s


@loop
def nobody_answers() -> Session:
    s = Session("nobody-answers", "stop", "a question asked of somebody who is not there")
    for n in range(18):
        s.call(
            "ask_user",
            {"question": ["Shall I go on?", "May I go on with the next part?", "Do you want me to go on?"][n % 3]},
            "(no answer)",
        )
    return s


@loop
def page_ignored() -> Session:
    s = Session("page-ignored", "stop", "an interface that pays no heed to the page that is asked for")
    rows = json.dumps([{"id": k, "name": f"item {k * 13 % 37}"} for k in range(20)])
    for n in range(24):
        s.call("list_items", {"page": n + 1}, rows)
    return s


@loop
def drawing_lots() -> Session:
    s = Session("drawing-lots", "stop", "one random name after the other, none is used")
    r = rng("lots")
    for _ in range(48):
        s.sh("uuidgen", "-".join(f"{r.getrandbits(w * 4):0{w}x}" for w in (8, 4, 4, 4, 12)))
    return s


@loop
def player_stays_paused() -> Session:
    s = Session("player-stays-paused", "stop", "a player told to play and asked whether it plays")
    for n in range(16):
        s.call("player_play", {"track": "t-9"}, json.dumps({"ok": True, "request": f"r{n * 7919}"}))
        s.call("player_state", {}, json.dumps({"state": "paused", "track": None}))
    return s


@loop
def crash_loop() -> Session:
    s = Session(
        "crash-loop", "stop", "a pod that crashes and a manifest applied that is unchanged", clock=1_768_100_000, gap=8
    )
    for n in range(18):
        s.sh("kubectl apply -f pod.yaml", "pod/api unchanged")
        s.sh("kubectl get pod api", f"NAME READY STATUS RESTARTS AGE\napi 0/1 CrashLoopBackOff {4 + n // 3} {10 + n}m")
    return s


@loop
def screen_stays() -> Session:
    s = Session(
        "screen-stays", "stop", "a picture of the screen, a short wait, the same picture", clock=1_768_200_000, gap=2
    )
    picture = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 40}}]
    for _ in range(20):
        s.call("computer", {"action": "screenshot"}, picture)
        s.call("computer", {"action": "wait", "duration": 1}, "waited", took=1)
    return s


@loop
def same_failure_after_edits() -> Session:
    s = Session("same-failure-after-edits", "stop", "one line edited sixty times in ever the same few ways")
    forms = ["x = int(v)", "x = int(v or 0)", "x = int(str(v))", "x = v"]
    for n in range(60):
        s.call(
            "Edit",
            {"file_path": "p.py", "old_string": forms[n % 4], "new_string": forms[(n + 1) % 4]},
            "The file p.py has been updated.",
        )
        s.sh("pytest -q t.py", "E   ValueError: invalid literal for int()\n1 failed in 0.2s", 1)
    return s


@loop
def past_the_end() -> Session:
    s = Session("past-the-end", "stop", "a file read further and further behind its end")
    for n in range(40):
        s.call(
            "Read",
            {"file_path": "a.log", "offset": 1000 + n * 200, "limit": 200},
            f"Warning: the file exists but is shorter than the provided offset ({1000 + n * 200}). It has 412 lines.",
        )
    return s


@loop
def bytes_behind_the_end() -> Session:
    s = Session("bytes-behind-the-end", "stop", "ranges of a file that is not so long, each answered with nothing")
    for n in range(28):
        s.sh(f"sed -n '{900 + n * 50},{949 + n * 50}p' short.txt", "")
    return s


# -- a seventh round ----------------------------------------------------------------------------------------


@loop
def not_read_yet() -> Session:
    s = Session("not-read-yet", "stop", "an edit turned down because a formatter changes the file behind every reading")
    for n in range(14):
        s.call("Read", {"file_path": "/w/app.ts"}, "1\timport a from 'a'\n2\tconst x = 1;\n3\texport default x")
        s.call(
            "Edit",
            {"file_path": "/w/app.ts", "old_string": "const x = 1", "new_string": ["let x = 1", "var x = 1"][n % 2]},
            None,
            error="File has been modified since read, either by the user or by a linter. Read it again first.",
        )
    return s


@loop
def list_and_read() -> Session:
    s = Session("list-and-read", "stop", "a task list written down and one file read by turns")
    for n in range(18):
        s.call(
            "TodoWrite",
            {"todos": [{"content": "Read config", "status": ["pending", "in_progress"][n % 2]}]},
            "Todos have been modified successfully.",
        )
        s.call("Read", {"file_path": "/w/config.toml"}, "1\t[server]\n2\tport = 80")
    return s


@loop
def element_covered() -> Session:
    s = Session("element-covered", "stop", "a button that something covers clicked after every look at the page")
    for n in range(14):
        s.call(
            "browser_snapshot", {}, f"- page: Shop\n  - dialog [ref=e{n * 9 + 4}]\n  - button Buy [ref=e{n * 9 + 5}]"
        )
        s.call(
            "browser_click",
            {"element": "Buy", "ref": f"e{n * 9 + 5}"},
            None,
            error="TimeoutError: locator.click: Timeout 5000ms exceeded. <div class=overlay> intercepts pointer events",
            took=5,
        )
    return s


@loop
def library_names() -> Session:
    s = Session("library-names", "stop", "one library looked up in every spelling, always the same list")
    names = ["react router", "react-router", "reactrouter", "React Router", "react router dom", "react-router-dom"]
    found = "Available libraries:\n" + "\n".join(f"- /lib/{k}: routing for views, trust {k * 7 % 10}" for k in range(8))
    for n in range(20):
        s.call("mcp__docs__resolve-library-id", {"libraryName": names[n % 6]}, found)
    return s


@loop
def restart_and_health() -> Session:
    s = Session(
        "restart-and-health", "stop", "a container started anew, its log, its health", clock=1_769_000_000, gap=4
    )
    for n in range(12):
        s.sh("docker restart app", "app")
        s.sh(
            "docker logs app --tail 3",
            f"2026-01-21T13:{n:02d}:04Z boot\n2026-01-21T13:{n:02d}:05Z FATAL no such table: users",
        )
        s.sh(
            "curl -s -o /dev/null -w '%{http_code}' http://localhost:8080/health",
            "502",
        )
    return s


@loop
def admiring_the_result() -> Session:
    s = Session("admiring-the-result", "stop", "a report that is done looked at from all sides, again and again")
    for _ in range(10):
        s.sh("ls -la out/", "total 12\n-rw-r--r-- 1 a a 8123 Jan 21 13:00 report.md")
        s.sh("wc -l out/report.md", "120 out/report.md")
        s.sh("head -3 out/report.md", "# Report\n\nAll parts are done.")
        s.sh('echo "Task complete"', "Task complete")
    return s


@loop
def module_missing() -> Session:
    s = Session("module-missing", "stop", "ever other one-liners that import what is not installed")
    for n in range(24):
        s.sh(
            f'python -c "import fastgeo; print({["fastgeo.version", "fastgeo.load(1)", "dir(fastgeo)", "fastgeo.x"][n % 4]}, {n})"',
            'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
            "ModuleNotFoundError: No module named 'fastgeo'",
            1,
        )
    return s


@loop
def ways_to_install() -> Session:
    s = Session("ways-to-install", "stop", "a package that does not exist installed in every way")
    ways = [
        "pip install fastgeo",
        "pip3 install fastgeo",
        "python -m pip install --user fastgeo",
        "pip install --break-system-packages fastgeo",
        "pip install fastgeo==1.0",
        "pip install --no-cache-dir fastgeo",
    ]
    for n in range(24):
        s.sh(ways[n % 6], "ERROR: No matching distribution found for fastgeo", 1)
    return s


@loop
def searched_out() -> Session:
    s = Session("searched-out", "stop", "a search engine that gives nothing for a while, asked on without a pause")
    words = "tuning opening pricing history review manual driver colour weight release battery cable".split()
    for n in range(22):
        s.call(
            "web_search", {"query": f"device {words[n % 12]} {words[n * 5 % 12]} 2026"}, "Search failed: 202 Ratelimit"
        )
    return s


@loop
def are_you_done() -> Session:
    s = Session("are-you-done", "stop", "a helper asked every second whether it is done", clock=1_769_100_000, gap=1.5)
    for n in range(40):
        s.call(
            "message_agent",
            {"agent": "b", "text": ["Are you done?", "Done yet?", "Status please"][n % 3]},
            "b: not yet",
        )
    return s


@loop
def one_notebook_four_ways() -> Session:
    s = Session("one-notebook-four-ways", "stop", "one file shown by every program that can show it")
    text = '{"cells": [{"source": "x = 1"}, {"source": "print(x)"}]}'
    ways = [
        "cat nb.ipynb",
        "jq . nb.ipynb",
        "less nb.ipynb",
        "python -c \"print(open('nb.ipynb').read())\"",
        "head -99 nb.ipynb",
    ]
    for n in range(25):
        s.sh(ways[n * 3 % 5], text)
    return s


@loop
def stash_and_pop() -> Session:
    s = Session("stash-and-pop", "stop", "work put away and taken back, the test fails both ways")
    for _ in range(10):
        s.sh("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 x")
        s.sh("pytest -q tests/t.py", "1 failed, 3 passed in 0.41s", 1)
        s.sh(
            "git stash pop", "On branch main\nChanges not staged for commit:\n\tmodified: a.py\nDropped refs/stash@{0}"
        )
        s.sh("pytest -q tests/t.py", "2 failed, 2 passed in 0.44s", 1)
    return s


@loop
def looking_at_tables() -> Session:
    s = Session("looking-at-tables", "stop", "tables, columns and an empty count by turns")
    for n in range(33):
        s.call(
            "run_query",
            {"sql": ["SELECT count(*) FROM t", "SHOW TABLES", "DESCRIBE t"][n % 3]},
            json.dumps([[{"count": 0}], [{"name": "t"}], [{"column": "id", "type": "int"}]][n % 3]),
        )
    return s


@loop
def searching_the_disk() -> Session:
    s = Session(
        "searching-the-disk", "stop", "the whole disk searched, timed out each time", clock=1_769_200_000, gap=3
    )
    for n in range(16):
        s.sh(
            f"find {['/', '/usr', '/home', '/ -xdev'][n % 4]} -name 'geo*.so' 2>/dev/null",
            "Command timed out after 120 seconds",
            124,
            took=120,
        )
    return s


# -- an eighth round: told in few words, as reports tell it --------------------------------------------------


@loop
def write_and_hash() -> Session:
    s = Session("write-and-hash", "stop", "the same three contents written and hashed by turns")
    for n in range(24):
        s.call("write_file", {"path": "x.txt", "content": f"v{n % 3}"}, "ok")
        s.sh("sha256sum x.txt", f"{'abc'[n % 3] * 8}0f x.txt")
    return s


@loop
def details_of_one_user() -> Session:
    s = Session("details-of-one-user", "stop", "the details of one user asked between other questions")
    for n in range(40):
        if n % 2:
            s.call("get_user_details", {"id": 7}, {"id": 7, "plan": "pro"})
        else:
            s.call("get_case", {"id": 100 + n}, {"id": 100 + n, "text": f"case {n}"})
    return s


@loop
def history_again() -> Session:
    s = Session("history-again", "stop", "what happened lately read fifteen times")
    for _ in range(15):
        s.call("read_file", {"path": "history.jsonl", "limit": 50, "offset": 1}, "h1\nh2\nh3")
    return s


@loop
def commit_and_status() -> Session:
    s = Session("commit-and-status", "stop", "add, commit, status, again although all is committed")
    for _ in range(10):
        s.sh("git add -A", "")
        s.sh("git commit -m 'phase 2'", "nothing to commit, working tree clean", 1)
        s.sh("git status", "On branch main\nnothing to commit, working tree clean")
    return s


@loop
def wrong_jq() -> Session:
    s = Session("wrong-jq", "stop", "a state asked for with an expression that is wrong", clock=1_770_400_000, gap=2)
    for _ in range(20):
        s.sh(
            "sleep 20; gh pr view 3 --json state --jq '.state|tostring + .x'",
            "expected an object but got: number",
            1,
            took=21,
        )
    return s


@loop
def helper_resumed() -> Session:
    s = Session("helper-resumed", "stop", "a helper that ended at once, started with the same words")
    for n in range(14):
        s.call("spawn_agent", {"prompt": "Fix the login test"}, "Agent finished: no changes were made.")
        s.call("read", {"path": "result.md"}, "no changes")
    return s


@loop
def brute_identifier() -> Session:
    s = Session("brute-identifier", "stop", "an identifier guessed, none is there")
    for n in range(40):
        s.call("get_record", {"id": f"R-{1000 + n}"}, None, error="record not found")
    return s


@loop
def same_edit_three_tools() -> Session:
    s = Session("same-edit-three-tools", "stop", "one replacement tried with three tools, each says it is not there")
    for n in range(18):
        if n % 3 == 0:
            s.call("edit", {"path": "a.c", "old": "int  x", "new": "long x"}, None, error="String not found in a.c")
        elif n % 3 == 1:
            s.sh("sed -i 's/int  x/long x/' a.c && grep -c 'long x' a.c", "0", 1)
        else:
            s.call("apply_patch", {"patch": "-int  x\n+long x"}, None, error="Hunk #1 FAILED: context not found in a.c")
    return s


@loop
def empty_shell() -> Session:
    s = Session("empty-shell", "stop", "a command without words run again and again")
    for _ in range(14):
        s.call("bash", {"command": ""}, "")
    return s


@loop
def reload() -> Session:
    s = Session("reload", "stop", "a page loaded anew and looked at: nothing on it")
    for _ in range(16):
        s.call("page_reload", {}, "reloaded")
        s.call("page_text", {}, "Loading…")
    return s


# -- a ninth round ------------------------------------------------------------------------------------------


@loop
def steering_the_gone() -> Session:
    s = Session("steering-the-gone", "stop", "a helper that is done told what to do, stopped, told again")
    for n in range(20):
        s.call(
            "delegate_task",
            {"action": ["steer", "stop", "steer"][n % 3], "subagent_id": f"sa-0-{n % 2}"},
            json.dumps({"error": f"No live subagent 'sa-0-{n % 2}'. It may have finished."}),
        )
    return s


@loop
def no_such_subcommand() -> Session:
    s = Session(
        "no-such-subcommand", "stop", "a sub-command that does not exist, for half an hour", clock=1_771_000_000, gap=11
    )
    for n in range(40):
        s.sh("rtk lint", f"error: unrecognized subcommand 'lint'\n  tip: see 'rtk --help' ({n})", 2)
    return s


@loop
def improvising() -> Session:
    s = Session("improvising", "stop", "ever other commands that all fail for the one disk that is full")
    ways = [
        "npm ci",
        "npm install",
        "yarn",
        "npm cache clean --force",
        "pnpm i",
        "npm rebuild",
        "npx tsc",
        "npm run build",
    ]
    for n in range(32):
        s.sh(ways[n * 3 % 8] + (" --verbose" if n > 15 else ""), "npm ERR! ENOSPC: no space left on device, write", 228)
    return s


@loop
def rebuffed_updates() -> Session:
    s = Session("rebuffed-updates", "stop", "a step marked as done that the board will not let be done")
    for n in range(18):
        s.call(
            "task_update",
            {"step": 2, "status": "done"},
            "Ignored: step 2 cannot be done before step 1." if n % 2 else "Ignored: step 1 is still open.",
        )
    return s


@loop
def weather_again() -> Session:
    s = Session("weather-again", "stop", "an answer that never reaches the model asked for to the cap")
    for _ in range(25):
        s.call(
            "get_weather",
            {},
            [{"type": "text", "text": '{"city": "San Francisco", "temp": 61.2, "observedAt": 1771000000}'}],
        )
    return s


@loop
def snippets_again() -> Session:
    s = Session("snippets-again", "stop", "the same large answer asked for in other words")
    text = "\n".join(f"resource r{k} 'Microsoft.Storage/x@2024' = {{ name: n{k * 7} }}" for k in range(200))
    for n in range(14):
        s.call(
            "best_practices_get",
            {
                "intent": ["show best practices", "get best practices for the sdk", "best practices code generation"][
                    n % 3
                ]
            },
            text,
        )
    return s


@loop
def zoom_in_and_out() -> Session:
    s = Session("zoom-in-and-out", "stop", "a picture made larger and smaller, nothing is seen in it")
    for n in range(36):
        s.call("zoom", {"image": "a.png", "factor": [2, 1][n % 2]}, ["zoomed 2x", "zoomed 1x"][n % 2])
    return s


@loop
def queue_of_nothing() -> Session:
    s = Session(
        "queue-of-nothing", "stop", "work taken from a queue in which there is none", clock=1_771_100_000, gap=1
    )
    for _ in range(30):
        s.call("claim_next_task", {"worker": "w1"}, {"task": None})
    return s


@loop
def oversized_read() -> Session:
    s = Session(
        "oversized-read",
        "stop",
        "Explore agent reads a 41k-token file over and over with small changes of nothing; always the size error",
    )
    for i in range(14):
        s.call(
            "Read",
            {"file_path": "/repo/docs/spec.md"} if i % 2 else {"file_path": "/repo/docs/spec.md", "pages": ""},
            None,
            error="Error: File content (41,233 tokens) exceeds maximum allowed tokens (25000). Please use offset and limit parameters.",
        )
    return s


@loop
def already_fixed_edit() -> Session:
    s = Session(
        "already-fixed-edit",
        "stop",
        "same edit already applied; the tool says 0 occurrences, agent changes whitespace of old_string each time",
        clock=1_772_000_000,
    )
    for i in range(12):
        s.call(
            "edit",
            {"file_path": "Finder.tsx", "old_string": "const a = 1;" + " " * i, "new_string": "const a = useMemo(1);"},
            None,
            error="Failed to edit, 0 occurrences found for old_string in Finder.tsx. No edits made.",
            code="EDIT_FAILED",
            gap=6,
        )
    return s


@loop
def new_tab_click() -> Session:
    s = Session(
        "new-tab-click",
        "stop",
        "link opens in a new tab, agent believes nothing happened and clicks again",
        clock=1_772_000_000,
    )
    for i in range(16):
        s.call("click_element_by_index", {"index": 60}, "Clicked element 60: <a target=_blank>Apply</a>", gap=4)
        if i % 3 == 0:
            s.call("get_browser_state", {}, {"url": "https://portal.example/list", "tabs": i + 2}, gap=2)
    return s


@loop
def empty_integrations() -> Session:
    s = Session("empty-integrations", "stop", "list_integration_resources returns [] for ever, filters vary slightly")
    for i in range(30):
        s.call(
            "list_integration_resources",
            {
                "integration": ["github", "gitlab", "github"][i % 3],
                "type": ["repository", "repo", "repositories", "project"][i % 4],
            },
            "[]",
        )
    return s


@loop
def git_commit_repeat() -> Session:
    s = Session("git-commit-repeat", "stop", "git add/commit again and again; nothing to commit", clock=1_772_000_000)
    for i in range(12):
        s.call(
            "bash",
            {"command": "git add -A && git commit -m 'feat: phase 2 done'", "description": f"Commit try {i}"},
            "On branch main\nnothing to commit, working tree clean",
            exit=1,
            gap=8,
        )
    return s


@loop
def ls_custom() -> Session:
    s = Session("ls-custom", "stop", "6 times ls, 5 times ls -la of one directory, then again", clock=1_772_000_000)
    for k in range(3):
        for i in range(6):
            s.call("bash", {"command": "ls /home/dev/.jupyter/custom/"}, "custom.css\ncustom.js", exit=0)
        for i in range(5):
            s.call(
                "bash",
                {"command": "ls -la /home/dev/.jupyter/custom/"},
                "total 16\ndrwxr-xr-x 2 dev dev 4096 Mar  1 10:00 .\n-rw-r--r-- 1 dev dev 120 Mar  1 10:00 custom.css\n-rw-r--r-- 1 dev dev 88 Mar  1 10:00 custom.js",
                exit=0,
            )
    return s


@loop
def history_jsonl() -> Session:
    s = Session("history-jsonl", "stop", "15 identical reads of history with the same offset and limit")
    for i in range(18):
        s.call(
            "read_file",
            {"path": "~/ws/memory/history.jsonl", "limit": 50, "offset": 1},
            '{"role":"user","text":"hi"}\n{"role":"assistant","text":"hello"}',
        )
    return s


@loop
def same_message_sent() -> Session:
    s = Session("same-message-sent", "stop", "sends the same Slack message again and again, each with a new ts")
    r = rng("same-message-sent")
    for i in range(15):
        s.call(
            "slack_post_message",
            {"channel": "C042", "text": "Deployment finished, please verify."},
            json.dumps({"ok": True, "ts": f"17{r.randrange(10**8, 10**9)}.{r.randrange(10**5, 10**6)}"}),
        )
    return s


@loop
def docker_up_port() -> Session:
    s = Session(
        "docker-up-port", "stop", "docker compose up fails on the port in use, alternates with ps and down, no edit"
    )
    for i in range(12):
        s.call(
            "bash",
            {"command": "docker compose up -d"},
            "Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:5432 failed: port is already allocated",
            exit=1,
        )
        s.call(
            "bash",
            {"command": "docker ps"},
            "CONTAINER ID   IMAGE     COMMAND   CREATED   STATUS    PORTS   NAMES",
            exit=0,
        )
        if i % 2:
            s.call("bash", {"command": "docker compose down"}, "", exit=0)
    return s


@loop
def cookie_reload() -> Session:
    s = Session(
        "cookie-reload",
        "stop",
        "cookie banner: each accept click reloads the page and the banner is there again",
        clock=1_772_000_000,
    )
    r = rng("cookie-reload")
    for i in range(14):
        s.call("browser_click_element", {"index": 3}, {"success": True, "message": "Clicked element 3"}, gap=5)
        s.call(
            "browser_get_state",
            {},
            {
                "url": "https://www.finn.example/",
                "elements": "[1]<a>Logg inn</a>\n[3]<button>Godta alle</button>",
                "request_id": f"req_{r.getrandbits(64):016x}",
            },
            gap=1,
        )
    return s


@loop
def sql_column_guess() -> Session:
    s = Session(
        "sql-column-guess",
        "stop",
        "guesses column names of one table, each time another undefined column, never looks at the schema",
    )
    cols = "name username user_name full_name fullname display_name login handle nick nickname email mail e_mail mail_address account acct title label caption key".split()
    for col in cols:
        s.call(
            "mcp__postgres__query",
            {"sql": f"SELECT id, {col} FROM customers LIMIT 10"},
            None,
            error=f'ERROR: column "{col}" does not exist\nLINE 1: SELECT id, {col} FROM customers',
        )
    return s


@loop
def think_only() -> Session:
    s = Session("think-only", "stop", "thinks and rewrites todo without doing anything")
    for i in range(36):
        if i % 3:
            s.call(
                "think",
                {"thought": f"I should consider approach {i} more carefully before I begin."},
                "Your thought has been logged.",
            )
        else:
            s.call(
                "TodoWrite",
                {"todos": [{"content": "Implement parser", "status": "in_progress", "id": str(i)}]},
                "Todos have been modified successfully.",
            )
    return s


@loop
def no_new_output() -> Session:
    s = Session(
        "no-new-output",
        "stop",
        "the log of a session that hangs, asked for 1 535 times in two hours",
        clock=1_771_000_000,
    )
    for n in range(90):
        s.call("process", {"action": "log", "sessionId": "brisk-otter"}, "(no new output)", gap=4.2, took=0.1)
    return s


@loop
def what_time_is_it() -> Session:
    s = Session(
        "what-time-is-it",
        "stop",
        "told to wait until five past eleven, it asks for the time until then",
        clock=1_771_000_000,
    )
    for n in range(40):
        s.call(
            "get_current_datetime", {"timezone": "UTC"}, f"2026-05-01T10:5{n // 12}:{n * 5 % 60:02}Z (Friday)", gap=2
        )
    return s


@loop
def reviews_of_a_pull() -> Session:
    s = Session("reviews-of-a-pull", "stop", "an empty list of reviews, 517 times in 46 minutes", clock=1_771_000_000)
    for n in range(60):
        s.sh(
            "cd ~/repo && gh api repos/o/r/pulls/71/reviews 2>&1",
            json.dumps({"output": "[]", "exit_code": 0, "error": None}),
            tool="terminal",
            gap=5,
        )
    return s


@loop
def ranges_in_turn() -> Session:
    s = Session("ranges-in-turn", "stop", "three ranges of a saved output read in turn, for ever")
    for n in range(45):
        o = (0, 200, 400)[n % 3]
        s.call(
            "read_file",
            {"path": "/outputs/run-7.txt", "offset": o, "limit": 200},
            f"rows {o} to {o + 199}: alpha beta gamma {o}",
        )
    return s


@loop
def there_and_back() -> Session:
    s = Session("there-and-back", "stop", "a change made and taken back, the test fails alike after each")
    for n in range(14):
        a, b = ("timeout=5", "timeout=10") if n % 2 == 0 else ("timeout=10", "timeout=5")
        s.call(
            "Edit",
            {"file_path": "/r/client.py", "old_string": a, "new_string": b},
            "The file /r/client.py has been updated.",
        )
        s.sh("pytest -q tests/test_client.py", "E   TimeoutError: no reply\n1 failed in 5.02s", 1)
    return s


@loop
def all_green_again() -> Session:
    s = Session(
        "all-green-again", "stop", "everything passes, and is checked again and again before it may be called done"
    )
    for n in range(14):
        s.sh("npm test", "Tests: 42 passed, 42 total\nTime: 3.1s", tool="run_shell_command")
        s.sh("npm run lint", "> lint\n> eslint .", tool="run_shell_command")
        s.sh("git status", "On branch main\nnothing to commit, working tree clean", tool="run_shell_command")
    return s


@loop
def same_batch() -> Session:
    s = Session("same-batch", "stop", "the same two queries side by side in every response")
    for n in range(14):
        s.call("query_metrics", {"q": "up{job='api'}"}, {"result": [{"value": "1"}]})
        s.call("query_metrics", {"q": "rate(http_errors[5m])"}, {"result": []}, parallel=True)
    return s


@loop
def report_once_more() -> Session:
    s = Session("report-once-more", "stop", "the same report is written in full again and again, word for word")
    for n in range(14):
        s.call(
            "write_file",
            {"path": "report.md", "content": "# Findings\n" + "All systems nominal. " * 40},
            "Wrote 852 bytes to report.md",
        )
        s.call("read_file", {"path": "report.md"}, "# Findings\n" + "All systems nominal. " * 40)
    return s


@loop
def other_words_same_hits() -> Session:
    s = Session("other-words-same-hits", "stop", "one question in ever other words, the same three hits")
    a = ["configure", "setup", "setting", "enable", "configuring", "set up", "how to configure", "howto set"]
    b = ["oauth redirect uri", "redirect uri oauth", "oauth2 redirect url", "redirect url for oauth"]
    for n in range(28):
        s.call(
            "web_search",
            {"query": f"{a[n % 8]} {b[n // 8]} keycloak"},
            "1. Keycloak docs: Securing apps https://kc.example/docs\n2. Forum: redirect URI mismatch https://f.example/12\n3. Blog: OAuth with Keycloak https://b.example/kc",
        )
    return s


@loop
def tools_that_are_not_there() -> Session:
    s = Session("tools-that-are-not-there", "stop", "names of tools guessed, none of them exists")
    for n, name in enumerate(
        "search_files find_files grep_files file_search search_code code_search find_in_files grep search ripgrep rg find_text text_search".split()
        * 2
    ):
        s.call(
            name,
            {"query": "parseConfig", "path": "."},
            f"Error: No such tool available: {name}",
            error=f"No such tool available: {name}",
        )
    return s


@loop
def token_expired() -> Session:
    s = Session("token-expired", "stop", "every endpoint tried although the token expired", clock=1_771_000_000)
    for n, e in enumerate(
        [
            "users",
            "users/me",
            "account",
            "v2/users",
            "teams",
            "projects",
            "projects/1",
            "issues",
            "search?q=a",
            "v2/me",
            "profile",
            "v1/status",
            "billing",
            "orgs",
        ]
    ):
        s.call(
            "http_request",
            {"method": "GET", "url": f"https://api.tracker.example/{e}"},
            json.dumps({"statusCode": 401, "body": {"error": "token_expired", "message": "The access token expired"}}),
            gap=2,
        )
    return s


@loop
def same_errand() -> Session:
    s = Session(
        "same-errand",
        "stop",
        "one subagent after the other is sent on the same errand and comes back with the same words",
    )
    for n in range(16):
        s.call(
            "Task",
            {
                "subagent_type": "explore",
                "description": "Find config",
                "prompt": "Find where the retry policy is configured.",
            },
            "The retry policy is configured in src/http/retry.ts at line 14.",
        )
    return s


@loop
def load_more_of_nothing() -> Session:
    s = Session(
        "load-more-of-nothing",
        "stop",
        "a button that loads nothing more, clicked after every look",
        clock=1_771_000_000,
    )
    for n in range(20):
        s.call(
            "browser_click",
            {"element": "Load more button", "ref": f"e{30 + n}"},
            "### Page state\n- Page URL: https://shop.example/all\n- 24 products",
            gap=3,
        )
        s.call(
            "browser_snapshot",
            {},
            "### Page state\n- Page URL: https://shop.example/all\n- list: 24 products\n- button 'Load more'",
            gap=1,
        )
    return s


@loop
def five_in_turn() -> Session:
    s = Session("five-in-turn", "stop", "five lookups in turn, the same answers each round")
    for n in range(60):
        s.call(["lookup", "fetch_doc", "search", "get_info", "describe"][n % 5], {"id": n % 5}, f"same {n % 5}")
    return s


@loop
def ever_more_lines() -> Session:
    s = Session("ever-more-lines", "stop", "the head of a file of six lines, with ever more lines asked for")
    text = "\n".join(f"line {k} of the note" for k in "abcdef")
    for n in range(24):
        s.sh(f"head -n {20 + n * 10} notes.txt", text)
    return s


@loop
def cat_in_all_ways() -> Session:
    s = Session("cat-in-all-ways", "stop", "one file shown in all the ways a shell knows, over and over")
    text = "PORT=8080\nHOST=localhost\nDEBUG=1"
    ways = [
        "cat .env",
        "less .env",
        "sed -n '1,20p' .env",
        "head -100 .env",
        "cat ./.env",
        "awk '{print}' .env",
        "nl .env",
        "cat .env | head -50",
    ]
    for n in range(32):
        s.sh(ways[n % 8], text)
    return s


@loop
def cache_busting() -> Session:
    s = Session(
        "cache-busting", "stop", "one page fetched again and again with a number against caches", clock=1_771_000_000
    )
    for n in range(20):
        s.sh(
            f"curl -s 'https://status.example/api/summary?_={1771000000 + n * 4}'",
            '{"page":"Example","status":"degraded","incidents":[]}',
            gap=4,
        )
    return s


@loop
def i_am_finished() -> Session:
    s = Session("i-am-finished", "stop", "it says in a shell that it is done, and cannot stop")
    says = [
        "Task complete",
        "All done",
        "Finished successfully",
        "The task has been completed",
        "Done",
        "Work is complete",
    ]
    for n in range(24):
        s.sh(f'echo "{says[n % 6]}"', says[n % 6])
    return s


@loop
def issues_past_the_last() -> Session:
    s = Session("issues-past-the-last", "stop", "pages turned long after the last one")
    for n in range(50):
        s.call(
            "list_issues",
            {"repo": "o/r", "page": n + 1, "per_page": 50},
            [{"number": 900 - n * 50 - k, "title": f"bug {n * 3 + k}"} for k in range(3)] if n < 4 else [],
        )
    return s


@loop
def one_file_many_paths() -> Session:
    s = Session("one-file-many-paths", "stop", "one file by three spellings of its path")
    for n in range(24):
        s.call(
            "read_file",
            {"path": ["src/app.ts", "./src/app.ts", "/repo/src/app.ts"][n % 3]},
            "export const app = createApp();\napp.listen(3000);",
        )
    return s


@loop
def spinner_for_ever() -> Session:
    s = Session(
        "spinner-for-ever",
        "stop",
        "a page that loads for ever, waited for and looked at every few seconds",
        clock=1_771_000_000,
    )
    for n in range(50):
        s.call("browser_wait", {"seconds": 2}, "Waited 2 seconds", took=2, gap=1)
        s.call("browser_snapshot", {}, "- generic: Loading...", gap=1)
    return s


@loop
def pull_push() -> Session:
    s = Session("pull-push", "stop", "a push that is rejected, a pull that brings nothing, a push")
    for n in range(12):
        s.sh(
            "git push origin main",
            " ! [remote rejected] main -> main (protected branch hook declined)\nerror: failed to push some refs to 'github.com:o/r.git'",
            1,
        )
        s.sh("git pull --rebase origin main", "Already up to date.")
    return s


@loop
def reminders_without_end() -> Session:
    s = Session("reminders-without-end", "stop", "the same reminder set again and again, each time with a new number")
    r = rng("remind")
    for n in range(24):
        s.call(
            "cron_add",
            {"schedule": "0 9 * * *", "message": "Check the build"},
            {"ok": True, "jobId": f"{hexes(r, 8)}-{hexes(r, 4)}"},
        )
        s.call("cron_list", {}, {"jobs": [{"schedule": "0 9 * * *", "message": "Check the build"}] * 3})
    return s


@loop
def clean_build() -> Session:
    s = Session(
        "clean-build", "stop", "cleaned and built anew without a change, the same error each time", clock=1_771_000_000
    )
    for n in range(12):
        s.sh("rm -rf build && mkdir build", "")
        s.sh(
            "cmake -B build && cmake --build build -j8",
            "src/net.cpp:88:10: fatal error: openssl/ssl.h: No such file or directory\nninja: build stopped: subcommand failed.",
            1,
            took=20,
        )
    return s


@loop
def kill_and_serve() -> Session:
    s = Session("kill-and-serve", "stop", "a server killed and started, the port stays in use")
    for n in range(12):
        s.sh("pkill -f 'node server.js' || true", "")
        s.sh(
            "node server.js",
            "Error: listen EADDRINUSE: address already in use :::3000\n    at Server.setupListenHandle",
            1,
        )
        s.sh("lsof -i :3000", "COMMAND PID USER\nnode 4711 root")
    return s


@loop
def broken_json() -> Session:
    s = Session("broken-json", "stop", "arguments that are no JSON, broken in another place each time")
    for n in range(16):
        s.call(
            "write_file",
            '{"path": "a.json", "content": "' + "x" * n,
            "InputValidationError: could not parse tool arguments as JSON: unexpected end of input",
            error="could not parse tool arguments as JSON",
            code="INVALID_ARGUMENTS",
        )
    return s


@loop
def is_the_report_done() -> Session:
    s = Session(
        "is-the-report-done", "stop", "another agent asked whether it is done, every two seconds", clock=1_771_000_000
    )
    asks = ["Are you done yet?", "Any progress on the report?", "Is the report done?", "How is the report coming?"]
    for n in range(80):
        s.call("send_message", {"to": "writer", "text": asks[n % 4]}, "writer: I am working on it.", gap=2)
    return s


@loop
def same_hits_in_one_file() -> Session:
    s = Session("same-hits-in-one-file", "stop", "one line looked for with patterns that all find it")
    pats = [
        "retry",
        "retries",
        "max_retry",
        "retry.*=",
        "'retry'",
        "RETRY",
        "retr",
        "max_retries",
        "retry_",
        "_retries",
    ]
    for n in range(30):
        s.sh(f"grep -in {pats[n % 10]} config.py", "14:max_retries = 3  # retry limit")
    return s


@loop
def no_cache_builds() -> Session:
    s = Session("no-cache-builds", "stop", "an image built with all options there are, npm finds no network")
    flags = [
        "",
        "--no-cache ",
        "--pull ",
        "--progress=plain ",
        "--no-cache --pull ",
        "--network=host ",
        "--no-cache --progress=plain ",
    ]
    for n in range(16):
        s.sh(
            f"docker build {flags[n % 7]}-t app .",
            " > [4/6] RUN npm ci:\nnpm error code EAI_AGAIN\nnpm error request to https://registry.npmjs.org failed, reason: getaddrinfo EAI_AGAIN\nERROR: failed to solve: exit code: 1",
            1,
        )
    return s


@loop
def one_goal_left() -> Session:
    s = Session("one-goal-left", "stop", "the same tactic sent to a proof assistant, the same goal stays")
    for n in range(20):
        s.call("lean_apply", {"tactic": "simp [Nat.add_comm]"}, "error: simp made no progress\n⊢ a + b = b + a + 0")
    return s


@loop
def plan_and_plan() -> Session:
    s = Session(
        "plan-and-plan",
        "stop",
        "terraform plans the same change again and again, nothing is applied",
        clock=1_771_000_000,
    )
    for n in range(16):
        s.sh(
            "terraform plan -no-color",
            "aws_instance.web: Refreshing state... [id=i-0abc123]\n  # aws_instance.web will be updated in-place\nPlan: 0 to add, 1 to change, 0 to destroy.",
            took=8,
        )
    return s


@loop
def who_said_what() -> Session:
    s = Session("who-said-what", "stop", "two agents thank each other without end", clock=1_771_000_000)
    says = ["Thank you!", "You're welcome!", "Great working with you!", "Likewise, thanks!"]
    for n in range(48):
        s.call("send_message", {"to": "planner", "text": says[n % 4]}, "Message delivered.", gap=3)
    return s


@loop
def memory_of_nothing() -> Session:
    s = Session(
        "memory-of-nothing", "stop", "its memory searched for a preference that was never stored, in ever other words"
    )
    a = ["user preference", "preferred", "user likes", "favourite", "settings of the user"]
    b = ["colour theme", "theme", "dark mode", "editor theme", "ui appearance"]
    for n in range(25):
        s.call("memory_search", {"query": f"{a[n // 5]} {b[n % 5]}"}, {"results": [], "count": 0})
    return s


@loop
def relay_on_off() -> Session:
    s = Session("relay-on-off", "stop", "a lamp switched on that is reported off after each try", clock=1_771_000_000)
    for n in range(18):
        s.call("call_service", {"domain": "light", "service": "turn_on", "entity_id": "light.hall"}, [], gap=3)
        s.call(
            "get_state", {"entity_id": "light.hall"}, {"state": "off", "last_changed": "2026-02-13T07:00:00Z"}, gap=2
        )
    return s


@loop
def same_submission() -> Session:
    s = Session("same-submission", "stop", "one answer handed in again and again, each time it is wrong")
    for n in range(14):
        s.call("submit_answer", {"answer": "42"}, "Incorrect. Try again.")
    return s


@loop
def install_what_is_there() -> Session:
    s = Session("install-what-is-there", "stop", "a package that is there installed again, the import fails as before")
    for n in range(12):
        s.sh(
            [
                "pip install pillow",
                "pip3 install pillow",
                "python -m pip install pillow",
                "pip install --upgrade pillow",
            ][n % 4],
            "Requirement already satisfied: pillow in /usr/lib/python3/site-packages (10.2.0)",
        )
        s.sh(
            "python main.py",
            "Traceback (most recent call last):\n  File \"main.py\", line 1, in <module>\n    import PIL\nModuleNotFoundError: No module named 'PIL'",
            1,
        )
    return s


@loop
def context_refresh() -> Session:
    s = Session(
        "context-refresh",
        "stop",
        "it reads its instructions and the listing again before every thought, and does nothing",
    )
    for n in range(15):
        s.call("read_file", {"path": "AGENTS.md"}, "Rules of this repository: keep it simple.")
        s.call("list_directory", {"path": "."}, "src\ntests\nAGENTS.md")
        s.call("think", {"thought": f"Let me plan the next step number {n}."}, "ok")
    return s


@loop
def undo_redo() -> Session:
    s = Session("undo-redo", "stop", "an edit undone and redone in a drawing, the picture does not change")
    for n in range(30):
        s.call("undo" if n % 2 else "redo", {}, "ok")
    return s


@loop
def denied_in_other_words() -> Session:
    s = Session("denied-in-other-words", "stop", "what may not be deleted is deleted in all spellings")
    cmds = [
        "rm -rf /data/cache",
        "rm -r -f /data/cache",
        "find /data/cache -delete",
        "rm -rf /data/cache/*",
        "sudo rm -rf /data/cache",
        "python -c \"import shutil; shutil.rmtree('/data/cache')\"",
        "mv /data/cache /tmp",
        "perl -e 'unlink glob \"/data/cache/*\"'",
        "rsync -a --delete /empty/ /data/cache/",
        "truncate -s0 /data/cache/a",
        "unlink /data/cache/a",
        "rm /data/cache/a",
    ]
    for n in range(16):
        s.sh(
            cmds[n % 12],
            "Permission to use Bash has been denied by the user's rules.",
            1,
            error="Permission to use Bash has been denied by the user's rules.",
            code="PERMISSION_DENIED",
        )
    return s


@loop
def scroll_at_the_end() -> Session:
    s = Session(
        "scroll-at-the-end", "stop", "scrolling on at the end of a page that shows the same", clock=1_771_000_000
    )
    for n in range(40):
        s.call("browser_scroll", {"direction": "down"}, "Scrolled down", gap=2)
        s.call(
            "browser_get_state",
            {},
            {"url": "https://news.example/", "scroll": "bottom", "elements": "[1]<a>Home</a>"},
            gap=1,
        )
    return s


@loop
def wrong_table() -> Session:
    s = Session("wrong-table", "stop", "one query against a table that is not there, formatted anew each time")
    q = [
        "SELECT * FROM user LIMIT 5",
        "select * from user limit 5;",
        "SELECT *\nFROM user\nLIMIT 5",
        'SELECT * FROM "user" LIMIT 5',
        "SELECT u.* FROM user u LIMIT 5",
    ]
    for n in range(15):
        s.call(
            "run_query",
            {"sql": q[n % 5]},
            "ERROR 1146 (42S02): Table 'shop.user' doesn't exist",
            error="Table 'shop.user' doesn't exist",
        )
    return s


@loop
def grep_for_the_missing() -> Session:
    s = Session(
        "grep-for-the-missing",
        "stop",
        "a name that is nowhere, looked for in ever other spellings and places",
        clock=1_771_000_000,
    )
    names = ["renderHeader", "render_header", "RenderHeader", "headerRender", "HeaderRenderer", "renderHdr"]
    for n in range(24):
        s.call("Grep", {"pattern": names[n % 6], "path": ["src", "lib", "packages", "."][n // 6]}, "No files found")
    return s


@loop
def patch_that_never_applies() -> Session:
    s = Session(
        "patch-that-never-applies",
        "stop",
        "a patch whose context is wrong, made again with other lines of it",
        clock=1_771_000_000,
    )
    for n in range(15):
        s.call(
            "apply_patch",
            {
                "patch": f"*** Begin Patch\n*** Update File: src/cli.py\n@@ def main\n-    args = parse({n})\n+    args = parse_args()\n*** End Patch"
            },
            "apply_patch verification failed: Failed to find expected lines in src/cli.py",
            error="apply_patch verification failed: Failed to find expected lines in src/cli.py",
        )
    return s


@loop
def screenshots_of_one_page() -> Session:
    s = Session("screenshots-of-one-page", "stop", "one picture of a page taken again and again, nothing is done")
    for n in range(20):
        s.call("browser_take_screenshot", {}, [{"type": "image", "data": "iVBORw0KGgo" * 8}])
    return s


@loop
def two_agents_idle() -> Session:
    s = Session(
        "two-agents-idle",
        "stop",
        "agents asked for their state in turn in haste, both of them idle",
        clock=1_771_000_000,
    )
    for n in range(90):
        s.call("get_agent_status", {"agent": f"worker-{n % 2}"}, {"state": "idle", "task": None}, gap=1)
    return s


@loop
def tests_of_nothing() -> Session:
    s = Session("tests-of-nothing", "stop", "tests run in ever other ways, none is ever collected")
    ways = [
        "pytest",
        "pytest -v",
        "python -m pytest",
        "pytest tests/",
        "pytest -x",
        "pytest -q tests",
        "python -m pytest -v tests/",
    ]
    for n in range(28):
        s.sh(ways[n % 7], "collected 0 items\n\nno tests ran in 0.01s", 5)
    return s


@loop
def note_to_self() -> Session:
    s = Session("note-to-self", "stop", "the same note written to its memory again and again")
    for n in range(20):
        s.call("memory_write", {"key": "status", "value": "Waiting for the user's answer."}, "saved")
        s.call("memory_read", {"key": "status"}, "Waiting for the user's answer.")
    return s


@loop
def menu_open_and_closed() -> Session:
    s = Session("menu-open-and-closed", "stop", "a menu opened and closed again")
    for n in range(36):
        s.call("browser_click", {"ref": "e14", "element": "Menu"}, "menu open" if n % 2 == 0 else "menu closed")
    return s


@loop
def disk_is_full() -> Session:
    s = Session("disk-is-full", "stop", "files written to a disk that is full, one after the other")
    for n in range(14):
        s.call(
            "write_file",
            {"path": f"/data/out/chunk{n}.csv", "content": f"a,b\n{n},{n}"},
            "OSError: [Errno 28] No space left on device",
            error="OSError: [Errno 28] No space left on device",
        )
    return s


@loop
def same_page_in_words() -> Session:
    s = Session("same-page-in-words", "stop", "one page fetched and asked the same in other words")
    asks = [
        "What is the price?",
        "Find the price on this page",
        "Extract the price of the item",
        "How much does it cost?",
        "Tell me the cost of the product",
        "List the price",
    ]
    for n in range(24):
        s.call(
            "WebFetch",
            {"url": "https://shop.example/item/7", "prompt": asks[n % 6]},
            "The page requires a login. No price is shown.",
        )
    return s


@loop
def echo_next_step() -> Session:
    s = Session("echo-next-step", "stop", "the next step announced in a shell, never taken")
    for n in range(24):
        s.sh(f"echo '=== Next: fix the parser, step {n % 4} ==='", f"=== Next: fix the parser, step {n % 4} ===")
        s.sh("ls src", "lexer.py\nparser.py")
    return s


@loop
def same_log_three_greps() -> Session:
    s = Session("same-log-three-greps", "stop", "a log that does not grow, searched with three filters in turn")
    for n in range(30):
        s.sh(
            ["grep ERROR app.log | tail -5", "grep -i error app.log | tail -20", "tail -50 app.log | grep ERROR"][
                n % 3
            ],
            "10:00:01 ERROR db: connection lost",
        )
    return s


@loop
def formatter_fight() -> Session:
    s = Session("formatter-fight", "stop", "two formatters undo each other, run in turn")
    for n in range(16):
        s.sh("npx prettier --write src/a.ts", "src/a.ts 40ms")
        s.sh("npx eslint --fix src/a.ts", "src/a.ts\n  1:1  error  Replace `'` with `\"`  prettier/prettier", 1)
    return s


@loop
def login_again() -> Session:
    s = Session(
        "login-again", "stop", "a form filled and sent again, the password is wrong each time", clock=1_771_000_000
    )
    for n in range(12):
        s.call("browser_type", {"ref": "e3", "text": "admin"}, "ok", gap=2)
        s.call("browser_type", {"ref": "e4", "text": "hunter2"}, "ok", gap=2)
        s.call("browser_click", {"ref": "e5", "element": "Sign in"}, "Invalid credentials", gap=2)
    return s


@loop
def idle_inbox() -> Session:
    s = Session("idle-inbox", "stop", "an inbox asked for every second", clock=1_771_000_000)
    for n in range(60):
        s.call("check_inbox", {}, {"messages": []}, gap=1)
    return s


@loop
def wrong_directory() -> Session:
    s = Session("wrong-directory", "stop", "a script started from ever other places, it is nowhere")
    for n in range(16):
        s.sh(
            f"cd {['/app', '/srv', '~/app', '/opt/app', '/home/me', '/usr/src'][n % 6]} && python run.py",
            "python: can't open file 'run.py': [Errno 2] No such file or directory",
            2,
        )
    return s
