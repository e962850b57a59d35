"""Play a recorded session through `toolbreaker serve` and show what its agent would have been told.

usage: demo.py [REQUESTS.jsonl]   (one JSON-RPC request a line; the default is the recording beside this file)
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
SESSION = HERE / "recordings" / "session.jsonl"


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


def main() -> None:
    session = Path(sys.argv[1]) if len(sys.argv) > 1 else SESSION
    process = subprocess.Popen([toolbreaker(), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
    print(f"{calls} calls: {told} advisories delivered, {stopped} stopped before they ran.")


if __name__ == "__main__":
    main()
