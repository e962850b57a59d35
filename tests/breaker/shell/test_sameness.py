"""Which scripts are equal, command for command, and which are not."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.shell.parse import parse, spell


def keys(text: str) -> list[tuple[object, ...]]:
    return [
        (
            command.before,
            tuple(word.key for word in command.words),
            tuple((name, value.key) for name, value in command.assignments),
            tuple((r.fd, r.operator, r.target and r.target.key, r.heredoc) for r in command.redirects),
        )
        for command in parse(text).commands
    ]


@pytest.mark.parametrize(
    "spellings",
    [
        ["a b", "a   b", " a\tb ", "a \\\n b", "a b # c", "a b;", "a b\n\n"],
        ["a b", "a 'b'", 'a "b"', "a \\b", "'a' b", "a $'b'", "a ''b", "\\a b"],
        ["a '{b,c}'", "a {b','c}", "a \\{b,c}", "a {b\\,c}"],
        ["a 'b c'", 'a "b c"', "a b\\ c", "a b' 'c", "a 'b'\" c\"", "a $'b\\x20c'"],
        ["a; b", "a\nb", "a ;b", "a # x\n# y\n\nb", "a;\nb", "a\r\nb"],
        ["a && b", "a&&b", "a &&\nb", "a && # x\n b", "a \\\n&& b"],
        ["a | b", "a|b", "a |\n\nb"],
        ["a & b", "a &\nb", "a&b"],
        ["(a; b)", "( a\nb )", "(a; b;)", "(\na\nb\n)"],
        ["{ a; b; }", "{\na\nb\n}", "{ a;b;\n}"],
        ["if a; then b; else c; fi", "if a\nthen\n  b\nelse c\nfi", "if a; then\nb;\nelse\n\nc; fi;"],
        ["for i in x 'y z'; do a; done", 'for i in x "y z"\ndo\n\ta\ndone', "for i in x y\\ z ; do a ; done"],
        ["while a; do b; done", "while a\ndo b\ndone"],
        ["case x in p) a;; q|r) b; esac", "case 'x' in\n p)\n a\n ;;\n (q | r)\n b ;;\nesac"],
        ["f() { a; }", "f () {\n a\n}", "function f { a; }", "function f() { a; }"],
        ["a > f 2>&1", "a >f 2>&1", "a > 'f' 2>& 1"],
        ["X=1 a", "X='1' a", 'X="1"  a'],
        ['X="$Y"', "X=$Y", "X=${Y}"],
        ["X=", "X=''", 'X=""'],
        ["a $X", "a ${X}"],
        ['a "$X/b"', 'a "${X}"/b', "a \"${X}/\"'b'"],
        ["a $(b c)", "a `b c`", "a $( b  'c' )", "a $(b c # d\n)", "a $(b c;)"],
        ['a "$(b "c")"', "a \"`b c`\"", "a \"$(b 'c')\""],
        ["a ${X:-$(b c)}", "a ${X:-`b  c`}"],
        ["a <(b c)", "a <( b 'c' )"],
        ["a $((1+2))", "a $(( 1 + 2 ))"],
        ["((i++))", "(( i++ ))"],
        ["[[ a == b && -f c ]]", "[[ 'a' == b &&\n -f \"c\" ]]"],
        ["find . -exec rm {} \\;", "find . -exec rm '{}' ';'", 'find . -exec rm "{}" ";"'],
        ["git show HEAD~1 a@{2} b^", "git show 'HEAD~1' \"a@{2}\" 'b^'"],
        ["cat <<E\nx\nE\n", "cat  <<E # y\nx\nE"],
        ["x=(1 2)", "x=( '1'\n2 )"],
        ["! a", "!  a"],
        ["time (a)", "time  ( a )"],
    ],
)  # fmt: skip
def test_quoting_blanks_comments_and_newlines_make_no_difference(spellings: list[str]) -> None:
    read = [keys(spelling) for spelling in spellings]
    assert read == [read[0]] * len(spellings)
    assert len({spell(parse(spelling).commands) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    "scripts",
    [
        ["a *", "a '*'", "a \\**"],
        ["a $X", "a '$X'", 'a "$X"', "a X"],
        ["a $(b)", "a '$(b)'", 'a "$(b)"', "a $(c)", "a $(b &)", "a $(b; c)", "a $( (b) )", "a <(b)", "a >(b)"],
        ["a {b,c}", "a '{b,c}'", "a b c"],
        ["a ~", "a '~'"],
        ["a [bc]", "a '[bc]'"],
        [
            "a b", "a 'b '", "ab", "a; b", "a & b", "a && b", "a || b", "a | b", "a |& b", "(a; b)", "{ a; b; }",
            "a b &", "! a b",
        ],
        ["cd a\nmake", "cd a make", "cd a && make", "cd b\nmake"],
        ["a $X'y'", "a $Xy", "a $X 'y'"],
        ["a; (b)", "(a); b", "(a; b)", "((a); b)", "a; b"],
        [
            "if a; then b; fi; c", "if a; then b; c; fi", "if a; then b; else c; fi", "while a; do b; done; c",
            "if ! a; then b; fi; c",
        ],
        [
            "for i in a b; do c; done", "for j in a b; do c; done", "for i in a; do c; done",
            "for i in 'a b'; do c; done", "for i; do c; done", "for i in *; do c; done",
            "select i in a b; do c; done",
        ],
        [
            "case x in a) b;; esac", "case x in c) b;; esac", "case y in a) b;; esac", "case x in a|c) b;; esac",
            "case x in a*) b;; esac", "case x in 'a*') b;; esac", "case x in a) b;& esac",
        ],
        ["f() { a; }", "g() { a; }", "{ a; }", "f() (a)"],
        ["a > f", "a >> f", "a > g", "a 2> f", "a < f", "a f", "a >| f", "a '>' f", "a &> f"],
        ["{ a; b; } > f", "{ a; b > f; }", "{ a > f; b; }"],
        ["X=1 a", "X=2 a", "X=1; a", "'X=1' a", "X+=1 a", "Y=1 a", "a X=1"],
        ["X='*'", "X='$Y'", "X=$Y"],
        ["cat <<E\n1\nE\n", "cat <<E\n2\nE\n", "cat <<< 1"],
        ["[[ $a =~ b.c ]]", "[[ $a =~ 'b.c' ]]", "[[ $a == b.c ]]"],
        ["a $((1 + 2))", "a $((1 - 2))"],
        ["a `b` c", "a `b c`"],
    ],
)  # fmt: skip
def test_what_the_shell_tells_apart_differs(scripts: list[str]) -> None:
    read = [keys(script) for script in scripts]
    for (i, first), (j, second) in itertools.combinations(enumerate(read), 2):
        assert first != second, (scripts[i], scripts[j])


# ---- any words, quoted anyhow

LETTERS = st.text(st.sampled_from("ab$*?'\"\\ \n\t~{}[],;|&<>()#!=`-é"), max_size=8)
STYLES = st.sampled_from(["single", "double", "escape", "ansi"])


def quoted(text: str, style: str) -> str:
    """One spelling of a literal piece."""
    if style == "double":
        return '"' + "".join("\\" + c if c in '$`"\\' else c for c in text) + '"'
    if style == "escape" and text and "\n" not in text:
        return "".join("\\" + c for c in text)
    if style == "ansi":
        return "$'" + "".join(f"\\x{ord(c):02x}" if ord(c) < 128 else c for c in text) + "'"
    return "'" + text.replace("'", "'\\''") + "'"


@st.composite
def spelled_twice(draw: st.DrawFn) -> tuple[list[list[str]], str, str]:
    """Commands of literal words, and two ways to write them."""
    script = draw(st.lists(st.lists(LETTERS, min_size=1, max_size=4), min_size=1, max_size=4))

    def write() -> str:
        written = ""
        for number, command in enumerate(script):
            if number:
                written += draw(st.sampled_from(["; ", ";", "\n", " \n\n", " # it's \"x\n", "\n\t# y\n"]))
            for place, word in enumerate(command):
                if place:
                    written += draw(st.sampled_from([" ", "  ", "\t", " \\\n", "\\\n "]))
                cut = draw(st.integers(0, len(word)))
                written += quoted(word[:cut], draw(STYLES)) + quoted(word[cut:], draw(STYLES))
        return written

    return script, write(), write()


@given(spelled_twice())
def test_any_literal_words_survive_any_quoting(case: tuple[list[list[str]], str, str]) -> None:
    script, first, second = case
    read = parse(first)
    assert not read.fallback
    assert [[word.text for word in command.words] for command in read.commands] == script
    assert all(word.literal for command in read.commands for word in command.words)
    assert keys(first) == keys(second)


@given(LETTERS, LETTERS)
def test_different_words_have_different_keys(one: str, other: str) -> None:
    (first,), (second,) = (parse("a " + quoted(text, "single")).commands for text in (one, other))
    assert (first.words[1].key == second.words[1].key) == (one == other)


@given(LETTERS)
def test_a_key_is_itself_a_spelling_of_the_word(text: str) -> None:
    (command,) = parse("a " + quoted(text, "double")).commands
    (again,) = parse("a " + command.words[1].key).commands
    assert again.words == command.words
