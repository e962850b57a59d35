"""What holds for all calls, not only for the ones that somebody thought of."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.identity.canonical import MAX_FINGERPRINT
from breaker.identity.identify import Identifier
from breaker.settings import KINDS, Settings


class Strict(Identifier):
    """An identifier that does not get away with a fault of its own."""

    def _by_words(self, arguments: Any) -> list[str]:
        raise AssertionError("the reading failed") from sys.exc_info()[1]


IDENTIFIER = Strict(Settings())


def fingerprints(tool: str, arguments: Any) -> tuple[str, ...]:
    return IDENTIFIER.identify(tool, arguments, all_kinds=True).fingerprints


def of_kind(command: str, kind: str) -> list[str]:
    found = fingerprints("bash", {"command": command})
    return [fingerprint for fingerprint in found if fingerprint.startswith(f"{kind}:")]


# ---- sameness

WORDS = st.sampled_from(
    ["a", "src/a.py", "-n", "--x=y", "a b", "*", "$X", "it's", 'say "x"', "a\\b", "#", ">", "|", "&&", ";", "é", "~",
     "{a,b}", "https://a.example/x?y=1&z=2", "$(date)", "`date`", "1", "-", "--", "!", "[a]", "=", "%s\\n", ""]
)  # fmt: skip
"""Arguments as a program is to get them; as shell text each has to be quoted."""
PROGRAMS = st.sampled_from(["make", "git", "grep", "ls", "curl", "python3", "mytool", "npm", "sed", "echo"])
TIMING = st.sampled_from(
    ["", "timeout 5 ", "timeout -k 5 -s KILL 30 ", "time ", "nice ", "nice -n 5 ", "nohup ", "ionice -c3 ",
     "stdbuf -oL ", "setsid ", "command ", "exec ", "/usr/bin/timeout 9s ", "time -p ", "taskset -c 0 ", "chrt -i 0 "]
)  # fmt: skip
BLANKS = st.sampled_from([" ", "  ", "\t", " \\\n ", " \\\n\t"])


@st.composite
def quoted(draw: st.DrawFn, word: str) -> str:
    """One of the ways to quote a word."""
    single = "'" + word.replace("'", "'\\''") + "'"
    double = '"' + "".join("\\" + sign if sign in '$`"\\' else sign for sign in word) + '"'
    plain = "".join(sign if sign.isalnum() or sign in "/._-:" else f"\\{sign}" for sign in word)
    ways = [single, double, *([plain] if word else [])]
    if len(word) > 1:
        cut = draw(st.integers(1, len(word) - 1))
        ways.append("'" + word[:cut].replace("'", "'\\''") + "'" + draw(quoted(word[cut:])))
    return draw(st.sampled_from(ways))


@st.composite
def spelled(draw: st.DrawFn, program: str, words: list[str]) -> str:
    """One of the ways to write a command."""
    parts = [draw(st.sampled_from([program, f"'{program}'", f"/usr/bin/{program}", f"/bin/{program}"]))]
    for word in words:
        parts += [draw(BLANKS), draw(quoted(word))]
    end = draw(st.sampled_from(["", " ", "\n", "  # again\n", ";"]))
    front = draw(st.sampled_from(["", " ", "\n", "# first\n"]))
    return front + draw(TIMING) + "".join(parts) + end


@given(st.data(), PROGRAMS, st.lists(WORDS, max_size=5))
def test_quotes_blanks_comments_and_timing_make_no_other_command(
    data: st.DataObject, program: str, words: list[str]
) -> None:
    one, other = data.draw(spelled(program, words)), data.draw(spelled(program, words))
    assert of_kind(one, "cmd") == of_kind(other, "cmd")
    assert of_kind(one, "verb") == of_kind(other, "verb")


@given(st.data(), PROGRAMS, st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_other_words_make_another_command(
    data: st.DataObject, program: str, words: list[str], others: list[str]
) -> None:
    one, other = data.draw(spelled("mytool", [program, *words])), data.draw(spelled("mytool", [program, *others]))
    assert (of_kind(one, "cmd") == of_kind(other, "cmd")) == (words == others)


@given(st.data(), st.lists(WORDS, max_size=4))
def test_a_list_of_words_is_the_command_that_quotes_them(data: st.DataObject, words: list[str]) -> None:
    listed = fingerprints("shell", {"command": ["mytool", *words]})
    text = fingerprints("shell", {"command": data.draw(spelled("mytool", words))})
    assert [each for each in listed if each.startswith("cmd:")] == [each for each in text if each.startswith("cmd:")]


VOLATILE = {
    "curl -o f https://a.example/x": [
        "-s", "-sS", "-fsSL", "-m 5", "-m5", "--max-time 9", "--retry 3 --retry-delay 1", "-A 'a b'", "-k", "-v",
        "--http2", "--connect-timeout 3", "--compressed", "--limit-rate 1M", "-#", "-N", "-4", "--user-agent x",
        "--no-progress-meter",
    ],
    "wget -O f https://a.example/x": [
        "-q", "-nv", "-T 5", "-t3", "--tries=3", "--timeout 9", "-c", "-U x", "--no-check-certificate", "-o log",
        "-w 1", "--progress=dot", "--retry-connrefused", "--read-timeout=3", "-a log",
    ],
    "http a.example/x q==1": ["--timeout=5", "-b", "-v", "--verify=no", "--follow", "-p hb", "--pretty none", "-q"],
    "pip install requests": ["-q", "-qq", "-v", "--no-input", "--progress-bar off", "--retries 3", "--timeout=5"],
    "npm install left-pad": ["--silent", "-s", "--no-audit", "--no-fund", "--loglevel=error", "--loglevel warn"],
    "apt-get install jq": ["-y", "-q", "-qq", "-yq", "--yes"],
    "grep -rn x src": ["--color", "--color=always", "--colour=never"],
    "ls -l src": ["--color", "--color=always"],
    "pytest tests": ["--color=no", "--no-header", "-p no:cacheprovider"],
    "docker build -t a .": ["--progress=plain", "--progress plain"],
}  # fmt: skip


@given(st.data(), st.sampled_from(sorted(VOLATILE)))
def test_volatile_flags_make_no_other_command_wherever_they_stand(data: st.DataObject, command: str) -> None:
    program, _, rest = command.partition(" ")
    flags = data.draw(st.lists(st.sampled_from(VOLATILE[command]), max_size=4))
    where = data.draw(st.integers(0, len(flags)))
    written = " ".join([program, *flags[:where], rest, *flags[where:]])
    if program in ("docker",):  # its flags belong to the sub-command
        written = " ".join([program, "build", *flags, rest.removeprefix("build ")])
    for kind in ("cmd", "net", "sink", "verb"):
        assert of_kind(written, kind) == of_kind(command, kind)


HOSTS = st.sampled_from(["a.example", "b.a.example", "bücher.example", "203.0.113.7", "[2001:db8::1]"])
PATHS = st.lists(st.sampled_from(["a", "B", "1", "x-y", "~u", "a.b", "é"]), max_size=3)
PAIRS = st.lists(st.sampled_from(["a=1", "a=2", "b=", "c", "d=x-y"]), max_size=3, unique=True)
TRACKING = st.lists(st.sampled_from(["utm_source=x", "fbclid=1", "gclid=2", "UTM_Medium=y"]), max_size=2)


@st.composite
def url(draw: st.DrawFn, host: str, path: list[str], pairs: list[str]) -> str:
    """One of the ways to write a URL."""
    scheme = draw(st.sampled_from(["http", "https", "HTTP", "Https"]))
    user = draw(st.sampled_from(["", "bob@", "bob:s3cr3t@", ":s3cr3t@"]))
    port = draw(st.sampled_from(["", ":", ":443" if scheme.lower() == "https" else ":80"]))
    named = host[0].isalpha()
    name = draw(st.sampled_from([host, host.upper(), host + ".", "www." + host])) if named else host
    shown = "".join("/" + draw(st.sampled_from([part, escaped(part), f"q/../{part}", f"./{part}"])) for part in path)
    shown += draw(st.sampled_from(["", "/"])) if path or not pairs else "/"
    query = draw(st.permutations(pairs + draw(TRACKING)))
    fragment = draw(st.sampled_from(["", "#a"]))
    return f"{scheme}://{user}{name}{port}{shown}{'?' if query else ''}{'&'.join(query)}{fragment}"


def escaped(text: str) -> str:
    """The text with its first letter percent-encoded."""
    return "".join(f"%{byte:02x}" for byte in text[:1].encode()) + text[1:]


@given(st.data(), HOSTS, PATHS, PAIRS)
def test_spellings_of_a_url_make_no_other_resource(
    data: st.DataObject, host: str, path: list[str], pairs: list[str]
) -> None:
    one, other = data.draw(url(host, path, pairs)), data.draw(url(host, path, pairs))
    for kind in ("net", "host", "site"):
        first, second = of_kind(f"curl -g '{one}'", kind), of_kind(f"wget '{other}'", kind)
        assert len(first) == 1
        assert first == second
    assert f"{of_kind(f'curl -g {chr(39)}{one}{chr(39)}', 'net')[0]}" in fingerprints("web_fetch", {"url": other})


@given(HOSTS, PATHS, PATHS, PAIRS, PAIRS)
def test_other_paths_and_queries_make_another_resource(
    host: str, path: list[str], other: list[str], pairs: list[str], others: list[str]
) -> None:
    first, second = (
        of_kind(f"curl -g 'https://{host}/{'/'.join(p)}{'?' if q else ''}{'&'.join(q)}'", "net")
        for p, q in ((path, pairs), (other, others))
    )
    assert (first == second) == (path == other and sorted(pairs) == sorted(others))


# ---- arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TOOLS = st.sampled_from(["bash", "Bash", "shell", "pwsh", "read", "web_fetch", "create_issue", "anything", "", "a:b"])
NAMES = st.sampled_from(
    ["command", "cmd", "url", "body", "method", "path", "workdir", "title", "description", "timeout", "x"]
)
ARGUMENTS = st.dictionaries(NAMES | st.text(max_size=6), JSON | WORDS | st.lists(WORDS, max_size=3), max_size=5)


@given(TOOLS, ARGUMENTS, JSON, JSON)
def test_an_ignored_argument_changes_no_fingerprint(tool: str, arguments: dict[str, Any], one: Any, other: Any) -> None:
    for name in ("timeoutMs", "run_in_background", "justification"):
        assert fingerprints(tool, {**arguments, name: one}) == fingerprints(tool, {**arguments, name: other})
    ignoring = Identifier(Settings(ignore_args={"*": ("command", "url", "x")}))
    for name in ("command", "url", "x"):
        assert (
            ignoring.identify(tool, {**arguments, name: one}).fingerprints
            == ignoring.identify(tool, {**arguments, name: other}).fingerprints
        )


@given(TOOLS, ARGUMENTS)
def test_the_order_of_arguments_makes_no_difference(tool: str, arguments: dict[str, Any]) -> None:
    turned = dict(reversed(arguments.items()))
    assert fingerprints(tool, arguments) == fingerprints(tool, turned)


@given(TOOLS, ARGUMENTS, ARGUMENTS)
def test_other_arguments_are_another_call(tool: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    def canonical(arguments: dict[str, Any]) -> str:
        return json.dumps(arguments, sort_keys=True)

    plain = Identifier(Settings(ignore_args={}))
    if canonical(one) != canonical(other) and one != other:
        assert plain.identify(tool, one).exact != plain.identify(tool, other).exact


# ---- secrets

SECRETS = st.text("abcXYZ0189._-", min_size=6, max_size=20).map(lambda text: f"q9{text}7z")


@given(
    SECRETS,
    st.sampled_from(
        ["curl https://bob:{}@a.example/x", "curl -u bob:{} a.example", "git clone https://{}@a.example/r",
         "A_TOKEN={} make",
         "curl -H 'Authorization: Bearer {}' a.example", 'curl -sH "X-Api-Key: {}" a.example',
         "wget --password={} a.example",
         "curl 'https://a.example/x?access_token={}'", "mytool --api-key {} x", "bash -c 'curl https://u:{}@a.example/'",
         "python3 - <<'E'\nimport requests\nrequests.get('https://u:{}@a.example/x')\nE",
         "echo https://u:{}@a.example/ > f",
         "U=https://u:{}@a.example; curl $U/x", "for u in https://u:{}@a.example; do curl $u; done"]
    ),
    st.booleans(),
)  # fmt: skip
def test_no_secret_shows_in_any_fingerprint(secret: str, shape: str, listed: bool) -> None:
    command = shape.format(secret)
    arguments = {"command": ["bash", "-lc", command] if listed else command}
    assert not any(secret in fingerprint for fingerprint in fingerprints("bash", arguments))


@given(HOSTS, SECRETS, SECRETS)
def test_userinfo_shows_in_no_fingerprint_of_a_url_tool(host: str, user: str, password: str) -> None:
    found = fingerprints("web_fetch", {"url": f"https://{user}:{password}@{host}/x"})
    assert f"net:{host}/x" in found or "xn--" in str(found)
    assert not any(password in fingerprint for fingerprint in found)


# ---- nothing raises

REAL = [
    "cd /repo && git log --oneline -5 2>&1 | head -20",
    'for f in src/*.ts; do echo "== $f"; sed -n \'1,5p\' "$f"; done > out.txt',
    "python3 - <<'PY'\nimport requests\nr = requests.post('https://a.example/x', json={'q': [1, {'a': \"b\"}]})\nPY",
    "git commit -m \"$(cat <<'EOF'\nFix `x`\n\nIt's (done).\nEOF\n)\" && git push",
    "find . -name '*.py' -exec sh -c 'curl -s \"https://a.example/$1\"' _ {} \\; | xargs -I{} curl -o {}.html https://{}/",
    "X=$(curl -s -u bob:s3cr3t https://a.example/x | jq -r '.[] | select(.a==\"b\")') && echo ${X:-none}",
    "if [[ $a =~ ^(x|y)$ ]]; then (( n++ )); U=https://a.example; elif ! test b; then U=b; else exit; fi; curl $U/x",
    'case "$1" in start|stop) curl "https://a.example/$1" ;; *) echo \'usage\' >&2; exit 2 ;; esac',
    "sudo -u bob env A=1 timeout -k 5 30 bash -c 'cd a && make | tee -a \"log $(date +%F)\"' &> /dev/null &",
    'curl -K - <<E\nurl = "https://a.example/{a,b}[1-3]"\noutput = "f_#1"\nE',
    "curl -sSLo f -G --data-urlencode 'q=a b' -d x=1 https://a.example/s --next -XPOST --json '{\"a\": 1}' https://b.example",
    "node -e \"fetch(`https://a.example/${i}`, {method: 'POST', body: JSON.stringify({a: 1})}).then(r => r.text())\"",
    "http -a bob:s3cr3t POST :3000/x a=1 b:=2 'q==a b' H:v f@g && wget -qO- --post-data a=1 https://[::1]:80/%7e",
    'pushd a; exec > >(tee -a log) 2>&1; popd; U=(https://a.example b); curl "${U[@]}" -o a{1..3}',
    "docker compose -f a.yml --ansi never exec web sh -c 'echo hi' > out 2>&1 <<< $'a\\tb'",
]


@pytest.mark.parametrize("command", REAL)
def test_any_prefix_of_a_command_has_identities(command: str) -> None:
    for end in range(len(command) + 1):
        for tool in ("bash", "pwsh"):
            shown = check(tool, {"command": command[:end]})
            assert not any("s3cr3t" in fingerprint for fingerprint in shown)


@given(st.lists(st.sampled_from(REAL), min_size=1, max_size=2), st.data())
def test_any_damaged_command_has_identities(commands: list[str], data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(["\n", "; ", " | ", "$(", "`", " "])).join(commands)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", "'", '"', "`", "$(", ")", "\\", "\n", "<<E", "{", "\x00"]))
            + text[at + cut :]
        )
    check("bash", {"command": text})


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")) | st.text(st.characters(categories=["Cs"])))
def test_any_text_has_identities(text: str) -> None:
    for tool in ("bash", "pwsh", "web_fetch", "read"):
        check(tool, {"command": text, "url": f"https://a.example/{text}", "path": text, text: text})
        check(tool, text)
    check(
        "bash", {"command": f"curl 'https://{text}'; python3 -c \"requests.get('http{text}')\"; curl -K - <<< {text}"}
    )
    check(text, {"command": text})


@given(TOOLS, JSON)
def test_any_arguments_have_identities(tool: str, arguments: Any) -> None:
    check(tool, arguments)
    for name in ("command", "url", "body", "action", "workdir"):
        check(tool, {name: arguments, "url": "https://a.example/", "command": "make"} | {name: arguments})


def test_arguments_as_deep_as_they_come_have_identities() -> None:
    for depth in (10, 100, 1000, 100_000):
        value: Any = "x"
        for level in range(depth):
            value = [value] if level % 2 else {"a": value}
        check("bash", {"command": "make", "a": value})
        check("web_fetch", {"url": "https://a.example/", "body": value})


def test_arguments_that_are_no_json_have_identities() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (object(), {1: 2}, {"a": object()}, {"a": {1, 2}}, b"x", circle, {None: 1}, {("a",): 1}):
        check("bash", value)
        check("bash", {"command": "make", "a": value})
        check("web_fetch", {"url": "https://a.example/", "body": value})


def check(tool: str, arguments: Any) -> tuple[str, ...]:
    identity = IDENTIFIER.identify(tool, arguments, all_kinds=True)
    found = identity.fingerprints
    assert len(set(found)) == len(found)
    assert sum(fingerprint.startswith("exact:") for fingerprint in found) == 1
    assert sum(fingerprint.startswith("cmd:") for fingerprint in found) <= 1
    for fingerprint in found:
        assert fingerprint.partition(":")[0] in KINDS
        assert len(fingerprint) <= MAX_FINGERPRINT
    assert IDENTIFIER.identify(tool, arguments, all_kinds=True) == identity
    assert isinstance(identity.reads_only, bool)
    assert identity.writes_status in ("first", "last", None)
    assert all(origin.fingerprint in found for origin in IDENTIFIER.explain(tool, arguments))
    return found
