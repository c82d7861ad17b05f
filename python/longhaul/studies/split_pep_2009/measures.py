"""What only this study's claims measure; the rest are measures of any study.

Without a proxy a cell has `proxy` off, where receivers acknowledge each packet, or off-delayed.
"""

from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.measures import GENERAL, Measure, rank_trend

from . import theory
from .theory import MBPS

MEASURES: dict[str, Measure] = {**GENERAL, **theory.MEASURES}

# Web flows that the link carries whole, by which what one offers is measured.
CARRIED = 500


def measure(function: Measure) -> Measure:
    """Register a measure under its name."""
    MEASURES[function.__name__] = function
    return function


@measure
def mean(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The mean of a metric over some cells."""
    return float(data.having(metric, of, **cell)[metric].mean())  # type: ignore[arg-type]


@measure
def range_over(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest value of some cells less the smallest."""
    found = data.having(metric, of, **cell)[metric].to_numpy()
    if len(found) < 2:
        raise NotRunError("a range needs two cells")
    return float(found.max() - found.min())


@measure
def gain(data: Data, of: str, metric: str, off: str = "off", **cell: str | float) -> float:
    """A metric with CUBIC behind the proxy, over that without a proxy at the same cell."""
    return _with(data, of, metric, **cell) / data.value(metric, of, proxy=off, **cell)


@measure
def gained(data: Data, of: str, metric: str, off: str = "off", **cell: str | float) -> float:
    """The same as a difference."""
    return _with(data, of, metric, **cell) - data.value(metric, of, proxy=off, **cell)


@measure
def largest_gain(data: Data, of: str, metric: str, off: str = "off", **cell: str | float) -> float:
    """The largest gain at any number of flows and length of the queue."""
    cells = data.having(metric, of, proxy="cubic", **cell)
    return max(
        gain(data, of, metric, off, size=size, flows=flows, **cell)
        for size, flows in zip(cells["size"].to_list(), cells["flows"].to_list(), strict=True)
    )


@measure
def gain_trend(
    data: Data, of: str, metric: str, axis: str, low: float = 0, **cell: str | float
) -> float:
    """Rank correlation of the gain with an axis, from some point on."""
    x, with_, without = together(
        data.curve(metric, axis, of, proxy="cubic", **cell),
        data.curve(metric, axis, of, proxy="off", **cell),
    )
    return rank_trend(Curve(x, with_ / without).where(low, 1e9))


@measure
def least_trend(
    data: Data, of: str, metric: str, axis: str, low: float = 0, **cell: str | float
) -> float:
    """The smallest rank correlation of a metric with an axis, over all numbers of flows."""
    flows = data.having(metric, of, **cell)["flows"].unique().to_list()
    return min(
        rank_trend(data.curve(metric, axis, of, flows=count, **cell))
        for count in flows
        if count >= low
    )


@measure
def best_number(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The number of flows with the largest value."""
    curve = data.curve(metric, "flows", of, **cell)
    return float(curve.x[curve.y.argmax()])


@measure
def queues_apart_at(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """A metric behind a drop-tail local queue less that behind RED, with CUBIC."""
    red, droptail = (
        data.value(metric, of, proxy="cubic", queue=queue, **cell) for queue in ("red", "droptail")
    )
    return droptail - red


@measure
def offered_percent(data: Data, of: str, flows: float) -> float:
    """What so many web flows offer, in per cent of the link, by what few of them send."""
    return 100.0 * flows * _offered_by_one(data, of) / MBPS


@measure
def flows_to_fill(data: Data, of: str) -> float:
    """Web flows that offer what the link carries."""
    return MBPS / _offered_by_one(data, of)


def _offered_by_one(data: Data, of: str) -> float:
    """Mbit/s on the wire of one web flow, where the link carries all."""
    curve = data.curve("mbps", "flows", of).where(0, CARRIED)
    return float(curve.y.sum() / curve.x.sum())


def _with(data: Data, of: str, metric: str, **cell: str | float) -> float:
    return data.value(metric, of, proxy="cubic", **cell)


@measure
def overloaded(data: Data, of: str, **cell: str | float) -> float:
    """The median utilisation at the numbers of web flows that offer more than the link carries."""
    cells = data.having("mbps", of, **cell)
    found = cells.filter(cells["flows"] > CARRIED)["mbps"]
    if found.is_empty():
        raise NotRunError("no such number of flows was run")
    return float(found.median())  # type: ignore[arg-type]
