"""Time-sequence graphs: each segment of a connection, and samples of windows and queues."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import SMALL, CommandLine
from matplotlib.collections import LineCollection

import longhaul
from longhaul import ResultsError, plots
from longhaul.results import captures

ONE = SMALL.replace("count = 2", "count = 1").rpartition("[[flows]]")[0]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run one flow that overflows a queue, and capture its packets in both directions."""
    links = 'measure.capture=["bottleneck", "bottleneck-reverse"]'
    return longhaul.run(ONE, out=tmp_path_factory.mktemp("captured") / "c1", set=[links])


def test_segments_and_retransmissions_are_those_of_the_run(captured: longhaul.Results) -> None:
    axes = plots.figure("time-sequence", [captured]).axes[0]
    flow = captured.flows.row(0, named=True)
    assert flow["total_retransmitted_pkts"] > 0
    sent, again, *sack = (one for one in axes.collections if isinstance(one, LineCollection))
    assert len(again.get_segments()) == flow["total_retransmitted_pkts"]
    # The SYN has a line, too.
    wanted = flow["total_sent_pkts"] - flow["total_retransmitted_pkts"]
    assert len(sent.get_segments()) == pytest.approx(wanted, abs=1)
    assert sack, "losses were reported by SACK blocks"
    acked = next(line for line in axes.get_lines() if line.get_label() == "acknowledged")
    highest = np.asarray(acked.get_ydata(), float).max()
    assert highest == pytest.approx(flow["total_in_order_bytes"], rel=0.02)


def test_drops_of_the_capture_are_those_of_the_link(captured: longhaul.Results) -> None:
    packets = captures.packets(captured.path)
    dropped = packets.filter(pl.col("dropped"))
    link = captured.links.filter(pl.col("name") == "bottleneck").row(0, named=True)
    assert dropped.height == link["total_dropped_pkts"] > 0


@pytest.mark.parametrize(("from_s", "to_s"), [(None, 0.3), (1.0, 1.2)])
def test_segments_are_inside_the_frame(
    from_s: float | None, to_s: float, captured: longhaul.Results
) -> None:
    options = plots.Options(from_s=from_s, to_s=to_s)
    axes = plots.figure("time-sequence", [captured], options).axes[0]
    sent = axes.collections[0]
    assert isinstance(sent, LineCollection)
    assert max(end[1, 1] for end in sent.get_segments()) < axes.get_ylim()[1]


def test_part_of_a_connection(captured: longhaul.Results) -> None:
    options = plots.Options(from_s=3.0, to_s=4.0)
    axes = plots.figure("time-sequence", [captured], options).axes[0]
    low, high = axes.get_xlim()
    assert 2.8 < low < high < 4.2
    with pytest.raises(ResultsError, match=r"no connection from `nobody`.*10\.0\.0\.1"):
        plots.figure("time-sequence", [captured], plots.Options(parts=("nobody",)))


def test_run_without_a_capture_has_no_such_graph(
    finished: longhaul.Results, cli: CommandLine
) -> None:
    refused = cli("plot", finished.path, "time-sequence")
    assert (refused.returncode, "time-sequence" in refused.stderr) == (2, True)
    assert not Path("r1-time-sequence.svg").exists()


def test_window_stands_against_the_queue_of_the_same_time(captured: longhaul.Results) -> None:
    axes = plots.figure("window-queue", [captured]).axes[0]
    line = axes.get_lines()[0]
    queue = captured.link_series.filter(pl.col("name") == "bottleneck")
    windows = captured.flow_series.drop_nulls("cwnd_pkts")
    both = windows.join(queue, on="t_s", suffix="_link", maintain_order="left")
    assert np.asarray(line.get_xdata()).tolist() == both["queue_pkts_link"].to_list()
    assert np.asarray(line.get_ydata()).tolist() == both["cwnd_pkts"].to_list()


def test_drops_stand_on_the_queue(captured: longhaul.Results) -> None:
    axes = plots.figure("queue-drops", [captured]).axes[0]
    samples = captured.link_series.filter(pl.col("name") == "bottleneck")
    crosses = next(line for line in axes.get_lines() if "dropped" in str(line.get_label()))
    growing = samples.filter(pl.col("dropped_pkts").diff().fill_null(0) > 0)
    assert np.asarray(crosses.get_xdata()).tolist() == growing["t_s"].to_list()
