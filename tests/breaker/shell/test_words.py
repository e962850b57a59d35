"""PowerShell lines, by words."""

from __future__ import annotations

import pytest

from breaker.shell.words import split_words


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in split_words(text).commands if command.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Get-Item -Path 'a b' | sort -First 3", [["Get-Item", "-Path", "a b"], ["sort", "-First", "3"]]),
        ("cd a; dir && ls || pwd\nhost", [["cd", "a"], ["dir"], ["ls"], ["pwd"], ["host"]]),
        ('iwr "https://a.example/x?y=1&z=2" -OutFile f', [["iwr", "https://a.example/x?y=1&z=2", "-OutFile", "f"]]),
        ("if (Test-Path a) { b } else { c }", [["if"], ["Test-Path", "a"], ["b"], ["else"], ["c"]]),
        ('echo "a `"b`" `$c"', [["echo", 'a "b" $c']]),
        ("a `\n  -b", [["a", "-b"]]),
        ("a # b\nc", [["a"], ["c"]]),
        ("dir C:\\Users\\x", [["dir", "C:\\Users\\x"]]),
        ("echo 'unclosed; x", [["echo", "unclosed; x"]]),
        ("", []),
    ],
)  # fmt: skip
def test_a_line_is_split_into_commands(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_redirections_are_apart_from_words() -> None:
    (command,) = split_words("a b > out.txt 2>&1 *> all.txt c").commands
    assert [word.text for word in command.words] == ["a", "b", "c"]
    assert [(r.fd, r.operator, r.target and r.target.text) for r in command.redirects] == [
        ("", ">", "out.txt"),
        ("2", ">&", "1"),
        ("*", ">", "all.txt"),
    ]


def test_variables_are_not_literal_and_quoting_makes_no_difference() -> None:
    (command,) = split_words('a $x "$y" \'z\' "z" z').commands
    assert [word.literal for word in command.words] == [True, False, False, True, True, True]
    assert len({word.key for word in command.words[3:]}) == 1


def test_what_stands_between_commands_is_kept_and_the_script_is_marked() -> None:
    script = split_words("a; b | c\nd &")
    assert [command.before for command in script.commands] == ["", ";", "|", ";", "&"]
    assert script.fallback
