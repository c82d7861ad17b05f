"""HTML page of an evaluation: verdicts on each criterion of a suite, then plots."""

import json
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D

from longhaul import _engine
from longhaul.analysis import merit
from longhaul.analysis.comparisons import MeanInterval
from longhaul.evaluation.suite import Suite
from longhaul.evaluation.verdicts import BETTER, VERDICTS, WORSE, Outcome, Point
from longhaul.figures.words import of_suite
from longhaul.files.writing import write_text
from longhaul.plots.styles import ALGORITHMS, OTHERS, Style
from longhaul.reports import inline_svg, page

# Inches: height of a row, height in addition to the rows, and width.
ROW, AROUND, WIDTH = 0.24, 0.75, 8.6

# Maximum length of a drawn interval above the largest mean (or 0), as a multiple of the range of 0
# and all means.
LONGEST = 1.0

# Ticks of the axis of waiting times.
WAITS_MS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
# Values that are plotted against each other.
BOTH = {"wait_p95_s", "utilization"}

# Colours of points with these verdicts, as in the template.
COLOURS = {BETTER: "#0a7d55", WORSE: "#b3261e"}
# Minimum difference between levels, as a fraction of points, for a sentence on them.
TELLS = 0.2
# Styles of points in the overview; hatches distinguish red from green.
POINTS: dict[str, dict[str, Any]] = {
    BETTER: {"color": COLOURS[BETTER]},
    "no worse": {"color": "#c9d2e3"},
    WORSE: {"color": COLOURS[WORSE], "hatch": "///", "edgecolor": "#ffffff"},
}


def write(
    path: Path, suite: Suite, subject: str, scale: str, outcomes: Sequence[Outcome],
    facts: dict[str, Any],
) -> None:  # fmt: skip
    """Write the page about an evaluation as one HTML file."""
    html = page(
        "evaluation.html",
        title=f"{subject}: evaluation",
        subject=subject,
        suite=suite,
        scale=scale,
        version=f"{_engine.version()}, results version {_engine.results_version()}",
        facts=facts,
        verdicts=VERDICTS,
        counts={verdict: sum(o.verdict == verdict for o in outcomes) for verdict in VERDICTS},
        failed=[outcome for outcome in outcomes if outcome.fails],
        musts=[outcome for outcome in outcomes if outcome.criterion.strength == "must"],
        parameters=json.dumps(facts["table"]),
        overview=_overview(outcomes),
        where=[text for outcome in outcomes if (text := _where(outcome))],
        rows=[_row(suite, subject, outcome) for outcome in outcomes],
    )
    write_text(path, html)


def _row(suite: Suite, subject: str, outcome: Outcome) -> dict[str, Any]:
    criterion = outcome.criterion
    drawn = _drawn(_blocks(outcome.points), subject)
    trade = _trade(outcome.points, subject)
    return {
        "outcome": outcome,
        "anchor": f"s{criterion.section.replace('.', '-')}",
        "experiments": [suite.experiments[name].title for name in criterion.experiments],
        "slacks": [(figure.title, figure.slack) for figure in criterion.figures if figure.slack],
        "picture": _svg(drawn, f"p{criterion.section}", criterion.title),
        "trade": _svg(trade, f"t{criterion.section}", f"{criterion.title}: waits, utilisation"),
    }


def _svg(drawn: Drawing | None, name: str, title: str) -> Markup:
    return inline_svg(drawn, name, title) if drawn else Markup("")


def _overview(outcomes: Sequence[Outcome]) -> Markup:
    """Draw the percentages of better, equal and worse points for each criterion.

    A point is a quantity under one set of conditions. Points that starve count as worse. Points
    that are not judged are left out, and criteria that have no other points. The result is empty if
    no criterion is left.
    """
    evaluated = [outcome for outcome in outcomes if outcome.judged]
    if not evaluated:
        return Markup("")
    figure = Drawing(figsize=(WIDTH, ROW * len(evaluated) + AROUND + 0.3), layout="constrained")
    axes = figure.subplots()
    names = [f"{outcome.criterion.section} {outcome.criterion.title}" for outcome in evaluated]
    ends = np.zeros(len(evaluated))
    for kind, look in POINTS.items():
        parts = np.array([_points_of(kind, outcome) / outcome.judged for outcome in evaluated])
        axes.barh(names, 100 * parts, left=ends, label=f"{kind} here", **look)
        ends += 100 * parts
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the points")
    axes.grid(visible=False)
    figure.legend(loc="outside upper center", ncols=len(POINTS), frameon=False)
    return inline_svg(figure, "overview", "points better, no worse and worse, by criterion")


