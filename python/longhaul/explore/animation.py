"""Animation of a run for talks: its network, coloured by a metric over time, and curves."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from longhaul._engine import LonghaulError
from longhaul.explore.sources import collect, open_source
from longhaul.explore.tables import Content
from longhaul.files.endings import ANIMATIONS, check_file
from longhaul.files.writing import atomic
from longhaul.plots import STYLE

# From orange (low) to dark red (high), as for losses on the page and in NIST's report.
COLOURS = LinearSegmentedColormap.from_list(
    "losses", ["#fee0b6", "#fdae61", "#f46d43", "#d73027", "#8c0d25"]
)
NOTHING = "#ffffff"
# Frames per second.
RATE = 15
# Sizes of the nodes in each tier, the backbone first.
SIZES = (90, 40, 18)
# Maximum number of curves, those with the largest means, and of points of each.
MOST_CURVES, MOST_POINTS = 8, 500
# Offset of a link's line from the line between its ends, as a fraction of the plot's width.
BESIDE = 0.006
# Margin around the outermost nodes, as a fraction of the network's width and height.
MARGIN = 0.05


def animate(
    run: Path,
    out: Path,
    *,
    measure: str | None = None,
    from_s: float | None = None,
    to_s: float | None = None,
    seconds: float = 10.0,
) -> Path:
    """Write a GIF or, with ffmpeg, a video of a metric over time, at most `seconds` seconds long.

    The animation is shorter if there are fewer than `RATE` samples for each of these seconds.
    `measure` is the name of the metric, and `from_s` and `to_s` are the first and last simulated
    time. Return `out`. Raise an error for an unknown metric, and for a run without samples.
    """
    check_file(out, ANIMATIONS, "animate")
    if out.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise LonghaulError(f"{out}: a video needs ffmpeg, which is not installed; a .gif does not")
    content = collect([open_source(run)])
    if not content.networks:
        raise LonghaulError(
            f"{run}: nothing to animate; a run has to have links or routers with samples, "
            "as measure.every records them; a run of MesoNet needs two intervals and the table "
            "`backbone_links`"
        )
    replay = Replay(content, measure)
    frames = replay.frames(from_s, to_s, max(int(seconds * RATE), 2))
    with matplotlib.rc_context(STYLE), atomic(out) as file:
        drawing = Figure(figsize=(9.6, 5.0), dpi=100, layout="constrained")
        moment = replay.start(drawing, frames)
        # The layout is computed once, since it takes most of the time of a frame.
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")
        moving = FuncAnimation(drawing, moment, frames=frames, blit=False, repeat=False)
        writer = FFMpegWriter(fps=RATE) if out.suffix == ".mp4" else PillowWriter(fps=RATE)
        moving.save(file, writer=writer)
    return out


def _beside(places: np.ndarray, link: dict[str, Any]) -> np.ndarray:
    """Return the ends of the line that shows a link.

    The two directions of a link are parallel lines.
    """
    ends: np.ndarray = places[[link["from"], link["to"]]]
    across, up = ends[1] - ends[0]
    if link["row"] is None or (not across and not up):
        return ends
    beside: np.ndarray = ends + BESIDE * np.array([-up, across]) / np.hypot(across, up)
    return beside


class Replay:
    """A network, and the values of one metric over time at its nodes or links."""

    def __init__(self, content: Content, measure: str | None) -> None:
        self.network: dict[str, Any] = content.networks[0]
        name = self.network["table"]
        self.table = next(table for table in content.tables if table["name"] == name)
        series = next(series for series in content.series if series["table"] == name)
        known = {entry["name"]: entry for entry in series["measures"]}
        wanted = measure or series["shown"][0]
        if wanted not in known:
            raise LonghaulError(f"--measure {wanted}: expected one of {', '.join(known)}")
        self.measure = known[wanted]
        self.times = content.blobs.read(series["times"])
        values = content.blobs.read(self.measure).reshape(series["elements"], -1)
        self.values = np.nan_to_num(values)
        self.top = float(self.values.max()) or 1.0

    def frames(self, from_s: float | None, to_s: float | None, count: int) -> list[int]:
        """Return the indices of at most `count` samples between two times in seconds.

        Raise an error if there are fewer than two samples.
        """
        low = np.searchsorted(self.times, -np.inf if from_s is None else from_s)
        high = np.searchsorted(self.times, np.inf if to_s is None else to_s, side="right")
        if high - low < 2:
            first, last = self.times[0], self.times[-1]
            raise LonghaulError(
                f"--from and --to: expected a part of {first:g} to {last:g} s with two samples"
            )
        return [int(at) for at in np.unique(np.linspace(low, high - 1, count).round())]

    def start(self, drawing: Figure, frames: list[int]) -> Any:  # noqa: ANN401
        """Draw the parts that do not change, and return a function that draws one frame."""
        drawing.suptitle(self.measure["about"] or self.words)
        left, right = drawing.subfigures(1, 2, squeeze=False, width_ratios=(1.15, 1))[0]
        lines_now = self._strips(right, frames)
        axes = left.subplots()
        # The text reserves space in the layout.
        clock = axes.set_title(self._clock(frames[0]))
        axes.set_axis_off()
        # Positions are between 0 and 1; the margin is kept also if all are on a line.
        axes.set(xlim=(-MARGIN, 1 + MARGIN), ylim=(-MARGIN, 1 + MARGIN))
        norm = PowerNorm(0.5, 0.0, self.top)
        nodes, links = self.network["nodes"], self.network["links"]
        places = np.array([(node["x"], 1 - node["y"]) for node in nodes])
        lines = LineCollection([_beside(places, link) for link in links], zorder=1)
        axes.add_collection(lines)
        sizes = [SIZES[min(node["tier"], 2)] for node in nodes]
        dots = axes.scatter(*places.T, s=sizes, zorder=2, edgecolors="#62696f", linewidths=0.8)
        for node, (x, y) in zip(nodes, places, strict=True):
            if node["tier"] == 0:
                axes.annotate(node["name"], (x, y), (6, 5), textcoords="offset points", fontsize=9)
        left.colorbar(
            matplotlib.cm.ScalarMappable(norm, COLOURS), ax=axes, shrink=0.6, location="left",
            label=self.words,
        )  # fmt: skip

        def colours(entries: list[dict[str, Any]], at: int, without: str) -> list[Any]:
            values = [
                None if entry["row"] is None else self.values[entry["row"], at] for entry in entries
            ]
            return [COLOURS(norm(value)) if value else without for value in values]

        def moment(at: int) -> list[Any]:
            clock.set_text(self._clock(at))
            dots.set_facecolor(colours(nodes, at, NOTHING))
            lines.set_color(colours(links, at, "#dde1e5"))
            lines.set_linewidth([1.0 if link["row"] is None else 3.0 for link in links])
            for now in lines_now:
                now.set_xdata([self.times[at]] * 2)
            return []

        return moment

    def _strips(self, drawing: SubFigure, frames: list[int]) -> list[Line2D]:
        """Draw curves of the nodes or links with the largest means; return lines to mark the time.

        If there are more than `MOST_POINTS` samples, only the largest of several successive samples
        is drawn, because a noisy curve would otherwise be a filled area.
        """
        part = self.values[:, frames[0] : frames[-1] + 1]
        rows = np.argsort(-part.mean(1))[:MOST_CURVES]
        starts = np.arange(0, part.shape[1], -(-part.shape[1] // MOST_POINTS))
        times = self.times[frames[0] + starts]
        grid = drawing.subplots(len(rows), sharex=True, sharey=True, squeeze=False).flat
        for axes, row in zip(grid, rows, strict=True):
            most = np.maximum.reduceat(part[row], starts)
            axes.fill_between(times, most, color=COLOURS(0.8), linewidth=0)
            axes.set_ylabel(self._name(row), rotation=0, ha="right", va="center")
            axes.label_outer()
        axes.set_ylim(0, self.top)
        axes.set_xlabel("time (s)")
        return [axes.axvline(times[0], color="#1c2024", lw=1) for axes in drawing.axes]

    @property
    def words(self) -> str:
        """Name of the metric with spaces instead of underscores, and its unit in brackets."""
        name, unit = self.measure["name"], self.measure["unit"]
        if not unit:
            return str(name).replace("_", " ")
        return f"{name.rpartition('_')[0].replace('_', ' ')} ({unit})"

    def _clock(self, at: int) -> str:
        return f"{self.times[at]:,.1f} s"

    def _name(self, row: int) -> str:
        """Return the name of the node in a row, or the names of the two ends of a link."""
        for node in self.network["nodes"]:
            if node["row"] == row:
                return str(node["name"])
        for link in self.network["links"]:
            if link["row"] == row:
                ends = (self.network["nodes"][link[end]]["name"] for end in ("from", "to"))
                return " to ".join(ends)
        return str(row)
