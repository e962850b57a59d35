"""Where a script is while it is read: its directory, the variables whose values it says, the groups that are open."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from msgspec import Struct

from breaker.shell.parse import parse
from breaker.shell.script import Word
from breaker.shell.values import HOLE, MAX_ALTERNATIVES, Values, bounded, resolve

MAX_VARIABLES = 64
"""Variables followed of one script; further ones stay unknown."""
MAX_ARRAY = 2048
"""Characters of an array whose items are followed."""


class _State(Struct, frozen=True):
    directory: str | None
    values: Values


class _Group(Struct):
    """An open group. `own`: what it does to directory and variables ends with it. `branch`: it may not be run.

    `function` is the name that it is the body of. `before` is the state where it began, `list` where the commands
    between two `;` did, `pipeline` those between two `&&`; `piped`: a part of that pipeline was read. `ended` holds
    the variables at the end of the branches before (`then …` at an `else`).
    """

    own: bool
    branch: bool
    function: str
    before: _State
    list: _State
    pipeline: _State
    piped: bool = False
    ended: tuple[Values, ...] = ()


class Scopes:
    """The state of a script at the command that is read.

    `directory` is "" where the script began, None when an expansion decides. `closed_directory` is that of the group
    that closed last: there its redirections are opened. `exported` are the variables that programs see.
    """

    def __init__(self, directory: str | None = "", values: Values | None = None) -> None:
        self.directory = directory
        self.closed_directory = directory
        self.values: Values = values or {}
        self.exported: set[str] = set()
        self._groups: list[_Group] = []
        self._pushed: list[str | None] = []
        self._movers: set[str] = set()
        self.open()

    @property
    def level(self) -> int:
        """How many groups are open."""
        return len(self._groups)

    def open(self, *, own: bool = False, branch: bool = False, function: str = "") -> None:
        state = self._state()
        self._groups.append(_Group(own, branch, function, state, state, state))

    def close(self) -> None:
        if len(self._groups) == 1:
            return
        self.separate(";")
        group = self._groups.pop()
        before = group.before
        self.closed_directory = before.directory
        if group.own:
            self._restore(before)
        elif group.branch:
            self.values = _merged((before.values, *group.ended, self.values))
        elif group.function:
            if self.directory != before.directory:
                self._movers.add(group.function)
            self.directory = before.directory

    def separate(self, sign: str) -> None:
        """An operator between commands. The parts of a pipeline, and a list before `&`, run in shells of their own."""
        group = self._groups[-1]
        if sign in ("|", "|&"):
            group.piped = True
            self._restore(group.pipeline)
            return
        if group.piped:
            group.piped = False
            self._restore(group.pipeline)
        if sign == "&":
            self._restore(group.list)
        group.pipeline = self._state()
        if sign in (";", "&"):
            group.list = group.pipeline

    def other_branch(self) -> None:
        """`else`, `elif`, `;;`: what follows is run in place of what stands before."""
        group = self._groups[-1]
        if group.branch:
            if self.values is not group.before.values and len(group.ended) < MAX_ALTERNATIVES:
                group.ended += (self.values,)
            self.values = group.before.values

    def call(self, name: str) -> None:
        """A program is run, or a function of the script that goes nobody knows where."""
        if name in self._movers:
            self.directory = None

    def enter(self, directory: Word) -> None:
        """Where a wrapper goes before it runs a command (`env -C DIR`)."""
        self.directory = None if has_expansion(directory) else join(self.directory, directory.text)

    def change_directory(self, words: tuple[Word, ...]) -> None:
        """`cd`, `pushd` and `popd`."""
        name = words[0].text
        if name == "popd":
            self.directory = self._pushed.pop() if self._pushed else None
            return
        if name == "pushd":
            self._pushed.append(self.directory)
        targets = [word for word in words[1:] if word.text[:1] not in "-+" or word.text == "-"]
        if not targets:
            self.directory = "~" if name == "cd" else None
        elif targets[0].text == "-":
            self.directory = None
        else:
            self.enter(targets[0])

    def assign(self, name: str, word: Word) -> None:
        """`NAME=word`, `NAME+=word`, `NAME=(a b)`."""
        known = self.values
        if name[-1:] == "+":
            name = name[:-1]
            heads = known.get(name, (HOLE,))
            texts = bounded([head + tail for head in heads for tail in resolve(word, known)])
        elif word.text[:1] == "(" and not word.literal:
            self._assign_array(name, word)
            return
        else:
            texts = resolve(word, known)
        self.set({name: texts})

    def set(self, values: Mapping[str, tuple[str, ...]]) -> None:
        changed = dict(self.values)
        for name, texts in values.items():
            if name in changed or len(changed) < MAX_VARIABLES:
                changed[name] = texts
        self.values = changed

    def environment(self, assignments: Sequence[tuple[str, Word]]) -> Values:
        """The variables that a program sees, with the `assignments` in front of it."""
        known = {name: texts for name, texts in self.values.items() if name in self.exported}
        return {**known, **{name: resolve(value, self.values) for name, value in assignments}}

    def bind_loop(self, words: tuple[Word, ...]) -> None:
        """`for NAME in WORDS`."""
        if len(words) < 2:
            return
        items: list[str] = []
        for word in words[3 : 4 + MAX_ALTERNATIVES]:
            bare = not word.literal and '"' not in word.key
            for value in resolve(word, self.values):
                items += value.split() if bare else [value]
        unknown = any(has_expansion(word) and "$" not in word.text for word in words[3:])
        self.set({words[1].text: (HOLE,) if unknown or not items else bounded(items)})

    def _state(self) -> _State:
        return _State(self.directory, self.values)

    def _restore(self, state: _State) -> None:
        self.directory, self.values = state.directory, state.values

    def _assign_array(self, name: str, word: Word) -> None:
        if len(word.text) > MAX_ARRAY:
            self.set({name: (HOLE,)})
            return
        commands = parse("x " + word.text[1:].removesuffix(")").replace("\n", " ")).commands
        words = commands[0].words[1 : 2 + MAX_ALTERNATIVES] if commands else ()
        items = bounded([value for item in words for value in resolve(item, self.values)])
        every = items or (HOLE,)
        first = items[:1] or (HOLE,)
        elements = {f"{name}[{index}]": (item,) for index, item in enumerate(items[:8])}
        self.set({f"{name}[@]": every, f"{name}[*]": every, name: first, **elements})


def join(directory: str | None, path: str) -> str | None:
    """`path` as seen from where the script began."""
    if path.startswith(("/", "~")) or path[1:3] in (":\\", ":/"):
        return _normal(path)
    if directory is None:
        return None
    return _normal(f"{directory}/{path}" if directory else path)


def has_expansion(word: Word) -> bool:
    """Whether the text is not all there before the script runs. A leading `~` always means the same."""
    if word.literal:
        return False
    return any(sign in word.text for sign in "$`*?[{\x00") or word.text[:2] in ("<(", ">(")


def _merged(states: tuple[Values, ...]) -> Values:
    """Every value that a variable may have behind branches."""
    first = states[0]
    if all(state is first for state in states):
        return first
    merged: dict[str, tuple[str, ...]] = dict(first)
    for state in states[1:]:
        for name, texts in state.items():
            known = merged.get(name, ())
            if texts is not known:
                merged[name] = bounded(dict.fromkeys((*known, *texts)))
    return merged


def _normal(path: str) -> str:
    if path.startswith("./") or "//" in path or "/." in path or path.endswith("/"):
        return posixpath.normpath(path)
    return path
