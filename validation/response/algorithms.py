"""Algorithms whose windows depend on losses only, with their scenario tables and laws.

Algorithms that mainly react to round-trip times (Vegas, FAST, BBR and others) are left out, because
the simulated path has no queueing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from longhaul.models import windows
from validation.response import laws
from validation.response.laws import Law

RTT_S = 0.1


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with its settings, and the law that its window follows."""

    name: str
    congestion: Mapping[str, Any]
    """The algorithm's `congestion` table in a scenario."""
    law: Callable[[], Law]
    """Function that returns a new law, because a law stores the state of its flows."""
    published: Callable[[float], float] | None = None
    """Published response function (loss rate to mean window); None to use the engine's function."""

    def response(self, p: float) -> float | None:
        """Return the mean window in segments that the response function gives at loss rate `p`.

        The result is None if the algorithm has no response function.
        """
        if self.published is not None:
            return self.published(p)
        kind, *given = self.congestion.items()
        experiment = windows.Experiment(loss=p, rounds=1, rtt_s=RTT_S)
        settings = [f"{name}={value!r}" for name, value in given]
        (trajectory,) = windows.trajectories([str(kind[1])], experiment, set=settings)
        return trajectory.response_pkts


def aimd(increase: float, decrease: float, p: float) -> float:
    """Return `sqrt(a (2 - b) / (2 b p))`, the mean window of AIMD in segments (RFC 3649 section 5).

    `increase` is a, in segments per round trip; `decrease` is b, the fraction that a loss removes.
    """
    return sqrt(increase * (2.0 - decrease) / (2.0 * decrease * p))


HSTCP_NS2 = {"low_window": 31.0, "low_p": 1.5 / 31.0**2}
"""HSTCP with ns-2's parameters (LBNL-52549, table 5.3)."""
GHSTCP = {"low_p": 0.078 / 38.0**1.2, "high_p": 0.078 / 83_000.0**1.2}
"""Rounded parameters of gHSTCP's response function (Osaka University thesis, 2006, section 2.1)."""
ILLINOIS_WITHOUT_DELAYS = "illinois, whatever the delays"

EXPLAINED_BY = {"illinois": ILLINOIS_WITHOUT_DELAYS}
"""Algorithms that differ from their law because of one feature, mapped to variants without it."""

ALGORITHMS = [
    Algorithm("reno", {"kind": "reno"}, laws.Aimd),
    Algorithm("gaimd", {"kind": "gaimd"}, lambda: laws.Aimd(4.0 / 3.0 * (1.0 - 0.875**2), 0.125)),
    Algorithm("increase-by-k", {"kind": "increase-by-k"}, lambda: laws.Aimd(2.0)),
    Algorithm("multcp, 2 flows", {"kind": "multcp"}, lambda: laws.Aimd(2.0, 0.25)),
    Algorithm(
        "multcp, a quarter of a flow",
        {"kind": "multcp", "flows": 0.25},
        lambda: laws.Aimd(0.25),
    ),
    Algorithm("hybla", {"kind": "hybla"}, lambda: laws.Aimd((RTT_S / 0.025) ** 2)),
    Algorithm("binomial, SQRT", {"kind": "binomial"}, lambda: laws.Binomial(0.5, 0.5, 0.5)),
    Algorithm(
        "binomial, IIAD",
        {"kind": "binomial", "k": 1.0, "l": 0.0, "decrease": 1.0},
        lambda: laws.Binomial(1.0, 0.0, 1.0),
    ),
    Algorithm(
        "scalable",
        {"kind": "scalable"},
        lambda: laws.AboveLowWindow(laws.Scalable(), 16.0),
    ),
    Algorithm("hstcp", {"kind": "hstcp"}, lambda: laws.AboveLowWindow(laws.HighSpeed(), 38.0)),
    Algorithm(
        "hstcp, ns-2's form",
        {"kind": "hstcp", "variant": "ns2", "low_window": 31.0},
        lambda: laws.AboveLowWindow(laws.HighSpeed(**HSTCP_NS2), 31.0),
    ),
    Algorithm(
        "ghstcp",
        {"kind": "ghstcp"},
        lambda: laws.AboveLowWindow(laws.HighSpeed(**GHSTCP), 38.0),
        # HighSpeed TCP's rounded function (section 2.1); without queues gHSTCP is never gentle.
        lambda p: max((0.078 / p) ** (1.0 / 1.2), aimd(1.0, 0.5, p)),
    ),
    Algorithm("ctcp", {"kind": "ctcp"}, lambda: laws.AboveLowWindow(laws.Compound(), 41.0)),
    Algorithm("cubic", {"kind": "cubic"}, lambda: laws.Cubic(RTT_S)),
    Algorithm(
        "illinois",
        {"kind": "illinois"},
        lambda: laws.AboveLowWindow(laws.Aimd(10.0, 0.125), 15.0),
        # Liu, Basar and Srikant 2008, without queueing: alpha 10, beta 1/8.
        lambda p: aimd(10.0, 0.125, p),
    ),
    Algorithm(
        ILLINOIS_WITHOUT_DELAYS,
        # With nearly equal bounds, delay does not change increase or decrease.
        {"kind": "illinois", "min_increase": 9.99, "max_decrease": 0.1251},
        lambda: laws.AboveLowWindow(laws.Aimd(10.0, 0.125), 15.0),
        lambda p: aimd(10.0, 0.125, p),
    ),
    Algorithm("htcp", {"kind": "htcp"}, lambda: laws.Htcp(RTT_S)),
    Algorithm("bic", {"kind": "bic"}, lambda: laws.AboveLowWindow(laws.Bic(), 14.0)),
]
