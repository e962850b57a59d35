"""Make imports cheap in a process that judges one event and ends.

What such a process costs is what it imports, and an agent's user waits for it twice in every tool call. More than half
of that goes into what one event never uses: patterns that are compiled when a module is loaded, and modules that
others load for one type or one function. Here these wait until they are used. Nothing that is judged depends on it, and
whatever is asked of a module that waits is answered by the real one.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

OURS = ("breaker.", "protocol.")

_compile: Callable[..., re.Pattern[Any]] = re.compile


class LazyPattern:
    """A regular expression that is compiled when it is first used."""

    __slots__ = ("_given", "_pattern")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._given = args, kwargs
        self._pattern: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._pattern is None:
            args, kwargs = self._given
            self._pattern = _compile(*args, **kwargs)
        return getattr(self._pattern, name)


class LazyModule(ModuleType):
    """A module that is loaded when it is first asked for something that is not at hand."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the machinery of imports, which asks for what a module may lack
            raise AttributeError(name)
        return getattr(_real(self.__name__), name)


class _Never:
    """A type that no value has."""

    unknown = None


def _blake2b() -> Any:
    import _blake2

    return _blake2.blake2b


def _later(module: str, function: str) -> Callable[..., Any]:
    return lambda *args, **kwargs: getattr(_real(module), function)(*args, **kwargs)


_MODULES: dict[str, Mapping[str, Callable[[], Any]]] = {
    "argparse": {},
    "difflib": {},
    "json": {},
    "secrets": {},
    "hashlib": {"blake2b": _blake2b},
    "decimal": {"Decimal": lambda: _Never},
    "uuid": {"UUID": lambda: _Never, "SafeUUID": lambda: _Never},
    "urllib.parse": {"quote_from_bytes": lambda: _later("urllib.parse", "quote_from_bytes")},
    "msgspec.inspect": {},
    "msgspec.toml": {},
    "msgspec.yaml": {},
    "msgspec._json_schema": {
        "schema": lambda: _later("msgspec._json_schema", "schema"),
        "schema_components": lambda: _later("msgspec._json_schema", "schema_components"),
    },
}
"""Modules that wait, and what is at hand in each without loading it."""


def begin() -> None:
    """To be called before anything of ours but this is imported."""
    gc.disable()
    if sys.dont_write_bytecode:
        _keep_compiled()
    re.compile = _compiled_later
    sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]  # msgspec does without it
    for name, at_hand in _MODULES.items():
        if name not in sys.modules:
            module = LazyModule(name)
            try:
                module.__dict__.update({attribute: make() for attribute, make in at_hand.items()})
            except ImportError:
                continue
            sys.modules[name] = module
    _package("breaker")


def end() -> None:
    """What is imported from here on is what it says."""
    re.compile = _compile
    for name in ("typing_extensions", *_MODULES):
        if sys.modules.get(name) is None or isinstance(sys.modules[name], LazyModule):
            sys.modules.pop(name, None)


def _keep_compiled() -> None:
    """Compile once what is loaded for every event, where Python was told to keep nothing, as in many containers."""
    sys.dont_write_bytecode = False
    for name, module in list(sys.modules.items()):
        cached = getattr(module, "__cached__", None)
        if f"{name}.".startswith(OURS) and cached and not os.path.exists(cached):  # noqa: PTH110 - no pathlib here
            import py_compile

            py_compile.compile(str(module.__file__), quiet=2)


def _compiled_later(*args: Any, **kwargs: Any) -> Any:
    """Others may hand their patterns to functions of `re`, which take none of ours."""
    ours = sys._getframe(1).f_globals.get("__name__", "").startswith(OURS)
    return LazyPattern(*args, **kwargs) if ours else _compile(*args, **kwargs)


def _real(name: str) -> ModuleType:
    from importlib import import_module

    if isinstance(sys.modules.get(name), LazyModule):
        del sys.modules[name]
    return import_module(name)


def _package(name: str) -> None:
    """The package beside ours, whoever else has one of that name, without its `__init__`, which loads everything."""
    root = __file__.rpartition("/protocol/")[0]
    if root and name not in sys.modules:
        module = ModuleType(name)
        module.__path__ = [f"{root}/{name}"]
        sys.modules[name] = module
