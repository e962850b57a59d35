"""No call takes long to identify, however long it is and whatever it repeats."""

from __future__ import annotations

import time

import pytest

from breaker.identity.identify import Identifier
from breaker.settings import Settings

PATIENCE = 1.0
"""Seconds of the processor. The slowest of these takes 0.1 on an idle core; what is not linear takes minutes."""

REPEATED = [
    # what error recovery of parsers is slow on
    ("", "`<^ ", ""),
    ("", "`>* ", ""),
    ("", "a=(", ""),
    ("", "a?", ""),
    ("", "{|", ""),
    ("", "a|", ""),
    ("cat <<'E'\n", "x y z\n", "E"),
    ("cat <<E\n", "$x y\n", "E"),
    ('echo "', "a ", ""),
    ('echo "', "$( ", ""),
    ("echo '", "a ", ""),
    # wrappers, and scripts inside scripts
    ("", "env ", "x"),
    ("", "sudo ", "x"),
    ("", "timeout 5 ", "x"),
    ("", "xargs ", "x"),
    ("", "env -S ", "x"),
    ("", "eval ", "x"),
    ("", "bash -c ", "x"),
    ("", "find . -exec ", ""),
    ("find . ", "-exec a ; ", ""),
    ("", "$(env -S ", ""),
    ("", "parallel ", "x"),
    ("", "eval a $(if ", ""),
    ("", "bash <<A\n", ""),
    ("find . ", "-exec sh -c 'curl https://a.example/' \\; ", ""),
    ("", "python3 -c ", ""),
    ("python ", "-m python ", ""),
    ("", "X=$(", ""),
    ("echo ", "$(a)", ""),
    ("", "(cd a;", ""),
    ("", "f() { ", ""),
    # variables, branches and loops
    ("A=x;", "A+=$A;", ""),
    ("A=x;", "A=$A$A;", ""),
    ("", "A=(x y);", ""),
    ("", "A=x A=($(", ""),
    ("A=(", "x ", "); curl ${A[@]}"),
    ("for i in a b; do ", "U=$U$i;", " done; curl https://$U/"),
    ("for u in ", "a ", "; do curl https://$u/; done"),
    ("", "if a; then U=x; else U=y; ", ""),
    ("case x in ", "a) U=https://a.example/;; ", "esac"),
    ("", "for i in a b; do ", ""),
    ("A=x; curl ", "$A", ""),
    ("", "cd a; a > f;", ""),
    # URLs, requests and files
    ("curl ", "https://a.example/x ", ""),
    ("curl ", "-o f https://a.example/x ", ""),
    ("curl https://a.example/", "{a,b}", ""),
    ("curl https://a.example/", "[1-3]", ""),
    ("curl https://a.example/", "a/../", ""),
    ("curl https://a.example/?", "a=1&", ""),
    ("curl https://a.example/", "$X", ""),
    ("curl -", "s", ""),
    ("curl ", "-d a=1 ", "https://a.example/"),
    ("curl ", "--next ", ""),
    ("curl -G ", "--data-urlencode 'a=b c' ", "https://a.example/"),
    ("curl -K - <<E\n", "url=https://a.example/x\n", "E"),
    ("http a.example ", "a=1 ", ""),
    ("tee ", "f ", ""),
    ("a ", ">f ", ""),
    ("echo ", "https://a.example/x ", "| xargs curl"),
    # programs of other languages
    ("python3 - <<'E'\nimport requests\nu=[", "'https://a.example/x',", "]\nE"),
    ("python3 - <<'E'\nimport requests\n", "u='https://a.example/x'\n", "E"),
    ('node -e "', "fetch('https://a.example/x');", '"'),
    ("node -e \"fetch('https://a.example/x'", "(", '"'),
    ("node -e \"fetch('https://a.example/x', {", "body: {", '"'),
    ("python3 -c \"requests.post('https://a.example/x', ", "data={'data':", ')"'),
    ("python3 -c \"os.system('curl ", " https://a.example/x", "')\""),
    # secrets
    ("curl ", "-u a:bcd ", ""),
    ("echo ", "Authorization: Bearer abcdef ", ""),
    ("echo https://", "a@", "b/"),
    ("echo ", "token=", ""),
]
"""What stands before, what is repeated, what stands behind."""


@pytest.mark.parametrize("size", [1_000, 8_000, 64_000, 512_000])
@pytest.mark.parametrize(("head", "unit", "tail"), REPEATED)
def test_no_repetition_takes_long(head: str, unit: str, tail: str, size: int) -> None:
    command = head + unit * (size // len(unit)) + tail
    for tool in ("bash", "pwsh"):
        identifier = Identifier(Settings())
        start = time.process_time()
        identity = identifier.identify(tool, {"command": command}, all_kinds=True)
        assert time.process_time() - start < PATIENCE
        assert len(identity.fingerprints) < 1000


@pytest.mark.parametrize("size", [1_000, 64_000, 512_000])
def test_no_url_and_no_text_of_another_tool_takes_long(size: int) -> None:
    for text in (
        "a" * size,
        "%41" * (size // 3),
        "/.." * (size // 3),
        "a=1&" * (size // 4),
        "\ud800" * size,
        "token=" * (size // 6),
    ):
        for tool, arguments in (
            ("web_fetch", {"url": f"https://a.example/{text}"}),
            ("web_fetch", {"url": f"https://a.example/?{text}", "body": text}),
            ("web_fetch", {"url": f"https://{text}/"}),
            ("write", {"path": "a", "content": text}),
            ("bash", {"command": "make", "workdir": text, "description": text, "note": [text, {"a": text}]}),
        ):
            start = time.process_time()
            Identifier(Settings()).identify(tool, arguments, all_kinds=True)
            assert time.process_time() - start < PATIENCE
