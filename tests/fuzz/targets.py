"""What a fuzzer feeds, and what must hold whatever it feeds.

A target takes bytes and returns when all is well. What is promised not to raise is called without a net, so that a
mistake shows even where the product would catch it and let the call pass.
"""

from __future__ import annotations

import io
import json
import math
import os
import shlex
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from breaker import failure, skeleton
from breaker.content import text_of
from breaker.engine import Engine
from breaker.events import Call, Result, Settled
from breaker.identity import requests, urls
from breaker.identity.credentials import secrets_in, secrets_of
from breaker.identity.identify import Identifier, Identity
from breaker.messages import harmless, preview, quoted
from breaker.options import ConfigError, Layer, remarks, resolve, wire
from breaker.secrets import find_secrets, mask, mask_text, pseudonyms
from breaker.settings import Settings, preset
from breaker.shell import readers as shell_readers
from breaker.shell.commands import read, read_powershell
from breaker.shell.parse import parse
from breaker.shell.script import Command, Script, Word
from breaker.shell.words import split_words
from protocol import layers
from protocol.connection import Connection
from protocol.decode import MAX_DEPTH, NotJsonError, decode
from protocol.dispatch import Dispatcher
from protocol.framing import Framer
from protocol.hook import claude_code, codex, gemini_cli
from protocol.hook.judge import judge
from protocol.hook.transcript import row as transcript_row
from protocol.layers import Sources
from protocol.methods import METHODS, Session
from protocol.readers import NAMES, RecordingError, open_recording
from protocol.store.once import Once

SEEDS = Path(__file__).parent / "seeds"
RECORDINGS = Path(__file__).parent.parent / "readers" / "data"
EVENTS = Path(__file__).parent.parent / "hook" / "data"

Feed = Callable[[bytes], None]

pseudonym = pseudonyms(b"fuzz")


