"""What a shell script is read as."""

from __future__ import annotations

import pytest

from breaker.shell.parse import PSEUDO, parse
from breaker.shell.script import Command


def commands(text: str) -> tuple[Command, ...]:
    script = parse(text)
    assert not script.fallback, text
    return script.commands


def words(text: str) -> list[list[str]]:
    """The words of every command that has some."""
    return [[word.text for word in command.words] for command in commands(text) if command.words]


def redirects(command: Command) -> list[str]:
    return [f"{r.fd}{r.operator}{r.target.text if r.target else ''}" for r in command.redirects]


def verbs(text: str) -> list[str]:
    return [command.words[0].text for command in parse(text).commands if command.words]


# ---- what a grammar for editors gets wrong


def test_words_behind_a_redirection_are_arguments() -> None:
    (command,) = commands("curl > f https://a.example")
    assert [word.text for word in command.words] == ["curl", "https://a.example"]
    assert redirects(command) == [">f"]
    assert words("echo > f a b") == [["echo", "a", "b"]]


def test_the_redirection_of_the_last_command_is_not_that_of_the_list() -> None:
    first, last = commands("cd x && make > log")
    assert (redirects(first), redirects(last)) == ([], [">log"])
    first, last = commands("a | b > f")
    assert (redirects(first), redirects(last)) == ([], [">f"])


@pytest.mark.parametrize(
    ("script", "inside"),
    [
        ("(a; b) > f", ["a", "b"]),
        ("{ a; b; } > f", ["a", "b"]),
        ("for i in 1; do a; b; done > f", ["for", "a", "b"]),
        ("while a; do b; done > f", ["a", "b"]),
        ("if a; then b; fi > f", ["a", "b"]),
        ("case x in y) a; b;; esac > f", ["case", "a", "b"]),
    ],
)
def test_the_redirection_of_a_group_closes_it(script: str, inside: list[str]) -> None:
    *members, group = commands(script)
    assert [member.words[0].text for member in members] == inside
    assert [redirects(member) for member in members] == [[] for _ in inside]
    assert (group.words, redirects(group)) == ((), [">f"])


def test_a_dash_before_a_heredoc_stays() -> None:
    (command,) = commands("python3 - <<'PY'\nprint(1)\nPY\n")
    assert [word.text for word in command.words] == ["python3", "-"]
    (heredoc,) = command.redirects
    assert (heredoc.operator, heredoc.heredoc, heredoc.heredoc_quoted) == ("<<", "print(1)\n", True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cat <<E 2>&1 | tee f", [["cat"], ["tee", "f"]]),
        ("cat <<E; ls", [["cat"], ["ls"]]),
        ("cat <<E && ls", [["cat"], ["ls"]]),
        ("cat <<E > f -n", [["cat", "-n"]]),
        ("(cat <<E)", [["cat"]]),
    ],
)
def test_anything_may_stand_behind_the_delimiter(line: str, expected: list[list[str]]) -> None:
    text = f"{line}\nbody | of ; it\nE\necho after"
    assert words(text) == [*expected, ["echo", "after"]]
    assert commands(text)[0].redirects[0].heredoc == "body | of ; it\n"


def test_a_heredoc_may_feed_a_command_in_the_background() -> None:
    assert [command.before for command in commands("cat <<E &\nx\nE\nls")] == ["", "&"]


def test_several_heredocs_on_a_line_have_their_bodies_in_order() -> None:
    (command,) = commands("diff <<A <<B\n1\nA\n2\nB\n")
    assert [redirect.heredoc for redirect in command.redirects] == ["1\n", "2\n"]
    first, second = commands("cat <<A && cat <<B\n1\nA\n2\nB\n")
    assert (first.redirects[0].heredoc, second.redirects[0].heredoc) == ("1\n", "2\n")


def test_a_blank_before_the_delimiter_ends_no_heredoc() -> None:
    text = "cat > t.py <<'EOF'\nx = 1\n EOF = 1\nrm -rf y\nEOF\nls"
    assert words(text) == [["cat"], ["ls"]]
    assert commands(text)[0].redirects[1].heredoc == "x = 1\n EOF = 1\nrm -rf y\n"


def test_tabs_are_taken_from_a_heredoc_with_a_dash() -> None:
    text = "cat <<-E\n\t\tone\n\ttwo\n\tE\nls"
    assert words(text) == [["cat"], ["ls"]]
    assert commands(text)[0].redirects[0].heredoc == "one\ntwo\n"