def _points_of(kind: str, outcome: Outcome) -> int:
    bad = outcome.count(WORSE) + outcome.count("starves")
    good = outcome.count(BETTER)
    return {WORSE: bad, BETTER: good}.get(kind, outcome.judged - bad - good)


def _where(outcome: Outcome) -> str:
    """Return a sentence that counts the points at which the subject is worse, by level of an axis.

    The axis is the one along which the fraction of such points varies most, among axes that have at
    least half of these points. The text is empty if the subject is worse at no point, or if the
    fraction varies little along every axis.
    """
    bad = {id(point) for point in outcome.points if point.verdict in (WORSE, "starves")}
    of_axes: dict[str, dict[str, list[bool]]] = {}
    for point in outcome.points:
        if point.is_judged:
            for axis, level in point.levels.items():
                of_axis = of_axes.setdefault(axis, {})
                of_axis.setdefault(str(level), []).append(id(point) in bad)
    parts = {
        axis: {level: sum(of) / len(of) for level, of in levels.items()}
        for axis, levels in of_axes.items() if len(levels) > 1
    }  # fmt: skip
    if not bad or not parts:
        return ""
    # An axis is informative if it has at least half of the worse points and its levels differ.
    found = {axis: sum(map(sum, of_axes[axis].values())) for axis in parts}
    told = {
        axis: max(of.values()) - min(of.values())
        for axis, of in parts.items() if 2 * found[axis] >= len(bad)
    }  # fmt: skip
    axis = max(told, key=lambda name: told[name], default="")
    if told.get(axis, 0.0) < TELLS:
        return ""
    counts = (
        f"{sum(of)} of {len(of)} points at {axis} {level}"
        for level, of in of_axes[axis].items()
        if sum(of)
    )
    criterion = outcome.criterion
    return f"{criterion.section} {criterion.title} is worse at {', '.join(counts)}."


def _blocks(points: Sequence[Point]) -> list[list[Point]]:
    """Group points that are drawn in one panel: points of the same quantity and experiment.

    Points of quantities with an upper bound are left out.
    """
    blocks: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if point.figure.at_most is None:
            blocks.setdefault((point.figure.name, point.experiment), []).append(point)
    return list(blocks.values())


