"""Estimate of a run's work from its unresolved scenario."""

from collections.abc import Mapping
from typing import Any

from longhaul._engine import LonghaulError, bits_per_second, seconds
from longhaul.results.kinds import PlannedRun

# Bits of a packet of 1500 bytes.
PACKET_BITS = 12_000.0


def expected_packets(run: PlannedRun) -> float:
    """Return the expected number of data packets: the duration times the rate of the slowest link.

    Links whose rate is not written in the scenario are ignored. Without any rate, one packet per
    second is assumed, and without a duration, one second.
    """
    scenario = run.scenario
    duration = _quantity(scenario.get("duration"), seconds) or 1.0
    rates = _rates(scenario.get("topology", {}))
    return duration * (min(rates, default=PACKET_BITS) / PACKET_BITS)


def _rates(part: Any) -> list[float]:  # noqa: ANN401
    """Return the rates of all links in a part of a scenario's topology, in bit/s."""
    if isinstance(part, Mapping):
        own = _quantity(part.get("rate"), bits_per_second)
        return [*([own] if own else []), *(r for v in part.values() for r in _rates(v))]
    if isinstance(part, list):
        return [rate for item in part for rate in _rates(item)]
    return []


def _quantity(text: Any, parse: Any) -> float | None:  # noqa: ANN401
    if not isinstance(text, str):
        return None
    try:
        return float(parse(text))
    except LonghaulError:
        return None
