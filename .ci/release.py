"""Build the sdist and the wheel, and prove that the wheel installs into a bare environment and runs.

Refuses when the version in pyproject.toml, the newest entry of CHANGELOG.md and the tag of HEAD (when it has one)
disagree. Leaves both files in dist/.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUARD = b'{"jsonrpc":"2.0","id":1,"method":"guard","params":{"tool":"bash","arguments":{"command":"ls"}}}\n'


def disagreements(pyproject: str, changelog: str, tags: list[str]) -> list[str]:
    """What stands in the way of a release, one sentence each."""
    version = tomllib.loads(pyproject)["project"]["version"]
    newest = re.search(r"^## \[?([^\s\]]+)", changelog, re.MULTILINE)
    problems = []
    if newest is None or newest[1] != version:
        found = newest[1] if newest else "nothing"
        problems.append(f"pyproject.toml says {version}, the newest entry of CHANGELOG.md is {found}")
    if tags and f"v{version}" not in tags:
        problems.append(f"pyproject.toml says {version}, HEAD is tagged {', '.join(tags)}, not v{version}")
    return problems


def run(*command: str | Path, **options: object) -> bytes:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, **options).stdout  # type: ignore[call-overload, no-any-return]


def main() -> int:
    tags = run("git", "tag", "--points-at", "HEAD", cwd=ROOT).decode().split()
    problems = disagreements((ROOT / "pyproject.toml").read_text(), (ROOT / "CHANGELOG.md").read_text(), tags)
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    if problems:
        return 1
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", ROOT / "dist", ROOT)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    (sdist,) = (ROOT / "dist").glob("*.tar.gz")
    for package in (wheel, sdist):
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            run(Path(folder, "bin", "python"), "-m", "pip", "install", "--quiet", package)
            command = Path(folder, "bin", "toolbreaker")
            version = run(command, "--version", cwd=folder).decode().strip()
            reply = json.loads(run(command, "serve", input=GUARD, cwd=folder))
            if reply["result"]["decision"] != "allow":
                print(f"release: {package.name} answers {reply}", file=sys.stderr)
                return 1
            print(f"{package.name}: {version}, installs and answers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
