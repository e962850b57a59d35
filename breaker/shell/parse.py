"""Reads a shell script into its simple commands, in one linear pass that never fails.

The grammar needs no tree: what stands between two simple commands (operators, reserved words, the patterns of a
`case`, the name of a function) is written into `Command.before`, so that equal scripts have equal sequences. Only
substitutions nest. What bash would reject is read as well as it can be, and the script is marked `fallback`.

Three shapes of the grammar are commands here although they run no program; their first word is in `PSEUDO`:
the head of a loop (`for i in a b`), the head of a `case` (`case $x`), and tests (`[[ … ]]`, `(( … ))`). A command
without words, assignments and redirects closes a script whose last `before` would otherwise be lost (`make &`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import force_setattr

from breaker.shell.quoting import decode_ansi, quote
from breaker.shell.script import Command, Redirect, Script, Word

PSEUDO = frozenset({"for", "select", "case", "[[", "(("})
"""First words of commands that run no program."""

MAX_WORDS = 10_000
"""Words and expansions read of one script. The largest of 39 344 recorded commands has under 4 000; at 1 µs to 4 µs
each, this many stay well under 300 ms."""
MAX_LOOKAHEAD = 20_000
"""Characters searched for the end of `((…))` and `@(…)`, which may have to be read again."""
MAX_DEPTH = 40
"""Substitutions inside one another. Recorded commands nest 4 deep; each level takes six frames of the interpreter."""

_DELIMITER = r"(?=[ \t\n;|&<>()]|\Z)"
_TOKEN = re.compile(
    rf"""(?:[ \t]|\\\n)*+(?:
      (?!\d++[<>])([^\s'"\\$`*?\[\]{{}}~!\#|&;<>()][^\s'"\\$`*?\[\]{{}}!|&;<>()]*+){_DELIMITER}   # 1 plain word
      |'([^']*+)'{_DELIMITER}                                                         # 2 '…'
      |"([^"\\$`]*+)"{_DELIMITER}                                                     # 3 "…" without expansions
      |(\n|;;&|;;|;&|;|&&|&(?!>)|\|\||\|&|\||\(|\))                                   # 4 operator
      |(\d++|\{{[A-Za-z_]\w*+\}})?+(<<<|<<-|<<|<>|<&|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)  # 5 fd, 6 redirection
      |(\#[^\n]*+)                                                                    # 7 comment
      |([{{}}!]|\[\[|\]\]){_DELIMITER}                                                # 8 reserved sign
      |(\Z)                                                                           # 9 end
      |)""",
    re.VERBOSE,
)
_PLAIN, _SINGLE, _DOUBLE, _OPERATOR, _REDIRECT, _COMMENT, _SIGN, _END = 1, 2, 3, 4, 6, 7, 8, 9

_PIECE = re.compile(
    r"""([^\s'"\\$`*?\[\]{}|&;<>()+@!~]++|[^\S \t\n])  # 1 literal run
      |'([^']*+)('?)                     # 2 3 single quotes
      |\\([\s\S]?)                       # 4 escape
      |(")                               # 5 double quotes
      |\$'((?:[^'\\]|\\[\s\S])*+)('?)    # 6 7 ANSI-C quotes
      |\$(")                             # 8 locale quotes
      |([$`])                            # 9 expansion
      |([?*+@!]\()                       # 10 extended pattern
      |([*?\[\]{}~])                     # 11 glob, brace, tilde
      |([<>]\()                          # 12 process substitution
      |([+@!])                           # 13 literal, where no pattern follows
    """,
    re.VERBOSE,
)
_QUOTED_RUN = re.compile(r'[^"\\$`]++')
_NAME = re.compile(r"\$([A-Za-z_]\w*+|[0-9@*#?$!-])", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*+(?:\[[^\]\n]{0,100}+\])?+\+?)=", re.ASCII)
_FUNCTION_HEAD = re.compile(r"[ \t]*+\([ \t]*+\)")
_FUNCTION = re.compile(r"[ \t]++([^\s(){}|&;<>]++)(?:[ \t]*+\([ \t]*+\))?+")
_PREFIX = re.compile(r"(?:[ \t]++-p)?+[ \t]++(?=[({!]|(?:if|for|while|until|case|select)[ \t\n])")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)*+")
_GLUED = re.compile(r"[^\s;|&<>]++")
_BALANCE = re.compile(r"""[()]|\\[\s\S]|'[^']*+'|"(?:[^"\\]|\\[\s\S])*+\"""")
_ARITHMETIC_BLANKS = re.compile(r"(?<=[\w)])\s++(?=[^\w\s])|(?<=[^\w\s])\s++(?=[\w(])")
_PARAMETER = re.compile(r"\$\{[#!]?+[A-Za-z0-9_@*?$!-]*+(?:\[[^\]}$`'\"]*+\])?+([#%/]?)")
_PARAMETER_RUN = re.compile(r"[^}'\"\\$`]++")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\[\s\S])*+)`")
_BACKTICK_ESCAPE = re.compile(r"\\([\\`$])")
_QUOTED_BACKTICK_ESCAPE = re.compile(r'\\([\\`$"])')
_LEADING_TABS = re.compile(r"^\t++", re.MULTILINE)
_REGEX_SIGNS = frozenset("()|<>")
_BODY_EXPANSION = re.compile(r"\\[\s\S]|\$\(|\$\{|`")

