"""What examples/fleet/README.md promises: the script, the rights that are enough, TLS, and what is stored."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from keeping import RedisServer
from support import PATIENCE, ROOT, Server, environment, run, until

redis = pytest.importorskip("redis")

EXAMPLE = ROOT / "examples" / "fleet"
_numbers = count(1)


def test_the_script_stops_the_third_agent_until_a_person_lifts_the_budget(redis_server: RedisServer) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE / "fleet.py")],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any("the fleet spent 100,000" in line for line in lines if line.startswith(("one:", "two:")))
    told = [line for line in lines if line.startswith("three:")]
    assert told[0].startswith("three: stopped before step 1. LOOP_GUARD_FAMILY_BUDGET")
    assert told[1:3] == ["three: goes on", "three: step 1 of 10, 5,000 tokens; the fleet spent 5,000"]
    assert told[-1] == "three: done"
    assert "100,000 of 100,000 tokens (100 %)" in done.stdout
    assert "Took back the tokens spent by 4 agents" in done.stdout


def test_the_containers_run_what_is_there() -> None:
    yaml = pytest.importorskip("yaml")
    compose = yaml.safe_load((EXAMPLE / "compose.yaml").read_text())
    assert set(compose["services"]) == {"valkey", "one", "two", "three"}
    for name in ("one", "two", "three"):
        service = compose["services"][name]
        assert service["command"] == [name]
        assert (EXAMPLE / service["build"]["context"]).resolve() == ROOT
        assert (ROOT / service["build"]["dockerfile"]).exists()
        assert service["environment"]["TOOLBREAKER_STATE"] == "redis://valkey:6379/0"


@pytest.fixture
def restricted(redis_server: RedisServer) -> Iterator[str]:
    """The user that the README makes, with nothing else allowed on its namespace."""
    page = (EXAMPLE / "README.md").read_text()
    rule = re.search(r"`ACL SETUSER gate (.*?)`", page)
    assert rule
    admin = redis.Redis.from_url(redis_server.address)
    admin.execute_command("ACL", "SETUSER", "gate", *rule[1].replace("PASSWORD", "hunter2").split())
    yield redis_server.address.replace("redis://", "redis://gate@")
    admin.execute_command("ACL", "DELUSER", "gate")
    admin.close()


def test_the_rights_that_are_named_are_enough_for_one_namespace_and_for_no_other(restricted: str) -> None:
    secret = {"TOOLBREAKER_STATE_PASSWORD": "hunter2"}
    place = ["--state", restricted, "--namespace", "fleet"]
    with Server(*place, "--state-refresh-seconds", "0.05", "--family-max-tokens", "10", **secret) as server:
        server.call("userTurn", agent="fleet")
        server.call("agentStarted", agent="one", parent="fleet", kind="workflow", callId="c")
        server.call("usage", agent="one", inputTokens=10, requestId="r")
        assert server.call("guard", agent="one", tool="read", arguments={})["decision"] == "deny"
        server.call("agentEnded", agent="one")
        until(lambda: server.call("status")["state"]["queued"] == 0, "all was stored")
        state = server.call("status", agent="stranger")["state"]
        assert state["degraded"] is False
        assert "hunter2" not in json.dumps(state)
        assert server.close() == 0
        assert server.stderr() == ""
    assert b"last denials" in run("state", *place, **secret).stdout
    assert run("serve", "--once", *place, data=b'{"jsonrpc":"2.0","id":1,"method":"status"}', **secret).stderr == b""
    assert run("state", "reset", "fleet", "--budget", *place, **secret).returncode == 0
    assert run("state", "reset", "--all", *place, **secret).returncode == 0
    elsewhere = run("state", "--state", restricted, "--namespace", "other", **secret)
    assert elsewhere.returncode == 1
    assert b"hunter2" not in elsewhere.stderr


def test_nothing_but_names_sums_and_digests_is_stored(redis_server: RedisServer) -> None:
    namespace = f"kept-{next(_numbers)}"
    secret = "sk-live-0123456789abcdef"
    with Server("--state", redis_server.address, "--namespace", namespace, "--max-tokens", "10") as server:
        server.call("usage", inputTokens=10, requestId=f"request-{secret}")
        command = f"curl -H 'Authorization: Bearer {secret}' https://api.example/v1?token={secret}"
        call = {"tool": "bash", "arguments": {"command": command}}
        assert server.call("guard", callId="c1", **call)["decision"] == "deny"
        server.call("postExecute", **call, result={"isError": True, "content": f"a text with {secret}"})
        assert server.close() == 0
    db = redis.Redis.from_url(redis_server.address)
    kept = b"".join(bytes(key) + bytes(db.dump(key) or b"") for key in db.keys(f"toolbreaker:{{{namespace}}}:*"))
    db.close()
    assert b"main" in kept
    for text in (secret, "Authorization", "a text with"):
        assert text.encode() not in kept


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server that speaks TLS alone, and the certificate of its authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    make += ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    make += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(make, check=True, capture_output=True, timeout=PATIENCE)
    options = ["--tls-cert-file", str(certificate), "--tls-key-file", str(key), "--tls-auth-clients", "no"]
    try:
        server = RedisServer(*options, tls=True)
    except RuntimeError:
        pytest.skip("this server has no TLS")
    with server:
        yield f"rediss://localhost:{server.port}/0", certificate


def test_tls_is_spoken_and_the_certificate_is_checked(tls: tuple[str, Path]) -> None:
    address, certificate = tls
    with Server("--state", f"{address}?ssl_ca_certs={certificate}") as server:
        server.call("usage", inputTokens=5)
        assert server.call("status")["state"]["degraded"] is False
        assert server.close() == 0
    with Server("--state", address) as server:
        server.call("usage", inputTokens=5)
        until(lambda: "certificate verify failed" in server.stderr(), "it was refused")
        assert server.call("status")["state"]["degraded"] is True
