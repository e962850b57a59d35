"""Programs in other languages that a command hands to an interpreter: in an option, or on standard input."""

from __future__ import annotations

from msgspec import Struct

from breaker.identity.traffic import Request, Traffic
from breaker.shell.script import Word
from breaker.shell.values import expand, resolve
from breaker.word_set import word_set

MAX_CODES = 16
"""Programs read of one command (`perl -e A -e B`)."""


class Interpreter(Struct, frozen=True):
    """`code`: options that take a program; `valued`: those that take something else.

    `one`: what follows the first program are its arguments. `run`: the sub-command that may stand before a script.
    """

    code: frozenset[str]
    valued: frozenset[str]
    patterns: str = ""  # letters that make a program a text filter
    glued: str = ""  # letters that take the rest of their cluster
    one: bool = False
    run: str = ""


def _row(
    code: str, valued: str = "", patterns: str = "", glued: str = "", *, one: bool = False, run: str = ""
) -> Interpreter:
    return Interpreter(word_set(code), word_set(valued), patterns, glued, one, run)


_NODE_CODE = "-e --eval -p --print"
_NODE_VALUED = "-r --require --import --loader --experimental-loader --input-type -C --conditions --env-file"
_NODE = _row(_NODE_CODE, _NODE_VALUED)
_BUN = _row(_NODE_CODE, _NODE_VALUED, run="run")
INTERPRETERS: dict[str, Interpreter] = {
    "python": _row("-c", "-W -X --check-hash-based-pycs", one=True),
    "pypy": _row("-c", "-W -X", one=True),
    "ipython": _row("-c", "--profile"),
    "node": _NODE,
    "bun": _BUN,
    "deno": _BUN,
    "tsx": _NODE,
    "ts-node": _NODE,
    "ruby": _row("-e", "-I -r -C -E", "pn", "IrxWK0"),
    "perl": _row("-e -E", "", "pn", "MmIiFxlD0CV"),
    "php": _row("-r", "-d -c -z"),
    "lua": _row("-e", "-l"),
    "julia": _row("-e --eval -E --print", "-L -p -t --project"),
    "Rscript": _row("-e"),
    "osascript": _row("-e", "-l"),
}
"""Rows by the name of the program."""

_LANGUAGES = {"pypy": "python", "ipython": "python"}


class Programs(Struct):
    """The programs in an interpreter's options.

    `filters`: they are patterns for text, as sed's are. `reads_stdin`: standard input is one.
    """

    codes: list[Word]
    filters: bool = False
    reads_stdin: bool = False


def of_interpreter(row: str, traffic: Traffic) -> tuple[Word, ...]:
    """Notes what the programs fetch; the words of the command that are no program, for URLs among them."""
    simple = traffic.simple
    programs = read_programs(simple.words, INTERPRETERS[row])
    if programs.filters:
        return ()
    texts = [text for code in programs.codes for text in resolve(code, simple.values)[:1]]
    if programs.reads_stdin and simple.stdin is not None:
        texts = [expand(simple.stdin, simple.values)[0] if simple.stdin_expands else simple.stdin]
    language = _LANGUAGES.get(row, row.lower())
    context = " ".join(word.text[2:] for word in simple.words[1:] if word.text[:2] in ("-M", "-m", "-r"))
    for text in texts:
        if "://" in text:
            from breaker.identity.embedded import targets  # some 2 ms of patterns, and one call in a thousand needs it

            for target in targets(text, language, context):
                traffic.requests.append(Request(target.url, target.method, target.body))
    return tuple(word for word in simple.words if word not in programs.codes) if programs.codes else simple.words


def read_programs(words: tuple[Word, ...], table: Interpreter) -> Programs:
    """Reads an interpreter's options, up to its script."""
    found = Programs([])
    if words[0].text.endswith("deno") and len(words) > 2 and words[1].text == "eval":
        found.codes.append(words[-1])
        return found
    index = 2 if table.run and len(words) > 2 and words[1].text == table.run else 1
    while index < len(words) and not (found.codes and (table.one or len(found.codes) >= MAX_CODES)):
        text = words[index].text
        if text == "-" or text[:1] != "-":
            found.reads_stdin = text in ("-", "/dev/stdin") and not found.codes
            return found
        index += 1
        if text == "-m" and "-c" in table.code:  # the words behind it are another program's
            return found
        if text == "--":
            found.reads_stdin = index >= len(words) and not found.codes
            return found
        if text in table.code:
            found.codes += words[index : index + 1]
            index += 1
        elif text in table.valued:
            index += 1
        elif text[:2] == "--":
            name, equals, value = text.partition("=")
            if equals and name in table.code:
                found.codes.append(Word(value, value, words[index - 1].literal))
        else:
            index += _read_cluster(text, words, index, table, found)
    found.reads_stdin = not found.codes
    return found


def _read_cluster(text: str, words: tuple[Word, ...], index: int, table: Interpreter, found: Programs) -> int:
    """Reads `-abc`; how many of the words at `index` it takes as a value."""
    for at in range(1, len(text)):
        letter, rest = "-" + text[at], text[at + 1 :]
        found.filters |= text[at] in table.patterns
        if letter in table.code:
            if "-" + rest in table.code:  # `node -pe CODE`
                continue
            if rest:
                found.codes.append(Word(rest, rest, words[index - 1].literal))
                return 0
            found.codes += words[index : index + 1]
            return 1
        if text[at] in table.glued or letter in table.valued:
            return 0
    return 0
