"""Fuzz the targets, each for its share of the time, two at once. usage: run.py [--seconds N] [--jobs N] [TARGET …]

With atheris the fuzzer is guided by coverage; where it does not install, Hypothesis makes the inputs. What a target
does not survive is written to `found/` beside this file, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOUND = HERE / "found"
LONGEST = 16_384
"""Bytes of an input. What is slow with more shows as a slope below that already."""
SLOW_SECONDS = 10
"""For one input. Under the fuzzer's instruments the code is some ten times slower than without."""


def main() -> int:
    sys.path[:0] = [str(HERE.parent.parent)]
    sys.path[:0] = [str(HERE)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="for all targets together (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine", choices=("atheris", "hypothesis"))
    parser.add_argument("--corpus", type=Path, help="keep what the fuzzer learns here, for the next time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*")
    args = parser.parse_args()
    engine = args.engine or ("atheris" if _has_atheris() else "hypothesis")
    if args.worker:
        return _work(args.targets[0], args.seconds, engine, args.corpus)
    from targets import TARGETS

    unknown = set(args.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    names = args.targets or list(TARGETS)
    share = max(5.0, args.seconds * args.jobs / len(names))
    print(f"{engine}, {len(names)} targets, {share:.0f} s each, {args.jobs} at once", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        statuses = list(pool.map(lambda name: _one(name, share, engine, args.corpus), names))
    return int(any(statuses))


def _one(name: str, seconds: float, engine: str, corpus: Path | None) -> int:
    command = [sys.executable, __file__, "--worker", "--engine", engine, "--seconds", str(seconds), name]
    if corpus:
        command[2:2] = ["--corpus", str(corpus)]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    tail = [line for line in done.stderr.splitlines() if line.strip()]
    summary = next((line.strip() for line in reversed(tail) if "cov:" in line or "examples" in line), "")
    state = "ok" if done.returncode == 0 else f"FAILED ({done.returncode})"
    print(f"{name:24} {state}  {time.monotonic() - started:.0f} s  {summary}", flush=True)
    if done.returncode:
        print("\n".join(tail[-60:]), flush=True)
    return done.returncode


def _work(name: str, seconds: float, engine: str, corpus: Path | None) -> int:
    if engine == "atheris":
        return _atheris(name, seconds, corpus)
    return _hypothesis(name, seconds)


def _has_atheris() -> bool:
    from importlib.util import find_spec

    return find_spec("atheris") is not None


def _atheris(name: str, seconds: float, corpus: Path | None) -> int:
    import atheris

    with atheris.instrument_imports(include=["breaker", "protocol"]):
        from targets import TARGETS, seeds
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = corpus / name if corpus else Path(folder, "corpus")
        kept.mkdir(parents=True, exist_ok=True)
        for data in seeds(name):
            (kept / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        options = [
            sys.argv[0],
            str(kept),
            f"-max_total_time={seconds:.0f}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOW_SECONDS}",
            "-rss_limit_mb=2048",
            "-len_control=20",
            f"-dict={HERE / 'words.dict'}",
            f"-artifact_prefix={FOUND / name}-",
            "-print_final_stats=0",
        ]
        atheris.Setup(options, TARGETS[name])
        atheris.Fuzz()  # ends the process
    return 0


def _hypothesis(name: str, seconds: float) -> int:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from targets import TARGETS, seeds

    known = seeds(name) or [b""]
    pieces = sorted({piece for data in known for piece in data.split() if len(piece) < 200}) or [b""]
    mutated = st.builds(
        lambda data, at, cut, new: data[: (at := at % (len(data) + 1))] + b" ".join(new) + data[at + cut :],
        st.sampled_from(known),
        st.integers(0, LONGEST),
        st.integers(0, 64),
        st.lists(st.sampled_from(pieces) | st.binary(max_size=8), max_size=8),
    )
    deadline = time.monotonic() + seconds
    tried = 0

    @settings(
        max_examples=1_000,
        deadline=SLOW_SECONDS * 1000,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(st.binary(max_size=512) | mutated)
    def feed(data: bytes) -> None:
        nonlocal tried
        tried += 1
        try:
            TARGETS[name](data)
        except Exception:
            FOUND.mkdir(exist_ok=True)
            (FOUND / f"{name}-crash-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise

    while time.monotonic() < deadline:
        feed()
    print(f"{tried} examples", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
