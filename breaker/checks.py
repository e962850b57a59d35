"""One written value against its setting: what it means, or what is wrong with it.

A check never raises: it complains, as often as there is cause, and what it returns then is not to be used.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from breaker.adaptive_limits import switched
from breaker.readable import readable
from breaker.setting_table import LARGEST, Setting, Shape
from breaker.settings import EVERY_SHELL, EVERY_TOOL, KINDS, Settings

Hint = str | Callable[[], str | None] | None
"""What to do about a problem; a function where finding it out costs more than finding the problem."""

Complain = Callable[[str, str, Hint], None]
"""Takes the key path as written, what is wrong, and the hint."""

Check = Callable[[Setting, str, Any, Complain], Any]

SHOWN_CHARS = 60
"""How much of a wrong value or key a problem repeats."""

LIKE = 0.7
"""How much of two names must be alike (difflib's ratio) for one to be meant: maxCalls does not mean maxDenials."""

LISTED = "`toolbreaker check-config --explain` lists the settings"

_RETIRED_CHOICES = {("localHosts", "ask"): 'use onLimit: "ask"'}
_IDENTITIES = (*KINDS, *(name for name in Settings().limits if name not in KINDS))
_KINDS_ARE = f"the kinds are {', '.join(KINDS)}"
_HOST = re.compile(r"[^\s/?#@\\]+")
_JSON = json.JSONEncoder(ensure_ascii=False)


def check(setting: Setting, value: Any, complain: Complain) -> Any:
    """The value as `Settings` holds it: "off" is None, lists are tuples, host names are in lower case."""
    return _CHECKS[setting.shape](setting, setting.name, value, complain)


def nearest(word: str, known: Sequence[str], otherwise: str | None = None, prefix: str = "") -> str | None:
    """Which of the known names somebody may have meant, by what follows `prefix`; `otherwise` where none is like it."""
    folded = {_fold(name.removeprefix(prefix)): name for name in known}
    wanted = _fold(word.removeprefix(prefix)[:SHOWN_CHARS])
    close = difflib.get_close_matches(wanted, folded, n=1, cutoff=LIKE)
    return f"did you mean {folded[close[0]]}?" if close else otherwise


def shown(value: Any) -> str:
    """A value as a problem names it: its JSON, cut; its type where it has none."""
    text = ""
    try:
        for piece in _JSON.iterencode(value):  # no more than is shown: aliases of YAML can stand for terabytes
            text += piece
            if len(text) > SHOWN_CHARS:
                break
    except (TypeError, ValueError, RecursionError):
        text = f"a value of type {type(value).__name__}"
    return readable(text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…")


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _flag(_: Setting, key: str, value: Any, complain: Complain) -> Any:
    if not isinstance(value, bool):
        complain(key, f"{shown(value)} is not true or false", "write true or false, without quotes")
    return value


def _choice(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    if not isinstance(value, str) or value not in setting.choices:
        hint: Hint = None
        if isinstance(value, str):
            hint = _RETIRED_CHOICES.get((key, value)) or nearest(value, setting.choices)
        complain(key, f"{shown(value)} is not one of {', '.join(setting.choices)}", hint)
    return value


def _integer(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    if _is_off(setting, value):
        return None
    if not _is_number(value) or value != int(value):
        complain(key, f"{shown(value)} is not an integer", _number_hint(setting, value))
    elif _in_bounds(setting, key, value, complain, high=LARGEST):
        return int(value)
    return None


def _number(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    if _is_off(setting, value):
        return None
    if not _is_number(value):
        complain(key, f"{shown(value)} is not a finite number", _number_hint(setting, value))
    elif _in_bounds(setting, key, value, complain):
        whole = value == int(value) and abs(value) <= LARGEST
        return int(value) if whole else float(value)
    return None


def _words(_: Setting, key: str, value: Any, complain: Complain) -> Any:
    return tuple(_word(place, item, complain) for place, item in _items(key, value, complain))


def _integers(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    read = [_integer(setting, place, item, complain) for place, item in _items(key, value, complain)]
    return tuple(dict.fromkeys(read))


def _word_map(_: Setting, key: str, value: Any, complain: Complain) -> Any:
    return {
        _host(place, name, complain): _host(place, item, complain)
        for place, name, item in _members(key, value, complain)
    }


def _words_map(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    read = {}
    for place, name, item in _members(key, value, complain):
        if not name:
            complain(place, "names no tool", f'"{EVERY_TOOL}" is every tool')
        elif name.startswith("@") and name != EVERY_SHELL:
            complain(place, "is not a group of tools", f"the one group is {EVERY_SHELL}")
        read[name] = _words(setting, place, item, complain)
    return read


def _integer_map(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    return {
        _word(place, name, complain): _integer(setting, place, item, complain)
        for place, name, item in _members(key, value, complain)
    }


def _limit_map(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    read = {}
    for place, name, item in _members(key, value, complain):
        kind, colon, rest = name.partition(":")
        if kind not in KINDS:
            complain(place, "is not a kind of identity", partial(nearest, name, _IDENTITIES, _KINDS_ARE))
        elif colon and not rest:
            complain(place, "names nothing after the colon", f"{kind} alone is every {kind}")
        read[name] = _number(setting, place, item, complain)
    return read


def _switch_map(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    """Names with true, false or a number. A switch stays one; `true` for a limit is the limit it has by itself."""
    own = switched(True)
    read: dict[str, bool | int | None] = {}
    for place, name, item in _members(key, value, complain):
        if name not in setting.choices:
            complain(place, "is not a rule or a limit", partial(nearest, name, setting.choices, LISTED))
        elif isinstance(own[name], bool):
            read[name] = not _is_off(setting, item) if not isinstance(item, bool) else item
            if not isinstance(item, bool) and not _is_off(setting, item):
                complain(place, f"{shown(item)} is not true or false", "its limits have names of their own")
        elif isinstance(item, bool):
            read[name] = own[name] if item else None
        else:
            read[name] = _integer(setting, place, item, complain)
    return read


def _choice_map(setting: Setting, key: str, value: Any, complain: Complain) -> Any:
    return {
        _word(place, name, complain): _choice(setting, place, item, complain)
        for place, name, item in _members(key, value, complain)
    }


_CHECKS: dict[Shape, Check] = {
    "flag": _flag,
    "choice": _choice,
    "integer": _integer,
    "number": _number,
    "words": _words,
    "integers": _integers,
    "wordMap": _word_map,
    "wordsMap": _words_map,
    "integerMap": _integer_map,
    "limitMap": _limit_map,
    "switchMap": _switch_map,
    "choiceMap": _choice_map,
}


def _items(key: str, value: Any, complain: Complain) -> list[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        return [(f"{key}[{index}]", item) for index, item in enumerate(value)]
    broken = _broken_json(value)
    hint = f"write [{shown(value)}]" if isinstance(value, str) and not broken else None
    complain(key, broken or f"{shown(value)} is not a list", hint)
    return []


def _members(key: str, value: Any, complain: Complain) -> list[tuple[str, str, Any]]:
    if not isinstance(value, Mapping):
        broken = _broken_json(value)
        hint = 'write {"name": value}' if isinstance(value, str) and not broken else None
        complain(key, broken or f"{shown(value)} is not an object", hint)
        return []
    for name in value:
        if not isinstance(name, str):
            complain(f"{key}.{shown(name)}", "is not a text", "put the key in quotes")
    return [(f"{key}.{readable(name)}", name, item) for name, item in value.items() if isinstance(name, str)]


def _broken_json(value: Any) -> str | None:
    """Where a text stops being JSON that was meant to be JSON, as values of variables and options are."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(value)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        return f"is not JSON: {line}column {error.colno}: {error.msg}"
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets in brackets
        return "is not JSON that can be read"
    return None


def _word(key: str, value: Any, complain: Complain) -> Any:
    if not isinstance(value, str) or not value.strip():
        complain(key, f"{shown(value)} is not a text with something in it", None)
    elif not _is_unicode(value):
        complain(key, f"{shown(value)} is not valid Unicode", None)
    return value


def _host(key: str, value: Any, complain: Complain) -> Any:
    if not isinstance(value, str) or not _HOST.fullmatch(value) or not _is_unicode(value):
        complain(key, f"{shown(value)} is not a host name", "a host name alone, as in a.example")
        return ""
    return value.lower()


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _is_off(setting: Setting, value: Any) -> bool:
    if value is None:
        return setting.off != "never"
    return setting.off == "zero" and _is_number(value) and value <= 0


def _number_hint(setting: Setting, value: Any) -> str | None:
    if isinstance(value, str):
        try:
            return f"write {float(value):.12g}, without quotes"
        except ValueError:
            return _off_hint(setting)
    return _off_hint(setting)


def _off_hint(setting: Setting) -> str | None:
    return {"never": None, "null": "null turns it off", "zero": "0 or null turns it off"}[setting.off]


def _in_bounds(setting: Setting, key: str, value: float, complain: Complain, high: int | None = None) -> bool:
    high = high if setting.high is None else setting.high
    if setting.above is not None and value <= setting.above:
        complain(key, f"{shown(value)} is not above {setting.above}", _off_hint(setting))
    elif setting.low is not None and value < setting.low:
        complain(key, f"{shown(value)} is less than {setting.low}", _off_hint(setting))
    elif high is not None and value > high:
        complain(key, f"{shown(value)} is more than {high}", _off_hint(setting))
    else:
        return True
    return False


def _fold(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
