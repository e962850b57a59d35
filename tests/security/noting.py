"""Run as a process of its own: import all modules of the packages named, and print what they compile as JSON.

A row is the module's file, the name of the constant ("" where the pattern stands in a table), source and flags.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from typing import Any

original = re.compile
compiled: dict[tuple[str, re.Pattern[Any]], None] = {}


def noting(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
    module = sys._getframe(1).f_globals.get("__name__", "")
    made = original(pattern, flags)
    if module.partition(".")[0] in sys.argv[1:]:
        compiled[module, made] = None
    return made


def name_in(module: str, pattern: re.Pattern[Any]) -> str:
    return next((name for name, value in vars(sys.modules[module]).items() if value is pattern), "")


def text(source: Any) -> str:
    return source.decode("latin-1") if isinstance(source, bytes) else str(source)


re.compile = noting  # type: ignore[assignment]
for package in sys.argv[1:]:
    for each in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if not each.name.endswith(".__main__"):
            importlib.import_module(each.name)
print(
    json.dumps(
        [
            (
                f"{module.replace('.', '/')}.py",
                name_in(module, made),
                text(made.pattern),
                made.flags & ~re.UNICODE,
                isinstance(made.pattern, bytes),
            )
            for module, made in compiled
        ]
    )
)