def test_a_heredoc_without_an_end_takes_the_rest() -> None:
    (command,) = commands("cat <<E\nrm x")
    assert command.redirects[0].heredoc == "rm x"


@pytest.mark.parametrize("delimiter", ["'E'", '"E"', "\\E"])
def test_nothing_expands_in_a_heredoc_whose_delimiter_is_quoted(delimiter: str) -> None:
    (command,) = commands(f"cat <<{delimiter}\n$(rm x)\nE\n")
    assert command.redirects[0].heredoc_quoted


def test_substitutions_in_a_heredoc_run() -> None:
    text = "cat <<E\n$(curl a) `curl b` \\$(no) $((1 + $(curl c))) ${x:-$(curl d)}\nE\n"
    assert words(text) == [["cat"], ["curl", "a"], ["curl", "b"], ["curl", "c"], ["curl", "d"]]
    assert not commands(text)[0].redirects[0].heredoc_quoted


@pytest.mark.parametrize(
    "text", ["echo '<<E'\nls", 'echo "<<E"\nls', "echo a # <<E\nls", "(( 1 << 2 ))\nls", "echo $((1<<2))\nls"]
)
def test_what_looks_like_a_heredoc_and_is_none(text: str) -> None:
    assert words(text)[-1] == ["ls"]


def test_a_here_string_is_a_redirection() -> None:
    (command,) = commands("cat > f <<< 'a b'")
    assert [word.text for word in command.words] == ["cat"]
    assert redirects(command) == [">f", "<<<a b"]


@pytest.mark.parametrize("word", ["src/$a.$b.ts", "'a b'c$X*", 'x"$y"z', "a${b}c`d`e", "--x={a,b}/$c"])
def test_pieces_without_a_blank_between_are_one_word(word: str) -> None:
    assert len(words(f"echo {word}")[0]) == 2


def test_an_option_at_the_start_of_a_line_is_no_assignment() -> None:
    first, second = commands("grep -rn x\n--include=*.py y")
    assert [word.text for word in second.words] == ["--include=*.py", "y"]
    assert (first.assignments, second.assignments) == ((), ())


def test_a_newline_ends_a_command_and_a_continuation_does_not() -> None:
    assert words("find . -name x\n\\;") == [["find", ".", "-name", "x"], [";"]]
    assert words("grep x \\\n  --include=y") == [["grep", "x", "--include=y"]]
    assert words("ec\\\nho a") == [["echo", "a"]]


def test_time_is_a_word_before_a_command_and_a_sign_before_a_group() -> None:
    assert words("time make -j2") == [["time", "make", "-j2"]]
    assert [(c.before, c.words[0].text) for c in commands("time (make)")] == [("time (", "make")]


def test_a_newline_within_quotes_belongs_to_the_word() -> None:
    assert words("git commit -m 'one\n\ntwo' && ls") == [["git", "commit", "-m", "one\n\ntwo"], ["ls"]]


# ---- where commands stand


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b & c && d || e | f |& g", "abcdefg"),
        ("a\nb\n\nc", "abc"),
        ("(a; (b))", "ab"),
        ("{ a; { b; }; }", "ab"),
        ("! a", "a"),
        ("if a; then b; elif c; then d; else e; fi; f", "abcdef"),
        ("while a; do b; done; until c; do d; done", "abcd"),
        ("f() { a; }; function g { b; }; function h() (c)", "abc"),
        ("echo=1 a", "a"),
        ("coproc a", ["coproc"]),
        ("a # b; c\nd", "ad"),
        ("a $(b $(c)) d; e", "abce"),
        ("a `b \\`c\\`` d", "abc"),
        ('a "x $(b | c) y"; d', "abcd"),
        ("a <(b) >(c); d", "abcd"),
        ('a ${x:-$(b)} "${y:=`c`}"', "abc"),
        ("a $((1 + $(b)))", "ab"),
        ("x=$(a) y=`b` c", "abc"),
        ("x=($(a) b) c", "ca"),
        ("a > $(b) < <(c)", "abc"),
        ("a \"'$(b)'\" '$(no)'", "ab"),
    ],
)
def test_commands_are_found_wherever_they_stand(text: str, expected: str | list[str]) -> None:
    assert sorted(verbs(text)) == sorted(expected)
    assert not parse(text).fallback


