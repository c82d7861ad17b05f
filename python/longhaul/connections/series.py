"""Time series that show whether a run is in a steady state."""

import polars as pl

from longhaul.results import Results
from longhaul.results.kinds import RunData, TimeSeries


def time_series(data: RunData) -> TimeSeries:
    """Yield goodput and mean window of each label, and the bottleneck's queue, over time."""
    run: Results = data.own_tables
    flows = run.flow_series
    for label, part in flows.group_by("label", maintain_order=True):
        whole = part.group_by("t_s", maintain_order=True).agg(
            pl.col("delivered_bytes").sum(), pl.col("cwnd_pkts").mean()
        )
        t, grown = whole["t_s"].to_numpy(), pl.col("delivered_bytes").diff()
        rate = whole.select(grown * 8.0 / pl.col("t_s").diff()).to_series().slice(1)
        yield f"{label[0]}: goodput (bit/s)", t[1:], rate.to_numpy()
        yield f"{label[0]}: mean window (segments)", t, whole["cwnd_pkts"].to_numpy()
    link = run.bottleneck_series
    queue = link["queue_pkts"].cast(pl.Float64).to_numpy()
    yield f"{run.bottleneck}: queue (packets)", link["t_s"].to_numpy(), queue
