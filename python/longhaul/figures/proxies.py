"""Metrics of split-TCP proxies: of the connection between their nodes, and of their queues."""

from functools import partial
from typing import Any

import polars as pl

from longhaul.figures.forms import number
from longhaul.figures.registry import PROXY, PreparedRun, declare


def proxies(prepared: PreparedRun) -> pl.DataFrame:
    """Return the run's table of proxies after `with_names`."""
    return with_names(prepared.run.proxies, prepared.run.measured_s)


def with_names(table: pl.DataFrame, measured_s: float) -> pl.DataFrame:
    """Replace the numbers in the column `proxy` by names, and add the column `measured_s`.

    `measured_s` is the length of the measurement window in seconds.
    """
    return table.with_columns(proxy="name", measured_s=pl.lit(measured_s))


of_proxies = partial(declare, of=PROXY, source=proxies, needs=("proxies",))


def _column(name: str, title: str, **more: Any) -> None:  # noqa: ANN401
    """Declare a column of the table of proxies as a metric."""
    of_proxies(name, title, pl.col(name), **more)


of_proxies(
    "forwarded_bps",
    "payload rate to the senders at the end node",
    8 * pl.col("forwarded_bytes") / pl.col("measured_s"),
    "payload given to the senders at the end node, divided by the measurement window",
    form=1,
    row="given to the end node (Mbit/s)",
)
_column("cwnd_mean_pkts", "mean congestion window between the nodes", form=number(1))
_column("sent_pkts", "data packets sent between the nodes", form=number(0))
_column("retransmitted_pkts", "packets retransmitted between the nodes", form=number(0))
_column("cuts_loss", "window reductions for losses between the nodes", form=number(0))
_column("timeouts", "timeouts between the nodes", form=number(0))
_column("queue_mean_pkts", "mean local queue", form=number(1))
_column("queue_max_pkts", "longest local queue", form=number(0))
_column("arrived_pkts", "packets that came to the local queue")
_column("dropped_pkts", "packets dropped by the local queue", form=number(0))
_column("marked_pkts", "packets marked by the local queue", form=number(0), only_some=True)
