"""Facts and answers whose digests are keyed, for memories that are written down.

Who reads a plain digest can try words and lines until one fits; of one that is keyed nothing can be said without the
key. What was equal stays equal, which is all that rules look at.
"""

from __future__ import annotations

from hashlib import blake2b

from msgspec import structs

from breaker.evidence.facts import Answer, Facts

_SOFT = "soft "


def keyed_facts(facts: Facts, key: bytes) -> Facts:
    """The same call under `key`."""
    return structs.replace(
        facts,
        strict=_text(facts.strict, key),
        loose=_text(facts.loose, key),
        template=_text(facts.template, key),
        target=_text(facts.target, key),
        words=tuple(_number(word, key) for word in facts.words),
    )


def keyed_answer(answer: Answer, key: bytes) -> Answer:
    """The same answer under `key`. Classes of failures that the system names are words, and stay."""
    failure = answer.failure
    if failure.startswith(_SOFT):
        failure = _SOFT + _text(failure.removeprefix(_SOFT), key)
    return structs.replace(
        answer,
        same=_text(answer.same, key),
        bones=_text(answer.bones, key),
        failure=failure,
        lines=tuple(_number(line, key) for line in answer.lines),
    )


def _text(digest: str, key: bytes) -> str:
    return blake2b(digest.encode(), key=key, digest_size=8).hexdigest() if digest else ""


def _number(digest: int, key: bytes) -> int:
    return int.from_bytes(blake2b(digest.to_bytes(4, "big"), key=key, digest_size=4).digest(), "big")