_OPENERS = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac", "{": "}"}
_CLOSERS = frozenset({"fi", "done", "esac", "}", ")"})
_CONTINUES = frozenset({"then", "else", "elif", "do"})
_RESERVED = frozenset(_OPENERS) | _CLOSERS | _CONTINUES | {"!", "[[", "function", "time", "coproc"}

_CASE, _TEST, _ARITHMETIC = Word("case", "case"), Word("[[", "[["), Word("((", "((")


def parse(text: str) -> Script:
    """The commands of a shell script, in source order. Never raises; time grows linearly and is bounded."""
    scanner = _Scanner(text.replace("\r\n", "\n") if "\r" in text else text)
    try:
        scanner.read_list("")
        if tail := _tail(scanner.pending):
            scanner.commands.append(Command((), before=tail))
    except _FullError:
        scanner.broken = True
        scanner.commands.append(Command((), before=scanner.text))
    return Script(tuple(scanner.commands), scanner.broken)


def spell(commands: Sequence[Command]) -> str:
    """One line for commands of one level: equal for scripts that differ in quoting, blanks and comments alone."""
    parts: list[str] = []
    for command in commands:
        parts.append(command.before)
        parts += [f"{name}={value.key}" for name, value in command.assignments]
        parts += [word.key for word in command.words]
        for redirect in command.redirects:
            target = redirect.target.key if redirect.target else ""
            parts.append(f"{redirect.fd}{redirect.operator}{target}")
            if redirect.heredoc is not None:
                parts.append(quote(redirect.heredoc))
    return " ".join(filter(None, parts))


class _FullError(Exception):
    """The script has more words than are read."""


