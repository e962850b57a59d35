"""Recorded calls are told apart as people would. `identities.py` prints what is counted here."""

from __future__ import annotations

import re

import pytest
from corpus.identities import Count, calls
from support import ROOT

SESSIONS = ROOT.parent / "shared" / "corpus" / "sessions"
pytestmark = pytest.mark.skipif(not SESSIONS.is_dir(), reason="recorded sessions are not beside the repository")


@pytest.fixture(scope="module")
def count() -> Count:
    return Count(calls(sorted(SESSIONS.glob("*.jsonl.gz"))))


def test_nearly_every_command_is_read_by_the_grammar(count: Count) -> None:
    assert count.commands > 10_000
    assert count.fallbacks < 0.002 * count.commands


def test_no_call_is_dear(count: Count) -> None:
    assert count.cost(0.5) < 1_000
    assert count.cost(1) < 50_000


def test_every_call_has_an_exact_and_every_command_a_cmd(count: Count) -> None:
    assert count.carrying["exact"] == count.calls
    assert count.carrying["cmd"] == count.commands


def test_commands_that_share_a_cmd_are_one_action(count: Count) -> None:
    silent = re.compile(r"""\A(?:cd \S+ && |time |/usr/bin/|# [^\n]*\n)|["'\\\s]""")
    for fingerprint, group in count.merges("cmd"):
        assert len({silent.sub("", text) for text in group}) == 1, fingerprint


def test_commands_that_share_a_net_ask_for_one_resource(count: Count) -> None:
    for fingerprint, group in count.merges("net"):
        path = fingerprint.removeprefix("net:").partition("?")[0].split(" ")[0]
        assert all(path in text for text in group)
