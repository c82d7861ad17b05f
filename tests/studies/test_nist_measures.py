"""Measures for claims of NIST SP 500-282, chapters 4, 6 and 7, on cases with known results."""

import numpy as np
import polars as pl
import pytest

import longhaul
from longhaul.analysis.judging import NOT_RUN
from longhaul.designs import published
from longhaul.mesonet import MesoNet
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.ledger import judge
from longhaul.studies.study import find

STUDY = find("nist-2010")
sensitivity = STUDY.module("sensitivity.measures").MEASURES
competitors = STUDY.module("competitors").MEASURES
setup = STUDY.module("setup").MEASURES
SIGNS = np.asarray(published("nist-2to11m5").coded)
ALGORITHMS = ("BIC", "CTCP", "FAST", "FAST-AT", "HSTCP", "HTCP", "Scalable", "TCP")


def runs(**responses: np.ndarray) -> Data:
    """Return sensitivity runs; responses not given here depend on the first factor alone."""
    rows = [
        {"experiment": "SA64", "run": run + 1, "algorithm": "TCP", "replication": 0}
        | {f"y{n}_measured": 10.0 + SIGNS[run, 0] for n in range(1, 23)}
        | {f"{name}_measured": float(values[run]) for name, values in responses.items()}
        for run in range(64)
    ]
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("run", "algorithm"))


# The effects are -4 (-40 % of the mean) for x2, 2 for x3 and 1 for their interaction.
Y11 = 10.0 - 2.0 * SIGNS[:, 1] + SIGNS[:, 2] + 0.5 * SIGNS[:, 1] * SIGNS[:, 2]


def test_effects_are_plus_less_minus_in_percent_of_the_mean() -> None:
    data, of = runs(y11=Y11), {"of": "SA64", "response": "y11"}
    assert sensitivity["effect"](data, **of, term="x2") == pytest.approx(-40)
    assert sensitivity["effect"](data, **of, term="x3") == pytest.approx(20)
    assert sensitivity["effect_size"](data, **of, term="x2*x3") == pytest.approx(10)
    assert sensitivity["effect_step"](data, **of, order="x2>x3") == pytest.approx(2)
    assert sensitivity["signs_as_printed"](data, **of, raised_by="x2-,x3+") == 1
    assert sensitivity["signs_as_printed"](data, **of, raised_by="x2+,x3+") == 0.5
    assert sensitivity["largest_interaction"](data, **of) == pytest.approx(0.25)
    assert sensitivity["largest_other_effect"](data, **of, than="x2") == pytest.approx(0.5)
    # The best corner has a mean of 12 + 1 - 0.5, the second best 12 - 1 + 0.5.
    assert sensitivity["corner"](data, **of, first="x2-", then="x3+") == pytest.approx(12.5)
    assert sensitivity["corner_lead"](data, **of, first="x2-", then="x3+") == pytest.approx(
        12.5 / 11.5
    )
    most = {"count": 5, "levels": "x2-,x3+"}
    assert sensitivity["runs_of_the_most"](data, **of, **most) == 5


def test_correlations_and_components_are_of_all_responses() -> None:
    data = runs(y11=Y11, y12=2 * Y11 + 1, y13=-Y11)
    assert sensitivity["weakest_pair"](data, of="SA64", pairs="11:12,11:13") == pytest.approx(-1)
    assert sensitivity["correlated_pairs_within"](
        data, of="SA64", group="y11,y12,y13,y1", threshold=0.9
    ) == 3  # fmt: skip
    # Nineteen responses equal the first factor; three depend on y11.
    assert sensitivity["explained"](data, of="SA64", count=1) == pytest.approx(19 / 22)
    # The second component consists of the three others with equal weights.
    step = {"of": "SA64", "number": 2}
    assert sensitivity["component_step"](data, **step, responses="y11,y12,y13") > 1e6
    assert sensitivity["component_step"](data, **step, responses="y11,y12") == pytest.approx(1)
    groups = {"one": "y11", "other": "y13"}
    assert sensitivity["strongest_between"](data, of="SA64", **groups) == pytest.approx(-1)
    assert sensitivity["strongest_size"](data, of="SA64", **groups) == pytest.approx(1)


