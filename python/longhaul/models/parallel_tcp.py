"""Models of parallel TCP: one transfer over N standard connections and one bottleneck.

Three models of "High-Speed Transport-Layer Protocols for Fast Long-Distance Networks" (Osaka
University, 2006), chapter 5, with its equation numbers: drop-tail with synchronised losses (a lower
bound), drop-tail with losses spread evenly over time (an upper bound), and RED at its equilibrium.
Every connection has the same round-trip time and maximum window. Windows, buffers and queues are in
packets; throughput and goodput are fractions of the link's rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, erfc, exp, floor, inf, log, sqrt

from longhaul.models.response import path_window, root

LEAST_LOSS = 1e-12


@dataclass(frozen=True)
class Path:
    """The path that N connections share.

    `rtt_s` is the round-trip time of the empty path. A timeout lasts `timeout_rtts` round trips: of
    the empty path if all connections lose packets at once, otherwise with the queueing delay. A
    receiver acknowledges every packet, or every second one.
    """

    rate_bps: float
    rtt_s: float
    packet_bytes: float = 1500.0
    window_bytes: float = 65_536.0
    timeout_rtts: float = 5.0
    packets_per_ack: int = 1

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product of the path in packets, `D`."""
        return path_window(self.rate_bps, self.rtt_s, self.packet_bytes)

    @property
    def max_window(self) -> float:
        """Maximum window of one connection in packets, `W_max`; not rounded to whole packets."""
        return self.window_bytes / self.packet_bytes


@dataclass(frozen=True)
class Point:
    """Loss rate and throughput of N connections."""

    connections: int
    loss: float
    """Dropped packets, as a fraction of the packets sent."""
    throughput: float
    """Packets that pass the link, as a fraction of its rate."""

    @property
    def goodput(self) -> float:
        """Throughput minus the dropped packets, as a fraction of the link's rate (5.1)."""
        return self.throughput * (1.0 - self.loss)


def synchronised(path: Path, buffer: float, connections: int, *, timeouts: bool = True) -> Point:
    """Return loss rate and throughput if all connections lose packets at once (5.2 to 5.7).

    `buffer` is the longest queue in packets. Without `timeouts`, losses cause no timeouts (5.4).

    Raises:
        ValueError: Losses occur, with more connections than `most_synchronised` returns.

    """
    if (lossless := _lossless(path, buffer, connections)) is not None:
        return lossless
    if connections > most_synchronised(path, buffer):
        raise ValueError(f"{connections} connections: the loss rate is 1 or more")
    n, d, full = float(connections), path.bdp, buffer + path.bdp
    # The sum of windows is a sawtooth between `full / 2` and `full`. A round trip takes rtt_s while
    # the sum is below the BDP, and the link then has room for more packets; a sum above the BDP
    # fills the link.
    packets = 3.0 * full * (full + 2.0 * n) / (8.0 * n)
    short = max(0.0, d - buffer)
    room = packets + short * (short + 2.0 * n) / (8.0 * n)
    p = n / packets
    if timeouts:
        share = timeout_share(p, full / n)
        packets += n * share / (1.0 - p)
        room += share * _timeout_rounds(path, p) * d
    return Point(connections, p, packets / room)


def most_synchronised(path: Path, buffer: float) -> int:
    """Return the largest number of connections with a loss rate below 1 in `synchronised`.

    It is about 1.1 per packet of BDP plus `buffer`.
    """
    return ceil((3.0 + sqrt(33.0)) / 8.0 * (buffer + path.bdp)) - 1


def timeout_share(p: float, window: float) -> float:
    """Return the probability that a loss leads to a timeout (Padhye et al.)."""
    if window <= 3.0:
        return 1.0
    kept = (1.0 - p) ** 3
    first: float = (1.0 - kept) * (1.0 + kept * (1.0 - (1.0 - p) ** (window - 3.0)))
    ends: float = first / (1.0 - (1.0 - p) ** window)
    return min(1.0, ends)


def _timeout_rounds(path: Path, p: float) -> float:
    """Return the duration of a sequence of timeouts in round trips (Padhye et al.)."""
    backoff = p + sum(2.0 ** (k - 1) * p**k for k in range(2, 7))
    return path.timeout_rtts * (1.0 + backoff) / (1.0 - p)


def mean_window(path: Path, p: float) -> float:
    """Return the mean window of one connection in packets, at loss rate `p` (equation 5.8).

    It is the throughput per round trip in the approximation of Padhye et al., with timeouts and
    without a maximum window.
    """
    b = path.packets_per_ack
    timeouts = min(1.0, 3.0 * sqrt(3.0 * b * p / 8.0)) * p * (1.0 + 32.0 * p * p)
    return 1.0 / (sqrt(2.0 * b * p / 3.0) + path.timeout_rtts * timeouts)


