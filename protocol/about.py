"""Who serves, and which protocol it speaks."""

from __future__ import annotations

DISTRIBUTION = "toolbreaker"
VERSION = "0.1.0"
PROTOCOL_VERSION = 1
