"""Sync-TCP's web experiments: settings common to all protocols, and stored values of a run."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes

import longhaul
from longhaul.campaign import Run
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import drawing
from longhaul.studies.measures import GENERAL
from longhaul.studies.study import find

STUDY = find("sync-tcp-2003")
METRICS = STUDY.module("metrics")
MEASURES = STUDY.module("web.measures")
FIGURES = STUDY.module("web.figures")


def cell(experiment: str, replication: int = 0, **levels: str | float) -> Run:
    (found,) = [
        run
        for run in STUDY.runs("full", [experiment], replication + 1)
        if run.replication == replication
        and all(run.cell[axis] == level for axis, level in levels.items())
    ]
    return found


def test_protocols_have_the_same_connections_and_replications_have_rates_of_their_own() -> None:
    scenarios = [
        cell("H1", number, protocol=name, load=85).scenario
        for number, name in ((0, "reno"), (0, "mixreact"), (0, "ecn-5"), (1, "reno"))
    ]
    rates = [[flow["traffic"]["rate"] for flow in scenario["flows"]] for scenario in scenarios]
    assert rates[0] == rates[1] == rates[2] != rates[3]
    # Table A.3 has 24.1 forward connections per second and cloud.
    assert rates[0][0] == pytest.approx(24.1, rel=0.01)


def test_queues_and_loss_recovery_follow_the_protocol() -> None:
    tuned = cell("H1-TUNED", protocol="ecn-136", load=85).scenario
    queues = [hop["queue"] for hop in tuned["topology"]["parking-lot"]["hops"]]
    assert {queue["target_delay"] for queue in queues} == {"15 ms"}, "Table 4.10"
    assert {flow["recovery"] for flow in tuned["flows"]} == {"ns2-sack"}
    assert tuned["tcp"]["ecn"] is True
    reno = cell("H1", protocol="reno", load=85).scenario
    assert {flow["recovery"] for flow in reno["flows"]} == {"ns2-reno"}
    assert reno["tcp"]["ecn"] is False


def test_the_flow_that_is_followed_is_that_of_the_largest_response() -> None:
    scenario = cell("Z1", protocol="reno", load=60).scenario
    scenario = {**scenario, "duration": "400 s", "measure": {"every": "never"}}
    exchanges = longhaul.run(scenario).exchanges
    mine = exchanges.filter(name="forward-4", connection=6370)
    assert mine["response_bytes"].to_list() == [exchanges["response_bytes"].max()]


@pytest.fixture(scope="module")
def run() -> tuple[Run, longhaul.Results, dict[str, Any]]:
    """Run Reno for a minute at 95 % load, and return run, results and stored values."""
    wanted = cell("H1", protocol="reno", load=95)
    measure = {"from": "10 s", "every": "1 s"}
    results = longhaul.run({**wanted.scenario, "duration": "70 s", "measure": measure})
    return wanted, results, STUDY.reduction(STUDY.experiments["H1"]).reducer(results)


def test_metrics_are_those_of_forward_responses(
    run: tuple[Run, longhaul.Results, dict[str, Any]],
) -> None:
    wanted, results, kept = run
    row = METRICS.metrics(kept, wanted)
    forward = results.exchanges.filter(
        pl.col("name").str.starts_with("forward"), pl.col("start_s") >= 10
    )
    done = forward.drop_nulls("end_s")
    took = (done["end_s"] - done["start_s"]).to_numpy()
    assert row["complete"] == len(done) < len(forward)
    assert row["median"] == pytest.approx(1e3 * np.median(took))
    assert row["within_1500"] == pytest.approx(100 * np.mean(took <= 1.5))
    assert row["beyond_40_s"] == (took > 39.810717).sum()
    small = done["response_bytes"].to_numpy() <= 25_560
    assert row["within_500_small"] == pytest.approx(100 * np.mean(took[small] <= 0.5))
    # Goodput at the clients is below the utilisation of the last link and the throughput.
    assert 0.5 * 9500 < row["goodput"] < row["utilisation"] <= row["throughput"]


def test_curves_are_distribution_functions(
    run: tuple[Run, longhaul.Results, dict[str, Any]],
) -> None:
    wanted, _, kept = run
    assert METRICS.drawn(wanted)
    curves = METRICS.trajectory(kept)
    row = METRICS.metrics(kept, wanted)
    for name in ("cdf", "cdf-small", "cdf-large", "queue-0"):
        heights = curves.filter(curve=name)["y"]
        assert heights.is_sorted()
        assert heights.is_between(0, 1).all()
    for name in ("ccdf-all", "sizes", "round-trips-all"):
        assert curves.filter(curve=name)["y"].is_sorted(descending=True)
    at = curves.filter(pl.col("curve") == "cdf", (pl.col("x") - 1.5).abs() < 1e-9)["y"][0]
    assert 100 * at == pytest.approx(row["within_1500"], abs=1e-3)


def data(**metrics: list[float]) -> Data:
    """Return three replications of two protocols at two loads, with these metrics."""
    rows = []
    for number in range(3):
        for place, (protocol, load) in enumerate(
            (one, load) for load in (80, 90) for one in ("reno", "mixreact")
        ):
            values = {name: each[place] + 10.0 * number for name, each in metrics.items()}
            facts = {"experiment": "H1", "replication": number, "results_version": 3}
            rows.append({**facts, "protocol": protocol, "load": load, **values})
    return Data(pl.DataFrame(rows), pl.DataFrame(), ("protocol", "load"))


def test_differences_are_within_replications() -> None:
    # Replications differ more than protocols, so only pairs show the difference of 1.
    given = data(loss=[5.0, 4.0, 9.0, 9.5])
    where = {"of": "H1", "metric": "loss", "protocol": "mixreact", "less.protocol": "reno"}
    where["by"] = "replication"
    assert GENERAL["value"](given, **where, load=80) == -1.0
    assert GENERAL["largest"](given, **where) == 0.5
    assert GENERAL["least"](given, **where) == -1.0
    assert GENERAL["largest"](given, **where, load="..85") == -1.0
    assert GENERAL["furthest"](given, **where) == 1.0
    ratio = {word: level for word, level in where.items() if word != "less.protocol"}
    ratio["over.protocol"] = "reno"
    assert GENERAL["value"](given, **ratio, load=80) == pytest.approx(14 / 15)


def test_loads_of_tuned_queues_are_those_of_their_own_experiment() -> None:
    rows = [
        {"experiment": name, "protocol": protocol, "load": load, "replication": 0, "loss": loss}
        for name, protocol, load, loss in (
            ("H1", "pcwnd", 70, 1.0), ("H1", "pcwnd", 80, 2.0), ("H1", "pcwnd", 90, 4.0),
            ("H1-TUNED", "ecn-136", 80, 5.0), ("H1-TUNED", "ecn-136", 90, 5.5),
        )
    ]  # fmt: skip
    given = Data(pl.DataFrame(rows), pl.DataFrame(), ("protocol", "load"))
    where = {"of": "H1", "metric": "loss", "protocol": "pcwnd", "by": "replication"}
    where |= {"less.of": "H1-TUNED", "less.protocol": "ecn-136"}
    assert GENERAL["largest"](given, **where) == -1.5


def test_what_was_not_run_is_not_measured() -> None:
    given = data(loss=[1.0, 1.0, 1.0, 1.0])
    where = {"of": "H1", "metric": "loss", "protocol": "pcwnd", "by": "replication"}
    for measure, how in (("value", "less"), ("largest", "less"), ("value", "over")):
        with pytest.raises(longhaul.LonghaulError):
            GENERAL[measure](given, **where, load=80, **{f"{how}.protocol": "reno"})
    with pytest.raises(longhaul.LonghaulError, match="was not run"):
        MEASURES.curve_of(given, "H1", "cdf", protocol="reno")


def test_a_table_of_conditions_has_levels_for_each_replication() -> None:
    first, second = (cell("HM", number, protocol="reno", pair="75-60") for number in (0, 1))
    assert first.cell["pair"] == second.cell["pair"]
    assert first.cell["cross_1"] != second.cell["cross_1"]
    with pytest.raises(longhaul.LonghaulError, match="has 20 replications, not 21"):
        list(STUDY.experiments["HM"].sweep("full", 21).cells(20))


WEB = MEASURES.WEB


def web(rows: list[dict[str, Any]]) -> Data:
    values = pl.DataFrame([{"experiment": "E", "replication": 0, **row} for row in rows])
    axes = tuple(
        axis for axis in ("queue", "load", "tcp", "pair", "protocol") if axis in values.columns
    )
    return Data(values, pl.DataFrame(), axes)


def test_where_distributions_cross() -> None:
    """Check the time at which two distributions of response times cross.

    The first one is 10 points higher at 300 ms, 30 points lower at 400 ms, and so equal at 325 ms.
    """
    steps = range(100, 1501, 100)
    early = {f"within_{ms}": 40.0 if ms <= 300 else 50.0 for ms in steps}
    late = {f"within_{ms}": 30.0 if ms <= 300 else 80.0 for ms in steps}
    found = web([{"queue": "a", "load": 80, **early}, {"queue": "b", "load": 80, **late}])
    where = {"of": "E", "one": "a", "other": "b", "load": 80}
    assert WEB["crossing_ms"](found, **where) == pytest.approx(325.0)
    assert WEB["crossing_share"](found, **where) == pytest.approx(42.5)
    with pytest.raises(NotRunError, match="does not come down"):
        WEB["crossing_ms"](found, **where | {"one": "b", "other": "a"})


def test_what_is_judged_at_all_loads_is_judged_at_the_worst() -> None:
    found = web(
        [{"queue": queue, "load": load, "loss": loss, "use": use}
         for queue, load, loss, use in (("a", 50, 1.0, 10.0), ("b", 50, 2.9, 10.1),
                                        ("a", 70, 2.0, 20.0), ("b", 70, 2.5, 21.0),
                                        ("a", 80, 9.0, 30.0), ("b", 80, 9.9, 60.0))]
    )  # fmt: skip
    where = {"of": "E", "load": "50..79"}
    assert GENERAL["largest"](found, metric="loss", **where) == 2.9
    assert GENERAL["spread"](found, metric="use", each="load", **where) == pytest.approx(1.05)


def test_pairs_of_one_total_load() -> None:
    found = web(
        [{"pair": pair, "protocol": "reno", "one": one, "three": three}
         for pair, one, three in (("75-50", 1.0, 0.5), ("75-60", 2.0, 2.5), ("90-50", 1.0, 9.0))]
    )  # fmt: skip
    cell = {"of": "E", "pair": "75-*", "protocol": "reno"}
    assert GENERAL["largest"](found, metric="three-one", **cell) == 0.5
    assert GENERAL["spread"](found, metric="one", **cell) == 2.0
    assert GENERAL["least"](found, metric="three/one", **cell) == 0.5


def axes_of(number: str, samples: pl.DataFrame) -> list[Axes]:
    """Return the panels of a figure for data that have only these samples."""
    figure = next(one for one in FIGURES.WEB if one.number == number)
    axes = ("protocol", "load", "pair")
    whole = drawing(figure, Data(pl.DataFrame(), samples, axes))
    assert whole is not None
    return list(whole.axes)


def curve(name: str, heights: list[float], experiment: str, **levels: str | float) -> pl.DataFrame:
    """Return a curve with the values `heights` at x = 0, 1, 2, ..."""
    x = [float(at) for at in range(len(heights))]
    words = {"experiment": experiment, "curve": name, "replication": 0, **levels}
    return pl.DataFrame({"x": x, "y": heights}).with_columns(
        **{key: pl.lit(value) for key, value in words.items()}
    )


def test_headroom_is_the_window_less_unacknowledged_segments() -> None:
    window = curve("cwnd", [4.0, 8.0, 3.0], "Z1", protocol="reno", load=60.0)
    data = curve("in_flight", [4.0, 5.0, 6.0], "Z1", protocol="reno", load=60.0)
    panel = axes_of("4.50c, 4.51c", pl.concat([window, data]))[0]
    assert np.asarray(panel.lines[0].get_ydata()).tolist() == [0.0, 3.0, -3.0]


def test_loads_end_to_end_have_a_line_each() -> None:
    levels = [(protocol, f"90-{share}", height)
              for protocol, top in (("reno", 0.5), ("mixreact", 0.9))
              for share, height in ((50, top), (85, top / 2))]  # fmt: skip
    samples = [
        curve("cdf", [0.0, height], "HM", protocol=protocol, pair=pair)
        for protocol, pair, height in levels
    ]
    reno, mixreact = axes_of("4.59", pl.concat(samples))
    for panel, top in ((reno, 0.5), (mixreact, 0.9)):
        ends = {str(line.get_label()): np.asarray(line.get_ydata())[-1] for line in panel.lines}
        assert ends == {"50 % end to end": top, "85 % end to end": top / 2}