def desynchronised(path: Path, buffer: float, connections: int) -> Point:
    """Return loss rate and throughput with losses spread over time: equations (5.8) to (5.13).

    The sum of the windows is then normally distributed. Packets are lost while it exceeds BDP plus
    `buffer` (packets). The queue is never negative, so the round-trip time is at least `rtt_s`.

    Raises:
        ValueError: The loss rate is not between `LEAST_LOSS` and 0.999.

    """
    if (lossless := _lossless(path, buffer, connections)) is not None:
        return lossless

    def excess(log_p: float) -> float:
        p = exp(log_p)
        window = mean_window(path, p)
        deviation = sqrt(connections / 27.0) * window
        room = (buffer + path.bdp - connections * window) / deviation
        return p - 0.5 * erfc(room / sqrt(2.0))

    p = exp(root(excess, log(LEAST_LOSS), log(0.999)))
    return Point(connections, p, min(connections * mean_window(path, p) / path.bdp, 1.0))


def _lossless(path: Path, buffer: float, connections: int) -> Point | None:
    """Return loss-free throughput (equations 5.6, 5.7); None if windows exceed BDP plus buffer."""
    windows = connections * path.max_window
    if windows > buffer + path.bdp:
        return None
    return Point(connections, 0.0, min(windows / path.bdp, 1.0))


@dataclass(frozen=True)
class Band:
    """Range of the numbers of connections that keep a link busy."""

    first: int
    last: int


def band(path: Path, buffer: float, utilisation: float = 0.95) -> Band | None:
    """Return the range of numbers of synchronised connections that reach a utilisation.

    The range begins where the connections' maximum windows add up to `utilisation` of the BDP.
    Return None if the range is empty. `buffer` is in packets.
    """
    first = ceil(utilisation * path.bdp / path.max_window)
    last = floor((buffer + path.bdp) / path.max_window)
    most = most_synchronised(path, buffer)
    while last < most and synchronised(path, buffer, last + 1).throughput >= utilisation:
        last += 1
    return Band(first, last) if first <= last else None


@dataclass(frozen=True)
class Red:
    """RED without gentle mode, whose drop rate depends on the average queue (equation 5.17)."""

    q_min: float = 5.0
    q_max: float = 15.0
    p_max: float = 0.1

    def drop(self, q: float) -> float:
        """Return the control law `H(q)`: the drop rate at an average queue of `q` packets."""
        if q < self.q_min:
            return 0.0
        if q >= self.q_max:
            return 1.0
        return self.p_max * (q - self.q_min) / (self.q_max - self.q_min)


@dataclass(frozen=True)
class Equilibrium:
    """Queue length and loss rate at which the windows exactly fill path and queue."""

    loss: float
    queue: float


def red_queue(path: Path, connections: int, p: float) -> float:
    """Return the queue length in packets at loss rate `p`: `G(p)` in equations 5.14 to 5.16.

    It is the sum of the connections' windows, minus lost packets, minus the BDP.
    """
    window = min(path.max_window, mean_window(path, p) if p > 0.0 else inf)
    return connections * window * (1.0 - p) - path.bdp


def red_equilibrium(path: Path, red: Red, connections: int) -> Equilibrium | None:
    """Return the equilibrium of N connections under RED; `None` if there is none.

    The average queue of an equilibrium is between `q_min` and `q_max`. The link is then busy, and
    only RED drops packets.
    """
    if red_queue(path, connections, 0.0) <= red.q_min:
        return None
    if red_queue(path, connections, red.p_max) >= red.q_max:
        return None

    def excess(p: float) -> float:
        return red.drop(red_queue(path, connections, p)) - p

    p = root(excess, 0.0, red.p_max, within=1e-16)
    return Equilibrium(p, red_queue(path, connections, p))


def red_connections(path: Path, red: Red) -> tuple[float, int]:
    """Return the bounds of the numbers of connections with an equilibrium under RED.

    There must be more connections than the first bound, which is not rounded: at the bound, maximum
    windows fill the queue just to `q_min`. The second bound is included. With more connections, the
    loss rate `p_max` does not keep the queue below `q_max`.
    """
    first = (path.bdp + red.q_min) / path.max_window
    window = min(path.max_window, mean_window(path, red.p_max))
    last = (path.bdp + red.q_max) / (window * (1.0 - red.p_max))
    return first, ceil(last) - 1
