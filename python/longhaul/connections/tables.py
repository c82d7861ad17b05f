"""Tables that compare runs: a row for each metric, and a column for each run and label."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from longhaul.figures.forms import number
from longhaul.figures.labels import COUNTS
from longhaul.figures.registry import LABEL, LINK, PROXY, Figure, declared
from longhaul.results.kinds import RunData
from longhaul.results.summary import Summary
from longhaul.results.table import Block, Table, in_units

# Figures that tables leave out for an idle link (`_is_idle`).
OF_QUEUES = (
    "queue_mean_pkts", "queue_max_pkts", "dropped_pkts", "marked_pkts",
    "l4s_wait_mean_s", "classic_wait_mean_s",
)  # fmt: skip
# Text for the utilisation of a link whose rate was 0 during the whole measurement window.
NO_CAPACITY = "no capacity"


def _shown(of: str, silent: Collection[str] = ()) -> list[Figure]:
    """Return the metrics of labels, links or proxies that tables show, except `silent` ones.

    `of` is `label`, `link` or `proxy`.
    """
    return [
        figure for figure in declared(of) if figure.form is not None and figure.name not in silent
    ]


def _in_units(figure: Figure, values: Sequence[Any]) -> tuple[str, Callable[[Any], str]]:
    """Return a row's title with a unit that suits `values`, and a function that formats them."""
    form = figure.form
    if not isinstance(form, int):
        return figure.heading, form or str
    title, scale = in_units(figure.heading, form, values)
    return title, number(form, scale)


def row(figure: Figure, columns: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    """Return a row's title with the unit, and its formatted value in each column."""
    values = [column.get(figure.name) for column in columns]
    title, write = _in_units(figure, values)
    cells = _cells(values, write)
    if figure.name in COUNTS:
        before = [column.get(f"before_{figure.name}") or 0 for column in columns]
        # A count of 0 in the window would mislead if events happened before the window.
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
    """Return a column of metrics for each label, and for all flows if there are several labels."""
    labels = summary.labels.to_dicts()
    return labels if len(labels) == 1 else [*labels, summary.total]


def _telling(columns: Sequence[dict[str, Any]]) -> list[Figure]:
    """Return the metrics of flows that are informative in at least one column of the table.

    Fairness is left out if no column has several flows. The share of goodput is left out if there
    is only one label or no goodput, and window reductions by ECN marks if there were none during
    and before the measurement window.
    """
    silent = set()
    if all((column["flows"] or 0) < 2 for column in columns):
        silent.add("jain")
    if all(column["share"] in (None, 1.0) for column in columns):
        silent.add("share")
    if not any(column["cuts_ecn"] or column["before_cuts_ecn"] for column in columns):
        silent.add("cuts_ecn")
    return _shown(LABEL, silent)


def _is_idle(links: Sequence[dict[str, Any]]) -> bool:
    """Return true if a link had no drops, no marks and at most one queued packet in all runs."""
    quiet = all(not (link.get("dropped_pkts") or link.get("marked_pkts")) for link in links)
    return quiet and all((link.get("queue_max_pkts") or 0) <= 1 for link in links)


def table(runs: Sequence[RunData]) -> Table:
    """Return one table with the metrics of all runs side by side."""
    summaries = _summaries(runs)
    columns = [column for summary in summaries for column in _columns(summary)]
    flow_rows = [row(figure, columns) for figure in _telling(columns)]
    blocks = [Block("flows", [row for row in flow_rows if any(row[1])])]
    blocks += _links(summaries) + _proxies(summaries)
    heads = [
        (run.name, [column.get("label", "all") for column in _columns(summary)])
        for run, summary in zip(runs, summaries, strict=True)
    ]
    windows = {_span(run) for run in runs}
    return Table(heads, blocks, windows.pop() if len(windows) == 1 else "")


def _links(summaries: Sequence[Summary]) -> list[Block]:
    """Return a block of rows for each link, without queue metrics if the link is idle."""
    blocks = []
    for name in dict.fromkeys(link for summary in summaries for link in summary.links["link"]):
        links = [summary.link(name) for summary in summaries]
        shown = _shown(LINK, OF_QUEUES if _is_idle(links) else ())
        blocks.append(Block(f"link {name}", _rows(shown, links, summaries)))
    return blocks


def _proxies(summaries: Sequence[Summary]) -> list[Block]:
    names = [
        name
        for summary in summaries
        if summary.proxies.columns
        for name in summary.proxies["proxy"]
    ]
    return [
        Block(
            f"proxy {name}",
            _rows(_shown(PROXY), [summary.proxy(name) for summary in summaries], summaries),
        )
        for name in dict.fromkeys(names)
    ]


def _rows(
    shown: Sequence[Figure], found: Sequence[dict[str, Any]], summaries: Sequence[Summary]
) -> list[tuple[str, list[str]]]:
    """Return the rows of the metrics `shown` for one link or proxy.

    `found` has an entry for each run: the metrics of this link or proxy. The entry is empty if the
    run lacks the link or proxy. In the table, a run has a column for each label and, if there are
    several labels, one for all flows. Only the last column of each run has a value.
    """
    rows = []
    for figure in shown:
        values: list[Any] = []
        for summary, figures in zip(summaries, found, strict=True):
            value = figures.get(figure.name)
            if figures and figure.needs_capacity and value is None:
                value = NO_CAPACITY
            values += [None] * (len(_columns(summary)) - 1) + [value]
        if not figure.only_some or any(values):
            title, write = _in_units(figure, values)
            rows.append((title, _cells(values, write)))
    return rows


def _span(run: RunData) -> str:
    """Return the measurement window of a run as text; empty if it covers the whole run."""
    start, end = run.meta["measured_from_s"], run.meta["simulated_s"]
    return f"from {start:g} s to {end:g} s" if start > 0 else ""


def changes(runs: Sequence[RunData]) -> Table:
    """Return a table of how each label's metrics change from the first run to the others.

    Labels that only one of the two runs has are left out. Metrics of links and proxies are not
    compared.
    """
    first, *others = [_by_label(summary) for summary in _summaries(runs)]
    heads, columns = [], []
    for run, other in zip(runs[1:], others, strict=True):
        common = [label for label in other if label in first]
        if len(common) == 2 and len(other) == len(first) == 2:
            common = common[:1]
        heads.append((f"{run.name} - {runs[0].name}", [label or "all" for label in common]))
        columns += [(first[label], other[label]) for label in common]
    rows = []
    every_column = [side for pair in columns for side in pair]
    for figure in _telling(every_column):
        key = figure.name
        title, write = _in_units(figure, [side.get(key) for side in every_column])
        cells = [_change(before.get(key), after.get(key), write) for before, after in columns]
        # Quantities that do not change in any run are left out.
        if any(cell.startswith(("+", "-")) for cell in cells):
            rows.append((title, cells))
    return Table(heads, [Block("changes" if rows else "no changes", rows)])


def _by_label(summary: Summary) -> dict[str, dict[str, Any]]:
    """Return the metrics by label; the empty label has those of all flows."""
    return {row["label"]: row for row in summary.labels.to_dicts()} | {"": summary.total}


def _change(before: Any, after: Any, form: Callable[[Any], str]) -> str:  # noqa: ANN401
    """Return `after` minus `before` as text with its sign; `form` formats the absolute value.

    The result is empty if a value is missing or is not a number. It has no sign if the formatted
    difference is zero.
    """
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return ""
    text = form(abs(after - before))
    if not text.strip("0.,%"):
        return text
    return f"{'+' if after > before else '-'}{text}"
