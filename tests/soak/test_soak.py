"""The soak in short: `make soak` runs two million calls of five thousand agents."""

from __future__ import annotations

import pytest
from soak.run import ALLOWED_GROWTH, soak


@pytest.mark.parametrize("profile", ["standard", "adaptive"])
def test_a_host_of_agents_takes_no_more_memory_later_and_is_judged_as_by_a_fresh_process(profile: str) -> None:
    found = soak(calls=4_000, agents=20, profile=profile)
    assert found.growth < ALLOWED_GROWTH
    assert found.different == []
    assert found.broken > 50
    assert found.denied > 50
    assert found.verdicts > 200
