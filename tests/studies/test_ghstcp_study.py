"""The study of gentle HighSpeed TCP: its metrics and measures, on invented results."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import longhaul
from longhaul.analysis.fairness import jain
from longhaul.campaign import Run
from longhaul.studies.data import Data
from longhaul.studies.figures import drawing
from longhaul.studies.study import find
from longhaul_studies.ghstcp_2006.published import printed

STUDY = find("ghstcp-2006")
SECONDS = 10.0


def kept(rate_bps: float, **groups: list[float]) -> dict[str, Any]:
    """Return the stored values of a run, with throughputs (Mbit/s) of the flows of each group."""
    labels = [
        {
            "label": name,
            "each_delivered_bytes": [rate * 1e6 / 8 * SECONDS for rate in rates],
            "timeouts": 2,
            "sent_pkts": 1000,
            "dropped_pkts": 10,
            "retransmitted_pkts": 12,
        }
        for name, rates in groups.items()
    ]
    link = {
        "utilization": 0.9,
        "dropped_pkts": 20,
        "arrived_pkts": 1000,
        "queue_mean_pkts": 5.0,
        "rate_bps": rate_bps,
    }
    return {"run": {"measured_s": SECONDS}, "labels": labels, "links": [link]}


def metrics(found: dict[str, Any], experiment: str = "E", **cell: float) -> dict[str, float]:
    """Return the study's metrics of a run with the stored values `found`."""
    row: dict[str, float] = STUDY.module("metrics").metrics(found, Run(experiment, cell, 0, {}))
    return row


def test_jains_index() -> None:
    # Jain, Chiu and Hawe, 1984: k of n users with equal shares have k / n.
    assert jain([1, 1, 1, 1]) == 1
    assert jain([3, 3, 0, 0]) == pytest.approx(0.5)
    assert jain([0, 0]) is None


def test_utilisation_counts_packets_on_the_wire_and_fairness_fair_shares() -> None:
    # Flows have their max-min fair shares (section 2.3); 1460 of 1500 bytes are payload.
    payload = 1460 / 1500
    row = metrics(kept(2.5e9, s1=[100 * payload] * 5, s2=[400 * payload] * 5))
    assert row["utilisation"] == pytest.approx(100)
    assert row["fairness"] == pytest.approx(1)
    assert row["mbps_s1"] == pytest.approx(500)
    # Unfairness within a group does not change the fairness between groups.
    uneven = metrics(kept(2.5e9, s1=[500 * payload, 0, 0, 0, 0], s2=[400 * payload] * 5))
    assert uneven["fairness_groups"] == pytest.approx(1)
    assert uneven["fairness"] == pytest.approx(10**2 / 10 / (5**2 + 5))
    # In case 4 of table 2.1 at 25 ms, 91 and 2349 Mbit/s give the printed 0.652 and 97.618 %.
    groups = {"s1": [91 / 5 * payload] * 5, "s2": [2349 / 5 * payload] * 5}
    row = metrics(kept(2.5e9, **groups))
    assert row["fairness"] == pytest.approx(0.652, abs=1e-3)
    assert row["utilisation"] == pytest.approx(97.6, abs=0.02)
    assert row["loss_rate"] == pytest.approx(0.02)


def test_the_connections_of_flow_1_count_as_one_in_the_testbed() -> None:
    # By section 4.4, 80 Mbit/s and two times 10 Mbit/s, with 512 KB sockets, give 0.505.
    row = metrics(kept(100e6, flow1=[10.0] * 8, flow2=[10.0, 10.0]), "GH4-E0-E4", socket_kb=512)
    assert row["fairness"] == pytest.approx(0.505, abs=1e-3)
    assert row["utilisation"] == pytest.approx(100)
    assert row["tradeoff"] == pytest.approx(0.505, abs=1e-3)
    # The max-min fair shares of table 4.1 have fairness 1.
    row = metrics(kept(200e6, flow1=[176.0], flow2=[12.0, 12.0]), "GH4-E5-E9", socket_kb=64)
    assert row["fairness"] == pytest.approx(1)


def data(**values: list[Any]) -> Data:
    """Return results with one replication and these columns."""
    table = pl.DataFrame({**values, "replication": [0] * len(next(iter(values.values())))})
    axes = tuple(axis for axis in ("delay_ms", "flow1", "n", "socket_kb") if axis in values)
    return Data(table, pl.DataFrame(), axes)


