"""What an identity is beside its fingerprints, and what no case says of these."""

from __future__ import annotations

from typing import Any

import pytest

from breaker.identity.canonical import MAX_FINGERPRINT
from breaker.identity.identify import Identifier, Identity
from breaker.settings import KINDS, Settings

IDENTIFIER = Identifier(Settings())


def identify(command: str, **arguments: Any) -> Identity:
    return IDENTIFIER.identify("bash", {"command": command, **arguments}, all_kinds=True)


def kinds(identity: Identity) -> list[str]:
    return [fingerprint.partition(":")[0] for fingerprint in identity.fingerprints]


# ---- which fingerprints, and how they are spelled


def test_kinds_stand_in_the_order_that_breaks_ties() -> None:
    found = kinds(identify("cd a && curl -o f https://a.example/x https://b.example/y; wget https://c.example/z > g"))
    first = list(dict.fromkeys(found))
    order = ["host", "net", "site", "sink", "cmd", "exact", "verb", "family"]
    assert (first, set(first)) == (order, set(KINDS))
    assert found == sorted(found, key=order.index)


def test_kinds_without_a_limit_are_left_out_unless_they_are_asked_for() -> None:
    arguments = {"command": "curl -o f https://a.example/x"}
    assert kinds(IDENTIFIER.identify("bash", arguments)) == ["host", "net", "sink", "cmd", "exact"]
    limited = Settings(limits={**Settings().limits, "site": 5, "verb:curl": 5, "family:http-fetch": 5})
    assert set(kinds(Identifier(limited).identify("bash", arguments))) == set(KINDS)


def test_asking_for_all_kinds_leaves_no_trace_in_what_is_remembered() -> None:
    identifier = Identifier(Settings())
    arguments = {"command": "curl https://a.example/x"}
    before = identifier.identify("bash", arguments).fingerprints
    assert len(identifier.identify("bash", arguments, all_kinds=True).fingerprints) > len(before)
    assert identifier.identify("bash", arguments).fingerprints == before


def test_the_first_verb_leads_the_cmd() -> None:
    def cmd(command: str) -> str:
        return next(each for each in identify(command).fingerprints if each.startswith("cmd:"))

    assert cmd("timeout 5 /usr/bin/make test") == "cmd:make:make test"
    assert cmd("cd a && make") == "cmd:cd:cd a && make"
    assert cmd("X=1") == "cmd::X=1"


def test_a_masked_secret_ends_at_its_quote() -> None:
    identity = identify('curl -s -H "Authorization: Bearer abc" https://a.example/x -o f')
    head, _, rest = identity.exact.partition("Bearer secret-")
    assert head == r'exact:bash:{"command":"curl -s -H \"Authorization: '
    assert rest[12:] == r'\" https://a.example/x -o f"}'


def test_equal_secrets_stay_equal_and_the_key_decides_how_they_look() -> None:
    command = {"command": "curl -u bob:s3cr3t https://a.example/x"}
    other = {"command": "curl -u bob:0ther https://a.example/x"}
    one, two = Identifier(Settings(), b"one"), Identifier(Settings(), b"two")
    assert one.identify("bash", command) == Identifier(Settings(), b"one").identify("bash", command)
    assert one.identify("bash", command).exact != one.identify("bash", other).exact
    assert one.identify("bash", command).exact != two.identify("bash", command).exact


@pytest.mark.parametrize("length", [500, 1000, 1024, 1100, 3000, 20_000, 300_000])
def test_a_long_fingerprint_is_cut_and_still_tells_what_it_was_cut_from(length: int) -> None:
    one = identify("echo " + "x" * length + "a").fingerprints
    other = identify("echo " + "x" * length + "b").fingerprints
    assert all(len(fingerprint) <= MAX_FINGERPRINT for fingerprint in one)
    assert not {each for each in one if each.startswith(("cmd:", "exact:"))}.intersection(other)


def test_a_call_has_a_bounded_number_of_fingerprints() -> None:
    many = " ".join(f"https://h{n}.example/{n}" for n in range(5000))
    assert len(identify(f"curl {many}").fingerprints) < 1000


def test_what_stands_under_an_ignored_name_is_not_read() -> None:
    settings = Settings(ignore_args={"bash": ("command",)})
    identifier = Identifier(settings)
    assert identifier.identify("bash", {"command": "a"}) == identifier.identify("bash", {"command": "b > f"})