def test_commands_come_in_source_order() -> None:
    assert verbs("a $(b; c `d`) <(e) | f; g $(h)") == list("abcdefgh")


def test_before_says_what_stands_between() -> None:
    text = "a && b || c | d |& e & f; g\n! h"
    assert [c.before for c in commands(text)] == ["", "&&", "||", "|", "|&", "&", ";", "; !"]


def test_the_last_sign_of_a_script_is_kept() -> None:
    *_, last = commands("make &")
    assert (last.before, last.words, last.assignments, last.redirects) == ("&", (), (), ())


def test_substitutions_open_and_close_in_before() -> None:
    assert [c.before for c in commands("a $(b; c) `d` <(e) | f")] == ["", "$(", ";", ") $(", ") <(", ") |"]


def test_reserved_words_patterns_and_names_are_in_before() -> None:
    text = "if a; then b; else c; fi; f() { d; }; case $x in 'p q'|r*) e;; *) g; esac; h"
    assert [(c.before, c.words[0].text) for c in commands(text)] == [
        ("if", "a"),
        ("then", "b"),
        ("else", "c"),
        ("fi ; f() {", "d"),
        ("} ;", "case"),
        ("'p q'|r*)", "e"),
        (";; *)", "g"),
        ("esac ;", "h"),
    ]


def test_loops_cases_and_tests_are_commands_that_run_nothing() -> None:
    text = "for i in a 'b c' *; do x; done; select j in d; do y; done; case $k in l) z;; esac"
    text += "; [[ -f $m && n < o ]]; ((p++))"
    heads = [[w.text for w in c.words] for c in commands(text) if c.words and c.words[0].text in PSEUDO]
    assert heads == [
        ["for", "i", "in", "a", "b c", "*"],
        ["select", "j", "in", "d"],
        ["case", "$k"],
        ["[[", "-f", "$m", "&&", "n", "<", "o", "]]"],
        ["((", "p++"],
    ]


def test_a_loop_without_a_list() -> None:
    assert words("for i do a; done") == words("for i; do a; done") == [["for", "i"], ["a"]]
    assert words("for ((i=0; i<3; i++)); do a; done") == [["for", "((", "i=0; i<3; i++"], ["a"]]


def test_two_open_parentheses_may_be_two_groups() -> None:
    assert words("((a); (b))") == [["a"], ["b"]]
    assert words("$((a) | b)") == [["$((a) | b)"], ["a"], ["b"]]


def test_regular_expressions_hold_parentheses() -> None:
    assert words('[[ $a =~ ^(x|"y z")+$ && b ]] && c') == [["[[", "$a", "=~", '^(x|"y z")+$', "&&", "b", "]]"], ["c"]]


# ---- parts of a command


def test_assignments_stand_before_the_words() -> None:
    (command,) = commands("A=1 B='x y' C+=z d[0]=w cmd E=5")
    assert [(name, value.text) for name, value in command.assignments] == [
        ("A", "1"), ("B", "x y"), ("C+", "z"), ("d[0]", "w"),
    ]  # fmt: skip
    assert [word.text for word in command.words] == ["cmd", "E=5"]


def test_assignments_alone_are_a_command_without_words() -> None:
    first, second = commands("X=$(curl a)")
    assert (first.words, first.assignments[0][1].text) == ((), "$(curl a)")
    assert [word.text for word in second.words] == ["curl", "a"]


def test_arrays_are_one_value() -> None:
    first, second = commands("a=(1 '2 3' # no\n $(x))\n".rstrip())
    assert first.assignments[0][1].key == "(1 '2 3' $(x))"
    assert [word.text for word in second.words] == ["x"]
    assert words("declare -a b=(1 2) c") == [["declare", "-a", "b=(1 2)", "c"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a >f", [">f"]),
        ("a >>f 2>&1", [">>f", "2>&1"]),
        ("a >&2", [">&2"]),
        ("a >| f <g", [">|f", "<g"]),
        ("a &>f &>>g", ["&>f", "&>>g"]),
        ("a 1>f 2>/dev/null", ["1>f", "2>/dev/null"]),
        ("a {fd}>f <&3 3<&- <>x", ["{fd}>f", "<&3", "3<&-", "<>x"]),
        ("a > 'f g'", [">f g"]),
        ("> f", [">f"]),
    ],
)
def test_redirections(text: str, expected: list[str]) -> None:
    (command,) = commands(text)
    assert redirects(command) == expected
    assert [word.text for word in command.words] == (["a"] if text[0] == "a" else [])