def test_rows_within_the_printed_intervals_are_counted() -> None:
    measures = STUDY.module("measures").MEASURES
    rows = printed("2.1")
    assert len(rows) == 12
    found = data(
        experiment=[row["experiment"] for row in rows],
        delay_ms=[float(row["delay_ms"]) for row in rows],
        # Utilisations are 0, 0.15, ... 1.65 half-widths off print; 1 % is 25 Mbit/s.
        utilisation=[
            float(row["utilisation"]) + 0.15 * off * float(row["ci95_total_mbps"]) / 25
            for off, row in enumerate(rows)
        ],
    )
    assert measures["within_interval"](found, table=2.1) == pytest.approx(7 / 12)


def test_one_level_ahead_of_all_others() -> None:
    measures = STUDY.module("measures").MEASURES
    found = data(
        experiment=["E"] * 3,
        flow1=["reno", "parallel", "hstcp"],
        socket_kb=[64.0] * 3,
        utilisation=[80.0, 95.0, 91.0],
    )
    cell = {"of": "E", "socket_kb": 64, "metric": "utilisation"}
    for flow, others, ahead in (("parallel", "!parallel", 4), ("hstcp", "!hstcp,parallel", 11)):
        where = {**cell, "flow1": flow, "less.flow1": others}
        assert measures["least"](found, **where) == pytest.approx(ahead)
    behind = {**cell, "flow1": "!reno", "less.flow1": "reno"}
    assert measures["least"](found, **behind) == pytest.approx(11)
    assert measures["value"](
        found, flow1="hstcp", **cell, **{"less.flow1": "reno"}
    ) == pytest.approx(11)


def test_what_falls_with_the_delay_and_who_is_fairer() -> None:
    measures = STUDY.module("measures").MEASURES
    rows = printed()
    found = data(
        experiment=[row["experiment"] for row in rows],
        delay_ms=[float(row["delay_ms"]) for row in rows],
        utilisation=[float(row["utilisation"]) for row in rows],
        fairness=[float(row["fairness"]) for row in rows],
    )
    # The printed tables satisfy the measure, except for these cases.
    assert measures["never_rises"](found, metric="fairness", without="GH2-C01", slack=0) == 1
    without = "GH2-C01,GH2-C08,GH3-C12"
    assert measures["never_rises"](found, metric="utilisation", without=without, slack=0) == 1
    assert measures["never_rises"](found, metric="utilisation", without="", slack=0) < 1
    assert measures["gentle_is_fairer"](found) == 1
    ends = measures["ends"](found, of="GH2-C02", metric="fairness", along="delay_ms")
    assert ends == pytest.approx(0.747 / 0.887)


def test_adaptation_is_told_from_samples() -> None:
    adaptation = STUDY.module("adaptation").adaptation
    #     average: above the target, back in it, below it, back in it
    average = [5000, 5600, 6000, 5800, 5400, 5000, 4400, 4000, 4300, 4600, 5000]
    max_p = [1e-5, 1e-5, 2e-5, 3e-5, 4e-5, 4e-5, 4e-5, 3e-5, 2e-5, 2e-5, 2e-5]
    samples = [
        {"t_s": 100.0 + second, "queue_avg_pkts": queue, "max_p": p}
        for second, (queue, p) in enumerate(zip(average, max_p, strict=True))
    ]
    row = adaptation(samples)
    # max_p rises after averages of 5600, 6000 and 5800; before the last, the average fell.
    assert row["rises"] == 3
    assert row["rises_while_falling"] == pytest.approx(1 / 3)
    # Two seconds after its peak of 6000, the average is back, and max_p has doubled.
    assert row["overshoot"] == pytest.approx(2)
    assert row["lag_s"] == pytest.approx(2)
    assert row["return_s"] == pytest.approx(2)
    assert row["kept"] == pytest.approx(0.5)
    # A constant max_p gives no measures.
    rest = adaptation([{**sample, "max_p": 0.01, "queue_avg_pkts": 600} for sample in samples])
    assert rest["rises"] == 0
    assert rest["rises_while_falling"] is None
    assert rest["overshoot"] is None


