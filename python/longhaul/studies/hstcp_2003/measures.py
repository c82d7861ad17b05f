"""What only this study's claims measure; the rest are measures of any study."""

import numpy as np

from longhaul.analysis.fairness import bandwidth_stolen
from longhaul.analysis.statistics import crossing
from longhaul.campaign.sweep import Level
from longhaul.studies.data import Curve, Data, NotRunError, together
from longhaul.studies.measures import (
    GENERAL,
    QUEUES,
    Measure,
    most,
    rank_trend,
    share,
    some,
)

from . import theory

MEASURES: dict[str, Measure] = {**GENERAL, **theory.MEASURES}


def measure(function: Measure) -> Measure:
    """Register a measure under its name."""
    MEASURES[function.__name__] = function
    return function


# Bandwidth stolen (chapter 5.5; spec of mixed sets: half of the homogeneous set's aggregate).


def stolen(data: Data, of: str, alone: str, axis: str, queue: str) -> Curve:
    """What REGTCP flows lose when half of the flows are HSTCP, in per cent of the link."""
    x, half, mixed = together(
        data.curve("lu_regtcp", axis, alone, queue=queue),
        data.curve("lu_regtcp", axis, of, queue=queue),
    )
    return Curve(
        x, np.array([bandwidth_stolen(h / 2, m) for h, m in zip(half, mixed, strict=True)])
    )


def stolen_from_ten(data: Data, of: str, axis: str, queue: str, **cell: str | float) -> Curve:
    """What ten long-lived flows lose to a competitor, in per cent of the link."""
    alone = "EXP-6.9a" if of.startswith("EXP-6.9") else "EXP-6.10a"
    x, before, now = together(
        data.curve("lu_regtcp", axis, alone, queue=queue, n=0),
        data.curve("lu_regtcp", axis, of, queue=queue, **cell),
    )
    return Curve(x, before - now)


@measure
def stolen_trend(data: Data, of: str, alone: str, axis: str, queue: str, low: float = -1) -> float:
    """Rank correlation of the bandwidth stolen with an axis, from some point on."""
    return rank_trend(stolen(data, of, alone, axis, queue).where(low, np.inf))


@measure
def stolen_droptail_above(data: Data, of: str, alone: str, axis: str) -> float:
    """Share of the points at which more is stolen under drop-tail."""
    _, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return share([droptail > red])


@measure
def stolen_gap_trend(data: Data, of: str, alone: str, axis: str) -> float:
    """Rank correlation with an axis of how much more is stolen under drop-tail."""
    x, red, droptail = together(*(stolen(data, of, alone, axis, queue) for queue in QUEUES))
    return rank_trend(Curve(x, droptail - red))


@measure
def stolen_most(
    data: Data, of: str, alone: str, axis: str, low: float, high: float, queue: str
) -> float:
    """The largest bandwidth stolen between two points, either sign."""
    return float(np.abs(some(stolen(data, of, alone, axis, queue).where(low, high)).y).max())


@measure
def stolen_from_ten_trend(data: Data, of: str, axis: str, queue: str) -> float:
    """The largest rank correlation, over the competitors, of what ten flows lose with an axis."""
    counts = [None] if of.endswith("b") else sorted(set(data.cells(of, queue=queue)["n"]) - {0})
    cells = [{} if n is None else {"n": n} for n in counts]
    return most([rank_trend(stolen_from_ten(data, of, axis, queue, **cell)) for cell in cells])


@measure
def stolen_by_streams_trend(data: Data, of: str, loss: float, queue: str) -> float:
    """Rank correlation of what ten flows lose with the number of streams beside them."""
    curve = data.curve("lu_regtcp", "n", of, queue=queue, loss=loss)
    return rank_trend(Curve(curve.x, -curve.y))


# Single experiments.


@measure
def equivalence(data: Data, of: str, queue: str) -> float:
    """How many REGTCP flows together get what one HSTCP flow gets."""
    hstcp, regtcp = (data.curve(f"lu_{name}", "n", of, queue=queue) for name in ("hstcp", "regtcp"))
    found = crossing(hstcp.x, hstcp.y, regtcp.y)
    if found is None:
        raise NotRunError("the curves do not cross where there are points")
    return found


@measure
def equivalence_ratio(data: Data, of: str) -> float:
    """That number under drop-tail over that under RED."""
    return equivalence(data, of, "droptail") / equivalence(data, of, "red")


