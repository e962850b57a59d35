"""The class of a call: what kind of thing it is to do it again.

Annotations of the harness decide; without them, the words of the tool's name and of the argument that says what to
do (`action`, `operation`, …). Shell calls are told by their commands, in `commands`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from breaker.events import Annotations
from breaker.word_set import word_set

Kind = Literal["read", "run", "mutate", "act", "poll", "wait", "bookkeeping", "spawn", "other"]
"""`read` looks, `poll` looks at something that goes on by itself, `run` computes or tests, `mutate` changes what
stays (a file, a record), `act` does something to the world outside (a click, a message), `wait` lets time pass,
`bookkeeping` writes down plans and thoughts, `spawn` starts an agent."""

KINDS: tuple[Kind, ...] = ("read", "run", "mutate", "act", "poll", "wait", "bookkeeping", "spawn", "other")
DEEDS: frozenset[str] = frozenset({"mutate", "act"})
LOOKS: frozenset[str] = frozenset({"read", "poll"})

_WORDS: dict[Kind, str] = {
    "spawn": "spawn delegate dispatch subagent subagents fork",
    "wait": "wait sleep pause delay await idle",
    "poll": "status poll progress monitor watch listen inbox notifications heartbeat pending",
    "bookkeeping": "todo todos plan plans think thinking thought thoughts sequentialthinking reflect reason checklist "
    "scratchpad",
    "run": "run exec execute eval evaluate python node repl test tests build compile lint benchmark calculate compute "
    "simulate solve notebook script code cell bench",
    "act": "click tap press release close grip type fill hover drag drop scroll swipe key keyboard mouse select "
    "choose uncheck toggle "
    "play move attack chop shoot eat rotate tilt zoom "
    "act action send message reply respond post publish notify mail email call submit yield report answer "
    "ask "
    "confirm approve reject book order pay transfer cancel start stop restart kill deploy trigger invoke stdin finish "
    "complete claim acknowledge ack handle input upload download computer",
    "mutate": "write edit update create delete remove insert append replace patch rename copy add set put save store "
    "modify apply merge commit push change assign multiedit mkdir rm mv cp touch revert undo redo format label tag "
    "register attach detach enable disable clear reset archive import mutate remember forget",
    "read": "read get list view show search find grep glob query fetch lookup look describe inspect ls cat open browse "
    "retrieve snapshot screenshot navigate goto visit head tail count exists stat diff log logs tree scan explore "
    "validate verify check console resolve load context info help history current whoami next_page text extract "
    "observe page "
    "balance details geocode measure",
}
_KIND_OF: dict[str, Kind] = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_STRONG: tuple[Kind, ...] = ("spawn", "bookkeeping", "wait", "poll")
"""Kinds that a word decides wherever it stands; of the other words the first decides."""

_PHRASES: tuple[tuple[frozenset[str], Kind], ...] = (
    # Words that mean something else together, looked for before single words.
    (frozenset({"task", "get"}), "read"),
    (frozenset({"task", "list"}), "read"),
    (frozenset({"task", "output"}), "poll"),
    (frozenset({"task", "update"}), "bookkeeping"),
    (frozenset({"task", "create"}), "bookkeeping"),
    (frozenset({"task", "stop"}), "act"),
    (frozenset({"bash", "output"}), "poll"),
    (frozenset({"read", "output"}), "poll"),
    (frozenset({"get", "output"}), "poll"),
    (frozenset({"read", "terminal"}), "poll"),
    (frozenset({"read", "bash"}), "poll"),
    (frozenset({"check", "messages"}), "poll"),
    (frozenset({"check", "mail"}), "poll"),
    (frozenset({"read", "mail"}), "read"),
    (frozenset({"read", "messages"}), "poll"),
    *(
        (frozenset({"open", thing}), "act")
        for thing in ("ticket", "issue", "pr", "pull", "case", "incident", "account")
    ),
    *(
        (frozenset({"resolve", thing}), "act")
        for thing in ("ticket", "issue", "thread", "conversation", "comment", "incident", "alert", "conflict")
    ),
    (frozenset({"new", "task"}), "spawn"),
    (frozenset({"write", "stdin"}), "act"),
    (frozenset({"send", "input"}), "act"),
    (frozenset({"start", "build"}), "run"),
    (frozenset({"run", "subagent"}), "spawn"),
    (frozenset({"test", "file"}), "read"),
    (frozenset({"list", "plans"}), "read"),
    (frozenset({"next", "job"}), "act"),
    (frozenset({"next", "batch"}), "read"),
    (frozenset({"exit", "plan"}), "act"),
    (frozenset({"enter", "plan"}), "act"),
    (frozenset({"ask", "question"}), "act"),
    (frozenset({"get", "context"}), "read"),
)
GAME_MOVES = word_set("hit dig mine jump harvest gather")
"""Names that are a small deed of a game; in longer ones they are none: `jump_to_definition`, `gather_context`."""
_WHOLE: dict[str, Kind] = {
    "task": "spawn",
    "agent": "spawn",
    "skill": "read",
    "process": "read",
    **dict.fromkeys(["go", "walk", "step", "turn", "enter", "leave", "travel", "climb", *GAME_MOVES], "act"),
}
"""Names that are one word."""

ACTION_NAMES = ("action", "operation", "op", "command", "subcommand", "verb", "cmd")
"""Arguments that may say what a tool with many uses is to do; a value that is no known word says nothing."""

ARGUMENT_KINDS: tuple[tuple[frozenset[str], Kind], ...] = (
    (
        word_set("oldstring newstring oldstr newstr oldtext newtext patch diff filetext replacement edits"),
        "mutate",
    ),
    (word_set("todos thought thoughts plan"), "bookkeeping"),
    (word_set("subagenttype"), "spawn"),
    (word_set("offset limit viewrange startline endline pattern query regex glob q"), "read"),
)
"""Arguments that tell what a tool does whose name tells nothing, lower case without `_`."""

HTTP_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})

KEYSTROKES = ("chars", "keys", "text", "input", "command", "data", "stdin")
"""Arguments that hold what is typed into something that runs: without any, it is only looked at."""

INCREMENTAL = word_set(
    "step go walk press key keyboard scroll swipe next previous forward back down up left right page "
    "attack chop shoot rotate tilt"
)
"""Words of deeds that are made of many small equal ones: walking a list, scrolling, turning pages, most games."""

SEARCHING = word_set("search find grep glob query lookup locate explore match")
"""Words of looks for something that may be nowhere."""

ASKING = word_set("ask request elicit prompt")
PERSONS = word_set("user human person operator customer questions input clarification confirmation")
"""Words of a tool that asks a person: one of each."""

TARGETS = re.compile(
    r"(?:^|_)(?:id|ids|handle|handles|session|pid|job|jobs|task|tasks|agent|agents|selector|url|for|condition|name|names|target|run)$"
)
"""Arguments that name what is waited for. A wait without one only lets time pass."""

UNITS = word_set(
    "second seconds secs sec ms milliseconds minute minutes hour hours day days time duration moment moments while"
)
"""The last word of what follows `for` in the name of a tool that only lets time pass."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
STATEMENTS = ("sql", "query", "statement")
"""Arguments that hold a statement in SQL."""
_SQL_PORTION = re.compile(r"\blimit\s{1,9}\d|\btop\s{0,9}\(|\bfetch\s{1,9}first\b", re.IGNORECASE)
_SQL_DEED = re.compile(
    r"\s{0,99}(?:insert|update|delete|create|drop|alter|truncate|replace|grant|merge|call)\b", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a name, without what a server puts before it: `mcp__hub__getJobStatus`."""
    short = name
    for separator in ("__", ".", "/", ":"):
        short = short.rsplit(separator, 1)[-1] or short
    return tuple(word.lower() for word in _WORD.findall(short))


def _deed_among(kinds: list[Kind]) -> bool:
    """`heartbeat_respond` and `set_status` do something; `get_update_status` looks."""
    return kinds[0] != "read" and any(kind in DEEDS for kind in kinds)


@lru_cache(maxsize=1024)
def of_name(name: str) -> Kind | None:
    """The class that the words of a name tell; `None` when none of them is known."""
    words = words_of(name)
    if len(words) == 1 and words[0] in _WHOLE:
        return _WHOLE[words[0]]
    held = set(words)
    for phrase, kind in _PHRASES:
        if phrase <= held:
            return kind
    kinds = [_KIND_OF[word] for word in words if word in _KIND_OF]
    for strong in _STRONG:
        if strong in kinds and not (strong == "poll" and _deed_among(kinds)):
            return strong
    kinds = [kind for kind in kinds if kind != "poll"] or kinds
    return kinds[0] if kinds else _WHOLE.get(words[-1]) if words else None


def of_tool(
    tool: str, arguments: Any, annotations: Annotations | None = None, classes: Mapping[str, Kind] | None = None
) -> Kind:
    """The class of a call that is no shell command. `classes`: what the settings say of tools, by lower-case name."""
    if classes and (given := classes.get(tool.lower())):
        return given
    hinted = _hinted(annotations)
    if hinted is not None:
        return hinted
    members = arguments if isinstance(arguments, dict) else {}
    if members.get("is_input") is True:
        return "act" if _types(members) else "poll"
    method = members.get("method")
    if isinstance(method, str) and method.upper() in HTTP_METHODS:
        return "read" if method.upper() in ("GET", "HEAD", "OPTIONS") else "act"
    kind = of_name(tool)
    if kind in ("spawn", "bookkeeping"):
        return kind
    if "stdin" in words_of(tool) and not _types(members):
        return "poll"
    for name in ACTION_NAMES:
        value = members.get(name)
        if isinstance(value, str) and len(value) <= 40 and (said := of_name(value)):
            return said
    if kind == "wait":
        return "poll" if _waits_for_something(tool, members) else "wait"
    if kind in ("read", "run") and any(_SQL_DEED.match(statement) for statement in _statements(members)):
        return "mutate"
    if kind is None:
        plain = {name.lower().replace("_", "").replace("-", "") for name in members}
        kind = next((told for names, told in ARGUMENT_KINDS if not names.isdisjoint(plain)), None)
    if kind is None and annotations is not None and annotations.read_only_hint is False:
        return "act"
    return kind or "other"


def is_incremental(tool: str, arguments: Any) -> bool:
    """Whether a deed is one of many small equal steps, such as a key press or turning a page."""
    if _names_a_step(tool):
        return True
    if not isinstance(arguments, dict):
        return False
    return any(isinstance(value, str) and len(value) <= 40 and _names_a_step(value) for value in arguments.values())


def _names_a_step(name: str) -> bool:
    words = words_of(name)
    return not INCREMENTAL.isdisjoint(words) or (len(words) == 1 and words[0] in GAME_MOVES)


def is_portion(members: Mapping[str, Any]) -> bool:
    """Whether a change is one of many equal portions: rows that a statement changes a limited number at a time."""
    return any(_SQL_PORTION.search(statement) for statement in _statements(members))


def _statements(members: Mapping[str, Any]) -> Iterator[str]:
    values = (members.get(name) for name in STATEMENTS)
    return (value for value in values if isinstance(value, str))


def is_of_person(tool: str) -> bool:
    """Whether a person is asked: then every other question is another one, and the person can end it."""
    held = set(words_of(tool))
    return not ASKING.isdisjoint(held) and not PERSONS.isdisjoint(held)


def _waits_for_something(tool: str, members: dict[str, Any]) -> bool:
    what = " ".join(words_of(tool)).partition(" for ")[2].split()
    return bool(what and what[-1] not in UNITS) or any(TARGETS.search(name.lower()) for name in members)


def _types(members: dict[str, Any]) -> bool:
    return any(isinstance(members.get(name), str) and members[name] != "" for name in KEYSTROKES)


def _hinted(annotations: Annotations | None) -> Kind | None:
    if annotations is None:
        return None
    if annotations.spawn_hint:
        return "spawn"
    if annotations.bookkeeping_hint:
        return "bookkeeping"
    if annotations.poll_hint:
        return "poll"
    if annotations.read_only_hint:
        return "read"
    if annotations.destructive_hint is True and annotations.read_only_hint is False:
        return "mutate"
    return None
