#!/usr/bin/env python3
"""Counts what the identities of recorded calls look like, and lists texts that share one, or almost do.

usage: identities.py [--merges KIND | --splits] FILE.jsonl.gz ...

A file holds one session a line: {session, outcome, messages: [[method, params], …]}. The table says, for each kind, how
many calls carry one and how many distinct ones there are; then what an identity costs. `--merges cmd` prints the groups
of different commands that share a `cmd`: each should be one action. `--splits` prints commands that have the same
letters but for quotes, blanks and comments, and yet another `cmd`: each should be another action.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from breaker.identity.identify import Identifier
from breaker.settings import KINDS, Settings

_COMMENT = re.compile(r"(?:^|\s)#[^\n]*")
_SILENT = re.compile(r"""["'\\;\s]""")


def calls(paths: Iterable[Path]) -> Iterator[tuple[str, Any]]:
    """The guarded calls of recorded sessions."""
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for line in lines:
                for method, params in json.loads(line)["messages"]:
                    if method == "guard":
                        yield params["tool"], params["arguments"]


class Count:
    """What the identities of some calls look like."""

    def __init__(self, recorded: Iterable[tuple[str, Any]]) -> None:
        self.calls = self.commands = self.fallbacks = 0
        self.carrying: Counter[str] = Counter()
        self.distinct: defaultdict[str, set[str]] = defaultdict(set)
        self.texts: defaultdict[str, set[str]] = defaultdict(set)  # of commands, by fingerprint
        self.loose: defaultdict[str, dict[str, str]] = defaultdict(dict)  # cmd: text, by the letters alone
        self.costs: list[float] = []  # seconds of calls that were not seen before
        self.slowest = ""
        identifier = Identifier(Settings())
        seen: set[str] = set()
        for tool, arguments in recorded:
            self.calls += 1
            name = f"{tool} {json.dumps(arguments)}"
            if name not in seen:
                seen.add(name)
                cost = _cost(identifier, tool, arguments)
                if cost > 0.001:  # perhaps the garbage collector ran
                    cost = min(cost, _cost(Identifier(Settings()), tool, arguments))
                if cost > max(self.costs, default=0):
                    self.slowest = name
                self.costs.append(cost)
            self._add(identifier, tool, arguments)
        self.costs.sort()

    def _add(self, identifier: Identifier, tool: str, arguments: Any) -> None:
        identity = identifier.identify(tool, arguments, all_kinds=True)
        self.carrying.update({fingerprint.partition(":")[0] for fingerprint in identity.fingerprints})
        for fingerprint in identity.fingerprints:
            self.distinct[fingerprint.partition(":")[0]].add(fingerprint)
        if identity.command is None:
            return
        self.commands += 1
        self.fallbacks += identity.script is None or identity.script.fallback
        for fingerprint in identity.fingerprints:
            self.texts[fingerprint].add(identity.command)
            if fingerprint.startswith("cmd:"):
                letters = _SILENT.sub("", _COMMENT.sub("", identity.command))
                self.loose[letters].setdefault(fingerprint, identity.command)

    def merges(self, kind: str) -> Iterator[tuple[str, list[str]]]:
        """Fingerprints of a kind that different texts share, with these."""
        for fingerprint, group in self.texts.items():
            if fingerprint.startswith(f"{kind}:") and len(group) > 1:
                yield fingerprint, sorted(group)

    def splits(self) -> Iterator[list[str]]:
        """Texts with the same letters and different `cmd`s."""
        for group in self.loose.values():
            if len(group) > 1:
                yield sorted(group.values())

    def cost(self, share: float) -> float:
        """Microseconds that this share of the calls stays under."""
        return self.costs[min(int(len(self.costs) * share), len(self.costs) - 1)] * 1e6

    def table(self) -> str:
        """The counts, as Markdown."""
        rows = [f"| {kind} | {self.carrying[kind]} | {len(self.distinct[kind])} |" for kind in KINDS]
        share = self.fallbacks / max(self.commands, 1)
        return "\n".join(
            [
                f"{self.calls} calls, {self.commands} of them commands, {self.fallbacks} ({share:.2%}) broken.",
                "",
                "| kind | calls | distinct |",
                "|---|---|---|",
                *rows,
                "",
                f"{len(self.costs)} distinct calls cost p50 {self.cost(0.5):.0f} µs, p90 {self.cost(0.9):.0f}, "
                f"p99 {self.cost(0.99):.0f}, at most {self.cost(1):.0f}.",
            ]
        )


def _cost(identifier: Identifier, tool: str, arguments: Any) -> float:
    start = time.process_time()
    identifier.identify(tool, arguments)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--merges", metavar="KIND")
    parser.add_argument("--splits", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    count = Count(calls(options.files))
    print(count.table())
    print(f"\nThe dearest: {count.slowest[:200]}")
    if options.merges:
        for fingerprint, group in count.merges(options.merges):
            print(f"\n{fingerprint[:160]}", *(f"    {text[:300]!r}" for text in group), sep="\n")
    if options.splits:
        for group in count.splits():
            print("", *(f"    {text[:300]!r}" for text in group), sep="\n")


if __name__ == "__main__":
    main()
