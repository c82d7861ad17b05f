"""Metrics of links: expressions over the rows of the table of links."""

from functools import partial
from typing import Any

import polars as pl

from longhaul.figures.forms import number, percent
from longhaul.figures.labels import QUANTILES
from longhaul.figures.registry import LINK, PreparedRun, declare


def links(prepared: PreparedRun) -> pl.DataFrame:
    """Return the rows of the links whose samples are recorded; of the busiest link if none are."""
    observed = pl.col("name").is_in(prepared.run.observed_links())
    rows: pl.DataFrame = prepared.run.links.filter(observed).with_columns(link="name")
    return rows


of_links = partial(declare, of=LINK, source=links)


def _column(name: str, title: str, *, only_some: bool = False, **more: Any) -> None:  # noqa: ANN401
    """Declare a column of the table of links as a metric.

    `only_some` is true if the column is absent from the tables of some runs.
    """
    column = pl.col(f"^{name}$" if only_some else name)
    of_links(name, title, column, only_some=only_some, **more)


_column("rate_bps", "rate")
_column("utilization", "utilisation", form=percent(1), needs_capacity=True, most=1.0)
# Of links with a token bucket, whose `utilization` is of the bucket's rate.
_column("line_utilization", "utilisation of the line", form=percent(1), only_some=True, most=1.0)
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
# Of DualPI2, which has a queue for each class of packets.
for _class, _words in (("l4s", "L4S queue"), ("classic", "classic queue")):
    of_class = partial(_column, only_some=True)
    of_class(f"{_class}_served_pkts", f"packets served, {_words}", listed=())
    of_class(f"{_class}_wait_mean_s", f"mean wait, {_words}", better="less", form=2)
    of_class(f"{_class}_marked_pkts", f"packets marked, {_words}", form=number(0))
    of_class(f"{_class}_dropped_pkts", f"packets dropped, {_words}", form=number(0))
for _name, _what in (("drop_rate", "dropped"), ("mark_rate", "marked")):
    of_links(
        _name, f"packets {_what}",
        (pl.col(f"{_what}_pkts") / pl.col("arrived_pkts")).fill_nan(None),
        f"packets {_what}, as part of those that arrived", better="less", most=1.0, listed=(),
    )  # fmt: skip


def waits(prepared: PreparedRun) -> pl.DataFrame:
    """Return the queueing delays of packets at each link."""
    return with_names(prepared.run.delays)


def with_names(delays: pl.DataFrame) -> pl.DataFrame:
    """Return the delays at links, with the names of links in the column `link`."""
    return delays.filter(pl.col("kind") == LINK).with_columns(link="name")


of_waits = partial(declare, of=LINK, source=waits, needs=("delays",), better="less")
_WAIT = "time that packets wait for the link"
for _part, _title in QUANTILES.items():
    of_waits(
        f"wait_{_part}_s", f"wait, {_title}", pl.col(f"{_part}_s"), f"{_WAIT}, {_title}",
        form=1, only_some=True,
    )  # fmt: skip
of_waits("wait_mean_s", "mean wait", pl.col("mean_s"), f"{_WAIT}, on average", listed=())
