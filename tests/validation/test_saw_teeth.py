"""Measurement of window sawteeth, as used in the comparison with ns-2."""

from __future__ import annotations

import pytest

from validation.ns2.cases import Case
from validation.ns2.sawtooth import measure


def case(module: str) -> Case:
    """Return a case of one flow of the Linux module `module`, measured from 10 s on."""
    return Case("teeth", 10.0, (f"flow={module},1,0,0,0,0,1",), (1,))


def test_teeth_between_reductions_are_measured() -> None:
    # The window grows by a segment per second; reductions at 5, 15, 25 and 35 s halve 20 segments.
    cuts = [5.0, 15.0, 25.0, 35.0]
    times = [float(second) + 0.5 for second in range(40)]
    cwnd = [10.0 + (time - 5.0) % 10.0 for time in times]
    teeth = measure(case("linux:reno"), times, cwnd, cuts)
    assert teeth is not None
    assert teeth.cuts == 3
    assert teeth.period_s == pytest.approx(10.0)
    assert teeth.peak_pkts == pytest.approx(19.5)
    assert teeth.trough_pkts == pytest.approx(10.5)


def test_one_reduction_makes_no_tooth() -> None:
    teeth = measure(case("linux:reno"), [0.0, 20.0], [1.0, 2.0], [15.0])
    assert teeth is not None
    assert (teeth.cuts, teeth.period_s) == (1, None)


def test_other_agents_are_compared_event_by_event() -> None:
    assert measure(case("sack"), [0.0, 20.0], [1.0, 2.0], [15.0]) is None
