"""Compression, damage, unknown files: nothing that a file holds makes a reader raise anything but its own error."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.readers import RecordingError, Session, open_recording
from protocol.readers import source as source_module
from protocol.readers.mini_swe_agent import fenced
from protocol.readers.source import decode

DATA = Path(__file__).parent / "data"
EXCERPTS = {path.name: path.read_bytes() for path in sorted(DATA.iterdir())}


def read(data: bytes, format: str | None = None) -> list[tuple[Session, int]]:  # noqa: A002
    return [(session, sum(1 for _ in session.messages)) for session in open_recording(io.BytesIO(data), format)]


class TestCompression:
    def test_gzip_is_found_by_its_magic_number(self, tmp_path: Path) -> None:
        (tmp_path / "plain-name").write_bytes(gzip.compress(EXCERPTS["codex.jsonl"]))
        ((_, count),) = [(s, len(list(s.messages))) for s in open_recording(tmp_path / "plain-name")]
        assert count == read(EXCERPTS["codex.jsonl"])[0][1]

    def test_several_frames_of_zstd_are_one_file(self) -> None:
        zstandard = pytest.importorskip("zstandard")
        frames = [zstandard.ZstdCompressor().compress(line) for line in EXCERPTS["dsh.jsonl"].splitlines(keepends=True)]
        assert read(b"".join(frames))[0][1] == read(EXCERPTS["dsh.jsonl"])[0][1]

    def test_without_the_package_the_error_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "zstandard", None)
        with pytest.raises(RecordingError, match="needs the package zstandard: `pipx inject toolbreaker zstandard`"):
            read(b"\x28\xb5\x2f\xfd" + bytes(20))

    @pytest.mark.parametrize("cut", [1, 40, 400])
    def test_a_stream_that_breaks_off_gives_what_came_before(self, cut: int) -> None:
        many = b"".join(
            json.dumps({"role": "user", "content": f"{random.Random(number).random()}"}).encode() + b"\n"
            for number in range(300)
        )
        ((session, count),) = read(gzip.compress(many)[:-cut])
        assert 0 < count <= 300
        assert session.notes.skipped >= 1

    @pytest.mark.parametrize("magic", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"])
    def test_a_magic_number_before_noise_is_refused(self, magic: bytes) -> None:
        with pytest.raises(RecordingError, match="cannot be decompressed"):
            read(magic + b"noise" * 20)


class TestLines:
    def test_bom_crlf_and_blank_lines_are_no_fault(self) -> None:
        data = b"\xef\xbb\xbf" + EXCERPTS["codex.jsonl"].replace(b"\n", b"\r\n\r\n")
        ((session, count),) = read(data)
        assert count == read(EXCERPTS["codex.jsonl"])[0][1]
        assert session.notes.skipped == 0

    def test_utf16_from_a_redirected_shell(self) -> None:
        data = EXCERPTS["opencode.json"].decode().encode("utf-16")
        assert read(data)[0][1] == read(EXCERPTS["opencode.json"])[0][1]

    def test_an_unreadable_line_is_counted_and_said(self) -> None:
        lines = EXCERPTS["claude-code.jsonl"].splitlines(keepends=True)
        ((session, _),) = read(b"".join([*lines[:5], b'{"type":"user","message":\n', *lines[5:], b'{"cut off']))
        assert session.notes.skipped == 2
        assert session.notes.samples[0].startswith("line 6: not JSON")

    def test_a_backslash_that_escapes_nothing_is_mended(self) -> None:
        ((session, count),) = read(b'{"role":"user","content":"a\\dev \\ud83d \\\\n"}\n{"role":"user","content":"b"}\n')
        assert count == 2
        assert session.notes.mended == 1
        assert decode(b'"a\\dev \\ud83d \\\\d \\ud83d\\ude00"') == "a\\dev \ufffd \\d \U0001f600"

    def test_files_joined_without_a_line_end_lose_no_row(self) -> None:
        rows = EXCERPTS["codex.jsonl"].splitlines()
        joined = b"\n".join([*rows[:4], rows[4] + rows[5], *rows[6:]])
        ((session, count),) = read(joined)
        assert count == read(EXCERPTS["codex.jsonl"])[0][1]
        assert (session.notes.skipped, session.notes.mended) == (0, 1)

    def test_a_line_beyond_the_limit_is_skipped_without_being_held(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(source_module, "MAX_LINE", 100)
        row = b'{"role":"user","content":"x"}\n'
        ((session, count),) = read(row + b'{"role":"user","content":"' + b"x" * 1000 + b'"}\n' + row)
        assert count == 2
        assert session.notes.skipped == 1

    def test_reading_a_long_file_holds_one_line_at_a_time(self) -> None:
        class Endless(io.RawIOBase):
            """Ten million user turns, made as they are read."""

            left, made = 10_000_000, 0

            def readable(self) -> bool:
                return True

            def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
                row = b'{"role":"user","content":"x"}\n'
                rows = min(self.left, len(buffer) // len(row))
                buffer[: rows * len(row)] = row * rows
                self.left -= rows
                self.made += rows
                return rows * len(row)

        stream = Endless()
        (session,) = [next(open_recording(io.BufferedReader(stream), name="endless"))]
        for _ in range(1000):
            next(session.messages)
        assert stream.made < 20_000


class TestUnknown:
    @pytest.mark.parametrize(
        "data", [b"", b"\n\n", b"hello\n", b'{"a": 1}', b"[1, 2]", b"\x00\x01\x02", b'{"a":1}\n{"b":2}\n']
    )
    def test_the_error_says_what_was_tried(self, data: bytes) -> None:
        with pytest.raises(RecordingError, match=r"tried: .*claude-code.*codex|empty"):
            read(data)

    def test_a_missing_file_and_an_unknown_format_name(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match="No such file"):
            list(open_recording(tmp_path / "none"))
        with pytest.raises(RecordingError, match=r"no format; known are: .*codex"):
            list(open_recording(DATA / "codex.jsonl", "codexx"))

    def test_a_session_that_is_read_too_late_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "long").write_bytes(b'{"role":"user","content":"x"}\n' * 1000)
        (session,) = open_recording(tmp_path / "long")
        with pytest.raises(RecordingError, match="before the next one is asked for"):
            list(session.messages)

    def test_a_named_format_reads_what_no_rule_would_find(self) -> None:
        assert read(b'{"weird": true}\n{"type":"tool/call","data":{"callId":"a","name":"b"}}\n', "dsh")[0][1] == 1

    def test_words_that_a_terminal_put_before_a_document_do_not_matter(self) -> None:
        data = b"Exporting session: ses_1\n" + EXCERPTS["opencode.json"]
        assert read(data)[0][1] == read(EXCERPTS["opencode.json"])[0][1]

    def test_a_document_on_each_line_is_a_session_each(self) -> None:
        one = json.dumps(json.loads(EXCERPTS["mini-swe-agent.traj.json"])).encode() + b"\n"
        assert [session.format for session, _ in read(one * 3)] == ["mini-swe-agent"] * 3

    def test_the_middle_of_a_file_is_enough(self) -> None:
        ((session, count),) = read(EXCERPTS["claude-code.jsonl"][3000:])
        assert session.format == "claude-code"
        assert count > 5


@pytest.mark.parametrize("name", EXCERPTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_damaged_recordings_never_raise(name: str, data: st.DataObject) -> None:
    """Bytes changed, cut out, doubled; whatever comes out is read or refused, and `at` stays a number or null."""
    damaged = bytearray(EXCERPTS[name])
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, max(0, len(damaged) - 1)))
        stop = min(len(damaged), start + data.draw(st.integers(0, 300)))
        kind = data.draw(st.sampled_from(("cut", "double", "noise", "end")))
        if kind == "cut":
            del damaged[start:stop]
        elif kind == "double":
            damaged[start:start] = damaged[start:stop]
        elif kind == "noise":
            damaged[start:stop] = data.draw(st.binary(max_size=12))
        else:
            del damaged[start:]
    harmless(bytes(damaged))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", EXCERPTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_members_of_the_wrong_type_never_raise(name: str, data: st.DataObject) -> None:
    """A value anywhere in the recording is replaced by any other."""
    text = EXCERPTS[name]
    rows = [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else [json.loads(text)]
    for _ in range(data.draw(st.integers(1, 4))):
        holder = data.draw(st.sampled_from(rows))
        for _ in range(12):
            places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not places:
                break
            place = data.draw(st.sampled_from(places))
            if isinstance(holder[place], dict | list) and holder[place] and data.draw(st.integers(0, 3)):
                holder = holder[place]
                continue
            holder[place] = data.draw(JSON)
            break
    harmless(b"\n".join(json.dumps(row).encode() for row in rows))


def harmless(data: bytes) -> None:
    with contextlib.suppress(RecordingError):
        for session in open_recording(io.BytesIO(data)):
            for method, params in session.messages:
                assert isinstance(params, dict)
                if session.format not in ("requests", "record", "sessions"):
                    assert params["at"] is None or isinstance(params["at"], int | float)
                    assert isinstance(params["agent"], str)
                    if method in ("guard", "postExecute"):
                        assert isinstance(params["callId"], str)
                        assert params["callId"]


def test_searches_in_long_texts_stay_linear() -> None:
    """200 kB of the worst text for a pattern takes a blink."""
    begun = time.process_time()
    fenced("```bash\n" * 25_000)
    for words in ("<execute_command>" * 12_000, "[a for '" * 25_000, "<a>" * 66_000):
        rows = json.dumps(
            [
                {"role": "user", "content": [{"type": "text", "text": "<task>x"}]},
                {"role": "assistant", "content": [{"type": "text", "text": words}]},
                {"role": "user", "content": [{"type": "text", "text": words}]},
            ]
        )
        read(rows.encode())
    assert time.process_time() - begun < 2
