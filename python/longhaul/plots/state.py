"""State of algorithms at each acknowledgement, which traced flows record (`trace_acks`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul import _engine
from longhaul.files.names import unknown
from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.results import Results, ResultsError

PANEL_HEIGHT_IN = 1.7
# Lines with more points than this are drawn as bitmaps in SVG and PDF files.
MAX_DRAWN = 5_000


@dataclass(frozen=True)
class Quantity:
    """A recorded quantity, as the registry of algorithms declares it."""

    name: str
    unit: str
    title: str


# Quantities that every algorithm has.
OF_ALL = (
    Quantity("cwnd", "segments", "congestion window"),
    Quantity("ssthresh", "segments", "slow-start threshold"),
    Quantity("in_flight", "segments", "in flight"),
)


def of_algorithms() -> Mapping[str, Sequence[Quantity]]:
    """Return the quantities of each algorithm's own state by its name."""
    return {
        row["name"]: [Quantity(**quantity) for quantity in row["state"]]
        for row in _engine.algorithms()["algorithms"]
    }


def _has_states(run: Results) -> bool:
    return is_tcp(run) and "acks" in run.tables


@dataclass(frozen=True)
class Trace:
    """Samples of a run with the labels of their flows, and the labels of each quantity."""

    run: Results
    samples: pl.DataFrame
    labels: Mapping[Quantity, Sequence[str]]

    @classmethod
    def of(cls, run: Results) -> "Trace":
        """Read the table `acks`.

        Algorithms may use one name for different quantities. Those of transports that the registry
        does not know have no title.
        """
        flows = run.flows.select("name", "label")
        samples = run.acks.join(flows, on="name", how="left", maintain_order="left")
        known, algorithms = of_algorithms(), run.algorithms()
        labels: dict[Quantity, list[str]] = {}
        pairs = samples.select("label", "quantity").unique(maintain_order=True)
        for label, name in pairs.iter_rows():
            declared = (*OF_ALL, *known.get(algorithms[label], ()))
            quantity = next((one for one in declared if one.name == name), Quantity(name, "", name))
            labels.setdefault(quantity, []).append(label)
        return cls(run, samples, labels)

    def connections(self, quantity: Quantity) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the label and the samples of each connection that recorded a quantity."""
        chosen = self.samples.filter(
            pl.col("quantity") == quantity.name,
            pl.col("label").is_in(self.labels.get(quantity, [])),
        )
        connections = chosen.group_by("label", "name", "connection", maintain_order=True)
        for (label, _, _), part in connections:
            yield str(label), part.select("t_s", "value")


def _shown(traces: Sequence[Trace], names: Sequence[str]) -> list[Quantity]:
    """Return the quantities to show: those named, or the window and the algorithms' own."""
    every = list(dict.fromkeys(quantity for trace in traces for quantity in trace.labels))
    known = [quantity.name for quantity in every]
    for name in names:
        if name not in known:
            raise ResultsError(f"--part: {unknown('quantity', name, known, 'longhaul list state')}")
    if names:
        return [quantity for name in names for quantity in every if quantity.name == name]
    return [quantity for quantity in every if quantity not in OF_ALL[1:]]


@register(
    "state",
    "the window and the algorithm's own state at each acknowledgement of traced flows, a row of "
    "panels for each quantity (`longhaul list state`)",
    _has_states,
    ["colour_by", "parts"],
    table="acks",
)
def _state(runs: Sequence[Results], options: Options) -> Figure:
    traces = [Trace.of(run) for run in runs]
    cells = [(quantity, trace) for quantity in _shown(traces, options.parts) for trace in traces]

    def one(axes: Axes, cell: tuple[Quantity, Trace]) -> None:
        quantity, trace = cell
        style_of = styles.of_labels(trace.run.algorithms(), options.colour_by)
        for label, samples in trace.connections(quantity):
            axes.step(
                samples["t_s"], samples["value"], where="post", label=label, alpha=0.85,
                rasterized=samples.height > MAX_DRAWN, **styles.as_line(style_of[label]),
            )  # fmt: skip
        axes.set_ylabel(quantity.unit)

    titles = [
        quantity.title if len(runs) == 1 else f"{trace.run.name}: {quantity.title}"
        for quantity, trace in cells
    ]
    return panels(
        cells, one, titles, columns=len(runs), scales="row", from_zero=False,
        height_in=PANEL_HEIGHT_IN,
    )  # fmt: skip
