"""Reads words: quoting, expansions, and the commands inside substitutions."""

from __future__ import annotations

import re

from msgspec.structs import force_setattr

from breaker.shell import tokens
from breaker.shell.heredocs import take_body
from breaker.shell.quoting import decode_ansi, join_pieces, spell, spell_arithmetic
from breaker.shell.script import Command, Redirect, Word

MAX_WORDS = 10_000
"""Words, pieces of words and operators read of one script. The most that 7 684 distinct recorded commands have is 330;
at 1 µs to 10 µs each, this many stay under 150 ms."""
MAX_LOOKAHEAD = 20_000
"""Characters searched for the end of `((…))` and `@(…)`, which may then be read again. Recorded commands need 14."""
MAX_DEPTH = 40
"""Substitutions inside one another. Recorded commands nest 2 deep; each level takes six frames of the interpreter."""


class FullError(Exception):
    """The script has more words than are read."""


class WordReader:
    """The position in a text, what was found so far, and the methods that read words from there.

    Nothing is read twice but for the bounded look ahead, and every step spends from `left`: no text takes long.
    """

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
        self.broken = False  # whether the grammar was left

    def read_list(self, closer: str) -> list[Command]:
        """Reads commands up to the end of the text, or past `closer`; returns those of this level."""
        raise NotImplementedError

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise FullError

    def token(self) -> re.Match[str]:
        found = tokens.TOKEN.match(self.text, self.pos)
        assert found is not None
        return found

    def skip_newlines(self) -> None:
        """Skips blanks, comments and newlines."""
        while True:
            found = self.token()
            if found[4] != "\n" and found.lastindex != tokens.COMMENT:
                return
            self.pos = found.end()
            if found[4]:
                self.read_bodies()

    # ---- words

    def read_operand(self) -> Word | None:
        """The word that comes next, or None where an operator or the end does."""
        found = self.token()
        kind = found.lastindex
        if kind == tokens.PLAIN:
            self.pos = found.end()
            return Word(found[1], found[1])
        if kind is None or kind in (tokens.SINGLE, tokens.DOUBLE, tokens.SIGN):
            self.pos = tokens.skip_blanks(self.text, self.pos)
            return self.read_word()
        return None

    def read_word(self, assigned: bool = False, regex: bool = False) -> Word:
        """Reads the word at the position.

        In the value of an assignment globs and braces are plain, and expansions are not split. A regular expression
        goes on over parentheses and what they hold.
        """
        text, pos = self.text, self.pos
        start = pos
        values: list[str] = []
        spelled: list[str | None] = []  # None for a literal piece
        actives: list[int] = []  # pieces that globs and braces are made of
        while True:
            found = tokens.PIECE.match(text, pos)
            if not found:
                if not regex or text[pos : pos + 1] not in tokens.REGEX_SIGNS:
                    break
                end = (text[pos] == "(" and self.find_close(pos + 1)) or pos + 1
                values.append(text[pos:end])
                spelled.append(text[pos:end])
                pos = end
                continue
            self.spend()
            kind = found.lastindex
            pos = found.end()
            value = found.group()
            spelling: str | None = None
            if kind == tokens.RUN:
                if regex:
                    spelling = value
                elif "," in value or ".." in value:
                    actives.append(len(values))
            elif kind == tokens.QUOTED:
                value = found[3]
                self.broken |= not found[4]
            elif kind == tokens.ESCAPE:
                value = "" if found[5] == "\n" else found[5] or "\\"
            elif kind == tokens.DOUBLE_QUOTES:
                pos = self.read_double(pos, values, spelled, split=not assigned)
                continue
            elif kind == tokens.ANSI:
                value = decode_ansi(found[7])
                self.broken |= not found[8]
            elif kind == tokens.EXPANSION:
                pos, spelling = self.read_expansion(pos - 1, quoted=False)
                value = text[found.start() : pos]
            elif kind == tokens.PROCESS:
                pos, spelling = self.read_substitution(pos, value)
                value = text[found.start() : pos]
            elif kind == tokens.PATTERN:
                if end := self.find_close(pos):
                    pos = end
                    value = spelling = text[found.start() : pos]
                else:
                    self.broken = True
                    pos -= 1
                    value = text[found.start() : pos]
            elif value == "~":
                spelling = "~" if pos == start + 1 else None
            elif regex:
                spelling = value
            else:
                actives.append(len(values))
            values.append(value)
            spelled.append(spelling)
        if pos == start and not assigned:  # no word begins here: take a character, so that reading goes on
            self.broken = True
            pos += 1
            values.append(text[start:pos])
            spelled.append(None)
        self.pos = pos
        if regex:  # here quoting a sign takes its meaning, whichever sign it is
            spelled = [s or (v if v.isalnum() else f"'{v}'") for v, s in zip(values, spelled, strict=True)]
        elif actives and not assigned:
            mark_actives(values, spelled, actives)
        return join_pieces(values, spelled)

    def read_double(self, pos: int, values: list[str], spelled: list[str | None], split: bool = True) -> int:
        """Reads the inside of double quotes, up to the position behind the closing one.

        An expansion in them is spelled with its quotes, unless nothing would `split` it without them.
        """
        text = self.text
        while True:
            if run := tokens.QUOTED_RUN.match(text, pos):
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
                spelled.append(f'"{spelling}"' if spelling and split else spelling)

    # ---- expansions: each returns where it ends and how it is spelled (None for a sign that expands nothing)

    def read_expansion(self, pos: int, quoted: bool) -> tuple[int, str | None]:
        """Reads what begins with `$` or a backtick at `pos`."""
        text = self.text
        if named := tokens.NAME.match(text, pos):
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
            body = self.read_expansions_of(text[pos + 3 : end - 2])
            return end, f"$(({spell_arithmetic(body)}))"
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
        found = tokens.BACKTICKS.match(self.text, pos)
        if not found:
            self.broken = True
            return pos + 1, None
        escape = tokens.QUOTED_BACKTICK_ESCAPE if quoted else tokens.BACKTICK_ESCAPE
        inner = self.nested(escape.sub(r"\1", found[1]))
        self.pending.append("$(")
        spelling = self.close_substitution("$(", inner.read_list(""))
        self.absorb(inner)
        return found.end(), spelling

    def close_substitution(self, sign: str, own: list[Command]) -> str:
        """The spelling of a substitution, without what stood before it."""
        pending = self.pending
        if pending[-1:] == [";"]:
            pending.pop()
        start = len(pending)
        while start and pending[start - 1] != sign:
            start -= 1
        if own:
            first = own[0]
            before = first.before.rpartition(sign)[2].lstrip()
            own = [Command(first.words, first.assignments, first.redirects, before), *own[1:]]
        inside = f"{spell(own)} {tail_of(pending[start:])}"
        pending.append(")")
        return f"{sign}{inside.strip()})"

    def read_parameter(self, pos: int, quoted: bool) -> tuple[int, str | None]:
        """Reads `${…}`, with the substitutions inside it."""
        text, copied = self.text, pos
        head = tokens.PARAMETER.match(text, pos)
        assert head is not None
        pos = head.end()
        # Inside double quotes `'` quotes only in a pattern: "${x#'a'}", but not "${x:-'a'}".
        quotes = not quoted or head[1]
        spelled: list[str] = []
        self.depth += 1
        while True:
            if run := tokens.PARAMETER_RUN.match(text, pos):
                pos = run.end()
            sign = text[pos : pos + 1]
            self.spend()
            if sign == "}" or not sign:
                self.broken |= not sign
                self.depth -= 1
                spelled.append(text[copied : pos + 1])
                return pos + len(sign), "".join(spelled)
            if sign == "\\":
                pos += 2
            elif sign == '"':
                pos = self.read_double(pos + 1, [], [])
            elif sign == "'":
                pos = max(pos, text.find("'", pos + 1) if quotes else pos) + 1
            else:
                begin = pos
                pos, spelling = self.read_expansion(begin, quoted)
                if spelling:
                    spelled += text[copied:begin], spelling
                    copied = pos

    def read_expansions_of(self, body: str) -> str:
        """Reads the substitutions in text that expands as in double quotes (heredocs, arithmetic); its spelling."""
        if ("$" not in body and "`" not in body) or self.depth >= MAX_DEPTH:
            return body
        inner = self.nested(body)
        spelled: list[str] = []
        pos = copied = 0
        while found := tokens.TEXT_EXPANSION.search(body, pos):
            inner.spend()
            if found.group()[0] == "\\":
                pos = found.end()
                continue
            pos, spelling = inner.read_expansion(found.start(), quoted=True)
            if spelling:
                spelled += body[copied : found.start()], spelling
                copied = pos
        self.absorb(inner)
        spelled.append(body[copied:])
        return "".join(spelled)

    def nested(self, text: str) -> WordReader:
        """A reader of a text inside this one, that adds to the same commands."""
        inner = type(self)(text)
        inner.commands, inner.pending = self.commands, self.pending
        inner.depth, inner.left, inner.lookahead = self.depth + 1, self.left, self.lookahead
        return inner

    def absorb(self, inner: WordReader) -> None:
        self.left, self.lookahead = inner.left, inner.lookahead
        self.broken |= inner.broken

    # ---- heredocs

    def read_bodies(self) -> None:
        """Behind a newline: the bodies of the heredocs that the line announced."""
        if not self.heredocs:
            return
        announced, self.heredocs = self.heredocs, []
        for redirect in announced:
            assert redirect.target is not None
            body, self.pos = take_body(self.text, self.pos, redirect.target.text, redirect.operator == "<<-")
            # The command that owns it was built when its line ended, before its body was reached.
            force_setattr(redirect, "heredoc", body)
            if not redirect.heredoc_quoted:
                self.read_expansions_of(body)

    # ---- looking ahead

    def find_close(self, pos: int) -> int:
        """The position behind the `)` that closes the parenthesis before `pos`; 0 when there is none.

        The search starts anew for each parenthesis that asks, so its total length is bounded.
        """
        depth = 1
        end = pos
        for found in tokens.BALANCE.finditer(self.text, pos):
            end = found.end()
            sign = found.group()
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth -= 1
                if not depth:
                    self.lookahead -= end - pos
                    return end
            if end - pos > self.lookahead:
                break
        self.lookahead -= end - pos
        return 0

    def find_arithmetic_end(self, pos: int) -> int:
        """With a parenthesis open before `pos`: the position behind `))` when `((…))` stands here, else 0."""
        if not self.text.startswith("(", pos):
            return 0
        end = self.find_close(pos + 1)
        return end + 1 if end and self.text.startswith(")", end) else 0