@pytest.mark.parametrize("text", ["echo '>' f", 'echo "2>" f', "echo \\> f", "echo a2 f"])
def test_a_quoted_sign_is_no_redirection(text: str) -> None:
    assert commands(text)[0].redirects == ()


def test_digits_belong_to_a_redirection_only_when_they_are_a_whole_word() -> None:
    (command,) = commands("echo a2>f 3 >g")
    assert [word.text for word in command.words] == ["echo", "a2", "3"]
    assert redirects(command) == [">f", ">g"]


@pytest.mark.parametrize(
    ("word", "text", "literal"),
    [
        ("abc", "abc", True),
        ("'a b'", "a b", True),
        ('"a b"', "a b", True),
        ("a\\ b", "a b", True),
        ('"a\\"\\$\\x"', 'a"$\\x', True),
        ("'a\\n'", "a\\n", True),
        (r"$'a\n\t\'\x41\101\u00e9'", "a\n\t'AAé", True),
        ('$"a"', "a", True),
        ("''", "", True),
        ("HEAD~1", "HEAD~1", True),
        ("HEAD@{1}", "HEAD@{1}", True),
        ("{}", "{}", True),
        ("a[", "a[", True),
        ("100%", "100%", True),
        ("$", "$", True),
        ("a$", "a$", True),
        ("x#y", "x#y", True),
        ("*", "*", False),
        ("a?", "a?", False),
        ("[ab]c", "[ab]c", False),
        ("{a,b}", "{a,b}", False),
        ("f{1..3}", "f{1..3}", False),
        ("~/x", "~/x", False),
        ("$X", "$X", False),
        ('"$X"', "$X", False),
        ('"a $X"b', "a $Xb", False),
        ("$1$@", "$1$@", False),
        ("${X:-a b}", "${X:-a b}", False),
        ("$((1 + 2))", "$((1 + 2))", False),
        ("$(a b)", "$(a b)", False),
        ("`a b`", "`a b`", False),
        ("<(a)", "<(a)", False),
        ("!(a|b)", "!(a|b)", False),
        ("x@(a|b).c", "x@(a|b).c", False),
        ("a+b", "a+b", True),
        ("ä漢", "ä漢", True),
    ],
)
def test_words_have_their_value_and_whether_it_stands(word: str, text: str, literal: bool) -> None:
    read = commands(f"echo {word} end")[0].words
    assert [(w.text, w.literal) for w in read] == [("echo", True), (text, literal), ("end", True)]


# ---- what bash rejects


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("echo 'unclosed && curl x", ["echo"]),
        ('echo "unclosed && curl x', ["echo"]),
        ("cat app/(auth)/page.tsx && ls", ["cat", "ls"]),
        ("&& a", ["a"]),
        ("| head", ["head"]),
        ("a && b ||", ["a", "b"]),
        ("a; ; b", ["a", "b"]),
        ("(a; b", ["a", "b"]),
        ("a) b", ["a", "b"]),
        ("if a; then b", ["a", "b"]),
        ("a; done; b", ["a", "b"]),
        ("echo $(curl x", ["echo", "curl"]),
        ("echo `curl x; ls", ["echo", "ls"]),
        ("a >", ["a"]),
        ("a=(b; c", ["c"]),
        ("[[ a; b", ["[[", "b"]),
        ("case x; a", ["case", "a"]),
        ("echo ${x; a", ["echo"]),
        ("<<<", []),
    ],
)
def test_a_script_that_bash_rejects_keeps_its_verbs(text: str, found: list[str]) -> None:
    script = parse(text)
    assert script.fallback
    assert verbs(text) == found


def test_a_parenthesis_in_a_path_stays_in_the_word() -> None:
    (command,) = parse("cat app/(auth)/page.tsx x").commands
    assert [word.text for word in command.words] == ["cat", "app/(auth)/page.tsx", "x"]


def test_lines_may_end_as_on_windows() -> None:
    assert words("a b\r\nc\r\n") == [["a", "b"], ["c"]]


def test_nothing_is_read_out_of_nothing() -> None:
    assert [parse(text).commands for text in ("", " \t\n", "# only this", ";")] == [(), (), (), ()]
