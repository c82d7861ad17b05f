"""Plots of runs: scales, panels, points, and names of lines."""

from io import StringIO
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import longhaul
from longhaul import plots
from longhaul.plots import styles
from longhaul.plots.layout import spread

SCENARIO: dict[str, Any] = {
    "duration": "12 s",
    "measure": {"from": "4 s", "delays": True},
    "topology": {"dumbbell": {"bottleneck": {
        "rate": "40 Mbps", "delay": "25 ms", "queue": {"kind": "droptail", "limit": "1 BDP"},
    }}},
    "flows": [
        {"label": "one", "congestion": {"kind": "reno"}},
        {"label": "other", "congestion": {"kind": "bbr"}, "start": "0.5 s"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[longhaul.Results]:
    """Run two flows together, and each of them alone."""
    base = tmp_path_factory.mktemp("runs")
    each = [SCENARIO["flows"], SCENARIO["flows"][:1], SCENARIO["flows"][1:]]
    names = ("both", "alone", "bbr")
    return [
        longhaul.run(SCENARIO | {"flows": flows}, out=base / name)
        for name, flows in zip(names, each, strict=True)
    ]


@pytest.mark.parametrize("name", ["cwnd", "in-flight", "throughput"])
def test_the_window_sets_the_scale_and_what_is_before_it_is_shaded(
    name: str, runs: list[longhaul.Results]
) -> None:
    drawing = plots.figure(name, runs)
    curves = [np.asarray(line.get_xydata(), float) for axes in drawing.axes for line in axes.lines]
    within = np.nanmax(np.concatenate([points[points[:, 0] >= 4.0, 1] for points in curves]))
    before = np.nanmax(np.concatenate([points[points[:, 0] < 4.0, 1] for points in curves]))
    bottom, top = drawing.axes[0].get_ylim()
    assert bottom == 0
    assert top >= within
    assert top < max(1.3 * within, 1.1 * before)
    notes = [text.get_text() for axes in drawing.axes for text in axes.texts]
    assert all(note.startswith("not measured") for note in notes)
    assert len(notes) == 3
    if before > 1.3 * within:
        assert top < before
        assert any("up to" in note for note in notes)
    shades = [patch for axes in drawing.axes for patch in axes.patches]
    assert [shade.get_extents().width > 0 for shade in shades] == [True] * 3


def test_slow_start_does_not_set_the_scale_of_the_window(runs: list[longhaul.Results]) -> None:
    (axes,) = plots.figure("cwnd", runs[1:2]).axes
    series = runs[1].flow_series
    window = series.filter(series["t_s"] >= 4.0)["cwnd_pkts"].to_numpy().max()
    highest = series["cwnd_pkts"].to_numpy().max()
    assert highest > 1.3 * window, "the scenario has an overshoot to cut"
    assert axes.get_ylim()[1] == pytest.approx(1.1 * window)
    assert f"up to {highest:,.0f}" in axes.texts[0].get_text()


def test_delays_over_more_than_two_decades_have_a_logarithmic_axis(
    tmp_path: Path, runs: list[longhaul.Results]
) -> None:
    bloated = longhaul.run(
        {
            "duration": "6 s",
            "measure": {"delays": True},
            "topology": {
                "dumbbell": {
                    "bottleneck": {
                        "rate": "1 Mbps", "delay": "1 ms",
                        "queue": {"kind": "droptail", "limit": "200 packets"},
                    }
                }
            },
            "flows": [{"label": "one"}],
        }
    )  # fmt: skip
    scales = [plots.figure("delays", each).axes[0].get_xscale() for each in (runs, [bloated])]
    assert scales == ["linear", "log"]


def test_delays_of_several_runs_share_a_panel_with_an_entry_for_each_curve(
    runs: list[longhaul.Results],
) -> None:
    drawing = plots.figure("delays", runs)
    assert len(drawing.axes) == 1
    names = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert names == ["both: one", "both: other", "alone", "bbr"]
    looks = [(line.get_color(), line.get_linestyle()) for line in drawing.axes[0].lines]
    assert len(set(map(str, looks))) == 4


def test_runs_whose_directories_have_equal_names_are_numbered(
    runs: list[longhaul.Results], tmp_path: Path
) -> None:
    alike = [
        longhaul.open(copytree(run.path, tmp_path / place / "run"))
        for run, place in zip(runs[:2], "ab", strict=True)
    ]
    drawing = plots.figure("delays", alike)
    names = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert names == ["run (1): one", "run (1): other", "run (2)"]
    assert len(plots.figure("shares", alike).axes[0].patches) == 3
    text = StringIO()
    Console(file=text, width=200).print(longhaul.compare(alike))
    assert "run (2) - run (1)" in text.getvalue()
    assert "run (2)" in longhaul.report(alike, tmp_path / "report.html").read_text()
    assert [run.name for run in alike] == ["run", "run"]


def test_points_are_whole_named_and_better_to_the_left(runs: list[longhaul.Results]) -> None:
    (axes,) = plots.figure("throughput-delay", runs).axes
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    points = np.vstack([np.asarray(line.get_xydata(), float) for line in axes.lines])
    assert len(points) == 4
    for x, y in points:
        assert left + 0.02 * (right - left) < x < right - 0.02 * (right - left)
        assert bottom < y < top - 0.02 * (top - bottom)
    texts = [text.get_text().strip() for text in axes.texts]
    assert {"better", "both: one", "both: other", "alone", "bbr"} <= set(texts)
    (arrow,) = [text for text in axes.texts if text.get_text() == "better"]
    assert arrow.xy[0] < arrow.get_position()[0]  # type: ignore[attr-defined]
    colours = {line.get_color() for line in axes.lines}
    assert colours == {styles.ALGORITHMS[kind].colour for kind in ("reno", "bbr")}


def test_no_line_of_an_algorithm_vanishes() -> None:
    for name, style in styles.ALGORITHMS.items():
        if not isinstance(style.line, str):
            drawn, left_out = sum(style.line[1][::2]), sum(style.line[1][1::2])
            assert drawn >= left_out, name


def test_names_stand_at_the_ends_of_lines_where_there_is_room(
    runs: list[longhaul.Results],
) -> None:
    drawing = plots.figure("cwnd", runs[:1])
    [axes] = drawing.axes
    assert drawing.legends == []
    names = {text.get_text() for text in axes.texts if "measured" not in text.get_text()}
    labels = runs[0].label_counts()
    assert names == {name if n == 1 else f"{name} ({n} flows)" for name, n in labels.items()}
    # Several panels share a legend.
    assert plots.figure("cwnd", runs[:2]).legends


def test_places_of_names_are_apart_and_inside() -> None:
    assert spread([1.0, 1.0, 5.0], 1.0, 0.0, 6.0) == [1.0, 2.0, 5.0]
    assert spread([5.9, 5.8], 1.0, 0.0, 6.0) == [6.0, 5.0]


def test_a_figure_on_its_own_says_what_it_shows(
    runs: list[longhaul.Results], tmp_path: Path
) -> None:
    longhaul.plot(runs[0], "cwnd", tmp_path / "cwnd.svg")
    text = (tmp_path / "cwnd.svg").read_text()
    about = f"congestion window of every flow over time ({runs[0].name})"
    assert f'role="img" aria-label="{about}"' in text
    assert f"<title>{about}</title>" in text