class _Scanner:
    __slots__ = ("broken", "commands", "depth", "heredocs", "left", "lookahead", "pending", "pos", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.commands: list[Command] = []
        self.pending: list[str] = []  # what stands since the last command
        self.heredocs: list[Redirect] = []  # whose bodies begin at the next newline
        self.depth = 0
        self.left = MAX_WORDS
        self.lookahead = MAX_LOOKAHEAD
        self.broken = False

    # ---- lists of commands

    def read_list(self, closer: str) -> list[Command]:
        """Reads commands to the end of the text, or past the `)` that closes a substitution; its own commands."""
        text, pending = self.text, self.pending
        own: list[Command] = []
        open_: list[str] = []  # the closers that are awaited
        complete = False  # whether a command stands before, which an operator may follow
        while True:
            found = _TOKEN.match(text, self.pos)
            assert found is not None
            kind = found.lastindex
            self.spend()
            if kind == _OPERATOR:
                sign = found[4]
                self.pos = found.end()
                if sign == "\n":
                    self.read_bodies()
                    if complete:
                        pending.append(";")
                        complete = False
                elif sign == "(":
                    self.broken |= complete
                    if end := self.find_arithmetic_end(self.pos):
                        self.read_arithmetic_command(own, (_ARITHMETIC,), end)
                        complete = True
                    else:
                        pending.append("(")
                        open_.append(")")
                        complete = False
                elif sign == ")":
                    self.drop_separator()
                    if ")" not in open_:
                        if closer:
                            self.broken |= bool(open_)
                            return own
                        self.broken = True
                    else:
                        while open_.pop() != ")":
                            self.broken = True
                    pending.append(")")
                    complete = True
                elif sign[:2] in (";;", ";&"):
                    self.drop_separator()
                    pending.append(sign)
                    complete = False
                    if open_ and open_[-1] == "esac":
                        self.read_patterns()
                    else:
                        self.broken = True
                else:
                    self.broken |= not complete
                    pending.append(sign)
                    complete = False
                continue
            if kind == _COMMENT:
                self.pos = found.end()
                continue
            if kind == _END:
                self.pos = found.end()
                self.broken |= bool(open_ or closer or (pending and pending[-1] in ("&&", "||", "|", "|&")))
                return own
            word = found[1] or found[8]
            if word not in _RESERVED:
                self.broken |= complete and kind != _REDIRECT
                complete = self.read_simple(own)
                continue
            self.pos = found.end()
            if word in _CLOSERS:
                self.drop_separator()
                pending.append(word)
                if open_ and open_[-1] == word:
                    open_.pop()
                else:
                    self.broken = True
                complete = True
            elif word in _CONTINUES:
                self.drop_separator()
                pending.append(word)
                complete = False
            elif word == "[[":
                self.read_test(own)
                complete = True
            elif word == "function":
                head = _FUNCTION.match(text, self.pos)
                if head:
                    self.pos = head.end()
                    pending.append(f"{quote(head[1])}()")
                else:
                    self.broken = True
            elif word in ("time", "coproc"):
                prefix = _PREFIX.match(text, self.pos)
                if prefix:
                    self.pos = prefix.end()
                    pending.append(word)
                else:
                    self.pos = found.start()
                    complete = self.read_simple(own)
            elif word == "case":
                open_.append("esac")
                self.read_case(own)
                complete = False
            elif word in ("for", "select"):
                open_.append("done")
                start = _skip_blanks(text, self.pos)
                if text.startswith("(", start) and (end := self.find_arithmetic_end(start + 1)):
                    self.pos = start + 1
                    self.read_arithmetic_command(own, (Word(word, word), _ARITHMETIC), end)
                else:
                    self.pos = found.start()
                    self.read_simple(own)
                complete = True
            else:  # if, while, until, {, !
                pending.append(word)
                if word != "!":
                    open_.append(_OPENERS[word])
                complete = False

    def drop_separator(self) -> None:
        """Before a closing or continuing word `;` says nothing: `(a;)` is `(a)`."""
        if self.pending and self.pending[-1] == ";":
            self.pending.pop()

    def take_before(self) -> str:
        before = " ".join(self.pending)
        self.pending.clear()
        return before

    def read_simple(self, own: list[Command]) -> bool:
        """Reads one simple command, up to the operator that ends it; False for the name of a function."""
        text = self.text
        at = len(self.commands)
        before = self.take_before()
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        try:
            while True:
                found = _TOKEN.match(text, self.pos)
                assert found is not None
                kind = found.lastindex
                if kind == _PLAIN:
                    raw = found[1]
                    if (
                        "=" in raw
                        and (not words or raw[-1] == "=")
                        and self.read_assignment(found.start(1), words, assignments)
                    ):
                        continue
                    self.pos = found.end()
                    words.append(Word(raw, raw))
                elif kind in (_SINGLE, _DOUBLE):
                    self.pos = found.end()
                    value = found[kind]
                    words.append(Word(value, quote(value)))
                elif kind == _REDIRECT:
                    self.pos = found.end()
                    redirects.append(self.read_redirect(found[5] or "", found[6]))
                elif kind is None or kind == _SIGN:
                    start = found.end() if kind is None else found.start(8)
                    if not self.read_assignment(start, words, assignments):
                        self.pos = start
                        words.append(self.read_word())
                elif kind == _COMMENT:
                    self.pos = found.end()
                elif kind == _OPERATOR and found[4] == "(":
                    head = _FUNCTION_HEAD.match(text, self.pos)
                    if head and len(words) == 1 and not assignments and not redirects:
                        self.pos = head.end()
                        self.pending.append(f"{before} {words.pop().key}()".lstrip())
                        return False
                    self.read_glued(found.start(4), words)
                else:
                    return True
                self.left -= 1
                if self.left < 0:
                    raise _FullError
        finally:
            if words or assignments or redirects:
                command = Command(tuple(words), tuple(assignments), tuple(redirects), before)
                own.append(command)
                self.commands.insert(at, command)

        return True

    def insert(self, at: int, own: list[Command], before: str, *words: Word) -> None:
        """Puts a command where it began; those inside its words came after."""
        command = Command(words, before=before)
        own.append(command)
        self.commands.insert(at, command)

    def read_case(self, own: list[Command]) -> None:
        """Reads `case WORD in` and its first patterns."""
        at, before = len(self.commands), self.take_before()
        word = self.read_operand()
        self.insert(at, own, before, _CASE, *([word] if word else []))
        self.skip_newlines()
        found = _TOKEN.match(self.text, self.pos)
        if found and found[1] == "in":
            self.pos = found.end()
            self.read_patterns()
        else:
            self.broken = True

    def read_patterns(self) -> None:
        """Reads `(a|b)` in front of a branch of `case`, unless `esac` stands there."""
        self.skip_newlines()
        found = _TOKEN.match(self.text, self.pos)
        assert found is not None
        if found[1] == "esac":
            return
        if found[4] == "(":
            self.pos = found.end()
        keys: list[str] = []
        while True:
            word = self.read_operand()
            found = _TOKEN.match(self.text, self.pos)
            assert found is not None
            if word is None or found[4] not in ("|", ")"):
                self.broken = True
                return
            keys.append(word.key)
            self.pos = found.end()
            if found[4] == ")":
                self.pending.append("|".join(keys) + ")")
                return

    def read_test(self, own: list[Command]) -> None:
        """Reads `[[ … ]]`; its operators are words."""
        at, before = len(self.commands), self.take_before()
        words = [_TEST]
        while True:
            found = _TOKEN.match(self.text, self.pos)
            assert found is not None
            kind = found.lastindex
            if kind == _OPERATOR:
                sign = found[4]
                if sign == "\n":
                    self.skip_newlines()
                    continue
                if sign not in ("&&", "||", "(", ")"):
                    self.broken = True
                    break
                self.pos = found.end()
                words.append(Word(sign, sign))
            elif kind == _REDIRECT and found[6] in ("<", ">") and not found[5]:
                self.pos = found.end()
                words.append(Word(found[6], found[6]))
            elif kind in (_END, _REDIRECT):
                self.broken = True
                break
            elif kind == _COMMENT:
                self.pos = found.start(7)
                words.append(self.read_word())
            elif found[8] == "]]":
                self.pos = found.end()
                words.append(Word("]]", "]]"))
                break
            elif found[8] == "!":
                self.pos = found.end()
                words.append(Word("!", "!"))
            else:
                matches = words[-1].text == "=~"
                self.pos = _skip_blanks(self.text, self.pos)
                words.append(self.read_word(regex=matches))
                self.spend()
        self.insert(at, own, before, *words)

    def read_arithmetic_command(self, own: list[Command], head: tuple[Word, ...], end: int) -> None:
        """Reads `((…))`, from its second parenthesis at `self.pos` to `end`."""
        at, before = len(self.commands), self.take_before()
        body = self.text[self.pos + 1 : end - 2]
        self.pos = end
        self.read_expansions_of(body)
        self.insert(at, own, before, *head, Word(body, _arithmetic(body), literal=False))

    # ---- parts of a simple command

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _FullError

    def skip_newlines(self) -> None:
        """Skips blanks, comments and newlines."""
        while (found := _TOKEN.match(self.text, self.pos)) and (found[4] == "\n" or found.lastindex == _COMMENT):
            self.pos = found.end()
            if found[4]:
                self.read_bodies()

    def read_operand(self) -> Word | None:
        """The word that comes next, or None where an operator or the end does."""
        found = _TOKEN.match(self.text, self.pos)
        assert found is not None
        kind = found.lastindex
        if kind == _PLAIN:
            self.pos = found.end()
            return Word(found[1], found[1])
        if kind is None or kind in (_SINGLE, _DOUBLE, _SIGN):
            self.pos = _skip_blanks(self.text, self.pos)
            return self.read_word()
        return None

    def read_assignment(self, start: int, words: list[Word], assignments: list[tuple[str, Word]]) -> bool:
        """Reads `NAME=value`; after a word (`declare -a x=(…)`) only an array is more than a word."""
        found = _ASSIGNMENT.match(self.text, start)
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
        self.spend()
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
        found = _TOKEN.match(self.text, self.pos)
        if found and found[4] == ")":
            self.pos = found.end()
        else:
            self.broken = True
        return Word(self.text[start : self.pos], f"({' '.join(keys)})", literal=False)

    def read_glued(self, start: int, words: list[Word]) -> None:
        """Takes a parenthesis that belongs to no grammar (`cat app/(auth)/page.tsx`) into its word."""
        self.broken = True
        found = _GLUED.match(self.text, start)
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
        if operator not in ("<<", "<<-"):
            return Redirect(fd, operator, target)
        quoted = any(mark in self.text[start : self.pos] for mark in "'\"\\")
        redirect = Redirect(fd, operator, target, heredoc_quoted=quoted)
        if target is not None:
            self.heredocs.append(redirect)
        return redirect

    def read_bodies(self) -> None:
        """After a newline: the bodies of the heredocs that the line announced."""
        if not self.heredocs:
            return
        announced, self.heredocs = self.heredocs, []
        for redirect in announced:
            assert redirect.target is not None
            tabs = redirect.operator == "<<-"
            end, after = _find_delimiter(self.text, self.pos, redirect.target.text, tabs)
            body = self.text[self.pos : end]
            self.pos = after
            if tabs:
                body = _LEADING_TABS.sub("", body)
            # The command that owns it is built when its line ends, before the body is reached.
            force_setattr(redirect, "heredoc", body)
            if not redirect.heredoc_quoted:
                self.read_expansions_of(body)

    # ---- words

    def read_word(self, assigned: bool = False, regex: bool = False) -> Word:
        """Reads one word. In an assignment globs and braces are plain; in a regular expression parentheses are."""
        text, pos = self.text, self.pos
        start = pos
        values: list[str] = []
        spelled: list[str | None] = []  # None for a literal piece
        brackets: list[int] = []
        braces: list[tuple[int, int]] = []
        alternatives = 0
        while True:
            found = _PIECE.match(text, pos)
            if not found:
                if regex and text[pos : pos + 1] in _REGEX_SIGNS:
                    values.append(text[pos])
                    spelled.append(None)
                    pos += 1
                    continue
                break
            self.spend()
            kind = found.lastindex
            pos = found.end()
            value = found.group()
            spelling: str | None = None
            if kind == 1:
                if braces:
                    alternatives += value.count(",") + value.count("..")
            elif kind == 3:
                value = found[2]
                self.broken |= not found[3]
            elif kind == 4:
                value = "" if found[4] == "\n" else found[4] or "\\"
            elif kind == 5 or kind == 8:
                pos = self.read_double(pos, values, spelled)
                continue
            elif kind == 7:
                value = decode_ansi(found[6])
                self.broken |= not found[7]
            elif kind == 9:
                begin = pos - 1
                pos, spelling = self.read_expansion(begin, quoted=False)
                value = text[begin:pos]
            elif kind == 10:
                pos = self.find_close(pos)
                if pos:
                    value = text[found.start() : pos]
                    spelling = value
                else:
                    pos = found.start() + 1
                    value = text[found.start()]
                    self.broken = True
            elif kind == 12:
                pos, spelling = self.read_substitution(pos, value)
                value = text[found.start() : pos]
            elif kind == 11 and not (assigned and value != "~"):
                if value == "~":
                    spelling = "~" if pos == start + 1 else None
                elif value in "*?":
                    spelling = value
                elif value == "[":
                    brackets.append(len(values))
                elif value == "]" and brackets and brackets[-1] != len(values) - 1:
                    for index in brackets:
                        spelled[index] = "["
                    brackets.clear()
                    spelling = "]"
                elif value == "{":
                    braces.append((len(values), alternatives))
                elif value == "}" and braces:
                    index, before = braces.pop()
                    if alternatives > before:
                        spelled[index] = "{"
                        spelling = "}"
            values.append(value)
            spelled.append(spelling)
        if pos == start and not assigned:  # no word begins here: take the character, so that reading goes on
            self.broken = True
            pos += 1
            values.append(text[start:pos])
            spelled.append(None)
        self.pos = pos
        return _word(values, spelled)

    def read_double(self, pos: int, values: list[str], spelled: list[str | None]) -> int:
        """Reads the inside of double quotes, up to the position after the closing one."""
        text = self.text
        while True:
            if run := _QUOTED_RUN.match(text, pos):
                values.append(run.group())
                spelled.append(None)
                pos = run.end()
            sign = text[pos : pos + 1]
            if sign == '"':
                return pos + 1
            if not sign:
                self.broken = True
                return pos
            self.spend()
            if sign == "\\":
                escaped = text[pos + 1 : pos + 2]
                pos += 2
                if escaped != "\n":
                    values.append(escaped if escaped and escaped in '$`"\\' else "\\" + escaped)
                    spelled.append(None)
            else:
                begin = pos
                pos, spelling = self.read_expansion(begin, quoted=True)
                values.append(text[begin:pos])
                spelled.append(f'"{spelling}"' if spelling else None)

    def read_expansion(self, pos: int, quoted: bool) -> tuple[int, str | None]:
        """Reads what begins with `$` or a backtick: where it ends, and its spelling (None for a lone sign)."""
        text = self.text
        if named := _NAME.match(text, pos):
            return named.end(), f"${{{named[1]}}}"
        if self.depth >= MAX_DEPTH:
            self.broken = True
            return pos + 1, None
        if text[pos] == "`":
            return self.read_backticks(pos, quoted)
        following = text[pos + 1 : pos + 2]
        if following == "{":
            return self.read_parameter(pos, quoted)
        if following != "(":
            return pos + 1, None
        if end := self.find_arithmetic_end(pos + 2):
            body = text[pos + 3 : end - 2]
            self.read_expansions_of(body)
            return end, f"$(({_arithmetic(body)}))"
        return self.read_substitution(pos + 2, "$(")

    def read_substitution(self, pos: int, sign: str) -> tuple[int, str | None]:
        """Reads the commands of `$(…)`, `<(…)` or `>(…)`, from behind its parenthesis."""
        if self.depth >= MAX_DEPTH:
            self.broken = True
            return pos, None
        self.depth += 1
        self.pos = pos
        self.pending.append(sign)
        spelling = self.close_substitution(sign, self.read_list(")"))
        self.depth -= 1
        return self.pos, spelling

    def read_backticks(self, pos: int, quoted: bool) -> tuple[int, str | None]:
        found = _BACKTICKS.match(self.text, pos)
        if not found:
            self.broken = True
            return pos + 1, None
        escape = _QUOTED_BACKTICK_ESCAPE if quoted else _BACKTICK_ESCAPE
        inner = self.nested(escape.sub(r"\1", found[1]))
        self.pending.append("$(")
        spelling = self.close_substitution("$(", inner.read_list(""))
        self.absorb(inner)
        return found.end(), spelling

    def close_substitution(self, sign: str, own: list[Command]) -> str:
        """The spelling of a substitution, without what stood before it."""
        pending = self.pending
        start = len(pending)
        while start and pending[start - 1] != sign:
            start -= 1
        inside = f"{spell(own).rpartition(sign)[2]} {_tail(pending[start:])}"
        self.pending.append(")")
        return f"{sign}{inside.strip()})"

    def read_parameter(self, pos: int, quoted: bool) -> tuple[int, str | None]:
        """Reads `${…}`, with the substitutions inside it."""
        text, start = self.text, pos
        head = _PARAMETER.match(text, pos)
        assert head is not None
        pos = head.end()
        quotes_are_plain = quoted and not head[1]
        self.depth += 1
        while True:
            if run := _PARAMETER_RUN.match(text, pos):
                pos = run.end()
            sign = text[pos : pos + 1]
            self.spend()
            if sign == "}" or not sign:
                self.broken |= not sign
                self.depth -= 1
                return pos + len(sign), text[start : pos + 1]
            if sign == "\\":
                pos += 2
            elif sign == '"':
                pos = self.read_double(pos + 1, [], [])
            elif sign == "'":
                end = -1 if quotes_are_plain else text.find("'", pos + 1)
                pos = max(pos, end) + 1
            else:
                pos, _ = self.read_expansion(pos, quoted)

    def read_expansions_of(self, body: str) -> None:
        """Reads the substitutions in text that expands as in double quotes: heredocs, arithmetic."""
        if ("$" not in body and "`" not in body) or self.depth >= MAX_DEPTH:
            return
        inner = self.nested(body)
        pos = 0
        while found := _BODY_EXPANSION.search(body, pos):
            self.spend()
            if found.group()[0] == "\\":
                pos = found.end()
            else:
                pos, _ = inner.read_expansion(found.start(), quoted=True)
        self.absorb(inner)

    def nested(self, text: str) -> _Scanner:
        """A scanner of a text inside this one, that adds to the same commands."""
        inner = _Scanner(text)
        inner.commands, inner.pending = self.commands, self.pending
        inner.depth, inner.left, inner.lookahead = self.depth + 1, self.left, self.lookahead
        return inner

    def absorb(self, inner: _Scanner) -> None:
        self.left, self.lookahead = inner.left, inner.lookahead
        self.broken |= inner.broken

    # ---- looking ahead

    def find_close(self, pos: int) -> int:
        """The position after the `)` that closes the parenthesis before `pos`; 0 when there is none.

        The search starts anew for each parenthesis that asks, so its total length is bounded.
        """
        depth = 1
        for found in _BALANCE.finditer(self.text, pos):
            sign = found.group()
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
                if not depth:
                    self.lookahead -= found.end() - pos
                    return found.end()
            if found.end() - pos > self.lookahead:
                break
        self.lookahead -= len(self.text) - pos
        return 0

    def find_arithmetic_end(self, pos: int) -> int:
        """With a parenthesis open before `pos`: the position after `))` when `((…))` stands here, else 0."""
        if not self.text.startswith("(", pos):
            return 0
        end = self.find_close(pos + 1)
        return end + 1 if end and self.text.startswith(")", end) else 0


def _tail(signs: list[str]) -> str:
    """What stands behind the last command, unless its beginning already says it."""
    return " ".join(signs) if any(sign != ";" and sign not in _CLOSERS for sign in signs) else ""


def _arithmetic(body: str) -> str:
    """Spells an arithmetic expression without the blanks that say nothing."""
    spelled = " ".join(body.split())
    return spelled if any(mark in body for mark in "'\"`(") else _ARITHMETIC_BLANKS.sub("", spelled)


def _skip_blanks(text: str, pos: int) -> int:
    found = _BLANKS.match(text, pos)
    assert found is not None
    return found.end()


def _find_delimiter(text: str, pos: int, delimiter: str, tabs: bool) -> tuple[int, int]:
    """Where a heredoc's body that begins at `pos` ends, and where the text goes on; its end without a delimiter."""
    if not delimiter:
        at = pos if text.startswith("\n", pos) else text.find("\n\n", pos) + 1
        return (at, at + 1) if at else (len(text), len(text))
    at = pos
    while (at := text.find(delimiter, at)) >= 0:
        begin = at
        while tabs and begin > pos and text[begin - 1] == "\t":
            begin -= 1
        after = at + len(delimiter)
        if (begin == pos or text[begin - 1] == "\n") and (after == len(text) or text[after] == "\n"):
            return begin, min(after + 1, len(text))
        at += 1
    return len(text), len(text)


def _word(values: list[str], spelled: list[str | None]) -> Word:
    """Joins pieces: neighbouring literal ones share one quoting, whichever way each was quoted."""
    text = "".join(values)
    if not any(spelled):
        return Word(text, quote(text))
    key: list[str] = []
    run = ""
    for value, spelling in zip(values, spelled, strict=True):
        if spelling is None:
            run += value
            continue
        if run:
            key.append(quote(run))
            run = ""
        key.append(spelling)
    if run:
        key.append(quote(run))
    return Word(text, "".join(key), literal=False)
