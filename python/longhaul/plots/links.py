"""Plots of links over time: a panel for each link, in which several runs are overlaid."""

from collections.abc import Callable, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.arrangements import overlaid
from longhaul.plots.layout import label_ends
from longhaul.plots.measured import scaled_to_shared_window
from longhaul.plots.rates import rates
from longhaul.plots.registry import Draw, Options, has_samples, register
from longhaul.plots.styles import Style
from longhaul.results import Results

# Maximum number of panels unless links are named.
MAX_LINKS = 6

# Function that draws a link of a run; its arguments are axes, samples, style, and the run's name,
# which is None if there is only one run.
DrawLink = Callable[[Axes, pl.DataFrame, Style, str | None], None]


def _of_links(name: str, help: str) -> Callable[[DrawLink], Draw]:
    """Return a decorator that registers a plot: a panel for each link, a line for each run."""

    def add(draw: DrawLink) -> Draw:
        @register(name, help, has_samples, ["links"])
        def a_panel_each(runs: Sequence[Results], options: Options) -> Figure:
            def one(axes: Axes, run: Results, link: str, style: Style) -> None:
                samples = run.link_series.filter(pl.col("name") == link)
                if len(samples):
                    draw(axes, samples, style, run.name if len(runs) > 1 else None)

            links = _links(runs, options)
            drawing = overlaid(runs, links, one, columns=1 if len(links) < 4 else 2)
            return label_ends(scaled_to_shared_window(drawing, runs))

        return a_panel_each

    return add


def _links(runs: Sequence[Results], options: Options) -> list[str]:
    """Return the names of the links to show: those that the user names, or the first busy ones.

    Named links are in the user's order, busy links in the scenario's. Raise an error if a named
    link has no samples.
    """
    if options.links:
        for link in options.links:
            for run in runs:
                run.check_link(link)
        return list(options.links)
    busy = dict.fromkeys(link for run in runs for link in run.busy_links())
    return list(busy)[:MAX_LINKS]


@_of_links("queue", "packets waiting at each busy link, and the average that its discipline keeps")
def _queue(axes: Axes, link: pl.DataFrame, style: Style, name: str | None) -> None:
    alone = name is None
    axes.plot(
        link["t_s"],
        link["queue_pkts"],
        color=style.colour,
        linewidth=0.6,
        alpha=0.6 if alone else 0.8,
        label=name or "waiting",
    )
    if alone and link["queue_avg_pkts"].count():
        axes.plot(link["t_s"], link["queue_avg_pkts"], color="#000000", label="average")
    axes.set_ylabel("queue (packets)")


@_of_links("drops", "packets dropped and marked at each busy link so far")
def _drops(axes: Axes, link: pl.DataFrame, style: Style, name: str | None) -> None:
    prefix = f"{name}: " if name else ""
    axes.plot(link["t_s"], link["dropped_pkts"], color=style.colour, label=f"{prefix}dropped")
    if link["marked_pkts"][-1]:
        axes.plot(
            link["t_s"],
            link["marked_pkts"],
            color=style.colour,
            linestyle=":",
            label=f"{prefix}marked",
        )
    axes.set_ylabel("packets so far")


@_of_links("utilization", "share of each busy link's capacity in use over time")
def _utilisation(axes: Axes, link: pl.DataFrame, style: Style, name: str | None) -> None:
    used = rates(link, "name", "transmitted_bytes", link["t_s"])
    share = used["rate"] / rates(link, "name", "capacity_bytes", link["t_s"])["rate"]
    axes.plot(used["t_s"], share, label=name, **styles.as_line(style))
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("utilisation")
