"""Plots of a run of MesoNet: drawn samples, extremes, gaps and means are those of its tables."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import AIMD, MESONET_NETWORK
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Annotation

import longhaul
from longhaul import plots
from longhaul.mesonet import MesoNet, Summary
from longhaul.mesonet.groups import of_batches
from longhaul.mesonet.plots.runs import looks_of
from longhaul.mesonet.plots.samples import line
from longhaul.plots.styles import Style

# Few sources, so that classes have intervals without a flow; more intervals than pixels.
SPARSE = (
    """
title = "Few flows and many intervals"

[mesonet]
interval = "20 ms"
intervals = 1500
periods = [
    { name = "early", from = "0 s", to = "10 s" },
    { name = "late", from = "20 s", to = "30 s" },
]
algorithms = [{ share = 0.5 }, { congestion = { kind = "hstcp" }, share = 0.5 }]
long_lived = [
    { from = "X1a", to = "Z1a", start = "10 s", stop = "29 s", algorithm = "hstcp" },
    { from = "X1b", to = "Y1a", start = 0, algorithm = "reno" },
]
measure = { batch = 5 }
"""
    + MESONET_NETWORK
)
FLOWS = ("L1", "L2")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    """Run the scenario once, for tests that only read the results."""
    few = ["mesonet.hosts.sources=3", "mesonet.users.think='5 s'"]
    return longhaul.run(SPARSE, out=tmp_path_factory.mktemp("sparse") / "sparse", set=few)


def _points(axes: Axes, label: str) -> tuple[list[float], list[float]]:
    """Return x and y of the line with this label; y is nan at gaps."""
    line = next(line for line in axes.get_lines() if line.get_label() == label)
    times, values = (np.asarray(part, dtype=float).tolist() for part in line.get_data())
    return times, values


def _known(values: list[float]) -> list[float]:
    return [value for value in values if value == value]


def test_a_part_of_a_run_has_every_sample(run: longhaul.Results) -> None:
    options = plots.Options(from_s=2.0)
    (axes,) = plots.figure("throughput-classes", [run], options).axes
    rows = MesoNet.of(run).classes.filter(pl.col("t_s") > 2.0 + 1e-9)
    for name in rows["class"].unique():
        of_class = rows.filter(pl.col("class") == name)
        times, values = _points(axes, name)
        assert times == of_class["t_s"].to_list()
        drawn = [None if value != value else value for value in values]
        assert drawn == of_class["throughput_pps"].to_list()


def test_a_whole_run_keeps_its_extremes(run: longhaul.Results) -> None:
    network = MesoNet.of(run).network
    out_kpps = network["out_pkts"].cast(pl.Float64) / MesoNet.of(run).interval_s / 1e3
    (axes,) = plots.figure("packets-out", [run]).axes
    times, values = (np.asarray(part) for part in axes.get_lines()[0].get_data())
    assert len(times) <= 1200 < network.height
    assert (np.diff(times) > 0).all()
    rows = np.searchsorted(network["t_s"].to_numpy(), times)
    np.testing.assert_allclose(values, out_kpps.to_numpy()[rows])
    for first in range(0, network.height, 100):
        part, drawn = out_kpps[first : first + 100], values[(rows >= first) & (rows < first + 100)]
        assert (drawn.min(), drawn.max()) == pytest.approx((part.min(), part.max()))


def test_lines_are_broken_where_a_class_has_no_flow(run: longhaul.Results) -> None:
    (axes,) = plots.figure("cwnd-classes", [run], plots.Options(to_s=20.0)).axes
    shown = MesoNet.of(run).classes.filter(pl.col("t_s") <= 20.0).group_by("class")
    gaps = {str(name): rows["cwnd_mean_pkts"].null_count() for (name,), rows in shown}
    assert max(gaps.values()) > 10
    for name, missing in gaps.items():
        assert sum(value != value for value in _points(axes, name)[1]) == missing


def test_a_sample_between_two_gaps_is_a_dot() -> None:
    axes = Figure().subplots()
    values = [None, 2.0, None, 3.0, 4.0, None, 5.0]
    points = pl.DataFrame({"t_s": [0.1 * at for at in range(7)], "value": values})
    line(axes, points, "DD", Style("#0072b2", "o"))
    _, dots = axes.get_lines()
    assert np.asarray(dots.get_data()[1]).tolist() == [2.0, 5.0]


def test_a_long_lived_flow_is_drawn_from_start_to_stop(run: longhaul.Results) -> None:
    every = plots.Options(from_s=0.0)
    (windows,) = plots.figure("cwnd-long-lived", [run], every).axes
    for label, first_s, last_s in (("L1", 10.0, 29.0), ("L2", 0.0, 30.0)):
        times, values = _points(windows, label)
        shown = [time for time, value in zip(times, values, strict=True) if value == value]
        assert shown[0] == pytest.approx(first_s, abs=0.021)
        assert shown[-1] == pytest.approx(last_s, abs=0.021)
        assert min(_known(values)) > 0
    # The axis also shows the time before the flow starts.
    assert windows.get_xlim()[0] < 0.1
    (rates,) = plots.figure("long-lived", [run], every).axes
    sent = MesoNet.of(run).long_lived.filter(pl.col("out_pkts") > 0, pl.col("flow") == "L2")
    assert _known(_points(rates, "L2")[1])[-1] == sent["throughput_pps"][-1]


def test_means_over_periods_are_those_of_the_summary(run: longhaul.Results) -> None:
    (axes,) = plots.figure("cwnd-long-lived", [run]).axes
    assert all(isinstance(text, Annotation) for text in axes.texts)
    means = {
        (row["period"], row["flow"]): f"{row['cwnd_pkts']:#.4g}"
        for row in Summary.of(run).long_lived.iter_rows(named=True)
    }
    # L1 starts at the end of the first period, and has no mean in it.
    said = ["early", means["early", "L2"], "late", means["late", "L1"], means["late", "L2"]]
    assert [text.get_text() for text in axes.texts] == said
    colour_of = {line.get_label(): line.get_color() for line in axes.get_lines()}
    late = axes.texts[-2:]
    assert [text.get_color() for text in late] == [colour_of[flow] for flow in FLOWS]
    heights = [text.get_position()[1] for text in axes.texts]
    assert heights[0] == heights[2] > heights[3] > heights[4] == heights[1] > 0


def test_a_line_alone_has_its_mean_over_each_period_that_is_shown(run: longhaul.Results) -> None:
    (axes,) = plots.figure("active-flows", [run], plots.Options(from_s=5.0)).axes
    late = Summary.of(run).network.filter(period="late")["active_flows"].item()
    assert [text.get_text() for text in axes.texts] == ["late", f"{late:#.4g}"]
    (mean,) = axes.collections
    (ends,) = mean.get_paths()
    assert np.asarray(ends.vertices).tolist() == [[20.0, late], [30.0, late]]


def test_panels_are_as_high_with_means_above_them_as_without(run: longhaul.Results) -> None:
    heights, titles = [], []
    for options in (plots.Options(), plots.Options(from_s=5.0, to_s=25.0)):
        drawing = plots.figure("cwnd-classes", [run, run], options)
        drawing.draw_without_rendering()
        axes = drawing.axes[0]
        frame = axes.get_window_extent()
        heights.append(frame.height)
        titles.append(axes.title.get_window_extent().y0 - frame.y1)
        assert all(text.get_window_extent().y1 < frame.y1 + titles[-1] for text in axes.texts)
    assert heights[0] == pytest.approx(heights[1], rel=0.05)
    # The second plot shows no whole period, so only the title is above its frame.
    assert titles[1] < 15 < titles[0]


def test_many_runs_have_colours_of_their_own_and_no_means(run: longhaul.Results) -> None:
    drawing = plots.figure("active-flows", [run] * 14, plots.Options(overlay=True))
    (axes,) = drawing.axes
    lines = [line for line in axes.get_lines() if str(line.get_label()).startswith(run.name)]
    assert len({line.get_color() for line in lines}) == 14
    assert {line.get_linestyle() for line in lines} == {"-"}
    assert [text.get_text() for text in axes.texts] == ["early", "late"]


def test_a_run_with_an_algorithm_in_python_has_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "aimd.py").write_text(AIMD)
    algorithm = f'[{{ congestion = {{ python = "{tmp_path}/aimd.py:Aimd" }} }}]'
    settings = ["mesonet.intervals=50", f"mesonet.algorithms={algorithm}", "mesonet.long_lived=[]",
                "mesonet.periods=[]"]  # fmt: skip
    run = longhaul.run(SPARSE, out=tmp_path / "mine", set=settings)
    assert [name for name, _ in looks_of([run])] == ["mine"]


def test_the_course_of_a_scenario_has_its_periods(run: longhaul.Results) -> None:
    (axes,) = plots.figure("timeline", [run]).axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == ["users", *FLOWS]
    assert [text.get_text() for text in axes.texts] == ["early", "late"]
    assert axes.get_axisbelow() is True


def _heights(axes: Axes) -> list[float]:
    bars: list[Patch] = list(axes.patches)
    heights = [bar.get_height() for bar in bars if isinstance(bar, Rectangle)]
    assert len(heights) == len(bars)
    return heights


def test_bars_of_groups_are_means_of_completed_flows(run: longhaul.Results) -> None:
    tables = MesoNet.of(run)
    means = of_batches(tables.goodput).filter(file="web", path="typical", interface="normal")
    options = plots.Options(parts=("web",))
    axes = plots.figure("goodput-groups", [run], options).axes
    mean, share = axes[5], axes[11]
    assert sorted(_heights(mean)) == sorted(means["mean_pps"].to_list())
    alternate, standard = mean.patches
    assert alternate.get_facecolor() == standard.get_edgecolor()
    assert standard.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    interface_pps = tables.scenario["hosts"]["base_rate"] / tables.step_s
    assert _heights(share) == pytest.approx([height / interface_pps for height in _heights(mean)])
    with pytest.raises(longhaul.ResultsError, match=r"--part tape: `goodput-groups` has .*web"):
        plots.figure("goodput-groups", [run], plots.Options(parts=("tape",)))
    with pytest.raises(longhaul.ResultsError, match="--from and --to: no group"):
        plots.figure("goodput-groups", [run], plots.Options(from_s=1e6))


def test_a_group_without_flows_has_no_bar(run: longhaul.Results) -> None:
    there = of_batches(MesoNet.of(run).goodput).filter(file="web")
    axes = plots.figure("goodput-groups", [run], plots.Options(parts=("web",))).axes[:6]
    assert 0 < there.height < 12
    assert sum(height == height for panel in axes for height in _heights(panel)) == there.height
