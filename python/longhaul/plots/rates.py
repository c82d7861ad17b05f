"""Rates over time, from sampled counters."""

import polars as pl

# Maximum number of intervals per run over which rates are averaged.
RATE_BINS = 200


def rates(series: pl.DataFrame, key: str, counter: str, times: pl.Series) -> pl.DataFrame:
    """Return a counter's average rates per second, by interval of time and value of `key`.

    The intervals begin and end at sample times of the run (`times`, in order). The result has a row
    for each sample at the end of an interval. All intervals have the same number of samples, so the
    last samples of the run may be left out. `rate` is the average over the interval, and `step_s`
    the interval's length. `whole` is false if the counter started from zero during the interval, as
    for a flow (a value of `key`) that starts then.
    """
    ends = times.gather_every(max(1, -(-(len(times) - 1) // RATE_BINS)))
    steps = pl.DataFrame({"t_s": ends, "step_s": ends.diff()})
    at_ends = series.join(steps, on="t_s", maintain_order="left")
    before = pl.col(counter).shift(1).over(key)
    grown = (pl.col(counter) - before.fill_null(0)).cast(pl.Float64)
    return at_ends.with_columns(
        rate=grown / pl.col("step_s"), whole=before.is_not_null()
    ).drop_nulls("step_s")
