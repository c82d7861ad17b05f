"""Figures of links: expressions over the row of each."""

from functools import partial
from typing import Any

import polars as pl

from longhaul.figures.forms import number, percent
from longhaul.figures.labels import QUANTILES
from longhaul.figures.registry import LINK, Prepared, figure


def links(prepared: Prepared) -> pl.DataFrame:
    """Return the links of which samples are recorded."""
    observed = pl.col("name").is_in(prepared.run.observed_links())
    return prepared.run.links.filter(observed).with_columns(link="name")


of_links = partial(figure, of=LINK, source=links)


def _column(name: str, title: str, *, only_some: bool = False, **more: Any) -> None:  # noqa: ANN401
    """Declare a column of the table of links as a figure; some links may not have it."""
    column = pl.col(f"^{name}$" if only_some else name)
    of_links(name, title=title, only_some=only_some, **more)(lambda: column)


_column("rate_bps", "rate")
_column("utilization", "utilisation", form=percent(1), needs_capacity=True, most=1.0)
# Beside that of its token bucket, where it has one.
_column("line_utilization", "utilisation of the line", form=percent(1), only_some=True)
_column("queue_mean_pkts", "mean queue", form=number(1))
_column("queue_max_pkts", "longest queue", form=number(0))
_column("arrived_pkts", "packets that came")
_column("dropped_pkts", "packets dropped", form=number(0))
for _cause, _words in (
    ("policed", "by the policer"), ("thinned", "ACKs thinned out"), ("filtered", "ACKs filtered"),
):  # fmt: skip
    _column(
        f"dropped_{_cause}_pkts", f"packets dropped: {_words}", row=f"of these {_words}",
        form=number(0), only_some=True,
    )  # fmt: skip
_column("marked_pkts", "packets marked", form=number(0))

of_drops = partial(of_links, listed=())


@of_drops(
    "drop_rate",
    title="packets dropped",
    about="packets dropped, for each that came",
    better="less",
    most=1.0,
)
def _drop_rate() -> pl.Expr:
    return (pl.col("dropped_pkts") / pl.col("arrived_pkts")).fill_nan(None)


@of_drops("mark_rate", title="packets marked", about="packets marked, for each that came")
def _mark_rate() -> pl.Expr:
    return (pl.col("marked_pkts") / pl.col("arrived_pkts")).fill_nan(None)


def waits(prepared: Prepared) -> pl.DataFrame:
    """Return how long packets wait for each link."""
    return with_names(prepared.run.delays)


def with_names(delays: pl.DataFrame) -> pl.DataFrame:
    """Return the delays of links, with their names as `link`."""
    return delays.filter(pl.col("kind") == LINK).with_columns(link="name")


of_waits = partial(figure, of=LINK, source=waits, needs=("delays",))
for _part, _title in QUANTILES.items():
    of_waits(
        f"wait_{_part}_s",
        title=f"wait, {_title}",
        about="that packets wait for the link (quantile)",
        better="less",
    )(partial(pl.col, f"{_part}_s"))


@of_waits(
    "wait_mean_s",
    title="mean wait",
    about="that packets wait for the link, on average",
    better="less",
    listed=(),
)
def _wait() -> pl.Expr:
    return pl.col("mean_s")
