"""Arrivals at a link of 10 Mbit/s: five patterns of a million packets each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.uint64]
"""One row per packet: arrival (ns), bytes, flow, and 1 for ECN-capable packets (else 0)."""

PACKETS = 1_000_000
LINK_BPS = 10e6


def _rows(
    times_s: npt.ArrayLike, bytes_: npt.ArrayLike, flows: npt.ArrayLike, capable: npt.ArrayLike
) -> Rows:
    times = (np.asarray(times_s) * 1e9).astype(np.uint64)
    order = np.argsort(times, kind="stable")
    columns = [
        times,
        *(np.broadcast_to(column, times.shape) for column in (bytes_, flows, capable)),
    ]
    return np.stack(columns, axis=1).astype(np.uint64)[order][:PACKETS]


def overload(_: np.random.Generator) -> Rows:
    """Return datagrams of 1500 bytes of one flow, evenly spaced at 11 Mbit/s."""
    return _rows(np.arange(PACKETS) * 1500 * 8 / 11e6, 1500, 1, 0)


def poisson(rng: np.random.Generator) -> Rows:
    """Return arrivals of a Poisson process at 97 % of the link's rate.

    The packets belong to 40 flows, half of which are ECN-capable.
    """
    sizes = rng.choice([60, 576, 1500], PACKETS, p=[0.3, 0.2, 0.5])
    rate = 0.97 * LINK_BPS / 8 / np.mean(sizes)
    flows = rng.integers(0, 40, PACKETS)
    return _rows(np.cumsum(rng.exponential(1 / rate, PACKETS)), sizes, flows, flows % 2)


def bursts(rng: np.random.Generator) -> Rows:
    """Return bursts of 1 to 300 packets at 100 Mbit/s, with a mean load of 90 % of the link.

    Each burst belongs to one of eight flows. Packets have 1500 bytes.
    """
    lengths = rng.integers(1, 301, PACKETS // 100)
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    within = np.arange(len(numbers)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    packet_s = 1500 * 8 / LINK_BPS
    begins = np.cumsum(rng.exponential(np.mean(lengths) * packet_s / 0.9, len(lengths)))
    flows = rng.integers(0, 8, len(lengths))[numbers]
    return _rows(begins[numbers] + within * packet_s / 10, 1500, flows, flows % 2)


def waves(rng: np.random.Generator) -> Rows:
    """Return packets of 20 flows whose load swings between 68 and 135 % of the link every 10 s.

    Packets have 1400 or 1500 bytes. Each gap between arrivals is varied at random by up to 50 %.
    """
    packet_s = 1500 * 8 / LINK_BPS
    steps = np.arange(PACKETS) * packet_s
    gaps = packet_s / (1.05 + 0.35 * np.sin(2 * np.pi * steps / 10))
    times = np.cumsum(gaps * rng.uniform(0.5, 1.5, PACKETS))
    flows = rng.integers(0, 20, PACKETS)
    return _rows(times, rng.choice([1500, 1400], PACKETS), flows, flows % 2)


def sparse(rng: np.random.Generator) -> Rows:
    """Return packets of 200 slow flows, and of two flows that send 4 and 6 Mbit/s.

    A slow flow sends 200 bytes every 100 ms. The packets of the two fast flows have 1500 bytes.
    """
    seconds = 420
    small = [
        (np.arange(10 * seconds) + rng.uniform(0, 1)) / 10 + rng.uniform(0, 0.02, 10 * seconds)
        for _ in range(200)
    ]
    bulk = [np.arange(0, seconds, 1500 * 8 / rate) for rate in (4e6, 6e6)]
    times = [*bulk, *small]
    flows = np.concatenate([np.full(len(part), flow) for flow, part in enumerate(times)])
    return _rows(np.concatenate(times), np.where(flows < 2, 1500, 200), flows, flows % 2)


PATTERNS: dict[str, Callable[[np.random.Generator], Rows]] = {
    "overload": overload,
    "poisson": poisson,
    "bursts": bursts,
    "waves": waves,
    "sparse": sparse,
}
