"""A tool call's identities: the fingerprints that say which calls are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar

from msgspec import Struct

from breaker import json_text
from breaker.identity import requests, tools, urls
from breaker.identity.canonical import Masker, canonical_json
from breaker.identity.credentials import LOOKED_AT, secrets_in, secrets_of
from breaker.identity.traffic import Request
from breaker.settings import EVERY_SHELL, EVERY_TOOL, Settings
from breaker.shell import readers
from breaker.shell.commands import Reading, Simple, read, read_powershell
from breaker.shell.parse import parse
from breaker.shell.quoting import quote
from breaker.shell.script import Command, Script, Word
from breaker.shell.words import split_words

Kind = Literal["shell", "url", "other"]
_Fact = TypeVar("_Fact")

CACHED_CALLS = 1024
"""Calls whose identity is remembered; of real calls 27 % repeat an earlier one."""

MAX_PER_CALL = 256
"""URLs, and files, of one call that get fingerprints. Recorded calls have at most a few."""

CACHED_TOOLS = 4096
"""Tools whose kind is remembered."""
_CACHED_BYTES = 16_384  # of one call's arguments; larger ones are read anew
_EMPTY = Reading((), (), "")


class Identity(Struct):
    """What a call is. `fingerprints` stand in the order host, net, site, sink, cmd, exact, verb, family.

    `command` is the script's text (words joined, for a list of words), `script` its parsed form, `commands` what it
    runs without wrappers. The facts are computed when they are first asked for.
    """

    kind: Kind
    fingerprints: tuple[str, ...]
    command: str | None = None
    script: Script | None = None
    reading: Reading = _EMPTY
    known_reads_only: bool | None = None
    known_writes_status: Literal["first", "last", "unasked"] | None = "unasked"

    @property
    def commands(self) -> tuple[Simple, ...]:
        return self.reading.commands

    @property
    def exact(self) -> str:
        for fingerprint in self.fingerprints:
            if fingerprint.startswith("exact:"):
                return fingerprint
        raise LookupError("every call has an exact identity")

    @property
    def reads_only(self) -> bool:
        """Whether every command only shows what is there already."""
        if self.known_reads_only is None:
            self.known_reads_only = _guarded(readers.only_reads, self.commands, False)
        return self.known_reads_only

    @property
    def writes_status(self) -> Literal["first", "last"] | None:
        """Whether curl was asked for the HTTP status, and where in the output it stands."""
        if self.known_writes_status == "unasked":
            self.known_writes_status = _guarded(readers.writes_status, self.commands, None)
        return self.known_writes_status  # type: ignore[return-value]  # asked above


class Origin(Struct, frozen=True):
    """One fingerprint and what it was made from."""

    fingerprint: str
    origin: str


class _Tool(Struct, frozen=True):
    """What the settings and its name say of a tool: which arguments are ignored, and whether the others may be read."""

    kind: Literal["shell", "file", "other"]
    ignored: frozenset[str]

    def relevant(self, arguments: Any) -> Any:
        """The arguments without the ignored ones."""
        if type(arguments) is not dict or self.ignored.isdisjoint(arguments):
            return arguments
        return {name: value for name, value in arguments.items() if name not in self.ignored}


class Identifier:
    """Makes identities under one configuration. Secrets in them are digests keyed with `key`."""

    def __init__(self, settings: Settings, key: bytes = b"") -> None:
        self._masker = Masker(key)
        self._ignored = settings.ignore_args
        self._content = frozenset(settings.content_args)
        self._shell_tools = frozenset(name.lower() for name in settings.shell_tools)
        self._url_tools = frozenset(name.lower() for name in settings.url_tools)
        self._include_local = settings.include_local
        self._local_allowed = settings.local_hosts == "allow"
        self._host_aliases = settings.host_aliases
        caps = {name for name, cap in settings.limits.items() if cap is not None}
        self._wants_site = any(name.partition(":")[0] == "site" for name in caps)
        self._wants_verbs = any(name.partition(":")[0] == "verb" for name in caps)
        self._wants_family = any(name.partition(":")[0] == "family" for name in caps)
        self._tools: dict[str, _Tool] = {}
        self._cache: dict[tuple[str, bytes], Identity] = {}

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """Hosts by their other names; worked out when a URL appears, since reading hosts loads a library."""
        return {urls.canonical_host(name): urls.canonical_host(host) for name, host in self._host_aliases.items()}

    def identify(self, tool: str, arguments: Any, *, all_kinds: bool = False) -> Identity:
        """The identity of a call; with `all_kinds` also the kinds that no limit asks for. Never raises."""
        if all_kinds:
            return self._identify(tool, arguments, True)
        try:
            raw = json_text.encode(arguments)
        except Exception:  # what JSON cannot say is not remembered
            return self._identify(tool, arguments, False)
        if len(raw) > _CACHED_BYTES:
            return self._identify(tool, arguments, False)
        cache, name = self._cache, (tool, raw)
        known = cache.pop(name, None)
        if known is None:
            known = self._identify(tool, arguments, False)
            if len(cache) >= CACHED_CALLS:
                del cache[next(iter(cache))]
        cache[name] = known  # at the end: used last
        return known

    def explain(self, tool: str, arguments: Any) -> list[Origin]:
        """Every fingerprint of a call, with what it was made from."""
        identity = self.identify(tool, arguments, all_kinds=True)
        asked: list[tuple[str, Request]] = []
        origins: dict[str, str] = {}
        if identity.kind == "url":
            asked = [(tool, request) for request in self._tool_requests(tool, self._tool(tool).relevant(arguments))]
        for simple in identity.commands:
            traffic = requests.of_command(simple)
            asked += [(simple.program, request) for request in traffic.requests]
            for sink in traffic.sinks:
                written = f"a file that {simple.program or 'a redirection'} writes"
                origins.setdefault(self._masker.fingerprint("sink:", sink), written)
        for program, request in asked:
            shown = self._masker.mask(request.url.replace(urls.HOLE, "…"))
            for fingerprint in self._of_requests([request], True):
                origins.setdefault(fingerprint, f"the URL {shown} that {program} asks for")
        fixed = {
            "cmd": "the script without what is volatile",
            "exact": "the tool and its arguments without ignored ones",
            "verb": "a program that the script runs",
            "family": "a client or URL tool is used",
        }
        return [
            Origin(fingerprint, origins.get(fingerprint) or fixed.get(fingerprint.partition(":")[0], ""))
            for fingerprint in identity.fingerprints
        ]

    # ---- one call

    def _identify(self, tool: str, arguments: Any, all_kinds: bool) -> Identity:
        known = self._tool(tool)
        arguments = known.relevant(arguments)
        try:
            exact = canonical_json(arguments, self._masker)
        except Exception:  # whatever it is, the call stays told apart from others
            exact = _rough(arguments)
        if known.kind == "shell":
            try:
                return self._shell(tool, arguments, exact, all_kinds)
            except Exception:
                return Identity("shell", (*self._by_words(arguments), self._exact(tool, exact)))
        if known.kind == "other":
            try:
                found = self._url_tool(tool, arguments, exact, all_kinds)
            except Exception:
                found = None
            if found is not None:
                return found
        return Identity("other", (self._exact(tool, exact),))

    def _exact(self, tool: str, arguments: str, known: Sequence[str] = ()) -> str:
        return self._masker.fingerprint(f"exact:{tool}:", arguments, known)

    def _tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            tool = self._classify(name)
            if len(self._tools) < CACHED_TOOLS:
                self._tools[name] = tool
        return tool

    def _classify(self, name: str) -> _Tool:
        shell = tools.is_shell(name, self._shell_tools)
        ignored = set(self._ignored.get(EVERY_TOOL, ()))
        if not shell and tools.writes(name):
            ignored -= self._content
        if shell:
            ignored.update(self._ignored.get(EVERY_SHELL, ()))
        ignored.update(self._ignored.get(name) or self._ignored.get(name.lower(), ()))
        return _Tool("shell" if shell else "file" if tools.is_file_tool(name) else "other", frozenset(ignored))

    def _shell(self, tool: str, arguments: Any, exact: str, all_kinds: bool) -> Identity:
        call = tools.shell_call(tool, arguments)
        if call is None:
            return Identity("shell", (self._exact(tool, exact),))
        text, script, reading = _read(call)
        sinks: list[str] = []
        asked: list[Request] = []
        client = False
        for simple in reading.commands:
            traffic = requests.of_command(simple)
            sinks += traffic.sinks
            asked += traffic.requests
            client = client or simple.program in requests.CLIENTS
        known = _secrets(call, reading)
        mask = self._masker.fingerprint
        clean = not known and len(text) <= LOOKED_AT and not call.directory
        alone = type(arguments) is dict and len(arguments) == 1 and call.command in arguments.values()
        tail: list[str] = []
        if reading.spelled:
            first = reading.verbs[0] if reading.verbs else ""
            tail.append(mask(f"cmd:{first}:", reading.spelled, known, clean=clean))
        tail.append(mask(f"exact:{tool}:", exact, known, clean=clean and alone))
        if asked and self._local_allowed and self._all_local(asked):
            return Identity("shell", tuple(tail), text, script, reading)
        head = self._of_requests(asked[:MAX_PER_CALL], all_kinds, known) if asked else []
        for sink in dict.fromkeys(sinks[:MAX_PER_CALL]):
            head.append(mask("sink:", sink, known))
        if all_kinds or self._wants_verbs:
            tail += [mask("verb:", verb, known) for verb in reading.verbs]
        if client and (all_kinds or self._wants_family):
            tail.append("family:http-fetch")
        return Identity("shell", (*head, *tail), text, script, reading)

    def _url_tool(self, tool: str, arguments: Any, exact: str, all_kinds: bool) -> Identity | None:
        found = self._tool_requests(tool, arguments)
        if not found:
            return None
        if self._local_allowed and self._all_local(found):
            return Identity("url", (self._exact(tool, exact),))
        head = self._of_requests(found, all_kinds)
        tail = ["family:http-fetch"] if all_kinds or self._wants_family else []
        return Identity("url", (*head, self._exact(tool, exact), *tail))

    def _tool_requests(self, tool: str, arguments: Any) -> list[Request]:
        given = tools.url_argument(arguments)
        if tool.lower() in self._url_tools:
            given = tuple(urls.with_scheme(text) for text in given if text)
        given = tuple(text for text in given if urls.looks_like_url(text))
        return requests.of_tool(given, arguments) if given else []

    def _all_local(self, asked: list[Request]) -> bool:
        described = [urls.describe(request.url, self._aliases) for request in asked]
        return all(url is not None and url.local for url in described)

    def _of_requests(self, asked: list[Request], all_kinds: bool, known: Sequence[str] = ()) -> list[str]:
        hosts: dict[str, None] = {}
        nets: dict[str, None] = {}
        sites: dict[str, None] = {}
        for request in asked:
            url = urls.describe(request.url, self._aliases, request.query)
            if url is None:
                continue
            if url.net is not None and request.known:
                nets[self._masker.fingerprint("net:", self._net(url.net, request), known)] = None
            if url.local and not self._include_local:
                continue
            hosts[self._masker.fingerprint("host:", url.host, known)] = None
            if all_kinds or self._wants_site:
                sites[self._masker.fingerprint("site:", urls.site(url.host), known)] = None
        return [*hosts, *nets, *sites]

    def _net(self, net: str, request: Request) -> str:
        method = "GET" if request.method == "HEAD" else request.method
        if request.body is not None:
            return f"{net} {method} body={self._masker.digest(request.body)}"
        return net if method == "GET" else f"{net} {method}"

    def _by_words(self, arguments: Any) -> list[str]:
        try:
            call = tools.shell_call("", arguments)
            command = call.command if call else ""
            words = command.split() if type(command) is str else list(command)
        except Exception:
            return []
        if not words:
            return []
        return [self._masker.fingerprint(f"cmd:{words[0][:64]}:", " ".join(words))]


def _read(call: tools.Shell) -> tuple[str, Script, Reading]:
    """The script of a shell call as text, parsed, and read."""
    command = call.command
    if type(command) is str:
        if call.powershell:
            script = split_words(command)
            return command, script, read_powershell(script, call.directory)
        script = parse(command)
        return command, script, read(script, call.directory)
    words = tuple(Word(word, quote(word)) for word in command)
    script = Script((Command(words),))
    return " ".join(word.key for word in words), script, read(script, call.directory)


def command_secrets(tool: str, arguments: Any) -> list[str]:
    """The secrets in the command that a call holds, longer ones first, whatever tool it is. Never raises."""
    try:
        call = tools.shell_call(tool, arguments)
        return _secrets(call, _read(call)[2]) if call else []
    except Exception:  # a command that cannot be read
        return []


def _secrets(call: tools.Shell, reading: Reading) -> list[str]:
    known = [secret for simple in reading.commands for secret in secrets_of(simple)]
    for shown in dict.fromkeys((*_shown(call.command), *reading.scripts)):
        known = secrets_in(shown, known)
    return known


def _shown(command: str | tuple[str, ...]) -> list[str]:
    """The texts of a command in which secrets are looked for, none of them quoted a second time."""
    if type(command) is str:
        return [command]
    options = (f"{word} {value}" for word, value in pairwise(command) if word[:2] == "--")
    return [*command, *options]


def _rough(arguments: Any) -> str:
    try:
        return repr(arguments)
    except Exception:  # deeper than repr goes
        return f"<{type(arguments).__name__}>"


def _guarded(function: Callable[[tuple[Simple, ...]], _Fact], commands: tuple[Simple, ...], otherwise: _Fact) -> _Fact:
    try:
        return function(commands)
    except Exception:  # a judgement that fails stops nothing
        return otherwise
