"""Nothing that a model or a tool writes keeps an agent waiting: time grows with the text, and no faster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from breaker import skeleton
from breaker.engine import Engine
from breaker.events import Call, Result, Settled
from breaker.identity.identify import Identifier
from breaker.messages import preview, quoted
from breaker.secrets import mask, mask_text, pseudonyms
from breaker.settings import preset
from protocol.decode import NotJsonError, decode

SIZE = 8_192
STEEP = 8.0
"""How much longer four times the text may take: 4 is linear, 16 quadratic."""
QUICK_SECONDS = 0.05
SLOW_SECONDS = 1.0
"""CPU time of one text of `SIZE` characters, on whatever machine. The longest take a tenth of it."""

# What is repeated; before and after it, where that matters. Most are what a grammar opens and never closes.
REPEATED = r"""
    ' " \ ` $ ${ $( $(( (( ( { [[ <( >( @( a=( <<A <<- <<< > >& 1>&2 | || && ; & ! # * ? [ ] { } {a, {a,b} {1..9} ~
    if while case for select function time coproc do done then fi esac in eval sudo env timeout xargs nohup exec
    a=b a=$a a() -x --x=y -0 +1 @a a@b a:b ://a:b@ ://@ http://a.b/ a.example/{a,b} %7e %2F token={ key: cookie:{
    authorization:{ password=" bearer --password eyJaaaaaaaaaaaa. ghp_ secret- a/ ./ ../ Error: a.Error: [exit (HTTP
    curl: 404 1.1 12:34:56 2024-01-01T /tmp/a 0xa deadbeef1 <x> <tool_call>
""".split()  # noqa: SIM905 - a table
AROUND = [
    ("curl a.example/{", ",", ""),
    ("sed '1", "\n", "' f"),
    ("sed 'w", " w", "' f"),
    ("awk '", "print ", "' f"),
    ("awk 'system", " ", "' f"),
    ("cat <<A\n", "A", ""),
    ("cat <<-A\n", "\t", "A"),
    ("cat <<A\n", "a $x `b`\n", "A"),
    ("case a in ", "a) b;; ", "esac"),
    ("[[ ", "a && ", "b ]]"),
    ("[[ a =~ ", "(a", " ]]"),
    ("curl -", "s", ""),
    ("curl ", "-o f -d @- ", ""),
    ("find . ", "-exec a ; ", ""),
    ("make | head ", "-0 ", "x"),
    ("make | tail ", "-n1 +5 ", "x"),
    ("xargs -I{} curl ", "{} ", ""),
    ("echo ", "http://a.example ", "| xargs curl"),
    ("curl -K - <<A\n", "url = a.example\n", "A"),
    ("for x in 1 2 3 4 5 6 7 8; do curl http://a.example/", "$x", "; done"),
    ("python3 -c 'import requests\n", "[", "\"http://a.b\"'"),
    ("python3 -c 'import requests\nrequests.get(", '"http://a.b", ', "'"),
    ("python3 -c 'import requests\n", 'v="http://a.b"\n', "'"),
    ("node -e 'fetch(", "`http://a.b/${x}`+", "'"),
    ("Traceback (most recent call last):\n", "  a\n", "b.Error"),
    ("", "a\n", "Traceback (most recent call last):"),
    ("", "[exit code: 0]\n", ""),
    ("", "\ud83d", ""),
    ("", "\x1b[", ""),
    ("", "\x1b]8;;", ""),
    ("", "\u202e", ""),
    ("", "-u a:b ", "curl"),
    ("", "-----BEGIN PRIVATE KEY-----", ""),
    ("Wall time: ", "1", " seconds"),
    ('{"output":"', '",', ""),
    ("[", "{\"a\":", "1"),
    ("{\"a\":\"", "\\ud83d", "\"}"),
    ("{", '"k":1,', ""),
]  # fmt: skip


def texts(size: int) -> list[str]:
    shapes = [("", unit, "") for unit in REPEATED] + [("", f"{unit} ", "") for unit in REPEATED] + AROUND
    return [head + unit * (size // len(unit)) + tail for head, unit, tail in shapes]


IDENTIFIER = Identifier(preset("standard"), b"key")
PSEUDONYM = pseudonyms(b"key")


def read_line(text: str) -> None:
    line = text.encode("utf-8", "surrogatepass")
    for each in (line, json.dumps({"a": text}).encode()):
        try:
            mask(decode(each), PSEUDONYM)
        except NotJsonError:
            mask_text(each.decode("utf-8", "replace"), PSEUDONYM)


def answer(profile: str) -> Callable[[str], None]:
    def take_in(text: str) -> None:
        engine = Engine(preset(profile), key=b"key")
        for number, command in enumerate(("make", "cat f", "curl -w '%{http_code}' a.example", "make")):
            call_id = f"{number}"
            engine.guard(Call("main", "bash", {"command": command}, call_id))
            engine.settle(Settled("main", Result(text, is_error=number == 3), call_id))

    return take_in


def ask(profile: str) -> Callable[[str], None]:
    def guard(text: str) -> None:
        engine = Engine(preset(profile), key=b"key")
        engine.guard(Call("main", "bash", {"command": text}, "1"))
        engine.settle(Settled("main", Result("x"), "1"))

    return guard


SURFACES: dict[str, Callable[[str], object]] = {
    "a shell command": lambda text: IDENTIFIER.identify("bash", {"command": text}, all_kinds=True),
    "a line of PowerShell": lambda text: IDENTIFIER.identify("powershell", {"command": text}, all_kinds=True),
    "a URL": lambda text: IDENTIFIER.identify("fetch", {"url": f"https://a.example/{text}", "body": text}),
    "any arguments": lambda text: IDENTIFIER.identify("write", {"content": text, "list": [text], text: 1}),
    "a line": read_line,
    "a secret": lambda text: mask_text(text, PSEUDONYM),
    "a skeleton": lambda text: (skeleton.of_command(text), skeleton.of_error(text)),
    "a quotation": lambda text: (preview(text, 400), quoted(text, 800), quoted(text, 10**6)),
    "a command, loop-guard": ask("loop-guard"),
    "a command, adaptive": ask("adaptive"),
    "an answer": answer("standard"),
    "an answer, loop-guard": answer("loop-guard"),
    "an answer, adaptive": answer("adaptive"),
}


def seconds(take_in: Callable[[str], object], text: str, tries: int = 1) -> float:
    best = float("inf")
    for _ in range(tries):
        started = time.thread_time()
        take_in(text)
        best = min(best, time.thread_time() - started)
    return best


@pytest.mark.parametrize("surface", SURFACES)
def test_four_times_the_text_takes_four_times_as_long(surface: str) -> None:
    take_in = SURFACES[surface]
    for short, long in zip(texts(SIZE // 4), texts(SIZE), strict=True):
        first = seconds(take_in, long)
        if first < QUICK_SECONDS:
            continue
        took = seconds(take_in, long, tries=2)
        assert took < SLOW_SECONDS, f"{long[:50]!r} … {long[-20:]!r}"
        assert took < STEEP * max(seconds(take_in, short, tries=3), QUICK_SECONDS / 4), (
            f"{long[:50]!r} … {long[-20:]!r}"
        )
