"""The study of HighSpeed TCP of 2003: its measures against values computed by hand."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import longhaul
from longhaul.campaign import merge_parts
from longhaul.campaign.reduce import reduce_keeping_samples
from longhaul.campaign.template import filled_in
from longhaul.running.loading import load
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.study import find

STUDY = find("hstcp-2003")
MEASURES = STUDY.module("measures").MEASURES


def data(*rows: dict[str, Any], axes: tuple[str, ...]) -> Data:
    """Return results with these rows, of replication 0 by default."""
    whole = [{"experiment": "E", "queue": "red", "replication": 0, **row} for row in rows]
    values = pl.DataFrame(whole, infer_schema_length=None)
    return Data(values, pl.DataFrame(), ("queue", *axes))


def runs(cers: list[float]) -> Data:
    """Return results of runs with bursts, one for each congestion event rate in `cers`."""
    rows = [{"k": 10, "replication": i, "cer": cer} for i, cer in enumerate(cers)]
    return data(*rows, axes=("k",))


def test_table_6_1_is_read_as_its_author_read_it(tmp_path: Path) -> None:
    """Check window and losses at the end of standard slow start against LBNL-52549, Table 6.1.

    The table prints a window of 33,032.00 packets, and 27,274 packets lost or marked.
    """
    (run,) = [run for run in STUDY.runs("full", ["EXP-6.11"]) if run.cell["max_ssthresh"] == 0]
    measure = run.scenario["measure"] | {"from": "6 s"}
    short = replace(run, scenario=run.scenario | {"duration": "12 s", "measure": measure})
    results = longhaul.run(short.scenario, out=tmp_path / "run")
    row = STUDY.module("metrics").metrics(reduce_keeping_samples(results), short)
    assert row["change_cwnd_pkts"] == 33032.0
    assert row["change_s"] == pytest.approx(1.70)
    # Losses exceed the first window's 16,668, since retransmissions overflow the queue again.
    assert row["change_lost_pkts"] == pytest.approx(27274, abs=50)


def test_two_levels_are_told_from_a_rise_and_from_scatter() -> None:
    def levels(cers: list[float]) -> float:
        return float(MEASURES["two_levels"](runs(cers), of="E", metric="cer", queue="red"))

    low, high = [1e-6 * 1.02**i for i in range(20)], [1e-4 * 1.02**i for i in range(20)]
    assert levels(low + high) > 0.95
    assert levels([1e-6 * 1.1**i for i in range(200)]) == pytest.approx(0.75, abs=0.01)
    with pytest.raises(NotRunError):
        levels(low[:5])


def test_a_rate_leaves_the_loss_rate_between_two_points() -> None:
    def departure(*cers: float) -> float:
        found = data(*({"n": n, "cer": cer} for n, cer in zip((2, 6, 10), cers, strict=True)),
                     axes=("n",))  # fmt: skip
        return float(MEASURES["flows_at_departure"](found, "E", "cer", "red", loss=1e-5))

    # The bound 1.5e-5 is half way between 1e-5 and 2.25e-5 on a logarithmic axis.
    assert departure(1e-5, 1e-5, 2.25e-5) == pytest.approx(8)
    assert departure(1e-5, 2.25e-5, 9e-5) == pytest.approx(4)
    with pytest.raises(NotRunError):
        departure(1e-5, 1e-5, 1e-5)


def test_what_one_flow_takes_is_beyond_what_one_of_their_own_would() -> None:
    """Check the goodput that n flows lose to an HSTCP flow that joins them (chapter 5.5).

    The flows are compared with n flows that another flow of their own kind joins.
    """
    alone = [{"experiment": "A", "n": n, "lu_regtcp": 100.0} for n in (2, 10)]

    def trend(*beside: float) -> float:
        rows = [{"n": n, "lu_regtcp": lu} for n, lu in zip((1, 4, 9), beside, strict=True)]
        found = data(*rows, *alone, axes=("n",))
        return float(MEASURES["stolen_by_one_trend"](found, "E", "A", "red"))

    # Equal parts are 50, 80 and 90 %; HSTCP takes 40, 30 and 10 points, then 10, 30 and 40.
    assert trend(10, 50, 80) == pytest.approx(-1)
    assert trend(40, 50, 50) == pytest.approx(1)


def test_the_gap_between_the_queues_grows_by_its_last_less_its_first() -> None:
    """Check the growth, with n, of the difference in stolen bandwidth between drop-tail and RED.

    HSTCP steals 10 points with RED and 30 with drop-tail at n = 2, then 30 and 70 at n = 6: the
    difference grows from 20 to 40, that is, by 20.
    """
    kept = {"red": (40.0, 20.0), "droptail": (20.0, -20.0)}
    rows = [
        {"queue": queue, "n": n, "lu_regtcp": lu}
        for queue, both in kept.items()
        for n, lu in zip((2, 6), both, strict=True)
    ]
    alone = [
        {"experiment": "A", "queue": queue, "n": n, "lu_regtcp": 100.0}
        for queue in kept
        for n in (2, 6)
    ]
    growth = MEASURES["stolen_gap_growth"]
    assert growth(data(*rows, *alone, axes=("n",)), "E", "A", "n") == pytest.approx(20)
    with pytest.raises(NotRunError):
        growth(data(*rows[::2], *alone, axes=("n",)), "E", "A", "n")


def test_a_level_is_kept_if_all_quarters_have_it() -> None:
    """Check the ratio of the largest to the smallest mean window of a run's four quarters.

    The first quarter counts, too (LBNL-52549, section 6.7).
    """

    def spread(*windows: float) -> float:
        samples = [
            {
                "experiment": "E",
                "queue": "red",
                "replication": 0,
                "label": "a",
                "t_s": t,
                "cwnd_pkts": w,
            }
            for t, w in zip((5.0, 15.0, 25.0, 35.0, 40.0), windows, strict=True)
        ]
        found = Data(pl.DataFrame(samples), pl.DataFrame(samples), ("queue",))
        return float(MEASURES["windows_keep_level"](found, "E", "a"))

    assert spread(20, 10, 10, 10, 10) == pytest.approx(2)
    assert spread(10, 10, 10, 9, 11) == pytest.approx(1)


def test_shares_are_of_what_both_use() -> None:
    # HSTCP has 20 of 25 %, then 75 of 100 %: its utilisation rises, but its share falls.
    rows = [
        {"n": n, "rf": rf, "lu_hstcp": lu} for n, rf, lu in ((2, 4, 20), (6, 3.5, 60), (10, 3, 75))
    ]
    found = data(*rows, axes=("n",))
    assert MEASURES["trend"](found, of="E", metric="rf", along="n", queue="red") == pytest.approx(
        -1
    )
    share = {"of": "E", "metric": "rf/(1+rf)", "along": "n", "queue": "red"}
    assert MEASURES["ends"](found, **share) == pytest.approx(0.75 / 0.8)


def test_the_scripts_arguments_are_keys_of_the_scenario() -> None:
    """Check that each key in the README's table of arguments is a key of the study's scenarios."""
    table = STUDY.readme.partition("## The script's arguments")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert len(rows) == 18
    named = {
        key
        for row in rows
        for key in re.findall(r"`((?:topology|flows|measure)\.[\w .]+|duration)", row)
    }
    keys = {key.strip() for key in named if "LABEL" not in key and key.strip() != "flows.streams"}
    assert len(keys) == 17
    parts = ("network", "hstcp", "regtcp", "perturbations", "noise")
    texts = [(STUDY.path / f"scenarios/{part}.toml").read_text() for part in parts]
    template = merge_parts([tomllib.loads(text) for text in texts])
    lossy = filled_in(template, {"topology.dumbbell.bottleneck.loss.bernoulli": 0.01})
    resolved = json.loads(load(lossy).resolved_json())
    for key in keys:
        place = resolved
        for step in key.split("."):
            if isinstance(place, list):
                place = {flow["label"]: flow for flow in place}
            assert step in place, key
            place = place[step]
