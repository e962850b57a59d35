"""The process: arguments and an event in, an answer or nothing out, status 0 whatever happens.

To some clients status 2, or any but 0, means "do not run this call", and an answer that is no JSON is shown to the
user. So a fault of ours looks like a hook that has nothing to say, and goes to a log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from protocol.hook import lean

if TYPE_CHECKING:
    from protocol.hook.harness import Harness

HARNESSES = {
    "claude-code": "protocol.hook.claude_code",
    "codex": "protocol.hook.codex",
    "gemini-cli": "protocol.hook.gemini_cli",
}

SECONDS = 8
"""How long an event may take. The clients wait for a minute and more before they go on without an answer."""


class HookError(Exception):
    """What is wrong with the arguments or the event, for people."""


def main(arguments: Sequence[str]) -> int:
    """Answer one event. 0."""
    doing = " ".join(["hook", *arguments[:1]])
    try:
        _limit_time(doing)
        lean.begin()
        answer = _answered(arguments, os.environ)
        if answer is not None:
            _write(answer)
    except BaseException as error:
        from protocol.hook.faults import report

        report(doing, error)
    return 0


def _answered(arguments: Sequence[str], environ: Mapping[str, str]) -> bytes | None:
    if "-h" in arguments or "--help" in arguments:
        from protocol.cli import run_command

        run_command("hook", arguments)
    name = arguments[0] if arguments else ""
    if name not in HARNESSES:
        raise HookError(f"no client is called {name!r}; known are {', '.join(HARNESSES)}")
    raw = _read()
    if not raw.strip():
        raise HookError("there is no event on standard input")

    from importlib import import_module

    from breaker.json_text import encode
    from protocol.decode import NotJsonError, decode

    try:
        event = decode(raw)
    except NotJsonError as error:
        raise HookError(f"the event is not JSON: {error}") from None
    if not isinstance(event, dict) or not isinstance(event.get("hook_event_name"), str):
        raise HookError("the event is not an object with a hook_event_name")
    harness: Harness = import_module(HARNESSES[name])
    if event["hook_event_name"] not in harness.KINDS:
        return None
    answer = _judged(harness, event, arguments[1:], environ)
    return None if answer is None else encode(answer) + b"\n"


def _judged(
    harness: Harness, event: dict[str, Any], arguments: Sequence[str], environ: Mapping[str, str]
) -> dict[str, Any] | None:
    import breaker.evidence.keys  # what the default profile reads calls with
    from breaker.engine import Engine
    from protocol.hook.faults import log
    from protocol.hook.judge import judge
    from protocol.hook.options import OptionsError, options_of
    from protocol.store.base import SpecError
    from protocol.store.once import Once
    from protocol.store.opening import open_store
    from protocol.store.sqlite import SqliteStore  # noqa: F401 - the store that it will be, as a rule

    if harness.KINDS[event["hook_event_name"]] == "result":
        import breaker.evidence.answers  # noqa: F401 - and what it reads their answers with

    lean.end()
    try:
        options = options_of(arguments, environ)
        if not options.settings.enabled:
            return None
        store, problem = open_store(options.state, options.namespace, brief=True)
    except (OptionsError, SpecError) as error:
        raise HookError(str(error)) from None
    if problem is not None:
        log(problem)
    engine = Engine(options.settings, key=store.key if store else b"", compact=True)
    once = Once(store, log=log, days=options.days)
    return judge(harness, event, engine, once, store, environ=environ, now=time.time())


def _read() -> bytes:
    parts = []
    while part := os.read(0, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _write(answer: bytes) -> None:
    while answer:
        answer = answer[os.write(1, answer) :]


def _limit_time(doing: str) -> None:
    """End with 0 before the client loses patience. Where there are no alarms, the client's patience is the limit."""
    try:
        from _signal import SIGALRM, alarm, signal  # type: ignore[import-not-found]  # `signal` makes enums of it all
    except ImportError:
        return

    def late(_number: int, _frame: object) -> None:
        from protocol.hook.faults import report

        report(doing, TimeoutError(f"the event took over {SECONDS} s and went unjudged"))
        os._exit(0)

    signal(SIGALRM, late)
    alarm(SECONDS)
