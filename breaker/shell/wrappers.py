"""Programs that run another program: what of their words is theirs, and where the inner command begins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from breaker.shell.options import option_value, skip_options
from breaker.shell.parse import parse
from breaker.shell.script import Word
from breaker.word_set import word_set

Role = Literal["same", "kept", "runner"]


class Wrapper(Struct, frozen=True, kw_only=True):
    """How a program runs another.

    `same`: the action is the inner one alone (`timeout 5 x`). `kept`: its words stay part of the action, its name is
    no verb (`sudo x`). `runner`: its words stay, and it is a verb beside the inner program (`xargs x`).
    `valued` options take the next word; `operands` words stand before the inner command; `assigns`: `A=1` may stand
    there. `path` is the sub-command that runs things. `script` options hold a shell script instead of words;
    `joined`: the words make one script (`eval`, `watch`). `dashes`: the command is what follows `--`. `quits` options
    mean that nothing is run. `until` ends the inner command. `late`: a `script` option may stand behind operands.
    `splits`: a command in one word is a script's. `chdir` options name the directory that the inner command runs in.
    """

    role: Role
    valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    path: tuple[str, ...] = ()
    script: frozenset[str] = frozenset()
    joined: bool = False
    dashes: bool = False
    quits: frozenset[str] = frozenset()
    until: frozenset[str] = frozenset()
    late: bool = False
    splits: bool = False
    chdir: frozenset[str] = frozenset()


def _row(
    role: Role,
    valued: str = "",
    operands: int = 0,
    *,
    assigns: bool = False,
    path: str = "",
    script: str = "",
    joined: bool = False,
    dashes: bool = False,
    quits: str = "",
    until: str = "",
    late: bool = False,
    splits: bool = False,
    chdir: str = "",
) -> Wrapper:
    return Wrapper(
        role=role,
        valued=word_set(f"{valued} {chdir}"),
        operands=operands,
        assigns=assigns,
        path=tuple(path.split()),
        script=word_set(script),
        joined=joined,
        dashes=dashes,
        quits=word_set(quits),
        until=word_set(until),
        late=late,
        splits=splits,
        chdir=word_set(chdir),
    )


_XARGS = """
-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars
--process-slot-var
"""
_PARALLEL = """
-j -P -N -n -L -I -a -S -s -E -d --jobs --max-procs --max-args --colsep --delay --timeout --joblog --results --tmpdir
--halt --arg-file --retries --workdir --wd --tag-string --delimiter --load --memfree --env --sshlogin --shuf-seed
--block --recstart --recend --max-chars
"""
_UV_RUN = """
--with --with-requirements --with-editable -p --python --project --extra --no-extra --group --no-group
--only-group --package --env-file --index --index-url -i --extra-index-url --default-index --find-links -f -w
--cache-dir --config-file --color --refresh-package --from -n --isolated-from
"""
_NPX = "-p --package -w --workspace --userconfig --registry --loglevel --prefix"
_CONDA = "-n --name -p --prefix"
_MISE = "-E --env -j --jobs"

_ROWS: dict[str, tuple[Wrapper, ...]] = {
    # the same action
    "command": (_row("same", quits="-v -V"),),
    "builtin": (_row("same"),),
    "exec": (_row("same", "-a"),),
    "time": (_row("same", "-f -o --format --output"),),
    "nice": (_row("same", "-n --adjustment"),),
    "nohup": (_row("same"),),
    "ionice": (_row("same", "-c -n -p -P -u --class --classdata --pid --pgid --uid"),),
    "stdbuf": (_row("same", "-i -o -e --input --output --error"),),
    "setsid": (_row("same"),),
    "timeout": (_row("same", "-k -s --kill-after --signal", 1),),
    "chrt": (_row("same", "-p --pid -T -P -D --sched-runtime --sched-period --sched-deadline", 1),),
    "taskset": (_row("same", "-p --pid", 1),),
    "unbuffer": (_row("same"),),
    "caffeinate": (_row("same", "-t -w"),),
    "flock": (_row("same", "-w --wait --timeout -E --conflict-exit-code", 1, script="-c --command"),),
    "noglob": (_row("same"),),
    "nocorrect": (_row("same"),),
    "eval": (_row("same", joined=True),),
    # another action, the same verb
    "sudo": (
        _row(
            "kept",
            """-u -g -p -C -h -r -t -T -U -R --user --group --prompt --close-from --host --role --type
            --command-timeout --other-user --chroot""",
            assigns=True,
            chdir="-D --chdir",
            quits="-l --list -v --validate -K --remove-timestamp",
        ),
    ),
    "doas": (_row("kept", "-u -C", quits="-L"),),
    "env": (_row("kept", "-u --unset -a --argv0 -P", assigns=True, chdir="-C --chdir"),),
    "su": (
        _row("kept", "-s --shell -g --group -G --supp-group -w", script="-c --command --session-command", late=True),
    ),
    "runuser": (_row("kept", "-u --user -s --shell -g --group -G", script="-c --command", late=True),),
    "chroot": (_row("kept", "--userspec --groups", 1),),
    "strace": (_row("kept", "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --output --trace"),),
    "xvfb-run": (_row("kept", "-e -f -n -p -s -w --server-num --server-args --error-file --auth-file"),),
    "dbus-run-session": (_row("kept", "--config-file --dbus-daemon"),),
    "catchsegv": (_row("kept"),),
    "ccache": (_row("kept"),),
    "coproc": (_row("kept"),),
    "distcc": (_row("kept"),),
    "proxychains": (_row("kept", "-f"),),
    "proxychains4": (_row("kept", "-f"),),
    "torsocks": (_row("kept"),),
    "arch": (_row("kept"),),
    "systemd-run": (_row("kept", "-u --unit -p --property --uid --gid -E --setenv --working-directory --description"),),
    # programs that run others
    "xargs": (_row("runner", _XARGS),),
    "parallel": (_row("runner", _PARALLEL, until="::: :::+ :::: ::::+", splits=True),),
    "watch": (_row("runner", "-n --interval -q --equexit", joined=True),),
    "entr": (_row("runner"),),
    "uv": (
        _row("runner", _UV_RUN, path="run", chdir="--directory"),
        _row("runner", _UV_RUN, path="tool run", chdir="--directory"),
    ),
    "uvx": (_row("runner", _UV_RUN, chdir="--directory"),),
    "pipx": (_row("runner", "--spec --python --index-url --pip-args", path="run"),),
    "poetry": (_row("runner", "-P --project", path="run", chdir="-C --directory"),),
    "pipenv": (_row("runner", path="run"),),
    "pdm": (_row("runner", "-p --project", path="run"),),
    "hatch": (_row("runner", "-e --env", path="run"),),
    "rye": (_row("runner", path="run"),),
    "pixi": (_row("runner", "-e --environment --manifest-path", path="run"),),
    "npx": (_row("runner", _NPX, script="-c --call"),),
    "pnpx": (_row("runner", _NPX),),
    "bunx": (_row("runner", "-p --package"),),
    "npm": (_row("runner", _NPX, path="exec", script="-c --call"), _row("runner", _NPX, path="x", script="-c --call")),
    "pnpm": (
        _row("runner", "--filter -F --package", path="exec", chdir="-C --dir"),
        _row("runner", "--package", path="dlx", chdir="-C --dir"),
    ),
    "yarn": (_row("runner", path="exec"), _row("runner", "-p --package", path="dlx")),
    "bun": (_row("runner", path="x"),),
    "mise": (
        _row("runner", _MISE, path="exec", script="-c --command", dashes=True, late=True, chdir="-C --cd"),
        _row("runner", _MISE, path="x", script="-c --command", dashes=True, late=True, chdir="-C --cd"),
    ),
    "direnv": (_row("runner", "", 1, path="exec"),),
    "conda": (_row("runner", _CONDA, path="run", chdir="--cwd"),),
    "mamba": (_row("runner", _CONDA, path="run", chdir="--cwd"),),
    "micromamba": (_row("runner", _CONDA, path="run", chdir="--cwd"),),
    "bundle": (_row("runner", path="exec"),),
    "rtk": (_row("runner", path="proxy"), _row("runner")),
    "dotenv": (_row("runner", "-f --file -e", path="run"), _row("runner", "-f -e -v -p -c", dashes=True)),
    "op": (_row("runner", "--env-file --account", path="run", dashes=True),),
    "doppler": (_row("runner", "-p --project -c --config", path="run", dashes=True),),
    "aws-vault": (_row("runner", "-d --duration", 1, path="exec", dashes=True),),
}
_ALIASES = {
    "gtimeout": "timeout",
    "gtime": "time",
    "gnice": "nice",
    "gxargs": "xargs",
    "gstdbuf": "stdbuf",
    "genv": "env",
}

WRAPPERS = {**_ROWS, **{alias: _ROWS[name] for alias, name in _ALIASES.items()}}
"""Rows by the name of the program."""

SHELLS = word_set("bash sh zsh dash ksh ash rbash mksh")
"""Programs whose `-c` option and standard input are shell scripts."""

_SHELL_VALUED = word_set("-o +o -O +O --rcfile --init-file")

FIND_ACTIONS = word_set("-exec -execdir -ok -okdir")
FD_ACTIONS = word_set("-x --exec -X --exec-batch")
MAX_SPLIT = 2048
"""Characters of one word that is split into a command."""


class Wrapped(Struct, frozen=True):
    """A wrapper's own words and what it runs: `inner` words, or a `script`."""

    wrapper: Wrapper
    own: tuple[Word, ...]
    inner: tuple[Word, ...]
    script: tuple[Word, ...] = ()
    rest: tuple[Word, ...] = ()  # words of the wrapper behind the inner command

    @property
    def directory(self) -> Word | None:
        """The directory that an option of the wrapper sends the inner command to."""
        return option_value(self.own, self.wrapper.chdir) if self.wrapper.chdir else None


