"""Every setting as people meet it: one table for validation, for names in the environment, for `check-config`
and for the documentation.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from breaker.adaptive_limits import NAMES
from breaker.evidence.classes import KINDS
from breaker.settings import PROFILES, Settings

Shape = Literal[
    "flag",
    "choice",
    "integer",
    "number",
    "words",
    "integers",
    "wordMap",
    "wordsMap",
    "integerMap",
    "limitMap",
    "switchMap",
    "choiceMap",
]
Off = Literal["never", "null", "zero"]

LARGEST = 2**53 - 1
"""The largest integer that every JSON client can write exactly: what bounds an integer without a `high`."""


class Setting(Struct, frozen=True, kw_only=True):
    """One setting as people meet it.

    `shape` says what a value looks like, `low` and `high` bound its numbers (`above` is exclusive), and
    `off` says what turns it off: nothing, `null` alone, or also 0 and negative numbers.
    `reason` says where the default comes from.
    """

    name: str
    shape: Shape
    meaning: str
    reason: str
    low: int | None = None
    high: int | None = None
    above: int | None = None
    off: Off = "never"
    choices: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """The name in `Settings`."""
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in self.name)

    @property
    def variable(self) -> str:
        """The name in the environment."""
        return f"TOOLBREAKER_{self.attribute.upper()}"

    @property
    def default(self) -> Any:
        """The value in the profile `standard`."""
        return getattr(_STANDARD, self.attribute)


_STANDARD = Settings()
_TRACKS = "as in dsh-repeat-tool-breaker"
_GUARD = "as in dsh-loop-guard"
_OFF_REPEAT = f"off in `standard`, where the tracks do this; in `loop-guard` {_GUARD}"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="enabled",
        shape="flag",
        meaning="false: every call is allowed and nothing is counted",
        reason="a gate that is installed is meant to work",
    ),
    Setting(
        name="shadow",
        shape="flag",
        meaning="judge and report everything, stop nothing; `toolbreaker state` shows what would have been stopped",
        reason="off: watching alone saves nothing",
    ),
    Setting(
        name="profile",
        shape="choice",
        choices=tuple(PROFILES),
        meaning="the set of rules and numbers that the other settings start from",
        reason="`adaptive` unless one is named: it alone lets work repeat a call as long as that brings something new",
    ),
    Setting(
        name="window",
        shape="integer",
        low=4,
        high=10_000,
        meaning="how many of an agent's last calls are looked back on",
        reason=f"{_TRACKS}; at most 10 000, which is more calls than a session has",
    ),
    Setting(
        name="onLimit",
        shape="choice",
        choices=("ask", "deny"),
        meaning="at a limit of the tracks: ask the operator, or deny at once",
        reason="asking is safe: where nobody answers it becomes a denial",
    ),
    Setting(
        name="warnAt",
        shape="integer",
        low=1,
        off="zero",
        meaning="the repetition at which the agent is told that it repeats itself",
        reason="of 109 recorded sessions those that went well repeated at most 6 times",
    ),
    Setting(
        name="summarizeAt",
        shape="integer",
        low=1,
        off="zero",
        meaning="the repetition at which the agent must write down what it knows and what is untried",
        reason="the last one before the limits, which speak first",
    ),
    Setting(
        name="failWarnAt",
        shape="integer",
        low=1,
        off="zero",
        meaning="the consecutive failure at which the agent is told to read the error",
        reason="of 107 recorded sessions 9 came to 3, none that went well did",
    ),
    Setting(
        name="failLimit",
        shape="number",
        low=2,
        off="null",
        meaning="after so many consecutive failures the next call with that identity is stopped",
        reason="of 107 recorded sessions 5 came to 5",
    ),
    Setting(
        name="limits",
        shape="limitMap",
        low=2,
        off="null",
        meaning="the repetition that is stopped, by kind of identity or by one exact identity; "
        "null turns both tracks off for it",
        reason="12: less stopped ordinary edit and test cycles; host 16: it is coarser; site, family and "
        "verb off: volume cannot tell a crawl from progress",
    ),
    Setting(
        name="exclude",
        shape="words",
        meaning="tools that neither count nor reset, `*` is a wildcard",
        reason="a plan that is rewritten often is no loop",
    ),
    Setting(
        name="include",
        shape="words",
        meaning="when not empty, the only tools that count, `*` is a wildcard",
        reason="empty: every tool can loop",
    ),
    Setting(
        name="localHosts",
        shape="choice",
        choices=("deny", "allow"),
        meaning="allow: a call whose URLs are all local is known by its tool and command alone",
        reason=_TRACKS,
    ),
    Setting(
        name="includeLocal",
        shape="flag",
        meaning="whether local hosts have a `host:` identity",
        reason="off: a development server is called often without any loop",
    ),
    Setting(
        name="ignoreArgs",
        shape="wordsMap",
        meaning="arguments that do not make another call, by tool; `*` for all tools, `@shell` for shell "
        "tools, and a tool's own list is added to theirs",
        reason="models vary what is only shown to people, and time-outs, between equal calls",
    ),
    Setting(
        name="contentArgs",
        shape="words",
        meaning="arguments that count nevertheless, whatever `ignoreArgs` says under `*`, for tools that "
        "write or create",
        reason="the title of a new issue is what it says",
    ),
    Setting(
        name="hostAliases",
        shape="wordMap",
        meaning="host names that stand for another host; an alias to itself undoes one",
        reason=f"the pair {_TRACKS}",
    ),
    Setting(
        name="shellTools",
        shape="words",
        meaning="further tools that run a shell command",
        reason="empty: the usual names are known",
    ),
    Setting(
        name="urlTools",
        shape="words",
        meaning="further tools that fetch a URL",
        reason="empty: a tool with a `url` argument is one",
    ),
    Setting(
        name="previewChars",
        shape="integer",
        low=1,
        meaning="how many characters of an identity a message quotes",
        reason=_TRACKS,
    ),
    Setting(
        name="resultPreviewChars",
        shape="integer",
        low=1,
        meaning="how many characters of the last result a denial quotes",
        reason=_TRACKS,
    ),
    Setting(
        name="maxTokens",
        shape="integer",
        low=1,
        off="zero",
        meaning="billed input tokens of one turn, all subagents included",
        reason=_GUARD,
    ),
    Setting(
        name="sessionMaxTokens",
        shape="integer",
        low=1,
        off="zero",
        meaning="billed input tokens of one agent alone, across turns",
        reason=_GUARD,
    ),
    Setting(
        name="familyMaxTokens",
        shape="integer",
        low=1,
        off="zero",
        meaning="billed input tokens of an agent and all its descendants, across turns",
        reason=f"off, {_GUARD}",
    ),
    Setting(
        name="warnRatio",
        shape="number",
        above=0,
        high=1,
        off="zero",
        meaning="the share of a budget past which the agent is warned once",
        reason=_GUARD,
    ),
    Setting(
        name="repeatLimit",
        shape="integer",
        low=2,
        off="zero",
        meaning="the same call in one turn: the Nth is stopped",
        reason=f"{_OFF_REPEAT}: 4",
    ),
    Setting(
        name="repeatLimits",
        shape="integerMap",
        low=2,
        off="zero",
        meaning="`repeatLimit` for single tools",
        reason=f"in `loop-guard` {_GUARD}: `read` 5",
    ),
    Setting(
        name="skeletonLimit",
        shape="integer",
        low=2,
        off="zero",
        meaning="the same command line but for numbers, quoted text, hashes, dates: the Nth is stopped",
        reason=f"{_OFF_REPEAT}: 10",
    ),
    Setting(
        name="cycleLimit",
        shape="integer",
        low=2,
        off="zero",
        meaning="rounds of the same few calls in turn (A B A B …): the call that ends the Nth is stopped",
        reason=f"{_OFF_REPEAT}: 3",
    ),
    Setting(
        name="cyclePeriods",
        shape="integers",
        low=2,
        high=32,
        meaning="the lengths of the rounds that `cycleLimit` looks for",
        reason="three and four calls in turn are loops as well; in `loop-guard` 2; at most 32",
    ),
    Setting(
        name="sameErrorLimit",
        shape="integer",
        low=2,
        off="zero",
        meaning="the same error of one tool: after N its next call is stopped",
        reason=f"{_OFF_REPEAT}: 2",
    ),
    Setting(
        name="adaptive",
        shape="switchMap",
        low=1,
        off="zero",
        choices=NAMES,
        meaning="the rules that weigh what calls brought: each on (`true`), off (`false`, 0), or with its own limit",
        reason="on in the profile `adaptive`; the limits stood on plateaus of recorded sessions",
    ),
    Setting(
        name="toolClasses",
        shape="choiceMap",
        choices=KINDS,
        meaning="what kind of call a tool is, where its name does not tell the adaptive rules",
        reason="empty: names, annotations and commands tell",
    ),
    Setting(
        name="subagentRequests",
        shape="integer",
        low=1,
        off="zero",
        meaning="model requests of one subagent",
        reason=_GUARD,
    ),
    Setting(
        name="subagentTools",
        shape="integer",
        low=1,
        off="zero",
        meaning="tool calls of one subagent",
        reason=_GUARD,
    ),
    Setting(
        name="fanout",
        shape="integer",
        low=1,
        off="zero",
        meaning="subagents that run at once under one parent",
        reason=_GUARD,
    ),
    Setting(
        name="workflowAgents",
        shape="integer",
        low=1,
        off="zero",
        meaning="agents that one workflow call starts",
        reason=_GUARD,
    ),
    Setting(
        name="maxDenials",
        shape="integer",
        low=1,
        off="zero",
        meaning="after so many denials at one spot of a repeat or budget gate, or of a tool that an adaptive rule shut "
        "as a whole, the next call passes once; off: none does",
        reason=_GUARD,
    ),
    Setting(
        name="neverBlock",
        shape="words",
        meaning="tools that these gates never stop",
        reason="a session must be able to wind up and to talk to its user",
    ),
    Setting(
        name="spawnTools",
        shape="words",
        meaning="tools that start a subagent, in any case of letters",
        reason="the names in common harnesses",
    ),
    Setting(
        name="stateRefreshSeconds",
        shape="number",
        above=0,
        high=86_400,
        meaning="how often a server asks for what other processes spent, where state is kept; also how often it "
        "tries again when the state is out of reach",
        reason="an agent spends little in two seconds, and a question costs a fraction of a millisecond",
    ),
)
"""Every setting, in the order in which people read them."""

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
"""The settings by wire name."""
