"""A release is refused while version, changelog and tag disagree."""

from __future__ import annotations

import runpy

from support import ROOT

disagreements = runpy.run_path(str(ROOT / ".ci" / "release.py"))["disagreements"]
PYPROJECT = '[project]\nname = "x"\nversion = "1.2.0"\n'


def test_a_version_that_all_agree_on_may_be_released() -> None:
    assert disagreements(PYPROJECT, "# Changelog\n\n## 1.2.0 - 2026-01-01\n\n## 1.1.0\n", []) == []
    assert disagreements(PYPROJECT, "## [1.2.0]\n", ["v1.2.0"]) == []


def test_every_disagreement_is_named() -> None:
    problems = disagreements(PYPROJECT, "# Changelog\n\n## 1.1.0\n", ["v1.3.0"])
    assert len(problems) == 2
    assert "1.1.0" in problems[0]
    assert "v1.3.0" in problems[1]


def test_a_changelog_without_an_entry_is_a_disagreement() -> None:
    assert disagreements(PYPROJECT, "# Changelog\n", [])


def test_this_tree_may_be_released_as_it_stands() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert disagreements((ROOT / "pyproject.toml").read_text(), changelog, []) == []
