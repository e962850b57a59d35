"""What a process per event loads, and that loading less changes no answer."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hooking import Client
from support import PATIENCE, ROOT, environment

HEAVY = {
    "argparse", "asyncio", "breaker.options", "difflib", "hashlib", "importlib.resources", "inspect", "json",
    "jsonrpcserver", "jsonschema", "logging", "platform", "publicsuffixlist", "random", "secrets", "signal", "socket",
    "subprocess", "tempfile", "threading", "tree_sitter", "urllib.parse", "yaml",
}  # fmt: skip
"""None of it is needed for one event."""


@pytest.mark.parametrize(
    "event", ["PreToolUse-Bash", "PostToolUse-Bash-ok", "PreToolUse-Read", "UserPromptSubmit", "Stop"]
)
def test_an_event_loads_nothing_that_it_does_not_need(tmp_path: Path, event: str) -> None:
    client = Client("claude-code", tmp_path)
    client.process("UserPromptSubmit")  # makes the state file
    # Without site, whose extensions in a developer's environment import more than we do.
    path = [str(ROOT), *(each for each in sys.path if "site-packages" in each)]
    program = f"import sys\nsys.path += {path}\nfrom protocol.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-X", "importtime", "-c", program, "hook", "claude-code"],
        input=json.dumps(client.event(event)).encode(),
        capture_output=True,
        timeout=PATIENCE,
        env={
            name: value
            for name, value in client.variables().items()
            if name not in ("PYTHONPATH", "TOOLBREAKER_PROFILE")
        },
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "breaker.engine" in loaded
    assert HEAVY & loaded == set()


def test_every_pattern_of_ours_can_be_compiled_later() -> None:
    """A pattern that waits is asked for its methods; it is no argument for the functions of `re`."""
    program = """
import re, sys, importlib, pkgutil
from protocol.hook import lean
lean.begin()
import breaker, protocol, protocol.store
waiting = []
init = lean.LazyPattern.__init__
def noted(self, *args, **kwargs):
    init(self, *args, **kwargs); waiting.append(self)
lean.LazyPattern.__init__ = noted
for package in (breaker, protocol.store):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if "redis" not in found.name:
            importlib.import_module(found.name)
assert len(waiting) > 50, len(waiting)
assert all(pattern.pattern for pattern in waiting)
lean.end()
assert re.compile("x").fullmatch("x") and not isinstance(re.compile("x"), lean.LazyPattern)
import json, decimal, uuid, hashlib
assert json.loads("1") == 1 and decimal.Decimal(1) == 1 and uuid.uuid4() and hashlib.sha256()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_no_pattern_of_ours_is_handed_to_re() -> None:
    def of_re(node: ast.AST) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re"

    trees = [
        ast.parse(path.read_text()) for package in ("breaker", "protocol") for path in (ROOT / package).rglob("*.py")
    ]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and of_re(node)]
    patterns = {
        target.id
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and of_re(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    handed = [call.args[0].id for call in calls if call.args and isinstance(call.args[0], ast.Name)]
    assert patterns
    assert patterns.isdisjoint(handed)


def test_a_module_that_waits_is_the_real_one_when_it_is_asked() -> None:
    program = """
from protocol.hook import lean
lean.begin()
import json, argparse, hashlib, secrets, urllib.parse
from pathlib import Path
assert isinstance(json, lean.LazyModule) and json.dumps({"a": 1}) == '{"a": 1}'
assert argparse.ArgumentParser(prog="x").prog == "x"
assert hashlib.blake2b(b"x", digest_size=8).hexdigest() and hashlib.sha256(b"").hexdigest()
assert len(secrets.token_bytes(8)) == 8
assert Path("/a b").as_uri() == "file:///a%20b"
import msgspec
assert msgspec.json.schema(int) == {"type": "integer"}
"""
    done = subprocess.run(
        [sys.executable, "-P", "-S", "-c", f"import sys\nsys.path += {sys.path}\n{program}"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_was_compiled_is_kept_where_python_keeps_nothing(tmp_path: Path) -> None:
    client = Client(
        "claude-code", tmp_path, PYTHONDONTWRITEBYTECODE="1", PYTHONPYCACHEPREFIX=str(tmp_path / "compiled")
    )
    assert client.process("UserPromptSubmit") is None
    kept = {path.name.partition(".")[0] for path in (tmp_path / "compiled").rglob("*.pyc")}
    assert {"cli", "lean", "run", "engine", "sqlite"} <= kept


def test_a_package_of_our_name_elsewhere_is_not_taken_for_ours(tmp_path: Path) -> None:
    foreign = tmp_path / "elsewhere" / "breaker"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").write_text("raise SystemExit('not ours')")
    client = Client("claude-code", tmp_path)
    done = client.run(
        json.dumps(client.event("PreToolUse-Bash")).encode(),
        prelude=f"import sys\nsys.path.insert(0, {str(foreign.parent)!r})",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
