"""Registry of plots: name, description, suitable runs, and drawing function."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.figure import Figure

from longhaul.files.names import unknown
from longhaul.files.options import unused
from longhaul.results import Results, ResultsError


@dataclass(frozen=True)
class Options:
    """Options that a user may give for a plot."""

    links: tuple[str, ...] = ()
    """Links to show in plots of links; if empty, the busy links.

    Plots of one link show the first of `links`; if it is empty, the bottleneck.
    """
    colour_by: Literal["algorithm", "label"] = "algorithm"
    """Attribute by which flows are coloured: `algorithm` or `label`."""
    from_s: float | None = None
    to_s: float | None = None
    """Part of a MesoNet run or of a packet capture to show: from `from_s` to `to_s`, in seconds.

    None means the beginning or the end of the run.
    """
    parts: tuple[str, ...] = ()
    """Names of the state variables, or of MesoNet's flows, classes, routers or file types, to show.

    For a packet capture, the first name is an end (address and port) of the connection to show.
    """
    overlay: bool = False
    """True if MesoNet plots overlay the runs, in a panel for each flow, class or router."""
    width_in: float | None = None
    """Width of the figure in inches; None for each plot's default."""


# Command line options of `longhaul plot`, by field of `Options`.
FLAGS = {
    "links": "--link",
    "colour_by": "--colour-by",
    "from_s": "--from",
    "to_s": "--to",
    "parts": "--part",
    "overlay": "--overlay",
}
# Options that apply to every plot.
OF_ALL = ("width_in",)
PART_OF_RUN = ("from_s", "to_s")

Draw = Callable[[Sequence[Results], Options], Figure]


@dataclass(frozen=True)
class Plot:
    """A plot with its name, its line of help, and the function that draws it."""

    name: str
    help: str
    draw: Draw
    suits: Callable[[Results], bool]
    """Function that returns true if a run has the data for the plot."""
    takes: frozenset[str]
    """Names of the fields of `Options` that the plot uses."""
    table: str = ""
    """Name of the optional table of a run from which the plot is drawn; empty for none."""


PLOTS: dict[str, Plot] = {}


def register(
    name: str,
    help: str,
    suits: Callable[[Results], bool],
    takes: Iterable[str] = (),
    table: str = "",
) -> Callable[[Draw], Draw]:
    """Return a decorator that registers a function as a plot.

    `takes` are the options that the plot uses, and `table` the optional table of a run that it
    needs.
    """

    def add(draw: Draw) -> Draw:
        PLOTS[name] = Plot(name, help, draw, suits, frozenset(takes), table)
        return draw

    return add


def find(name: str) -> Plot:
    """Return the plot with this name; raise an error, with the nearest name, if there is none."""
    if name not in PLOTS:
        raise ResultsError(unknown("plot", name, PLOTS, "longhaul list plots"))
    return PLOTS[name]


def refuse_unused(names: Sequence[str], options: Options) -> None:
    """Raise an error for an option that none of these plots uses."""
    takes = {name: plot.takes for name, plot in PLOTS.items()}
    if message := unused("a plot", names, options, takes, of_all=OF_ALL, flags=FLAGS):
        raise ResultsError(message)


def suitable(runs: Sequence[Results]) -> list[str]:
    """Return the names of the plots for which all of the runs have the data."""
    return [name for name, plot in PLOTS.items() if all(plot.suits(run) for run in runs)]


def has_samples(run: Results) -> bool:
    """Return true if the run recorded flows and links over time."""
    return run.is_tcp and "series" in run.tables


def is_tcp(run: Results) -> bool:
    """Return true if the run's kind of simulation is `connections`."""
    return run.is_tcp
