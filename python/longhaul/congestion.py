"""Congestion control of your own, in Python.

    from longhaul.congestion import Ack, Congestion, CongestionControl, Window

    class Aimd(CongestionControl):
        def __init__(self, increase: float = 1.0, decrease: float = 0.5) -> None:
            self.increase = increase
            self.decrease = decrease

        def on_ack(self, ack: Ack, window: Window) -> None:
            window.grow(self.increase * ack.credit / window.cwnd)

        def on_congestion(self, event: Congestion, window: Window) -> None:
            window.reduce_to(event.base * (1 - self.decrease))

A scenario names file and class, and what the constructor takes:

    congestion = { python = "aimd.py:Aimd", increase = 2 }

`docs/python-algorithms.md` tells the rest.
"""

from typing import ClassVar, Literal

from longhaul._engine import Ack, Congestion, Tabulated, Timeout, Window, exp, log, power

__all__ = [
    "Ack",
    "Congestion",
    "CongestionControl",
    "Tabulated",
    "Timeout",
    "Window",
    "exp",
    "log",
    "power",
]


class CongestionControl:
    """Base class of algorithms in Python; each flow has an object of its own.

    A class has to have `on_ack` or `on_round`. Only methods that it has are called, so that an
    algorithm with `on_round` alone costs one call per round trip, not one per acknowledgement.

    The transport decides when there is congestion and repairs losses; the flow's slow start opens
    the window up to `ssthresh`. Both call here with facts and the window. Windows are in segments,
    times in seconds. Facts and window are filled anew for each call: keep values, not the objects.

    Whatever is raised here ends the run. The same results on every machine need arithmetic that is
    the same on every machine: `exp`, `log` and `power` of this module are, those of `math` are not;
    and nothing may come from outside, such as the clock, `random` or the order of a set of texts.
    """

    phases: ClassVar[Literal["avoidance", "slow start", "all"]] = "avoidance"
    """Phases in which `on_ack` is called: outside slow start and recovery; in the algorithm's own
    slow start too, instead of the flow's; or in recovery as well."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Process an acknowledgement in one of the algorithm's phases.

        Standard TCP grows by `ack.credit / window.cwnd`: one segment per round trip.
        """

    def on_round(self, ack: Ack, window: Window) -> float | None:
        """Process the first acknowledgement of a round trip, in slow start too.

        A class without `on_ack` may return by how many segments the window is to grow in this round
        trip, outside slow start and recovery: each acknowledgement then adds its share, with no
        call to Python. `None` means not at all.
        """

    def observe(self, ack: Ack, window: Window) -> None:
        """Process every acknowledgement of new segments, in any phase, before `on_ack`.

        The window may only be looked at.
        """

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """React to a congestion signal, at most one per recovery epoch; halve the window."""
        window.reduce_to(event.base / 2)

    def on_timeout(self, event: Timeout, window: Window) -> None:
        """React to a retransmission timeout; by default half the window as ssthresh, one segment.

        RFC 5681 section 3.1.
        """
        if not event.keep_ssthresh:
            window.ssthresh = event.base / 2
        window.restart()

    def on_recovery_exit(self, now_s: float, window: Window) -> None:
        """React to the end of a recovery episode."""

    def on_idle(self, idle_s: float, window: Window) -> None:
        """React to a pause of `idle_s` seconds with nothing in flight."""

    def pacing_rate(self) -> float | None:
        """Return the pacing rate in bit/s on the wire; called before each segment.

        `None` means no pacing. In a flow with `tcp.pacing` it means the flow's own pacing rate: the
        window divided by the round-trip time, times the factor of `tcp.pacing`.
        """
        return None
