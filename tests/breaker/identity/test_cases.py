"""Claims about which calls are the same, as data: our own, and the conformance cases where they lie beside us.

A case holds `calls` (or one `call`) and what is claimed of their fingerprints: `share` and `differ` name kinds, `has`
and `lacks` fingerprints (or, ending in a colon, kinds), `nowhere` texts that no fingerprint may show.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from support import ROOT

from breaker.identity.identify import Identifier
from breaker.options import Layer, resolve

CLAIMS = ("share", "differ", "has", "lacks", "nowhere")


def cases() -> list[Any]:
    """Every case that claims something of fingerprints, named by its file and itself."""
    found = []
    for folder in (ROOT / "tests" / "cases", ROOT.parent / "shared" / "conformance" / "cases"):
        for path in sorted(folder.glob("*.json")):
            for case in json.loads(path.read_text()):
                if any(claim in case for claim in CLAIMS):
                    found.append(pytest.param(case, id=f"{path.stem}: {case['name']}"))
    return found


@cache
def identifier(config: str) -> Identifier:
    return Identifier(resolve([Layer("case", json.loads(config))]).settings)


def fingerprints(case: dict[str, Any], call: dict[str, Any]) -> tuple[str, ...]:
    arguments = call["arguments"] if "arguments" in call else {"command": call["command"]}
    config = json.dumps(case.get("config", {}))
    return identifier(config).identify(call.get("tool", "bash"), arguments, all_kinds=True).fingerprints


def of_kind(fingerprints: tuple[str, ...], kind: str) -> tuple[str, ...]:
    return tuple(sorted(each for each in fingerprints if each.partition(":")[0] == kind))


def matches(fingerprint: str, claimed: str) -> bool:
    return fingerprint == claimed or (claimed.endswith(":") and fingerprint.startswith(claimed))


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    found = [fingerprints(case, call) for call in case.get("calls") or [case["call"]]]
    for each in found:
        for claimed in case.get("has", ()):
            assert any(matches(fingerprint, claimed) for fingerprint in each), f"{claimed} is missing in {each}"
        for claimed in case.get("lacks", ()):
            assert not any(matches(fingerprint, claimed) for fingerprint in each), f"{claimed} is in {each}"
        for text in case.get("nowhere", ()):
            assert not any(text in fingerprint for fingerprint in each), f"{text} is shown in {each}"
    for kind in case.get("share", ()):
        seen = [of_kind(each, kind) for each in found]
        assert seen[0], f"nothing has {kind}"
        assert all(each == seen[0] for each in seen), f"{kind} should be one: {seen}"
    for kind in case.get("differ", ()):
        seen = [of_kind(each, kind) for each in found]
        assert len(set(seen)) == len(seen), f"{kind} should differ: {seen}"


def test_there_are_many_claims_of_our_own() -> None:
    ours = [json.loads(path.read_text()) for path in (ROOT / "tests" / "cases").glob("*.json")]
    assert sum(len(case.get(claim, ())) for file in ours for case in file for claim in CLAIMS) >= 150
