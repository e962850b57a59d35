"""What a sweep found, for people: a table, bars of text, and the same bars as SVG."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from .sweep import Cell, Tally
from .table import clean

_BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def shown(value: Any) -> str:
    """A setting's value as it was given."""
    return value if isinstance(value, str) else json.dumps(value)


def outcomes_of(cells: Sequence[Cell]) -> list[str]:
    """The outcome labels; none when no session has one."""
    names = sorted({outcome for cell in cells for outcome in cell.outcomes})
    return names if any(names) else []


def table(cells: Sequence[Cell]) -> Iterator[str]:
    """A row a combination. Below an outcome stands how many of its sessions were stopped."""
    outcomes = outcomes_of(cells)
    depth = max((len(cell.total.runs) for cell in cells), default=0)
    heads = [
        *(cells[0].values if cells else ()),
        "stopped",
        *(f"of {clean(outcome or '(none)', 24)}" for outcome in outcomes),
        "blocked",
        "advised",
        "advisories",
        *(f"≥{run + 1}" for run in range(depth)),
    ]
    rows = [
        [
            *map(shown, cell.values.values()),
            _share(cell.total),
            *(_share(cell.outcomes.get(outcome, Tally())) for outcome in outcomes),
            str(cell.total.blocked),
            str(cell.total.advised),
            str(cell.total.advisories),
            *(str(count) for count in cell.total.runs or [0] * depth),
        ]
        for cell in cells
    ]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for row in (heads, *rows):
        yield "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))


def _share(tally: Tally) -> str:
    return f"{tally.stopped}/{tally.sessions}"


def label(cell: Cell) -> str:
    return " ".join(f"{key}={shown(value)}" for key, value in cell.values.items())


def bars(cells: Sequence[Cell]) -> Iterator[str]:
    """Sessions stopped, a bar a combination; the longest fills the width."""
    most = max((cell.total.stopped for cell in cells), default=0)
    labels = [label(cell) for cell in cells]
    width = max(map(len, labels), default=0)
    for name, cell in zip(labels, cells, strict=True):
        total = cell.total
        share = f" ({100 * total.stopped / total.sessions:.1f}%)" if total.sessions else ""
        yield f"{name.ljust(width)}  {bar(total.stopped, most)} {total.stopped}{share}"


def bar(value: int, most: int) -> str:
    """A bar in eighths of a character."""
    eighths = round(8 * _BAR * value / most) if most else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb")
"""Paul Tol's bright scheme: told apart by colour-blind people too."""
_ROW, _LEFT, _WIDE = 22, 16, 420


def svg(cells: Sequence[Cell], title: str = "Sessions stopped") -> str:
    """The bars as SVG, divided by outcome. Labels come from recordings, so they are escaped."""
    outcomes = outcomes_of(cells) or [""]
    most = max((cell.total.stopped for cell in cells), default=0) or 1
    labels = [label(cell) for cell in cells]
    left = _LEFT + round(6.6 * max(map(len, labels), default=0)) + 10
    height = 40 + _ROW * len(cells) + (24 if len(outcomes) > 1 else 6)
    width = left + _WIDE + 110
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{_text(title)}" font-family="system-ui, sans-serif" font-size="12">',
        "<style>text{fill:#222}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
        f'<text x="{_LEFT}" y="22" font-size="14" font-weight="600">{_text(title)}</text>',
    ]
    for row, (name, cell) in enumerate(zip(labels, cells, strict=True)):
        y, x = 38 + row * _ROW, float(left)
        parts.append(f'<text x="{_LEFT}" y="{y + 12}" font-family="monospace" font-size="11">{_text(name)}</text>')
        for place, outcome in enumerate(outcomes):
            tally = cell.outcomes.get(outcome, Tally())
            wide = _WIDE * tally.stopped / most
            if wide:
                said = f"{outcome or 'all'}: {tally.stopped} of {tally.sessions}"
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="15" '
                    f'fill="{_COLOURS[place % len(_COLOURS)]}"><title>{_text(said)}</title></rect>'
                )
            x += wide
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 12}">{cell.total.stopped} of {cell.total.sessions}</text>')
    if len(outcomes) > 1:
        x = float(_LEFT)
        for place, outcome in enumerate(outcomes):
            y = height - 18
            said = clean(outcome or "(none)", 30)
            parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{_COLOURS[place % len(_COLOURS)]}"/>')
            parts.append(f'<text x="{x + 15}" y="{y + 10}">{_text(said)}</text>')
            x += 35 + 7 * len(said)
    return "\n".join([*parts, "</svg>", ""])


def _text(text: str) -> str:
    return escape(clean(text), quote=True)
