"""Factors and their settings, in the forms in which campaigns, studies and suites write them."""

import tomllib

import pytest

from longhaul._engine import ScenarioError
from longhaul.campaign.factors import FactorError, read_factors, refuse_unknown
from longhaul.campaign.sweep import Level, Setting, Sweep

FILE = """
[factors]
loss  = { path = "a.loss", levels = [1e-5, 1e-3] }
queue = { path = ["a.queue", "b.queue"], levels = { short = { limit = 10 }, red = {} } }
rtt   = { path = "a.delay", levels = [10, 50], unit = "ms" }
n     = [2, 4]

[set]
"flows.a.count" = "n"
"flows.b.count" = { factor = "n", times = 0.5 }
"a.rate"        = { factor = "n", times = 5, unit = "Mbps" }
"flows.a.start" = { factor = "n", of = { 2 = "0 s", 4 = "1 s" } }
"b.limit"       = { value = 7, when = { queue = ["short"] } }
"c.limit"       = "queue"
"""


def test_what_factors_and_places_may_hold() -> None:
    given = tomllib.loads(FILE)
    read = read_factors(given["factors"], given["set"])
    assert read.levels["queue"] == ["short", "red"]
    cell: dict[str, Level] = {"loss": 1e-3, "queue": "short", "rtt": 50, "n": 4}
    values = {
        path: setting.at(cell) for path, setting in read.settings.items() if setting.applies(cell)
    }
    assert values == {
        "a.loss": 1e-3, "a.queue": {"limit": 10}, "b.queue": {"limit": 10}, "a.delay": "50 ms",
        "flows.a.count": 4, "flows.b.count": 2, "a.rate": "20 Mbps", "flows.a.start": "1 s",
        "b.limit": 7, "c.limit": {"limit": 10},
    }  # fmt: skip
    assert not read.settings["b.limit"].applies({**cell, "queue": "red"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("path = \"a.loss\"", "pat = \"a.loss\"", r"factors\.loss\.pat: unknown .*`path`"),
        ("levels = [10, 50]", "levels = 10", r"factors\.rtt\.levels = 10: expected a list"),
        ("levels = [10, 50], ", "", r"factors\.rtt\.levels = None: expected a list of levels"),
        ("times = 0.5", 'times = "x"', r"\.times = 'x': expected a whole number or a decimal one"),
        ('= "n"\n', '= "m"\n', 'set."flows.a.count": unknown factor `m`; available: loss, queue'),
        ("when = { queue", "when = { queues", r"when\.queues: unknown \(did you mean `queue`"),
        ("value = 7, ", "", "expected either `factor` or `value`"),
        ("times = 0.5", "time = 0.5", "did you mean `times`"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_its_key(old: str, new: str, message: str) -> None:
    assert old in FILE
    given = tomllib.loads(FILE.replace(old, new))
    with pytest.raises(FactorError, match=message):
        read_factors(given["factors"], given["set"])


def test_places_may_follow_columns_of_a_table_of_conditions() -> None:
    read = read_factors({"condition": [1, 2]}, {"a.rate": "speed"}, ["speed"])
    assert read.settings["a.rate"].at({"condition": 1, "speed": 8}) == 8


@pytest.mark.parametrize(
    ("value", "words", "fits"),
    [
        ("x", "text", True), (1, "text", False), (["x"], "text", False),
        (["x", "y"], "text or a list of texts", True), ([1], "text or a list of texts", False),
        ([1, "x", 1.5, True], "a list of levels", True), ([[1]], "a list of levels", False),
        ({"a": 1}, "a list of levels or a table", True), (True, "a whole number", False),
        (True, "a truth value", True), (2.0, "a whole number or a decimal one", True),
        (None, "", True),
    ],
)  # fmt: skip
def test_values_are_of_the_types_that_keys_have(value: object, words: str, fits: bool) -> None:
    if fits:
        refuse_unknown("here.", {"key": value}, {"key": words})
        return
    with pytest.raises(FactorError, match=rf"here\.key = .*: expected {words}"):
        refuse_unknown("here.", {"key": value}, {"key": words})


def test_a_multiple_is_of_numbers_and_a_value_of_known_levels() -> None:
    twice = Setting(factor="n", times=2.5)
    assert (twice.at({"n": 4}), twice.at({"n": 1})) == (10, 2.5)
    assert isinstance(twice.at({"n": 4}), int)
    for level in ("x", True):
        with pytest.raises(ScenarioError, match=r"times = 2.5: .* is no number"):
            twice.at({"n": level})
    with pytest.raises(ScenarioError, match="expected a value of 3, found 2, 4"):
        Setting(factor="n", of={"2": "a", "4": "b"}).at({"n": 3})
    assert Setting(value=7).at({}) == 7
    both = Setting(value=1, when={"a": [1], "b": [2, 3]})
    assert [both.applies({"a": a, "b": b}) for a, b in ((1, 2), (1, 4), (2, 3))] == [
        True, False, False,
    ]  # fmt: skip


def test_a_sweep_repeats_all_cells() -> None:
    sweep = Sweep("e", {}, {"a": [1, 2], "b": ["x", "y", "z"]}, replications=2)
    cells = list(sweep.every_cell())
    assert len(cells) == len(sweep) == 12
    assert cells[:3] == [(0, {"a": 1, "b": b}) for b in "xyz"]
    assert cells[6:] == [(1, cell) for _, cell in cells[:6]]
    rows: dict[Level, dict[str, Level | tuple[Level, ...]]] = {
        1: {"rate": 10, "rtt": (5, 7)},
        2: {"rate": 20, "rtt": 6},
    }
    table = Sweep("t", {}, {"c": [1, 2]}, replications=2, conditions={"c": rows})
    assert [(cell["rate"], cell["rtt"]) for _, cell in table.every_cell()] == [
        (10, 5), (20, 6), (10, 7), (20, 6),
    ]  # fmt: skip
    with pytest.raises(ScenarioError, match="t: its table of conditions has 2 replications, not 3"):
        list(table.cells(2))
