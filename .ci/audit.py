"""Ask PyPI's advisories about every dependency in requirements.lock. Never says that all is well without an answer.

Exit status 1: an advisory; 2: some or all dependencies could not be looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = (
    "-m", "pip_audit", "--requirement", str(ROOT / "requirements.lock"), "--require-hashes", "--disable-pip",
    "--progress-spinner", "off", "--format", "json",
)  # fmt: skip


def verdict(report: str) -> tuple[int, list[str]]:
    """The exit status and what to say about a report of pip-audit; one that is no JSON is no answer."""
    try:
        found = json.loads(report)["dependencies"]
    except (ValueError, LookupError, TypeError):
        return 2, ["the advisories could not be reached: NOTHING WAS AUDITED"]
    skipped = [each["name"] for each in found if "skip_reason" in each]
    known = [each for each in found if "skip_reason" not in each]
    said = [f"{each['name']} {each['version']}: {vuln['id']}" for each in known for vuln in each["vulns"]]
    status = 1 if said else 0
    if skipped or not found:
        said.append(f"NOT AUDITED, no answer about {', '.join(skipped) or 'anything'}")
        status = status or 2
    return status, said or [f"{len(known)} dependencies, no advisory"]


def main() -> int:
    done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, check=False)
    status, said = verdict(done.stdout)
    for line in said:
        print(f"audit: {line}")
    return status


if __name__ == "__main__":
    sys.exit(main())
