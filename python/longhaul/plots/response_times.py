"""Plots of the distributions of response times and transfer times."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.arrangements import overlaid
from longhaul.plots.layout import logarithmic, panels
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.plots.styles import Style
from longhaul.results import Results


def _has_responses(run: Results) -> bool:
    return is_tcp(run) and len(run.response_times) > 0


@register(
    "response-times",
    "share of responses and transfers that take at most a time",
    _has_responses,
    ["colour_by"],
)
def _response_times(runs: Sequence[Results], options: Options) -> Figure:
    if len(runs) == 1:
        (run,) = runs
        style_of = styles.of_labels(run.algorithms(), options.colour_by)

        def labels(axes: Axes, run: Results) -> None:
            for label in run.response_times["label"].unique(maintain_order=True):
                _distribution(axes, run, label, label, style_of[label])

        return panels(runs, labels, [""], x=_X)

    def one(axes: Axes, run: Results, label: str, style: Style) -> None:
        _distribution(axes, run, label, run.name, style)

    every = pl.concat([run.response_times["label"] for run in runs])
    names = every.unique(maintain_order=True).to_list()
    return overlaid(runs, names, one, x=_X)


_X = "response time (s)"


def _distribution(axes: Axes, run: Results, label: str, name: str, style: Style) -> None:
    """Draw the cumulative distribution of the response times of a label.

    The curve ends below 1 if some responses did not finish.
    """
    times = run.response_times.filter(pl.col("label") == label)["response_s"]
    done = times.drop_nulls().sort()
    shares = np.arange(1, len(done) + 1) / max(len(times), 1)
    axes.plot(done, shares, label=name, drawstyle="steps-post", **styles.as_line(style))
    logarithmic(axes)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share of responses")
