"""What a configuration means, and everything that is said about a wrong one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaker.options import ConfigError, Layer, Resolved, remarks, resolve, wire
from breaker.setting_table import BY_NAME, SETTINGS
from breaker.settings import PROFILES, Settings, preset


def settings(**values: Any) -> Settings:
    """Settings over the profile `standard`, unless another one is named."""
    return resolve([Layer("test", {"profile": "standard", **values})]).settings


def problems(values: Any, *more: Any) -> dict[str, str]:
    with pytest.raises(ConfigError) as raised:
        resolve([Layer("test", layer) for layer in (values, *more)])
    return {each.key: f"{each.problem} ({each.hint})" for each in raised.value.problems}


class TestProfiles:
    def test_adaptive_is_the_default(self) -> None:
        assert resolve([]).settings == preset() == preset("adaptive")

    def test_standard_has_the_tracks_with_budgets_and_quotas(self) -> None:
        found = settings()
        assert found == preset("standard") == Settings()
        assert (found.window, found.warn_at, found.summarize_at, found.fail_warn_at, found.fail_limit) == (
            16,
            7,
            11,
            3,
            5,
        )
        assert found.limits == {
            "exact": 12,
            "cmd": 12,
            "net": 12,
            "sink": 12,
            "host": 16,
            "site": None,
            "family:http-fetch": None,
            "verb:curl": None,
            "verb:wget": None,
        }
        assert (found.max_tokens, found.session_max_tokens, found.family_max_tokens) == (
            60_000_000,
            1_000_000_000,
            None,
        )
        assert (found.subagent_requests, found.subagent_tools, found.fanout, found.workflow_agents) == (150, 250, 8, 24)
        assert (found.repeat_limit, found.repeat_limits, found.skeleton_limit) == (None, {}, None)
        assert (found.cycle_limit, found.same_error_limit) == (None, None)

    def test_repeat_tool_breaker_has_the_tracks_alone(self) -> None:
        found = settings(profile="repeat-tool-breaker")
        assert found.limits == Settings().limits
        gates = (
            found.max_tokens,
            found.session_max_tokens,
            found.family_max_tokens,
            found.repeat_limit,
            found.skeleton_limit,
            found.cycle_limit,
            found.same_error_limit,
            found.subagent_requests,
            found.subagent_tools,
            found.fanout,
            found.workflow_agents,
        )
        assert set(gates) == {None}
        assert found.repeat_limits == {}
        assert "@shell" not in found.ignore_args
        assert found.content_args == ()

    def test_loop_guard_has_the_gates_alone(self) -> None:
        found = settings(profile="loop-guard")
        assert set(found.limits.values()) == {None}
        assert (found.repeat_limit, found.repeat_limits, found.skeleton_limit) == (4, {"read": 5}, 10)
        assert (found.cycle_limit, found.cycle_periods, found.same_error_limit) == (3, (2,), 2)
        assert (found.max_tokens, found.fanout, found.max_denials, found.warn_ratio) == (60_000_000, 8, 3, 0.7)

    def test_adaptive_has_neither_the_tracks_nor_the_fanout(self) -> None:
        found = settings(profile="adaptive")
        assert set(found.limits.values()) == {None}
        assert found.fanout is None
        assert (found.max_tokens, found.subagent_tools, found.workflow_agents) == (60_000_000, 250, 24)
        assert found.ignore_args["@shell"] == Settings().ignore_args["@shell"]

    def test_a_setting_given_explicitly_wins_over_the_profile(self) -> None:
        found = settings(profile="loop-guard", repeatLimit=9, limits={"exact": 6})
        assert (found.repeat_limit, found.limits["exact"], found.limits["cmd"]) == (9, 6, None)

    def test_the_name_comes_from_the_highest_layer_that_gives_one(self) -> None:
        layers = [
            Layer("file", {"profile": "loop-guard", "repeatLimit": 6}),
            Layer("environment", {"profile": "repeat-tool-breaker"}),
            Layer("initialize", {"window": 8}),
        ]
        found = resolve(layers).settings
        assert (found.profile, found.window, found.repeat_limit) == ("repeat-tool-breaker", 8, 6)
        assert found.max_tokens is None

    @pytest.mark.parametrize("name", PROFILES)
    def test_the_wire_form_of_a_profile_reads_back_as_the_same_settings(self, name: str) -> None:
        assert settings(**wire(preset(name))) == preset(name)


class TestLayers:
    def test_a_stronger_layer_replaces_scalars_and_lists(self) -> None:
        weak = {"window": 8, "exclude": ["a", "b"], "warnAt": 2}
        strong = {"window": 9, "exclude": ["c"]}
        found = resolve([Layer("weak", weak), Layer("strong", strong)])
        assert (found.settings.window, found.settings.exclude, found.settings.warn_at) == (9, ("c",), 2)
        assert found.origins == {"window": "strong", "exclude": "strong", "warnAt": "weak"}

    def test_maps_merge_one_level_deep(self) -> None:
        found = resolve(
            [
                Layer(
                    "weak",
                    {
                        "profile": "standard",
                        "limits": {"exact": 5, "host": None},
                        "ignoreArgs": {"read": ["a", "b"]},
                    },
                ),
                Layer("strong", {"limits": {"exact": 6}, "ignoreArgs": {"read": ["c"]}}),
                Layer("third", {"hostAliases": {"A.example": "b.example"}, "repeatLimits": {"read": 7}}),
            ]
        ).settings
        assert (found.limits["exact"], found.limits["host"], found.limits["cmd"]) == (6, None, 12)
        assert found.ignore_args["read"] == ("c",)
        assert "description" in found.ignore_args["*"]
        assert found.host_aliases == {"open-data.canada.ca": "open.canada.ca", "a.example": "b.example"}
        assert found.repeat_limits == {"read": 7}

    def test_a_layer_of_null_is_empty(self) -> None:
        assert resolve([Layer("file", None)]).settings == preset()

    def test_layers_leave_the_defaults_alone(self) -> None:
        settings(limits={"exact": 5}, ignoreArgs={"*": []}, repeatLimits={"x": 3})
        settings(profile="loop-guard", limits={"exact": 5}, repeatLimits={"x": 3})
        assert Settings().limits["exact"] == 12
        assert preset("loop-guard").repeat_limits == {"read": 5}
        assert preset("loop-guard").limits["exact"] is None


class TestOff:
    @pytest.mark.parametrize("off", [0, -1, -0.5, None, -(10**30)])
    @pytest.mark.parametrize(
        "name",
        [
            "warnAt",
            "summarizeAt",
            "failWarnAt",
            "maxTokens",
            "sessionMaxTokens",
            "familyMaxTokens",
            "repeatLimit",
            "skeletonLimit",
            "cycleLimit",
            "sameErrorLimit",
            "subagentRequests",
            "subagentTools",
            "fanout",
            "workflowAgents",
            "maxDenials",
            "warnRatio",
        ],
    )
    def test_zero_negative_and_null_turn_a_stage_or_gate_off(self, name: str, off: Any) -> None:
        assert getattr(settings(**{name: off}), BY_NAME[name].attribute) is None

    def test_a_negative_number_is_remarked_on_and_0_and_null_are_not(self) -> None:
        layer = Layer("mine", {"maxTokens": -4, "sessionMaxTokens": 0, "familyMaxTokens": None})
        assert resolve([layer]).notes == ("mine: maxTokens is -4, which turns it off as 0 does",)

    def test_null_turns_a_limit_off(self) -> None:
        found = settings(limits={"exact": None}, failLimit=None, repeatLimits={"read": 0})
        assert (found.limits["exact"], found.fail_limit, found.repeat_limits) == (None, None, {"read": None})

    def test_null_turns_nothing_else_off(self) -> None:
        names = {"window", "onLimit", "localHosts", "includeLocal", "exclude", "previewChars", "profile"}
        assert set(problems(dict.fromkeys(names))) == names


class TestValues:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("window", 4),
            ("window", 10_000),
            ("window", 16.0),
            ("onLimit", "deny"),
            ("localHosts", "allow"),
            ("includeLocal", True),
            ("failLimit", 2),
            ("failLimit", 2.5),
            ("previewChars", 1),
            ("warnAt", 1),
            ("warnRatio", 1),
            ("warnRatio", 0.01),
            ("maxTokens", 1),
            ("repeatLimit", 2),
            ("maxDenials", 1),
            ("exclude", []),
            ("exclude", ["todo_*"]),
            ("include", ["bash"]),
            ("shellTools", ["my_shell"]),
            ("cyclePeriods", [2, 5]),
            ("ignoreArgs", {"@shell": []}),
            ("enabled", False),
            ("shadow", True),
        ],
    )
    def test_these_are_valid(self, name: str, value: Any) -> None:
        assert wire(settings(**{name: value}))[name] == (
            {**wire(Settings())[name], **value} if isinstance(value, dict) else value
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("window", 3),
            ("window", 0),
            ("window", 10_001),
            ("window", 4.5),
            ("window", True),
            ("window", "16"),
            ("window", math.nan),
            ("window", math.inf),
            ("window", 10**400),
            ("window", [16]),
            ("onLimit", "warn"),
            ("onLimit", ["ask"]),
            ("localHosts", True),
            ("includeLocal", 1),
            ("includeLocal", "true"),
            ("failLimit", 1),
            ("failLimit", 0),
            ("failLimit", -1),
            ("failLimit", math.inf),
            ("failLimit", False),
            ("previewChars", 0),
            ("resultPreviewChars", -5),
            ("warnAt", 1.5),
            ("warnAt", math.nan),
            ("warnAt", -math.inf),
            ("warnAt", False),
            ("warnAt", "off"),
            ("warnRatio", 1.01),
            ("maxTokens", 2**60),
            ("repeatLimit", 1),
            ("maxDenials", 1.5),
            ("exclude", "todo_write"),
            ("exclude", {"todo_write": True}),
            ("shellTools", None),
            ("enabled", 0),
            ("limits", 12),
            ("ignoreArgs", ["description"]),
            ("profile", "strict"),
            ("profile", None),
        ],
    )
    def test_these_are_not(self, name: str, value: Any) -> None:
        assert list(problems({name: value})) == [name]

    @pytest.mark.parametrize(
        ("name", "value", "path"),
        [
            ("limits", {"exatc": 12}, "limits.exatc"),
            ("limits", {"exact": 1}, "limits.exact"),
            ("limits", {"exact": "12"}, "limits.exact"),
            ("limits", {"exact": 0}, "limits.exact"),
            ("limits", {"exact": True}, "limits.exact"),
            ("limits", {"verb:": 3}, "limits.verb:"),
            ("limits", {"": 3}, "limits."),
            ("limits", {5: 3}, "limits.5"),
            ("limits", {"exact": math.inf}, "limits.exact"),
            ("exclude", ["a", 5], "exclude[1]"),
            ("exclude", [""], "exclude[0]"),
            ("exclude", ["\ud83d"], "exclude[0]"),
            ("cyclePeriods", [2, 1], "cyclePeriods[1]"),
            ("cyclePeriods", [None], "cyclePeriods[0]"),
            ("ignoreArgs", {"read": "offset"}, "ignoreArgs.read"),
            ("ignoreArgs", {"read": [1]}, "ignoreArgs.read[0]"),
            ("ignoreArgs", {"": ["x"]}, "ignoreArgs."),
            ("ignoreArgs", {"@reading": ["x"]}, "ignoreArgs.@reading"),
            ("hostAliases", {"a.example": 1}, "hostAliases.a.example"),
            ("hostAliases", {"a.example": "https://b.example/"}, "hostAliases.a.example"),
            ("repeatLimits", {"read": 1}, "repeatLimits.read"),
        ],
    )
    def test_a_problem_inside_a_value_is_named_by_its_path(self, name: str, value: Any, path: str) -> None:
        assert list(problems({name: value})) == [path]

    @pytest.mark.parametrize(
        "identity", ["host", "verb", "verb:curl", "family:x", "host:a.example", "net:a.example/x?y=1:2", "exact:t:{}"]
    )
    def test_a_limit_is_for_a_kind_or_for_one_identity(self, identity: str) -> None:
        assert settings(limits={identity: 3}).limits[identity] == 3

    def test_no_setting_is_checked_against_another(self) -> None:
        found = settings(warnAt=30, summarizeAt=2, limits={"exact": 2}, failWarnAt=9, failLimit=2)
        assert (found.warn_at, found.summarize_at, found.fail_warn_at) == (30, 2, 9)

    def test_numbers_that_are_whole_are_integers(self) -> None:
        found = settings(window=16.0, limits={"exact": 5.0, "cmd": 5.5})
        assert isinstance(found.window, int)
        assert isinstance(found.limits["exact"], int)
        assert found.limits["cmd"] == 5.5


class TestProblems:
    def test_all_problems_of_all_layers_come_together(self) -> None:
        weak = {"windw": 8, "warnAt": "7", "limits": {"exact": 1, "foo": 3}}
        strong = {"denyAfter": 3, "onLimit": "no", "exclude": [1, 2]}
        assert set(problems(weak, strong)) == {
            "windw",
            "warnAt",
            "limits.exact",
            "limits.foo",
            "denyAfter",
            "onLimit",
            "exclude[0]",
            "exclude[1]",
        }

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("windw", "window"),
            ("warn_at", "warnAt"),
            ("WARNAT", "warnAt"),
            ("faillimit", "failLimit"),
            ("excludes", "exclude"),
            ("max-tokens", "maxTokens"),
        ],
    )
    def test_an_unknown_key_names_the_nearest(self, written: str, meant: str) -> None:
        assert f"did you mean {meant}?" in problems({written: 1})[written]

    @pytest.mark.parametrize("written", ["zzzz", "threshold", "maxCalls", "color"])
    def test_an_unknown_key_far_from_all_is_told_where_all_are_listed(self, written: str) -> None:
        assert "did you mean" not in problems({written: 1})[written]
        assert "check-config --explain` lists the settings" in problems({written: 1})[written]

    def test_an_unknown_kind_far_from_all_is_told_the_kinds(self) -> None:
        assert "the kinds are host, net, " in problems({"limits": {"zzzz": 5}})["limits.zzzz"]

    @pytest.mark.parametrize(
        ("key", "value", "where"),
        [
            ("limits", '{"exact": 3', "column 12: Expecting ',' delimiter"),
            ("limits", "{exact: 3}", "column 2: Expecting property name enclosed in double quotes"),
            ("exclude", '["a",\n "b" "c"]', "line 2, column 6: Expecting ',' delimiter"),
        ],
    )
    def test_broken_json_is_told_where_it_breaks(self, key: str, value: str, where: str) -> None:
        assert f"is not JSON: {where}" in problems({key: value})[key]

    def test_a_text_where_an_object_belongs_is_told_how_one_is_written(self) -> None:
        assert 'is not an object (write {"name": value})' in problems({"limits": "exact=3"})["limits"]

    @pytest.mark.parametrize(
        ("written", "meant"), [("exatc", "exact"), ("Host", "host"), ("http-fetch", "family:http-fetch")]
    )
    def test_an_unknown_kind_names_the_nearest(self, written: str, meant: str) -> None:
        assert meant in problems({"limits": {written: 5}})[f"limits.{written}"]

    @pytest.mark.parametrize(
        ("key", "instead"),
        [
            ("denyAfter", "limits.exact"),
            ("warnAfter", "warnAt"),
            ("registerAdvisory", "limits"),
            ("maxSamePath", "nothing"),
            ("readTools", "nothing"),
            ("matchReadBySubstring", "nothing"),
        ],
    )
    def test_a_removed_key_says_what_replaces_it(self, key: str, instead: str) -> None:
        assert instead in problems({key: 3})[key]

    def test_the_removed_answer_to_local_hosts_names_its_successor(self) -> None:
        assert 'onLimit: "ask"' in problems({"localHosts": "ask"})["localHosts"]

    def test_path_aliases_are_accepted_and_ignored(self) -> None:
        found = resolve([Layer("file", {"pathAliases": ["path"]})])
        assert found.settings == preset()
        assert "pathAliases" in found.notes[0]

    @pytest.mark.parametrize("values", [5, "x", [], [{"window": 8}], True])
    def test_a_layer_that_is_no_object_is_a_problem(self, values: Any) -> None:
        assert "is not an object" in problems(values)[""]

    def test_the_problems_in_wire_form_have_a_hint_where_there_is_one(self) -> None:
        with pytest.raises(ConfigError) as raised:
            resolve([Layer("initialize", {"windw": 1, "window": [1]})])
        assert raised.value.data() == [
            {"key": "windw", "problem": "is not a setting", "hint": "did you mean window?"},
            {"key": "window", "problem": "[1] is not an integer"},
        ]

    def test_the_text_of_the_error_has_a_line_a_problem_with_its_layer(self) -> None:
        with pytest.raises(ConfigError) as raised:
            resolve([Layer("environment", {"windw": 1}), Layer("command line", {"window": 2})])
        first, second = str(raised.value).split("\n")
        assert first == "environment: windw: is not a setting (did you mean window?)"
        assert second == "command line: window: 2 is less than 4"

    def test_a_value_that_contains_itself_is_shown_by_its_type(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        assert "type list" in problems({"window": loop})["window"]

    def test_a_flood_of_unknown_keys_is_listed_in_full(self) -> None:
        assert len(problems({f"key{number}": 1 for number in range(3000)})) == 3000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["ask", "deny", "allow", "standard", "exact", "a.example", "\ud83d", 10**400]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["*", "@shell", "exact", "verb:x", "read"]) | st.text(max_size=5) | st.integers(),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
KEYS = st.sampled_from([*BY_NAME, "denyAfter", "pathAliases"]) | st.text(max_size=10)


def outcome(layers: list[Any]) -> Resolved | ConfigError:
    try:
        return resolve([Layer("layer", layer) for layer in layers])
    except ConfigError as error:
        return error


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=4) | JSON, max_size=3))
def test_whatever_is_written_is_resolved_or_complained_about(layers: list[Any]) -> None:
    found = outcome(layers)
    if isinstance(found, Resolved):
        again = resolve([Layer("wire", wire(found.settings))]).settings
        assert again == found.settings
        remarks(found.settings)
    else:
        assert found.problems
        for problem in found.data():
            "".join(problem.values()).encode()


@given(st.dictionaries(KEYS, JSON, max_size=4), st.dictionaries(KEYS, JSON, max_size=4))
def test_a_key_that_the_stronger_layer_gives_is_the_stronger_layers(weak: Any, strong: Any) -> None:
    both, alone = outcome([weak, strong]), outcome([strong])
    if isinstance(both, Resolved) and isinstance(alone, Resolved) and "profile" in strong:
        for name in set(strong) & set(BY_NAME):
            setting = BY_NAME[name]
            if not setting.shape.endswith("Map"):
                assert getattr(both.settings, setting.attribute) == getattr(alone.settings, setting.attribute)


class TestRemarks:
    @pytest.mark.parametrize("name", PROFILES)
    def test_the_profiles_are_unremarkable(self, name: str) -> None:
        assert remarks(preset(name)) == []

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"warnAt": 16}, "warnAt (16) is at or above every limit"),
            ({"summarizeAt": 40}, "summarizeAt (40) is above window (16) and can never speak"),
            ({"window": 8, "limits": {"exact": 12}}, "limits.exact (12) is above window (8) and can never speak"),
            ({"window": 11}, "limits.cmd (12) is above window (11): only a window with nothing else"),
            ({"failWarnAt": 6}, "failWarnAt (6) is above failLimit (5)"),
            ({"enabled": False}, "everything is allowed|every call is allowed"),
            ({"shadow": True}, "nothing is stopped"),
            ({"maxDenials": 0}, "maxDenials is off"),
        ],
    )
    def test_what_can_hardly_be_meant_is_remarked_on(self, values: dict[str, Any], said: str) -> None:
        assert any(part in remark for remark in remarks(settings(**values)) for part in said.split("|"))

    def test_a_stage_of_tracks_that_are_off_is_remarked_on(self) -> None:
        said = remarks(settings(profile="adaptive", failLimit=2))
        assert said == ["failLimit has no effect: every entry of limits is null in the profile adaptive"]

    def test_a_limit_below_a_stage_is_a_way_to_say_no_advice(self) -> None:
        assert remarks(settings(limits={"exact": 5})) == []


class TestTheTable:
    def test_it_describes_every_setting_once(self) -> None:
        assert sorted(setting.attribute for setting in SETTINGS) == sorted(Settings.__struct_fields__)
        assert set(BY_NAME) == set(wire(Settings()))

    def test_the_names_in_the_environment_are_in_snake_case(self) -> None:
        assert BY_NAME["resultPreviewChars"].variable == "TOOLBREAKER_RESULT_PREVIEW_CHARS"
