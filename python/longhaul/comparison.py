"""One table for one or several runs: a row per figure, a column per run and label.

The terminal, the HTML report and JSON show the same rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

from longhaul.results import Results, ResultsError
from longhaul.summary import Summary

# Runs side by side in one block on the terminal; further ones follow below.
RUNS_IN_A_ROW = 3


def number(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """How to write a figure, with so many digits behind the point."""
    return lambda value: f"{value * scale:,.{digits}f}"


# What is shown of labels, and of the network in the column of all flows: key, title, format.
FLOW_FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("flows", "flows", number(0)),
    ("goodput_bps", "goodput (Mbit/s)", number(1, 1e-6)),
    ("share", "share of goodput", lambda value: f"{value:.1%}"),
    ("jain", "Jain's index", number(3)),
    ("completed", "transfers completed", str),
    ("responses", "responses and transfers", lambda value: number(0)(value) if value else ""),
    ("response_p50_s", "response time, median (ms)", number(1, 1e3)),
    ("response_p95_s", "response time, 95th percentile (ms)", number(1, 1e3)),
    ("response_p99_s", "response time, 99th percentile (ms)", number(1, 1e3)),
    (
        "responses_cut_short",
        "cut short by the end",
        lambda value: number(0)(value) if value else "",
    ),
    ("cwnd_mean_pkts", "mean window (segments)", number(1)),
    ("rtt_mean_s", "mean round trip (ms)", number(2, 1e3)),
    ("retransmitted", "retransmitted", lambda value: f"{value:.3%}"),
    ("cuts_loss", "window cuts for losses", number(0)),
    ("cuts_ecn", "window cuts for ECN", number(0)),
    ("timeouts", "timeouts", number(0)),
    ("limited_by", "limited by", str),
)
LINK_FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("utilization", "utilisation", lambda value: f"{value:.1%}"),
    ("queue_mean_pkts", "mean queue (packets)", number(1)),
    ("queue_max_pkts", "longest queue (packets)", number(0)),
    ("dropped_pkts", "packets dropped", number(0)),
    ("marked_pkts", "packets marked", number(0)),
)


@dataclass(frozen=True)
class Block:
    """Rows of one table: a heading, and per row a title and a cell for every column."""

    heading: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Table:
    """Columns are grouped by run; each run has a column per label, then one for all flows."""

    runs: list[tuple[str, list[str]]]
    blocks: list[Block]

    def __rich__(self) -> RichTable:
        """The table on a terminal."""
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("")
        for name, labels in self.runs:
            for index, label in enumerate(labels):
                above = name if index == 0 and len(self.runs) > 1 else ""
                heading = Text(f"{above}\n{label}" if len(self.runs) > 1 else label)
                table.add_column(heading, justify="right", overflow="fold")
        for block in self.blocks:
            table.add_row(Text(block.heading, style="bold"))
            for title, cells in block.rows:
                table.add_row(title, *cells)
            table.add_section()
        return table


def _cells(values: Sequence[Any], form: Callable[[Any], str]) -> list[str]:
    return ["" if value is None else form(value) for value in values]


def _columns(summary: Summary) -> list[dict[str, Any]]:
    """The figures of each label, then of all flows together."""
    return [*summary.labels.to_dicts(), summary.total]


def table(runs: Sequence[Results]) -> Table:
    """The figures of every run beside one another."""
    if any(run.is_mesonet for run in runs):
        if not all(run.is_mesonet for run in runs):
            raise ResultsError("runs of MesoNet and of TCP have no figures in common")
        from longhaul.mesonet.summary import table as mesonet_table

        return mesonet_table(runs)
    summaries = [run.summary() for run in runs]
    columns = [column for summary in summaries for column in _columns(summary)]
    flow_rows = [
        (title, _cells([column.get(key) for column in columns], form))
        for key, title, form in FLOW_FIGURES
    ]
    blocks = [Block("flows", [row for row in flow_rows if any(row[1])])]
    names = dict.fromkeys(link for summary in summaries for link in summary.links["link"])
    for name in names:
        links = [summary.link(name) for summary in summaries]
        rows = []
        for key, title, form in LINK_FIGURES:
            values: list[Any] = []
            for summary, link in zip(summaries, links, strict=True):
                values += [None] * len(summary.labels) + [link.get(key)]
            rows.append((title, _cells(values, form)))
        blocks.append(Block(f"link {name}", rows))
    heads = [
        (run.name, [*summary.labels["label"], "all"])
        for run, summary in zip(runs, summaries, strict=True)
    ]
    return Table(heads, blocks)


def compare(runs: Sequence[Results]) -> Group:
    """Tables that put runs side by side, to print with rich."""
    steps = range(0, len(runs), RUNS_IN_A_ROW)
    return Group(*(table(runs[step : step + RUNS_IN_A_ROW]) for step in steps))
