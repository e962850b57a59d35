"""The same session told otherwise. A judgement that understands a session gives all its tellings one verdict."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from judgement.build import hexes, rng, uuid

Case = dict[str, Any]
REWRITES: dict[str, Callable[[Case], Case]] = {}


def rewrite(change: Callable[[Case], Case]) -> Callable[[Case], Case]:
    REWRITES[change.__name__] = change
    return change


def _calls(case: Case) -> list[dict[str, Any]]:
    return [step for step in case["steps"] if "guard" in step]


def _is_shell(step: dict[str, Any]) -> bool:
    arguments = step["guard"]["arguments"]
    name = step["guard"]["tool"].lower()
    known = ("bash", "shell", "terminal", "exec", "exec_command", "run_shell_command", "execute_bash")
    return name in known and isinstance(arguments, dict) and any(_command(arguments, key) for key in ("command", "cmd"))


def _command(arguments: dict[str, Any], key: str) -> bool:
    return isinstance(arguments.get(key), str) and bool(arguments[key])


def _key(step: dict[str, Any]) -> str:
    return "command" if "command" in step["guard"]["arguments"] else "cmd"


@rewrite
def without_clock(case: Case) -> Case:
    for step in _calls(case):
        step["guard"].pop("at", None)
        step.pop("settledAt", None)
    return case


@rewrite
def clock_shifted(case: Case) -> Case:
    for step in _calls(case):
        if step["guard"].get("at") is not None:
            step["guard"]["at"] += 86_400 * 200.5
        if step.get("settledAt") is not None:
            step["settledAt"] += 86_400 * 200.5
    return case


@rewrite
def without_steps(case: Case) -> Case:
    for step in _calls(case):
        step["guard"].pop("step", None)
    return case


@rewrite
def without_codes(case: Case) -> Case:
    """No exit codes and no error codes: the text alone says how it went."""
    for step in _calls(case):
        result = step["result"]
        value = result.get("value")
        if isinstance(value, dict):
            value.pop("exitCode", None)
        if isinstance(result.get("error"), dict):
            result["error"].pop("code", None)
    return case


@rewrite
def renamed(case: Case) -> Case:
    """Other names for tools of no meaning, other paths: letters of paths moved on by one."""

    path = re.compile(r"(?<![\w.:/-])(?!/dev/)/?(?:[\w.-]{2,40}/){1,8}[\w.-]{1,40}")
    word = re.compile(r"[a-z]{4,}")

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: moved(member) for key, member in value.items()}
        if isinstance(value, list):
            return [moved(member) for member in value]
        if not isinstance(value, str):
            return value
        return path.sub(lambda found: word.sub(lambda one: one[0][::-1] + "q", found[0]), value)

    for step in _calls(case):
        step["guard"]["arguments"] = moved(step["guard"]["arguments"])
        step["result"] = moved(step["result"])
    shells = {
        "Bash": "shell",
        "bash": "run_shell_command",
        "shell": "terminal",
        "terminal": "exec_command",
        "exec": "bash",
    }
    for step in _calls(case):
        name = step["guard"]["tool"]
        step["guard"]["tool"] = shells.get(name, f"mcp__srv__{name}" if name[:1].islower() else name)
    return case


def _each_text(case: Case, change: Callable[[str, int], Any]) -> Case:
    for n, step in enumerate(_calls(case)):
        result = step["result"]
        content = result.get("content")
        if isinstance(content, str):
            result["content"] = change(content, n)
        elif isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and isinstance(block.get("text"), str):
                    block["text"] = change(block["text"], n)
    return case


@rewrite
def stamped_line(case: Case) -> Case:
    return _each_text(
        case, lambda text, n: f"[2026-03-{1 + n // 1440 % 28:02d}T{n // 60 % 24:02d}:{n % 60:02d}:07.{n:03d}Z] {text}"
    )


@rewrite
def timed_footer(case: Case) -> Case:
    return _each_text(
        case, lambda text, n: f"{text}\n(took {0.2 + n * 0.013:.3f}s, request {uuid(rng(str(n)))})" if text else text
    )


@rewrite
def in_envelope(case: Case) -> Case:
    def wrapped(text: str, n: int) -> str:
        return json.dumps(
            {
                "result": text,
                "timestamp": f"2026-03-01T{n // 60 % 24:02d}:{n % 60:02d}:00Z",
                "requestId": uuid(rng(f"e{n}")),
            }
        )

    return _each_text(case, wrapped)


@rewrite
def in_blocks(case: Case) -> Case:
    for step in _calls(case):
        content = step["result"].get("content")
        if isinstance(content, str):
            step["result"]["content"] = [{"type": "text", "text": content}]
    return case


@rewrite
def in_output_json(case: Case) -> Case:
    """The way some harnesses answer shell calls: JSON with the output and the exit code in it."""
    for n, step in enumerate(_calls(case)):
        result = step["result"]
        value = result.get("value")
        if _is_shell(step) and isinstance(result.get("content"), str) and isinstance(value, dict):
            code = value.pop("exitCode", 0)
            result["content"] = json.dumps(
                {
                    "output": result["content"],
                    "exit_code": code,
                    "duration_seconds": 0.1 + n / 7,
                    "session": hexes(rng(f"o{n}"), 12),
                }
            )
    return case


@rewrite
def chunked(case: Case) -> Case:
    """The way Codex answers: a header with a chunk id and a wall time above the output."""
    for n, step in enumerate(_calls(case)):
        result = step["result"]
        value = result.get("value")
        if (
            _is_shell(step)
            and isinstance(result.get("content"), str)
            and isinstance(value, dict)
            and "exitCode" in value
        ):
            result["content"] = (
                f"Chunk ID: {hexes(rng(f'c{n}'), 6)}\nWall time: {0.1 + n / 13:.4f} seconds\n"
                f"Process exited with code {value['exitCode']}\nOutput:\n{result['content']}"
            )
    return case


@rewrite
def in_bash_lc(case: Case) -> Case:
    for step in _calls(case):
        if _is_shell(step):
            arguments = step["guard"]["arguments"]
            arguments[_key(step)] = ["bash", "-lc", arguments[_key(step)]]
    return case


@rewrite
def piped(case: Case) -> Case:
    for n, step in enumerate(_calls(case)):
        if _is_shell(step):
            arguments = step["guard"]["arguments"]
            command = arguments[_key(step)]
            if not re.search(r"[&\n#]|<<|;\s*$", command):
                arguments[_key(step)] = command + ("", " 2>&1", " | cat", " 2>&1 | head -100", " | tail -50")[n % 5]
    return case


@rewrite
def described(case: Case) -> Case:
    """A description, a time-out and a title that change with every call."""
    for n, step in enumerate(_calls(case)):
        arguments = step["guard"]["arguments"]
        if _is_shell(step) and isinstance(arguments, dict):
            arguments |= {"description": f"Run it, take {n}", "timeout": 1000 + 10 * n}
    return case


def _with_reads(case: Case, every: int) -> Case:
    steps: list[dict[str, Any]] = []
    for n, step in enumerate(case["steps"]):
        steps.append(step)
        if "guard" in step and n % every == every - 1:
            guard = {
                "agent": step["guard"]["agent"],
                "callId": f"other-{n}",
                "tool": "read_file",
                "arguments": {"path": f"notes/part{n}.md"},
                "step": f"other-{n}",
            }
            if "parent" in step["guard"]:
                guard["parent"] = step["guard"]["parent"]
            if step["guard"].get("at") is not None:
                guard["at"] = (step.get("settledAt") or step["guard"]["at"]) + 0.01
            word = "abcdefghijklmnopqrstuvwxyz"[n % 26] * 3 + "qrstuvwxyz"[n // 26 % 10] * 2
            one: dict[str, Any] = {
                "guard": guard,
                "result": {"content": f"Part {n} tells of {word} and {word[::-1]}.", "isError": False},
            }
            if "at" in guard:
                one["settledAt"] = guard["at"] + 0.01
            steps.append(one)
    case["steps"] = steps
    return case


@rewrite
def with_unrelated_reads(case: Case) -> Case:
    """A read of something new after every third call."""
    return _with_reads(case, 3)


def rewritten(case: Case, name: str) -> Case:
    """A copy of the session, told otherwise."""
    return REWRITES[name](copy.deepcopy(case))