def text_from(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# ---- the wire


def framing(data: bytes) -> None:
    """Lines are the same however the bytes were split, and none is longer than the limit."""
    if not data:
        return
    step, stream = data[0] + 1, data[1:]
    whole, pieces = Framer(64), Framer(64)
    expected = whole.feed(stream) + whole.close()
    found = [line for at in range(0, len(stream), step) for line in pieces.feed(stream[at : at + step])]
    assert found + pieces.close() == expected
    for line in expected:
        assert not isinstance(line, bytes) or (line.strip() and b"\n" not in line and len(line) <= 64)


def lines(data: bytes) -> None:
    """A line is decoded as Python's own parser does it, or refused; what is decoded can be written again."""
    try:
        value = decode(data)
    except NotJsonError:
        value = NotJsonError
    try:
        theirs = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        theirs = NotJsonError
    if value is NotJsonError:
        assert theirs is NotJsonError or _beyond(theirs), f"refused: {data!r}"
        return
    if theirs is not NotJsonError and b"\\u" not in data:
        assert value == theirs
    msgspec.json.encode(value)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _beyond(value: Any) -> bool:
    """Whether Python's parser took what we refuse on purpose: infinite numbers, nesting too deep."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if any(isinstance(item, float) and math.isinf(item) for item in level):
            return True
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return bool(level)


def connection(data: bytes) -> None:
    """Whatever arrives, replies are single lines of JSON-RPC, and no fault of ours happens."""
    faults: list[str] = []
    session = Session(Sources(), _engine, log=faults.append, clock=lambda: 1000.0)
    served = Connection(session, _dispatcher(session), Framer(1 << 16))
    for reply in [*served.receive(data), *served.close()]:
        assert reply.endswith(b"\n")
        assert reply.count(b"\n") == 1
        for message in _each(msgspec.json.decode(reply)):
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) != ("error" in message)
            assert message.get("error", {}).get("code") != -32603
            assert not isinstance(message.get("result"), dict) or not message["result"].get("degraded")
    assert not faults, faults[0]
    session.engine.restore(msgspec.json.decode(msgspec.json.encode(session.engine.snapshot())))


def _each(reply: Any) -> list[Any]:
    return reply if isinstance(reply, list) else [reply]


def _engine(settings: Settings) -> Engine:
    return Engine(settings, key=b"fuzz")


_dispatchers: list[Dispatcher] = []


def _dispatcher(session: Session) -> Dispatcher:
    """One for all runs: to make one takes longer than to feed it."""
    if not _dispatchers:
        _dispatchers.append(Dispatcher(session))
    _dispatchers[0]._session = session
    return _dispatchers[0]


# ---- identities


def shell(data: bytes) -> None:
    """A script is read in whatever shell's grammar; reading it twice says the same; nothing raises."""
    text = text_from(data)
    script = parse(text)
    assert script == parse(text)
    for found in (read(script), read(script, "some/where")):
        _look_at(found.commands, text)
        assert "\n\n" not in found.spelled or "\n" in text
    if not script.commands:
        assert not text.strip() or set(text.split()) - {"#"} or text.lstrip().startswith("#")
    words = split_words(text)
    assert words.fallback
    _look_at(read_powershell(words, "").commands, text)
    _identity("bash", {"command": text})


def _look_at(commands: tuple[Any, ...], text: str) -> None:
    known: list[str] = []
    for simple in commands:
        traffic = requests.of_command(simple)
        for request in traffic.requests:
            urls.describe(request.url, {}, request.query)
        known += secrets_of(simple)
    shell_readers.only_reads(commands)
    shell_readers.writes_status(commands)
    secrets_in(text, known)


_IDENTIFIER = Identifier(preset("standard"), b"fuzz")


def _identity(tool: str, arguments: Any) -> Identity:
    identity = _IDENTIFIER.identify(tool, arguments, all_kinds=True)
    assert identity.exact
    assert all(len(fingerprint) <= 1024 for fingerprint in identity.fingerprints)
    assert len(set(identity.fingerprints)) == len(identity.fingerprints)
    assert identity.fingerprints == _IDENTIFIER.identify(tool, arguments, all_kinds=True).fingerprints
    msgspec.json.encode(identity.fingerprints)
    return identity


def web(data: bytes) -> None:
    """A URL is described or not one; its canonical host and resource describe themselves; curl's words are read."""
    text = text_from(data)
    for url in (text, f"http://{text}", urls.with_scheme(text), text.replace("$", urls.HOLE)):
        found = urls.describe(url, {"a.example": "b.example", "b.example": "a.example"}, "z=1")
        if found is None:
            continue
        assert found.host
        urls.site(found.host)
        again = urls.describe(f"http://{found.host}/", {})
        assert again is not None
        assert again.host == found.host
        assert again.local == found.local
    urls.canonical_host(text)
    pieces = text.split("\n")
    for client in ("curl", "wget", "http"):
        words = tuple(Word(piece, piece, literal="$" not in piece) for piece in (client, *pieces))
        _look_at(read(Script((Command(words),))).commands, text)
        _look_at(read(parse(shlex.join([client, *pieces]))).commands, text)
    for member in ("body", "params", "method"):
        _identity("fetch", {"url": pieces[0], member: pieces[-1]})
        _identity("fetch", {"url": pieces, member: {piece: piece for piece in pieces}})


def values(data: bytes) -> None:
    """Any JSON is some call's arguments: it has an identity, and secrets in it are masked."""
    try:
        value = decode(data)
    except NotJsonError:
        return
    for tool in ("bash", "fetch", "read", "TodoWrite", ""):
        _identity(tool, value)
    msgspec.json.encode(mask(value, pseudonym))


def secrets(data: bytes) -> None:
    """Secrets stand in order and apart."""
    text = text_from(data)
    spans = find_secrets(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        at = end
    assert mask_text(text, pseudonym) == mask_text(text, pseudonym)
    if not spans:
        assert mask_text(text, pseudonym) is text


# ---- results


def results(data: bytes) -> None:
    """Whatever a tool answers is judged, and quoted without doing harm."""
    text = text_from(data)
    for command in ("make", "cat log", "curl -w '%{http_code}' a.example", "curl -o f -w '%{http_code}' a.example"):
        identity = _identity("bash", {"command": command})
        for result in (Result(text), Result([{"text": text}], is_error=True, error=text)):
            classified = failure.classify(identity, result)
            assert (classified.failure is None) == (classified.kind != "failed")
            failure.is_transient(result, text_of(result))
    skeleton.of_command(text)
    skeleton.of_error(text)
    for shown in (harmless(text), preview(text, 400), quoted(text, 800)):
        assert harmless(shown) == shown
    assert "\n" not in preview(text, 400)
    assert all(line.startswith("| ") for line in quoted(text, 800).split("\n")[1:-1])


def session(data: bytes) -> None:
    """Calls and results of one agent under every profile: no fault, and a snapshot goes on where it was."""
    engines = [_engine(preset(name)) for name in ("standard", "loop-guard", "repeat-tool-breaker", "adaptive")]
    tools = ("bash", "read", "fetch", "write", "task")
    for number, piece in enumerate(data.split(b"\n", 60)):
        if not piece:
            continue
        tool, text = tools[piece[0] % len(tools)], text_from(piece[1:])
        name = {"bash": "command", "fetch": "url"}.get(tool, "path")
        call = Call("main", tool, {name: text[: len(text) // 2]}, str(number), at=number * (piece[0] % 7 or 1))
        for engine in engines:
            verdict = engine.guard(call, explain=not piece[0] % 5)
            if verdict.decision == "ask":
                engine.approve("main", verdict.call_id, "approved" if piece[0] % 2 else "rejected")
            result = Result(text[len(text) // 2 :], is_error=not piece[0] % 3)
            engine.settle(Settled("main", result, verdict.call_id))
            if not piece[0] % 11:
                engine.user_turn("main")
    for engine in engines:
        restored = _engine(engine.settings)
        restored.restore(msgspec.json.decode(msgspec.json.encode(engine.snapshot())))
        assert restored.state.agents == engine.state.agents


# ---- recordings


_OURS = ("requests", "record", "sessions")


class Reader(Struct):
    """Reads recordings of one format, or of whichever they look like."""

    format: str | None

    def __call__(self, data: bytes) -> None:
        with suppress(RecordingError):
            for found in open_recording(io.BytesIO(data), self.format, name="fuzz.jsonl"):
                for method, params in found.messages:
                    msgspec.json.encode(params)
                    if found.format not in _OURS:  # what we recorded ourselves is handed on as it is
                        msgspec.convert(params, METHODS[method].params)
                assert found.notes.skipped + found.notes.mended >= len(found.notes.samples)


# ---- hooks


def hook(data: bytes) -> None:
    """Events of a client, a line each, and the same lines as its transcript: an answer that is JSON, or none."""
    if not data:
        return
    harness = (claude_code, codex, gemini_cli)[data[0] % 3]
    transcript = Path(tempfile.gettempdir(), f"toolbreaker-fuzz-{os.getpid()}")
    transcript.write_bytes(data[1:])
    faults: list[str] = []
    engine = Engine(preset("adaptive"), key=b"fuzz", compact=True)
    once = Once(None, log=faults.append)
    try:
        for line in data[1:].split(b"\n"):
            event = transcript_row(line)
            if isinstance(event.get("hook_event_name"), str) and event["hook_event_name"] in harness.KINDS:
                event["transcript_path"] = str(transcript)
                msgspec.json.encode(judge(harness, event, engine, once, None, environ={}, now=1000.0))
    finally:
        transcript.unlink()
    assert faults == []


# ---- configurations


def config(data: bytes) -> None:
    """A file in any syntax, variables and options: settings, or a list of what is wrong."""
    if not data:
        return
    suffix = (".json", ".toml", ".yaml", "")[data[0] % 4]
    text = text_from(data[1:])
    parse_file = layers._PARSERS[suffix or layers._looks_like(text)]
    try:
        given = parse_file(text)
    except (layers._Malformed, RecursionError):
        given = None
    name, _, value = text.partition("\n")
    environ = {f"TOOLBREAKER_{name}": value, "TOOLBREAKER_LIMITS": value, "TOOLBREAKER_WINDOW": value}
    gathered = layers.gather(None, environ, {"--host-aliases": layers._json_or_text(value)})
    layered = Sources((Layer("file", given), *gathered.layers), notes=gathered.notes, switch=gathered.switch)
    for sources in (Sources((Layer("file", given),)), layered):
        settings, wrong = _resolved(sources)
        if wrong is not None:
            assert wrong.problems
            msgspec.json.encode(wrong.data())
            assert layers.complaint(wrong).encode("utf-8")
        if settings is not None:
            remarks(settings)
            assert resolve([Layer("again", wire(settings))]).settings == settings
            Identifier(settings).identify("bash", {"command": "curl a.example"})


def _resolved(sources: Sources) -> tuple[Settings | None, ConfigError | None]:
    try:
        return sources.resolve().settings, None
    except ConfigError as error:
        return None, error


TARGETS: dict[str, Feed] = {
    "framing": framing,
    "lines": lines,
    "connection": connection,
    "shell": shell,
    "web": web,
    "values": values,
    "secrets": secrets,
    "results": results,
    "session": session,
    "config": config,
    "hook": hook,
    "recording": Reader(None),
    **{f"recording-{name}": Reader(name) for name in NAMES},
}


def seeds(name: str) -> list[bytes]:
    """What a target starts from: its folders of seeds and of what was found, and recorded excerpts for readers."""
    family = name.partition("-")[0]
    folders = {SEEDS / name, SEEDS / family}
    found = [path.read_bytes() for folder in sorted(folders) if folder.is_dir() for path in sorted(folder.iterdir())]
    if family == "recording":
        stem = name.removeprefix("recording").removeprefix("-")
        excerpts = sorted(RECORDINGS.iterdir())
        found += [path.read_bytes() for path in excerpts if path.name.startswith(stem)] or [
            path.read_bytes() for path in excerpts if stem in path.name
        ]
    if name == "hook":
        for number, client in enumerate(("claude-code", "codex", "gemini-cli")):
            events = json.loads((EVENTS / f"{client}.json").read_text()).values()
            found += [bytes([number]) + b"\n".join(map(msgspec.json.encode, events))]
    return found