def test_windows_that_are_reduced_in_one_event() -> None:
    def flow(name: str, window: list[float]) -> list[dict[str, Any]]:
        return [
            {"experiment": "E", "replication": 0, "t_s": 100.0 + at, "name": name, "label": "s2",
             "cwnd_pkts": cwnd}
            for at, cwnd in enumerate(window)
        ]  # fmt: skip

    # Both flows reduce in the second or third sample, later only the first.
    one = flow("a", [100, 70, 71, 72, 73, 50, 51])
    other = flow("b", [100, 101, 71, 72, 73, 74, 75])
    found = Data(pl.DataFrame(), pl.DataFrame(one + other), ())
    together = STUDY.module("traces").MEASURES["cut_together"](found, of="E", label="s2")
    assert together == pytest.approx((1 + 0.5) / 2)


def test_all_printed_rows_are_there_and_consistent() -> None:
    rows = printed()
    assert len(rows) == 93
    assert {row["delay_ms"] for row in rows} == {"25", "50", "100"}
    assert {row["experiment"] for row in rows} <= set(STUDY.experiments)
    # The highest printed utilisation leaves 2.4 % of the link to background traffic.
    assert max(float(row["utilisation"]) for row in rows) == pytest.approx(97.618)


def test_theory_alone_is_as_the_source_has_it() -> None:
    nothing = Data(pl.DataFrame(), pl.DataFrame(), ())
    for claim in STUDY.claims:
        of_theory = all(STUDY.experiments[name].template is None for name in claim.experiments)
        if of_theory:
            measured = claim.question.value(nothing)
            assert claim.expected.judge(measured) == "reproduced", (claim.id, measured)


def test_trajectories_of_flows_and_link_stand_in_one_table() -> None:
    flow = {"t_s": 0.5, "name": "s2-0", "label": "s2", "cwnd_pkts": 2.0, "srtt_s": 0.1}
    link = {"t_s": 0.5, "name": "bottleneck", "queue_pkts": 7, "queue_avg_pkts": 3.5, "max_p": 0.1}
    # 500 rows exceed the number from which polars infers column types.
    found = {"flow_series": [flow] * 500, "link_series": [link]}
    trajectory: pl.DataFrame = STUDY.module("metrics").trajectory(found)
    assert trajectory["cwnd_pkts"].drop_nulls().len() == 500
    assert trajectory.filter(pl.col("name") == "bottleneck")["max_p"].to_list() == [0.1]
    # If the queue adapts max_p, flows are left out.
    adapts = {"flow_series": [flow] * 500, "link_series": [link, {**link, "max_p": 0.2}]}
    assert STUDY.module("metrics").trajectory(adapts)["max_p"].to_list() == [0.1, 0.2]


def axes_of(number: str, found: Data) -> Axes:
    """Return the only panel of figure `number`, drawn from the results `found`."""
    figure = next(one for one in STUDY.module("figures").FIGURES if one.number == number)
    drawn = drawing(figure, found)
    assert drawn is not None
    return drawn.axes[0]


def points(line: Line2D) -> tuple[list[float], list[float]]:
    x, y = (np.asarray(values, float).tolist() for values in line.get_data())
    return x, y


def test_bands_of_figures_5_6_and_5_7_end_where_the_model_does() -> None:
    # First and last number of connections with a buffer of half the path's capacity.
    nothing = Data(pl.DataFrame(), pl.DataFrame(), ())
    for number, ends in (
        ("5.6", [(19, 28), (182, 286), (1812, 2861)]),
        ("5.7", [(182, 286), (363, 572), (906, 1430)]),
    ):
        lines = axes_of(number, nothing).lines
        # The line of the last number has no label of its own.
        pairs = list(zip(lines[::2], lines[1::2], strict=True))
        found = [tuple(int(points(line)[0][-1]) for line in pair) for pair in pairs]
        assert found == ends
        assert all(points(line)[1][-1] == pytest.approx(100) for line in lines)


def test_the_laws_of_figure_5_8_cross_between_the_thresholds() -> None:
    nothing = Data(pl.DataFrame(), pl.DataFrame(), ())
    drawn = [points(line) for line in axes_of("5.8", nothing).lines]
    crossings = [(x[0], y[0]) for x, y in drawn if len(x) == 1]
    losses = [loss for loss, _ in crossings]
    # In the example (thresholds 5 and 15 packets, max_p 0.1), more connections lose more.
    assert len(crossings) == 3
    assert losses == sorted(losses)
    assert [queue for _, queue in crossings] == pytest.approx([5 + 100 * loss for loss in losses])


