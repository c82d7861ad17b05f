"""What the study's claims measure: one number each, from medians over replications.

A measure gets the tables and the claim's `where`; `of` names the experiment, `beside` another one
to compare with. Shares are from 0 to 1; trends are rank correlations.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data, NotRunError
from longhaul.studies.measures import Measures

from . import theory, traces
from .published import printed

MEASURES = Measures(theory.MEASURES | traces.MEASURES)
measure = MEASURES.register

# How near a printed value is near enough, without and with SACK in the faster group.
TOLERANCE = {"utilisation": (8.0, 2.0), "fairness": (0.10, 0.08)}
# Printed fairness from which on it is compared with that of the groups' means.
FAIR_BY_GROUPS = 0.98

WEB = ("GH2-C20", "GH2-C21", "GH2-C22", "GH2-C23")


@measure
def value(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """A metric in one cell."""
    return data.value(metric, of, **cell)


@measure
def difference(data: Data, of: str, beside: str, metric: str, **cell: str | float) -> float:
    """A metric in one cell, less that in the same cell of another experiment."""
    return data.value(metric, of, **cell) - data.value(metric, beside, **cell)


@measure
def ratio(data: Data, of: str, beside: str, metric: str, **cell: str | float) -> float:
    """A metric in one cell, over that in the same cell of another experiment."""
    return data.value(metric, of, **cell) / data.value(metric, beside, **cell)


@measure
def trend(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """Rank correlation of a metric with an axis."""
    curve = data.curve(metric, axis, of, **cell)
    if len(curve.x) < 2:
        raise NotRunError("a trend needs two points")
    return rank_correlation(curve.x, curve.y)


@measure
def within(data: Data, metric: str, table: str | float = "") -> float:
    """Share of the printed rows, of one table or all, that a metric comes near.

    Near are 2 points of utilisation and 0.08 of fairness where the faster group has SACK, 8 points
    and 0.10 where it has not: without it results vary more from run to run.
    """
    found = []
    for row in printed(str(table)):
        sack = row["s2"].endswith("+SACK")
        measured = data.value(
            _as_printed(metric, row), row["experiment"], delay_ms=float(row["delay_ms"])
        )
        found.append(abs(measured - float(row[metric])) <= TOLERANCE[metric][sack])
    return float(np.mean(found))


def _as_printed(metric: str, row: Mapping[str, str]) -> str:
    """The metric that a printed one is compared with.

    Fairness of 0.98 and more is that of the groups' means: ten flows are never so equal.
    """
    grouped = metric == "fairness" and float(row[metric]) >= FAIR_BY_GROUPS
    return "fairness_groups" if grouped else metric


@measure
def ends(data: Data, of: str, metric: str, axis: str, **cell: str | float) -> float:
    """A metric at the end of an axis, over that at its beginning."""
    curve = data.curve(metric, axis, of, **cell)
    if len(curve.x) < 2:
        raise NotRunError("an axis has two ends")
    return float(curve.y[-1] / curve.y[0])


@measure
def gared_over_ared(data: Data, metric: str, interval_ms: float) -> float:
    """How gentle Adaptive RED adapts, at an interval, over how Adaptive RED does, at 50 ms."""
    gentle = data.value(metric, "GH3-M2", interval_ms=interval_ms)
    return gentle / data.value(metric, "GH3-M1", delay_ms=50)


@measure
def never_rises(data: Data, metric: str, without: str, slack: float) -> float:
    """Share of the steps in delay, over all rows but those `without`, at which a metric falls.

    Or rises by no more than a slack, which is what rounding leaves of equal values.
    """
    left_out = without.split(",")
    steps = []
    for of in dict.fromkeys(row["experiment"] for row in printed()):
        if of not in left_out:
            steps += list(np.diff(data.curve(metric, "delay_ms", of).y) <= slack)
    return _share(steps)


@measure
def gentle_is_fairer(data: Data) -> float:
    """Share of queues, combinations of SACK and delays at which gHSTCP is as fair as HSTCP."""
    rows = {(row["table"], row["s1"], row["s2"], row["delay_ms"]): row for row in printed()}
    fairer = []
    for (table, s1, s2, delay), row in rows.items():
        gentle = ("2.2" if table == "2.1" else table, s1, s2.replace("HSTCP", "gHSTCP"), delay)
        if s2.startswith("HSTCP") and gentle in rows:
            one, other = (
                data.value("fairness", found["experiment"], delay_ms=float(delay))
                for found in (rows[gentle], row)
            )
            fairer.append(one >= other)
    return _share(fairer)


@measure
def over(
    data: Data, of: str, metric: str, one: str, other: str, axis: str = "flow1", **cell: float
) -> float:
    """A metric at one level of an axis, less that at another."""
    first, second = (data.value(metric, of, **cell, **{axis: level}) for level in (one, other))
    return float(first - second)


@measure
def ahead(
    data: Data,
    of: str,
    metric: str,
    one: str,
    axis: str = "flow1",
    sign: float = 1,
    without: str = "",
    **cell: float,
) -> float:
    """What a metric at one level is above that at all other levels; with `sign` -1, below.

    But for a level `without` which they are compared.
    """
    cells = data.having(metric, of, **cell).filter(pl.col(axis) != without)
    values = dict(zip(cells[axis].to_list(), cells[metric].to_list(), strict=True))
    if one not in values or len(values) < 2:
        raise NotRunError(f"{of} has no {axis} {one} and others")
    rest = [sign * found for level, found in values.items() if level != one]
    return float(sign * values[one] - max(rest))


@measure
def least(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The smallest median of some cells."""
    return float(data.having(metric, of, **cell)[metric].to_numpy().min())


