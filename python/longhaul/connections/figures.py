"""The figures of runs side by side: a row per figure, a column per run and label."""

from collections.abc import Callable, Sequence
from typing import Any

from longhaul.results.kinds import RunData
from longhaul.results.summary import COUNTS, Summary
from longhaul.results.table import Block, Table, in_units, number

# How a figure is written: by a function, or with a number of decimals in the unit of its row.
Form = Callable[[Any], str] | int

# What is shown of labels, and of the network in the column of all flows: key, title, format.
FLOW_FIGURES: tuple[tuple[str, str, Form], ...] = (
    ("flows", "flows", number(0)),
    ("goodput_bps", "goodput (Mbit/s)", 1),
    ("share", "share of goodput", lambda value: f"{value:.1%}"),
    ("jain", "Jain's index", number(3)),
    ("completed", "transfers completed", str),
    ("responses", "responses and transfers", lambda value: number(0)(value) if value else ""),
    ("response_p50_s", "response time, median (ms)", 1),
    ("response_p95_s", "response time, 95th percentile (ms)", 1),
    ("response_p99_s", "response time, 99th percentile (ms)", 1),
    (
        "responses_cut_short",
        "cut short by the end",
        lambda value: number(0)(value) if value else "",
    ),
    ("cwnd_mean_pkts", "mean cwnd (segments)", number(1)),
    ("rtt_mean_s", "mean RTT (ms)", 2),
    ("retransmitted", "retransmitted", lambda value: f"{value:.3%}"),
    ("cuts_loss", "cwnd reductions (loss)", number(0)),
    ("cuts_ecn", "cwnd reductions (ECN)", number(0)),
    ("timeouts", "timeouts", number(0)),
    ("limited_by", "limited by", str),
)
LINK_FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("utilization", "utilisation", lambda value: f"{value:.1%}"),
    # Beside that of its token bucket, where it has one.
    ("line_utilization", "utilisation of the line", lambda value: f"{value:.1%}"),
    ("queue_mean_pkts", "mean queue (packets)", number(1)),
    ("queue_max_pkts", "longest queue (packets)", number(0)),
    ("dropped_pkts", "packets dropped", number(0)),
    ("dropped_policed_pkts", "of these by the policer", number(0)),
    ("dropped_thinned_pkts", "of these ACKs thinned out", number(0)),
    ("dropped_filtered_pkts", "of these ACKs filtered", number(0)),
    ("marked_pkts", "packets marked", number(0)),
)
# In place of the utilisation of a link whose rate was 0 all the time that is measured.
NO_CAPACITY = "no capacity"
# Rows of links that are left out where no run has them.
OF_SOME_LINKS = (
    "line_utilization", "dropped_policed_pkts", "dropped_thinned_pkts", "dropped_filtered_pkts",
)  # fmt: skip


def row(
    key: str, title: str, form: Form, columns: Sequence[dict[str, Any]]
) -> tuple[str, list[str]]:
    """The title, with the unit, and a cell for each column."""
    values = [column.get(key) for column in columns]
    if isinstance(form, int):
        title, scale = in_units(title, form, values)
        form = number(form, scale)
    cells = _cells(values, form)
    if key in COUNTS:
        before = [column.get(f"before_{key}") or 0 for column in columns]
        # A count from `measure.from` on that is 0 misleads where it was not before.
        cells = [
            f"{cell} ({earlier:,} before)" if value == 0 and earlier else cell
            for cell, value, earlier in zip(cells, values, before, strict=True)
        ]
    return title, cells


def _cells(values: Sequence[Any], form: Callable[[Any], str]) -> list[str]:
    texts = {None: "", NO_CAPACITY: NO_CAPACITY}
    return [texts[value] if value in texts else form(value) for value in values]


def _summaries(runs: Sequence[RunData]) -> list[Summary]:
    return [run.own_tables.summary() for run in runs]


def _columns(summary: Summary) -> list[dict[str, Any]]:
    """The figures of each label, then of all flows together."""
    return [*summary.labels.to_dicts(), summary.total]


def table(runs: Sequence[RunData]) -> Table:
    """The figures of every run side by side."""
    summaries = _summaries(runs)
    columns = [column for summary in summaries for column in _columns(summary)]
    flow_rows = [row(key, title, form, columns) for key, title, form in FLOW_FIGURES]
    blocks = [Block("flows", [row for row in flow_rows if any(row[1])])]
    names = dict.fromkeys(link for summary in summaries for link in summary.links["link"])
    for name in names:
        links = [summary.link(name) for summary in summaries]
        rows = []
        for key, title, form in LINK_FIGURES:
            values: list[Any] = []
            for summary, link in zip(summaries, links, strict=True):
                value = link.get(key)
                if link and key == "utilization" and value is None:
                    value = NO_CAPACITY
                values += [None] * len(summary.labels) + [value]
            if key not in OF_SOME_LINKS or any(values):
                rows.append((title, _cells(values, form)))
        blocks.append(Block(f"link {name}", rows))
    heads = [
        (run.name, [*summary.labels["label"], "all"])
        for run, summary in zip(runs, summaries, strict=True)
    ]
    windows = {_span(run) for run in runs}
    return Table(heads, blocks, windows.pop() if len(windows) == 1 else "")


def _span(run: RunData) -> str:
    """From when to when a run is measured; empty if it is all of it."""
    start, end = run.meta["measured_from_s"], run.meta["simulated_s"]
    return f"from {start:g} s to {end:g} s" if start > 0 else ""


def changes(runs: Sequence[RunData]) -> Table:
    """How much more each run has than the first, by label, with sign."""
    first, *others = [_by_label(summary) for summary in _summaries(runs)]
    heads, columns = [], []
    for run, other in zip(runs[1:], others, strict=True):
        common = [label for label in other if label in first]
        heads.append((f"{run.name} - {runs[0].name}", [label or "all" for label in common]))
        columns += [(first[label], other[label]) for label in common]
    rows = []
    for key, title, form in FLOW_FIGURES:
        if isinstance(form, int):
            every = [side.get(key) for pair in columns for side in pair]
            title, scale = in_units(title, form, every)
            form = number(form, scale)
        cells = [_change(before.get(key), after.get(key), form) for before, after in columns]
        if any(cells):
            rows.append((title, cells))
    return Table(heads, [Block("changes", rows)])


def _by_label(summary: Summary) -> dict[str, dict[str, Any]]:
    """Figures by label; those of all flows have none."""
    return {row["label"]: row for row in summary.labels.to_dicts()} | {"": summary.total}


def _change(before: Any, after: Any, form: Callable[[Any], str]) -> str:  # noqa: ANN401
    """A difference with its sign; nothing if there is none, or no number."""
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return ""
    text = form(abs(after - before))
    if not text.strip("0.,%"):
        return text
    return f"{'+' if after > before else '-'}{text}"
