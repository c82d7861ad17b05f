"""Printed tables of runs: rows without information are left out, all measurements shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import CommandLine

import longhaul
from longhaul import comparison

LINK = {"rate": "10 Mbps", "delay": "10 ms", "queue": {"kind": "droptail", "limit": "2 BDP"}}
ONE: dict[str, Any] = {
    "duration": "4 s",
    "measure": {"from": "1 s", "delays": True},
    "topology": {"dumbbell": {"bottleneck": LINK}},
    "flows": [{"label": "mine", "congestion": {"kind": "cubic"}}],
}
TWO = ONE | {"flows": [*ONE["flows"], {"label": "other", "count": 2}]}
TRAFFIC = {"kind": "requests", "interval": "100 ms", "request": "400 B", "response": "20 kB"}
WEB = ONE | {"flows": [{"label": "web", "traffic": TRAFFIC}]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, longhaul.Results]:
    """Run a single flow, a single BBR flow, and a flow with two competitors."""
    base = tmp_path_factory.mktemp("runs")
    bbr = ONE | {"flows": [{"label": "mine", "congestion": {"kind": "bbr"}}]}
    given = {"one": ONE, "bbr": bbr, "two": TWO}
    return {name: longhaul.run(given[name], out=base / name) for name in given}


def rows(table: Any) -> dict[str, list[tuple[str, list[str]]]]:  # noqa: ANN401
    """Return the rows of each block of a printed table as (name, cells), by the block's heading."""
    return {block.heading: block.rows for block in table.blocks}


def test_one_label_has_one_column_and_nothing_about_shares(
    runs: dict[str, longhaul.Results],
) -> None:
    table = comparison.table([runs["one"]])
    assert table.runs == [("one", ["mine"])]
    flows = dict(rows(table)["flows"])
    assert not {"Jain's index", "share of goodput", "cwnd reductions (ECN)"} & set(flows)
    assert all(len(cells) == 1 for cells in flows.values())
    # A link's values are in the only column.
    assert dict(rows(table)["link bottleneck"])["utilisation"][0].endswith("%")


def test_several_labels_have_a_column_each_and_one_of_all(
    runs: dict[str, longhaul.Results],
) -> None:
    table = comparison.table([runs["one"], runs["two"]])
    assert table.runs == [("one", ["mine"]), ("two", ["mine", "other", "all"])]
    blocks = rows(table)
    flows = dict(blocks["flows"])
    assert flows["share of goodput"][3] == "100.0%"
    assert flows["Jain's index"][2]
    widths = {len(cells) for block in blocks.values() for _, cells in block}
    assert widths == {4}
    used = dict(blocks["link bottleneck"])["utilisation"]
    assert [bool(cell) for cell in used] == [True, False, False, True]


def test_a_link_without_a_queue_has_one_row(runs: dict[str, longhaul.Results]) -> None:
    blocks = rows(comparison.table([runs["one"]]))
    assert [title for title, _ in blocks["link bottleneck-reverse"]] == ["utilisation"]
    assert {"packets dropped", "longest queue (packets)"} <= set(dict(blocks["link bottleneck"]))


def test_measured_delays_are_rows(runs: dict[str, longhaul.Results]) -> None:
    blocks = rows(comparison.table([runs["one"]]))
    median = runs["one"].summary().labels["delay_p50_s"][0]
    assert dict(blocks["flows"])["delay, median (ms)"] == [f"{1e3 * median:.1f}"]
    wait = runs["one"].summary().link("bottleneck")["wait_p99_s"]
    assert dict(blocks["link bottleneck"])["wait, 99th percentile (ms)"] == [f"{1e3 * wait:.1f}"]


def test_changes_leave_out_what_is_the_same(runs: dict[str, longhaul.Results]) -> None:
    changed = comparison.changes([runs["one"], runs["bbr"]])
    assert changed is not None
    assert changed.runs == [("bbr - one", ["mine"])]
    assert "share of goodput" not in dict(rows(changed)["changes"])
    assert dict(rows(changed)["changes"])["mean RTT (ms)"][0].startswith("-")
    nothing = comparison.changes([runs["one"], runs["one"]])
    assert nothing is not None
    assert rows(nothing) == {"no changes": []}


def test_figures_of_programs_keep_every_column(runs: dict[str, longhaul.Results]) -> None:
    found = runs["one"].as_json()
    assert {"jain", "share", "cuts_ecn"} <= set(found["all"])
    assert {row["link"] for row in found["links"]} == {"bottleneck", "bottleneck-reverse"}
    assert all("queue_mean_pkts" in row for row in found["links"])


@pytest.mark.parametrize(
    ("scenario", "plot"), [(ONE, "cwnd"), (TWO, "shares"), (WEB, "response-times")]
)
def test_the_next_command_fits_the_run(
    scenario: dict[str, Any], plot: str, cli: CommandLine
) -> None:

    Path("s.json").write_text(json.dumps(scenario))
    done = cli("run", "s.json", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert f"Next:   longhaul plot r {plot}   or" in done.stdout
    assert cli("plot", "r", plot).returncode == 0


def test_a_summary_is_printed_in_columns(runs: dict[str, longhaul.Results]) -> None:
    """Check the layout of a printed summary.

    One block has labels and all flows, another has links; names are left of the numbers.
    """
    summary = runs["two"].summary()
    of_labels, of_links = repr(summary).split("\n\n")
    for text, heads in (
        (of_labels, ["mine", "other", "all"]),
        (of_links, summary.links["link"].to_list()),
    ):
        head, *lines = text.splitlines()
        assert head.split() == heads
        assert {len(line) for line in lines} == {len(head)}
        names = [line.split()[0] for line in lines]
        first = max(map(len, names))
        assert all(line[first : first + 2] == "  " for line in lines)
        assert "label" not in names
    rate = summary.labels["goodput_bps"][0]
    assert f"{rate:.6g}" in next(line for line in of_labels.splitlines() if "goodput" in line)


def test_links_and_proxies_are_found_by_name(runs: dict[str, longhaul.Results]) -> None:
    summary = runs["two"].summary()
    assert summary.link("bottleneck-reverse") == summary.links.to_dicts()[1]
    assert summary.link("nowhere") == summary.proxy("pep") == {}
    assert "proxies" not in summary.as_dict()
