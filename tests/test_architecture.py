"""The lines that the parts keep between them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest
from support import PATIENCE, ROOT, environment

IMPURE = {
    "asyncio", "datetime", "getpass", "glob", "http", "io", "logging", "multiprocessing", "os", "pathlib", "platform",
    "random", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time",
    "urllib.request", "uuid", "warnings",
}  # fmt: skip
"""What reads a clock, a disk, a network or chance."""

HEAVY = {
    "asyncio", "breaker.engine", "can_ada", "jsonrpcserver", "jsonschema", "publicsuffixlist", "redis", "sqlite3",
    "tree_sitter", "yaml", "zstandard",
}  # fmt: skip
"""What takes more than a millisecond to import and is not needed by every command."""


def modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def is_in(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_the_judgement_knows_nothing_of_the_wire() -> None:
    found = [(path, name) for path, tree in modules("breaker") for name in imports(tree) if is_in(name, {"protocol"})]
    assert found == []


def test_the_judgement_reads_no_clock_no_disk_no_network_and_no_chance() -> None:
    found = [(path, name) for path, tree in modules("breaker") for name in imports(tree) if is_in(name, IMPURE)]
    assert found == []


def test_one_module_imports_jsonrpcserver_and_only_when_it_serves() -> None:
    found = {path for path, tree in modules("protocol") for name in imports(tree) if is_in(name, {"jsonrpcserver"})}
    assert found == {"protocol/dispatch.py"}
    tree = ast.parse((ROOT / "protocol" / "dispatch.py").read_text())
    at_top = {name for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) for name in imports(node)}
    assert "jsonrpcserver" not in at_top


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("framing", {"connection", "decode", "dispatch", "messages", "methods", "record", "stdio", "cli", "commands"}),
        ("decode", {"connection", "dispatch", "framing", "messages", "methods", "record", "stdio", "cli", "commands"}),
        ("messages", {"connection", "decode", "dispatch", "framing", "methods", "record", "stdio", "cli", "commands"}),
        ("methods", {"connection", "decode", "dispatch", "framing", "record", "stdio", "cli", "commands"}),
        ("dispatch", {"connection", "framing", "record", "stdio", "cli", "commands"}),
        ("connection", {"record", "stdio", "cli", "commands"}),
        ("stdio", {"record", "cli", "commands"}),
    ],
)
def test_imports_point_one_way(lower: str, upper: set[str]) -> None:
    tree = ast.parse((ROOT / "protocol" / f"{lower}.py").read_text())
    assert [name for name in imports(tree) if is_in(name, {f"protocol.{each}" for each in upper})] == []


@pytest.mark.parametrize("module", ["protocol.cli", "protocol.stdio"])
def test_starting_imports_nothing_heavy(module: str) -> None:
    program = f"import sys, {module}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-S", "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(),
        check=True,
    )
    assert HEAVY.intersection(done.stdout.split()) == set()


def test_every_module_says_what_it_is() -> None:
    silent = [
        path
        for package in ("breaker", "protocol")
        for path, tree in modules(package)
        if not ast.get_docstring(tree) and tree.body
    ]
    assert silent == []
