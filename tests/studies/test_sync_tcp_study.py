"""The study of Sync-TCP's long transfers: stored values of runs, and measures."""

import csv
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import longhaul
from longhaul.analysis.fairness import jain
from longhaul.studies import record
from longhaul.studies.data import Data
from longhaul.studies.figures import drawing
from longhaul.studies.study import find

STUDY = find("sync-tcp-2003")
METRICS = STUDY.module("transfers.metrics")
DETECTORS = STUDY.module("transfers.detectors")
FIGURES = STUDY.module("transfers.figures")
MEASURES = STUDY.measures


def of(experiment: str, seconds: int, **levels: str) -> tuple[Any, Mapping[str, Any]]:
    """Simulate the first seconds of a run, and return it with its stored values."""
    cell = STUDY.cell(experiment, levels)
    results = longhaul.run({**cell.scenario, "duration": f"{seconds} s"})
    return cell, STUDY.reduction(STUDY.experiments[experiment]).reducer(results)


def test_what_is_printed_of_flows_adds_up() -> None:
    sums = {"FTP-SB": {"pcwnd": 9030.38, "mixreact": 8421.87},
            "FTP-MB": {"pcwnd": 4934.92, "mixreact": 4235.36}}  # fmt: skip
    for experiment, totals in sums.items():
        printed = FIGURES.printed_flows(experiment, "goodput_kbps")
        found = {protocol: sum(flows.values()) for protocol, flows in printed.items()}
        assert found == pytest.approx(totals, abs=0.01)
    goodput = FIGURES.printed_flows("FTP-SB", "goodput_kbps")
    assert jain(list(goodput["pcwnd"].values())) == pytest.approx(0.733, abs=5e-4)


@pytest.mark.parametrize("experiment", ["FTP-SB", "FTP-MB"])
def test_flows_have_the_round_trips_of_table_4_2(experiment: str) -> None:
    scenario = STUDY.cell(experiment, {"protocol": "reno"}).scenario
    round_trips = {flow["label"]: float(flow["rtt"].split()[0]) for flow in scenario["flows"]}
    for number, expected in enumerate(METRICS.ROUND_TRIPS_MS, 1):
        assert round_trips[f"forward-{number}"] == expected
        if f"cross-1-{number}" in round_trips:
            # Cross traffic has three links instead of seven, in both directions.
            assert round_trips[f"cross-1-{number}"] == pytest.approx(expected - 8)
    with (STUDY.path / "transfers/published/flows.csv").open(encoding="utf-8") as text:
        assert len(list(csv.DictReader(text))) == 80


def test_metrics_of_transfers_agree_with_each_other() -> None:
    cell, kept = of("FTP-SB", 40, protocol="pcwnd")
    row = METRICS.metrics(kept, cell)
    # SYNs, and packets in the queue at the end, are not counted.
    assert row["bytes_over_counted"] == pytest.approx(1.0, abs=5e-3)
    assert row["goodput"] == pytest.approx(sum(row[f"goodput_{n}"] for n in range(1, 21)))
    assert row["cuts_14"] > row["reactions_14"], "early cuts come on top of losses"
    # Delayed ACKs: one ACK covers two segments.
    assert 30 < row["ack_share"] < 40
    # The mean over arrivals and departures exceeds that over time, since packets come in bursts.
    assert row["queue_time_0"] < row["queue_0"] < row["queue_time_0"] + 5
    assert 40 < row["largest_min"] <= row["largest_max"] < 115
    trajectory = METRICS.trajectory(kept)
    assert set(trajectory["sampled"]) == {"seconds"}, "the ten seconds of Figure 4.6 come later"
    assert trajectory["goodput_mbps"][-1] == pytest.approx(row["goodput"] / 1e3, rel=0.02)


def test_detectors_that_watch_leave_the_queue_as_it_is() -> None:
    rows = {}
    for detector in ("pqlen", "mix"):
        cell, kept = of("DET", 15, detector=detector)
        rows[detector] = METRICS.metrics(kept, cell)
    assert rows["pqlen"]["router_checksum"] == rows["mix"]["router_checksum"]
    # The minimum is 7 ms of links, half of 38.97 ms, and seven transmissions of a full segment.
    assert rows["mix"]["transit_min_ms"] == pytest.approx(34.74, abs=0.01)
    assert rows["pqlen"]["verdict_after_loss_s"] >= 0.0
    assert "average_lag_s" in rows["mix"]
    assert "average_lag_s" not in rows["pqlen"]


def test_drains_and_how_soon_they_are_reported() -> None:
    queue = np.array([0, 5, 10, 8, 5, 2, 6, 9, 8, 4, 1, 0], float)
    drains = DETECTORS._drains(np.arange(12.0), queue)
    assert drains == [(3.0, 5.0), (8.0, 10.0)]
    assert DETECTORS._lag(drains, np.array([3.5, 4.0, 9.5])) == pytest.approx(1.0)
    # A report after the beginning of the next drain does not count for the first.
    assert DETECTORS._lag(drains, np.array([8.5])) == pytest.approx(0.5)
    assert DETECTORS._lag(drains, np.array([2.0])) is None


def test_a_router_without_drops_is_not_what_drains() -> None:
    """Check that the path's queueing delay replaces the queue of a router that drops nothing."""
    t, delay = np.arange(3.0), np.array([0.0, 0.2, 0.1])
    router = {"t_s": [0, 1], "queue_bytes": [0, 900], "dropped_pkts": [0, 2]}
    assert DETECTORS._first_drop(router) == 1.0
    assert DETECTORS._queue(router, t, delay)[1].tolist() == [0, 900]
    router["dropped_pkts"] = [0, 0]
    assert DETECTORS._first_drop(router) is None
    assert DETECTORS._queue(router, t, delay)[1] is delay


