"""Turns a parsed script into what it really runs, and into one canonical line.

Wrappers are taken off, scripts inside words are read (`bash -c`, `eval`, a heredoc to a shell), and each command
knows the directory it runs in and the variables that the script gave a value before.
"""

from __future__ import annotations

import re

from msgspec import Struct

from breaker.shell.parse import PSEUDO, parse
from breaker.shell.programs import base_name
from breaker.shell.quoting import quote
from breaker.shell.scopes import Scopes, join
from breaker.shell.script import Command, Redirect, Script, Word
from breaker.shell.spelling import OpenSubstitution, heredoc_expands, spell_redirects, spell_words
from breaker.shell.values import HOLE, MAX_ALTERNATIVES, Values, resolve
from breaker.shell.words import split_words
from breaker.shell.wrappers import (
    SHELLS,
    Wrapped,
    fd_actions,
    find_actions,
    placeholder,
    runs_nothing,
    shell_call,
    unwrap,
)

MAX_DEPTH = 8
"""Scripts inside the words of scripts. Recorded commands have at most two."""
MAX_INSIDE = 65_536
"""Characters read of all scripts inside words together, and of the one that goes beyond: a script in a script in a
script would be read over and over. Recorded ones have at most 15 000."""
MAX_WRAPPERS = 16
"""Wrappers taken off one command. Recorded commands have at most three."""
MAX_BEFORE = 4096
"""Characters that are read for groups between two commands; of a text that is cut short, the rest stands there."""

BROKEN = "#"
"""Ends the spelling of a script that the shell would not run as it is: the mended one is another action."""

_OPERATORS = frozenset({";", "&&", "||", "|", "|&", "&"})
_PLAIN_BEFORE = _OPERATORS | {"", "!"}
_SUBSTITUTIONS = frozenset({"$(", "<(", ">("})
_BRANCHES = frozenset({"if", "while", "until"})
_OTHER_BRANCH = frozenset({"else", "elif", ";;", ";&", ";;&"})
_CONTINUES = _OTHER_BRANCH | {"then", "do"}
_CLOSERS = frozenset({"}", "fi", "done", "esac"})
_SETTERS = frozenset({"export", "declare", "local", "readonly", "typeset"})
_UNKNOWN_SETTERS = frozenset({"read", "unset"})
_POWERSHELLS = frozenset({"pwsh", "powershell", "cmd"})
_POWERSHELL_SCRIPT = frozenset({"-command", "-c", "/c", "/k"})
_POWERSHELL_CD = frozenset({"cd", "set-location", "sl", "pushd", "push-location"})
_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


class Simple(Struct, frozen=True):
    """One command that is run: a program without its wrappers.

    `program` is the base name, "" for assignments and redirections alone. `directory` is where it runs: "" for where
    the script began, None when an expansion decides. `values` holds the variables that were given a literal before
    it. `stdin` is the text on its standard input, where the script holds it; `stdin_expands`: expansions in it are
    still to be made.
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
    """`commands` in source order, `verbs` (each once), and `spelled`: the whole script in its canonical spelling.

    `scripts` are the texts of those that stood in words (`bash -c TEXT`).
    """

    commands: tuple[Simple, ...]
    verbs: tuple[str, ...]
    spelled: str
    scripts: tuple[str, ...] = ()


def read(script: Script, directory: str = "") -> Reading:
    """Reads a script that starts in `directory`, which is a `cd` in front of it."""
    reader = _Reader(Scopes(join("", directory) if directory else ""), _Found())
    return reader.result(reader.read(script)[0], directory)


def read_powershell(script: Script, directory: str = "") -> Reading:
    """Reads a PowerShell line that was split by words: no grammar, names and options without case."""
    reader = _Reader(Scopes(join("", directory) if directory else ""), _Found())
    parts: list[str] = []
    for command in script.commands:
        parts.append(command.before)
        parts += reader.read_powershell_command(command)
    return reader.result(" ".join(part for part in parts if part), directory)


class _Stdin(Struct, frozen=True):
    """The text on a command's standard input, None where nobody knows it, and whether it is still expanded."""

    text: str | None = None
    expands: bool = False


_UNKNOWN = _Stdin()


class _Call(Struct, frozen=True):
    """What belongs to a command beside its words, whatever wraps it."""

    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, Word], ...] = ()
    stdin: _Stdin = _UNKNOWN


