"""Figures of today's protocols under the dissertation's loads."""

from matplotlib.axes import Axes

from longhaul.plots.styles import LABELS
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.figures import Figure, Frame
from longhaul_studies.sync_tcp_2003.web.figures import RESPONSE, SHARE, curves

PROTOCOLS = {
    "reno": "Reno",
    "pcwnd": "Sync-TCP(Pcwnd)",
    "mixreact": "Sync-TCP(MixReact)",
    "cubic": "CUBIC",
    "bbr3": "BBR v3",
    "ledbat": "LEDBAT",
}
QUEUES = {"droptail": "drop-tail", "fq-codel": "FQ-CoDel"}


def _by_load(metric: str, *, log: bool = False) -> Figure:
    """Return a figure of `metric` over the load, with a panel for each queue discipline."""

    def draw(axes: Axes, data: Data, panel: str) -> None:
        drawn = False
        for (protocol, label), style in zip(PROTOCOLS.items(), LABELS, strict=False):
            try:
                curve = data.curve(metric, "load", "N-WEB", protocol=protocol, queue=panel)
            except NotRunError:
                continue
            axes.plot(curve.x, curve.y, color=style.colour, marker=style.marker, markersize=3.5,
                      label=label)  # fmt: skip
            drawn = True
        if not drawn:
            raise NotRunError("nothing was run")
        if log:
            axes.set_yscale("log")
        axes.set_title(QUEUES[panel])

    names = {
        "median": ("N.7", "median response time", "ms"),
        "p99": ("N.8", "99 % of the responses", "ms"),
        "queue_0": ("N.9", "mean queue", "packets"),
    }
    number, title, unit = names[metric]
    return Figure(
        number, f"Ours: {title} with today's protocols", ("N-WEB",), "Nothing: not of the source.",
        Frame("load (%)", unit, log_y=log), panels=tuple(QUEUES), draw=draw,
    )  # fmt: skip


def _cdf(axes: Axes, data: Data, panel: str) -> None:
    """Draw distributions of response times at 85 % load."""
    drawn = False
    for (protocol, label), style in zip(PROTOCOLS.items(), LABELS, strict=False):
        try:
            x, y = next(curves(data, "N-WEB", "cdf", protocol=protocol, queue=panel, load=85.0))
        except NotRunError:
            continue
        axes.plot(1e3 * x, y, color=style.colour, label=label, linewidth=1.0)
        drawn = True
    if not drawn:
        raise NotRunError("nothing was run")
    axes.set_title(QUEUES[panel])


TODAY: list[Figure] = [
    _by_load("median", log=True),
    _by_load("p99", log=True),
    _by_load("queue_0"),
    Figure("N.10", "Ours: response times at 85 % load", ("N-WEB",), "Nothing: not of the source.",
           Frame(RESPONSE, SHARE), panels=tuple(QUEUES), draw=_cdf),
]  # fmt: skip
