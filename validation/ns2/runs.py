"""Figures of one run, in the same form for both simulators.

Counts follow Longhaul: data packets only. ns-2 numbers its SYN as packet 0, so its counters are
reduced by it where they are read. `*_window` figures cover the time from the end of the warm-up to
the end of the run; everything else covers the whole run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sawtooth:
    """The window between its reductions, from the end of the warm-up on.

    `None` where fewer than two reductions leave no whole tooth.
    """

    cuts: int
    period_s: float | None
    """Mean time from one reduction to the next."""
    peak_pkts: float | None
    """Mean of the last samples before a reduction."""
    trough_pkts: float | None
    """Mean of the smallest samples after one."""


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
    """For flows of ns-2's Linux modules."""

    @staticmethod
    def from_json(plain: dict[str, Any]) -> FlowFigures:
        """Read what `asdict` made."""
        sawtooth = plain.get("sawtooth")
        return FlowFigures(**{**plain, "sawtooth": sawtooth and Sawtooth(**sawtooth)})


@dataclass(frozen=True)
class LinkFigures:
    """The bottleneck, forward direction."""

    utilisation_window: float
    queue_mean_window_pkts: float
    dropped_pkts: int
    marked_pkts: int


@dataclass(frozen=True)
class Trace:
    """Samples for the plots."""

    time_s: list[float]
    cwnd: list[list[float]]
    """One list per flow."""
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
        """Return all but the trace, as JSON has it."""
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
