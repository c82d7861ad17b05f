"""The source's theory: recovery times, response functions, parallel TCP (chapters 1, 2, 5)."""

from itertools import pairwise
from math import ceil

import numpy as np

from longhaul.models.parallel_tcp import (
    Path,
    Red,
    band,
    desynchronised,
    red_connections,
    red_equilibrium,
    synchronised,
)
from longhaul.models.response import FORMS, recovery_time_s
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures

from .published import read

HSTCP = FORMS["rounded"]
RTT_S = 0.1

MEASURES = Measures()
measure = MEASURES.register


def path(mbps: float, rtt_ms: float = 100.0) -> Path:
    """Return the path of an example, with the given rate and round-trip time.

    Packets have 1500 bytes, and windows are limited to 64 KB.
    """
    return Path(mbps * 1e6, rtt_ms * 1e-3)


@measure
def recovery(data: Data, mbps: float) -> float:
    """Return the seconds that standard TCP needs after a loss until it fills the path again.

    The path has a rate of `mbps` and an RTT of 100 ms.
    """
    return recovery_time_s(mbps * 1e6, RTT_S)


@measure
def shape_is_monotone(data: Data) -> float:
    """Return the share of steps in w at which HSTCP's a(w) does not fall, but b(w) does.

    The windows w are from 38 to 83,000. Just above 38, a(w) is 1.
    """
    windows = np.geomspace(38.0, 83_000.0, 500)
    grows = np.diff(HSTCP.increase(windows)) >= 0
    falls = np.diff(HSTCP.decrease(windows)) < 0
    return float(np.mean(grows & falls))


@measure
def model_points(data: Data, column: str) -> float:
    """Return the largest relative deviation of modelled values from the reference in `column`.

    The source has the equations, but not these reference values. For a reference of 0, the modelled
    value itself counts.
    """
    off = []
    for row in read("model_points"):
        expected = float(row[column])
        the_path, n = path(100.0), int(row["connections"])
        buffer = float(row["buffer_bdp"]) * the_path.bdp
        together, apart = synchronised(the_path, buffer, n), desynchronised(the_path, buffer, n)
        modelled = {
            "loss_together": together.loss,
            "throughput_without_timeouts": synchronised(
                the_path, buffer, n, timeouts=False
            ).throughput,
            "throughput_together": together.throughput,
            "goodput_together": together.goodput,
            "loss_apart": apart.loss,
            "goodput_apart": apart.goodput,
        }[column]
        off.append(abs(modelled - expected) / expected if expected else abs(modelled))
    return max(off)


