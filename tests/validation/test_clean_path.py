"""Delay- and model-based algorithms alone on a path: their queues are as in their papers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import longhaul
from validation.coexistence import TOPOLOGY

RTT_S = 0.04
BDP_PKTS = 333.3


def alone(kind: str, duration_s: int = 40, **parameters: float | str) -> longhaul.Results:
    """Simulate one flow on 100 Mbit/s and 40 ms, and measure the second half of the run."""
    return longhaul.run(
        {
            "title": f"{kind} alone",
            "profile": "linux",
            "duration": f"{duration_s} s",
            "measure": {"from": f"{duration_s // 2} s", "every": "5 ms"},
            "topology": TOPOLOGY,
            "flows": [{"label": "alone", "congestion": {"kind": kind, **parameters}}],
        }
    )


def bottleneck(results: longhaul.Results) -> dict[str, Any]:
    return results.links.row(0, named=True)


def test_fast_holds_alpha_packets_in_the_queue() -> None:
    """Check that FAST keeps `alpha - 1` packets in the queue.

    Linux measures the RTT of the first of the two segments that a delayed ACK covers. This segment
    has waited for the second one, which adds one packet's transmission time to the smoothed RTT.
    """
    for alpha in (50, 200):
        link = bottleneck(alone("fast", alpha=alpha))
        assert abs(link["queue_mean_pkts"] - (alpha - 1)) < 0.02 * alpha
        assert link["utilization"] > 0.999


def test_vegas_holds_between_alpha_and_beta_packets_in_the_queue() -> None:
    for alpha, beta in ((2, 4), (6, 9)):
        link = bottleneck(alone("vegas", alpha=alpha, beta=beta, variant="paper"))
        # The queue does not include the packet in transmission.
        assert alpha - 1 <= link["queue_mean_pkts"] <= beta
        assert link["utilization"] > 0.999


def test_vegas_of_linux_counts_whole_packets() -> None:
    for alpha, beta in ((2, 4), (6, 9)):
        link = bottleneck(alone("vegas", alpha=alpha, beta=beta))
        # Linux uses a round's minimum RTT (`tcp_vegas_cong_avoid`), and shrinks the window from
        # beta + 1 on; the mean is up to a packet above the minimum.
        assert alpha - 1 <= link["queue_mean_pkts"] <= beta + 2
        assert link["utilization"] > 0.999


def test_bbr_fills_the_pipe_and_probes_once_in_eight_round_trips() -> None:
    results = alone("bbr", 60)
    link = bottleneck(results)
    assert link["utilization"] > 0.97
    # Section 4.3.4.2 of the draft: a gain of 1.25 for one round trip adds a quarter of the pipe.
    rows = results.series.filter(pl.col("kind") == "link", pl.col("id") == 0, pl.col("t_s") > 30.0)
    queue, times = rows["queue_pkts"].to_numpy(), rows["t_s"].to_numpy()
    probing = queue > 0.1 * BDP_PKTS
    probes = times[1:][probing[1:] & ~probing[:-1]]
    assert 0.15 * BDP_PKTS < np.quantile(queue, 0.98) < 0.35 * BDP_PKTS
    assert abs(np.median(np.diff(probes)) / RTT_S - 8.0) < 1.0