def mark_actives(values: list[str], spelled: list[str | None], candidates: list[int]) -> None:
    """Spells the signs that the shell would expand bare: `*`, `?`, a closed `[…]`, and `{a,b}` or `{1..3}`.

    The candidates are those signs, and the unquoted runs with `,` or `..` in them.
    """
    brackets: list[int] = []
    braces: list[tuple[int, int]] = []
    alternatives = 0
    for index in candidates:
        sign = values[index]
        if sign in "*?":
            spelled[index] = sign
        elif sign == "[":
            brackets.append(index)
        elif sign == "]":
            if brackets and brackets[-1] != index - 1:
                for bracket in [*brackets, index]:
                    spelled[bracket] = values[bracket]
                brackets.clear()
        elif sign == "{":
            braces.append((index, alternatives))
        elif sign == "}":
            opening, before = braces.pop() if braces else (index, alternatives)
            if alternatives > before:
                spelled[opening], spelled[index] = "{", "}"
        else:
            alternatives += 1


def tail_of(signs: list[str], balanced: bool = True) -> str:
    """What stands behind the last command; nothing when that is a separator, or (`balanced`) what closes it all."""
    silent = tokens.CLOSERS | {";"} if balanced else {";"}
    return "" if silent.issuperset(signs) else " ".join(signs)
