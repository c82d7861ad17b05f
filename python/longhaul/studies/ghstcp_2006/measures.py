"""What the study's claims measure: one number each, from medians over replications.

A measure gets the tables and the claim's `where`; `of` names the experiment, `beside` another one
to compare with. Shares are from 0 to 1; trends are rank correlations.
"""

from collections.abc import Callable, Iterable

import numpy as np

from longhaul.analysis.statistics import rank_correlation
from longhaul.studies.data import Data, NotRunError

from . import theory, traces
from .published import printed

Measure = Callable[..., float]
MEASURES: dict[str, Measure] = {**theory.MEASURES, **traces.MEASURES}

WEB = ("GH2-C20", "GH2-C21", "GH2-C22", "GH2-C23")


def measure(function: Measure) -> Measure:
    """Register a measure under its name."""
    MEASURES[function.__name__] = function
    return function


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
def within(data: Data, metric: str, tolerance: float, table: str | float = "") -> float:
    """Share of the printed rows, of one table or all, that a metric comes near."""
    rows = printed(str(table))
    found = [
        abs(
            data.value(metric, row["experiment"], delay_ms=float(row["delay_ms"]))
            - float(row[metric])
        )
        for row in rows
    ]
    return float(np.mean([off <= tolerance for off in found]))


@measure
def over(
    data: Data, of: str, metric: str, one: str, other: str, axis: str = "flow1", **cell: float
) -> float:
    """A metric at one level of an axis, less that at another."""
    first, second = (data.value(metric, of, **cell, **{axis: level}) for level in (one, other))
    return float(first - second)


@measure
def ahead(
    data: Data, of: str, metric: str, one: str, axis: str = "flow1", sign: float = 1, **cell: float
) -> float:
    """What a metric at one level is above that at all other levels; with `sign` -1, below."""
    cells = data.having(metric, of, **cell)
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
    cells = data.having("fairness", of, socket_kb=socket_kb)
    product = (cells["utilisation"] * cells["fairness"]).to_numpy()
    return float(cells["n"][int(np.argmax(product))])


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
