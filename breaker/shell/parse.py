"""Reads a shell script into its simple commands, in one linear pass that never fails.

The grammar needs no tree: what stands between two simple commands (operators, reserved words, the patterns of a
`case`, the name of a function) is written into `Command.before`, so that equal scripts have equal sequences. Only
substitutions nest; their commands follow the one whose word they stand in, from `$(` in one `before` to `)` in
another. What bash would reject is read as well as it can be, and the script is marked `fallback`.

Three shapes of the grammar are commands here although they run no program; their first word is in `PSEUDO`:
the head of a loop (`for i in a b`), the head of a `case` (`case $x`), and tests (`[[ … ]]`, `(( … ))`). A command
with redirects alone closes a group that has them (`{ …; } > f`, `before` is `}`). One without words, assignments and
redirects closes a script whose last `before` would otherwise be lost (`make &`).
"""

from __future__ import annotations

import re

from breaker.shell import tokens
from breaker.shell.quoting import quote, spell, spell_arithmetic
from breaker.shell.reader import FullError, WordReader, tail_of
from breaker.shell.script import Command, Redirect, Script, Word

__all__ = ["PSEUDO", "parse", "spell"]

PSEUDO = frozenset({"for", "select", "case", "[[", "(("})
"""First words of commands that run no program."""

_CASE, _TEST, _ARITHMETIC = Word("case", "case"), Word("[[", "[["), Word("((", "((")
_TEST_SIGNS = frozenset({"&&", "||", "(", ")", "<", ">", "!", "]]"})
_UNFINISHED = frozenset({"&&", "||", "|", "|&"})


def parse(text: str) -> Script:
    """The commands of a shell script, in source order. Never raises.

    Time is linear in the text and bounded for what comes after `MAX_WORDS`: the whole text then stands in the last
    command's `before`, so that scripts which differ there differ.
    """
    reader = _Reader(text.replace("\r\n", "\n") if "\r" in text else text)
    try:
        reader.read_list("")
        if tail := tail_of(reader.pending, balanced=not reader.broken):
            reader.commands.append(Command((), before=tail))
    except (FullError, RecursionError):  # the second where the caller's own stack is deep
        reader.broken = True
        reader.commands.append(Command((), before=reader.text))
    return Script(tuple(reader.commands), reader.broken)


class _Level:
    """The list of commands that is being read: of the script, or of one substitution."""

    __slots__ = ("awaited", "closer", "commands", "complete", "parentheses")

    def __init__(self, closer: str) -> None:
        self.closer = closer
        self.commands: list[Command] = []
        self.awaited: list[str] = []  # the words that close what is open
        self.parentheses = 0  # how many of those are `)`
        self.complete = False  # whether a command stands before, which an operator may follow


