"""JSON as bytes, in a way that survives a want of memory.

`msgspec.json.encode` (0.23) ends the process with a segmentation fault when the text cannot grow; `encode_into`
raises MemoryError, which is a fault like any other.
"""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()
_sorting = msgspec.json.Encoder(order="sorted")


def encode(value: Any) -> bytes:
    """The value as JSON. Raises what msgspec raises, and MemoryError."""
    text = bytearray()
    _encoder.encode_into(value, text)
    return bytes(text)


def encode_sorted(value: Any) -> bytes:
    """As `encode`, with the members of objects in the order of their names."""
    text = bytearray()
    _sorting.encode_into(value, text)
    return bytes(text)
