"""Published values of the HighSpeed TCP study (LBNL, 2003), compared with profile `ns2-2003`.

The values are those of the isolated flow of section 6.1 (congestion events in section 7.3.2), and
of the slow starts in Table 6.1. RED is configured as in the study: adaptive with `bottom` 1e-4, in
packets of 500 bytes, with ECN.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import Any

import polars as pl

import longhaul
from longhaul.analysis.judging import Expected
from validation.experiments import dumbbell, pool
from validation.rows import Row, judged

TOLERANCE = 0.05
"""Allowed relative difference from the published value."""
PUBLISHED = "published"
"""Name of the case in rows that compare our value with a published value."""
SEEDS = range(1, 6)
QUIET_S = 5.0
"""Seconds without a loss or mark after which the first transient is over.

HSTCP's sawteeth are 7 s apart.
"""


def anchor(name: str, published: float, ours: float) -> Row:
    """Return a row with the verdict on our value, compared with the published value."""
    band = Expected.within_part(published, TOLERANCE)
    return judged(PUBLISHED, name, published, ours, band, "5 %")


def scenario(max_ssthresh: int, duration_s: int, seed: int) -> dict[str, Any]:
    """Return the scenario of one HSTCP flow alone on a path of 1 Gbit/s and 100 ms."""
    red = {"kind": "red", "limit": "8333 packets", "adaptive": True, "bottom": 1e-4}
    return {
        "title": f"An isolated HSTCP flow, max_ssthresh {max_ssthresh}",
        "profile": "ns2-2003",
        "duration": f"{duration_s} s",
        "seed": seed,
        "measure": {"from": f"{duration_s // 2} s", "every": "50 ms", "events": True},
        "tcp": {"send_jitter": "8 us"},
        "topology": dumbbell("1 Gbps", "50 ms", red),
        "flows": [
            {
                "label": "hstcp",
                "congestion": {"kind": "hstcp", "low_window": 31},
                "slow_start": {"max_ssthresh": max_ssthresh},
            }
        ],
    }


def check_anchors(processes: int) -> list[Row]:
    """Run all comparisons with published values, and return rows with means over seeds."""
    with pool(processes) as workers:
        anchors = _steady(list(workers.map(_isolated, SEEDS)))
        for max_ssthresh, change_s, cwnd, lost in TABLE_6_1:
            runs = list(workers.map(partial(_slow_start, max_ssthresh), SEEDS))
            name = f"Table 6.1, MAX_SSTHRESH {max_ssthresh}"
            anchors += [
                anchor(f"{name}: time of change, s", change_s, fmean(run[0] for run in runs)),
                anchor(f"{name}: window, packets", cwnd, fmean(run[1] for run in runs)),
                anchor(f"{name}: lost or marked", lost, fmean(run[2] for run in runs)),
            ]
    return anchors


TABLE_6_1 = [
    (0, 1.30, 33032.00, 27274),
    (10, 63.75, 9919.98, 1),
    (100, 20.75, 9979.66, 1),
    (1000, 3.55, 12726.20, 58),
]
"""Rows of Table 6.1: max_ssthresh, time (s) and window (packets) at the end of slow start, and
number of packets lost or marked."""


def _steady(runs: list[dict[str, float]]) -> list[Row]:
    def mean(key: str) -> float:
        return fmean(run[key] for run in runs)

    return [
        anchor("6.1: packets between congestion events", 638_000, mean("packets")),
        anchor("6.1: time between congestion events, s", 7.73, mean("seconds")),
        anchor("6.1: congestion event rate", 1.56e-6, 1.0 / mean("packets")),
        anchor("6.1: packets per round trip", 8244, mean("packets_per_round_trip")),
    ]


def _isolated(seed: int) -> dict[str, float]:
    """Simulate one HSTCP flow for 300 s; measure its rate and reductions in the last 150 s."""
    results = longhaul.run(scenario(100, 300, seed))
    cuts = results.events.filter((pl.col("event") == "cut") & (pl.col("t_s") > 150.0))
    times = cuts["t_s"].to_list()
    period_s = (times[-1] - times[0]) / (len(times) - 1)
    packets_per_s = results.links.row(0, named=True)["departed_pkts"] / 150.0
    return {
        "packets": period_s * packets_per_s,
        "seconds": period_s,
        "packets_per_round_trip": 0.1 * packets_per_s,
    }


def _slow_start(max_ssthresh: int, seed: int) -> tuple[float, float, float]:
    """Return time (s), window (packets) and losses at the end of slow start, as in Table 6.1.

    Time and window are those of the last sample (every 50 ms) before the first reduction. Losses
    are the drops and marks of the first transient.
    """
    results = longhaul.run(scenario(max_ssthresh, 100, seed))
    cut_s = results.events.filter(pl.col("event").is_in(["cut", "timeout"]))["t_s"][0]
    last = results.flow_series.filter(pl.col("t_s") < cut_s).tail(1).row(0, named=True)
    return last["t_s"], last["cwnd_pkts"], _lost_in_first_transient(results.bottleneck_series)


def _lost_in_first_transient(link: pl.DataFrame) -> float:
    """Return the number of drops and marks until none occurs for `QUIET_S` seconds.

    `link` has the samples of the bottleneck. Time before the first drop or mark does not count.
    """
    times, counts = link["t_s"], link["dropped_pkts"] + link["marked_pkts"]
    changed_s = times.filter(counts.diff().fill_null(0) > 0).to_list()
    last_s = next(
        (before for before, after in pairwise(changed_s) if after - before > QUIET_S), changed_s[-1]
    )
    return float(counts.filter(times == last_s)[0])
