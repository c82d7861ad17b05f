"""Reports of runs: findings at the beginning, and the origin of the numbers at the end."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import CommandLine

import longhaul
from longhaul.comparison.finding import findings

pytestmark = pytest.mark.usefixtures("workers_here")

LINK = {"rate": "10 Mbps", "delay": "10 ms", "queue": {"kind": "red", "limit": "2 BDP"}}
FLOWS = [
    {"label": "new", "congestion": {"kind": "cubic"}},
    {"label": "old", "count": 2, "congestion": {"kind": "reno"}},
]
SCENARIO: dict[str, Any] = {
    "title": "Two of them",
    "duration": "5 s",
    "measure": {"from": "2 s"},
    "topology": {"dumbbell": {"bottleneck": LINK}},
    "flows": FLOWS,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[longhaul.Results]:
    """Run two replications, and a scenario with a single flow."""
    base = tmp_path_factory.mktemp("runs")
    given: list[dict[str, Any]] = [{"seed": 1}, {"seed": 2}, {"flows": FLOWS[:1]}]
    return [longhaul.run(SCENARIO | own, out=base / f"r{k}") for k, own in enumerate(given)]


def report(runs: list[longhaul.Results], path: Path) -> str:
    return longhaul.report(runs, path).read_text(encoding="utf-8")


def test_a_sentence_says_who_gets_what(runs: list[longhaul.Results]) -> None:
    (sentence,) = findings(runs[:1])
    for row in runs[0].summary().labels.to_dicts():
        share, rate = f"{100 * row['share']:.0f} %", f"{1e-6 * row['goodput_bps']:.3g} Mbit/s"
        assert f"{row['label']} gets {share} of the goodput, {rate}" in sentence
    assert "bottleneck is used to" in sentence
    (alone,) = findings(runs[2:])
    assert alone.startswith("new gets ")
    assert "of the goodput" not in alone


def test_replications_are_one_sentence_with_intervals(runs: list[longhaul.Results]) -> None:
    together, alone = findings(runs)
    assert together.startswith("r0, 2 replications: ")
    assert "(95 % interval of the mean over replications)" in together
    assert re.search(r"Mbit/s \[[\d.]+, [\d.]+\]", together)
    assert alone.startswith("r2: new gets")


def test_a_report_opens_with_the_finding_and_a_plot_and_ends_with_hashes(
    runs: list[longhaul.Results], tmp_path: Path
) -> None:
    text = report(runs[:1], tmp_path / "page.html")
    marks = ['class="finding"', 'id="shares"', ">Summary<", ">Plots<", 'id="cwnd"',
             ">Resolved scenarios<", ">Where these numbers come from<",
             runs[0].meta["scenario_hash"]]  # fmt: skip
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    # With one flow, a plot of shares would add nothing to the sentence.
    assert 'id="shares"' not in report(runs[2:], tmp_path / "alone.html")


def test_figures_have_a_title_and_a_label_and_are_not_blown_up(
    runs: list[longhaul.Results], tmp_path: Path
) -> None:
    text = report(runs, tmp_path / "page.html")
    pictures = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert pictures
    for picture in pictures:
        root = ElementTree.fromstring(picture.replace("<svg ", _NAMESPACES, 1))
        title = root.find("{http://www.w3.org/2000/svg}title")
        assert title is not None
        assert title.text == root.get("aria-label")
        most = re.search(r"max-width: (\d+)px", root.get("style", ""))
        assert most is not None
        assert int(most[1]) <= 1300


_NAMESPACES = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '


def test_a_page_follows_the_dark_theme_and_breaks_no_words(
    runs: list[longhaul.Results], tmp_path: Path
) -> None:
    text = report(runs[:1], tmp_path / "page.html")
    assert "prefers-color-scheme: dark" in text
    style = text[text.index("<style>") : text.index("</style>")]
    for rule in re.findall(r"([^{}]+)\{[^{}]*overflow-wrap: anywhere", style):
        assert rule.strip().endswith("td.long")
    long = re.findall(r'<td class="long">([^<]*)</td>', text)
    assert runs[0].meta["scenario_hash"] in long
    assert all(" " not in cell for cell in long)


def test_a_campaign_report_opens_with_the_strongest_factor_and_who_gets_what(
    tmp_path: Path, cli: CommandLine
) -> None:
    file = tmp_path / "c.toml"
    file.write_text("""
title = "Two rates"
replications = 2
responses = { new = "labels.new.goodput_bps", old = "labels.old.goodput_bps" }
[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["4 Mbps", "16 Mbps"] }
[scenario]
duration = "5 s"
measure = { from = "2 s" }
topology.dumbbell.bottleneck = { rate = "4 Mbps", delay = "10 ms", queue = { kind = "red", limit = "2 BDP" } }
flows = [{ label = "new" }, { label = "old", congestion = { kind = "cubic" } }]
""")  # noqa: E501
    assert cli("campaign", "run", file, "-q").returncode == 0
    done = cli("campaign", "report", file, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    text = Path("page.html").read_text(encoding="utf-8")
    marks = ["goodput of new (Mbit/s): ", "at rate 16 Mbps", "Who gets what", "<svg",
             "95 % interval of the mean over replications (2)", ">Where these numbers come from<",
             "2 levels, 4 of 4 runs"]  # fmt: skip
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    # With one factor, cells equal its effects, so that the report has three plots.
    assert text.count("<svg") == 3
