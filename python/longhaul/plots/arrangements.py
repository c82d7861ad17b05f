"""Registration of plots with a panel for each run, and panels in which runs are overlaid."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.plots import styles
from longhaul.plots.layout import panels
from longhaul.plots.registry import Draw, Options, register
from longhaul.plots.styles import Style
from longhaul.results import Results

# Function that draws one run on axes.
DrawRun = Callable[[Axes, Results, Options], None]


def side_by_side(
    name: str,
    help: str,
    suits: Callable[[Results], bool],
    takes: Iterable[str] = (),
    table: str = "",
    *,
    finish: Callable[[Figure, Sequence[Results]], Figure] | None = None,
    **arguments: Any,  # noqa: ANN401
) -> Callable[[DrawRun], Draw]:
    """Return a decorator that registers a plot with a panel for each run.

    The decorated function draws one run. Arguments up to `table` are those of `register`. `finish`
    is called when all panels are drawn, and returns the figure. Further `arguments` are those of
    `panels`.
    """

    def add(draw: DrawRun) -> Draw:
        @register(name, help, suits, takes, table)
        @wraps(draw)
        def draw_all(runs: Sequence[Results], options: Options) -> Figure:
            def draw_run(axes: Axes, run: Results) -> None:
                draw(axes, run, options)

            drawing = panels(runs, draw_run, [run.name for run in runs], **arguments)
            return drawing if finish is None else finish(drawing, runs)

        return draw_all

    return add


def overlaid(
    runs: Sequence[Results],
    names: Sequence[str],
    draw: Callable[[Axes, Results, str, Style], None],
    **arguments: Any,  # noqa: ANN401
) -> Figure:
    """Draw a panel for each of `names`, such as links, in which each run has its own style.

    Further `arguments` are those of `panels`.
    """

    def draw_runs(axes: Axes, name: str) -> None:
        for run, style in zip(runs, styles.of_runs(len(runs)), strict=True):
            draw(axes, run, name, style)

    return panels(names, draw_runs, names, **arguments)
