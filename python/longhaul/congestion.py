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

A scenario names the file, the class, and the constructor's arguments:

    congestion = { python = "aimd.py:Aimd", increase = 2 }

`docs/python-algorithms.md` has the details.
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
    """Base class of algorithms in Python; each flow has its own object.

    A class must define `on_ack` or `on_round`. Only methods that a class defines are called. Thus
    an algorithm that only defines `on_round` costs one call per round trip instead of one per
    acknowledgement.

    The transport detects congestion and recovers losses. The flow's slow start opens the window up
    to `ssthresh`. Methods get an event and the window. Windows are in segments, times in seconds.
    Event and window objects are used again for the next call, so an algorithm must keep values and
    not the objects.

    An exception in a method ends the run. For equal results on every machine, use `exp`, `log` and
    `power` of this module instead of those of `math`, which depend on the platform. For the same
    reason, use no external input such as the clock, `random` or the order of a set of strings.
    """

    phases: ClassVar[Literal["avoidance", "slow start", "all"]] = "avoidance"
    """Phases in which `on_ack` is called.

    `avoidance`: outside slow start and recovery. `slow start`: also in slow start, which the
    algorithm then controls instead of the flow's slow start. In both cases, `on_ack` is called only
    for acknowledgements that may enlarge the window (`Ack.may_grow`). `all`: also for others, and
    in recovery.
    """

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Process an acknowledgement; called only in the phases that `phases` selects.

        Standard TCP adds `ack.credit / window.cwnd` each time: one segment per round trip.
        """

    def on_round(self, ack: Ack, window: Window) -> float | None:
        """Process the first acknowledgement of a round trip in any phase, and that of the SYN.

        A class without `on_ack` may return by how many segments the window grows in this round trip
        of congestion avoidance. Each acknowledgement then adds its share without a call to Python.
        `None` means no growth.
        """

    def observe(self, ack: Ack, window: Window) -> None:
        """Process every acknowledgement of new segments, also in slow start and recovery.

        `observe` is called before `on_ack`, and must not change the window. With `phases = "all"`,
        it is not called.
        """

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """React to a congestion signal, at most once per recovery epoch.

        Default: halve the window.
        """
        window.reduce_to(event.base / 2)

    def on_timeout(self, event: Timeout, window: Window) -> None:
        """React to a retransmission timeout (RFC 5681 section 3.1).

        By default, ssthresh becomes half of the window unless `event.keep_ssthresh` is true, and
        cwnd becomes 1 segment.
        """
        if not event.keep_ssthresh:
            window.ssthresh = event.base / 2
        window.restart()

    def on_recovery_exit(self, now_s: float, window: Window) -> None:
        """React to the end of a recovery episode, also after a timeout."""

    def on_idle(self, idle_s: float, window: Window) -> None:
        """React to the end of a pause of `idle_s` seconds with nothing in flight."""

    def pacing_rate(self) -> float | None:
        """Return the pacing rate in bit/s on the wire; called whenever segments could leave.

        `None` means the pacing rate of the flow if it has `tcp.pacing`: the window divided by the
        round-trip time, times the factor of `tcp.pacing`. Without `tcp.pacing`, `None` means no
        pacing.
        """
        return None
