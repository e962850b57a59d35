"""Short forms of identities, for memories that are written down.

A short form is a masked preview and a keyed digest of the whole: enough to tell identities apart and to show a person
which one is meant, too little to get a secret back.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from breaker.secrets import mask_text, pseudonyms
from breaker.settings import KINDS

if TYPE_CHECKING:
    from breaker.identity.identify import Identifier, Identity

PREVIEW_CHARS = 96
DIGEST_BYTES = 8
"""64 bits: among the few thousand identities of an agent two are confused once in 10^12 agents."""
_CLOSING_DIGEST = re.compile(rf"#[0-9a-f]{{{2 * DIGEST_BYTES}}}\Z")


def compact(identity: str, key: bytes) -> str:
    """The short form of an identity under `key`. Its kind, before the first colon, stays in front."""
    kind, colon, rest = identity.partition(":")
    if kind not in KINDS:
        kind, colon, rest = "", "", identity
    preview = kind + colon + mask_text(rest, pseudonyms(key))  # apart: `exact:tool@host.name` is no user:password@host
    if len(preview) > PREVIEW_CHARS:
        preview = f"{preview[:PREVIEW_CHARS]}…"
    return f"{preview}#{_digest(identity, key)}"


def without_digest(short: str) -> str:
    """A short form as a person reads it."""
    return _CLOSING_DIGEST.sub("", short)


def wordless(text: str, key: bytes) -> str:
    """What stands for a text of which nothing may be kept but whether it came before."""
    return f"(its text is not kept)#{_digest(text, key)}"


def _digest(text: str, key: bytes) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=DIGEST_BYTES).hexdigest()


def compact_limits(limits: dict[str, Any], key: bytes) -> dict[str, Any]:
    """Limits by identity, for identities in their short form; those of whole kinds stay as they are."""
    return {compact(name, key) if ":" in name else name: limit for name, limit in limits.items()}


class CompactIdentifier:
    """An identifier whose fingerprints are in their short form, and which knows how the last call's are spelled."""

    def __init__(self, identifier: Identifier, key: bytes) -> None:
        self._identifier = identifier
        self._key = key
        self._spelled: dict[str, str] = {}

    def identify(self, tool: str, arguments: Any, *, all_kinds: bool = False) -> Identity:
        """The identity of a call; see `Identifier.identify`."""
        identity = self._identifier.identify(tool, arguments, all_kinds=all_kinds)
        self._spelled = {compact(fingerprint, self._key): fingerprint for fingerprint in identity.fingerprints}
        return msgspec.structs.replace(identity, fingerprints=tuple(self._spelled))

    def spell(self, fingerprint: str) -> str:
        """The full form, where it belongs to the last call identified; else the preview alone."""
        return self._spelled.get(fingerprint) or without_digest(fingerprint)