@measure
def knee(data: Data, of: str, metric: str, queue: str) -> float:
    """Where the flat part of the congestion event rate meets the line on which it is the loss rate.

    Flat are the points above 1.5 times the loss rate; their mean is geometric.
    """
    found = data.curve(metric, "loss", of, queue=queue)
    flat = found.y[found.y > 1.5 * found.x]
    if not len(flat):
        raise NotRunError("the rate follows the loss rate everywhere")
    return float(np.exp(np.log(flat).mean()))


@measure
def flows_at_knee(data: Data, of: str, metric: str, queue: str, loss: float) -> float:
    """The largest number of flows whose congestion event rate is within 1.5 times the loss."""
    found = data.curve(metric, "n", of, queue=queue)
    below = found.x[found.y <= 1.5 * loss]
    return float(below.max()) if len(below) else 0.0


@measure
def rises_towards_limit(data: Data, of: str, metric: str, queue: str) -> float:
    """The largest ratio of a metric at one loss rate to that at the next higher one."""
    found = data.curve(metric, "loss", of, queue=queue)
    return float((found.y[:-1] / found.y[1:]).max())


def _part_of_drops(data: Data, of: str, queue: str) -> Curve:
    """The part that bursts have of the drops, where there are bursts."""
    x, theirs, every = together(
        data.curve("dropped_perturbation", "k", of, queue=queue),
        data.curve("dropped_total", "k", of, queue=queue),
    )
    return some(Curve(x[x > 0], theirs[x > 0] / np.maximum(every[x > 0], 1)))


@measure
def perturbations_lose_less(data: Data, of: str) -> float:
    """Share of the points at which bursts have a smaller part of the drops under RED."""
    _, red, droptail = together(*(_part_of_drops(data, of, queue) for queue in QUEUES))
    return share([red < droptail])


@measure
def perturbations_part_of_drops(data: Data, of: str, queue: str) -> float:
    """The smallest part that bursts have of the drops, where there are bursts."""
    return float(_part_of_drops(data, of, queue).y.min())


@measure
def streams_unaffected(data: Data, of: str, queue: str, full: float = 95) -> float:
    """The smallest part that ten flows keep of what they have alone, while the link is not full."""
    kept = []
    alone = data.curve("lu_regtcp", "loss", "EXP-6.9a", queue=queue, n=0)
    for row in data.cells(of, queue=queue).iter_rows(named=True):
        if row["lu_total"] < full and row.get("n") != 0:
            kept.append(row["lu_regtcp"] / alone.at(row["loss"]))
    return -most([-part for part in kept])


@measure
def streams_in_proportion(data: Data, of: str, queue: str, loss: float) -> float:
    """The largest deviation of the part of ten flows from 10/(10 + N) of what all streams get."""
    off = []
    for row in data.cells(of, queue=queue, loss=loss).iter_rows(named=True):
        if row["n"]:
            part = row["lu_regtcp"] / (row["lu_regtcp"] + row["lu_streams"])
            off.append(abs(part / (10 / (10 + row["n"])) - 1))
    return most(off)


@measure
def fairness_over_streams(
    data: Data, of: str, queue: str, axis: str, low: float = -1, high: float = 1e9
) -> float:
    """The largest deviation of a stream set's relative fairness from its number of streams."""
    off = []
    for row in data.cells(of, queue=queue).iter_rows(named=True):
        if row["n"] and low <= row[axis] <= high:
            off.append(abs(row["frf"] / row["n"] - 1))
    return most(off)


@measure
def grows_with_streams(data: Data, of: str, queue: str) -> float:
    """The smallest rank correlation, over loss rates, of the rate with the number of streams."""
    rates = sorted(set(data.cells(of, queue=queue)["loss"]))
    trends = [rank_trend(data.curve("rate_regtcp", "n", of, queue=queue, loss=p)) for p in rates]
    return -most([-trend for trend in trends])


@measure
def falls_with_loss(data: Data, of: str, queue: str) -> float:
    """The largest rank correlation, over numbers of streams, of the rate with the loss rate."""
    counts = sorted(set(data.cells(of, queue=queue)["n"]))
    trends = [rank_trend(data.curve("rate_regtcp", "loss", of, queue=queue, n=n)) for n in counts]
    return most(trends)


