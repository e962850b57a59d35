"""The page, in a real browser where there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Browser
from recorded import Made
from support import run

from breaker.settings import preset
from protocol.readers import Session
from protocol.replay.judge import judge_session
from protocol.replay.page import embedded, page
from protocol.replay.report import Total

STANDARD = preset("standard")
HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)>{{x}}\u2028\u202e\x1b[31m&amp;'


def built(*sessions: Session) -> str:
    reports, total = [], Total()
    for session in sessions:
        reports.append(judge_session(session, STANDARD))
        total.add(reports[-1])
    return page(reports, total, STANDARD)


def sessions() -> Iterator[Session]:
    loop = Made().turn().runs("make check", 14)
    loop.add("agentStarted", agent="kid", parent="main", kind="subagent")
    loop.agent = "kid"
    loop.runs("ls", 2, exit_code=1)
    yield loop.session("the-loop", "fail")
    yield Made().turn().runs("ls").runs("pytest -q", 3, exit_code=1).session("the-work", "success")
    asked = Made().turn().runs("make check", 11)
    call_id = asked.guard("make check")
    asked.add("approval", callId=call_id, outcome="approved").settle(call_id)
    yield asked.session("the-asked", "success")
    yield Made().turn().session("empty")
    yield Made().turn().runs(f"echo {HOSTILE}", 13).session(HOSTILE, HOSTILE)


class TestText:
    def test_no_markup_comes_out_of_a_recording(self) -> None:
        text = built(*sessions())
        assert text.count("<script") == 2
        assert text.count("</script>") == 2
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
        assert data
        assert not set("<>&") & set(data[1])
        assert data[1].isascii()
        assert json.loads(data[1])["sessions"][4]["name"] == HOSTILE

    def test_lone_surrogates_do_not_matter(self) -> None:
        assert json.loads(embedded(["\ud83d", "</script>"])) == ["\ud83d", "</script>"]
        built(Made().turn().runs("echo \ud83d").session("\ud83d")).encode("utf-8")

    def test_the_page_asks_the_network_for_nothing(self) -> None:
        text = built(*sessions())
        template = text[: text.index('<script type="application/json"')] + text[text.rindex("<script>") :]
        assert not re.findall(r"""(?:src|href|url|@import|fetch|XMLHttpRequest|import)\s*[=(]""", template)
        assert re.findall(r"https?://[^\"']+", template) == ["http://www.w3.org/2000/svg"]
        assert "default-src 'none'" in template

    def test_the_command_writes_it(self, tmp_path: Path) -> None:
        recording = tmp_path / "r.jsonl"
        recording.write_text(
            json.dumps({"session": "a", "outcome": None, "messages": Made().turn().runs("ls").messages})
        )
        done = run("replay", "--html", str(tmp_path / "out.html"), str(recording))
        assert done.returncode == 0, done.stderr.decode()
        assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")
        assert done.stdout.decode().startswith(f"{tmp_path / 'out.html'}: 1 session,")
        assert run("replay", "--html", str(tmp_path / "no" / "out.html"), str(recording)).returncode == 1


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(built(*sessions()), "utf-8")
    with Browser() as opened:
        opened.look()
        opened.open(path)
        yield opened
        assert opened.errors == []
        assert [url for url in opened.requests if not url.startswith("file:")] == []


class TestBrowser:
    def names(self, browser: Browser) -> Any:
        return browser.run("[...document.querySelectorAll('td.name button')].map(b => b.textContent)")

    def type(self, browser: Browser, field: str, value: str) -> None:
        browser.run(f"$('{field}').value = '{value}'; $('{field}').dispatchEvent(new Event('input'))")

    def open(self, browser: Browser, name: str) -> None:
        browser.run("if (state.open) toggle(state.open)")
        browser.run(f"toggle(sessions.find(s => s.name === {json.dumps(name)}))")

    def test_totals_and_a_row_a_session(self, browser: Browser) -> None:
        cards = browser.run("document.getElementById('cards').innerText")
        assert re.sub(r"\s+", " ", cards).startswith("5 sessions 45 tool calls")
        assert browser.run("document.querySelectorAll('tr.row').length") == 5
        assert browser.run("document.title") == "What the gate would have said"

    def test_columns_sort_and_say_so(self, browser: Browser) -> None:
        head = "document.querySelectorAll('#heads button')"
        browser.run(f"[...{head}].find(b => b.textContent.startsWith('calls')).click()")
        assert browser.run("document.querySelector('[aria-sort=descending]').innerText.trim()") == "calls ↓"
        assert self.names(browser)[0] == "the-loop"
        browser.run(f"[...{head}].find(b => b.textContent.startsWith('calls')).click()")
        assert self.names(browser)[0] == "empty"

    def test_words_outcomes_and_stops_filter(self, browser: Browser) -> None:
        self.type(browser, "find", "pytest")
        assert self.names(browser) == ["the-work"]
        assert browser.run("document.getElementById('shown').textContent") == "1 of 5"
        self.type(browser, "find", "")
        stopped = "document.getElementById('only-stopped')"
        browser.run(f"{stopped}.click()")
        assert len(self.names(browser)) == 2
        browser.run(f"{stopped}.click()")
        self.type(browser, "outcome", "success")
        assert sorted(self.names(browser)) == ["the-asked", "the-work"]
        self.type(browser, "outcome", "*")

    def test_somebody_who_knows_nothing_reads_why_call_12_was_stopped(self, browser: Browser) -> None:
        self.open(browser, "the-loop")
        why = browser.run("document.querySelector('.why').innerText")
        assert "Call 12: bash" in why
        assert "It would have been stopped." in why
        assert (
            "This is the 12th time in the last 16 calls of this agent that it does the same: cmd:make:make check. "
            "The limit is 12." in why
        )
        assert "The same was done in calls 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11." in why
        assert "The model would have got this in place of a result" in why
        assert "REPEAT_TOOL_BLOCKED" in why
        assert "nobody is there in a replay" in why
        rules = browser.run("document.getElementById('rules').innerText")
        assert "At the 7th the model is told that it repeats itself." in rules

    def test_the_timeline_has_a_lane_an_agent_and_a_colour_a_verdict(self, browser: Browser) -> None:
        self.open(browser, "the-loop")
        assert browser.run(
            "[...document.querySelectorAll('svg text.name')].map(t => t.firstChild.data).slice(0, 2)"
        ) == [
            "main",
            "kid",
        ]
        looks = browser.run("[...document.querySelectorAll('g.call[data-number]')].map(g => g.classList[1])")
        assert looks == ["ran"] * 11 + ["stop"] * 3 + ["failed"] * 2
        assert browser.run("document.querySelectorAll('g.call[data-number] .tip').length") == 2
        colours = browser.run(
            "['ran', 'stop', 'failed'].map(look => document.querySelector(`g.${look}[data-number] rect:not(.halo)`))"
            ".map(rect => getComputedStyle(rect).fill)"
        )
        assert len(set(colours)) == 3
        self.open(browser, "the-asked")
        assert browser.run("document.querySelector('g.call[data-number=\"12\"]').classList.contains('granted')")

    def test_the_curve_climbs_to_its_stages_and_its_limit(self, browser: Browser) -> None:
        self.open(browser, "the-loop")
        labels = browser.run("[...document.querySelectorAll('svg[role=img] text')].map(t => t.textContent)")
        assert labels[:3] == ["stop at 12", "summarize 11", "warn 7"]
        titles = browser.run("[...document.querySelectorAll('svg[role=img] g title')].map(t => t.textContent)")
        assert titles[0] == "call 1: the 1st"
        assert titles[11:] == ["call 12: the 12th, stopped", "call 13: the 13th, stopped", "call 14: the 14th, stopped"]

    def test_the_keyboard_walks_along_the_calls(self, browser: Browser) -> None:
        self.open(browser, "the-loop")
        browser.run("document.querySelector('g.call.chosen').focus()")
        browser.key("ArrowLeft")
        assert "Call 11: bash" in browser.run("document.querySelector('.why').innerText")
        assert "The model would have been told this with the result (summarize)" in browser.run(
            "document.querySelector('.why').innerText"
        )
        browser.key("End")
        assert browser.run("document.activeElement.dataset.number") == "16"
        assert browser.run("document.querySelectorAll('g.call[tabindex=\"0\"]').length") == 1

    def test_hostile_text_stays_text(self, browser: Browser) -> None:
        browser.run(f"toggle(sessions.find(s => s.name.startsWith({json.dumps(HOSTILE[:20])})))")
        assert browser.run("document.querySelectorAll('img').length") == 0
        assert browser.run("document.title") == "What the gate would have said"
        text = browser.run("document.querySelector('.session').innerText")
        assert '</script><script>document.title="owned"</script>' in text
        assert "\u202e" not in text
        assert "\x1b" not in text

    @pytest.mark.parametrize("dark", [False, True])
    @pytest.mark.parametrize("width", [1280, 390, 320])
    def test_it_fits_every_width_in_light_and_dark(self, browser: Browser, width: int, dark: bool) -> None:
        browser.look(width=width, dark=dark)
        self.open(browser, "the-loop")
        assert browser.run("document.documentElement.scrollWidth") <= width
        background = browser.run("getComputedStyle(document.body).backgroundColor")
        assert background == ("rgb(20, 23, 26)" if dark else "rgb(251, 251, 250)")
        contrast = browser.run(_CONTRAST)
        assert min(contrast.values()) >= 4.5, contrast
        browser.look()


_CONTRAST = """(() => {
  const linear = value => (value /= 255) <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4;
  const luminance = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(linear);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = node => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)|transparent/.test(colour)) return colour;
    }
  };
  const ratio = node => {
    const one = luminance(getComputedStyle(node).color), other = luminance(behind(node));
    return (Math.max(one, other) + .05) / (Math.min(one, other) + .05);
  };
  const places = ["h1", "#lead", ".cards .bad b", "#shown", "td.name button", ".session .dim", "pre", ".why p"];
  return Object.fromEntries(places.map(place => [place, ratio(document.querySelector(place))]));
})()"""
"""The contrast of text to what is behind it, as WCAG 2 counts it, at some places."""