@measure
def band_end(data: Data, end: str, mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    """Return the smallest or the largest number of connections that use 95 % of the link.

    `end` is `first` for the smallest number, `last` for the largest.
    """
    the_path = path(mbps, rtt_ms)
    the_band = band(the_path, buffer_bdp * the_path.bdp)
    assert the_band is not None
    return float(getattr(the_band, end))


@measure
def band_width(data: Data, mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    """Return the relative width of the range of numbers of connections that use 95 % of the link.

    The width is the largest number divided by the smallest, minus 1.
    """
    the_path = path(mbps, rtt_ms)
    the_band = band(the_path, buffer_bdp * the_path.bdp)
    assert the_band is not None
    return the_band.last / the_band.first - 1.0


@measure
def bands_apart(data: Data, buffer_bdp: float) -> float:
    """Return the smallest gap between the bands of paths with successive rates or RTTs.

    A band is the range of numbers of connections that use 95 % of the link. A gap is the lower end
    of a band divided by the upper end of the band before.
    """
    families = ([(100, 100), (1000, 100), (10_000, 100)], [(1000, 100), (1000, 200), (1000, 500)])
    gaps = []
    for family in families:
        bands = [band(path(*of_path), buffer_bdp * path(*of_path).bdp) for of_path in family]
        for lower, other in pairwise(bands):
            assert lower is not None
            assert other is not None
            gaps.append(other.first / lower.last)
    return min(gaps)


@measure
def lossless_regions(data: Data) -> float:
    """Return the fraction of cases in which the models are right about a path without losses.

    In each case, all maximum windows fit into link and buffer. A model is right if its loss rate is
    0 and its throughput is the sum of the windows per RTT, but at most the link's rate.
    """
    right = []
    for mbps in (100.0, 1000.0, 10_000.0):
        the_path = path(mbps)
        for share in (0.1, 0.5):
            buffer = share * the_path.bdp
            last = int((the_path.bdp + buffer) / the_path.max_window)
            for n in np.unique(np.linspace(1, last, 20).astype(int)):
                full = min(1.0, n * the_path.max_window / the_path.bdp)
                for model in (synchronised, desynchronised):
                    point = model(the_path, buffer, int(n))
                    right.append(point.loss == 0 and abs(point.throughput - full) < 1e-9)
    return float(np.mean(right))


@measure
def congested_region(data: Data) -> float:
    """Return the share of steps that confirm the source's statement on the congested region.

    A step goes from a number of connections to a larger one. By the source's statement, each step
    increases loss and reduces goodput (checked for synchronised connections), and widens the lead
    in goodput of desynchronised connections over synchronised ones.
    """
    right = []
    for mbps in (100.0, 1000.0, 10_000.0):
        the_path = path(mbps)
        for share in (0.1, 0.3, 0.5):
            buffer = share * the_path.bdp
            first = (the_path.bdp + buffer) / the_path.max_window
            counts = np.unique(np.linspace(1.5 * first, 10 * first, 20).astype(int))
            pairs = [
                (synchronised(the_path, buffer, int(n)), desynchronised(the_path, buffer, int(n)))
                for n in counts
            ]
            for (before, above), (other, beyond) in pairwise(pairs):
                right.append(
                    other.loss > before.loss
                    and other.goodput < before.goodput
                    and before.goodput < above.goodput
                    and beyond.goodput - other.goodput > above.goodput - before.goodput
                )
    return float(np.mean(right))


@measure
def jump(data: Data, buffer_bdp: float) -> float:
    """Return the throughput of the fewest synchronised connections that overflow the buffer.

    The model is for a link of 10 Gbit/s, and the throughput is a fraction of this rate.
    """
    the_path = path(10_000.0)
    buffer = buffer_bdp * the_path.bdp
    first = int((the_path.bdp + buffer) / the_path.max_window) + 1
    return synchronised(the_path, buffer, first).throughput


@measure
def fall_of_goodput(data: Data, buffer_bdp: float, times: float) -> float:
    """Return the fall in goodput from n to `times` n connections, as a fraction of the link's rate.

    n is the fewest synchronised connections that cause losses in the model. The result is the
    smallest fall at three link rates.
    """
    falls = []
    for mbps in (100.0, 1000.0, 10_000.0):
        the_path = path(mbps)
        buffer = buffer_bdp * the_path.bdp
        first = int((the_path.bdp + buffer) / the_path.max_window) + 1
        goodputs = [
            synchronised(the_path, buffer, n).goodput for n in (first, round(times * first))
        ]
        falls.append(goodputs[0] - goodputs[1])
    return min(falls)


@measure
def red_first(data: Data, mbps: float, rtt_ms: float) -> float:
    """Return the number of connections whose maximum windows fill path and queue up to `q_min`."""
    return red_connections(path(mbps, rtt_ms), Red())[0]


@measure
def red_last(data: Data, mbps: float, rtt_ms: float) -> float:
    """Return the largest number of connections for which RED has an equilibrium."""
    return float(red_connections(path(mbps, rtt_ms), Red())[1])


@measure
def red_loss(data: Data, times: float) -> float:
    """Return RED's modelled loss rate as a mean over six paths.

    The number of connections on each path is that of `red_first` multiplied by `times`, and
    rounded.
    """
    losses = []
    for mbps in (100.0, 1000.0):
        for rtt_ms in (100.0, 200.0, 500.0):
            the_path = path(mbps, rtt_ms)
            first, _ = red_connections(the_path, Red())
            equilibrium = red_equilibrium(the_path, Red(), round(times * first))
            assert equilibrium is not None
            losses.append(equilibrium.loss)
    return float(np.mean(losses))


@measure
def red_loss_grows(data: Data) -> float:
    """Return how often, as a fraction, RED's modelled loss rate rises with more connections.

    On six paths, loss rates are compared between neighbours among at most 40 numbers of
    connections. RED has an equilibrium for all of these numbers.
    """
    grows: list[bool] = []
    for mbps in (100.0, 1000.0):
        for rtt_ms in (100.0, 200.0, 500.0):
            losses = [loss for _, loss in _equilibria(path(mbps, rtt_ms))]
            grows += list(np.diff(losses) > 0)
    return float(np.mean(grows))


@measure
def red_optima(data: Data) -> float:
    """Return the number of distinct optima among six paths.

    The optimum of a path is the number of connections with the smallest loss rate in RED's model.
    """
    best = {
        min(_equilibria(path(mbps, rtt_ms)), key=lambda point: point[1])[0]
        for mbps in (100.0, 1000.0)
        for rtt_ms in (100.0, 200.0, 500.0)
    }
    return float(len(best))


def _equilibria(the_path: Path) -> list[tuple[int, float]]:
    """Return up to 40 numbers of connections with an equilibrium under RED, and their loss rates.

    The numbers are spread evenly on a logarithmic scale.
    """
    first, last = red_connections(the_path, Red())
    counts = np.unique(np.geomspace(ceil(first), last, 40).astype(int))
    equilibria = [(int(n), red_equilibrium(the_path, Red(), int(n))) for n in counts]
    return [(n, point.loss) for n, point in equilibria if point is not None]


@measure
def between_the_models(data: Data, of: str, slack: float) -> float:
    """Return the share of simulations whose goodput lies between those of two models.

    The models assume synchronised and desynchronised losses. Both limits are widened by `slack`.
    """
    inside = []
    for row in data.cells(of).iter_rows(named=True):
        the_path = path(100.0)
        buffer = float(row["buffer_bdp"]) * the_path.bdp
        n = int(row["n"])
        low = synchronised(the_path, buffer, n).goodput
        high = desynchronised(the_path, buffer, n).goodput
        inside.append(low - slack <= row["goodput"] <= high + slack)
    return float(np.mean(inside))