@measure
def hstcp_over_streams(
    data: Data, of: str, beside: str, loss: float, n: float, queue: str
) -> float:
    """The rate of one HSTCP flow over that of so many streams."""
    one = data.value("rate_hstcp", of, loss=loss, n=1, queue=queue)
    return one / data.value("rate_regtcp", beside, loss=loss, n=n, queue=queue)


@measure
def loses_more_than_streams(data: Data, of: str, queue: str) -> float:
    """What one HSTCP flow keeps of its share as others are added, over what six streams keep.

    Streams of one protocol share equally: six of 6 + n.
    """
    found = data.curve("lu_hstcp", "n", of, queue=queue)
    first, last = found.x[0], found.x[-1]
    if first == last:
        raise NotRunError("both ends are needed")
    return float(found.y[-1] / found.y[0] / ((6 + first) / (6 + last)))


@measure
def share_falls_with_events(data: Data, of: str, queue: str) -> float:
    """Rank correlation of relative fairness with the link's congestion event rate, in all sets."""
    rates, ratios = [], []
    for experiment in of.split(","):
        cells = data.cells(experiment, queue=queue).drop_nulls("rf")
        rates += cells["cer_total"].to_list()
        ratios += cells["rf"].to_list()
    return rank_trend(Curve(np.array(rates), np.array(ratios)))


@measure
def windows_keep_level(data: Data, of: str, label: str) -> float:
    """The mean window in the last quarter over that in the second."""
    course = data.course(of).filter(label=label)
    end = float(course["t_s"].max())  # type: ignore[arg-type]

    def mean(low: float, high: float) -> float:
        inside = course.filter(course["t_s"].is_between(low * end, high * end))
        return float(inside["cwnd_pkts"].mean())  # type: ignore[arg-type]

    return mean(0.75, 1.0) / mean(0.25, 0.5)


@measure
def window_band(data: Data, of: str, label: str) -> float:
    """The range of a window in the second half over its mean."""
    course = data.course(of).filter(label=label)
    late = course.filter(course["t_s"] >= float(course["t_s"].max()) / 2)["cwnd_pkts"]  # type: ignore[arg-type]
    return float(np.ptp(late.to_numpy()) / late.to_numpy().mean())


@measure
def fastest_but_lossy(data: Data, of: str) -> float:
    """Share of the variants that end slow start after the standard one and lose 100 times less."""
    standard, *others = data.having("change_s", of).sort("max_ssthresh").to_dicts()
    if standard["max_ssthresh"] != 0:
        raise NotRunError("the standard slow start was not run")
    return share(
        [
            np.array(
                [
                    one["change_s"] > standard["change_s"]
                    and 100 * one["change_lost_pkts"] < standard["change_lost_pkts"]
                    for one in others
                ]
            )
        ]
    )


@measure
def progress(data: Data, of: str, max_ssthresh: float, than: float, at_s: float) -> float:
    """Packets delivered by some time with one slow start, over those with another."""

    def delivered(variant: float) -> float:
        course = data.course(of, max_ssthresh=variant)
        return float(course.filter(course["t_s"] <= at_s)["delivered_pkts"].max())  # type: ignore[arg-type]

    return delivered(max_ssthresh) / delivered(than)


@measure
def noise(data: Data) -> float:
    """The largest part of the link that background traffic has, in per cent, in any run."""
    alone = ["EXP-6.1", "EXP-6.1-REG", "EXP-6.7", "EXP-6.11", "EXP-7.2"]
    swept = data.values.filter(~data.values["experiment"].is_in(alone))
    if swept.is_empty():
        raise NotRunError("no run with background traffic")
    return float(swept["lu_noise"].max())  # type: ignore[arg-type]


@measure
def cost_of_windows(data: Data, of: str) -> float:
    """Time per packet with the largest windows over that with windows a hundred times smaller."""
    return _cost(data, of, "mbps", 10000, 100)


@measure
def cost_of_losses(data: Data, of: str) -> float:
    """Time per packet where a whole window is lost over that without losses."""
    return _cost(data, of, "lost", "window", "nothing")


def _cost(data: Data, of: str, axis: str, level: Level, than: Level) -> float:
    """Time per packet at one level of an axis over that at another."""
    cells = {row[axis]: row["wall_s"] / row["data_packets"] for row in data.cells(of).to_dicts()}
    if not {level, than} <= set(cells):
        raise NotRunError("both levels are needed")
    return float(cells[level] / cells[than])
