"""Factors and their settings, as campaigns, studies and suites write them."""

import tomllib

import pytest

from longhaul.campaign.factors import FactorError, read_factors
from longhaul.campaign.sweep import Level

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
