"""Programs by what they do to the world, where `shell.readers` does not tell that they only look."""

from __future__ import annotations

from breaker.evidence.classes import Kind
from breaker.word_set import word_set

DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"})
"""Where a redirection changes nothing."""

FILE_READERS = word_set("cat head tail sed nl less more bat batcat awk tac zcat od xxd hexdump strings")
"""Programs that show a file, or a part of it."""

SEARCHERS = word_set("grep egrep fgrep zgrep rg ag ack journalctl")
"""Programs that show lines of files or logs."""

SPEAKS_AS = {"zcat": "gzip", "zgrep": "gzip"}
"""Programs whose errors begin with another name."""

NAMELESS = frozenset({"less", "more"})
"""Programs whose errors begin with no name."""

DUMPERS = frozenset({"xxd", "hexdump", "od"})
"""Programs that show a part of a file by its bytes."""

LISTINGS = word_set("ls tree find fd fdfind exa eza dir du stat file")
"""Programs that show what is in a directory."""

LOOKS = word_set(
    """
    arch cal nslookup dig host ping traceroute ncdu scc getent sw_vers mdfind plutil otool pdftotext exiftool identify
    ffprobe glow htop iostat vmstat w3m lynx sqlite_analyzer test-path get-content get-childitem select-string get-item
    get-process get-location gci gc gh-dash
    """
)
"""Programs that only look, beyond the readers of scripts."""

FETCHERS = word_set("curl wget http https xh xhs httpie aria2c lynx iwr irm invoke-webrequest")

MUTATORS = word_set(
    """
    rm rmdir mv cp mkdir touch chmod chown chgrp ln install dd truncate shred patch apply_patch tee rsync scp sftp
    tar zip
    unzip gzip gunzip bzip2 xz 7z ed ex vim vi nano emacs kill pkill killall reboot shutdown useradd usermod passwd
    mount
    umount crontab mkfs parted apt apt-get aptitude yum dnf apk pacman brew snap pip pip3 gem composer sed perl-inplace
    set-content add-content out-file new-item remove-item copy-item move-item rename-item stop-process
    """
) - {"sed", "perl-inplace"}
"""Programs that change what stays."""

EDITORS = word_set(
    "sed perl awk ed ex patch apply_patch tee python python3 node ruby jq yq php deno lua osascript pwsh powershell "
    "psql mysql mariadb sqlite3 duckdb clickhouse-client mongosh mongo redis-cli cqlsh bq "
    "ssh mosh docker podman kubectl oc vagrant adb fly heroku screen"
)
"""Programs whose words are scripts or content, not remarks about what they do."""

IN_PLACE = frozenset({"sed", "perl", "tee"})
"""Programs that write what their words say, when they write."""

SLEEPERS = frozenset({"sleep", "start-sleep"})

TESTS = frozenset({"test", "[", "[["})
"""Commands that look without showing anything."""

HELP = frozenset({"--help", "--version", "-V"})


def _rows(default: Kind = "run", **kinds: str) -> dict[str, Kind]:
    rows: dict[str, Kind] = {"": default}
    for kind, names in kinds.items():
        rows |= {name.replace("_", " "): kind for name in names.split()}  # type: ignore[misc]  # the names are kinds
    return rows


DEEDS: dict[str, dict[str, Kind]] = {
    "git": _rows(
        "mutate",
        read="ls-remote fsck submodule_status",
        run="bisect_run gc",
    ),
    "gh": _rows("act", read="run_watch pr_checks search"),
    "glab": _rows("act", read="api"),
    "docker": _rows(
        mutate="rm rmi stop kill start restart pull push tag create cp rename prune commit load import login volume "
        "network "
        "system compose_up compose_down compose_restart compose_rm compose_stop compose_start compose_pull",
    ),
    "docker compose": _rows(mutate="up down restart rm stop start pull"),
    "kubectl": _rows(
        read="rollout_status rollout_history auth diff config",
        mutate="apply delete create edit patch scale rollout set label annotate cordon drain expose run replace "
        "taint cp",
    ),
    "systemctl": _rows("mutate"),
    "service": _rows("mutate"),
    "npm": _rows(
        read="view info outdated audit search config why explain",
        mutate="install i ci add remove uninstall update upgrade link publish version dedupe prune rebuild",
    ),
    "cargo": _rows(read="search locate-project", mutate="add remove install uninstall update publish fmt fix clean "
    "new init"),
    "go": _rows(mutate="get mod install fmt clean generate work"),
    "uv": _rows(mutate="add remove sync lock pip venv init tool"),
    "poetry": _rows(read="show check env_info", mutate="add remove install update lock"),
    "conda": _rows(read="list info env_list search", mutate="install create remove update env"),
    "tmux": _rows(
        read="display-message show-buffer",
        act="send-keys kill-session kill-window kill-pane kill-server new-session new-window split-window select-pane",
    ),
    "terraform": _rows(
        read="plan show validate output state_list state_show providers version graph", mutate="apply destroy init "
        "import taint fmt"
    ),
    "helm": _rows(
        read="list status get history show search template lint version", mutate="install upgrade uninstall "
        "rollback repo"
    ),
}  # fmt: skip
"""Programs whose sub-command says what they do, where it does more than show: `x y` is a sub-command of a
sub-command."""
for _alias, _name in {"pnpm": "npm", "yarn": "npm", "bun": "npm", "mamba": "conda"}.items():
    DEEDS[_alias] = DEEDS[_name]

_SHORT = word_set(
    "--stat --shortstat --numstat --name-only --name-status --summary --compact-summary --dirstat --quiet --exit-code"
)

OVERVIEWS: dict[str, dict[str, frozenset[str]]] = {
    "git": {
        "status": frozenset(),
        "diff": _SHORT,
        "diff-index": _SHORT,
        "diff-files": _SHORT,
        "ls-files": word_set("--modified -m --others -o --deleted -d"),
        "branch": frozenset(),
        "stash": frozenset(),
    },
}
"""Commands that show in short where a repository stands, with the options (one of them) that make them do so."""