@measure
def spread(data: Data, of: str, metric: str, **cell: str | float) -> float:
    """The largest median of some cells, over the smallest."""
    found = data.having(metric, of, **cell)[metric].to_numpy()
    return float(found.max() / found.min())


@measure
def gentle_loses_less(data: Data) -> float:
    """Share of web experiments and numbers of flows in which gHSTCP has the lower loss rate."""
    return _share(
        data.value("loss_rate", of, protocol="ghstcp", flows=flows)
        < data.value("loss_rate", of, protocol="hstcp", flows=flows)
        for of, flows in _web_cells(data)
    )


@measure
def web_loses_more(data: Data, one: str, other: str) -> float:
    """Share of protocols and numbers of flows with more loss in one web experiment than another."""
    return _share(
        data.value("loss_rate", one, protocol=protocol, flows=flows)
        > data.value("loss_rate", other, protocol=protocol, flows=flows)
        for of, flows in _web_cells(data)
        if of == one
        for protocol in ("hstcp", "ghstcp")
    )


@measure
def response_ratio(data: Data, of: str, flows: float, metric: str) -> float:
    """Response time beside gHSTCP over that beside HSTCP."""
    gentle, plain = (
        data.value(metric, of, flows=flows, protocol=protocol) for protocol in ("ghstcp", "hstcp")
    )
    return gentle / plain


@measure
def fewer_resets(data: Data, of: str, beside: str, label: str) -> float:
    """Windows that fall to one packet, per flow, less those of another experiment."""
    return traces.resets(data, of, label) - traces.resets(data, beside, label)


@measure
def best_tradeoff(data: Data, of: str, socket_kb: float) -> float:
    """The number of connections with the largest product of utilisation and fairness."""
    cells = data.having("tradeoff", of, socket_kb=socket_kb)
    return float(cells["n"][int(np.argmax(cells["tradeoff"].to_numpy()))])


def _web_cells(data: Data) -> list[tuple[str, float]]:
    cells = []
    for of in WEB:
        counts = data.having("loss_rate", of)["flows"].unique().sort().to_list()
        cells += [(of, count) for count in counts]
    return cells


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    if not values:
        raise NotRunError("there are no pairs to compare")
    return float(np.mean(values))
