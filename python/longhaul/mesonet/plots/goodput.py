"""Goodput of completed flows by type of file, path and interface: NIST SP 500-282, figure 8-7.

Each type of file has a row of panels for packets per second, and one for fractions of the
interface's speed. A panel has a bar for each run and algorithm.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.mesonet import groups
from longhaul.mesonet.plots.runs import has_table, in_part_of_run, looks_of
from longhaul.mesonet.tables import MesoNet
from longhaul.plots.layout import WIDE_IN, legend
from longhaul.plots.registry import PART_OF_RUN, Options, register
from longhaul.results import Results, ResultsError

ROW_IN = 1.35
COLUMNS = [(path, interface) for path in groups.PATHS for interface in groups.INTERFACES]
VALUES = {"mean_pps": "packets/s", "share": "part of interface"}
ROLES = ("alternate", "standard")
# Width of the edge of bars for standard TCP in a mixed run. They are not filled, since lighter bars
# could be mistaken for those of another run.
EDGE = 1.0


@dataclass(frozen=True)
class Bars:
    """The bars of one algorithm's flows in one run: one bar in each panel."""

    label: str
    look: dict[str, Any]
    means: pl.DataFrame

    def draw(self, axes: Axes, at: int, value: str, **cell: str) -> None:
        """Draw the bar of the flow group `cell` at position `at`, if the group has flows.

        `value` is the column with the bar's height.
        """
        values = self.means.filter(**cell)[value]
        height = float(values[0]) if len(values) else nan
        axes.bar(at, height, 0.85, label=self.label, **self.look)


@register(
    "goodput-groups",
    "goodput of flows by file, path and interface, and as a part of the interface's speed",
    has_table("goodput"),
    [*PART_OF_RUN, "parts"],
)
def _panels(runs: Sequence[Results], options: Options) -> Figure:
    means = [_means(MesoNet.of(run), options) for run in runs]
    files = _files(means, options)
    bars = list(_bars(runs, means))
    figure = Figure(figsize=(WIDE_IN, 2 * ROW_IN * len(files) + 0.6), layout="constrained")
    grid = figure.subplots(2 * len(files), len(COLUMNS), sharey="row", squeeze=False)
    rows = [(file, value, label) for file in files for value, label in VALUES.items()]
    for (file, value, label), row in zip(rows, grid, strict=True):
        row[0].set_ylabel(f"{file}\n{label}")
        for axes, (path, interface) in zip(row, COLUMNS, strict=True):
            axes.set_xticks([])
            axes.set_xlim(-0.75, len(bars) - 0.25)
            for at, each in enumerate(bars):
                each.draw(axes, at, value, file=file, path=path, interface=interface)
    for axes, (path, interface) in zip(grid[0], COLUMNS, strict=True):
        axes.set_title(f"{path} path,\n{interface} interface", fontsize=8)
    legend(figure, WIDE_IN)
    return figure


def _bars(runs: Sequence[Results], means: Sequence[pl.DataFrame]) -> Iterator[Bars]:
    for table, (label, look) in zip(means, looks_of(runs), strict=True):
        roles = [role for role in ROLES if role in table["role"]]
        for role in roles:
            name = f"{label}, {role}" if len(roles) > 1 else label
            full: dict[str, Any] = {"facecolor": look.colour}
            edge = {"facecolor": "#ffffff", "edgecolor": look.colour, "linewidth": EDGE}
            yield Bars(name, full if role == roles[0] else edge, table.filter(role=role))


def _means(tables: MesoNet, options: Options) -> pl.DataFrame:
    """Return mean goodputs by flow group in the part of the run that is shown.

    `share` is the goodput as a fraction of the interface's speed.
    """
    goodput = in_part_of_run(tables.goodput, pl.col("interval") * tables.interval_s, options)
    hosts = tables.scenario["hosts"]
    speed = pl.when(interface="fast").then(hosts["fast_rate"]).otherwise(hosts["base_rate"])
    share = pl.col("mean_pps") / (speed / tables.step_s)
    return groups.of_batches(goodput).with_columns(share=share)


def _files(means: Sequence[pl.DataFrame], options: Options) -> list[str]:
    """Return the file types (`movie`, `web`, ...) to draw: as requested, or all in `means`."""
    there = [file for file in groups.FILES if any(file in table["file"] for table in means)]
    if not there:
        raise ResultsError("--from and --to: no group of flows is complete in this part of the run")
    if unknown := [part for part in options.parts if part not in there]:
        raise ResultsError(f"--part {unknown[0]}: `goodput-groups` has {', '.join(there)} here")
    return [file for file in there if not options.parts or file in options.parts]
