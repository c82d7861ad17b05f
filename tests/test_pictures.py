"""Plots and reports: they are there, complete, and need nothing from a network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from conftest import CommandLine

import longhaul
from longhaul import _engine, identity, plots
from longhaul.reports import DEFAULT_PLOTS


@pytest.mark.parametrize(
    "name", [plot.name for plot in plots.PLOTS.values() if plot.mesonet is None]
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


class Loads(HTMLParser):
    """Collects what a page would fetch, and every element's id."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for each opening tag."""
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
    assert text.count("<svg") == len(DEFAULT_PLOTS)
    # Where the numbers come from stands before the numbers.
    assert text.index("results version") < text.index("goodput") < text.index("<svg")
    assert "&#34;seed&#34;: 2" in text


def test_every_algorithm_has_a_look_of_its_own() -> None:
    known = {row["name"] for row in _engine.algorithms()["algorithms"]}
    assert known <= identity.ALGORITHMS.keys()
    looks = [(look.colour, look.line) for look in identity.ALGORITHMS.values()]
    assert len(set(looks)) == len(looks)
    assert len({look.marker for look in identity.ALGORITHMS.values()}) == len(looks)


def test_labels_side_by_side_are_told_apart() -> None:
    kinds = {"hstcp": "hstcp", "bbr": "bbr", "mine": "MyCC", "early": "reno", "late": "reno"}
    looks = identity.of_labels(kinds)
    assert looks["bbr"] == identity.ALGORITHMS["bbr"]
    assert looks["early"] == identity.ALGORITHMS["reno"]
    assert len({(look.colour, look.line) for look in looks.values()}) == len(kinds)


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
