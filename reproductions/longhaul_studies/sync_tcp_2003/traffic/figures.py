"""Figures of appendix A from our results: the traffic at 85 % load."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from longhaul.plots.styles import OTHERS
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import PUBLISHED, Figure, Frame
from longhaul_studies.sync_tcp_2003.web.figures import Draw, curves

BOTH = {"forward_mbps": "forward", "reverse_mbps": "reverse"}
NETWORKS = ("fast", "real")
TITLES = {"fast": "100 Mbit/s everywhere", "real": "as it is"}


def _over_time(names: Mapping[str, str], value: tuple[str, float] | None = None) -> Draw:
    """Return a function that draws recorded curves, with a panel per network.

    `names` maps the curves to their labels; `value` is the label and the value of a reference line.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = False
        for (name, label), style in zip(names.items(), OTHERS, strict=False):
            try:
                x, y = next(curves(data, "A-LOAD", name, network=panel))
            except NotRunError:
                continue
            axes.plot(x, y, color=style.colour, linewidth=0.7, label=label)
            drawn = True
        if not drawn:
            raise NotRunError("nothing was run")
        if value is not None:
            axes.axhline(value[1], label=value[0], **PUBLISHED)
        axes.set_title(TITLES[panel])

    return draw


def _of_model(name: str, scale: float = 1.0, *, tails: bool = False) -> Draw:
    """Return a function that draws the distribution `name` of responses in runs at 85 % load.

    The runs have no congestion. The x axis is logarithmic; with `tails`, so is the y axis.
    """

    def draw(axes: Axes, data: Data, panel: str) -> None:
        x, longer = next(curves(data, "H1", name, protocol="uncongested", load=85.0))
        axes.plot(scale * x, longer if tails else 1 - longer, color=OTHERS[0].colour, linewidth=1.0)
        axes.set_xscale("log")
        if tails:
            axes.set_yscale("log")

    return draw


def _variation(axes: Axes, data: Data, panel: str) -> None:
    """Draw the coefficient of variation (%) of the running 90 % quantile of response sizes.

    The coefficient at a response is computed from the quantile's values from there to the last.
    """
    x, y = next(curves(data, "A-LOAD", "running-p90", network=panel))
    # The last 1 % has too few values.
    starts = range(len(y) - len(y) // 100)
    axes.plot(x[: len(starts)], [100 * y[start:].std() / y[start:].mean() for start in starts],
              color=OTHERS[0].colour, linewidth=0.9, label="from there on")  # fmt: skip
    axes.axhline(3, label="3 %", **PUBLISHED)
    axes.set_ylim(0, 10)
    axes.set_title(TITLES[panel])


def _hurst(axes: Axes, data: Data, panel: str) -> None:
    """Draw Figure A.9, the Hurst parameter, with three estimators."""
    for name, style in zip(("hurst_variance", "hurst_ranges", "hurst_wavelet"), OTHERS,
                           strict=False):  # fmt: skip
        x, points = next(curves(data, "A-LOAD", f"{name}-points", network=panel))
        _, line = next(curves(data, "A-LOAD", f"{name}-line", network=panel))
        parameter = data.value(name, "A-LOAD", network=panel)
        axes.plot(x, points - points[0], style.marker, color=style.colour, markersize=3)
        axes.plot(x, line - points[0], color=style.colour, linewidth=0.8,
                  label=f"{name.removeprefix('hurst_')}: H = {parameter:.2f}")  # fmt: skip
    axes.set_xscale("log")
    axes.set_title(TITLES[panel])


def _figure(
    number: str, title: str, published: str, x: str, y: str, draw: Draw,
    panels: Sequence[str] = NETWORKS, *, from_zero: bool = True, experiment: str = "A-LOAD",
) -> Figure:  # fmt: skip
    frame = Frame(x, y, from_zero=from_zero)
    return Figure(number, title, (experiment,), published, frame, panels=panels, draw=draw)


TRAFFIC: list[Figure] = [
    _figure("A.2", "Base round trips of responses",
            "15 ms to 9 s, median 78 ms, with the 14 ms of the links.",
            "ms", "share that is at most", _of_model("round-trips-all", 1e3), ("",),
            experiment="H1"),
    _figure("A.4", "Sizes of responses", "60 % fit into 1420 bytes, 90 % into ten segments.",
            "bytes", "share that is at most", _of_model("sizes"), ("",), experiment="H1"),
    _figure("A.5", "Sizes of responses: the tail", "A Pareto tail (1.23), up to almost 50 MB.",
            "bytes", "share that is larger", _of_model("sizes", tails=True), ("",), experiment="H1",
            from_zero=False),
    _figure("A.6", "New connections a second at 85 %", "About 120 a second, whatever the network.",
            "time (s)", "connections a second", _over_time({"connections_per_s": "five clouds"})),
    _figure("A.7", "Bytes a second: the network without congestion, and as it is (A.8)",
            "Bursts of tens of Mbit/s without congestion.",
            "time (s)", "Mbit/s", _over_time(BOTH)),
    _figure("A.9", "Variance over scales, and other estimators, in decades",
            "H = 0.84 from aggregated variances.",
            "scale (s)", "decades", _hurst, from_zero=False),
    _figure("A.10", "Running mean of response sizes", "Not converged after 250,000 responses.",
            "responses", "bytes", _over_time({"running-mean": "mean"}, ("model: 7560 bytes", 7560)),
            ("fast",)),
    _figure("A.11", "Running 90 % quantile of response sizes",
            "Within 100 bytes after 100,000 responses.",
            "responses", "bytes", _over_time({"running-p90": "90 %"}), ("fast",), from_zero=False),
    _figure("A.12", "Variation of the running 90 % quantile", "Under 3 % after 100,000 responses.",
            "responses", "coefficient of variation (%)", _variation, ("fast",)),
    _figure("A.13", "Running 99 % quantile of response sizes", "Above 65 kB.",
            "responses", "bytes", _over_time({"running-p99": "99 %"}, ("65 kB", 66560)), ("fast",),
            from_zero=False),
    _figure("A.14", "Running goodput", "Far less bursty after 120 s.",
            "time (s)", "Mbit/s", _over_time({"running_mbps": "from the start of the run"})),
]  # fmt: skip
