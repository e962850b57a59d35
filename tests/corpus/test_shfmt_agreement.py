"""Recorded commands are read as shfmt reads them. `shfmt_agreement.py` compares them all."""

from __future__ import annotations

import pytest
from corpus.shfmt_agreement import compare, recorded_commands
from support import ROOT

SESSIONS = ROOT.parent / "shared" / "corpus" / "sessions"
SAMPLE = 240


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="recorded sessions are not beside the repository")
def test_a_sample_of_recorded_commands_is_read_as_shfmt_reads_them() -> None:
    recorded = sorted(recorded_commands(SESSIONS), key=len)
    sample = recorded[:: len(recorded) // SAMPLE] + recorded[-20:]
    found = compare(sample)
    assert found.accepted >= 0.99 * found.commands
    assert [difference.text for difference in found.differences] == []
    assert found.fallbacks_accepted == []
    assert len(found.reprinted_otherwise) <= 1  # shfmt rewrites backticks in a heredoc's text
