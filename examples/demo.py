"""Play recorded sessions through `toolbreaker serve` and show what their agents would have been told.

usage: demo.py [PROFILE REQUESTS.jsonl]   (one JSON-RPC request a line)

Without arguments: a session in the profile `standard`, which counts, and one in `adaptive`, the default, which looks
at the answers.
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


def toolbreaker() -> str:
    beside = Path(sys.executable).with_name("toolbreaker")
    found = str(beside) if beside.exists() else shutil.which("toolbreaker")
    if not found:
        raise SystemExit("demo: no `toolbreaker` command: install it first (`make demo` does)")
    return found


def short(call: dict[str, Any]) -> str:
    arguments = call["arguments"]
    text = arguments.get("command") or json.dumps(arguments)
    return f"{call['tool']}: {text}".replace("\n", "; ")[:88]


def say(title: str, text: str) -> None:
    print(f"\n      {title}")
    print(textwrap.indent(text, "      │ "), end="\n\n")


def play(profile: str, session: Path) -> None:
    print(f"== {session.name} in the profile {profile}\n")
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
                say("the model reads, instead of a result:", result["reason"])
        for advisory in result.get("advisories", []):
            told += 1
            say(f"the model reads, beside the result ({advisory['stage']}):", advisory["text"])
    process.stdin.close()
    process.wait(10)
    advisories = "1 advisory" if told == 1 else f"{told} advisories"
    print(f"\n{calls} calls: {advisories} delivered, {stopped} stopped before they ran.\n")


def main() -> None:
    for profile, session in [(sys.argv[1], Path(sys.argv[2]))] if len(sys.argv) > 2 else SHOWN:
        play(profile, session)


if __name__ == "__main__":
    main()
