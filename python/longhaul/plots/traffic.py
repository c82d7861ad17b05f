"""Plots of traffic: tails with bands over replications, maps, long-range dependence.

Analyses are imported where they are used, so that other plots need not load them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from longhaul.plots import styles
from longhaul.plots.arrangements import side_by_side
from longhaul.plots.layout import panels
from longhaul.plots.registry import Options, has_samples, register
from longhaul.results import Results, ResultsError

if TYPE_CHECKING:
    from longhaul.analysis.traffic import maps

GRID_S = np.logspace(-2, 3, 201)
# Size of a map's cells: 20 ms of round trip, and a tenth of a decade of size.
ROUND_TRIP_EDGES_S = np.arange(0, 0.62, 0.02)
SIZE_EDGES_BYTES = np.logspace(2, 5, 31)
MIN_COUNT = 10
# Keys that may differ between replications of one scenario.
NUMBERS = ("seed", "replication", "title")


def _has_exchanges(run: Results) -> bool:
    """Return true if a recorded exchange began in the measurement window."""
    return run.is_tcp and "exchanges" in run.tables and not run.measured_exchanges.is_empty()


@register(
    "response-tails",
    "share of responses that take longer than a time, on logarithmic scales; runs that differ in "
    "seed or replication only are one line with a band",
    _has_exchanges,
    table="exchanges",
)
def _response_tails(runs: Sequence[Results], options: Options) -> Figure:
    from longhaul.analysis.traffic import distributions

    groups = _replications(runs)

    def draw(axes: Axes, _: str) -> None:
        for group, style in zip(groups, styles.of_runs(len(groups)), strict=True):
            curves = []
            for run in group:
                times = run.measured_exchanges["response_s"]
                curves.append(distributions.ccdf(times.drop_nulls(), GRID_S, len(times)))
            band = distributions.band(GRID_S, curves)
            name = (
                group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
            )
            axes.plot(GRID_S, band.middle, label=name, **styles.as_line(style))
            if len(group) > 1:
                axes.fill_between(GRID_S, band.low, band.high, color=style.colour, alpha=0.2)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylabel("share that takes longer")

    return panels([""], draw, [""], x="response time (s)")


def _replications(runs: Sequence[Results]) -> list[list[Results]]:
    """Group runs whose scenarios are equal except for random numbers and title."""
    groups: list[tuple[dict[str, Any], list[Results]]] = []
    for run in runs:
        scenario = {key: value for key, value in run.scenario.items() if key not in NUMBERS}
        for known, group in groups:
            if known == scenario:
                group.append(run)
                break
        else:
            groups.append((scenario, [run]))
    return [group for _, group in groups]


@register(
    "response-map",
    "mean response time by base round trip and size; of two runs, the difference",
    _has_exchanges,
    table="exchanges",
)
def _response_map(runs: Sequence[Results], options: Options) -> Figure:
    from longhaul.analysis.traffic import maps

    measured = [_map(run) for run in runs]
    if len(runs) == 2:
        values = [1e3 * maps.difference(measured[1], measured[0], MIN_COUNT)]
        titles = [f"{runs[1].name} less {runs[0].name}"]
    else:
        values = [1e3 * run_map.means(MIN_COUNT) for run_map in measured]
        titles = [run.name for run in runs]
    most = max(float(np.nanquantile(np.abs(value), 0.95)) for value in values)
    least = -most if len(runs) == 2 else 0.0
    colours = "RdBu_r" if len(runs) == 2 else "viridis"

    def draw(axes: Axes, value: np.ndarray) -> None:
        axes.set_facecolor("#dddddd")
        shown = axes.pcolormesh(
            1e3 * ROUND_TRIP_EDGES_S, SIZE_EDGES_BYTES, value.T, cmap=colours, vmin=least, vmax=most
        )
        axes.set_yscale("log")
        axes.set_ylabel("response (bytes)")
        axes.grid(visible=False)
        axes.figure.colorbar(shown, ax=axes, label="response time (ms)")

    return panels(values, draw, titles, x="base round trip beyond the network's (ms)")


def _map(run: Results) -> "maps.MeanMap":
    from longhaul.analysis.traffic import maps

    done = run.measured_exchanges.drop_nulls("response_s")
    return maps.mean_map(
        done["extra_rtt_s"], done["response_bytes"], done["response_s"],
        ROUND_TRIP_EDGES_S, SIZE_EDGES_BYTES,
    )  # fmt: skip


def _has_scales(run: Results) -> bool:
    """Return true if a run has enough varying samples for an analysis by time scale."""
    if not has_samples(run):
        return False
    from longhaul.analysis.traffic import hurst
    from longhaul.results.counts import counted

    try:
        _, _, counts = next(counted(run))
        hurst.aggregated_variance(counts)
    except (ResultsError, ValueError):
        return False
    return True


@register("hurst", "variance of packet counts over scales, with the fitted line", _has_scales)
def _hurst(runs: Sequence[Results], options: Options) -> Figure:
    from longhaul.analysis.traffic import hurst
    from longhaul.results.counts import counted

    def draw(axes: Axes, _: str) -> None:
        for run, style in zip(runs, styles.of_runs(len(runs)), strict=True):
            name, step_s, counts = next(counted(run))
            estimate = hurst.aggregated_variance(counts)
            axes.plot(
                estimate.scales * step_s, estimate.statistics, "o", color=style.colour, markersize=3
            )
            axes.plot(
                estimate.scales * step_s, estimate.line(), **styles.as_line(style),
                label=f"{run.name if len(runs) > 1 else name}: H = {estimate.value:.2f}",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylabel("variance of means of counts")

    return panels([""], draw, [""], x="scale (s)")


@side_by_side(
    "running-sizes", "running quantiles and mean of response sizes", _has_exchanges,
    table="exchanges", x="responses",
)  # fmt: skip
def _running_sizes(axes: Axes, run: Results, options: Options) -> None:
    from longhaul.analysis.traffic import convergence

    began = run.measured_exchanges.sort("start_s")
    sizes = began["response_bytes"].drop_nulls().to_numpy().astype(float)
    every = max(1, len(sizes) // 500)
    lines = {
        "median": convergence.running_quantile(sizes, 0.5, every),
        "90 %": convergence.running_quantile(sizes, 0.9, every),
        "99 %": convergence.running_quantile(sizes, 0.99, every),
        "mean": convergence.running_mean(sizes, every),
    }
    for (name, curve), style in zip(lines.items(), styles.of_runs(len(lines)), strict=True):
        axes.plot(curve.counts, curve.values, label=name, **styles.as_line(style))
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("response (bytes)")