def unwrap(name: str, words: tuple[Word, ...]) -> Wrapped | None:
    """What a wrapper runs; None when the program is none, or runs nothing here (`env`, `command -v x`)."""
    rows = WRAPPERS.get(name)
    if rows is None:
        return None
    for row in rows:
        start = _behind_path(words, row)
        if start:
            return _unwrap(words, row, start)
    return None


def runs_nothing(name: str, words: Sequence[Word]) -> bool:
    """`command -v x` only asks where a program is."""
    return name == "command" and len(words) > 1 and words[1].text[:1] == "-" and bool({"v", "V"} & set(words[1].text))


class ShellCall(Struct, frozen=True):
    """How a shell is called: with a script in a word, with a file, or (neither) for its standard input."""

    script: Word | None = None
    arguments: tuple[Word, ...] = ()
    file: bool = False


def shell_call(words: Sequence[Word]) -> ShellCall:
    """Reads the options of bash, sh, zsh, …: `-c` takes the first operand as the script."""
    index, count, takes_script, reads_stdin = 1, len(words), False, False
    while index < count:
        text = words[index].text
        if text in ("-", "--"):
            index += 1
            break
        if text[:1] not in "-+" or not text:
            break
        index += 1
        if text in _SHELL_VALUED:
            index += 1
        elif text[:2] != "--":
            takes_script |= text[0] == "-" and "c" in text
            reads_stdin |= text[0] == "-" and "s" in text
            if text[-1] in "oO":  # `-euo pipefail`
                index += 1
    if index >= count or (reads_stdin and not takes_script):
        return ShellCall()
    if takes_script:
        return ShellCall(words[index], tuple(words[index + 1 :]))
    return ShellCall(file=True)


