"""A client as the hooks see it: a session's events, each answered by a process of its own, or in this one."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from support import PATIENCE, START, environment

from breaker.engine import Engine
from breaker.settings import Settings, preset
from protocol.hook import claude_code, codex, gemini_cli
from protocol.hook.judge import judge
from protocol.store.once import Once
from protocol.store.sqlite import open_file

DATA = Path(__file__).parent / "hook" / "data"
MODULES: dict[str, Any] = {"claude-code": claude_code, "codex": codex, "gemini-cli": gemini_cli}
NOW = 1_800_000_000.0

Answer = dict[str, Any] | None


@cache
def _compiled() -> str:
    """A folder for compiled modules, so that a process does not compile everything anew."""
    return tempfile.mkdtemp(prefix="toolbreaker-compiled-")


@cache
def _recorded(harness: str) -> str:
    return (DATA / f"{harness}.json").read_text()


class Client:
    """One session of a client with a home of its own. Events are recorded ones with other members in places."""

    def __init__(self, harness: str, home: Path, settings: Settings | None = None, **environ: str) -> None:
        self.harness = harness
        self.home = home
        self.settings = settings or preset("standard")
        self.environ = environ
        self.now = NOW
        self.session = "3f1c2a58-0d1e-4b53-9f0e-6b1d0c7a9e11"
        self.state = home / ".local" / "state" / "toolbreaker"
        self.transcript = home / "transcript.jsonl"

    def event(self, name: str, **members: Any) -> dict[str, Any]:
        """A recorded event. A member that is `...` is left out."""
        text = _recorded(self.harness).replace("@HOME@", str(self.home)).replace("@WORK@", str(self.home / "work"))
        event = json.loads(text)[name] | {"session_id": self.session, "transcript_path": str(self.transcript)}
        return {key: value for key, value in (event | members).items() if value is not ...}

    def here(self, name: str, **members: Any) -> Answer:
        """The answer to an event, judged in this process with nothing kept but the state file."""
        return self.put(self.event(name, **members))

    def put(self, event: dict[str, Any]) -> Answer:
        store = open_file(self.state / "default.sqlite", brief=True)
        engine = Engine(self.settings, key=store.key, compact=True)
        faults: list[str] = []
        once = Once(store, log=faults.append)
        self.now += 1
        answer = judge(MODULES[self.harness], event, engine, once, store, environ=self.environ, now=self.now)
        assert faults == []
        return answer

    def process(self, name: str, *arguments: str, **members: Any) -> Answer:
        """The answer of a process of its own, which must end with 0 and have nothing to complain of."""
        done = self.run(json.dumps(self.event(name, **members)).encode(), *arguments)
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout) if done.stdout else None

    def run(self, data: bytes, *arguments: str, prelude: str = "") -> subprocess.CompletedProcess[bytes]:
        """`toolbreaker hook HARNESS ARGUMENTS`."""
        return subprocess.run(
            [*self.line(prelude), *arguments],
            input=data,
            capture_output=True,
            timeout=PATIENCE,
            env=self.variables(),
            cwd=self.home,
            check=False,
        )

    def line(self, prelude: str = "") -> list[str]:
        return [sys.executable, "-P", "-W", "error", "-c", f"{prelude}\n{START}", "hook", self.harness]

    def variables(self) -> dict[str, str]:
        inherited = ("XDG_STATE_HOME", "CLAUDE_CODE_ENTRYPOINT", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in environment().items() if name not in inherited}
        return {**kept, "HOME": str(self.home), "PYTHONPYCACHEPREFIX": _compiled(), **self.environ}

    def write(self, *rows: Any, to: Path | None = None) -> None:
        """Append rows to the transcript, or to another file."""
        path = to or self.transcript
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)

    def log(self) -> str:
        path = self.state / "hook.log"
        return path.read_text() if path.exists() else ""

    def spent(self, agent: str | None = None) -> tuple[int, int]:
        """Billed input of the session, and how many requests that were."""
        store = open_file(self.state / "default.sqlite", brief=True)
        account = store.load(agent or self.session)
        store.close()
        return (account.session_spent, account.requests) if account else (0, 0)


def decision(answer: Answer) -> str:
    """What an answer decides, whichever client it is for; "" when it decides nothing."""
    if answer is None:
        return ""
    return str(answer.get("decision") or answer["hookSpecificOutput"].get("permissionDecision", ""))


def reason(answer: Answer) -> str:
    """What an answer says to whom it stops."""
    assert answer is not None
    return str(answer.get("reason") or answer["hookSpecificOutput"]["permissionDecisionReason"])


def context(answer: Answer) -> str:
    """What an answer says to the model beside a decision; "" for nothing."""
    return "" if answer is None else str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def numbered(count: int) -> Iterator[str]:
    """Ids for calls."""
    return (f"toolu_{number:04}" for number in range(1, count + 1))
