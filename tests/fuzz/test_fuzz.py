"""Everything that a fuzzer ever found, what it starts from, and a short walk around that."""

from __future__ import annotations

import hashlib
import random
import time

import pytest
from fuzz.targets import TARGETS, seeds

MUTATIONS = 60
SLOW_SECONDS = 1.0


def mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The data with a few places changed: bytes flipped, pieces left out, doubled, or taken from elsewhere."""
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randint(0, len(data)), chance.choice([1, 1, 2, 8, 40])
        other = chance.choice(others)
        piece = chance.choice(
            [
                b"",
                chance.randbytes(length),
                data[at : at + length] * 2,
                other[chance.randint(0, len(other)) :][:length],
                chance.choice(
                    [b'"', b"\\", b"{", b"[", b"$(", b"\n", b"\0", b"\xff", b"9" * 25, b"null", b"-1", b"1e400"]
                ),
            ]
        )
        data = data[:at] + piece + data[at + length :]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_known_and_what_is_near_to_it_breaks_nothing(name: str) -> None:
    known = seeds(name)
    chance = random.Random(name)  # each run takes the same walk
    walk = [mutated(chance.choice(known), known, chance) for _ in range(MUTATIONS)]
    for data in [b"", *known, *walk]:
        started = time.thread_time()
        try:
            TARGETS[name](data)
        except Exception as error:
            error.add_note(f"fed with {data[:200]!r} ({hashlib.sha256(data).hexdigest()[:16]})")
            raise
        assert time.thread_time() - started < SLOW_SECONDS, data[:200]
