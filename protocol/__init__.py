"""The wire of toolbreaker: JSON-RPC in front of `breaker`, over standard input and output, and the command line."""

from __future__ import annotations

DISTRIBUTION = "toolbreaker"
VERSION = "0.1.0"
PROTOCOL_VERSION = 1
