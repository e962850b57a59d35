"""Secrets are replaced by pseudonyms, and nothing else is touched."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.secrets import find_secrets, is_secret_name, mask, mask_text, pseudonyms


def tag(secret: str) -> str:
    """A pseudonym that can be read."""
    return f"<{secret}>"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("git clone https://bob:pw@h.example/r", "git clone https://<bob:pw>@h.example/r"),
        ("curl https://a@b@h.example/", "curl https://<a@b>@h.example/"),
        ("curl -H 'Authorization: Bearer abc.def' u", "curl -H 'Authorization: Bearer <abc.def>' u"),
        ('curl -H "authorization: Basic dTpw" u', 'curl -H "authorization: Basic <dTpw>" u'),
        ('curl -H "X-Api-Key: k1" u', 'curl -H "X-Api-Key: <k1>" u'),
        ('curl -H "Cookie: a=b; c=d" u', 'curl -H "Cookie: <a=b; c=d>" u'),
        ("> Authorization: Bearer abc def\n< ok", "> Authorization: Bearer <abc def>\n< ok"),
        ("http u Authorization:abc X:y", "http u Authorization:<abc> X:y"),
        ("GITHUB_TOKEN=abc gh pr list", "GITHUB_TOKEN=<abc> gh pr list"),
        ("export PGPASSWORD='a b'; psql", "export PGPASSWORD='<a b>'; psql"),
        ("bash -c 'TOKEN=abc curl https://h.example'", "bash -c 'TOKEN=<abc> curl https://h.example'"),
        ("curl 'https://h.example/?api_key=k1&page=2'", "curl 'https://h.example/?api_key=<k1>&page=2'"),
        ("x --token=abc --verbose", "x --token=<abc> --verbose"),
        ("x --password abc --verbose", "x --password <abc> --verbose"),
        ("curl -u bob:pw https://h.example", "curl -u bob:<pw> https://h.example"),
        ("http -a bob:pw h.example", "http -a bob:<pw> h.example"),
        ("curl -b sid=abc https://h.example", "curl -b sid=<abc> https://h.example"),
        ("curl bob:pw@h.example/x", "curl <bob:pw>@h.example/x"),
        ("curl 'https://h.example/?X-Amz-Signature=abc&x=1'", "curl 'https://h.example/?X-Amz-Signature=<abc>&x=1'"),
        ("token=x:y@h.example", "token=<x:y@h.example>"),
        ("login(password=abc, user=bob)", "login(password=<abc>, user=bob)"),
        ("curl 'https://h.example/?sv=1&sig=abc'", "curl 'https://h.example/?sv=1&sig=<abc>'"),
        ("STRIPE_KEY=abc ./pay", "STRIPE_KEY=<abc> ./pay"),
        ('{"apiKey": "k1", "page": 2}', '{"apiKey": "<k1>", "page": 2}'),
        (r"-d {\"password\":\"p1\"}", r"-d {\"password\":\"<p1>\"}"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END",
            "-----BEGIN RSA PRIVATE KEY-----<\nMII\n>-----END",
        ),
        ("echo ghp_0123456789abcdefghij", "echo <ghp_0123456789abcdefghij>"),
        ("İ TOKEN=abc", "İ TOKEN=<abc>"),
    ],
)
def test_a_secret_in_a_text_is_replaced_and_the_rest_stays(text: str, masked: str) -> None:
    assert mask_text(text, tag) == masked


@pytest.mark.parametrize(
    "text",
    [
        "TOKEN=$TOKEN x",
        'curl -H "Authorization: Bearer $TOKEN" u',
        "https://$USER:$PASS@h.example/",
        "if [ $token = foo ]; then",
        "git commit -m 'token bucket'",
        "token_url=https://h.example/oauth",
        "max_tokens=4000 total_tokens: 17",
        "git@github.com:org/repo.git",
        "docker run -u 1000:1000 img",
        "gh auth login --with-token < file",
        "cat monkey.py keys.txt --key value",
        "author: Bob",
        "def login(user, password=None, **options):",
        "format_signature = 1",
        "docker pull image:1.2@sha256:0123456789abcdef",
        "docker run -u 1000:1000 -b x=y img",
        "sort_key=name",
        "npm install a:b@1",
        "password: none",
        "TOKEN=secret-0123456789ab x",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask_text(text, tag) == text


def test_secret_named_members_are_replaced_wherever_they_stand() -> None:
    value = {
        "url": "https://h.example",
        "headers": {"Authorization": "Bearer abc", "Accept": "text/html"},
        "env": [{"name": "DB_PASSWORD", "value": "p1"}, {"name": "HOME", "value": "/root"}],
        "argv": ["x", "--token", "abc", "--page", "2"],
        "pin": 7,
        "password": 1234,
        "secret": True,
        "maxTokens": 100,
    }
    assert mask(value, tag) == {
        "url": "https://h.example",
        "headers": {"Authorization": "Bearer <abc>", "Accept": "text/html"},
        "env": [{"name": "DB_PASSWORD", "value": "<p1>"}, {"name": "HOME", "value": "/root"}],
        "argv": ["x", "--token", "<abc>", "--page", "2"],
        "pin": 7,
        "password": "<1234>",
        "secret": True,
        "maxTokens": 100,
    }


def test_a_value_without_secrets_is_the_same_object() -> None:
    value = {"command": "ls -la", "list": ["a", {"b": 1}]}
    assert mask(value, tag) is value


def test_equal_secrets_have_equal_pseudonyms_under_one_key_and_others_under_another() -> None:
    one, two = pseudonyms(b"k1"), pseudonyms(b"k2")
    assert one("abc") == pseudonyms(b"k1")("abc")
    assert len({one("abc"), one("abd"), two("abc")}) == 3
    assert "abc" not in one("abc")


def test_masking_twice_is_masking_once() -> None:
    once = mask_text("TOKEN=abc curl https://u:p@h.example -H 'Cookie: a=b'", pseudonyms(b"k1"))
    assert mask_text(once, pseudonyms(b"k2")) == once


@pytest.mark.parametrize("name", ["token", "GITHUB_TOKEN", "accessToken", "X-Api-Key", "client_secret", "API_KEY_2"])
def test_these_names_hold_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["key", "tokens", "token_url", "secret_name", "author", "monkey", "pwd", "t" * 500])
def test_these_names_hold_none(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "unit",
    [
        "token",
        "token=",
        "token= ",
        "--token ",
        "://a",
        "://@",
        "eyJaaaaaaaaaa.",
        "-key",
        "bearer ",
        "key:'",
        'key="\\',
        "sk-",
    ],
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.process_time()
        mask_text(text, tag)
        return time.process_time() - started

    seconds(1000)
    small = min(seconds(5_000) for _ in range(3))
    assert min(seconds(20_000) for _ in range(3)) < 10 * small + 0.005


def test_long_names_are_not_kept_in_memory() -> None:
    tracemalloc.start()
    for number in range(100):
        mask({f"{number}{'x' * 100_000}": 1}, tag)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000, "10 MB of names went through"


FRAGMENTS = [
    "token",
    "=",
    ":",
    " ",
    "://",
    "@",
    "'",
    '"',
    "\\",
    "$",
    "-",
    "--",
    "key",
    "a",
    "abc.de",
    "curl",
    "-u",
    "\n",
    "x:y@h.io",
]
FRAGMENTS += [
    "Authorization",
    "Bearer ",
    "cookie",
    "&",
    "ghp_0123456789abcdefghij",
    "é",
    "İ",
    "-----BEGIN PRIVATE KEY-----",
]


@given(st.lists(st.sampled_from(FRAGMENTS)).map("".join) | st.text())
def test_what_is_found_in_any_text_stands_in_it_apart_and_in_order(text: str) -> None:
    spans = find_secrets(text)
    ends = [position for span in spans for position in span]
    assert ends == sorted(ends)
    assert all(0 <= start < end <= len(text) for start, end in spans)
