"""Write the authored sessions out, one JSON line a session: `PYTHONPATH=tests python -m judgement.write`."""

from __future__ import annotations

import json
import pathlib

from judgement.authored_loops import LOOPS
from judgement.authored_work import WORK

HERE = pathlib.Path(__file__).parent


def lines(authors: list) -> str:  # type: ignore[type-arg]
    return "".join(json.dumps(author().case, ensure_ascii=False) + "\n" for author in authors)


FILES = {"loops.jsonl": LOOPS, "work.jsonl": WORK}

if __name__ == "__main__":
    for name, authors in FILES.items():
        (HERE / name).write_text(lines(authors), encoding="utf-8")