def test_conditions_of_the_cube_are_eight_runs_each() -> None:
    # Runs with low x2 are better; among them, those with low x1.
    good = 100.0 - 10.0 * SIGNS[:, 1] - SIGNS[:, 0]
    bad = 200.0 - good
    cube = dict.fromkeys(("y4", "y6", "y17", "y20", "y22"), good) | {"y10": bad, "y16": bad}
    data = runs(**cube)
    # Buffers have no effect, so that C1 and C5 share ranks 7 and 8, and so on. Average ranks are
    # 7.5, 5.5, 3.5 and 1.5, each twice: speed changes them by 4, delay by 2.
    assert sensitivity["rank_change_step"](data, of="SA64", order="x2>x1") == 2


def test_a_part_of_the_runs_of_a_sensitivity_analysis_is_none() -> None:
    whole = runs(y11=Y11)
    part = Data(whole.values.head(63), whole.trajectories, whole.axes)
    with pytest.raises(NotRunError, match="SA64 has 63 of 64 runs"):
        sensitivity["effect"](part, of="SA64", response="y11", term="x2")
    judged = {one.claim.id: one for one in judge(STUDY, part, "full", ["SA64"])}
    assert judged["A4-13-x2"].verdict == NOT_RUN
    assert judged["A4-13-x2"].needs == "SA64: all 64 runs, algorithm TCP (64 runs)"
    # The same is true for declared measures.
    assert judged["A4-13-mean"].outcome == "not run: 63 of 64 runs are there"


def conditions(metric: str, values: dict[int, list[float]]) -> Data:
    """Return results of a metric of eight algorithms (in alphabetical order) by condition."""
    rows = [
        {"experiment": "N7-MAIN", "condition": condition, "algorithm": name, "replication": 0,
         metric: value}
        for condition, of_condition in values.items()
        for name, value in zip(ALGORITHMS, of_condition, strict=True)
    ]  # fmt: skip
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("condition", "algorithm"))


# FAST stands out under condition 21; under condition 8 all values are similar.
SPREAD = {
    21: [1.0, 1.1, 9.0, 1.2, 0.9, 1.0, 1.1, 0.95],
    8: [1.0, 1.1, 1.2, 1.2, 0.9, 1.0, 1.1, 0.95],
}


def test_algorithms_stand_out_by_condition() -> None:
    data, of = conditions("y6_TP1", SPREAD), {"of": "N7-MAIN", "metric": "y6_TP1"}
    assert competitors["stands_out"](data, **of, algorithm="FAST", sign="up") == 1
    assert competitors["stands_out"](data, **of, algorithm="FAST", sign="down") == 0
    assert competitors["stands_out"](data, **of, sign="up", condition=8) == 0
    assert competitors["stands_out"](data, **of, without="FAST,FAST-AT") == 0
    assert competitors["grubbs_of_a_pair"](data, count=8) == pytest.approx(1.62, abs=0.005)
    residual = competitors["residual"](data, **of, algorithm="FAST", condition=21)
    assert residual == pytest.approx(9.0 - np.mean(SPREAD[21]))


def test_orders_are_of_means_over_conditions() -> None:
    data, of = conditions("y9_TP1", SPREAD), {"of": "N7-MAIN", "metric": "y9_TP1"}
    agreement = competitors["order_agreement"]
    assert agreement(data, **of, order="FAST>CTCP+Scalable>BIC+HTCP>TCP>HSTCP") == pytest.approx(1)
    printed = {"printed": "BIC:2,TCP:0.95"}
    assert competitors["off_means"](data, **of, **printed) == pytest.approx(0.5)
    limits = {"least": "FAST:1,TCP:1", "most": "FAST:6,TCP:2"}
    assert competitors["off_range"](data, **of, **limits) == pytest.approx(0.5)
    assert competitors["off_range"](data, **of, **limits, algorithm="TCP") == pytest.approx(0.05)
    # A band is a tenth, or half the distance to the next number if this is less.
    assert competitors["off_means"](data, **of, **printed, within=0.1) == pytest.approx(5.0)
    limits |= {"least": "FAST:1.1,TCP:1"}
    told_apart = competitors["off_range"](data, **of, **limits, algorithm="TCP", within=0.1)
    assert told_apart == pytest.approx(1.0)


def test_set_up_is_read_from_scenarios() -> None:
    data = Data(pl.DataFrame(), pl.DataFrame(), ())
    speed = {"of": "N7-MAIN", "key": "mesonet.network.capacity.normal", "speed": 600}
    assert setup["configured"](data, **speed) == 15
    assert setup["configured"](data, **speed, reading="gbps") == 0.18
    assert setup["design_resolution"](data, of="N7-MAIN") == 6
    assert setup["correlated_factors"](data, of="N8H-MAIN") == 0
    assert setup["host_share"](
        data, of="N8H-MAIN", hosts="sources", below="direct"
    ) == pytest.approx(1080 / 17_460)


