"""Plot of fairness over time."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.analysis.fairness import jain_of_column
from longhaul.figures.labels import COMPARABLE
from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.rates import rates
from longhaul.plots.registry import Options, has_samples, register
from longhaul.results import Results


@register("fairness", "Jain's index of the rates of long-lived connections over time", has_samples)
def _fairness(runs: Sequence[Results], options: Options) -> Figure:
    run_styles = styles.of_runs(len(runs))

    def draw(axes: Axes, runs: Sequence[Results]) -> None:
        for run, style in zip(runs, run_styles, strict=True):
            index = _index(run)
            name = run.name if len(runs) > 1 else None
            axes.plot(index["t_s"], index["jain"], label=name, **styles.as_line(style))
        axes.set_ylim(0, 1.05)
        axes.set_ylabel("Jain's fairness index")

    return panels([runs], draw, [""])


def _index(run: Results) -> pl.DataFrame:
    """Return Jain's index of the flows' rates in each interval of `rates`.

    Only flows from `COMPARABLE` sources that last through the whole interval count. Intervals in
    which no such flow has a rate above 0 are left out.
    """
    flows = run.bundles.filter(pl.col("source").is_in(COMPARABLE)).select("name", "finish_s")
    every = rates(run.flow_series, "name", "delivered_bytes", run.sample_times)
    shares = every.join(flows, on="name", maintain_order="left")
    finished = pl.col("finish_s") < pl.col("t_s")
    there = shares.filter(pl.col("whole"), ~finished.fill_null(value=False))
    index = there.group_by("t_s", maintain_order=True).agg(jain=jain_of_column(pl.col("rate")))
    return index.drop_nans().sort("t_s")
