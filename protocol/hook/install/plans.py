"""From a client and a scope to the change of one file, and the carrying out of it."""

from __future__ import annotations

import difflib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from protocol.hook.install import jsonhooks, opencode, tomlhooks
from protocol.hook.install.clients import CLIENTS, Client, Scope, command_line, hooks_file
from protocol.hook.install.jsonhooks import ForeignError
from protocol.hook.install.jsontext import MalformedError

NAMES = (*CLIENTS, opencode.NAME)


class PlanError(Exception):
    """Nothing can be done, and nothing was; the text says why, for people."""


class Change(Struct, frozen=True):
    """A file before and after; `None` is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_none(self) -> bool:
        return self.before == self.after

    def shown(self) -> str:
        """The change as a unified diff."""
        old, new = (self.before or "").splitlines(True), (self.after or "").splitlines(True)
        lines = difflib.unified_diff(old, new, f"{self.path} (now)", f"{self.path} (then)")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def carry_out(self) -> None:
        """Write the file whole, beside the old one first, through links, with its mode. OSError."""
        target = self.path.resolve()
        if self.after is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self.after.encode())
            mode = stat.S_IMODE(target.stat().st_mode) if self.before is not None else 0o666 & ~_umask()
            Path(name).chmod(mode)
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise


def installing(
    name: str, scope: Scope, environ: Mapping[str, str], directory: Path, arguments: Sequence[str] = ()
) -> Change:
    """What puts the hooks in. Raises PlanError."""
    if name == opencode.NAME:
        started = program()
        text = opencode.plugin(started[0])
        if text is None or len(started) > 1:
            raise PlanError("the plugin for opencode needs an installed toolbreaker that it came with")
        return _whole_file(opencode.plugin_file(scope, environ, directory), text)
    client = CLIENTS[name]
    command = command_line(program(), client, arguments)
    path = _file_for(client, scope, environ, directory)
    before = _read(path)
    with _blaming(path):
        if path.suffix == ".toml":
            return Change(path, before, tomlhooks.with_hooks(before or "", client, command))
        return Change(path, before, jsonhooks.with_hooks(before, client, command))


def uninstalling(name: str, scope: Scope, environ: Mapping[str, str], directory: Path) -> list[Change]:
    """What takes the hooks out, wherever they are. Raises PlanError."""
    if name == opencode.NAME:
        return [_whole_file(opencode.plugin_file(scope, environ, directory), None)]
    path = hooks_file(CLIENTS[name], scope, environ, directory)
    changes = []
    for each in (path, *_config_beside(CLIENTS[name], path)):
        before = _read(each)
        if before is not None:
            with _blaming(each):
                changes.append(Change(each, before, _cleaned(each, before)))
    return changes


def program() -> list[str]:
    """The words that start this very program. Raises PlanError where it has no file."""
    started = Path(sys.argv[0]).absolute()
    beside = Path(sys.executable).with_name("toolbreaker")
    for path in (started, beside):
        if path.name == "toolbreaker" and os.access(path, os.X_OK):
            return [str(path)]
    tree = Path(__file__).resolve().parents[2] / "__main__.py"
    if not sys.executable or not tree.is_file():
        raise PlanError("cannot tell by which command toolbreaker is started; run it as `toolbreaker install …`")
    return [sys.executable, str(tree)]


def _file_for(client: Client, scope: Scope, environ: Mapping[str, str], directory: Path) -> Path:
    """The client's own file of hooks, or the general one when the user has hooks there and nowhere else."""
    path = hooks_file(client, scope, environ, directory)
    for config in _config_beside(client, path):
        text = None if path.exists() else _read(config)
        if text is not None:
            with _blaming(config):
                if tomlhooks.has_hooks(text):
                    return config
    return path


def _config_beside(client: Client, path: Path) -> list[Path]:
    return [path.with_name("config.toml")] if client.name == "codex" else []


def _cleaned(path: Path, text: str) -> str | None:
    return tomlhooks.without_hooks(text) if path.suffix == ".toml" else jsonhooks.without_hooks(text)


def _whole_file(path: Path, after: str | None) -> Change:
    before = _read(path)
    if before is not None and not opencode.is_ours(before):
        raise PlanError(f"{path} is not from toolbreaker; it is left as it is")
    return Change(path, before, after)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PlanError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not UTF-8; it is left as it is") from None


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with it."""
    try:
        yield
    except (MalformedError, ForeignError) as error:
        raise PlanError(f"{path}: {error}; it is left as it is") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
