"""Points of a curve over time: all samples, or only minima and maxima if the whole run is shown."""

import polars as pl
from matplotlib.axes import Axes

from longhaul.mesonet.plots.runs import in_part_of_run
from longhaul.plots import styles
from longhaul.plots.registry import Options
from longhaul.plots.styles import Style
from longhaul.results import ResultsError

# Number of bins of a whole run, fewer than the plot's pixels; each bin keeps its extremes.
BINS = 600


def samples(table: pl.DataFrame, value: pl.Expr, options: Options) -> pl.DataFrame:
    """Return the points (`t_s`, `value`) of a line, at the ends of intervals; values may be null.

    `table` has a row per interval. All intervals between --from and --to are returned. If a whole
    run has more than two intervals per bin, only the minimum and maximum of each bin are returned,
    at their own times, so that peaks and dips keep their size. A bin without any value is a null.
    """
    part = in_part_of_run(table, pl.col("t_s"), options)
    if part.is_empty():
        end = float(table["t_s"].max() or 0.0)  # type: ignore[arg-type]
        raise ResultsError(f"--from and --to: nothing is there; the run ends at {end:g} s")
    points = part.select("t_s", value.cast(pl.Float64).alias("value"))
    chosen = options.from_s is not None or options.to_s is not None
    return points if chosen or points.height <= 2 * BINS else _extremes(points)


def _extremes(points: pl.DataFrame) -> pl.DataFrame:
    """Return the samples with the minimum and maximum of each bin, in order of time."""
    row, value = pl.int_range(pl.len()), pl.col("value")
    numbered = points.with_columns(row=row, bin=row * BINS // pl.len())
    kept = numbered.group_by("bin", maintain_order=True).agg(
        least=pl.col("row").get(value.arg_min()), most=pl.col("row").get(value.arg_max()),
        first=pl.col("row").first(),
    )  # fmt: skip
    rows = kept.select(pl.coalesce(name, "first") for name in ("least", "most"))
    return points[pl.concat(rows.get_columns()).unique().sort()]


def line(axes: Axes, points: pl.DataFrame, label: str | None, look: Style) -> None:
    """Draw samples, with gaps for nulls; a single sample between two gaps is a dot."""
    axes.plot(points["t_s"], points["value"], label=label, **styles.as_line(look))
    beside = pl.col("value").shift(1).is_null() & pl.col("value").shift(-1).is_null()
    alone = points.filter(pl.col("value").is_not_null() & beside)
    if alone.height:
        axes.plot(alone["t_s"], alone["value"], ".", color=look.colour, markersize=2.5)
