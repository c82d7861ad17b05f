"""Response times and transfer times.

The response time of an exchange lasts from the opening of its connection, or from the request if
the connection was open, until the whole response has arrived. The transfer time of a finite
transfer lasts from its start until its last byte is acknowledged.
"""

import polars as pl

_SCHEMA = pl.Schema({"label": pl.String, "name": pl.String, "response_s": pl.Float64})


def with_times(exchanges: pl.DataFrame, measured_from_s: float) -> pl.DataFrame:
    """Return the exchanges that began in the measurement window, with their times `response_s`."""
    took = (pl.col("end_s") - pl.col("start_s")).alias("response_s")
    return exchanges.filter(pl.col("start_s") >= measured_from_s).with_columns(took)


def response_times(
    flows: pl.DataFrame, exchanges: pl.DataFrame | None, measured_from_s: float
) -> pl.DataFrame:
    """Return the time of each response or transfer that began in the measurement window.

    `flows` are a run's flows with parallel streams added up; `exchanges` is the run's table.
    Columns `label`, `name` and `response_s`: seconds, null if the run ended before.
    """
    began = pl.col("start_s") >= measured_from_s
    transfers = flows.filter(began, pl.col("transfer_bytes").is_not_null())
    times = [transfers.select("label", "name", pl.col("completion_s").alias("response_s"))]
    if exchanges is not None:
        labels = flows.select("name", "label")
        timed = with_times(exchanges, measured_from_s)
        labelled = timed.join(labels, on="name", maintain_order="left")
        times.append(labelled.select("label", "name", "response_s"))
    return pl.concat([_SCHEMA.to_frame(eager=True), *times])
