"""Shares of goodput by label of flows, as means over replications, in runs and campaigns."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import CommandLine

from longhaul import Results, plots, run
from longhaul.analysis.comparisons import INTERVAL, mean_interval
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.findings import Options, analyse

TWO: dict[str, Any] = {
    "duration": "6 s",
    "measure": {"from": "2 s"},
    "topology": {"dumbbell": {"bottleneck": {
        "rate": "10 Mbps", "delay": "10 ms", "queue": {"kind": "red", "limit": "2 BDP"},
    }}},
    "flows": [
        {"label": "new", "congestion": {"kind": "bbr3"}},
        {"label": "old", "count": 2, "congestion": {"kind": "cubic"}},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """Run three replications, and one run of another duration, which is not a replication."""
    base = tmp_path_factory.mktemp("runs")
    given: list[dict[str, Any]] = [*({"seed": seed} for seed in (1, 2, 3)), {"duration": "5 s"}]
    return [run(TWO | own, out=base / f"r{k}") for k, own in enumerate(given)]


def test_replications_give_means_with_intervals_and_other_runs_stand_beside(
    runs: list[Results], cli: CommandLine
) -> None:
    found = cli("analyze", *(str(one.path) for one in runs), "shares", "--json")
    assert found.returncode == 0, found.stderr
    (table,) = json.loads(found.stdout)["shares"]
    rows = {(row["runs"], row["label"]): row for row in table["rows"]}
    assert list(rows) == [("r0, 3 replications", "new"), ("r0, 3 replications", "old"),
                          ("r3", "new"), ("r3", "old")]  # fmt: skip
    each = [one.summary().labels.filter(pl.col("label") == "old")["goodput_bps"][0]
            for one in runs[:3]]  # fmt: skip
    mean, row = mean_interval(each), rows["r0, 3 replications", "old"]
    assert [row["goodput (Mbit/s)"], row["95 % from"], row["to"]] == pytest.approx(
        [1e-6 * mean.mean, 1e-6 * mean.low, 1e-6 * mean.high]
    )
    assert rows["r3", "old"]["95 % from"] is None
    assert rows["r3", "new"]["share (%)"] + rows["r3", "old"]["share (%)"] == pytest.approx(100)


def test_the_picture_has_a_bar_for_each_label_and_says_what_its_intervals_are(
    runs: list[Results],
) -> None:
    (axes,) = plots.figure("shares", runs).axes
    assert axes.get_title(loc="right") == f"bars: {INTERVAL}"
    heights = sorted(bar.get_height() for bar in axes.patches)  # type: ignore[attr-defined]
    goodputs = [one.summary().labels["goodput_bps"] * 1e-6 for one in runs]
    means = (goodputs[0] + goodputs[1] + goodputs[2]) / 3
    assert heights == pytest.approx(sorted([*means, *goodputs[3]]))
    single = plots.figure("shares", runs[:1]).axes[0]
    assert not single.get_title(loc="right")


def test_a_label_with_two_algorithms_says_which(runs: list[Results], tmp_path: Path) -> None:
    flows = [TWO["flows"][0] | {"congestion": {"kind": "reno"}}, TWO["flows"][1]]
    other = run(TWO | {"flows": flows}, out=tmp_path / "other")
    drawing = plots.figure("shares", [runs[0], other])
    names = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert names == ["new (bbr3)", "old", "new (reno)"]


@pytest.fixture
def table() -> ResponseTable:
    """Return a table of two queues and two replications, with three responses.

    These are the goodputs of labels `a` and `b`, and another response, `y`.
    """
    frame = pl.DataFrame({
        "queue": ["red", "red", "codel", "codel"], "replication": [1, 2, 1, 2],
        "a": [4e6, 6e6, 1e6, 1e6], "b": [2e6, 2e6, 3e6, 3e6], "y": [1.0, 2.0, 3.0, 4.0],
    })  # fmt: skip
    places = {"a": "labels.a.goodput_bps", "b": "labels.b.goodput_bps"}
    known = ResponseTable.of(frame, ["queue"], ["a", "b", "y"])
    return ResponseTable(known.frame, known.factors, known.responses, places=places)


def test_labels_of_a_campaign_stand_side_by_side_by_the_levels_of_factors(
    table: ResponseTable,
) -> None:
    found = analyse("shares", table, Options())
    (text,) = found.tables
    assert text.title == "goodput (Mbit/s)"
    assert text.note == f"{INTERVAL} (2)"
    rows = {row[:2]: row[2:] for row in text.rows}
    assert rows["red", "a"] == pytest.approx((5.0, 5.0 - 12.706, 5.0 + 12.706, 2), abs=1e-3)
    assert rows["codel", "b"][0] == 3.0
    (axes,) = found.plots["shares-goodput_bps"]().axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["codel", "red"]


def test_a_campaign_without_figures_of_labels_is_refused_with_what_to_write(
    table: ResponseTable,
) -> None:
    with pytest.raises(TableError, match=r'responses = \["labels.NAME.goodput_bps"'):
        analyse("shares", table, Options(responses=("y",)))


def test_named_responses_are_printed_in_the_unit_of_their_figure_and_kept_as_they_are(
    table: ResponseTable,
) -> None:
    (text,) = analyse("effects", table, Options(responses=("a",))).tables
    assert text.heading == "a: goodput of a (Mbit/s)"
    assert text.note == f"{INTERVAL} (2)"
    assert [row[2] for row in text.printed()] == ["1", "5"]
    assert [row[2] for row in text.rows] == [1e6, 5e6]
    assert text.title == "a"


@pytest.fixture
def campaign(tmp_path: Path, cli: CommandLine) -> Path:
    """Write the table of a campaign over rates and buffers and return its path."""
    file = tmp_path / "rates.toml"
    file.write_text("""
