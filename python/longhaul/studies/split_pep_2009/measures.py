"""What only this study's claims measure; the rest are measures of any study.

Without a proxy a cell has `proxy` off, where receivers acknowledge each packet, or off-delayed.
"""

from collections.abc import Mapping

from longhaul.analysis.statistics import median
from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.measures import GENERAL, Measures, rank_trend

from . import theory
from .theory import MBPS

MEASURES = Measures(GENERAL | theory.MEASURES)
measure = MEASURES.register

# Web flows that the link carries whole, by which what one offers is measured.
CARRIED = 500


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


def _gains(
    data: Data, of: str, metric: str, off: str, low: float, cell: Mapping[str, str | float]
) -> list[float]:
    """The gains at all numbers of flows from some on, lengths of the queue and disciplines."""
    cells = data.having(metric, of, proxy="cubic", **cell)
    axes = [axis for axis in ("queue", "size", "flows") if axis in cells.columns]
    return [
        gain(data, of, metric, off, **row)
        for row in cells.select(axes).to_dicts()
        if row.get("flows", low) >= low
    ]


@measure
def largest_gain(data: Data, of: str, metric: str, off: str = "off", **cell: str | float) -> float:
    """The largest gain at any number of flows, length of the queue and discipline."""
    return max(_gains(data, of, metric, off, 0, cell))


@measure
def least_gain(
    data: Data, of: str, metric: str, off: str = "off", low: float = 0, **cell: str | float
) -> float:
    """The smallest gain from some number of flows on, at any length of the queue."""
    return min(_gains(data, of, metric, off, low, cell))


@measure
def least_gain_ratio(data: Data, of: str, beside: str, metric: str, **cell: str | float) -> float:
    """The gain in one experiment over that in another, at the length where it is least."""
    return min(
        gain(data, of, metric, size=size, **cell) / gain(data, beside, metric, size=size, **cell)
        for size in _sizes(data, of, metric)
    )


@measure
def largest_gain_of_sack(data: Data, of: str, metric: str) -> float:
    """The largest gain of SACK between the nodes over drop-tail without a proxy."""
    cells = data.having(metric, of, proxy="sack")
    return max(
        float(row[metric])
        / data.value(
            metric, of, proxy="off", queue="droptail", size=row["size"], traffic=row["traffic"]
        )
        for row in cells.to_dicts()
    )


@measure
def least_gained(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The smallest difference that the proxy makes, at any length of the queue."""
    return min(gained(data, of, metric, size=size, **cell) for size in _sizes(data, of, metric))


@measure
def most_gained(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest difference that the proxy makes in either direction, at any length."""
    return max(
        abs(gained(data, of, metric, size=size, **cell)) for size in _sizes(data, of, metric)
    )


@measure
def least_ratio(
    data: Data, of: str, metric: str, beside: str, over: str, **cell: str | float
) -> float:
    """A metric over another one of another experiment, at the length where it is least."""
    return min(
        data.value(metric, of, size=size, **cell) / data.value(over, beside, size=size, **cell)
        for size in _sizes(data, of, metric)
    )


@measure
def largest_range(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The range over lengths of the queue, at the number of flows where it is largest."""
    counts = data.having(metric, of, **cell)["flows"].unique().to_list()
    return max(range_over(data, of, metric, flows=count, **cell) for count in counts)


def _sizes(data: Data, of: str, metric: str) -> list[float]:
    """The lengths of the queue of an experiment."""
    return data.having(metric, of)["size"].unique().sort().to_list()


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
def largest_apart(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The same at the length where it is largest."""
    return max(
        queues_apart_at(data, of, metric, size=size, **cell) for size in _sizes(data, of, metric)
    )


@measure
def least_apart(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The same at the length where it is least."""
    return min(
        queues_apart_at(data, of, metric, size=size, **cell) for size in _sizes(data, of, metric)
    )


@measure
def most_apart(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest difference between the queues in either direction, at any length."""
    return max(largest_apart(data, of, metric, **cell), -least_apart(data, of, metric, **cell))


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
    return median(_overloaded(data, of, **cell))


@measure
def overloaded_extreme(data: Data, of: str, largest: float, **cell: str | float) -> float:
    """The largest or smallest utilisation at these numbers of web flows."""
    found = _overloaded(data, of, **cell)
    return max(found) if largest else min(found)


def _overloaded(data: Data, of: str, **cell: str | float) -> list[float]:
    cells = data.having("mbps", of, **cell)
    found: list[float] = cells.filter(cells["flows"] > CARRIED)["mbps"].to_list()
    if not found:
        raise NotRunError("no such number of flows was run")
    return found
