"""No text makes the reader fail or hang."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.shell.parse import parse
from breaker.shell.script import Script
from breaker.shell.words import split_words

PATIENCE = 1.5
"""Seconds of CPU time. The slowest of these takes 0.13; a reader that is not linear takes minutes."""

SIGNS = [
    "`<^ ", "`>* ", "a=(", "a?", "{|", "a|", "(", "$(", "((", '"$(', "${", "x", "'", '"', "[[ ", "a ", "[", "{",
    "{a,", "case x in ", "<<a ", "<<a\n", "`", "\\`", "\n", "$'", "\ud800", "\0", "$((", "@(", "\\a", "*", '"$x"',
    "if ", "f() ", "a\n", "<(", "x)", "cat <<-E\n\tE\n", "a>", "[[ a =~ (", "$((1) ", "#", "! ", "$(echo ", "${x:-",
    "x[", "x[ ", "x[a]=(", "time ", ";;", "`a` ", "$(a) ", "$(a $(b)) ", "' ' ", "\\\n", "((a)) ", "<<'' ",
    "<<-E\n\t", "{a..b}", "{ ) ", '"`',
]  # fmt: skip
"""What a text may be made of, over and over: the shapes that error recovery of parsers is slow on, and our own."""

REAL = [
    "cd /repo && git log --oneline -5 2>&1 | head -20",
    'for f in src/*.ts; do echo "== $f"; sed -n \'1,5p\' "$f"; done',
    "python3 - <<'PY'\nimport json\nprint(json.load(open('a.json'))[\"k\"])\nPY",
    "git commit -m \"$(cat <<'EOF'\nFix `x`\n\nIt's (done).\nEOF\n)\" && git push",
    "find . -name '*.py' -not -path './.venv/*' -exec grep -ln \"foo(\" {} \\; | xargs -I{} sh -c 'wc -l {}'",
    "X=$(curl -s https://a.example/x | jq -r '.[] | select(.a==\"b\")') && echo ${X:-none}",
    "if [[ $a =~ ^(x|y)$ ]]; then (( n++ )); elif ! test -f b; then :; else exit 1; fi",
    'case "$1" in start|stop) run "$1" ;; *) echo \'usage\' >&2; exit 2 ;; esac',
    "awk -F'\\t' '{print $1\":\"$NF}' < <(sort -u a.tsv) > out.txt &",
    "sed -i \"s/return 'a', ''/print(f'{x}')/\" a.py && node -e \"console.log(`x`)\"",
    "docker run --rm -v \"$PWD\":/w -w /w img sh -lc 'make -j$(nproc) && ./t' |& tee log",
    "a=(1 2 '3 4'); declare -A m=([k]=v); echo ${a[@]:1} ${#m[@]} $'\\t' $((1<<3))",
]


@pytest.mark.parametrize("size", [1_000, 8_000, 64_000, 512_000])
@pytest.mark.parametrize("sign", SIGNS)
def test_no_repetition_takes_long(sign: str, size: int) -> None:
    for text in (sign * (size // len(sign)), "cat <<E\n" + sign * (size // len(sign))):
        start = time.thread_time()
        parse(text)
        assert time.thread_time() - start < PATIENCE


@pytest.mark.parametrize("sign", SIGNS)
def test_no_repetition_takes_long_by_words_either(sign: str) -> None:
    start = time.thread_time()
    split_words(sign * (512_000 // len(sign)))
    assert time.thread_time() - start < PATIENCE


def test_a_long_text_is_read_up_to_a_limit_and_still_differs_behind_it() -> None:
    one, other = ("; ".join(["a"] * 100_000 + [last]) for last in "bc")
    first, second = parse(one), parse(other)
    assert first.fallback
    assert [word.text for word in first.commands[0].words] == ["a"]
    assert first != second


def test_the_command_that_is_too_long_keeps_its_verb() -> None:
    script = parse("curl " + "x " * 100_000)
    assert script.fallback
    assert script.commands[0].words[0].text == "curl"


def test_a_long_word_a_long_string_and_a_long_heredoc_are_no_reason_to_give_up() -> None:
    for text in ("a " + "x" * 1_000_000, "a '" + "x y\n" * 250_000 + "'", "a <<'E'\n" + "$(x) `\n" * 200_000 + "E\n"):
        script = parse(text)
        assert not script.fallback
        assert len(script.commands) == 1


def test_deep_nesting_is_read_up_to_a_limit() -> None:
    assert not parse("$(a " * 20 + ")" * 20).fallback
    for sign in ("$(a ", '"$(a ', "${x:-", "(", "{ ", "<(a "):
        assert isinstance(parse(sign * 100_000), Script)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(parse(text), Script)
    assert isinstance(split_words(text), Script)


@given(
    st.lists(st.sampled_from([*SIGNS, " ", ";", ")", "}", "]]", "))", "done", "fi", "esac", "in ", "E\n", "EOF", ">&"]))
)
def test_any_signs_are_read(signs: list[str]) -> None:
    assert isinstance(parse("".join(signs)), Script)
    assert isinstance(split_words("".join(signs)), Script)


@given(st.binary())
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(parse(data.decode("utf-8", "surrogateescape")), Script)


@pytest.mark.parametrize("text", REAL)
def test_every_beginning_of_a_command_is_read(text: str) -> None:
    assert not parse(text).fallback
    for end in range(len(text)):
        script = parse(text[:end])
        if text[:end].strip():
            assert script.commands


@pytest.mark.parametrize("text", REAL)
def test_a_command_without_one_of_its_characters_is_read(text: str) -> None:
    for gap in range(len(text)):
        assert isinstance(parse(text[:gap] + text[gap + 1 :]), Script)