def find_actions(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Where the commands stand that find runs: between `-exec` and `;` or `+`."""
    places, index = [], 1
    while index < len(words):
        if words[index].text in FIND_ACTIONS:
            start = index + 1
            while index < len(words) and words[index].text not in (";", "+"):
                index += 1
            if index > start:
                places.append((start, index))
        index += 1
    return places


def fd_actions(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Where the command stands that fd runs: behind `-x` or `-X`."""
    for index, word in enumerate(words[:-1]):
        if word.text in FD_ACTIONS:
            return [(index + 1, len(words))]
    return []


def placeholder(name: str, own: Sequence[Word]) -> str:
    """What xargs, parallel, find and fd replace in the inner words; "" for nothing."""
    if name in ("find", "fd", "fdfind", "parallel"):
        for index, word in enumerate(own[:-1]):
            if name == "parallel" and word.text == "-I":
                return own[index + 1].text
        return "{"
    if name not in ("xargs", "gxargs"):
        return ""
    for index, word in enumerate(own):
        text = word.text
        if text in ("-I", "-J"):
            return own[index + 1].text if index + 1 < len(own) else ""
        if text.startswith("-I"):
            return text[2:]
        if text in ("-i", "--replace"):
            return "{}"
        if text.startswith(("-i", "--replace=")):
            return text.partition("=")[2] or text[2:]
    return ""


def _behind_path(words: Sequence[Word], row: Wrapper) -> int:
    """Where the words begin that follow the sub-command; 0 when it is another one."""
    index = 1
    for name in row.path:
        index = skip_options(words, index, row.valued)
        if index >= len(words) or words[index].text != name:
            return 0
        index += 1
    return index


def _unwrap(words: tuple[Word, ...], row: Wrapper, start: int) -> Wrapped | None:
    if row.quits and any(_has_option(word.text, row.quits) for word in _options(words, start, row)):
        return None
    dashes = next((index for index in range(start, len(words)) if words[index].text == "--"), len(words))
    index = dashes + 1 if row.dashes else _first_operand(words, row, start)
    if row.script:
        for at in range(start, min(dashes if row.late else index + 1, len(words) - 1)):
            if words[at].text in row.script:
                return Wrapped(row, words[:at], (), (words[at + 1],), words[at + 2 :])
    if row is WRAPPERS["env"][0] and (wrapped := _split_string(words, start, index)):
        return wrapped
    if index >= len(words):
        return None
    end = next((at for at in range(index, len(words)) if words[at].text in row.until), len(words))
    if end == index:
        return None
    if row.joined:
        return Wrapped(row, words[:index], (), words[index:end], words[end:])
    inner = words[index:end]
    if row.splits and len(inner) == 1 and inner[0].literal and " " in inner[0].text:
        split = parse(inner[0].text[:MAX_SPLIT]).commands
        inner = split[0].words if split else ()
    return Wrapped(row, words[:index], inner, (), words[end:])


def _first_operand(words: Sequence[Word], row: Wrapper, start: int) -> int:
    index = skip_options(words, start, row.valued)
    while True:
        if row.assigns:
            while index < len(words) and (_is_assignment(words[index].text) or words[index].text == "-"):
                index += 1
            again = skip_options(words, index, row.valued)
            if again != index:
                index = again
                continue
        break
    index += row.operands
    if row.operands and index < len(words) and words[index].text == "--":
        index += 1
    return index


def _options(words: Sequence[Word], start: int, row: Wrapper) -> Sequence[Word]:
    return words[start : skip_options(words, start, row.valued)]


def _has_option(text: str, options: frozenset[str]) -> bool:
    if text in options:
        return True
    return text[:1] == "-" and text[1:2] != "-" and any(len(o) == 2 and o[1] in text[1:] for o in options)


def _split_string(words: tuple[Word, ...], start: int, index: int) -> Wrapped | None:
    """`env -S 'a b' c`: the value is split into words, which stand before the others."""
    for at in range(start, min(index, len(words))):
        text = words[at].text
        value, behind = "", at + 1
        if text in ("-S", "--split-string") or (text[:1] == "-" and text[1:2] != "-" and text.endswith("S")):
            if at + 1 >= len(words):
                return None
            value, behind = words[at + 1].text, at + 2
        elif text.startswith("--split-string="):
            value = text.partition("=")[2]
        elif text.startswith("-S"):
            value = text[2:]
        else:
            continue
        split = parse(value).commands if len(value) <= MAX_SPLIT else ()
        return Wrapped(WRAPPERS["env"][0], words[:at], (split[0].words if split else ()) + words[behind:])
    return None


@lru_cache(maxsize=4096)
def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier() and name.isascii()
