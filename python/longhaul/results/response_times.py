"""Response times of exchanges, and times of finite transfers.

The response time of an exchange begins when its connection is opened or, if the connection is
already open, with the request. It ends when the whole response has arrived. The time of a finite
transfer begins with its start, and ends when its last byte is acknowledged.
"""

import polars as pl

_SCHEMA = pl.Schema({"label": pl.String, "name": pl.String, "response_s": pl.Float64})


def with_times(exchanges: pl.DataFrame, measured_from_s: float) -> pl.DataFrame:
    """Return the exchanges that began in the measurement window, with times `response_s`.

    An exchange is a request and its response. The window begins at `measured_from_s`.
    """
    took = (pl.col("end_s") - pl.col("start_s")).alias("response_s")
    return exchanges.filter(pl.col("start_s") >= measured_from_s).with_columns(took)


def response_times(
    flows: pl.DataFrame, exchanges: pl.DataFrame | None, measured_from_s: float
) -> pl.DataFrame:
    """Return durations of exchanges and transfers that began in the measurement window.

    `flows` are the flows of a run with parallel streams added up, and `exchanges` is the run's
    table of requests and responses. The result has the columns `label`, `name` and `response_s`:
    the duration in seconds, or null if the exchange or transfer was unfinished at the run's end.
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