_BARE = _Call()


class _Found:
    """What a script runs, with the scripts inside it; `left`: characters that may still be read of those."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.verbs: dict[str, None] = {}
        self.scripts: list[str] = []
        self.left = MAX_INSIDE


class _Reader:
    """Reads one script; what it runs gathers in `found`, which scripts inside it share."""

    def __init__(self, scopes: Scopes, found: _Found, depth: int = 0) -> None:
        self.scopes = scopes
        self.found = found
        self.depth = depth
        self.previous: Simple | None = None
        self.stdin_script = ""  # the spelling of the script on the standard input of the command that is read

    def result(self, spelled: str, directory: str) -> Reading:
        found = self.found
        verbs = found.verbs
        if directory and spelled:
            verbs, spelled = {"cd": None, **verbs}, f"cd {quote(directory)} && {spelled}"
        return Reading(tuple(found.commands), tuple(verbs), spelled, tuple(found.scripts))

    def read(self, script: Script) -> tuple[str, int]:
        """The canonical spelling of a script, and how many commands it has on its own level."""
        commands = script.commands
        parts: list[str] = []
        alone = len(commands) == 1
        inner: list[OpenSubstitution] = []
        for command in commands:
            before = command.before
            if before not in _PLAIN_BEFORE:
                before = self.enter(before, command, parts, inner)
            else:
                if before in _OPERATORS:
                    self.scopes.separate(before)
                if inner:
                    inner[-1].raw.append(command)
            if not command.words and not command.redirects and not command.assignments:
                parts.append(before)
                continue
            spelled = self.read_command(command, alone and not before, before in ("|", "|&"))
            parts.append(f"{before} {spelled}" if before else spelled)
        while inner:
            inner.pop().close(parts)
        count = len(parts)
        if script.fallback and parts:
            parts.append(BROKEN)
        return " ".join(parts), count

    def enter(self, before: str, command: Command, parts: list[str], inner: list[OpenSubstitution]) -> str:
        """Follows groups and substitutions that open and close in front of a command; what is left to spell."""
        if len(before) > MAX_BEFORE:
            return before
        scopes = self.scopes
        shown: list[str] = []
        fresh = False
        function = ""
        for sign in before.split(" "):
            if sign in _OPERATORS:
                scopes.separate(sign)
            if sign in _SUBSTITUTIONS:
                _flush(shown, parts)
                scopes.open(own=True)
                inner.append(OpenSubstitution(sign, scopes.level, len(parts)))
                fresh = True
                continue
            if sign == ")" and inner and inner[-1].level == scopes.level:
                _flush(shown, parts)
                inner.pop().close(parts)
                scopes.close()
                continue
            if sign == "(":
                scopes.open(own=True)
            elif sign == "{":
                scopes.open(function=function)
            elif sign in _BRANCHES:
                scopes.open(branch=True)
            elif sign == ")" or sign in _CLOSERS:
                scopes.close()
            elif sign in _CONTINUES:
                scopes.separate(";")
                if sign in _OTHER_BRANCH:
                    scopes.other_branch()
            elif sign == "time":
                continue
            function = sign[:-2] if sign.endswith("()") else ""
            shown.append(sign)
        left = " ".join(shown)
        if inner:
            raw = Command(command.words, command.assignments, command.redirects, left) if fresh else command
            inner[-1].raw.append(raw)
        return left

    # ---- one command

    def read_command(self, command: Command, alone: bool, piped: bool) -> str:
        """`alone`: it is the whole script. `piped`: it reads what the command before prints."""
        words, redirects, assignments = command.words, command.redirects, command.assignments
        head = [f"{name}={value.key}" for name, value in assignments]
        self.stdin_script = ""
        if words:
            stdin = _given_stdin(redirects)
            if stdin.text is None and piped and self.previous is not None:
                stdin = _printed(self.previous)
            call = _Call(redirects, assignments, stdin)
            head.append(self.read_words(words, call, alone and not redirects and not assignments))
        else:
            for name, value in assignments:
                self.scopes.assign(name, value)
            if redirects:
                last = command.before.rpartition(" ")[2]
                closes = last == ")" or last in _CLOSERS
                directory = self.scopes.closed_directory if closes else self.scopes.directory
                self.found.commands.append(Simple("", (), redirects, directory, self.scopes.values))
            self.previous = None
        if redirects:
            head += spell_redirects(redirects, self.stdin_script)
        return head[0] if len(head) == 1 else " ".join(head)

    def read_words(self, words: tuple[Word, ...], call: _Call, only: bool) -> str:
        """Reads one command's words to what it runs; their canonical spelling. `only`: they are the whole script."""
        kept: list[str] = []
        for _ in range(MAX_WRAPPERS):
            first = words[0]
            if not first.literal:
                words = self.resolve_program(words)
                first = words[0]
            elif first.text in PSEUDO:
                return " ".join([*kept, self.read_pseudo(words, call)])
            name = base_name(first.text)
            wrapped = unwrap(name, words)
            if wrapped is None:
                break
            wrapper = wrapped.wrapper
            if wrapper.role == "runner":
                self.found.verbs[name] = None
                self.add(name, wrapped.own + wrapped.rest, call)
                call = _Call(stdin=call.stdin)
            if wrapper.role != "same":
                kept += spell_words(name, wrapped.own)
            if wrapped.script:
                return self.read_wrapped_script(name, words, wrapped, call, kept, only)
            words = wrapped.inner
            if not words:
                return " ".join(kept)
            if directory := wrapped.directory:
                return " ".join([*kept, self.read_elsewhere(words, directory, call)])
            stdin = call.stdin
            items = stdin.text.split() if name == "xargs" and stdin.text is not None and not stdin.expands else []
            if replaced := placeholder(name, wrapped.own):
                words = _with_holes(words, replaced, items[0] if len(items) == 1 else HOLE)
            elif items:
                return " ".join([*kept, self.read_filled(words, items)])
            if wrapped.rest:
                inner = self.read_words(words, call, False)
                return " ".join([*kept, inner, *(word.key for word in wrapped.rest)])
        core = self.read_program(base_name(words[0].text), words, call, only and not kept, wrapped=bool(kept))
        return " ".join([*kept, core]) if kept else core

    def read_elsewhere(self, words: tuple[Word, ...], directory: Word, call: _Call) -> str:
        """What a wrapper runs in another directory; its redirections are opened in this one."""
        if call.redirects:
            self.add("", (), _Call(call.redirects))
        self.scopes.open(own=True)
        self.scopes.enter(directory)
        spelled = self.read_words(words, _Call((), call.assignments, call.stdin), False)
        self.scopes.close()
        return spelled

    def read_pseudo(self, words: tuple[Word, ...], call: _Call) -> str:
        """The head of a loop or `case`, or a test: no program is run."""
        name = words[0].text
        if name in ("for", "select", "case"):
            self.scopes.open(branch=True)
            if name != "case":
                self.scopes.bind_loop(words)
        self.add(name, words, _Call(call.redirects), runs=False)
        return " ".join(word.key for word in words)

    def read_program(self, name: str, words: tuple[Word, ...], call: _Call, only: bool, wrapped: bool) -> str:
        """`wrapped`: words of a wrapper stand before it in the spelling."""
        if name in SHELLS:
            if spelled := self.read_shell(name, words, call, only, wrapped):
                return spelled
        elif name in _POWERSHELLS:
            self.read_powershell_words(words)
        elif name in ("cd", "pushd", "popd"):
            self.scopes.change_directory(words)
        elif name in _SETTERS:
            for word in words[1:]:
                variable, equals, text = word.text.partition("=")
                if equals and _NAME.match(variable):
                    self.scopes.assign(variable, Word(text, text, word.literal))
                if name == "export":
                    self.scopes.exported.add(variable)
        elif name in _UNKNOWN_SETTERS:
            self.scopes.set({word.text: (HOLE,) for word in words[1:] if _NAME.match(word.text)})
        elif name in ("find", "fd", "fdfind"):
            return self.read_search(name, words, call)
        self.add(name, words, call, runs=not runs_nothing(name, words))
        self.scopes.call(name)
        return " ".join(spell_words(name, words))

    def read_search(self, name: str, words: tuple[Word, ...], call: _Call) -> str:
        """find and fd, with the commands that they run."""
        self.add(name, words, call)
        spelled = spell_words(name, words[:1])
        done = 1
        for start, end in find_actions(words) if name == "find" else fd_actions(words):
            if not self.may_look_inside():
                break
            self.found.left -= 16 * (end - start)
            spelled += (word.key for word in words[done:start])
            spelled.append(self.read_words(_with_holes(words[start:end], "{"), _BARE, False))
            done = end
        return " ".join([*spelled, *(word.key for word in words[done:])])

    def read_shell(self, name: str, words: tuple[Word, ...], call: _Call, only: bool, wrapped: bool) -> str:
        """`bash -c SCRIPT` and a script on a shell's standard input; "" for a script in a file."""
        shell = shell_call(words)
        if shell.script is not None:
            spelled, same = self.read_script(shell.script, shell.arguments, call, only, wrapped)
            if call.redirects or call.assignments:
                self.add("", (), call)
            if same:
                return spelled
            own = spell_words(name, words[: len(words) - len(shell.arguments) - 1])
            return " ".join([*own, spelled, *(word.key for word in shell.arguments)])
        if shell.file or call.stdin.text is None:
            return ""
        if self.may_look_inside():
            text, expands = call.stdin.text, call.stdin.expands
            values = self.scopes.values if expands else self.scopes.environment(call.assignments)
            spelled, _, _ = self.read_nested(parse(text), len(text), values)
            self.stdin_script = "" if expands else spelled
        self.add("", (), call)
        return " ".join(spell_words(name, words))

    def read_filled(self, words: tuple[Word, ...], items: list[str]) -> str:
        """A command that xargs fills with words which the script itself prints; spelled without them."""
        filled = (*words, *(Word(item, item) for item in items[:MAX_ALTERNATIVES]))
        self.read_words(filled, _BARE, False)
        quiet = _Reader(Scopes(), _Found(), MAX_DEPTH)
        return quiet.read_words(words, _BARE, False)

    def read_wrapped_script(
        self, name: str, words: tuple[Word, ...], wrapped: Wrapped, call: _Call, kept: list[str], only: bool
    ) -> str:
        """`eval`, `watch`, `su -c`, `flock -c`: their words are a script."""
        script = wrapped.script
        text = script[0]
        if wrapped.wrapper.joined:
            literal = all(word.literal for word in script)
            text = Word(" ".join(word.text for word in script), " ".join(word.key for word in script), literal)
        same = wrapped.wrapper.role == "same"
        only = only and same and not wrapped.rest
        spelled, alike = self.read_script(text, (), call, only, bool(kept), inside=name == "eval")
        if call.redirects:
            self.add("", (), _Call(call.redirects))
        if alike and not wrapped.rest:
            return " ".join([*kept, spelled])
        if same:
            return " ".join(word.key for word in words)
        return " ".join([*kept, *(word.key for word in (*script, *wrapped.rest))])

    def read_script(
        self, word: Word, arguments: tuple[Word, ...], call: _Call, only: bool, wrapped: bool, inside: bool = False
    ) -> tuple[str, bool]:
        """Reads a script in a word; its spelling, and whether that is the same action where the word's command stands.

        `wrapped`: `sudo sh -c 'a > f'` is not `sudo a > f`. `inside`: the script's `cd` and variables stay.
        """
        if not self.may_look_inside():
            return word.key, False
        scopes = self.scopes
        values = dict(scopes.values) if inside or not word.literal else {}
        if not inside:
            values.update(scopes.environment(call.assignments))
        for index, argument in enumerate(arguments[:MAX_ALTERNATIVES]):
            values[str(index)] = resolve(argument, scopes.values)
        self.found.scripts.append(word.text)
        script = parse(word.text)
        spelled, count, left = self.read_nested(script, len(word.text), values)
        if inside:
            scopes.directory, scopes.values = left.directory, left.values
        if not word.literal or not spelled:
            return word.key, False
        group = f"( {spelled} )"
        if arguments or ("$" in word.text and not inside and (scopes.values or call.assignments)):
            return group, False  # outside it would see other variables
        first = script.commands[0]
        single = count == 1 and not (wrapped and (first.redirects or first.assignments))
        return spelled if only or single else group, True

    def may_look_inside(self) -> bool:
        return self.depth < MAX_DEPTH and self.found.left > 0

    def read_nested(self, script: Script, length: int, values: Values) -> tuple[str, int, Scopes]:
        self.found.left -= length + 64
        scopes = Scopes(self.scopes.directory, values)
        return *_Reader(scopes, self.found, self.depth + 1).read(script), scopes

    def resolve_program(self, words: tuple[Word, ...]) -> tuple[Word, ...]:
        """`$CURL x`: what the variable holds, when the script said it."""
        texts = resolve(words[0], self.scopes.values)
        if len(texts) == 1 and HOLE not in texts[0] and texts[0].strip():
            split = texts[0].split()
            return (Word(split[0], words[0].key), *(Word(text, "") for text in split[1:]), *words[1:])
        return words

    def add(self, name: str, words: tuple[Word, ...], call: _Call, runs: bool = True) -> None:
        scopes, stdin = self.scopes, call.stdin
        simple = Simple(
            name, words, call.redirects, scopes.directory, scopes.values, stdin.text, stdin.expands, call.assignments
        )
        self.found.commands.append(simple)
        self.previous = simple
        if runs and name and HOLE not in name and "$" not in name:
            self.found.verbs[name] = None

    # ---- PowerShell

    def read_powershell_command(self, command: Command) -> list[str]:
        words = _lower(command.words)
        name = base_name(words[0].text) if words else ""
        if name in _POWERSHELL_CD:
            self.found.verbs[name] = None
            self.scopes.change_directory(words)
        elif words or command.redirects:
            self.add(name, words, _Call(command.redirects))
        return [*(spell_words(name, words) if words else ()), *spell_redirects(command.redirects)]

    def read_powershell_words(self, words: tuple[Word, ...]) -> None:
        """`pwsh -Command …`, `cmd /c …`: the words behind it, by PowerShell's quoting."""
        for index, word in enumerate(words):
            if word.text.lower() in _POWERSHELL_SCRIPT:
                for command in split_words(" ".join(item.text for item in words[index + 1 :])).commands:
                    self.read_powershell_command(command)
                return


