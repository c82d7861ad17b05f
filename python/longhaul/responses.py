"""How long responses and transfers take.

Of traffic: from the opening of a connection, or from the request on one that was open, until
everything has arrived. Of a finite transfer: from its start until its last byte is acknowledged.
"""

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from longhaul.results import Results

_TIME = pl.col("response_s")

# Figures of a group of responses. What the end of the run cut short is not among the percentiles,
# which are too small where much of it was.
FIGURES = (
    _TIME.count().alias("responses"),
    _TIME.null_count().alias("responses_cut_short"),
    _TIME.quantile(0.5, "linear").alias("response_p50_s"),
    _TIME.quantile(0.95, "linear").alias("response_p95_s"),
    _TIME.quantile(0.99, "linear").alias("response_p99_s"),
)

_SCHEMA = pl.Schema({"label": pl.String, "name": pl.String, "response_s": pl.Float64})


def response_times(run: "Results") -> pl.DataFrame:
    """How long each response or transfer took that began in the measurement window.

    Columns `label`, `name` and `response_s`: seconds, null for what the end of the run cut short.
    """
    began = pl.col("start_s") >= run.meta["measured_from_s"]
    transfers = run.bundles.filter(began, pl.col("transfer_bytes").is_not_null())
    found = [transfers.select("label", "name", pl.col("completion_s").alias("response_s"))]
    if "exchanges" in run.tables:
        labels = run.flows.select("name", "label")
        exchanges = run.exchanges.filter(began).join(labels, on="name", maintain_order="left")
        seconds = (pl.col("end_s") - pl.col("start_s")).alias("response_s")
        found.append(exchanges.select("label", "name", seconds))
    return pl.concat([_SCHEMA.to_frame(eager=True), *found])
