"""Turns a parsed script into what it really runs, and into one canonical line.

Wrappers are taken off, scripts inside words are read (`bash -c`, `eval`, a heredoc to a shell), and each command
knows the directory it runs in and the variables that the script gave a value before.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from msgspec import Struct

from breaker.shell.options import is_volatile, read_arguments
from breaker.shell.parse import parse, spell
from breaker.shell.programs import base_name, family, program
from breaker.shell.quoting import quote
from breaker.shell.script import Command, Redirect, Script, Word
from breaker.shell.values import HOLE, MAX_ALTERNATIVES, Values, resolve
from breaker.shell.words import split_words
from breaker.shell.wrappers import (
    SHELLS,
    WRAPPERS,
    Wrapped,
    fd_action,
    find_actions,
    placeholder,
    runs_nothing,
    shell_call,
    unwrap,
)

MAX_DEPTH = 8
"""Scripts inside the words of scripts. Recorded commands have at most two."""

PSEUDO = frozenset({"for", "select", "case", "[[", "(("})
"""First words of commands that run no program."""

_SYSTEM_BIN = re.compile(r"(?:/usr(?:/local)?|/opt/homebrew)?/s?bin/|/snap/bin/")
_PLAIN_BEFORE = frozenset({"", ";", "&&", "||", "|", "|&", "&", "!"})
_SUBSTITUTIONS = frozenset({"$(", "<(", ">("})
_OPENERS = frozenset({"{", "if", "while", "until"})
_CLOSERS = frozenset({"}", "fi", "done", "esac"})
_SETTERS = frozenset({"export", "declare", "local", "readonly", "typeset"})
_POWERSHELLS = frozenset({"pwsh", "powershell"})
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Simple(Struct, frozen=True):
    """One command that is run: a program without its wrappers.

    `program` is the base name, "" for assignments and redirections alone. `directory` is where it runs: "" for where
    the script began, None when an expansion decides. `values` holds the variables that were given a literal before
    it. `stdin` is the text on its standard input, where the script holds it.
    """

    program: str
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    directory: str | None = ""
    values: Values = {}
    stdin: str | None = None
    stdin_expands: bool = False
    assignments: tuple[tuple[str, Word], ...] = ()


class Reading(Struct, frozen=True):
    """`commands` in source order, `verbs` (each once), and `spelled`: the whole script in its canonical spelling."""

    commands: tuple[Simple, ...]
    verbs: tuple[str, ...]
    spelled: str


def read(script: Script, directory: str = "") -> Reading:
    """Reads a script that starts in `directory`, which is a `cd` in front of it."""
    reader = _Reader()
    if directory:
        reader.directory = join("", directory)
    spelled, _ = reader.read(script)
    if directory and spelled:
        spelled = f"cd {quote(directory)} && {spelled}"
        reader.verbs = {"cd": None, **reader.verbs}
    return Reading(tuple(reader.commands), tuple(reader.verbs), spelled)


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


def _normal(path: str) -> str:
    if path.startswith("./") or "//" in path or "/." in path or path.endswith("/"):
        return posixpath.normpath(path)
    return path


class _Reader:
    def __init__(self, depth: int = 0) -> None:
        self.commands: list[Simple] = []
        self.verbs: dict[str, None] = {}
        self.directory: str | None = ""
        self.values: dict[str, tuple[str, ...]] = {}
        self.depth = depth
        # What an open group goes back to: whether it has a directory of its own, that directory, the variables.
        self.groups: list[tuple[bool, str | None, dict[str, tuple[str, ...]]]] = []
        self.group_directory: str | None = ""
        self.pushed: list[str | None] = []
        self.previous: Simple | None = None

    def read(self, script: Script) -> tuple[str, int]:
        """The canonical spelling of a script, and how many commands it has on its own level."""
        commands = script.commands
        parts: list[str] = []
        alone = len(commands) == 1
        inner: list[_Substitution] = []
        for command in commands:
            before = command.before
            if before not in _PLAIN_BEFORE:
                before = self.enter(before, command, parts, inner)
            elif inner:
                inner[-1].raw.append(command)
            if not command.words and not command.redirects and not command.assignments:
                parts.append(before)
                continue
            piped = before in ("|", "|&")
            spelled = self.read_command(command, alone and not before, piped)
            parts.append(f"{before} {spelled}" if before else spelled)
        while inner:
            inner.pop().close(parts)
        return " ".join(parts), len(parts)

    # ---- groups, substitutions, directories, variables

    def enter(self, before: str, command: Command, parts: list[str], inner: list[_Substitution]) -> str:
        """Follows groups and substitutions that open and close in front of a command; what is left to spell."""
        shown: list[str] = []
        fresh = False
        for sign in before.split(" "):
            if sign in _SUBSTITUTIONS:
                self.groups.append((True, self.directory, self.values))
                if shown:
                    parts.append(" ".join(shown))
                    shown = []
                inner.append(_Substitution(sign, len(self.groups), len(parts)))
                fresh = True
                continue
            if sign == "(":
                self.groups.append((True, self.directory, self.values))
            elif sign in _OPENERS:
                self.groups.append((False, self.directory, self.values))
            elif sign == ")" or sign in _CLOSERS:
                if inner and sign == ")" and inner[-1].level == len(self.groups):
                    if shown:
                        parts.append(" ".join(shown))
                        shown = []
                    inner.pop().close(parts)
                    self.leave()
                    continue
                self.leave()
            elif sign == "time":
                continue
            shown.append(sign)
        if inner:
            raw = command if not fresh else _with_before(command, " ".join(shown))
            inner[-1].raw.append(raw)
        return " ".join(shown)

    def leave(self) -> None:
        if not self.groups:
            return
        own, directory, values = self.groups.pop()
        self.group_directory = directory
        if own:
            self.directory, self.values = directory, values

    def change_directory(self, words: tuple[Word, ...]) -> None:
        name = words[0].text
        if name == "popd":
            self.directory = self.pushed.pop() if self.pushed else None
            return
        if name == "pushd":
            self.pushed.append(self.directory)
        targets = [word for word in words[1:] if word.text[:1] not in "-+" or word.text == "-"]
        if not targets:
            self.directory = "~" if name == "cd" else None
        elif targets[0].text == "-" or has_expansion(targets[0]):
            self.directory = None
        else:
            self.directory = join(self.directory, targets[0].text)

    def assign(self, name: str, word: Word) -> None:
        values = dict(self.values)
        if name[-1:] == "+":
            name = name[:-1]
            old = values.get(name, (HOLE,))
            values[name] = tuple(head + tail for head in old for tail in resolve(word, self.values))[:MAX_ALTERNATIVES]
        elif word.text[:1] == "(" and not word.literal:
            items = self.array_items(word.text)
            values[f"{name}[@]"] = values[f"{name}[*]"] = items or (HOLE,)
            values[name] = items[:1] or (HOLE,)
            for index, item in enumerate(items):
                values[f"{name}[{index}]"] = (item,)
        else:
            values[name] = resolve(word, self.values)
        self.values = values

    def array_items(self, text: str) -> tuple[str, ...]:
        commands = parse("x " + text[1:].removesuffix(")").replace("\n", " ")).commands
        words = commands[0].words[1:] if commands else ()
        return tuple(value for word in words for value in resolve(word, self.values))[:MAX_ALTERNATIVES]

    def bind_loop(self, words: tuple[Word, ...]) -> None:
        """`for NAME in WORDS`."""
        if len(words) < 2:
            return
        items: list[str] = []
        for word in words[3:]:
            bare = not word.literal and '"' not in word.key
            for value in resolve(word, self.values):
                items += value.split() if bare else [value]
        unknown = any(has_expansion(word) and "$" not in word.text for word in words[3:])
        values = dict(self.values)
        values[words[1].text] = (HOLE,) if unknown or not items or len(items) > MAX_ALTERNATIVES else tuple(items)
        self.values = values

    # ---- commands

    def read_command(self, command: Command, alone: bool, piped: bool) -> str:
        words, redirects, assignments = command.words, command.redirects, command.assignments
        if not words:
            for name, value in assignments:
                self.assign(name, value)
            if redirects:
                directory = self.directory if assignments or not command.before else self.group_directory
                if command.before.rsplit(" ", 1)[-1] not in _CLOSERS and command.before[-1:] != ")":
                    directory = self.directory
                self.add("", (), redirects, assignments, directory=directory)
            self.previous = None
            return " ".join([f"{name}={value.key}" for name, value in assignments] + _spell_redirects(redirects))
        stdin, expands = _given_stdin(redirects)
        if stdin is None and piped and self.previous is not None:
            stdin, expands = _printed(self.previous)
        head = [f"{name}={value.key}" for name, value in assignments]
        only = alone and not redirects and not assignments
        core = self.read_words(words, redirects, assignments, stdin, expands, only)
        if not redirects:
            return " ".join([*head, core]) if head else core
        return " ".join([*head, core, *_spell_redirects(redirects)])

    def read_words(
        self,
        words: tuple[Word, ...],
        redirects: tuple[Redirect, ...],
        assignments: tuple[tuple[str, Word], ...],
        stdin: str | None,
        expands: bool,
        only: bool,
    ) -> str:
        """Reads one command's words to what it runs, and returns their canonical spelling."""
        kept: list[str] = []
        while True:
            first = words[0]
            name = first.text
            if not first.literal:
                words = self.resolve_program(words)
                name = words[0].text
            elif name in PSEUDO:
                if name in ("for", "select", "case"):
                    self.groups.append((False, self.directory, self.values))
                    if name != "case":
                        self.bind_loop(words)
                self.add(name, words, redirects, (), runs=False)
                return " ".join([*kept, *(word.key for word in words)])
            name = base_name(name)
            wrapped = unwrap(name, words)
            if wrapped is None:
                break
            role = wrapped.wrapper.role
            if role == "runner":
                self.verbs[name] = None
                self.add(name, wrapped.own + wrapped.rest, redirects, assignments)
                redirects, assignments = (), ()
            if role != "same":
                kept += spell_words(name, wrapped.own)
            if wrapped.script and wrapped.wrapper is not _ENV:
                return self.read_wrapped_script(name, words, wrapped, redirects, kept, only)
            words = wrapped.inner
            if wrapped.script:  # env -S
                split = parse(wrapped.script[0].text).commands
                words = (split[0].words if split else ()) + words
                if not words:
                    return " ".join(kept)
            replaced = placeholder(name, wrapped.own)
            items = stdin.split() if name == "xargs" and stdin is not None and not expands else []
            if replaced:
                words = _with_holes(words, replaced, items[0] if len(items) == 1 else HOLE)
            elif items:
                return " ".join([*kept, self.read_filled(words, items)])
            if wrapped.rest:
                inner = self.read_words(words, redirects, assignments, stdin, expands, False)
                return " ".join([*kept, inner, *(word.key for word in wrapped.rest)])
        core = self.read_program(name, words, redirects, assignments, stdin, expands, only and not kept)
        return " ".join([*kept, core]) if kept else core

    def read_program(
        self,
        name: str,
        words: tuple[Word, ...],
        redirects: tuple[Redirect, ...],
        assignments: tuple[tuple[str, Word], ...],
        stdin: str | None,
        expands: bool,
        only: bool,
    ) -> str:
        if name in SHELLS:
            call = shell_call(words)
            if call.script is not None:
                inlined = self.read_script(call.script, call.arguments, only)
                if redirects or assignments:
                    self.add("", (), redirects, assignments)
                if inlined is not None:
                    return inlined
                return " ".join(spell_words(name, words))
            if not call.file and stdin is not None:
                self.read_text(stdin, self.values if expands else {})
                self.add("", (), redirects, assignments)
                return " ".join(spell_words(name, words))
        elif name in _POWERSHELLS:
            self.read_powershell(words)
        elif name == "cd" or name == "pushd" or name == "popd":
            self.change_directory(words)
        elif name in _SETTERS:
            for word in words[1:]:
                variable, equals, _ = word.text.partition("=")
                if equals and _NAME.match(variable):
                    self.assign(variable, _value_of(word, len(variable) + 1))
        elif name == "read":
            values = dict(self.values)
            values.update((word.text, (HOLE,)) for word in words[1:] if _NAME.match(word.text))
            self.values = values
        elif name in ("find", "fd", "fdfind"):
            actions = find_actions(words) if name == "find" else [fd_action(words)]
            actions = [action for action in actions if action]
            if actions:
                return self.read_actions(name, words, actions, redirects, assignments)
        if runs_nothing(name, words):
            self.add(name, words, redirects, assignments, runs=False)
        else:
            self.add(name, words, redirects, assignments, stdin=stdin, expands=expands)
        return " ".join(spell_words(name, words))

    def read_actions(
        self,
        name: str,
        words: tuple[Word, ...],
        actions: list[tuple[Word, ...]],
        redirects: tuple[Redirect, ...],
        assignments: tuple[tuple[str, Word], ...],
    ) -> str:
        """The commands of `find -exec` and `fd -x`. They stay as written in the spelling."""
        self.add(name, words, redirects, assignments)
        for action in actions:
            self.read_words(_with_holes(action, "{"), (), (), None, False, False)
        return " ".join(spell_words(name, words))

    def read_filled(self, words: tuple[Word, ...], items: list[str]) -> str:
        """A command that xargs fills with words which the script itself prints; spelled without them."""
        filled = (*words, *(Word(item, item) for item in items[:MAX_ALTERNATIVES]))
        self.read_words(filled, (), (), None, False, False)
        quiet = _Reader(MAX_DEPTH)
        return quiet.read_words(words, (), (), None, False, False)

    def read_wrapped_script(
        self,
        name: str,
        words: tuple[Word, ...],
        wrapped: Wrapped,
        redirects: tuple[Redirect, ...],
        kept: list[str],
        only: bool,
    ) -> str:
        """`eval`, `watch`, `su -c`, `flock -c`: their words are a script."""
        if wrapped.wrapper.joined:
            script = wrapped.script
            text = Word(
                " ".join(word.text for word in script),
                " ".join(word.key for word in script),
                all(word.literal for word in script),
            )
        else:
            text = wrapped.script[0]
        only = only and wrapped.wrapper.role == "same" and not wrapped.rest
        inlined = self.read_script(text, (), only, inside=name == "eval")
        if redirects:
            self.add("", (), redirects, ())
        if inlined is not None and not wrapped.rest:
            return " ".join([*kept, inlined])
        if wrapped.wrapper.role == "same":
            return " ".join(word.key for word in words)
        return " ".join([*kept, *(word.key for word in (*wrapped.script, *wrapped.rest))])

    def read_script(self, word: Word, arguments: tuple[Word, ...], only: bool, inside: bool = False) -> str | None:
        """Reads a script in a word; its spelling when it is the same action as the word. `inside`: `cd` stays."""
        if self.depth >= MAX_DEPTH:
            return None
        values = dict(self.values) if inside or not word.literal else {}
        for index, argument in enumerate(arguments):
            values[str(index)] = resolve(argument, self.values)
        spelled, count, reader = self.read_nested(word.text, values)
        if inside:
            self.directory, self.values = reader.directory, reader.values
        if not word.literal or arguments or not spelled:
            return None
        return spelled if only or count == 1 else f"( {spelled} )"

    def read_text(self, text: str, values: Mapping[str, tuple[str, ...]]) -> None:
        if self.depth < MAX_DEPTH:
            self.read_nested(text, dict(values))

    def read_nested(self, text: str, values: dict[str, tuple[str, ...]]) -> tuple[str, int, _Reader]:
        reader = _Reader(self.depth + 1)
        reader.commands, reader.verbs = self.commands, self.verbs
        reader.directory, reader.values = self.directory, values
        spelled, count = reader.read(parse(text))
        return spelled, count, reader

    def read_powershell(self, words: tuple[Word, ...]) -> None:
        """`pwsh -Command …`: the words behind it, by PowerShell's quoting."""
        for index, word in enumerate(words):
            if word.text.lower() in ("-command", "-c"):
                text = " ".join(item.text for item in words[index + 1 :])
                for command in split_words(text).commands:
                    if command.words:
                        lowered = _lower(command.words)
                        self.add(base_name(lowered[0].text), lowered, command.redirects, ())
                return

    def resolve_program(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """`$CURL x`: what the variable holds, when the script said it."""
        texts = resolve(words[0], self.values)
        if len(texts) == 1 and HOLE not in texts[0] and texts[0].strip():
            split = texts[0].split()
            return (Word(split[0], words[0].key), *(Word(text, "") for text in split[1:]), *words[1:])
        return words

    def add(
        self,
        name: str,
        words: tuple[Word, ...],
        redirects: tuple[Redirect, ...],
        assignments: tuple[tuple[str, Word], ...],
        *,
        runs: bool = True,
        stdin: str | None = None,
        expands: bool = False,
        directory: str | None = "",
    ) -> None:
        where = directory if not words and not name and directory != "" else self.directory
        simple = Simple(name, words, redirects, where, self.values, stdin, expands, assignments)
        self.commands.append(simple)
        self.previous = simple
        if runs and name and HOLE not in name and "$" not in name:
            self.verbs[name] = None


class _Substitution:
    """An open substitution: its commands, to spell it as the parser does and as it should be."""

    def __init__(self, sign: str, level: int, start: int) -> None:
        self.sign, self.level, self.start = sign, level, start
        self.raw: list[Command] = []

    def close(self, parts: list[str]) -> None:
        """Takes the spelled commands out of `parts`; in the word that holds them they get their canonical spelling."""
        own = " ".join(part for part in parts[self.start :] if part)
        del parts[self.start :]
        raw = spell(self.raw)
        if parts and raw and raw != own:
            parts[-1] = parts[-1].replace(f"{self.sign}{raw})", f"{self.sign}{own})", 1)


def spell_words(name: str, words: tuple[Word, ...]) -> list[str]:
    """The keys of a command's words without what makes no other action of that program."""
    first = words[0]
    key = first.key
    if first.text[:1] == "/" and first.literal and _SYSTEM_BIN.match(first.text):
        key = quote(base_name(first.text)) if _SYSTEM_BIN.sub("", first.text, count=1) == base_name(first.text) else key
    if len(words) == 1:
        return [key]
    row = program(name)
    if row.drops:
        return [key, *_significant(words, name)]
    if family(name) in ("python", "pypy"):
        for index, word in enumerate(words):
            if word.text == "-m" and index + 1 < len(words):
                return [
                    key,
                    *(w.key for w in words[1 : index + 1]),
                    *spell_words(words[index + 1].text, words[index + 1 :]),
                ]
            if word.text[:1] != "-" and index:
                break
    return [key, *(word.key for word in words[1:])]


def _significant(words: tuple[Word, ...], name: str) -> list[str]:
    keys: list[str] = []
    for argument in read_arguments(words, program(name)):
        if is_volatile(argument):
            continue
        if argument.name:
            keys.append(argument.name)
        if argument.value is not None:
            keys.append(argument.value.key)
    return keys


def _spell_redirects(redirects: tuple[Redirect, ...]) -> list[str]:
    parts = []
    for redirect in redirects:
        fd = "" if redirect.fd == "1" and redirect.operator[0] == ">" else redirect.fd
        body = redirect.heredoc
        if body is not None:
            expands = not redirect.heredoc_quoted and ("$" in body or "`" in body or "\\" in body)
            parts.append(f"{fd}<<${body}" if expands else f"{fd}<<{quote(body)}")
        else:
            parts.append(f"{fd}{redirect.operator}{redirect.target.key if redirect.target else ''}")
    return parts


def _given_stdin(redirects: tuple[Redirect, ...]) -> tuple[str | None, bool]:
    """The text of a heredoc or here-string, and whether expansions in it are unknown yet."""
    for redirect in reversed(redirects):
        if redirect.heredoc is not None:
            return redirect.heredoc, not redirect.heredoc_quoted
        if redirect.operator == "<<<" and redirect.target is not None:
            return redirect.target.text, not redirect.target.literal
    return None, False


def _printed(simple: Simple) -> tuple[str | None, bool]:
    """What a command in front of a pipe prints, when the script says it: `cat <<EOF`, `echo text`."""
    if any(redirect.operator[0] in ">&" and redirect.fd != "2" for redirect in simple.redirects):
        return None, False
    if simple.program == "cat" and all(word.text in ("-", "cat") for word in simple.words[1:]):
        return simple.stdin, simple.stdin_expands
    if simple.program in ("echo", "printf"):
        words = simple.words[1:]
        while simple.program == "echo" and words and words[0].text in ("-n", "-e", "-ne", "-en", "-E"):
            words = words[1:]
        if simple.program == "printf" and len(words) == 2 and words[0].text in ("%s", "%s\\n", "%b"):
            words = words[1:]
        elif simple.program == "printf" and len(words) != 1:
            return None, False
        return " ".join(word.text for word in words), not all(word.literal for word in words)
    return None, False


def _with_holes(words: tuple[Word, ...], replaced: str, value: str = HOLE) -> tuple[Word, ...]:
    """The words with a hole (or a known value) where xargs or find put something else."""
    if not any(replaced in word.text for word in words):
        return words
    shape = r"\{[\d./+-]*\}" if replaced == "{" else re.escape(replaced)
    return tuple(
        Word(re.sub(shape, lambda _: value, word.text), word.key, literal=value != HOLE)
        if replaced in word.text
        else word
        for word in words
    )


def _with_before(command: Command, before: str) -> Command:
    return Command(command.words, command.assignments, command.redirects, before)


def _value_of(word: Word, start: int) -> Word:
    text = word.text[start:]
    return Word(text, text, word.literal)


_ENV = WRAPPERS["env"][0]


def read_powershell(script: Script, directory: str = "") -> Reading:
    """Reads a PowerShell line that was split by words: no grammar, names and options without case."""
    reader = _Reader()
    reader.directory = join("", directory) if directory else ""
    parts: list[str] = []
    for command in script.commands:
        parts.append(command.before)
        if not command.words and not command.redirects:
            continue
        words = _lower(command.words)
        name = base_name(words[0].text) if words else ""
        if name in ("cd", "set-location", "sl", "pushd", "push-location"):
            reader.verbs[name] = None
            reader.change_directory(words)
        else:
            reader.add(name, words, command.redirects, ())
        parts += spell_words(name, words) if words else []
        parts += _spell_redirects(command.redirects)
    spelled = " ".join(part for part in parts if part)
    if directory and spelled:
        spelled = f"cd {quote(directory)} && {spelled}"
    return Reading(tuple(reader.commands), tuple(reader.verbs), spelled)


def _lower(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if not words:
        return words
    first = Word(words[0].text.lower(), words[0].key.lower(), words[0].literal)
    if "-" not in first.text and first.text not in ("iwr", "irm"):
        return (first, *words[1:])
    return (
        first,
        *(Word(w.text.lower(), w.key.lower(), w.literal) if w.text[:1] == "-" else w for w in words[1:]),
    )