def _flush(shown: list[str], parts: list[str]) -> None:
    if shown:
        parts.append(" ".join(shown))
        shown.clear()


def _given_stdin(redirects: tuple[Redirect, ...]) -> _Stdin:
    """The text of a heredoc or here-string."""
    for redirect in reversed(redirects):
        if redirect.fd not in ("", "0"):
            continue
        if redirect.heredoc is not None:
            return _Stdin(redirect.heredoc, heredoc_expands(redirect))
        if redirect.operator == "<<<" and redirect.target is not None:
            return _Stdin(redirect.target.text, not redirect.target.literal)
    return _UNKNOWN


def _printed(simple: Simple) -> _Stdin:
    """What a command in front of a pipe prints, when the script says it: `cat <<EOF`, `echo text`."""
    if any(redirect.operator[0] in ">&" and redirect.fd != "2" for redirect in simple.redirects):
        return _UNKNOWN
    if simple.program == "cat" and all(word.text == "-" for word in simple.words[1:]):
        return _Stdin(simple.stdin, simple.stdin_expands)
    words = simple.words[1:]
    if simple.program == "echo":
        while words and words[0].text in ("-n", "-e", "-ne", "-en", "-E"):
            words = words[1:]
    elif simple.program == "printf":
        if len(words) > 1 and words[0].text in ("%s\\n", "%s\n", "%s "):
            return _Stdin("\n".join(word.text for word in words[1:]), not all(word.literal for word in words))
        if len(words) == 2 and words[0].text in ("%s", "%b"):
            words = words[1:]
        elif len(words) != 1:
            return _UNKNOWN
    else:
        return _UNKNOWN
    return _Stdin(" ".join(word.text for word in words), not all(word.literal for word in words))


def _with_holes(words: tuple[Word, ...], replaced: str, value: str = HOLE) -> tuple[Word, ...]:
    """The words with a hole (or a known value) where xargs or find put something else."""
    if not any(replaced in word.text for word in words):
        return words
    shape = re.compile(r"\{[\d./+-]*\}" if replaced == "{" else re.escape(replaced))
    return tuple(
        Word(shape.sub(lambda _: value, word.text), word.key, literal=value != HOLE) if replaced in word.text else word
        for word in words
    )


def _lower(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A cmdlet's name and options in lower case; another program's options keep theirs."""
    if not words:
        return words
    first = _lowered(words[0])
    if "-" not in first.text and first.text not in ("iwr", "irm"):
        return (first, *words[1:])
    return (first, *(_lowered(word) if word.text[:1] == "-" else word for word in words[1:]))


def _lowered(word: Word) -> Word:
    return Word(word.text.lower(), word.key.lower(), word.literal)
