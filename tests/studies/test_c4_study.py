"""The study of C4's tests: that its scenarios resolve, and what is measured of a run."""

import json
from typing import Any

import pytest

import longhaul
from longhaul.studies.study import find

STUDY = find("c4-2026")
METRICS = STUDY.module("metrics")
MAINS = {"c4", "bbr3", "cubic"}


def test_every_test_is_run_with_each_of_the_three() -> None:
    runs = STUDY.runs("quick", [], 1)
    assert {(run.experiment, run.cell["main"]) for run in runs} == {
        (name, main) for name in STUDY.experiments for main in MAINS
    }
    for run in runs:
        scenario = json.loads(longhaul.load(run.scenario).resolved_json())
        main = scenario["flows"][0]
        assert main["label"] == "main"
        assert main["congestion"]["kind"] == run.cell["main"]
        # picoquic's CUBIC paces and leaves slow start at growing round trips.
        assert (main["slow_start"]["kind"] == "hystart++") == (run.cell["main"] == "cubic")
        backgrounds = [flow["congestion"]["kind"] for flow in scenario["flows"][1:]]
        assert len(backgrounds) == run.experiment.startswith(("vs_", "after", "before", "bbloat_"))


def test_every_printed_number_is_a_claim_on_each_of_the_three() -> None:
    printed = [claim for claim in STUDY.claims if claim.expected.printed is not None]
    by_main = {main: sum(claim.where["main"] == main for claim in printed) for main in MAINS}
    assert set(by_main.values()) == {len(printed) / 3}


@pytest.fixture(scope="module")
def kept() -> tuple[Any, dict[str, Any]]:
    """5 MB of BBR v3 beside 10 MB of CUBIC."""
    runs = STUDY.runs("quick", ["vs_cubic"], 1)
    (cell,) = [run for run in runs if run.cell["main"] == "bbr3"]
    results = longhaul.run(cell.scenario)
    return cell, STUDY.reduction(STUDY.experiments["vs_cubic"]).reducer(results)


def test_load_is_what_the_main_download_has_while_both_last(
    kept: tuple[Any, dict[str, Any]],
) -> None:
    cell, tables = kept
    row = METRICS.metrics(tables, cell)
    got = tables["bytes"]
    # One of both downloads is complete at the end, but for a sample of the series.
    assert got["main"] > 4.9e6 or got["background"] > 9.9e6
    assert row["load_pct"] == 100 * got["main"] / (got["main"] + got["background"])
    assert row["rtt_and_deviation_ms"] > row["rtt_ms"] > 80


def test_the_deviation_is_that_of_the_quantiles() -> None:
    names = list(STUDY.module("reduce").QUANTILES)
    shares = list(STUDY.module("reduce").QUANTILES.values())
    # Uniform from 0 to 1 s.
    uniform = METRICS._deviation(dict(zip(names, (share / 100 for share in shares), strict=True)))
    assert uniform == pytest.approx(12**-0.5)
    assert METRICS._deviation(dict.fromkeys(names, 0.1)) == 0
