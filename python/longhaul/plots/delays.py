"""Plots of quantiles of packet delays, which scenarios measure with `measure.delays`."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.arrangements import overlaid
from longhaul.plots.layout import labels_of, logarithmic, panels
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.plots.styles import Style
from longhaul.results import Results

# Columns of the table of delays, with the fraction of packets up to each quantile.
PARTS = {
    "min_s": 0.0, "p1_s": 0.01, "p5_s": 0.05, "p25_s": 0.25, "p50_s": 0.5, "p75_s": 0.75,
    "p90_s": 0.9, "p95_s": 0.95, "p99_s": 0.99, "p999_s": 0.999, "max_s": 1.0,
}  # fmt: skip
# The axis of `delays` is logarithmic above this ratio of the largest to the smallest quantile.
MAX_RATIO = 100.0


def _has_delays(run: Results) -> bool:
    return is_tcp(run) and "delays" in run.tables


@register(
    "delays",
    "share of data packets that arrive within a time, by label; runs in one panel",
    _has_delays,
    ["colour_by"],
    table="delays",
)
def _delays(runs: Sequence[Results], options: Options) -> Figure:
    curves = labels_of(runs)
    kinds = {name: kind for name, (_, _, kind) in curves.items()}

    def together(axes: Axes, _: None) -> None:
        for name, style in styles.of_labels(kinds, options.colour_by).items():
            run, label, _kind = curves[name]
            _quantiles(axes, run, "label", label, name, style)
        if _is_wide(runs):
            logarithmic(axes)
        axes.set_ylabel("share of data packets")

    return panels([None], together, [""], x="one-way delay (ms)")


@register(
    "waits",
    "share of packets that wait at most a time for each sampled link",
    _has_delays,
    table="delays",
)
def _waits(runs: Sequence[Results], options: Options) -> Figure:
    known = [run.delays.filter(pl.col("kind") == "link")["name"] for run in runs]
    names = pl.concat(known).unique(maintain_order=True).to_list()

    def one(axes: Axes, run: Results, link: str, style: Style) -> None:
        _quantiles(axes, run, "link", link, run.name, style)
        axes.set_ylabel("share of packets")

    return overlaid(runs, names, one, x="wait (ms)")


def _quantiles(axes: Axes, run: Results, kind: str, name: str, shown: str, style: Style) -> None:
    """Draw the delay quantiles of the flow, label or link `name`, joined by straight lines.

    `kind` is the kind of `name` in the table of delays, and `shown` the name in the legend.
    """
    rows = run.delays.filter(
        pl.col("kind") == kind, pl.col("name") == name, pl.col("packets") > 0
    ).to_dicts()
    for row in rows:
        axes.plot(
            [row[column] * 1e3 for column in PARTS],
            list(PARTS.values()),
            label=shown,
            **styles.as_line(style, marker=True),
        )


def _is_wide(runs: Sequence[Results]) -> bool:
    """Return true if the delay quantiles of all labels together span more than two decades."""
    rows = pl.concat([run.delays.select("kind", "packets", *PARTS) for run in runs])
    measured = rows.filter(pl.col("kind") == "label", pl.col("packets") > 0)
    times = measured.select(list(PARTS)).to_numpy()
    positive = times[times > 0]
    return len(positive) > 0 and bool(positive.max() > MAX_RATIO * positive.min())
