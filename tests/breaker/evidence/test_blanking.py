"""What differs from try to try is blanked; what somebody chose stays."""

from __future__ import annotations

import time

import pytest

from breaker.evidence.blanking import blank, bones, clip, is_random, last_frame

SAME = [
    ("at 2026-05-01T12:00:07.123Z it ran", "at 2026-05-02T01:10:59.003Z it ran"),
    ("2026-05-01 12:00:07,123 INFO ready", "2026-05-01 12:10:07,999 INFO ready"),
    ("[12:03:04] ready", "[23:59:00] ready"),
    ("started 1754484526", "started 1754499999"),
    ("started 1754484526123", "started 1754484999001"),
    ("5 passed in 0.32s", "5 passed in 12.90s"),
    ("built in 41ms", "built in 1203ms"),
    ("took 1m 3s", "took 2m 59s"),
    ("Time: 4.00 s", "Time: 5.1 seconds"),
    ("id 3f2a9c1e-1111-4000-8000-aaaaaaaaaaaa ok", "id 00000000-2222-4abc-9def-bbbbbbbbbbbb ok"),
    ("commit 4c1d2e3f made", "commit 9f8e7d6c made"),
    ("sha256:deadbeef00112233", "sha256:0011223344556677aabb"),
    ("<<<PART id=00000001>>> ok", "<<<PART id=0000001f>>> ok"),
    ("key req_0a9f8e7d6c5b4a39 used", "key req_bb12cc34dd56ee78 used"),
    ("tool toolu_01AbCdEf9GhIj2k done", "tool toolu_01ZyXwVu8TsRq7p done"),
    ("Chunk ID: ab12cd\nWall time: 0.1 seconds\nok", "Chunk ID: 99ffee\nWall time: 20.0012 seconds\nok"),
    ("Process Group PGID: 4711 ok", "Process Group PGID: 81 ok"),
    ("worker pid=4000 died", "worker pid=4711 died"),
    ("killed process 31000 now", "killed process 402 now"),
    ("[1] 31000\nok", "[1] 402\nok"),
    ("attempt 3 failed", "attempt 4 failed"),
    ("request_id=abc, refused", "request_id=xyz-9, refused"),
    ('"messageId": "om_1", sent', '"messageId": "om_2", sent'),
    ("nonce: q8 ok", "nonce: z1 ok"),
    ("button [ref=s1e9] Pay", "button [ref=s22e9] Pay"),
    ("listening on 127.0.0.1:54321", "listening on 127.0.0.1:49152"),
    ("wrote /tmp/pytest-of-me/pytest-3/out.txt fine", "wrote /tmp/pytest-of-me/pytest-12/out.txt fine"),
    ("wrote /var/folders/x1/T/tmp8a7b/y fine", "wrote /var/folders/q9/T/tmp11zz/y fine"),
    ("object at 0x7f0011223344>", "object at 0x7fffeeddccbb>"),
    ("\x1b[31mred\x1b[0m text", "red text"),
    ("⠋ loading", "⠸ loading"),
    ("a 10%\ra 20%\rdone", "done"),
    ("two  blanks\tand a tab", "two blanks and a tab"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_nobody_chose_makes_no_difference(one: str, other: str) -> None:
    assert blank(one) == blank(other)


DIFFERENT = [
    ("5", "6"),
    ("next job: 5", "next job: 6"),
    ("order 10482213", "order 10482214"),
    ("HTTP 404", "HTTP 500"),
    ("1 failed", "2 failed"),
    ("CHANGED:47/47", "CHANGED:45/45"),
    ("46%", "47%"),
    ("due 2026-05-01", "due 2026-05-02"),
    ("v1.2.3", "v1.2.4"),
    ("main.c:40:5: error", "main.c:41:5: error"),
    ("reservation 4OG6T3", "reservation 4OG6T4"),
    ("user noah_muller_9847", "user noah_muller_9848"),
    ("localhost:3000", "localhost:8080"),
    ("port 5432", "port 5433"),
    ("x86_64", "arm64"),
    ("python3.11", "python3.12"),
    ("5 MB", "6 MB"),
    ("process 4 not found", "process 5 not found"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_somebody_chose_makes_a_difference(one: str, other: str) -> None:
    assert blank(one) != blank(other)


def test_a_text_of_which_nothing_would_be_left_stays_as_it_was() -> None:
    assert blank("12:03:04") != blank("12:03:05")
    assert blank("3f2a9c1e-1111-4000-8000-aaaaaaaaaaaa") != blank("00000000-2222-4abc-9def-bbbbbbbbbbbb")


def test_bones_are_equal_where_numbers_alone_differ() -> None:
    assert bones("step 100 loss 2.10") == bones("step 2,300 loss 0.07")
    assert bones("step 100 loss 2.10") != bones("step 100 gain 2.10")


def test_of_a_line_that_was_written_over_the_last_writing_is_seen() -> None:
    assert last_frame("get 1%\rget 99%\rgot it\r\nnext") == "got it\nnext"


@pytest.mark.parametrize("token", ["a1b2c3d", "0000000a", "01AbCdEf9GhIj2k", "om_9f8e7d6c5b4a3928"])
def test_random_tokens_are_told_by_their_letters_and_digits(token: str) -> None:
    assert is_random(token)


@pytest.mark.parametrize(
    "token", ["10482213", "x86_64", "noah_muller_9847", "certificate_3221322", "refactoring", "sha1"]
)
def test_chosen_tokens_are_not_random(token: str) -> None:
    assert not is_random(token)


def test_a_long_text_is_known_by_its_ends_and_by_the_words_between() -> None:
    text = "\n".join(f"line {n} of a long log" for n in range(3_000))
    assert len(clip(text)) < 9_000
    assert clip(text) != clip(text.replace("line 1500 of", "line 1500 off"))
    assert clip(text) == clip(text.replace("line 1500 of", "line 9999 of"))


@pytest.mark.parametrize(
    "text",
    [
        " " * 200_000,
        "a" * 200_000,
        "1" * 200_000,
        "a1" * 100_000,
        "tmp" * 60_000,
        "/tmp/" * 40_000,
        "id " * 60_000,
        "1:" * 100_000,
        "[1] " * 50_000,
        "\x1b[" * 100_000,
        "\x1b]" * 100_000,
        "\r" * 200_000,
        "pid " * 50_000,
        "1s" * 100_000,
        "-0" * 100_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    blank(clip(text))
    assert time.process_time() - began < 0.25
