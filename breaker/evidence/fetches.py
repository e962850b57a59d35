"""A command that does nothing but fetch is the same action however it is spelled."""

from __future__ import annotations

import re

from breaker.identity.identify import Identity

_CLIENTS = frozenset({"curl", "wget", "http", "https", "xh", "xhs"})
_BESIDE = frozenset({"cd", "tee", "true", ":"})
"""Programs that may stand beside a client without making another action of it."""
_EXPANDS = re.compile(r"[$`]")


def fetched(identity: Identity) -> str:
    """What a shell call fetches, in one spelling: its requests, and where their answers go. "" when it does more.

    A part of the address that only the shell knows leaves it unknown.
    """
    programs = {command.program for command in identity.commands}
    if not programs & _CLIENTS or not programs <= _CLIENTS | _BESIDE:
        return ""
    if any(not word.literal and _EXPANDS.search(word.text) for command in identity.commands for word in command.words):
        return ""
    nets = [fingerprint for fingerprint in identity.fingerprints if fingerprint.startswith("net:")]
    sinks = [fingerprint for fingerprint in identity.fingerprints if fingerprint.startswith("sink:")]
    return " ".join((*nets, *sinks)) if nets else ""
