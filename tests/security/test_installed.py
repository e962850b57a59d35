"""The installed command, where it is started, and what it is made of."""

from __future__ import annotations

import json
import os
import re
import runpy
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support import PATIENCE, ROOT, environment, message, run

SCRIPT = Path(sys.executable).with_name("toolbreaker")

# -- where it is started ----------------------------------------------------------------------------------------------

HOSTILE = "import os\nos.write(2, b'hostile')\nos._exit(66)\n"
NAMESAKES = """
    msgspec json re os sys io signal typing sitecustomize usercustomize jsonrpcserver jsonschema attr yaml can_ada
    publicsuffixlist sqlite3 tomllib hashlib argparse select time traceback encodings socket asyncio toolbreaker
""".split()  # noqa: SIM905 - a table


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder in which everything that the command imports has a namesake."""
    folder = tmp_path / "work"
    for name in ("breaker", "protocol", "msgspec", "yaml"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(HOSTILE)
    for name in NAMESAKES:
        (folder / f"{name}.py").write_text(HOSTILE)
    (folder / "pyvenv.cfg").write_text("home = .\n")
    (folder / "toolbreaker.json").write_text('{"enabled": false}')
    (folder / ".env").write_text("TOOLBREAKER_DISABLED=1\n")
    return folder


def installed(*arguments: str, cwd: Path, data: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the console script as a user has it: nothing of this tree is put on its path."""
    clean = {name: value for name, value in environment(**variables).items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(SCRIPT), *arguments], input=data, capture_output=True, timeout=PATIENCE, env=clean, cwd=cwd, check=False
    )


@pytest.mark.skipif(not SCRIPT.exists(), reason="not installed beside this interpreter")
@pytest.mark.parametrize(
    "arguments",
    [("serve",), ("check-config",), ("explain", "ls"), ("replay", "requests.jsonl"), ("hook", "claude-code")],
)
def test_a_hostile_working_directory_changes_nothing(arguments: tuple[str, ...], hostile: Path) -> None:
    (hostile / "requests.jsonl").write_bytes(message("guard", {"tool": "x", "arguments": {}}))
    event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    data = (
        message("status")
        if arguments[0] == "serve"
        else json.dumps({**event, "cwd": ".", "transcript_path": ""}).encode()
    )
    home = str(hostile.parent / "home")
    done = installed(*arguments, cwd=hostile, data=data, HOME=home, XDG_STATE_HOME=home)
    assert b"hostile" not in done.stderr + done.stdout
    assert done.returncode == 0, done.stderr
    if arguments[0] == "serve":
        assert json.loads(done.stdout)["result"]["enabled"] is True


@pytest.mark.skipif(not SCRIPT.exists(), reason="not installed beside this interpreter")
def test_started_from_elsewhere_on_the_path_it_is_the_same(hostile: Path, tmp_path: Path) -> None:
    link = tmp_path / "bin" / "toolbreaker"
    link.parent.mkdir()
    link.symlink_to(SCRIPT)
    variables = {**environment(), "PATH": f"{link.parent}:{os.environ['PATH']}"}
    variables.pop("PYTHONPATH")
    done = subprocess.run(
        ["toolbreaker", "--version"], capture_output=True, timeout=PATIENCE, env=variables, cwd=hostile, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"toolbreaker ")


# -- what it makes ----------------------------------------------------------------------------------------------------


def test_what_it_makes_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    home, data = tmp_path / "home", message("guard", {"tool": "bash", "arguments": {"command": "ls"}})
    variables = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    home.mkdir()
    prelude = "import os; os.umask(0)"
    run("serve", "--state", "auto", "--record", str(home / "recording.jsonl"), data=data, prelude=prelude, **variables)
    run("hook", "claude-code", data=b"nonsense", prelude=prelude, **variables)  # a word in the log
    made = [path for path in home.rglob("*") if path.is_file()]
    assert {path.name for path in made} >= {"recording.jsonl", "default.sqlite", "hook.log"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (home / "state").rglob("*") if path.is_dir()} == {0o700}


# -- keys of objects --------------------------------------------------------------------------------------------------


def test_nobody_can_know_which_names_share_a_place() -> None:
    """The hashes of texts differ from process to process, and texts are all that names in JSON can be."""
    line = message("guard", {"tool": "x", "arguments": {"1": 1, "1.0": 1, "true": 1, "null": 1}})
    show = (
        "\nfrom breaker.engine import Engine\nEngine.guard = lambda self, call, **_: print(*map(type, call.arguments))"
    )
    done = run("serve", data=line, prelude=show)
    assert set(re.findall(rb"<class '(\w+)'>", done.stderr)) == {b"str"}
    flags = "import sys; print(sys.flags.hash_randomization, hash('a'))"
    clean = {name: value for name, value in environment().items() if name != "PYTHONHASHSEED"}
    seen = {
        subprocess.run(
            [sys.executable, "-c", flags], capture_output=True, timeout=PATIENCE, env=clean, check=True
        ).stdout
        for _ in range(3)
    }
    assert len(seen) == 3
    assert all(output.startswith(b"1 ") for output in seen)


# -- what it is made of -----------------------------------------------------------------------------------------------

LOCK = (ROOT / "requirements.lock").read_text()
PINNED = dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", LOCK, re.MULTILINE))


def test_every_dependency_is_pinned_by_hash_and_no_address_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in ("redis", "zstd") for each in project["optional-dependencies"][extra]),
    ]
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)])
    blocks = re.split(r"^(?=[a-z])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINNED)
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"://|--(?:index|extra-index|find-links|trusted)", LOCK)


verdict = runpy.run_path(str(ROOT / ".ci" / "audit.py"))["verdict"]


@pytest.mark.parametrize(
    ("report", "status", "said"),
    [
        ("", 2, "NOTHING WAS AUDITED"),
        ('{"dependencies": []}', 2, "NOT AUDITED"),
        ('{"dependencies": [{"name": "a", "skip_reason": "not found"}]}', 2, "NOT AUDITED, no answer about a"),
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}', 0, "1 dependencies, no advisory"),
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "X-1"}]}]}', 1, "a 1: X-1"),
    ],
)
def test_an_audit_that_got_no_answer_says_so(report: str, status: int, said: str) -> None:
    found, lines = verdict(report)
    assert found == status
    assert said in "\n".join(lines)
