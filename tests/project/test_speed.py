"""Comparisons of speed: all runs repeat side by side until each has been measured often enough."""

import pytest

from validation.speed.measure import Measurement, side_by_side


def test_runs_are_repeated_until_each_has_been_measured() -> None:
    short, long = Measurement(1, 0.5, 3.0), Measurement(10, 2.0, 7.0)
    first, second = side_by_side([lambda: short, lambda: long], 3)
    assert first.packets >= 3
    assert first.ns_per_pkt == 0.5e9
    assert second.packets >= 30
    assert second.peak_mb == 7.0


def test_an_error_ends_runs_that_would_wait_for_the_one_that_failed() -> None:
    def fail() -> Measurement:
        raise ValueError("no simulator")

    with pytest.raises(ValueError, match="no simulator"):
        side_by_side([lambda: Measurement(1, 1.0, 1.0), fail], 2)
