"""Tests of scenarios made from templates: merged parts, values set by path, levels of sweeps."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from longhaul._engine import ScenarioError
from longhaul.campaign.execute import Outcome
from longhaul.campaign.sweep import Level, Run, Setting, Sweep
from longhaul.campaign.template import (
    TemplateError,
    filled_in,
    merge_parts,
    place_of_template,
    read_template,
)


@pytest.mark.parametrize(
    ("lower", "upper", "merged"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}), ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
        ({"a": {"b": 2}}, {"a": 1}, {"a": 1}), ({"a": [1]}, {"a": [2, 3]}, {"a": [1, 2, 3]}),
        ({"a": [1]}, {"a": 2}, {"a": 2}), ({"a": 1}, {"a": [2]}, {"a": [2]}),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 3}}}, {"a": {"b": {"c": 3, "d": 2}}}),
        ({"a": {"kind": "x", "n": 1}}, {"a": {"python": "f:F"}}, {"a": {"n": 1, "python": "f:F"}}),
        # Replacing a program or module also removes its source text or checksum.
        ({"a": {"python": "f.py:F", "source": "..."}}, {"a": {"kind": "x"}}, {"a": {"kind": "x"}}),
        ({"a": {"module": "m.so", "sha256": "0"}}, {"a": {"kind": "x"}}, {"a": {"kind": "x"}}),
        ({"a": {"external": "e", "version": "1"}}, {"a": {"kind": "x"}}, {"a": {"kind": "x"}}),
        ({"a": {"kind": "x", "source": "s", "sha256": "0"}}, {"a": {"kind": "y"}},
         {"a": {"source": "s", "sha256": "0", "kind": "y"}}),
        ({"a": {"external": "e", "n": 1}}, {"a": {"n": 2}}, {"a": {"external": "e", "n": 2}}),
    ],
)  # fmt: skip
def test_tables_merge_lists_are_appended_and_other_values_replaced(
    lower: dict[str, Any], upper: dict[str, Any], merged: dict[str, Any]
) -> None:
    """Check merged scenarios: tables are merged, lists appended, other values replaced.

    Alternative keys such as `kind` and `python` exclude each other: the last one counts.
    """
    before = json.dumps([lower, upper])
    assert merge_parts([lower, upper]) == merged
    assert json.dumps([lower, upper]) == before, "the parts stay as they are"
    assert merge_parts([]) == {}


FLOWS: dict[str, Any] = {
    "flows": [{"label": "a"}, {"label": "2"}, {"label": "b"}], "names": ["a"], "seed": 1
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("flows.a.x", [0]), ("flows.0.x", [0]), ("flows.2.x", [1]), ("flows.1.x", [1]),
        ("flows.*.x", [0, 1, 2]), ("flows.[ab]*.x", [0, 2]), ("flows.b.x.y", [2]),
    ],
)  # fmt: skip
def test_groups_of_flows_are_meant_by_label_before_number(path: str, changed: list[int]) -> None:
    filled = filled_in(FLOWS, {path: 7})
    assert [n for n, flow in enumerate(filled["flows"]) if "x" in flow] == changed
    assert FLOWS["flows"][0] == {"label": "a"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flows.3.x", r"flows\.3\.x: unknown label `3`; available: a, 2, b"),
        ("flows.c.x", r"flows\.c\.x: unknown label `c`"),
        ("flows.c*.x", r"flows\.c\*\.x: no label is like `c\*`"),
        ("seed.x", r"seed\.x: expected a table to set `x` in"),
        ("seed.x.y", r"seed\.x\.y: expected a table to set `x` in"),
        ("flows.x", r"flows\.x: expected a table to set `x` in"),
        ("names.a.x", r"names\.a\.x: expected a list of tables to choose `a` from"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        filled_in(FLOWS, {path: 7})


def test_tables_on_the_way_are_made_and_groups_of_no_flows_left_out() -> None:
    assert filled_in({}, {"a.b.c": 1, "a.d": 2}) == {"a": {"b": {"c": 1}, "d": 2}}
    flows = [{"label": "a", "count": 0}, {"label": "b", "count": 1}, {"label": "c"}]
    assert filled_in({"flows": flows}, {})["flows"] == flows[1:]
    assert filled_in({"flows": flows}, {"flows.*.count": 0})["flows"] == []


def test_values_are_not_shared_between_scenarios() -> None:
    """Check that setting `queue.limit` does not change the table that was given for `queue`."""
    value = {"limit": 1}
    filled = filled_in({}, {"queue": value, "queue.limit": 2})
    assert (filled, value) == ({"queue": {"limit": 2}}, {"limit": 1})


def test_a_scenario_is_a_table_or_a_file_of_either_kind(tmp_path: Path) -> None:
    """Check the three forms of a scenario: a table, a TOML file, and a run's `run.json`.

    A path in `extends` is relative to the file with `extends`.
    """
    file = tmp_path / "c.toml"
    (tmp_path / "below").mkdir()
    (tmp_path / "below/s.toml").write_text('\ufeffextends = "base.toml"\nseed = 3\n', "utf-8")
    base = str((tmp_path / "below/base.toml").resolve())
    assert read_template(file, "below/s.toml") == {"extends": base, "seed": 3}
    assert read_template(file, {"extends": "base.toml"}) == {"extends": str(tmp_path / "base.toml")}
    given = {"seed": 1}
    assert read_template(file, given) == given
    assert place_of_template(file, "below/s.toml") == tmp_path / "below"
    assert place_of_template(file, given) == tmp_path
    for whole, scenario in (
        ({"results_version": 20, "scenario": {"seed": 5}}, {"seed": 5}),
        ({"results_version": 20, "seed": 6}, {"results_version": 20, "seed": 6}),
        ({"scenario": {"seed": 7}}, {"scenario": {"seed": 7}}),
    ):
        (tmp_path / "run.json").write_text(" \n" + json.dumps(whole))
        assert read_template(file, "run.json") == scenario


@pytest.mark.parametrize(
    ("given", "text", "message"),
    [
        (None, "", "scenario: expected a scenario file's name, or a table"),
        (5, "", "scenario: expected a scenario file's name, or a table"),
        ("s", "a = ", r"scenario: .*s: Invalid value"), ("s", "{", r"scenario: .*s: Expecting"),
    ],
)  # fmt: skip
def test_what_is_no_scenario_is_refused(
    given: object, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "s").write_text(text)
    with pytest.raises(TemplateError, match=message):
        read_template(tmp_path / "c.toml", given)


@pytest.mark.parametrize(
    ("setting", "level", "value"),
    [
        (Setting(factor="n"), 3, 3), (Setting(factor="n", unit="ms"), 3, "3 ms"),
        (Setting(factor="n", times=2, unit="ms"), 1.5, "3 ms"),
        (Setting(factor="n", times=0.5), 3, 1.5), (Setting(factor="n", times=1), "a", "a"),
        (Setting(factor="n", times=1), True, True),
        (Setting(factor="n", of={"1": "x", "2": "y"}), 2.0, "y"),
        (Setting(factor="n", of={"a": 0}, times=2, unit="ms"), "a", 0),
    ],
)  # fmt: skip
def test_a_setting_is_the_level_scaled_and_with_its_unit(
    setting: Setting, level: Level, value: object
) -> None:
    """Check the value of a setting: the factor's level, multiplied by `times`, with `unit`.

    If the setting has a table `of`, its value is the level's entry in this table, unchanged.
    """
    found = setting.at({"n": level})
    assert (found, type(found)) == (value, type(value))


def test_errors_of_settings_name_their_path() -> None:
    sweep = Sweep("e", {}, {"n": ["a", "b"]}, {"x.y": Setting(factor="n", times=2)})
    with pytest.raises(ScenarioError, match=r'^set\."x\.y"\.times = 2: \'a\' is no number'):
        sweep.values_at({"n": "a"})
    part = Sweep("e", {}, {"n": [1, 2]}, {"x": Setting(value=5, when={"n": [2]})})
    assert [part.values_at({"n": n}) for n in (1, 2)] == [{}, {"x": 5}]


def test_a_run_is_named_by_its_cell_and_has_the_random_numbers_of_its_replication() -> None:
    sweep = Sweep(
        "e", {"duration": "1 s"}, {"n": [1, 2], "m": ["x"]}, {"seed": Setting(factor="n")}
    )
    run = sweep.run({"n": 2, "m": "x"}, 3)
    assert run.name == "e (n 2, m x; replication 3)"
    assert run.scenario == {"duration": "1 s", "seed": 2, "replication": 3}
    assert sweep.run({"n": 2, "m": "x"}).replication == 0
    assert (len(sweep), sweep.replications, len(Sweep("e", {}))) == (2, 1, 1)
    assert [one.cell for one in sweep.runs()] == [{"n": 1, "m": "x"}, {"n": 2, "m": "x"}]
    assert Run("e", {}, 0, {}).beside == Path()


def test_conditions_of_an_axis_may_differ_between_replications() -> None:
    table = {1: {"rate": (10, 20)}, 2: {"rate": (30, 40)}}
    sweep = Sweep("t", {}, {"c": [1, 2]}, replications=2, conditions={"c": table})  # type: ignore[dict-item]
    assert [cell["rate"] for cell in sweep.cells()] == [10, 30]
    assert [cell["rate"] for cell in sweep.cells(1)] == [20, 40]


def test_the_speed_and_the_time_left_follow_from_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the speed and the remaining time that follow from the number of packets.

    If no time has passed, the speed is computed for one nanosecond.
    """
    monkeypatch.setattr(sys.modules[Outcome.__module__], "monotonic", lambda: 14.0)
    outcome = Outcome(9, 1, finished=2, data_packets=300, began=4.0)
    assert (outcome.done, outcome.packets_per_s, outcome.left_s) == (3, 30.0, None)
    outcome.expected_done, outcome.expected_left = 100.0, 50.0
    # 300 packets were sent where 100 were expected, so 50 expected packets become 150.
    assert outcome.left_s == pytest.approx(5.0)
    assert Outcome(1, 0, data_packets=3, began=14.0).packets_per_s == pytest.approx(3e9)
