"""Standard output and error at the end of a process: Python flushes them and turns a failure into exit status 120."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def flush_or_discard() -> None:
    """Flush both. What cannot be written, because nobody reads any more, goes to /dev/null and spoils nothing."""
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
