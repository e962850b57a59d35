"""A shell script as data: its simple commands in source order, with words whose quoting has been read."""

from __future__ import annotations

from msgspec import Struct


class Word(Struct, frozen=True):
    """One word. `text` is its value with quotes removed; expansions stay in it as written (`$X`, `$(…)`, `*`).

    `literal` is False when the shell would change the text (a variable, a substitution, a glob, a brace or tilde
    that is not quoted). `key` is a spelling for comparing: equal for every way of quoting the same word, and
    different for `*` and `'*'`, `$X` and `'$X'`.
    """

    text: str
    key: str
    literal: bool = True


class Redirect(Struct, frozen=True):
    """A redirection: `fd` as written ("" when not), `operator` (`>`, `>>`, `>|`, `&>`, `>&`, `<`, `<<`, `<<<`, …)."""

    fd: str
    operator: str
    target: Word | None
    heredoc: str | None = None  # the body of `<<`, when there is one
    heredoc_quoted: bool = False  # no expansion inside the body


class Command(Struct, frozen=True):
    """A simple command, wherever it stood: at top level, in a pipeline, a loop, a substitution, inside `bash -c`.

    `before` is what stands between it and the command before it (`;`, `&&`, `||`, `|`, `&`, or a keyword path),
    normalised, so that equal scripts have equal sequences and `cd a\\nmake` is not `cd a make`.
    """

    words: tuple[Word, ...]  # program and arguments, wrappers included
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    before: str = ""


class Script(Struct, frozen=True):
    """A parsed script. `fallback` says that bash would not accept it, or that it is over a limit of the reader."""

    commands: tuple[Command, ...]
    fallback: bool = False