title = "two rates"
responses = { new = "labels.new.goodput_bps", used = "links.bottleneck.utilization" }
[factors]
rate = { path = "topology.dumbbell.bottleneck.rate", levels = ["2 Mbps", "10 Mbps"] }
limit = { path = "topology.dumbbell.bottleneck.queue.limit", levels = ["1 BDP", "2 BDP"] }
[scenario]
duration = "6 s"
measure = { from = "2 s" }
[scenario.topology.dumbbell.bottleneck]
rate = "10 Mbps"
delay = "10 ms"
queue = { kind = "droptail", limit = "2 BDP" }
[[scenario.flows]]
label = "new"
""")
    done = cli("campaign", "run", str(file), "-q")
    assert done.returncode == 0, done.stderr
    return file


def test_logarithms_are_analysed_on_request_and_a_rate_among_factors_hints_at_them(
    cli: CommandLine, campaign: Path
) -> None:
    plain = cli("analyze", str(campaign), "effects", "-r", "new", "--json")
    assert "--log compares ratios" in plain.stderr
    assert "(rate)" in plain.stderr
    used = cli("analyze", str(campaign), "effects", "-r", "used")
    assert "--log" not in used.stderr
    logs = cli("analyze", str(campaign), "effects", "-r", "new", "--log", "--json")
    assert logs.returncode == 0, logs.stderr
    assert "hint" not in logs.stderr
    (table,) = json.loads(logs.stdout)["effects"]
    assert table["title"] == "log10(new)"
    means = [row["mean"] for row in table["rows"] if row["factor"] == "rate"]
    # The link is full, so the goodput is proportional to its rate.
    assert 10 ** (means[1] - means[0]) == pytest.approx(5.0, rel=0.5)
    assert cli("analyze", str(campaign), "shares", "--log").returncode == 2


def test_a_logarithm_of_nothing_is_refused(table: ResponseTable) -> None:
    frame = table.frame.with_columns(y=pl.Series([0.0, 1.0, 2.0, 3.0]))
    zero = ResponseTable.of(frame, ["queue"], ["a", "y"])
    assert zero.positive() == ("a",)
    with pytest.raises(TableError, match="above 0 for a logarithm, found 0"):
        zero.logarithms(["y"])
