"""Where the faults of hooks go: a log in the user's state directory, and standard error."""

from __future__ import annotations

import os
import time
from contextlib import suppress

LOG_NAME = "hook.log"
MAX_LOG_BYTES = 256 * 1024
"""A longer log is set aside, and the one set aside before is gone."""


def report(doing: str, error: BaseException) -> None:
    """A fault: one line for standard error, with its traceback in the log unless the text says all."""
    if isinstance(error, SystemExit):  # argparse, which has said why
        return
    from protocol.hook.run import HookError

    line = f"{doing}: {error}" if isinstance(error, HookError) else f"{doing}: {type(error).__name__}: {error}"
    detail = ""
    if not isinstance(error, HookError | OSError):
        with suppress(Exception):
            import traceback

            detail = _redacted("".join(traceback.format_exception(error)))
    log(_redacted(line), detail)


def _redacted(text: str) -> str:
    """What went wrong may quote what a call said, or the password in an address."""
    try:
        from breaker.secrets import redacted

        return redacted(text)
    except Exception:
        return text


def log(line: str, detail: str = "") -> None:
    """A line for people. Raises nothing: where it cannot be written, it is lost."""
    with suppress(OSError, ValueError):
        os.write(2, f"toolbreaker: {line}\n".encode("utf-8", "replace"))
    with suppress(Exception):
        from protocol.store.places import state_directory

        _append(os.fspath(state_directory() / LOG_NAME), f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {line}\n{detail}")


def _append(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - a path that came as text
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(log, text.encode("utf-8", "replace"))
        long = os.fstat(log).st_size > MAX_LOG_BYTES
    finally:
        os.close(log)
    if long:
        os.replace(path, f"{path}.1")  # noqa: PTH105
