"""Measured values (figures) of one run, in the same form for both simulators.

Only data packets are counted. ns-2 counts its SYN as packet 0, which `simulator.py` subtracts.
Fields with `window` in their names are for the measurement window, from the end of the warm-up to
the end of the run. All other fields, except `FlowFigures.sawtooth`, are for the whole run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sawtooth:
    """Mean shape of the sawtooth of a congestion window after the warm-up.

    All fields but `cuts` are None with fewer than two reductions, that is, without a complete
    tooth.
    """

    cuts: int
    period_s: float | None
    """Mean time from one reduction to the next reduction."""
    peak_pkts: float | None
    """Mean of the windows in the last samples before reductions, except the first reduction."""
    trough_pkts: float | None
    """Smallest window between two successive reductions, averaged over all such intervals."""


@dataclass(frozen=True)
class FlowFigures:
    """Measured values of one flow in one run."""

    kind: str
    start_s: float
    sent_pkts: int
    retransmitted_pkts: int
    delivered_pkts: int
    """Packets acknowledged cumulatively at the end of the run."""
    cuts: int
    """Number of cwnd reductions for any reason, timeouts included."""
    ecn_cuts: int
    """Number of cwnd reductions because of ECN marks."""
    timeouts: int
    cut_times_s: list[float]
    """Times of the reductions that `cuts` counts."""
    timeout_times_s: list[float]
    goodput_window_bps: float
    cwnd_mean_window: float
    """Mean cwnd in packets, over samples."""
    cwnd_max: float
    sawtooth: Sawtooth | None = None
    """Sawtooth of cwnd after the warm-up; None except for flows of ns-2's TCP/Linux."""

    @staticmethod
    def from_json(plain: dict[str, Any]) -> FlowFigures:
        """Return the values from a dictionary that `dataclasses.asdict` made."""
        sawtooth = plain.get("sawtooth")
        return FlowFigures(**{**plain, "sawtooth": sawtooth and Sawtooth(**sawtooth)})


@dataclass(frozen=True)
class LinkFigures:
    """Measured values of the bottleneck link in forward direction."""

    utilisation_window: float
    """Utilisation as a fraction."""
    queue_mean_window_pkts: float
    dropped_pkts: int
    marked_pkts: int


@dataclass(frozen=True)
class Trace:
    """Samples of cwnd and of the bottleneck's queue, for the plots."""

    time_s: list[float]
    cwnd: list[list[float]]
    """Congestion windows in packets: a list of samples for each flow."""
    queue_pkts: list[float]

    def thinned(self, step: int) -> Trace:
        """Return the trace with every `step`-th sample only."""
        return Trace(
            self.time_s[::step], [flow[::step] for flow in self.cwnd], self.queue_pkts[::step]
        )


@dataclass(frozen=True)
class Run:
    """Measured values and samples of one simulation with one seed."""

    seed: int
    flows: list[FlowFigures]
    link: LinkFigures
    trace: Trace | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the run, without its trace, as a dictionary for JSON."""
        plain = asdict(self)
        del plain["trace"]
        return plain

    @staticmethod
    def from_json(plain: dict[str, Any], trace: Trace | None = None) -> Run:
        """Return the run that `to_json` converted to `plain`, with the given trace."""
        return Run(
            seed=plain["seed"],
            flows=[FlowFigures.from_json(flow) for flow in plain["flows"]],
            link=LinkFigures(**plain["link"]),
            trace=trace,
        )
