"""Figures of one run, in the same form for both simulators.

Counts are of data packets only, as in Longhaul. ns-2 counts its SYN as packet 0, which the reader
subtracts. `*_window` figures cover the time from the end of the warm-up to the end of the run;
everything else covers the whole run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sawtooth:
    """Sawtooth of the window after the warm-up.

    Fields are None if there are fewer than two reductions, that is, no complete tooth.
    """

    cuts: int
    period_s: float | None
    """Mean time from one reduction to the next."""
    peak_pkts: float | None
    """Mean of the last samples before a reduction."""
    trough_pkts: float | None
    """Mean of the smallest samples after a reduction."""


@dataclass(frozen=True)
class FlowFigures:
    """Figures of one flow."""

    kind: str
    start_s: float
    sent_pkts: int
    retransmitted_pkts: int
    delivered_pkts: int
    """Packets acknowledged cumulatively at the end of the run."""
    cuts: int
    """Window reductions for any reason, timeouts included."""
    ecn_cuts: int
    timeouts: int
    cut_times_s: list[float]
    timeout_times_s: list[float]
    goodput_window_bps: float
    cwnd_mean_window: float
    cwnd_max: float
    sawtooth: Sawtooth | None = None
    """Sawtooth, for flows of ns-2's Linux modules only."""

    @staticmethod
    def from_json(plain: dict[str, Any]) -> FlowFigures:
        """Read an object that `asdict` returned."""
        sawtooth = plain.get("sawtooth")
        return FlowFigures(**{**plain, "sawtooth": sawtooth and Sawtooth(**sawtooth)})


@dataclass(frozen=True)
class LinkFigures:
    """Figures of the bottleneck in forward direction."""

    utilisation_window: float
    queue_mean_window_pkts: float
    dropped_pkts: int
    marked_pkts: int


@dataclass(frozen=True)
class Trace:
    """Samples for the plots."""

    time_s: list[float]
    cwnd: list[list[float]]
    """Windows of each flow, in packets."""
    queue_pkts: list[float]

    def thinned(self, step: int) -> Trace:
        """Keep every `step`-th sample."""
        return Trace(
            self.time_s[::step], [flow[::step] for flow in self.cwnd], self.queue_pkts[::step]
        )


@dataclass(frozen=True)
class Run:
    """One simulation."""

    seed: int
    flows: list[FlowFigures]
    link: LinkFigures
    trace: Trace | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the run without its trace, for JSON."""
        plain = asdict(self)
        del plain["trace"]
        return plain

    @staticmethod
    def from_json(plain: dict[str, Any], trace: Trace | None = None) -> Run:
        """Invert `to_json`."""
        return Run(
            seed=plain["seed"],
            flows=[FlowFigures.from_json(flow) for flow in plain["flows"]],
            link=LinkFigures(**plain["link"]),
            trace=trace,
        )