# ---- origins


def test_every_fingerprint_says_what_it_was_made_from() -> None:
    calls = [
        ("bash", {"command": "cd a && curl -o f https://a.example/x > g; make", "description": "d"}),
        ("web_fetch", {"url": "https://a.example/x", "reason": "r"}),
        ("read", {"path": "a"}),
    ]
    for tool, arguments in calls:
        origins = IDENTIFIER.explain(tool, arguments)
        assert (
            tuple(each.fingerprint for each in origins)
            == IDENTIFIER.identify(tool, arguments, all_kinds=True).fingerprints
        )
        assert all(each.origin for each in origins)


def test_an_origin_shows_no_secret() -> None:
    origins = IDENTIFIER.explain("bash", {"command": "curl https://bob:s3cr3t@a.example/x?token=s3cr3t"})
    assert "s3cr3t" not in str(origins)


# ---- facts


@pytest.mark.parametrize(
    "command",
    [
        "cat a.log", "tail -100 a.log | grep -A5 Traceback", "cd a && ls -la", "sed -n 1,20p a", "awk '$1 > 5' a",
        "rg -n x src | head", "find . -name '*.py'", "git log --oneline -5", "git -C a diff HEAD~1", "git show HEAD:a",
        "git blame a", "git branch", "git branch -a", "git stash list", "git remote -v", "jq .a f", "wc -l a", "nl a",
        "docker logs web", "kubectl get pods -o yaml", "gh pr view 5", "gh api repos/o/r", "bash -lc 'cat a'",
        "cat a 2>/dev/null", "ls 2>&1", "grep x a > /dev/null && echo yes", "sleep 5; tail a.log", "timeout 5 cat a",
        "for f in a b; do cat $f; done", "cat $(git ls-files)", "journalctl -u x", "base64 -d a",
        "find . -exec cat {} +",
        "sort a | uniq -c", "command -v curl", "cat <<< x", "diff a b", "sudo cat /etc/hosts", "xargs cat < list",
    ],
)  # fmt: skip
def test_a_script_that_only_shows_what_is_there(command: str) -> None:
    assert identify(command).reads_only


@pytest.mark.parametrize(
    "command",
    [
        "make", "cat a > b", "sed -i s/a/b/ f", "cat a | tee b", "git commit -m x", "git stash", "git branch new",
        "find . -delete", "python3 a.py", "curl https://a.example/", "cat a; make", "cat $(make)", "sort -o a a",
        "bash a.sh", "awk '{print > \"f\"}' a", "sed -n 'w f' a", "gh pr create", "gh api -X POST repos/o/r", "rm a",
        "docker rm web", "kubectl apply -f a", "cat a | sh", "echo a >> b", "base64 a", "cat a &> b", "xargs rm < list",
        "find . -exec rm {} +", "git diff --output=f", "yq -i .a=1 f", "env make", "timeout 5 make", "cd a", "echo a",
    ],
)  # fmt: skip
def test_a_script_that_does_more_or_shows_nothing(command: str) -> None:
    assert not identify(command).reads_only


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("curl -s -o /dev/null -w '%{http_code}' u", "first"),
        ("curl -sw '%{http_code}' -o/dev/null u", "first"),
        ("curl --write-out='%{response_code}\\n' -O https://a.example/f", "first"),
        ('curl --output f -w "\\n%{http_code} %{size_download}" u', "first"),
        ("timeout 5 curl -s -w '%{http_code}' u", "last"),
        ("curl -o - -w '%{http_code}' u", "last"),
        ("bash -c \"curl -w '%{http_code}' u\"", "last"),
        ("curl -w '%{size_download}' u", None),
        ("curl -w '%{http_code}' u > f; cat g", None),
        ("curl -w '%{http_code}' u > /dev/null", None),
        ("curl -w '%{http_code}' u 2> /dev/null", "last"),
        ("echo '%{http_code}'", None),
        ("curl -H '-w %{http_code}' u", None),
    ],
)
def test_where_curl_writes_the_status(command: str, place: str | None) -> None:
    assert identify(command).writes_status == place


def test_a_call_that_is_no_command_has_no_facts() -> None:
    identity = IDENTIFIER.identify("read", {"path": "a"})
    assert (identity.kind, identity.command, identity.commands) == ("other", None, ())
    assert (identity.reads_only, identity.writes_status) == (False, None)
