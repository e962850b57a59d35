"""What the READMEs show is what happens: their code runs, and their exchanges are played against the process."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import PATIENCE, ROOT, environment, run

PAGES = sorted(
    page
    for page in ROOT.rglob("README.md")
    if not {".venv", "node_modules", ".git"} & set(page.relative_to(ROOT).parts)
)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[Any]:
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT)}:{page.read_text()[: match.start()].count(chr(10)) + 1}")
        for page in PAGES
        for match in _BLOCK.finditer(page.read_text())
        if match[1] == language
        for block in [match[2]]
    ]


def holds(shown: Any, found: Any) -> bool:
    """Whether everything that is shown is there; what is found may have more members."""
    if isinstance(shown, dict) and isinstance(found, dict):
        return all(key in found and holds(value, found[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(found, list):
        return len(shown) == len(found) and all(map(holds, shown, found))
    return bool(shown == found)


@pytest.mark.parametrize("block", blocks("wire"))
def test_an_exchange_that_is_shown_happens(block: str) -> None:
    lines = block.splitlines()
    done = run("serve", data="".join(f"{line[2:]}\n" for line in lines if line.startswith("> ")).encode())
    replies = list(map(json.loads, done.stdout.splitlines()))
    shown = [json.loads(line[2:]) for line in lines if line.startswith("< ")]
    assert len(replies) == len(shown)
    for expected, reply in zip(shown, replies, strict=True):
        assert holds(expected, reply), f"shown: {expected}\nfound: {reply}"


@pytest.mark.parametrize("block", blocks("python"))
def test_python_that_is_shown_runs(block: str, tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text(block)
    path = f"{Path(sys.executable).parent}:{environment()['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment(PATH=path),
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_table_of_settings_is_the_one_in_the_code() -> None:
    written = runpy.run_path(str(ROOT / ".ci" / "docs.py"))["written"]
    page = (ROOT / "breaker" / "README.md").read_text()
    assert "`sessionMaxTokens`" in page
    assert written(page) == page


def test_every_test_that_the_table_of_rows_names_exists() -> None:
    page = (ROOT / "tests" / "README.md").read_text()
    written = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"\b(test_\w+)\b(?!\.py)", page):
        assert f"def {name}(" in written, name
