"""The study of the split-connection proxy: theory, measures on invented results, and a run."""

from typing import Any

import polars as pl
import pytest

import longhaul
from longhaul.studies.data import Data
from longhaul.studies.study import find

STUDY = find("split-pep-2009")
THEORY = STUDY.module("theory")
METRICS = STUDY.module("metrics")


def test_the_campaign_has_the_450_runs_of_the_thesis() -> None:
    runs = STUDY.runs("full", ["PEP-E16"])
    assert len(runs) == len({run.key for run in runs}) == 450


def test_red_is_configured_as_table_4_1_has_it() -> None:
    assert THEORY.configured("min_th") == 62.5
    assert THEORY.configured("max_th") == 187.5
    assert THEORY.configured("weight") == pytest.approx(5.3325e-6, abs=1e-9)
    assert THEORY.certain_drop(None) == pytest.approx(375.0)


def test_the_common_saw_tooth() -> None:
    found = [THEORY.saw_tooth_mbps(queue) for queue in (3000, 1500, 1000, 600, 300)]
    assert found == pytest.approx([96.05, 88.87, 85.12, 81.51, 78.43], abs=5e-3)


@pytest.fixture(scope="module")
def run() -> tuple[Any, longhaul.Results, dict[str, Any]]:
    """Return a run of 150 s with five transfers behind the proxy: run, results, stored values."""
    (cell,) = [
        run
        for run in STUDY.runs("full", ["PEP-E06"], 1)
        if tuple(run.cell.values()) == ("cubic", "droptail", 1000)
    ]
    results = longhaul.run({**cell.scenario, "duration": "150 s"})
    return cell, results, STUDY.reduction(STUDY.experiments["PEP-E06"]).reducer(results)


def test_what_is_kept_adds_up(run: tuple[Any, longhaul.Results, dict[str, Any]]) -> None:
    cell, results, kept = run
    series = kept["flow_series"]
    assert len({len(column) for column in series.values()}) == 1
    assert len(series["t_s"]) == 150
    carried = sum(series["mbps"]) * 1e6 / 8
    assert carried == pytest.approx(kept["link"]["total_departed_bytes"], rel=1e-3)
    one = results.flows.filter(pl.col("flow") == 4)["total_delivered_bytes"][0]
    assert sum(series["one_mbps"]) * 1e6 / 8 == pytest.approx(one, rel=1e-3)
    row = METRICS.metrics(kept, cell)
    assert row["flow_mbps"] == row["flow_payload_mbps"], "behind a proxy payload counts"
    assert row["flow_wire_mbps"] == pytest.approx(1.04 * row["flow_payload_mbps"])
    assert 0 < row["mbps_min"] < row["mbps_settled"] <= 100
    assert set(METRICS.trajectory(kept).columns) >= {"t_s", "mbps", "cwnd", "proxy_cwnd"}


def test_the_first_reduction_and_the_recovery_from_it() -> None:
    seconds = range(1, 401)
    window = [1000.0 + t if t < 200 else 600.0 + 2 * (t - 200) for t in seconds]
    mbps = [100.0 if t < 200 or t > 350 else 60.0 for t in seconds]
    kept = {"t_s": list(seconds), "proxy_cwnd": window, "mbps": mbps, "one_mbps": mbps,
            "local_queue": [1.0] * 400}  # fmt: skip
    found = METRICS._over_time(kept, 100.0, 100e6)
    assert (found["first_reduction_s"], found["recovery_s"]) == (200.0, 151.0)


def test_silences_are_counted_by_flow() -> None:
    assert METRICS._longest([True, False, True, True, False]) == 2


MEASURES = STUDY.module("measures").MEASURES


def table(rows: list[dict[str, Any]]) -> Data:
    values = pl.DataFrame([{"experiment": "E", "replication": 0, **row} for row in rows])
    axes = ("proxy", "queue", "size", "flows", "traffic")
    return Data(values, pl.DataFrame(), tuple(axis for axis in axes if axis in values.columns))


def test_measures_take_the_whole_of_what_a_sentence_covers() -> None:
    """Check that measures such as `largest` find the extreme of all cells that a claim selects."""
    rates = {(1, 300): 53.0, (1, 3000): 70.0, (50, 300): 94.0, (50, 3000): 94.2}
    found = table(
        [{"proxy": "cubic", "queue": "droptail", "flows": flows, "size": size, "mbps": mbps}
         for (flows, size), mbps in rates.items()]
        + [{"proxy": "off", "queue": "droptail", "flows": flows, "size": size, "mbps": mbps / gain}
           for ((flows, size), mbps), gain in zip(rates.items(), (2, 3, 1, 0.9), strict=True)]
    )  # fmt: skip
    cell = {"of": "E", "metric": "mbps", "proxy": "cubic"}
    assert MEASURES["range"](found, **cell, each="flows") == pytest.approx(17.0)
    gain = {**cell, "over.proxy": "off"}
    assert MEASURES["largest"](found, **gain) == pytest.approx(3.0)
    assert MEASURES["least"](found, **gain, flows="2..") == pytest.approx(0.9)
    gained = {**cell, "less.proxy": "off", "queue": "droptail"}
    assert MEASURES["furthest"](found, **gained, flows=1) == pytest.approx(70 - 70 / 3)
    assert MEASURES["least"](found, **gained, flows=50) == pytest.approx(94.2 - 94.2 / 0.9)


def test_sack_between_the_nodes_is_compared_with_drop_tail_without_a_proxy() -> None:
    rows = [("sack", "red", 30.0), ("sack", "droptail", 20.0), ("off", "red", 1.0),
            ("off", "droptail", 40.0)]  # fmt: skip
    found = table(
        [{"proxy": proxy, "queue": queue, "size": 300, "traffic": "ftp-1", "mbps": mbps}
         for proxy, queue, mbps in rows]
    )  # fmt: skip
    off = {"over.proxy": "off", "over.queue": "droptail"}
    assert MEASURES["largest"](found, of="E", metric="mbps", proxy="sack", **off) == 0.75
