"""What one more call costs where there is more of something. Flat is the aim, and linear for a command's length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from engine import NUMBERS, Event, Subject, commands, costs, event, fresh
from measure import PROFILES, head, p50, row

LENGTHS = (100, 1_000, 10_000, 100_000)


def growth(_: Path, rounds: int) -> None:
    some, few = max(5, rounds // 4), max(5, rounds // 25)
    _grow("window, calls", (16, 100, 1_000), _with_window, some)
    _grow("agents", (10, 1_000, 10_000), _with_agents, some)
    _grow("command, characters of arguments", LENGTHS, _with_arguments, few)
    _grow("command, characters of a heredoc", LENGTHS, _with_heredoc, few)


def _grow(what: str, sizes: tuple[int, ...], subject: Callable[[str, int], Subject], rounds: int) -> None:
    """Print what a call costs, guard and settle, at each size."""
    found = costs({(profile, size): subject(profile, size) for profile in PROFILES for size in sizes}, rounds)
    titles = (f"{size:,}".replace(",", " ") for size in sizes)
    head(f"Guard and settle, µs of CPU time at p50, by {what}", *titles, "last to first")
    for profile in PROFILES:
        figures = [p50(found[profile, size].together()) for size in sizes]
        row(f"`{profile}`", *figures, figures[-1] / figures[0])


def _with_window(profile: str, size: int) -> Subject:
    return _filled(Subject(fresh(profile, window=size), commands()), size)


def _with_agents(profile: str, size: int) -> Subject:
    return _filled(Subject(fresh(profile), commands(agents=size)), size)


def _with_arguments(profile: str, size: int) -> Subject:
    return Subject(fresh(profile), _long("python3 tools/lint.py", " src/{0}/module_{1}.py", "", size))


def _with_heredoc(profile: str, size: int) -> Subject:
    return Subject(fresh(profile), _long("cat > notes_{0}.txt <<'END'", "\nThe {1}th line of {0}", "\nEND", size))


def _filled(subject: Subject, calls: int) -> Subject:
    costs({"": subject}, calls)
    return subject


def _long(begin: str, part: str, end: str, length: int) -> Iterator[Event]:
    """Commands never seen before of so many characters. Parts hold the call's number and their own."""
    for number in NUMBERS:
        parts = (part.format(number, at) for at in range(length // len(part.format(number, 0)) + 1))
        command = begin.format(number) + "".join(parts)
        yield event(number, "bash", command=command[: length - len(end)] + end)