def test_figure_2_9_draws_the_ten_flows_of_the_source() -> None:
    parts = STUDY.module("metrics").RESPONSE_PARTS
    cells = [(protocol, flows) for protocol in ("hstcp", "ghstcp") for flows in (5, 10)]
    # Response times equal the percentile, times ten against five flows.
    times = {f"response_p{part}_s": [part * (10.0 if n == 5 else 1.0) for _, n in cells]
             for part in parts}  # fmt: skip
    table = pl.DataFrame(
        {"experiment": ["GH2-C20"] * 4, "protocol": [p for p, _ in cells],
         "flows": [float(n) for _, n in cells], "replication": [0] * 4, **times}
    )  # fmt: skip
    lines = axes_of("2.9", Data(table, pl.DataFrame(), ("protocol", "flows"))).lines
    assert len(lines) == 2
    for line in lines:
        took, share = points(line)
        assert took == pytest.approx(list(parts))
        assert share == pytest.approx([part / 100 for part in parts])


def test_figures_4_4_and_4_6_draw_recorded_modes_under_the_window() -> None:
    found = STUDY.reduction(STUDY.experiments["GH4-MODE"]).reducer(
        longhaul.run({**STUDY.cell("GH4-MODE", {"flow1": "refined"}).scenario, "duration": "30 s"})
    )
    changes = [row["gentle"] for row in found["modes"]]
    # Section 4.2.2: HighSpeed TCP's mode below the path's capacity, standard TCP's above.
    assert changes[0] == 0.0
    assert all(one != other for one, other in pairwise(changes))
    samples = STUDY.module("metrics").trajectory(found)
    places = [pl.lit(value).alias(name) for name, value in
              (("experiment", "GH4-MODE"), ("flow1", "refined"), ("replication", 0))]  # fmt: skip
    lines = axes_of(
        "4.6", Data(pl.DataFrame(), samples.with_columns(*places), ("flow1",))
    ).lines  # fmt: skip
    by_label = {str(line.get_label()): points(line) for line in lines}
    times, windows = by_label["window"]
    assert not np.isnan(windows).any()
    at, modes = by_label["mode"]
    assert at[-1] == times[-1]
    height = np.interp(at[:-1], times, windows)
    gentle = np.array(modes[:-1]) == STUDY.module("figures").MODES_PKTS[1]
    assert height[gentle].mean() > height[~gentle].mean()


def test_every_figure_of_results_is_there() -> None:
    # Sketches and figures of topologies are left out.
    chapters = {
        2: [1, 2, 4, 5, 7, 8, 9], 3: [1, 2, 3], 4: [4, 5, 6, 7, 8, 9, 10], 5: [3, 4, 5, 6, 7, 8, 9],
    }  # fmt: skip
    wanted = {f"{chapter}.{number}" for chapter, those in chapters.items() for number in those}
    numbers = {one.number.split(" ")[0] for one in STUDY.module("figures").FIGURES}
    assert wanted <= numbers
    assert sum(one.number.startswith("Table") for one in STUDY.module("figures").FIGURES) == 12


def test_tables_have_means_and_the_interval_of_the_total() -> None:
    tables = STUDY.module("tables")
    found = data(
        experiment=["GH2-C01"] * 3,
        delay_ms=[25.0] * 3,
        mbps_s1=[490.0, 500.0, 495.0],
        mbps_s2=[1500.0, 1520.0, 1540.0],
        total_mbps=[1990.0, 2020.0, 2035.0],
        utilisation=[79.6, 80.8, 81.4],
        fairness=[0.98, 0.99, 1.0],
        fairness_groups=[0.99, 1.0, 1.0],
    )
    head, row, *rest = tables.lines(found, "2.1")
    # 1990, 2020 and 2035 deviate by 22.91; t with two degrees of freedom is 4.303.
    start = "| GH2-C01 | Reno | Reno | 25 | 495 | 1520 | 56.9 | 80.6 | 87.361 | "
    assert row == start + "0.990 | 0.997 | 0.994 | 3 |"
    assert len(rest) == 11
    # Rows without runs have empty cells.
    assert {line.count("|") for line in rest} == {row.count("|")}
    assert head.splitlines()[0].count("|") == row.count("|")
    assert tables.half_width([5.0]) is None
