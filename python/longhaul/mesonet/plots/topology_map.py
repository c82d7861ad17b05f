"""Map of the routers of a MesoNet run: NIST SP 500-282, figure 6-1, for any topology.

Distances between backbone routers approximate numbers of hops. Points of presence and access
routers are arranged in a fan around the router above them, away from the links between that router
and backbone routers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2, cos, pi, sin

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from longhaul.analysis.network_layout import Place, majorised
from longhaul.mesonet.plots.runs import has_table
from longhaul.mesonet.tables import MesoNet
from longhaul.plots.layout import WIDTH_IN
from longhaul.plots.registry import Options, register
from longhaul.results import Results

HEIGHT_IN = 5.6
# Margin around the outermost routers, in lengths of a backbone link.
MARGIN = 0.3


@dataclass(frozen=True)
class Fan:
    """A fan of routers around the router to which they are attached.

    Lengths are multiples of a backbone link's length.
    """

    radius: float
    angle: float
    """Angle between the two outermost routers, in radians."""


FANS = {"pop": Fan(0.36, 0.42 * pi), "access": Fan(0.22, 0.62 * pi)}
DIRECT = Fan(0.42, 0.3 * pi)
LOOKS = {
    "backbone": ("s", 110.0, "#000000"),
    "pop": ("o", 34.0, "#666666"),
    "normal": ("o", 14.0, "#0072b2"),
    "fast": ("D", 16.0, "#e69f00"),
    "direct": ("^", 26.0, "#d55e00"),
}


@register(
    "topology-map",
    "routers by their class, and the links of the backbone",
    has_table("backbone_links"),
)
def _maps(runs: Sequence[Results], options: Options) -> Figure:
    del options
    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN * len(runs)), layout="constrained")
    for axes, run in zip(figure.subplots(len(runs), squeeze=False).flat, runs, strict=True):
        _draw(axes, MesoNet.of(run))
        if len(runs) > 1:
            axes.set_title(run.name)
    return figure


def _draw(axes: Axes, tables: MesoNet) -> None:
    routers = tables.topology.with_columns(kind=pl.coalesce("class", "tier"))
    ways = set(tables.backbone_ends.values())
    links = list(dict.fromkeys((min(ends), max(ends)) for ends in tables.backbone_ends.values()))
    places = _places(routers, links)
    above = {row["router"]: row["above"] for row in routers.iter_rows(named=True)}
    for one, other in links:
        axes.plot(
            *zip(places[one], places[other], strict=True), color="#000000", linewidth=1.6, zorder=1
        )
        if not {(one, other), (other, one)} <= ways:
            start, end = (one, other) if (one, other) in ways else (other, one)
            _point(axes, places[start], places[end])
    for router, upper in above.items():
        if upper is not None:
            axes.plot(
                *zip(places[router], places[upper], strict=True),
                color="#bbbbbb",
                linewidth=0.6,
                zorder=1,
            )
    for (kind, speed), group in routers.group_by("kind", "capacity_pps", maintain_order=True):
        marker, size, colour = LOOKS[str(kind)]
        x, y = zip(*(places[name] for name in group["router"]), strict=True)
        name = {"backbone": "backbone", "pop": "points of presence"}.get(
            str(kind), f"{kind} access"
        )
        axes.scatter(
            x, y, s=size, c=colour, marker=marker, zorder=2,
            label=f"{group.height} {name}, {speed:,.0f} packets/s",
        )  # fmt: skip
    box = {"boxstyle": "square,pad=0.25", "facecolor": LOOKS["backbone"][2], "linewidth": 0}
    for name in routers.filter(tier="backbone")["router"]:
        axes.annotate(
            name, places[name], ha="center", va="center", color="#ffffff", fontsize=8,
            weight="bold", bbox=box,
        )  # fmt: skip
    # A margin on all sides, even if all routers are on one line.
    x, y = np.array(list(places.values())).T
    axes.set_xlim(x.min() - MARGIN, x.max() + MARGIN)
    axes.set_ylim(y.min() - MARGIN, y.max() + MARGIN)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, fontsize=8)


def _point(axes: Axes, start: Place, end: Place) -> None:
    """Draw an arrow at the middle of a unidirectional link from `start` to `end`."""
    (x, y), (to_x, to_y) = start, end
    middle = ((x + to_x) / 2, (y + to_y) / 2)
    before = (middle[0] - 0.02 * (to_x - x), middle[1] - 0.02 * (to_y - y))
    arrow = {"arrowstyle": "-|>", "color": "#000000", "mutation_scale": 16, "shrinkB": 0}
    axes.annotate("", middle, before, arrowprops=arrow, zorder=1)


def _places(routers: pl.DataFrame, links: Sequence[tuple[str, str]]) -> dict[str, Place]:
    """Return the position of each router; the unit is the length of a backbone link."""
    backbone = routers.filter(tier="backbone")["router"].to_list()
    points = majorised(backbone, links).tolist()
    places = {name: (x, y) for name, (x, y) in zip(backbone, points, strict=True)}
    directions = {name: _free_side(name, links, places) for name in backbone}
    for tier in ("pop", "access"):
        for (upper,), group in routers.filter(tier=tier).group_by("above", maintain_order=True):
            middle, centre = directions[str(upper)], places[str(upper)]
            fan = DIRECT if tier == "access" and upper in backbone else FANS[tier]
            for name, angle in zip(
                group["router"], _angles(group.height, middle, fan), strict=True
            ):
                directions[name] = angle
                places[name] = (
                    centre[0] + fan.radius * cos(angle),
                    centre[1] + fan.radius * sin(angle),
                )
    return places


def _angles(count: int, middle: float, fan: Fan) -> list[float]:
    """Return the directions (in radians) of `count` routers in a fan around `middle`."""
    if count == 1:
        return [middle]
    return [middle + fan.angle * (place / (count - 1) - 0.5) for place in range(count)]


def _free_side(name: str, links: Sequence[tuple[str, str]], places: Mapping[str, Place]) -> float:
    """Return the direction away from a backbone router's neighbours; upwards if it has none."""
    x, y = places[name]
    others = [one if other == name else other for one, other in links if name in (one, other)]
    east = sum(x - places[other][0] for other in others)
    north = sum(y - places[other][1] for other in others)
    return atan2(north, east) if others else pi / 2