def test_courses_of_long_lived_flows_are_kept() -> None:
    run = STUDY.cell("N7-MAIN", {"condition": "8", "algorithm": "FAST-AT"})
    small = {
        **run.scenario["mesonet"], "MI": 400, "R1": 40, "baseSources": 2, "M": 200,
        "periods": [
            {"name": "TP0", "from": "0 s", "to": "40 s"},
            {"name": "TP1", "from": "40 s", "to": "80 s"},
        ],
    }  # fmt: skip
    results = longhaul.run({**run.scenario, "mesonet": small})
    kept = STUDY.reduction(STUDY.experiments["N7-MAIN"]).reducer(results)
    row = STUDY.module("metrics").metrics(kept, run)
    flow = MesoNet.of(results).long_lived.filter(
        (pl.col("flow") == "L1") & (pl.col("t_s") > 40.0 + 1e-9) & (pl.col("t_s") <= 80.0 + 1e-9)
    )
    windows = flow["cwnd_pkts"].to_numpy()
    above = windows > windows.mean()
    assert row["L1_cwnd_crossings_TP1"] == (above[1:] != above[:-1]).sum()
    assert row["L1_cwnd_kept_TP1"] == pytest.approx(windows[99] / windows[0])
    assert flow["fast_alpha_pkts"][-1] is None, "the flow is stopped at the end of the run"
    assert row["L1_alpha_end_TP1"] == flow["fast_alpha_pkts"][-2] == 200.0
    assert row["L1_pps_max_TP1"] == flow["throughput_pps"].max()
    start = MesoNet.of(results).long_lived.filter(flow="L1").filter(pl.col("t_s") < 40.1)
    rates = start["throughput_pps"].drop_nulls().to_numpy()
    up = (rates >= rates.mean()).argmax()
    assert row["L1_pps_min_TP0"] == rates[up:].min() > rates.min()
    assert row["DD_cwnd_max_TP1"] > 0
    network = MesoNet.of(results).network
    usual = network.filter(pl.col("t_s") < 40.1)["normal_mode_flows"].mean()
    later = network.filter(pl.col("t_s") > 40.1)
    few = later.filter(pl.col("normal_mode_flows") <= usual)["t_s"]
    assert row["abated_s_TP1"] == pytest.approx(few[0] - 40 if len(few) else 40)
    assert row["abated_s_TP0"] == pytest.approx(network["t_s"][0])


def test_shorter_periods_have_no_window_after_100_intervals() -> None:
    run = STUDY.cell("N7-MAIN", {"condition": "8", "algorithm": "TCP"})
    periods = [{"name": "TP1", "from": "4 s", "to": "8 s"}]
    small = {**run.scenario["mesonet"], "MI": 50, "R1": 40, "baseSources": 2, "periods": periods}
    results = longhaul.run({**run.scenario, "mesonet": small})
    kept = STUDY.reduction(STUDY.experiments["N7-MAIN"]).reducer(results)
    row = STUDY.module("metrics").metrics(kept, run)
    assert row["L1_cwnd_kept_TP1"] is None
    assert row["L1_pps_max_TP1"] > 0


def test_clusters_without_some_responses_or_algorithms() -> None:
    """Check measures of clusters of algorithms, with some responses or algorithms left out.

    FAST differs from the others in 36 responses, BIC and Scalable TCP in the other nine.
    """
    apart = {"FAST": (1.0, 9.0), "BIC": (8.0, 1.4), "Scalable": (8.1, 1.4)}
    rows: list[dict[str, object]] = []
    for place, algorithm in enumerate(ALGORITHMS):
        first, later = apart.get(algorithm, (1.0 + 0.1 * place, 1.0 + 0.1 * place))
        row = {"experiment": "N6-MAIN", "condition": 5, "algorithm": algorithm, "replication": 0}
        values = {f"y{n}_TP1": first if n < 10 else later for n in range(1, 46)}
        rows.append(row | values)
    data = Data(pl.DataFrame(rows), pl.DataFrame(), ("condition", "algorithm"))
    of = {"of": "N6-MAIN", "period": "TP1"}
    pair = {"algorithms": "BIC,Scalable"}
    most = ",".join(f"y{n}" for n in range(10, 46))
    assert competitors["distinctive"](data, **of, algorithms="FAST") == 1
    assert competitors["distinctive"](data, **of, **pair, left_out=most) == 1
    assert competitors["together"](data, **of, **pair, without="FAST") == 1
    assert competitors["together"](data, **of, **pair, without="FAST,BIC") == 0
