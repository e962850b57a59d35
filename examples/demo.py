"""Play recorded sessions through `toolbreaker serve` and show what their agents would have been told.

usage: demo.py [PROFILE REQUESTS.jsonl]   (one JSON-RPC request a line)

Without arguments: a session in the profile `standard`, which counts calls, and one in `adaptive`, the default, which
looks at what they brought. Lines of a text that were shown before are not shown again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHOWN = (
    ("standard", HERE / "recordings" / "session.jsonl"),
    ("adaptive", HERE / "recordings" / "c-spellings.jsonl"),
)
PROFILES = {
    "standard": "which counts calls; not the default",
    "adaptive": "the default, which looks at what calls brought",
}
COMMAND_CHARS = 88
NEXT = """\
Next: judge your own sessions with `toolbreaker replay ~/.claude/projects`, or add it to what you run with
`toolbreaker install claude-code`. After `make demo` the program is .venv/bin/toolbreaker."""


def toolbreaker() -> str:
    beside = Path(sys.executable).with_name("toolbreaker")
    found = str(beside) if beside.exists() else shutil.which("toolbreaker")
    if not found:
        raise SystemExit("demo: no `toolbreaker` command: install it first (`make demo` does)")
    return found


def short(call: dict[str, Any]) -> str:
    arguments = call["arguments"]
    text = arguments.get("command") or json.dumps(arguments)
    line = f"{call['tool']}: {text}".replace("\n", "; ")
    return line if len(line) <= COMMAND_CHARS else f"{line[: COMMAND_CHARS - 1]}…"


def say(title: str, text: str, said: set[str]) -> None:
    """Show what a text says that was not said before."""
    lines = text.splitlines()
    new = [line for line in lines if line not in said]
    said.update(lines)
    if len(new) == len(lines):
        print(f"\n      {title}")
        print(textwrap.indent(text, "      │ "), end="\n\n")
    else:
        new.append("(the rest is the same text)" if new else "(the same text)")
        print(textwrap.indent("\n".join(new), "      │ "))


def play(profile: str, session: Path) -> None:
    meaning = f" ({PROFILES[profile]})" if profile in PROFILES else ""
    print(f"== {session.name} in the profile {profile}{meaning}\n")
    said: set[str] = set()
    command = [toolbreaker(), "serve", "--profile", profile]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    calls = stopped = told = 0
    for line in session.read_bytes().splitlines():
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        request = json.loads(line)
        if "id" not in request:
            continue
        reply = json.loads(process.stdout.readline())
        result = reply.get("result", {})
        if request["method"] == "guard":
            calls += 1
            stopped += result["decision"] != "allow"
            print(f"{calls:4}  {result['decision']:5} {short(request['params'])}")
            if result["decision"] != "allow":
                say("the model reads, instead of a result:", result["reason"], said)
        for advisory in result.get("advisories", []):
            told += 1
            say(f"the model reads, beside the result ({advisory['stage']}):", advisory["text"], said)
    process.stdin.close()
    process.wait(10)
    advisories = "1 advisory" if told == 1 else f"{told} advisories"
    print(f"\n{calls} calls: {advisories} delivered, {stopped} stopped before they ran.\n")


def main() -> None:
    for profile, session in [(sys.argv[1], Path(sys.argv[2]))] if len(sys.argv) > 2 else SHOWN:
        play(profile, session)
    print(NEXT)


if __name__ == "__main__":
    main()
