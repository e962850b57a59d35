"""Secrets that only a program's options give away: `curl -su NAME:PASSWORD`, `sshpass -p PASSWORD`.

What a text shows by itself (`TOKEN=…`, userinfo, headers) is found by `breaker.secrets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from breaker.secrets import find_secrets, is_secret_name
from breaker.shell.commands import Simple
from breaker.shell.options import read_arguments
from breaker.shell.programs import family, program
from breaker.shell.script import Word
from breaker.shell.values import HOLE, resolve
from breaker.word_set import word_set

Form = Literal["whole", "pair", "percent", "passed", "cookie", "header"]

SHORTEST = 3
"""Characters of a secret that is looked for wherever it stands; a shorter one would be found in other words."""


def _rows(**forms: str) -> dict[str, Form]:
    return {option: form for form, options in forms.items() for option in options.split()}  # type: ignore[misc]


OPTIONS: dict[str, dict[str, Form]] = {
    "curl": _rows(
        pair="-u --user -U --proxy-user -E --cert --proxy-cert",
        whole="--pass --proxy-pass --oauth2-bearer --tlspassword --proxy-tlspassword",
        cookie="-b --cookie",
        header="-H --header --proxy-header -x --proxy --preproxy",
    ),
    "wget": _rows(whole="--password --http-password --ftp-password --proxy-password", header="--header"),
    "http": _rows(pair="-a --auth", whole="--bearer --cert-key-pass"),
    "sshpass": _rows(whole="-p"),
    "redis-cli": _rows(whole="-a --pass"),
    "docker": _rows(whole="-p --password"),
    "mysql": _rows(whole="--password"),
    "openssl": _rows(passed="-pass -passin -passout", whole="-k -K"),
    "smbclient": _rows(percent="-U --user"),
    "twine": _rows(whole="-p --password"),
    "mongosh": _rows(whole="-p --password"),
    "mongo": _rows(whole="-p --password"),
    "ssh-keygen": _rows(whole="-N -P"),
    "ldapsearch": _rows(whole="-w"),
    "gpg": _rows(whole="--passphrase"),
    "zip": _rows(whole="-P --password"),
    "unzip": _rows(whole="-P"),
}
"""By program: the options whose value holds a secret, and where in the value it stands."""

LOOKED_AT = 8192
"""Characters of a script in which secrets are looked for. Fingerprints show fewer."""
_MOST = 64  # secrets of one call
_AUTH_PAIR = re.compile(
    r"""\bauth\s{0,4}=\s{0,4}\(\s{0,4}["'][^"'\n]{0,200}["']\s{0,4},\s{0,4}["']([^"'\n]{3,200})["']"""
)

_SUBCOMMANDS = {"docker": "login"}
_GLUED = word_set("mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump mariadb-admin sshpass 7z 7za")
"""Programs whose `-pPASSWORD` holds a password."""
_CONFIGURES = frozenset({"set", "config", "configure"})
_NAME_PARTS = re.compile(r"[.:/]")


def secrets_of(simple: Simple) -> Iterator[str]:
    """The secrets that the options of a command hold."""
    row, words = family(simple.program), simple.words
    if row in _GLUED:
        glued = (word for word in words if word.text[:2] == "-p" and len(word.text) >= SHORTEST + 2)
        yield from (text[2:] for word in glued for text in _known(word, simple))
    if not _CONFIGURES.isdisjoint(word.text for word in words[1:3]):
        values = (value for name, value in pairwise(words[2:]) if _names_secret(name.text))
        yield from (text for value in values for text in _known(value, simple) if len(text) >= SHORTEST)
    options = OPTIONS.get(row)
    if options is None:
        return
    needed = _SUBCOMMANDS.get(row)
    if needed is not None and all(word.text != needed for word in words):
        return
    table = program(row)
    before = ""
    for argument in read_arguments(words, table):
        name = argument.name or before
        before = argument.name if argument.value is None else ""
        form = options.get(name)
        if form is None or argument.value is None:
            continue
        for text in resolve(argument.value, simple.values)[:1]:
            yield from (secret for secret in _parts(text, form) if len(secret) >= SHORTEST and HOLE not in secret)


def _known(word: Word, simple: Simple) -> Iterator[str]:
    """What a word stands for, unless that is in a variable that nobody here knows."""
    return (text for text in resolve(word, simple.values)[:1] if HOLE not in text)


def _names_secret(name: str) -> bool:
    """Whether a setting's name says that its value is a secret: `aws_secret_access_key`, `github.token`."""
    return name[:1] != "-" and is_secret_name(_NAME_PARTS.split(name)[-1])


def _parts(text: str, form: Form) -> list[str]:
    if form == "whole":
        return [text]
    if form == "pair":
        name, colon, secret = text.partition(":")
        if colon:
            return [secret, secret.split(" ", 1)[0]]  # the first word alone, where a quote is missing behind it
        return [name] if "@" not in name and "/" not in name and "." not in name else []
    if form == "percent":
        return [text.partition("%")[2]]
    if form == "passed":
        return [text.removeprefix("pass:")] if text.startswith("pass:") else []
    if form == "cookie":
        pairs = [pair.partition("=")[2] for pair in text.split(";")]
        return [value.strip() for value in pairs]
    return [text[start:end] for start, end in find_secrets(text)]


def secrets_in(script: str, known: Sequence[str]) -> list[str]:
    """The secrets that a script shows, and the `known` ones: each once, longer ones first."""
    script = script[:LOOKED_AT]
    found = list(known)
    found += (script[start:end] for start, end in find_secrets(script) if end - start >= SHORTEST)
    if "auth" in script:
        found += (pair[1] for pair in _AUTH_PAIR.finditer(script))
    return sorted(dict.fromkeys(found[:_MOST]), key=len, reverse=True) if found else found
