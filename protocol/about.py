"""Who serves, and which protocol it speaks."""

from __future__ import annotations

DISTRIBUTION = "toolbreaker"
VERSION = "0.1.0"
PROTOCOL_VERSION = 1


def lacking(package: str) -> str:
    """What to do where an optional package is not there; the way for pipx first, which is how people install this."""
    return f"needs the package {package}: `pipx inject toolbreaker {package}`, or pip install it beside toolbreaker"
