"""Plots and reports: they exist, are complete, and need nothing from a network."""

import re
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from conftest import MESONET_NETWORK, SMALL, CommandLine
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

import longhaul
from longhaul import _engine, plots
from longhaul.connections.kind import KIND
from longhaul.plots import flows, styles


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, plot in plots.PLOTS.items()
        if not any(of in plot.draw.__module__ for of in ("mesonet", "plots.traffic"))
        # The small scenario lacks optional tables, transfers and captures.
        and not plot.table
        and name not in ("response-times", "time-sequence")
    ],
)
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_every_plot_draws_one_run_and_several(
    name: str,
    suffix: str,
    finished: longhaul.Results,
    finished_again: longhaul.Results,
    tmp_path: Path,
) -> None:
    one, several = tmp_path / f"one.{suffix}", tmp_path / f"several.{suffix}"
    longhaul.plot(finished, name, one)
    longhaul.plot([finished, finished_again], name, several)
    for picture in (one, several):
        if suffix == "svg":
            assert ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        else:
            assert picture.read_bytes().startswith(b"\x89PNG")
    assert one.read_bytes() != several.read_bytes()


def test_a_run_has_the_plots_that_it_has_flows_and_samples_for(
    tmp_path: Path, cli: CommandLine
) -> None:
    one_flow = SMALL.replace("count = 2", "count = 1").rpartition("[[flows]]")[0]
    longhaul.run(one_flow, out=tmp_path / "alone")
    drawn = cli("plot", tmp_path / "alone", "-o", tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    names = {file.stem.removeprefix("alone-") for file in tmp_path.glob("*.svg")}
    assert "cwnd" in names
    assert not names & {"window-phase", "hurst"}


def test_a_run_with_two_samples_has_the_other_plots(tmp_path: Path) -> None:
    settings = ['measure.every="5 s"', 'measure.from="8 s"']
    run = longhaul.run(SMALL, out=tmp_path / "run", set=settings)
    assert {"cwnd", "hurst"} & set(plots.suitable([run])) == {"cwnd"}


def test_a_plot_is_the_same_each_time(finished: longhaul.Results, tmp_path: Path) -> None:
    pictures = []
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        longhaul.plot(finished, "cwnd", tmp_path / place / "cwnd.svg")
        pictures.append((tmp_path / place / "cwnd.svg").read_bytes())
    assert pictures[0] == pictures[1]


def test_throughput_is_the_difference_of_counters(finished: longhaul.Results) -> None:
    (axes,) = plots.figure("throughput", [finished]).axes
    total = next(line for line in axes.get_lines() if line.get_label() == "sum")
    times, rates = (np.asarray(values, dtype=float).tolist() for values in total.get_data())
    delivered = (
        finished.flow_series.group_by("t_s").agg(pl.col("delivered_bytes").sum()).sort("t_s")
    )
    at = dict(delivered.iter_rows())
    early, late = times[3], times[4]
    expected = (at[late] - at[early]) * 8e-6 / (late - early)
    assert rates[4] == pytest.approx(expected)


def _points(axes: Axes, index: int = 0) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return x and y of the line with this index."""
    x, y = axes.get_lines()[index].get_data()
    return np.asarray(x, dtype=float), np.asarray(y, dtype=float)


def test_intervals_are_the_same_for_flows_that_start_at_different_times(tmp_path: Path) -> None:
    run = longhaul.run(
        SMALL.replace('duration = "10 s"', 'duration = "25 s"').replace("100 ms", "50 ms"),
        out=tmp_path / "run",
    )
    (axes,) = plots.figure("throughput", [run]).axes
    total = next(line for line in axes.get_lines() if line.get_label() == "sum")
    times, rates = (np.asarray(values, dtype=float) for values in total.get_data())
    steps = np.diff(times, prepend=0.0)
    assert steps == pytest.approx(steps[0])
    # The intervals sum to all delivered bytes, although flows start at different times.
    last = run.flow_series.filter(pl.col("t_s") == times[-1])
    assert (rates * steps).sum() == pytest.approx(float(last["delivered_bytes"].sum()) * 8e-6)
    # The plotted rate shows that the link is full.
    assert rates[len(rates) // 2 :].min() > 15


def test_fairness_is_that_of_flows_that_are_there(tmp_path: Path) -> None:
    # The second flow starts half way; before this the first flow is alone.
    run = longhaul.run(
        {
            "duration": "20 s",
            "measure": {"from": "0 s", "every": "50 ms"},
            "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "10 ms"}}},
            "flows": [{"label": "early"}, {"label": "late", "start": "10 s"}],
        },
        out=tmp_path / "run",
    )
    (axes,) = plots.figure("fairness", [run]).axes
    times, index = _points(axes)
    assert index[times < 10] == pytest.approx(1.0)
    assert index[times > 10].min() < 0.95


def test_links_have_panels_and_can_be_chosen(tmp_path: Path, cli: CommandLine) -> None:
    run = longhaul.run(
        {
            "duration": "5 s",
            "measure": {"from": "0 s", "every": "100 ms"},
            "topology": {"parking-lot": {"hops": [{"rate": "5 Mbps", "delay": "5 ms"}] * 3}},
            "flows": [{"label": "all the way"}],
        },
        out=tmp_path / "run",
    )
    titles = [axes.get_title() for axes in plots.figure("queue", [run]).axes]
    assert titles == ["hop-0", "hop-1", "hop-2"]
    chosen = plots.Options(links=("hop-1-reverse",))
    (axes,) = plots.figure("queue", [run], chosen).axes
    assert len(_points(axes)[0]) == 51
    refused = cli("plot", "run", "queue", "--link", "hop-7")
    assert refused.returncode == 2
    assert "did you mean `hop-" in refused.stderr
    assert cli("plot", "run", "queue", "--link", "hop-0").returncode == 0


def test_response_times_are_distributions_of_all_that_began(tmp_path: Path) -> None:
    run = longhaul.run(
        {
            "duration": "10 s",
            "measure": {"from": "1 s"},
            "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "10 ms"}}},
            "flows": [
                {"label": "short", "transfer": "50 KB", "count": 4, "start": "2 s"},
                {"label": "long", "transfer": "50 MB", "start": "2 s"},
                {"label": "before", "transfer": "50 KB"},
                {
                    "label": "web",
                    "traffic": {
                        "kind": "requests",
                        "interval": {"kind": "exponential", "mean": "100 ms"},
                        "request": "400 B",
                        "response": "3 KB",
                    },
                },
            ],
        },
        out=tmp_path / "run",
    )
    times = run.response_times
    counts = dict(times.group_by("label").len().iter_rows())
    # Responses that began before the measurement window are left out.
    assert counts.keys() == {"short", "long", "web"}
    summary = run.summary()
    figures = {row["label"]: row for row in summary.labels.to_dicts()}
    assert (figures["short"]["responses"], figures["long"]["responses_cut_short"]) == (4, 1)
    finished = run.flows.filter(pl.col("label") == "short")["completion_s"]
    assert figures["short"]["response_p50_s"] == pytest.approx(finished.median())
    done = run.exchanges.filter(pl.col("start_s") >= 1, pl.col("end_s").is_not_null())
    took = done.select((pl.col("end_s") - pl.col("start_s")).quantile(0.95, "linear")).item()
    assert figures["web"]["response_p95_s"] == pytest.approx(took)
    assert summary.total["responses"] == 4 + len(done)

    (axes,) = plots.figure("response-times", [run]).axes
    ends = {
        str(line.get_label()): _points(axes, index)[1][-1:].sum()
        for index, line in enumerate(axes.get_lines())
    }
    assert (ends["short"], ends["long"]) == (1.0, 0.0)
    assert ends["web"] == pytest.approx(len(done) / counts["web"])
    page = tmp_path / "page.html"
    longhaul.report(run, page)
    assert 'id="response-times"' in page.read_text()


def test_the_scatter_has_a_point_for_each_label_of_each_run(
    finished: longhaul.Results, finished_again: longhaul.Results
) -> None:
    (axes,) = plots.figure("throughput-delay", [finished, finished_again]).axes
    lines = [_points(axes, index) for index in range(len(axes.get_lines()))]
    points = [(x.item(), y.item()) for x, y in lines if len(x)]
    expected = [
        (label["rtt_mean_s"] * 1e3, label["goodput_bps"] * 1e-6)
        for run in (finished, finished_again)
        for label in run.summary().labels.to_dicts()
    ]
    assert points == [pytest.approx(point) for point in expected]
    left, right = axes.get_xlim()
    assert left < right


def test_eight_groups_leave_room_for_the_picture(tmp_path: Path) -> None:
    kinds = ["reno", "cubic", "hstcp", "bic", "htcp", "vegas", "scalable", "reno"]
    run = longhaul.run(
        {
            "duration": "5 s",
            "measure": {"from": "1 s", "every": "20 ms"},
            "topology": {"dumbbell": {"bottleneck": {"rate": "20 Mbps", "delay": "10 ms"}}},
            "flows": [
                {"label": f"group-{n}-of-{kind}-with-a-name", "congestion": {"kind": kind}}
                for n, kind in enumerate(kinds)
            ],
        },
        out=tmp_path / "run",
    )
    for runs in ([run], [run] * 3):
        drawing = plots.figure("cwnd", runs)
        drawing.savefig(tmp_path / "page.png")
        assert len(drawing.legends) == 1
        texts = [text.get_text() for text in drawing.legends[0].get_texts()]
        assert len(texts) == len(set(texts)) == 8
        width = drawing.get_figwidth() * drawing.dpi
        box = drawing.legends[0].get_window_extent()
        assert 0 <= box.x0 < box.x1 <= width
        for axes in drawing.axes:
            panel = axes.get_window_extent()
            assert panel.width > 0.8 * width / len(drawing.axes) - 100
            assert panel.y0 > box.y1
            assert all(line.get_marker() in {None, "None", ""} for line in axes.get_lines())
        looks = [(line.get_color(), line.get_linestyle()) for line in drawing.axes[0].get_lines()]
        assert len({str(look) for look in looks}) == 8


class Loads(HTMLParser):
    """Parser that collects the addresses a page would fetch, and the ids of its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and ids of an opening tag."""
        for name, value in attrs:
            if name in {"src", "href", "xlink:href", "srcset", "data", "action"}:
                self.fetched.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        if tag in {"script", "link", "iframe", "object", "embed"}:
            self.fetched.append(tag)


def test_a_report_needs_nothing_else(
    finished: longhaul.Results, finished_again: longhaul.Results, tmp_path: Path, cli: CommandLine
) -> None:
    result = cli("report", finished.path, finished_again.path, "--out", "page.html")
    assert (result.returncode, result.stdout) == (0, "page.html\n")
    text = (tmp_path / "page.html").read_text()
    page = Loads()
    page.feed(text)
    assert [what for what in page.fetched if not what.startswith("#")] == []
    assert not re.search(r"url\((?!['\"]?#)|@import", text)
    assert len(page.ids) == len(set(page.ids))
    assert {what[1:] for what in page.fetched} <= set(page.ids)
    # No flow of the scenario is finite, so plots of completion are missing.
    assert text.count("<svg") == len(
        set(KIND.report_plots) - {"response-times", "delays", "proxy-window", "proxy-queue"}
    )
    # Findings come first, and the origin of the numbers comes last.
    assert text.index("goodput") < text.index("<svg") < text.index("results version")
    assert "&#34;seed&#34;: 2" in text


def test_the_recipe_adds_a_plot(finished: longhaul.Results, tmp_path: Path) -> None:
    """Execute the example of a plot in `docs/contributing.md`, and draw it."""
    text = (Path(__file__).parents[2] / "docs" / "contributing.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^## A plot\n.*?^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(code, dict(vars(flows)))
    try:
        assert "retransmitted" in plots.suitable([finished])
        longhaul.plot(finished, "retransmitted", tmp_path / "r.svg")
        assert "retransmitted (packets)" in (tmp_path / "r.svg").read_text()
    finally:
        del plots.PLOTS["retransmitted"]


def test_every_algorithm_has_a_look_of_its_own() -> None:
    known = {row["name"] for row in _engine.algorithms()["algorithms"]}
    assert known <= styles.ALGORITHMS.keys()
    new = [f"new-{number}" for number in range(40)]
    with_one = styles.with_derived(styles.ALGORITHMS, new[:1])
    for looks in (styles.ALGORITHMS, styles.with_derived(with_one, new)):
        assert len({(look.colour, look.line) for look in looks.values()}) == len(looks)
        assert len({look.marker for look in looks.values()}) == len(looks)
    assert len(looks) == len(styles.ALGORITHMS) + len(new)
    assert styles.ALGORITHMS.items() <= looks.items()


def test_labels_side_by_side_are_told_apart() -> None:
    kinds = {"hstcp": "hstcp", "bbr": "bbr", "mine": "MyCC", "early": "reno", "late": "reno"}
    by_label = styles.of_labels(kinds, "label")
    assert len({look.colour for look in by_label.values()}) == len(kinds)
    looks = styles.of_labels(kinds)
    assert looks["bbr"] == styles.ALGORITHMS["bbr"]
    assert looks["early"] == styles.ALGORITHMS["reno"]
    assert len({(look.colour, look.line) for look in looks.values()}) == len(kinds)


def test_many_runs_are_told_apart_by_colour() -> None:
    looks = styles.of_runs(14)
    assert {look.line for look in looks} == {"-"}
    colours = [np.array(to_rgb(look.colour)) for look in looks]
    nearest = min(np.abs(one - other).sum() for one, other in combinations(colours, 2))
    assert nearest > 0.3
    seen = [(look.colour, look.line) for look in styles.of_runs(42)]
    assert len(set(seen)) == 42


def test_what_is_neither_a_run_nor_a_plot_is_named(
    tmp_path: Path, cli: CommandLine, finished: longhaul.Results
) -> None:
    nowhere = cli("plot", "nowhere", "cwnd")
    assert "nowhere: no such run directory, and no plot of that name" in nowhere.stderr
    misspelt = cli("plot", finished.path, "cwmd")
    assert "unknown plot `cwmd` (did you mean `cwnd`?)" in misspelt.stderr
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SMALL)
    refused = cli("plot", scenario, "cwnd")
    assert "scenario.toml: expected a run directory, or a file beside" in refused.stderr
    assert (nowhere.returncode, misspelt.returncode, refused.returncode) == (2, 2, 2)


def test_flows_without_a_window_are_left_out_of_its_picture(
    tmp_path: Path, cli: CommandLine
) -> None:
    longhaul.run(
        {
            "duration": "5 s",
            "topology": {"dumbbell": {"bottleneck": {"rate": "5 Mbps", "delay": "10 ms"}}},
            "flows": [
                {"label": "window"},
                {"label": "none", "protocol": "udp", "rate": "1 Mbps"},
                {"label": "many", "traffic": {"kind": "perturbation", "lifetime": "1 s"}},
            ],
        },
        out=tmp_path / "run",
    )
    drawn = cli("plot", tmp_path / "run", "cwnd", "--out", tmp_path / "out")
    assert drawn.returncode == 0, drawn.stderr


def test_an_option_that_no_plot_takes_is_refused(
    finished: longhaul.Results, cli: CommandLine
) -> None:
    refused = cli("plot", finished.path, "cwnd", "--link", "bottleneck")
    assert refused.returncode != 0
    assert "--link: expected a plot that takes it, found cwnd; available: " in refused.stderr
    assert cli("plot", finished.path, "cwnd", "queue", "--link", "bottleneck").returncode == 0


def test_runs_without_a_common_plot_are_refused(
    finished: longhaul.Results, tmp_path: Path, cli: CommandLine
) -> None:
    longhaul.run(f"[mesonet]\nintervals = 1\n{MESONET_NETWORK}", out=tmp_path / "m")
    refused = cli("plot", finished.path, "m")
    assert refused.returncode == 2
    assert "m: no plot suits all of these runs" in refused.stderr
