"""HighSpeed TCP (RFC 3649) in Python, with exactly the windows of the built-in `hstcp`."""

from longhaul.congestion import Ack, Congestion, CongestionControl, Tabulated, Window, exp, log


class Curves:
    """Increase and decrease of RFC 3649 section 5, for windows above `low_window`."""

    def __init__(
        self,
        low_window: float = 38,
        high_window: float = 83000,
        high_p: float = 1e-7,
        high_decrease: float = 0.1,
    ) -> None:
        self.low_window = low_window
        # Other low windows keep the RFC's ratio to standard TCP's 1 / sqrt(p).
        self.low_p = 1e-3 * (38 / low_window) * (38 / low_window)
        self.min_decrease = min(high_decrease, 0.01)
        width = log(high_window / low_window)
        # Both curves are lines in the logarithm of the window: ln p, and b itself.
        self.loss_slope = log(high_p / self.low_p) / width
        self.decrease_slope = (high_decrease - 0.5) / width

    def line(self, w: float) -> float:
        """Return `b(w)` above `low_window`; it falls linearly with the logarithm of `w`."""
        return max(0.5 + self.decrease_slope * log(w / self.low_window), self.min_decrease)

    def decrease(self, w: float) -> float:
        """Return `b(w)`, the part of the window that a congestion signal removes."""
        return 0.5 if w <= self.low_window else self.line(w)

    def increase(self, w: float) -> float:
        """Return `a(w) = w^2 p 2 b / (2 - b)` above `low_window`, in segments per round trip."""
        b = self.line(w)
        p = self.low_p * exp(self.loss_slope * log(w / self.low_window))
        return w * w * p * 2 * b / (2 - b)

    def tabulated(self) -> Tabulated:
        """Return `a(w)` as a table, for windows from `low_window` until `b(w)` reaches 0.01."""
        x = (max(self.min_decrease, 0.01) - 0.5) / self.decrease_slope
        end = max(min(self.low_window * exp(x), 4e6), self.low_window)
        return Tabulated(self.increase, self.low_window, end)


class Hstcp(CongestionControl):
    """HSTCP that looks up the increase `a(w)` in a table at each acknowledgement."""

    def __init__(self, low_window: float = 38, high_decrease: float = 0.1) -> None:
        self.low_window = low_window
        self.curves = Curves(low_window, high_decrease=high_decrease)
        self.table = self.curves.tabulated()

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Grow by this acknowledgement's share of `a(w)`, but at least by standard TCP's."""
        cwnd = window.cwnd
        a = 1.0 if cwnd <= self.low_window else max(self.table(cwnd), 1.0)
        window.grow(a * ack.credit / cwnd)

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Reduce the window by the fraction `b(w)`."""
        window.reduce_to(event.base * (1 - self.curves.decrease(event.base)))


class HstcpPerRound(CongestionControl):
    """HSTCP that computes the increase once per round trip: nearly the same windows, but faster."""

    def __init__(self, low_window: float = 38, high_decrease: float = 0.1) -> None:
        self.curves = Curves(low_window, high_decrease=high_decrease)

    def on_round(self, ack: Ack, window: Window) -> float:
        """Return `a(w)` for the round trip."""
        if window.cwnd <= self.curves.low_window:
            return 1.0
        return max(self.curves.increase(window.cwnd), 1.0)

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Reduce the window by the fraction `b(w)`."""
        window.reduce_to(event.base * (1 - self.curves.decrease(event.base)))