def test_spells_and_lags_of_averages() -> None:
    congested = np.array([0, 1, 0, 1, 1, 0, 1], bool)
    assert DETECTORS._single(congested) == pytest.approx(2 / 3)
    t = np.arange(6.0)
    delay, average = np.array([0, 60, 60, 0, 0, 0]), np.array([0, 20, 40, 35, 31, 29])
    assert DETECTORS._average_lag(t, delay / 1e3, average / 1e3) == pytest.approx(3.0)


def of_flows(**by_flow: list[float]) -> Data:
    """Return metrics of twenty flows of one run; a flow without a given value has the value 1."""
    row: dict[str, Any] = {"experiment": "E", "protocol": "pcwnd", "replication": 0}
    for metric, values in by_flow.items():
        padded = values + [1.0] * (20 - len(values))
        row |= {f"{metric}_{number}": value for number, value in enumerate(padded, 1)}
    return Data(pl.DataFrame([row]), pl.DataFrame(), ("protocol",))


def test_named_flows_lead_or_trail_all_others() -> None:
    data = of_flows(goodput=[4.0, 0.5, 5.0, 2.0])
    words = {"of": "E", "each": "goodput", "protocol": "pcwnd"}
    assert MEASURES["lead"](data, flows="1+3", **words) == pytest.approx(2.0)
    assert MEASURES["lead"](data, flows=1.0, **words) == pytest.approx(0.8)
    assert MEASURES["trail"](data, flows=2.0, **words) == pytest.approx(0.5)
    longer = of_flows(largest=METRICS.ROUND_TRIPS_MS.tolist())
    words = {"of": "E", "each": "largest", "protocol": "pcwnd"}
    assert MEASURES["rank_with_round_trip"](longer, **words) == pytest.approx(1.0)


def test_peaks_of_a_queue_and_seconds_at_one_packet() -> None:
    queues = {"reno": [0, 91, 60, 92, 40, 90, 91], "mixreact": [92, 10, 92, 10, 92, 10, 92]}
    rows = [
        {"experiment": "E", "replication": 0, "protocol": protocol, "sampled": sampled,
         "t_s": float(t), "queue_pkts": float(size), "cwnd_14": 1.0 if size > 90 else 8.0}
        for sampled in ("router", "seconds")
        for protocol, queue in queues.items() for t, size in enumerate(queue)
    ]  # fmt: skip
    axes = ("protocol",)
    samples = pl.DataFrame(rows)
    data = Data(samples.select("experiment", "replication", "protocol").unique(), samples, axes)
    # A queue that stays above half does not end a peak.
    assert MEASURES["queue_peaks"](data, of="E", protocol="reno") == 2.0
    assert MEASURES["more_queue_peaks"](data, of="E", one="mixreact", other="reno") == 1.0
    less = MEASURES["seconds_at_one_less"](data, of="E", flow=14.0, one="reno", others="mixreact")
    assert less == pytest.approx(-1 / 7)


def test_running_goodput_and_how_far_it_drifts() -> None:
    """Check the running goodput and its largest deviation from the final value.

    The goodput is 9 at 150 s and 10 at the end, so the largest deviation after 150 s is 10 %.
    """
    running = {100.0: 8.0, 150.0: 9.0, 200.0: 10.0, 300.0: 10.0}
    cell = {"experiment": "E", "replication": 0, "protocol": "reno", "length_s": 300.0}
    rows = [
        {**cell, "sampled": "seconds", "t_s": t, "goodput_mbps": goodput}
        for t, goodput in running.items()
    ]
    axes = ("protocol", "length_s")
    data = Data(pl.DataFrame([cell]), pl.DataFrame(rows), axes)
    words = {"of": "E", "protocol": "reno"}
    assert MEASURES["running_goodput"](data, **words, at_s=150.0) == 9000.0
    assert MEASURES["running_goodput"](data, **words, at_s=199.0) == 9000.0
    assert MEASURES["later_drift"](data, **words, after_s=150.0) == pytest.approx(10.0)
    assert MEASURES["later_drift"](data, **words, after_s=200.0) == 0.0


def test_three_detectors_are_drawn_over_one_drain_of_the_queue() -> None:
    """Check the plots of three detectors over the same drain of the queue.

    SyncTrend and SyncMix report the decrease early, SyncAvg only later (Figures 3.12 and 3.15).
    """
    _, found = record.recorded(STUDY)
    figure = next(one for one in FIGURES.TRANSFERS if one.number == "3.12, 3.15")
    whole = drawing(figure, found.data)
    assert whole is not None
    panels = [
        {str(line.get_label()): np.asarray(line.get_data(), float) for line in axes.lines}
        for axes in whole.axes
    ]
    for panel in panels[1:]:
        assert np.array_equal(panel["router's queue"], panels[0]["router's queue"])
    trend, average, mix = panels
    drained = np.asarray(trend["router's queue"])
    half = drained[0][np.flatnonzero(drained[1] > drained[1].max() / 2)[-1]]
    for panel in (trend, mix):
        assert (panel["decreasing"][0] > half - 0.1).all()
        assert panel["decreasing"].size
    assert average["average"][1, -1] > average["30 ms"][1, -1]
