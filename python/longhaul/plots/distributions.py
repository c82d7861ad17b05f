"""Plots of distributions over exchanges (requests and responses): sizes and round-trip times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.layout import labels_of, panels
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.plots.styles import Style
from longhaul.results import Results


@dataclass(frozen=True)
class Quantity:
    """A column of the table of exchanges, and its scale factor, name and unit in plots."""

    column: str
    scale: float
    title: str
    unit: str

    @property
    def label(self) -> str:
        """Label of the quantity's axis."""
        return f"{self.title} ({self.unit})"


SIZES = (
    Quantity("request_bytes", 1.0, "requests", "bytes"),
    Quantity("response_bytes", 1.0, "responses", "bytes"),
)
# Round-trip times that traffic models add to connections; those of delay boxes are not recorded.
ROUND_TRIPS = (Quantity("extra_rtt_s", 1e3, "round-trip time beyond the network's", "ms"),)


def _values(run: Results, quantity: Quantity, label: str) -> np.ndarray:
    """Return the values of a quantity for the exchanges of a label in the measurement window.

    An exchange belongs to the window in which it began.
    """
    flows = run.flows.filter(pl.col("label") == label)["name"]
    mine = run.measured_exchanges.filter(pl.col("name").is_in(flows.implode()))
    values = mine[quantity.column].drop_nulls().to_numpy().astype(float) * quantity.scale
    return np.sort(values[np.isfinite(values)])


def _has(quantities: Sequence[Quantity], run: Results) -> bool:
    if not is_tcp(run) or "exchanges" not in run.tables:
        return False
    return any((run.exchanges[quantity.column] > 0).any() for quantity in quantities)


def _register(name: str, what: str, quantities: Sequence[Quantity]) -> None:
    """Register two plots, of distribution functions and of tails, with a panel per quantity.

    `what` describes the quantities in the help of the plots.
    """
    for ending, words, tails in (("", "at most", False), ("-tails", "more than", True)):

        @register(
            f"{name}{ending}",
            f"share of {what} that are {words} a value, by label"
            + (", on logarithmic scales" if tails else ""),
            lambda run: _has(quantities, run),
            ["colour_by"],
            table="exchanges",
        )
        def draw(runs: Sequence[Results], options: Options, tails: bool = tails) -> Figure:
            return _draw(runs, options, quantities, tails=tails)


def _draw(
    runs: Sequence[Results], options: Options, quantities: Sequence[Quantity], *, tails: bool
) -> Figure:
    curves = labels_of(runs)
    kinds = {name: kind for name, (_, _, kind) in curves.items()}
    style_of = styles.of_labels(kinds, options.colour_by)
    shown = [one for one in quantities if any(_has([one], run) for run in runs)]

    def one(axes: Axes, quantity: Quantity) -> None:
        for name, (run, label, _) in curves.items():
            values = _values(run, quantity, label)
            if len(values):
                _distribution(axes, values, name, style_of[name], tails=tails)
        axes.set_xscale("log")
        axes.set_xlabel(quantity.label)
        axes.set_ylabel("share that is larger" if tails else "share that is at most as large")
        if tails:
            axes.set_yscale("log")

    return panels(shown, one, [quantity.title for quantity in shown], columns=2)


def _distribution(axes: Axes, values: np.ndarray, name: str, style: Style, *, tails: bool) -> None:
    """Draw the empirical distribution function of sorted values.

    With `tails`, draw its complement, the fraction of larger values.
    """
    at_most = np.arange(1, len(values) + 1) / len(values)
    shares = 1.0 - at_most if tails else at_most
    # The complement is 0 at the largest value, which a logarithmic axis cannot show.
    kept = slice(None, -1) if tails else slice(None)
    axes.plot(
        values[kept], shares[kept], drawstyle="steps-post", label=name,
        rasterized=len(values) > 20_000, **styles.as_line(style),
    )  # fmt: skip


_register("sizes", "requests and responses", SIZES)
_register("round-trips", "round-trip times beyond the network's", ROUND_TRIPS)
