"""Plots of an algorithm's state at each ACK of traced flows (`trace_acks`)."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.files.names import unknown
from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.registry import Options, is_tcp, register
from longhaul.results import Results, ResultsError
from longhaul.results.state import OF_ALL, Quantity, Trace

PANEL_HEIGHT_IN = 1.7
# Lines with more points are drawn as bitmaps in SVG and PDF files.
MAX_DRAWN = 5_000


def _has_states(run: Results) -> bool:
    return is_tcp(run) and run.tables.get("acks", 0) > 0


def _shown(traces: Sequence[Trace], names: Sequence[str]) -> list[Quantity]:
    """Return the quantities with these `names`.

    By default, they are the window and the variables of each congestion control, such as a peak.
    """
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
        for (label, _, _), samples in trace.connections(quantity):
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