def _drawn(blocks: Sequence[Sequence[Point]], subject: str) -> Drawing | None:
    """Draw a panel for each group of points, with a row per point.

    A row shows the mean and, with several replications, the interval of each contender.
    """
    if not blocks:
        return None
    heights = [ROW * len(block) + 0.15 for block in blocks]
    figure = Drawing(
        figsize=(WIDTH, sum(heights) + AROUND * len(blocks) + 0.3), layout="constrained"
    )
    panels = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=heights)[:, 0]
    names = list(dict.fromkeys(name for block in blocks for p in block for name in p.values))
    styles = _styles(names, subject)
    handles: dict[str, Line2D] = {}
    for axes, block in zip(panels, blocks, strict=True):
        ends = _reach(block)
        axes.set_xlim(*ends)
        for place, name in enumerate(names):
            offset = 0.28 * (place / max(len(names) - 1, 1) - 0.5)
            for row, point in enumerate(block):
                if name not in point.values:
                    continue
                value, style = point.values[name], styles[name]
                (handles[name],) = axes.plot(
                    value.mean, row + offset, color=style.colour, marker=style.marker,
                    markersize=7 if name == subject else 4.5, linestyle="none",
                    zorder=3 if name == subject else 2,
                )  # fmt: skip
                if value.count > 1:
                    interval = _possible(point.figure.name, value)
                    _draw_interval(axes, interval, row + offset, ends, style.colour)
        axes.set_yticks(range(len(block)), [_row_name(point) for point in block])
        for text, point in zip(axes.get_yticklabels(), block, strict=True):
            text.set_color(COLOURS.get(point.verdict, "#1c1c1c"))
        axes.set_ylim(len(block) - 0.4, -0.6)
        better = block[0].figure.better
        axes.set_xlabel(f"{block[0].figure.title}{f' ({better} is better)' if better else ''}")
        axes.grid(axis="x", alpha=0.4)
    shown = [handles[name] for name in names]
    figure.legend(shown, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure


def _possible(figure: str, value: MeanInterval) -> tuple[float, float]:
    """Return the ends of an interval, limited to the values that the quantity `figure` can have."""
    known = of_suite(figure)
    most = known.most if known else inf
    return max(value.low, 0.0), max(value.mean, min(value.high, most, 1e300))


def _reach(block: Sequence[Point]) -> tuple[float, float]:
    """Return the ends of a panel's horizontal axis.

    The axis includes zero and all means. Long intervals may end beyond the axis.
    """
    values = [(point.figure.name, v) for point in block for v in point.values.values()]
    least = min(0.0, *(value.mean for _, value in values))
    most = max(0.0, *(value.mean for _, value in values))
    span = most - least or 1.0
    high = max((_possible(name, v)[1] for name, v in values if v.count > 1), default=most)
    end = max(most, min(high, most + LONGEST * span)) + 0.05 * span
    return least - (0.08 if least < 0 else 0.02) * span, end


def _draw_interval(
    axes: Axes, interval: tuple[float, float], height: float, ends: tuple[float, float], colour: str
) -> None:
    """Draw an interval at a `height`, with an arrow if its upper end lies beyond the axis.

    `ends` are the ends of the axis.
    """
    low, high = max(interval[0], ends[0]), min(interval[1], ends[1])
    axes.plot([low, high], [height, height], color=colour, linewidth=0.9, zorder=1)
    if interval[1] > ends[1]:
        axes.plot(ends[1], height, marker=">", markersize=4, color=colour, clip_on=False)


def _trade(points: Sequence[Point], subject: str) -> Drawing | None:
    """Draw utilisation over queueing delay, which decreases to the right.

    Return None unless each contender has both quantities under at least two sets of conditions.
    """
    figures: dict[str, dict[tuple[Any, ...], dict[str, float]]] = {}
    for point in points:
        place = (point.experiment, *point.levels.items())
        for name, value in point.values.items():
            figures.setdefault(name, {}).setdefault(place, {})[point.figure.name] = value.mean
    pairs = {
        name: [(at["wait_p95_s"], at["utilization"]) for at in of.values() if set(at) >= BOTH]
        for name, of in figures.items()
    }
    if not pairs or not all(len(of) > 1 for of in pairs.values()):
        return None
    figure = Drawing(figsize=(5.2, 3.4), layout="constrained")
    axes = figure.subplots()
    styles = _styles(list(pairs), subject)
    for name, of in pairs.items():
        # Ellipses are of logarithms of waiting times plus one millisecond, since times may be 0.
        logs = [(float(np.log10(1 + 1e3 * wait_s)), utilization) for wait_s, utilization in of]
        area, style = merit.ellipse(logs), styles[name]
        look: dict[str, Any] = {"color": style.colour, "marker": style.marker, "linestyle": "none"}
        axes.plot(*zip(*logs, strict=True), **look, markersize=2.5, alpha=0.5)
        axes.plot(*area.mean, **look, markersize=8, label=name)
        axes.plot(*area.outline(), color=style.colour, linewidth=1.0)
    reach = max(wait_s for of in pairs.values() for wait_s, _ in of)
    shown = [ms for ms in WAITS_MS if ms <= 2e3 * reach]
    axes.set_xticks([np.log10(1 + ms) for ms in shown], [f"{ms:g}" for ms in shown])
    axes.set_xlim(1.05 * np.log10(1 + 1e3 * reach) + 0.05, -0.05)
    axes.set_ylim(top=1.02, bottom=max(0.0, axes.get_ylim()[0]))
    axes.set_xlabel("wait, 95 % (ms); less is to the right")
    axes.set_ylabel("utilisation")
    axes.grid(alpha=0.4)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _styles(names: Sequence[str], subject: str) -> dict[str, Style]:
    others = iter(OTHERS[:5] * len(names))
    return {
        name: ALGORITHMS.get(name) or (OTHERS[5] if name == subject else next(others))
        for name in names
    }


def _row_name(point: Point) -> str:
    """Return the label of a point in a plot.

    The label has the verdict if it is better or worse, because colours do not suffice.
    """
    levels = ", ".join(f"{axis} {level}" for axis, level in point.levels.items())
    verdict = f" ({point.verdict} here)" if point.verdict in COLOURS else ""
    return (levels or point.experiment) + verdict
