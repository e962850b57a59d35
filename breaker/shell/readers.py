"""Which commands only show what is there already."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from breaker.shell.commands import Simple
from breaker.shell.options import read_arguments
from breaker.shell.programs import family, program
from breaker.shell.script import Redirect, Word
from breaker.word_set import word_set

READERS = word_set(
    """
    cat head tail less more most bat batcat nl tac rev cut tr sort uniq column paste fold fmt expand comm diff
    cmp sdiff strings xxd od hexdump stat file du df tree ls dir vdir eza exa lsd fd fdfind find which type
    whereis printenv env ps pstree top free uptime lsof ss netstat lscpu lsblk lsmod lspci lsusb journalctl
    dmesg zcat bzcat xzcat zless zmore zdiff gzcat wc grep egrep fgrep rg ag ack zgrep ugrep pcregrep sed gsed
    awk gawk mawk nawk jq gojq yq pgrep getent getconf locate id whoami hostname uname date pwd dirs realpath
    readlink basename dirname seq nproc tty locale groups users who w last md5sum sha1sum sha224sum sha256sum
    sha512sum b2sum cksum sum shasum readelf nm objdump ldd size man help tsort look numfmt command colordiff
    delta difft cloc tokei history jobs
    """
)
"""Programs that show something and change nothing, unless an option of `CHANGERS` stands there."""

NEUTRAL = word_set(
    """
    cd pushd popd echo printf true false : test [ [[ (( sleep set export wait shopt unset local declare readonly typeset
    return exit break continue read for select case ulimit umask trap exec xargs clear shift let source_env
    """
)
"""Commands that may stand between readers: they show nothing of their own and change nothing that lasts."""

CHANGERS: dict[str, frozenset[str]] = {
    "sed": frozenset({"-i", "--in-place"}),
    "find": word_set("-delete -fprint -fprint0 -fprintf -fls"),
    "yq": frozenset({"-i", "--inplace"}),
    "awk": frozenset({"-i"}),
    "less": frozenset({"-o", "-O", "--log-file", "--LOG-FILE"}),
    "tree": frozenset({"-o"}),
    "date": frozenset({"-s", "--set"}),
    "hostname": frozenset({"-F", "--file", "-b"}),
    "dmesg": frozenset({"-c", "-C", "--clear", "--read-clear", "-D", "-E", "-n"}),
    "journalctl": frozenset({"--rotate", "--vacuum-size", "--vacuum-time", "--vacuum-files", "--flush", "--sync"}),
    "history": frozenset({"-c", "-d", "-w"}),
    "xxd": frozenset({"-r"}),
    "ss": frozenset({"-K", "--kill"}),
}
"""Options with which a reader changes something."""

_LISTED = word_set(
    """
    -a --all -r --remotes -v -vv --verbose -l --list --show-current --contains --no-contains --merged --no-merged --sort
    --format -n --points-at --color --no-color --column -q --quiet
    """
)
SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": word_set(
        """
        show, log, diff, status, blame, annotate, ls-files, ls-tree, rev-parse, rev-list, reflog, shortlog, describe,
        cat-file, grep, show-ref, name-rev, whatchanged, merge-base, for-each-ref, count-objects, var, help, version,
        check-ignore, check-attr, range-diff, diff-tree, diff-index, diff-files, cherry, verify-commit, verify-tag,
        show-branch, stash list, stash show, remote show, remote get-url, worktree list, submodule status, notes list,
        notes show, bisect log, config get, config list, lfs ls-files
        """,
        ",",
    ),
    "gh": word_set(
        """
        pr view, pr diff, pr list, pr checks, pr status, issue view, issue list, issue status, run view, run list,
        repo view, repo list, release view, release list, workflow view, workflow list, auth status, label list,
        gist view, gist list, search prs, search issues, search code, search repos, search commits, status
        """,
        ",",
    ),
    "glab": word_set("mr view, mr diff, mr list, issue view, issue list, ci view, ci status, ci trace, repo view", ","),
    "docker": word_set(
        """
        ps, images, logs, inspect, stats, top, version, info, port, diff, history, events, search, container ls,
        container ps, container logs, container inspect, container top, image ls, image inspect, network ls,
        network inspect, volume ls, volume inspect, system df, system info, compose ps, compose logs, compose config,
        compose images, compose top, compose ls, compose version, context ls
        """,
        ",",
    ),
    "docker compose": word_set("ps logs config images top ls version"),
    "kubectl": word_set(
        "get, describe, logs, top, explain, version, api-resources, cluster-info, config view, events", ","
    ),
    "systemctl": word_set("status list-units list-unit-files list-timers is-active is-enabled is-failed show cat"),
    "tmux": word_set("capture-pane list-sessions ls list-windows list-panes has-session show-options"),
    "pip": word_set("list show freeze check"),
    "uv": word_set("pip list, pip show, pip freeze, pip tree, tree", ","),
    "npm": word_set("ls list ll root prefix"),
    "go": word_set("version env doc list"),
    "cargo": word_set("tree metadata version"),
    "brew": word_set("list info"),
    "apt": word_set("list show policy"),
}
"""Sub-commands that only show."""

_NULL = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "nul", "NUL", "$null"})
_INPUT = frozenset({"<", "<<", "<<-", "<<<", "<&"})
_AWK_CHANGES = re.compile(r"system\s*\(|>\s*\"|>>|\|\s*\"|print(?:(?!print)[^\n;}])*[^=!<>]>\s*[a-zA-Z_(]")
_SED_CHANGES = re.compile(r"(?:^|[;{\n]|\d|\$|/[a-zA-Z]*)[^\S\n]*[wW]\s+\S|(?:^|[;{\n0-9])e(?:\s|$)")
_FD = re.compile(r"[0-9]*-?\Z")


def only_reads(commands: tuple[Simple, ...]) -> bool:
    """Whether every command only shows what is there already, and one of them does show something."""
    shows = False
    for simple in commands:
        if any(_writes(redirect) for redirect in simple.redirects):
            return False
        name = simple.program
        if not name or name in NEUTRAL:
            continue
        if not _is_reader(name, simple.words):
            return False
        shows = True
    return shows


def _is_reader(name: str, words: tuple[Word, ...]) -> bool:
    row = family(name)
    if row in SUBCOMMANDS:
        return _is_reading_subcommand(row, words)
    if name == "base64":
        return any(word.text in ("-d", "-D", "--decode", "-di") for word in words)
    if name not in READERS:
        return False
    table = program(name)
    changers = CHANGERS.get(row, frozenset())
    if not changers and not table.output and row not in ("awk", "sed", "fd", "fdfind"):
        return True
    for argument in read_arguments(words, table):
        if argument.name in changers or argument.name in table.output:
            return False
        if row == "sed" and argument.name.startswith("-i"):
            return False
    if row in ("awk", "sed"):
        scripts = [word.text for word in words[1:] if word.text[:1] != "-"][:1]
        scripts += [after.text for word, after in pairwise(words) if word.text == "-e"]
        shape = _AWK_CHANGES if row == "awk" else _SED_CHANGES
        return not any(shape.search(script) for script in scripts)
    return True


def _is_reading_subcommand(row: str, words: tuple[Word, ...]) -> bool:
    operands: list[str] = []
    options: list[str] = []
    for argument in read_arguments(words, program(row)):
        if argument.name:
            options.append(argument.name)
            if argument.name in argument.program.output:
                return False
        elif argument.value is not None:
            operands.append(argument.value.text)
    if not operands:
        return bool(options) and options[0] in ("--version", "--help", "-h", "-V")
    known = SUBCOMMANDS[row]
    if operands[0] in known or " ".join(operands[:2]) in known:
        return True
    if row == "git":
        return _is_reading_git(operands, options)
    if row in ("gh", "glab") and operands[0] == "api":
        return not any(
            option in ("-X", "--method", "-f", "-F", "--field", "--raw-field", "--input") for option in options
        )
    return False


def _is_reading_git(operands: list[str], options: list[str]) -> bool:
    sub = operands[0]
    if sub in ("branch", "tag"):
        listing = all(option in _LISTED for option in options)
        return listing and (
            len(operands) == 1 or bool(set(options) & {"-l", "--list", "--contains", "--merged", "--no-merged"})
        )
    if sub == "remote":
        return len(operands) == 1
    if sub == "config":
        return bool(set(options) & {"--get", "--get-all", "--get-regexp", "-l", "--list"})
    return False


def _writes(redirect: Redirect) -> bool:
    if redirect.operator in _INPUT or redirect.target is None:
        return False
    text = redirect.target.text
    return text not in _NULL and not (redirect.operator == ">&" and _FD.match(text))


def _takes_output(redirect: Redirect) -> bool:
    return (
        redirect.operator not in _INPUT and redirect.fd != "2" and not (redirect.target and redirect.target.text == "2")
    )


def writes_status(commands: tuple[Simple, ...]) -> Literal["first", "last"] | None:
    """Where the output of a command that asks curl for the HTTP status has it: "first", or "last" behind the body."""
    for simple in commands:
        if family(simple.program) != "curl" or any(_takes_output(redirect) for redirect in simple.redirects):
            continue
        asks = elsewhere = False
        for argument in read_arguments(simple.words, program("curl")):
            name, value = argument.name, argument.value
            if name in ("-w", "--write-out") and value is not None:
                asks |= "%{http_code}" in value.text or "%{response_code}" in value.text
            elif name in ("-o", "--output", "-O", "--remote-name", "--remote-name-all"):
                elsewhere |= value is None or value.text not in ("-", "/dev/stdout")
        if asks:
            return "first" if elsewhere else "last"
    return None
