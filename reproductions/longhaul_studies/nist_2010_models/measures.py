"""Measures of the models, some of them compared with other models and with packet simulations."""

import numpy as np

from longhaul.analysis.statistics import rank_correlation
from longhaul.models.abilene_lee import BUFFERS, ROUTES, Sets, rtt_s
from longhaul.models.laws import PRINTED
from longhaul.studies.data import Data
from longhaul.studies.measures import GENERAL, Measures

from . import hybrid, theory

MEASURES = Measures(GENERAL | theory.MEASURES)
measure = MEASURES.register


def _ratio(sets: Sets, what: str) -> float:
    """Return the ratio `what` of two sets of flows: `FR12` of throughputs, or `RR31` of RTTs."""
    pair = int(what[2]), int(what[3])
    return sets.throughput_ratio(*pair) if what.startswith("FR") else sets.rtt_ratio(*pair)


@measure
def hybrid_trend(data: Data, routers: str, what: str) -> float:
    """Return the rank correlation between buffer size and the ratio `what` in the hybrid model.

    For example, `FR12` is the throughput of flow set 1 divided by that of flow set 2.
    """
    ratios = [_ratio(hybrid.sets(routers, buffer), what) for buffer in BUFFERS]
    return rank_correlation(np.array(BUFFERS, float), np.array(ratios))


@measure
def hybrid_least(data: Data, routers: str, what: str) -> float:
    """Return the hybrid model's smallest ratio `what` (see `hybrid_trend`) over all buffers."""
    return min(_ratio(hybrid.sets(routers, buffer), what) for buffer in BUFFERS)


@measure
def hybrid_beyond_rule(data: Data, routers: str) -> float:
    """Return the smallest `FR(1,3) / RR(3,1)` over buffers in the hybrid model.

    FR(1,3) is the throughput of set 1 over that of set 3, and RR(3,1) the RTT of set 3 over that of
    set 1. If throughput is proportional to 1 / RTT, both are equal.
    """
    by_buffer = [hybrid.sets(routers, buffer) for buffer in BUFFERS]
    return min(buffer.throughput_ratio(1, 3) / buffer.rtt_ratio(3, 1) for buffer in by_buffer)


@measure
def hybrid_over_bound(data: Data, routers: str, queues: float) -> float:
    """Return the smallest ratio, over all buffers, of `RR(3,1)` to its lower bound.

    `RR(3,1)` is the round-trip time of set 3 divided by that of set 1. Its bound is the ratio
    if each of the two paths has `queues` full queues.
    """
    least = np.inf
    for buffer in BUFFERS:
        full_s = queues * buffer / 1250e3
        bound = (rtt_s(ROUTES[2]) + full_s) / (rtt_s(ROUTES[0]) + full_s)
        least = min(least, hybrid.sets(routers, buffer).rtt_ratio(3, 1) / bound)
    return float(least)


@measure
def packets_over_hybrid(data: Data, of: str, routers: str, metric: str) -> float:
    """Return `metric` of `of` (HY-PKT or HY-MN) divided by the hybrid model's.

    `metric` is `throughput_N_pps` or `rtt_N_s` for set N. The buffer has 25,000 packets.
    """
    sets = hybrid.sets(routers, 25_000)
    kind, number = metric.split("_")[0], int(metric.split("_")[1])
    other = {"throughput": sets.throughput_pps, "rtt": sets.rtt_s}[kind][number - 1]
    return data.value(metric, of) / other


@measure
def mesonet_over_hybrid(data: Data, of: str, routers: str) -> float:
    """Return MesoNet's wall-clock time divided by the hybrid model's processor time.

    Both are for eleven simulated hours, MesoNet's extrapolated, and a buffer of 25,000 packets.
    """
    hybrid_s = float(hybrid.row(routers, 25_000)["processor_s"])
    return data.value("hours_for_eleven", of) * 3600.0 / hybrid_s


@measure
def fluid_over_packets(data: Data, algorithm: str, rtt_ms: float, buffer_pkts: float) -> float:
    """Return the fluid model's throughput divided by the packet simulation's, in a given cell."""
    packets = data.value(
        "throughput_pkts_per_ms", "FL-PKT",
        algorithm=algorithm, rtt_ms=rtt_ms, buffer_pkts=buffer_pkts,
    )  # fmt: skip
    return theory.throughput(algorithm, rtt_ms, buffer_pkts) / packets


@measure
def window_over_packets(data: Data, algorithm: str) -> float:
    """Return the largest relative difference between windows of packet simulations and a model.

    The model is the algorithm's response function at the simulation's loss rate and at the flows'
    measured round-trip time, queueing included.
    """
    law = PRINTED[algorithm]
    cells = data.cells("FL-PKT", algorithm=algorithm)
    off = [
        abs(float(law.window(row["loss"], row["rtt_s"])) / row["window_pkts"] - 1.0)
        for row in cells.iter_rows(named=True)
    ]
    return float(max(off))
