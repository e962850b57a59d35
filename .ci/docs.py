"""Write the tables of breaker/README.md that come from the code. usage: docs.py [--check]"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "breaker" / "README.md"
_TABLE = re.compile(r"(<!-- settings -->\n).*?(<!-- /settings -->)", re.DOTALL)


def settings() -> str:
    """Every setting with its default, what it means and why the default is what it is."""
    from breaker.setting_table import SETTINGS

    rows = ["| setting | in `standard` | meaning | why |", "|---|---|---|---|"]
    for setting in SETTINGS:
        default = json.dumps(setting.default, ensure_ascii=False)
        rows.append(f"| `{setting.name}` | `{default}` | {setting.meaning} | {setting.reason} |")
    return "\n".join(rows)


def written(page: str) -> str:
    """The page with its tables as the code has them now."""
    return _TABLE.sub(lambda match: f"{match[1]}{settings()}\n{match[2]}", page)


def main() -> int:
    page = PAGE.read_text()
    if page == written(page):
        return 0
    if "--check" in sys.argv:
        print(f"{PAGE.name} is out of date: run `make docs`", file=sys.stderr)
        return 1
    PAGE.write_text(written(page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
