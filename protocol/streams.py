"""Standard output and error for people: what their encoding lacks, and what cannot be written at the end."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress


def write_what_is_possible() -> None:
    """Let a terminal whose encoding lacks a character show its number: `\\u2026`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush_or_discard() -> None:
    """Flush both, which Python does at the end and turns a failure into exit status 120.

    What cannot be written, because nobody reads any more, goes to /dev/null and spoils nothing.
    """
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        if stream is None:  # the parent closed it
            continue
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, descriptor)
                os.close(null)
