"""The command line itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support import PATIENCE, ROOT, command_line, environment, run

from protocol.about import VERSION
from protocol.cli import COMMANDS


def test_the_version_is_the_distributions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"toolbreaker {VERSION}\n".encode())


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_help_lists_the_commands(option: str) -> None:
    done = run(option)
    assert (done.returncode, done.stderr) == (0, b"")
    listed = {line.split()[0] for line in done.stdout.decode().splitlines() if line[:2] == "  " != line[2:4]}
    assert listed - {"--version"} == set(COMMANDS)
    assert "serve" in listed


def test_no_command_is_a_wrong_use() -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"usage:")


def test_a_command_that_is_not_there_names_the_nearest() -> None:
    done = run("sevre")
    assert (done.returncode, done.stdout) == (2, b"")
    assert "did you mean serve?" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--max-line-bytes", "x"], "--max-line-bytes: 'x' is not an integer of 1 or more"),
        (["serve", "--state-days", "soon"], "--state-days: 'soon' is not a positive number of days"),
        (["sweep", "--set", "failLimit=3", "-j", "-2", "."], "--jobs: '-2' is not an integer of 0 or more"),
        (["replay", "-j", "x", "."], "--jobs: 'x' is not an integer of 0 or more"),
        (["explain", "--call", "0", "x"], "--call: '0' is not an integer of 1 or more"),
        (["explain"], "give a COMMAND, or the arguments of a call as JSON on standard input"),
        (["replay", "--shaddow", "."], "unrecognized arguments: --shaddow (did you mean --shadow?)"),
        (["serve", "--sate=auto"], "unrecognized arguments: --sate=auto (did you mean --state?)"),
        (["explain", "--zzz", "ls"], "unrecognized arguments: --zzz\n"),
        (["state", "show"], "'show' (choose from 'reset')"),
        (["check-config", "a.json", "--config", "b.json"], "give one file, either FILE or --config"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_must_be(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
    assert len(done.stderr.splitlines()) < 5


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"check-config", "install", "uninstall"}))
def test_help_of_a_command_says_where_the_settings_are_listed(command: str) -> None:
    shown = run(command, "--help").stdout.decode()
    assert "`toolbreaker check-config --help`" in shown
    assert "--fail-limit" not in shown
    assert "--fail-limit" in run("check-config", "--help").stdout.decode()


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--help"], ["--version", "x"], [], ["nobody", "nothing"]])
def test_a_hook_ends_with_0_whatever_it_is_given(arguments: list[str]) -> None:
    assert run("hook", *arguments, data=b"nonsense").returncode == 0


BROKEN = """
import sys, types
module = types.ModuleType("protocol.commands.hook")
def configure(parser): {configure}
def run(args): {run}
module.configure, module.run = configure, run
sys.modules["protocol.commands.hook"] = module
"""


@pytest.mark.parametrize(
    ("configure", "body"),
    [
        ("raise RuntimeError('broken')", "return 0"),
        ("parser.add_argument('--needed', required=True)", "return 0"),
        ("pass", "raise RuntimeError('broken')"),
        ("pass", "raise SystemExit(2)"),
        ("pass", "raise KeyboardInterrupt"),
        ("pass", "return 2"),
    ],
)
def test_a_broken_hook_ends_with_0_too(configure: str, body: str) -> None:
    done = run("hook", prelude=BROKEN.format(configure=configure, run=body))
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("body", ["print('x' * 100_000)", "print('x', flush=True)", "print('x')", "1 / 0"])
def test_a_hook_whose_output_nobody_reads_ends_with_0(body: str) -> None:
    prelude = BROKEN.format(configure="pass", run=body)
    line = [sys.executable, "-c", f"{prelude}\nfrom protocol.cli import main\nsys.exit(main())", "hook"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(line, stdout=writing, stderr=writing, timeout=PATIENCE, env=environment(), check=False)
        assert done.returncode == 0
    finally:
        os.close(writing)


def test_another_package_of_our_name_is_noticed_and_named(tmp_path: Path) -> None:
    (tmp_path / "breaker").mkdir()
    (tmp_path / "breaker" / "__init__.py").write_text('"""A circuit breaker."""')
    done = run("serve", prelude=f"import sys\nsys.path.insert(0, {str(tmp_path)!r})")
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"the package `breaker` in {tmp_path / 'breaker'} is not" in done.stderr.decode()
    assert "pipx" in done.stderr.decode()


@pytest.mark.parametrize("name", ["breaker", "protocol"])
def test_another_package_installed_over_ours_is_noticed(tmp_path: Path, name: str) -> None:
    for package in ("breaker", "protocol"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / name / "__init__.py").write_text('"""Something else."""')
    done = run("serve", prelude=f"import sys\nsys.path.insert(0, {str(tmp_path)!r})")
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"the package `{name}`" in done.stderr.decode()


def test_a_source_tree_runs_as_a_module_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('hostile')")
    (tmp_path / "argparse.py").write_text("raise SystemExit('hostile')")
    done = subprocess.run(
        [sys.executable, "-m", "protocol", "--version"],
        capture_output=True,
        timeout=PATIENCE,
        env=environment(),
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"toolbreaker {VERSION}\n".encode())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["check-config"], ["explain", "ls"]])
def test_output_that_finds_no_room_is_said_in_a_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - unbuffered output to a device
        done = subprocess.run(
            command_line(*arguments), stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=20, check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == ["toolbreaker: cannot write: No space left on device"]


@pytest.mark.parametrize("command", ["serve", "state"])
def test_a_server_for_the_state_without_its_package_says_what_to_install(command: str) -> None:
    done = run(command, "--state", "redis://localhost", prelude="import sys\nsys.modules['redis'] = None")
    assert done.returncode == 2
    said = "needs the package redis: `pipx inject toolbreaker redis`, or pip install it beside toolbreaker"
    assert said in done.stderr.decode()


@pytest.mark.parametrize("command", ["serve", "state"])
def test_an_address_that_no_store_knows_is_refused(command: str, tmp_path: Path) -> None:
    done = run(command, "--state", "http://x/y", cwd=tmp_path)
    assert done.returncode == 2
    assert b"http://" in done.stderr
    assert list(tmp_path.iterdir()) == []