class _Reader(WordReader):
    __slots__ = ()

    def read_list(self, closer: str) -> list[Command]:
        level = _Level(closer)
        while True:
            found = self.token()
            self.spend()
            kind = found.lastindex
            if kind == tokens.OPERATOR:
                self.pos = found.end()
                if self.read_operator(found[4], level):
                    return level.commands
            elif kind == tokens.COMMENT:
                self.pos = found.end()
            elif kind == tokens.END:
                self.pos = found.end()
                self.broken |= bool(level.awaited or closer or _UNFINISHED.intersection(self.pending[-1:]))
                return level.commands
            elif (word := found[1] or found[8]) in tokens.RESERVED:
                self.read_reserved(word, found, level)
            else:
                self.broken |= level.complete and kind != tokens.REDIRECT
                level.complete = self.read_simple(level)

    def read_operator(self, sign: str, level: _Level) -> bool:
        """Notes an operator between commands; True when it closes the list."""
        if sign == "\n":
            self.read_bodies()
            if level.complete:
                self.pending.append(";")
                level.complete = False
        elif sign == "(":
            self.broken |= level.complete
            level.complete = False
            if end := self.find_arithmetic_end(self.pos):
                self.read_arithmetic((_ARITHMETIC,), end, level)
            else:
                self.pending.append("(")
                level.awaited.append(")")
                level.parentheses += 1
        elif sign == ")":
            self.drop_separator()
            if level.closer and not level.parentheses:
                self.broken |= bool(level.awaited)
                return True
            self.pending.append(")")
            level.complete = True
            if not level.parentheses:
                self.broken = True
                return False
            level.parentheses -= 1
            while level.awaited.pop() != ")":
                self.broken = True
        elif sign.startswith((";;", ";&")):
            self.drop_separator()
            self.pending.append(sign)
            level.complete = False
            if level.awaited[-1:] == ["esac"]:
                self.read_patterns()
            else:
                self.broken = True
        else:
            self.broken |= not level.complete
            self.pending.append(sign)
            level.complete = False
        return False

    def read_reserved(self, word: str, found: re.Match[str], level: _Level) -> None:
        """Reads on from a reserved word where a command may begin."""
        pending = self.pending
        self.pos = found.end()
        if word in tokens.CLOSERS:
            self.drop_separator()
            if word == "esac" and pending[-1:] == [";;"]:
                pending.pop()  # optional behind the last branch
            pending.append(word)
            if level.awaited[-1:] == [word]:
                level.awaited.pop()
            else:
                self.broken = True
            level.complete = True
            return
        if word in tokens.CONTINUES:
            self.broken |= level.awaited[-1:] != [tokens.CONTINUES[word]]
            self.drop_separator()
            pending.append(word)
            level.complete = False
            return
        self.broken |= level.complete
        level.complete = False
        if word in tokens.OPENERS:
            pending.append(word)
            if closer := tokens.OPENERS[word]:
                level.awaited.append(closer)
        elif word == "[[":
            self.read_test(level)
        elif word == "case":
            level.awaited.append("esac")
            self.read_case(level)
        elif word in ("for", "select"):
            level.awaited.append("done")
            self.read_loop_head(Word(word, word), level)
        elif word == "function":
            if head := tokens.FUNCTION.match(self.text, self.pos):
                self.pos = head.end()
                pending.append(f"{quote(head[1])}()")
            else:
                self.broken = True
        elif prefix := tokens.BEFORE_COMPOUND.match(self.text, self.pos):  # time, coproc
            self.pos = prefix.end()
            pending.append(word)
        else:
            self.pos = found.start()
            level.complete = self.read_simple(level)

    def drop_separator(self) -> None:
        """Before a closing or continuing word `;` says nothing: `(a;)` is `(a)`."""
        if self.pending and self.pending[-1] == ";":
            self.pending.pop()

    def take_before(self) -> str:
        before = " ".join(self.pending)
        self.pending.clear()
        return before

    def insert(self, at: int, command: Command, level: _Level) -> None:
        """Puts a command where it began; those inside its words came after."""
        level.commands.append(command)
        self.commands.insert(at, command)

    # ---- simple commands

    def read_simple(self, level: _Level) -> bool:
        """Reads one simple command, up to the operator that ends it; False for the name of a function."""
        text = self.text
        at, before = len(self.commands), self.take_before()
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        try:
            while True:
                found = self.token()
                kind = found.lastindex
                self.left -= 1
                if self.left < 0:
                    raise FullError
                if kind == tokens.PLAIN:
                    raw = found[1]
                    if (
                        "=" in raw
                        and (not words or raw[-1] == "=")
                        and self.read_assignment(found.start(1), words, assignments)
                    ):
                        continue
                    self.pos = found.end()
                    words.append(Word(raw, raw))
                elif kind in (tokens.SINGLE, tokens.DOUBLE):
                    self.pos = found.end()
                    value = found[kind]
                    words.append(Word(value, quote(value)))
                elif kind is None or kind == tokens.SIGN:
                    start = found.start(8) if kind else found.end()
                    if not self.read_assignment(start, words, assignments):
                        self.pos = start
                        words.append(self.read_word())
                elif kind == tokens.REDIRECT:
                    self.pos = found.end()
                    redirects.append(self.read_redirect(found[5] or "", found[6]))
                elif kind == tokens.COMMENT:
                    self.pos = found.end()
                elif kind == tokens.OPERATOR and found[4] == "(":
                    head = tokens.FUNCTION_PARENTHESES.match(text, found.end())
                    if head and len(words) == 1 and not assignments and not redirects:
                        self.pos = head.end()
                        self.pending.append(f"{before} {words.pop().key}()".lstrip())
                        return False
                    self.read_glued(found.start(4), words)
                else:
                    return True
        finally:
            if words or assignments or redirects:
                command = Command(tuple(words), tuple(assignments), tuple(redirects), before)
                self.insert(at, command, level)

    def read_assignment(self, start: int, words: list[Word], assignments: list[tuple[str, Word]]) -> bool:
        """Reads `NAME=value`; behind a word (`declare -a x=(…)`) only an array is more than a word."""
        found = tokens.ASSIGNMENT.match(self.text, start)
        if not found:
            return False
        array = self.text.startswith("(", found.end())
        if words and not array:
            return False
        self.pos = found.end()
        value = self.read_array() if array else self.read_word(assigned=True)
        if words:
            words.append(Word(found.group() + value.text, found.group() + value.key, literal=False))
        else:
            assignments.append((found[1], value))
        return True

    def read_array(self) -> Word:
        """Reads `(a b c)` of an assignment."""
        start = self.pos
        self.pos += 1
        keys: list[str] = []
        while True:
            self.skip_newlines()
            word = self.read_operand()
            if word is None:
                break
            keys.append(word.key)
            self.spend()
        found = self.token()
        if found[4] == ")":
            self.pos = found.end()
        else:
            self.broken = True
        return Word(self.text[start : self.pos], f"({' '.join(keys)})", literal=False)

    def read_glued(self, start: int, words: list[Word]) -> None:
        """Takes a parenthesis that belongs to no grammar (`cat app/(auth)/page.tsx`) into its word."""
        self.broken = True
        found = tokens.GLUED.match(self.text, start)
        assert found is not None
        self.pos = found.end()
        text = found.group()
        if words and not self.text[start - 1].isspace():
            text = words.pop().text + text
        words.append(Word(text, quote(text)))

    def read_redirect(self, fd: str, operator: str) -> Redirect:
        start = self.pos
        target = self.read_operand()
        self.broken |= target is None
        if target is None or operator not in ("<<", "<<-"):
            return Redirect(fd, operator, target)
        quoted = any(mark in self.text[start : self.pos] for mark in "'\"\\")
        redirect = Redirect(fd, operator, target, heredoc_quoted=quoted)
        self.heredocs.append(redirect)
        return redirect

    # ---- compound commands

    def read_loop_head(self, keyword: Word, level: _Level) -> None:
        """Reads `for NAME [in a b c]` or `for ((…))`, up to what stands before `do`."""
        start = tokens.skip_blanks(self.text, self.pos)
        if self.text.startswith("(", start) and (end := self.find_arithmetic_end(start + 1)):
            self.pos = start + 1
            self.read_arithmetic((keyword, _ARITHMETIC), end, level)
            return
        at, before = len(self.commands), self.take_before()
        name = self.read_operand()
        words = [keyword, name] if name else [keyword]
        self.broken |= name is None
        end = self.pos
        self.skip_newlines()
        found = self.token()
        if found[1] == "in":
            self.pos = found.end()
            words.append(Word("in", "in"))
            while word := self.read_operand():
                words.append(word)
                self.spend()
        else:
            self.pos = end
        self.insert(at, Command(tuple(words), before=before), level)
        level.complete = True

    def read_case(self, level: _Level) -> None:
        """Reads `case WORD in` and its first patterns."""
        at, before = len(self.commands), self.take_before()
        word = self.read_operand()
        self.insert(at, Command((_CASE, word) if word else (_CASE,), before=before), level)
        self.skip_newlines()
        found = self.token()
        if found[1] == "in":
            self.pos = found.end()
            self.read_patterns()
        else:
            self.broken = True

    def read_patterns(self) -> None:
        """Reads `(a|b)` in front of a branch of `case`, unless `esac` stands there."""
        self.skip_newlines()
        found = self.token()
        if found[1] == "esac":
            return
        if found[4] == "(":
            self.pos = found.end()
        keys: list[str] = []
        while True:
            word = self.read_operand()
            found = self.token()
            if word is None or found[4] not in ("|", ")"):
                self.broken = True
                return
            self.spend()
            keys.append(word.key)
            self.pos = found.end()
            if found[4] == ")":
                self.pending.append("|".join(keys) + ")")
                return

    def read_test(self, level: _Level) -> None:
        """Reads `[[ … ]]`; its operators are words."""
        at, before = len(self.commands), self.take_before()
        words = [_TEST]
        while words[-1].key != "]]":
            self.skip_newlines()
            found = self.token()
            kind = found.lastindex
            sign = found[4] or found[6] or found[8]
            if words[-1].key == "=~" and kind != tokens.END:
                self.pos = tokens.skip_blanks(self.text, self.pos)
                words.append(self.read_word(regex=True))
            elif sign in _TEST_SIGNS and not found[5]:
                self.pos = found.end()
                words.append(Word(sign, sign))
            elif kind in (tokens.OPERATOR, tokens.REDIRECT, tokens.END):
                self.broken = True
                break
            else:
                self.pos = tokens.skip_blanks(self.text, self.pos)
                words.append(self.read_word())
            self.spend()
        self.insert(at, Command(tuple(words), before=before), level)
        level.complete = True

    def read_arithmetic(self, head: tuple[Word, ...], end: int, level: _Level) -> None:
        """Reads `((…))`, from its second parenthesis at the position to `end`."""
        at, before = len(self.commands), self.take_before()
        body = self.text[self.pos + 1 : end - 2]
        self.pos = end
        words = (*head, Word(body, spell_arithmetic(self.read_expansions_of(body)), literal=False))
        self.insert(at, Command(words, before=before), level)
        level.complete = True
