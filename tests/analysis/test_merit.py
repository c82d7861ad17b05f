"""Figures of merit, such as convergence time and starvation, against known answers."""

import numpy as np
import pytest

from longhaul.analysis import merit


def test_harm_is_the_part_that_is_lost() -> None:
    assert merit.harm(8.0, 2.0, more_is_better=True) == 0.75
    assert merit.harm(8.0, 10.0, more_is_better=True) == -0.25
    # The delay doubles.
    assert merit.harm(0.1, 0.2, more_is_better=False) == pytest.approx(0.5)


def _delivered(rate_of_first: np.ndarray, every_s: float) -> np.ndarray:
    """Return the delivered bytes of two flows, sampled every `every_s`.

    The first flow has the rate `rate_of_first`, and both together have 2 bytes/s.
    """
    return np.cumsum(np.stack([rate_of_first, 2 - rate_of_first], axis=1), axis=0) * every_s


def test_imbalance_that_decays_converges_when_its_mean_is_in_the_band() -> None:
    """Check the convergence time of a decaying imbalance against the exact time.

    The first flow's rate is 1 + exp(-t/10), averaged over a window of one second.
    """
    times = np.arange(0, 100, 0.1)
    delivered = _delivered(1 + np.exp(-times / 10), 0.1)
    rates = merit.rates(times, delivered, [0.0, 0.0], 1.0)
    found = merit.convergence_time(rates, 0.0, 1.0, 0.1)
    # exp(-t/10) averaged over the second before t is 0.1 at t = 10 ln(10.508).
    assert found == pytest.approx(10 * np.log(10 * (np.exp(0.1) - 1) * 10), abs=0.15)
    assert merit.convergence_time(rates, 0.0, 1.0, 1e-6) is None


def test_flows_that_swing_do_not_converge_though_their_means_are_equal() -> None:
    times = np.arange(0, 100, 0.1)
    delivered = _delivered(1 + 0.5 * np.sin(times), 0.1)
    rates = merit.rates(times, delivered, [0.0, 0.0], 1.0)
    assert merit.convergence_time(rates, 0.0, 1.0, 0.2) is None
    assert merit.smoothness(rates)[0] == pytest.approx(0.5 / np.sqrt(2), rel=0.06)


def test_time_counts_from_the_newcomer() -> None:
    times = np.arange(0, 60, 0.5)
    alone = np.where(times < 20, 2.0, 1.0)
    delivered = _delivered(alone, 0.5)
    rates = merit.rates(times, delivered, [0.0, 20.0], 1.0)
    # The newcomer's first complete window ends at 21 s.
    assert merit.convergence_time(rates, 20.0, 1.0, 0.1) == pytest.approx(1.5, abs=0.51)


def test_one_tenth_of_the_other_is_starvation_and_a_third_is_not() -> None:
    times = np.arange(0, 100, 0.5)
    for part, starves in ((2 / 30, True), (0.5, False)):
        delivered = _delivered(np.full(len(times), part), 0.5)
        found = merit.starvation(merit.rates(times, delivered, [0.0, 0.0], 5.0), 0.5)
        assert found is not None
        assert found.starves is starves
        assert found.ratio == pytest.approx((2 - part) / part)
        assert found.least_share == pytest.approx(part)


def test_a_pause_of_ten_seconds_is_starvation() -> None:
    times = np.arange(0, 100, 0.5)
    pausing = np.where((times > 70) & (times < 90), 0.0, 1.0)
    delivered = _delivered(pausing, 0.5)
    found = merit.starvation(merit.rates(times, delivered, [0.0, 0.0], 5.0), 0.5)
    assert found is not None
    assert found.starves
    assert found.ratio == float("inf")
    alone = merit.rates(times, delivered[:, :1], [0.0], 5.0)
    assert merit.starvation(alone, 0.5) is None


def test_reductions_within_a_round_trip_are_one_event() -> None:
    times = [1.0, 1.05, 1.06, 5.0, 9.0, 9.02]
    flows = ["a", "b", "a", "b", "a", "c"]
    # A fourth flow never reduces; the first two end before the last event.
    starts, ends = [0.0] * 4, [9.0, 8.0, np.inf, np.inf]
    parts = merit.synchronisation(times, flows, starts, ends, gap_s=0.1)
    assert parts == pytest.approx([0.5, 0.25, 2 / 3])
    assert merit.synchronisation([], [], starts, ends, 0.1).size == 0
    assert merit.synchronisation([1.0], ["a"], [0.0, 2.0], [np.inf] * 2, 0.1).size == 0


def test_what_has_ended_neither_starves_nor_keeps_others_from_converging() -> None:
    times = np.arange(0, 60, 0.5)
    delivered = _delivered(np.where(times <= 20, 1.0, 0.0), 0.5)
    rates = merit.rates(times, delivered, [0.0, 0.0], 5.0, [20.0, np.inf])
    assert merit.convergence_time(rates, 0.0, 1.0, 0.1) == pytest.approx(5.0)
    assert merit.starvation(rates, 0.5) is None
    assert merit.smoothness(rates)[0] == pytest.approx(0.0)
    # The first flow had 19 times the rate of the other until it ended at 50 s.
    delivered = _delivered(np.where(times <= 50, 1.9, 0.0), 0.5)
    found = merit.starvation(merit.rates(times, delivered, [0.0, 0.0], 5.0, [50.0, np.inf]), 0.5)
    assert found is not None
    assert found.ratio == pytest.approx(19)
    assert found.starves
    assert found.least_share == pytest.approx(0.1)


def test_windows_that_are_longer_than_the_run_have_no_rates(
    recwarn: pytest.WarningsRecorder,
) -> None:
    rates = merit.rates([0.0, 1.0, 2.0], np.ones((3, 2)), [0.0, 1.5], 1.0)
    assert np.isnan(merit.smoothness(rates)[1])
    assert merit.starvation(rates, 1.0) is None
    assert not recwarn


def test_the_ellipse_of_points_along_a_line_has_one_axis() -> None:
    points = [(x, 2 * x) for x in (0.0, 1.0, 2.0)]
    found = merit.ellipse(points)
    assert found.mean == (1.0, 2.0)
    assert found.half_axes[0] == pytest.approx(np.sqrt(5))
    assert found.half_axes[1] == pytest.approx(0.0, abs=1e-7)
    assert np.tan(found.angle) == pytest.approx(2.0)


def test_the_outline_of_an_ellipse_is_one_standard_deviation_away() -> None:
    """Check that all points of an ellipse's outline are one standard deviation from the mean.

    The distance is Mahalanobis', in which the ellipse is a circle of radius 1.
    """
    points = np.random.default_rng(1).multivariate_normal([3, -2], [[4, 1.5], [1.5, 1]], 50)
    around = np.stack(merit.ellipse([(x, y) for x, y in points]).outline(), axis=1)
    away = around - points.mean(axis=0)
    distances = np.einsum("ij,jk,ik->i", away, np.linalg.inv(np.cov(points.T)), away)
    assert distances == pytest.approx(1.0)


def test_losses_lie_in_time() -> None:
    """Check the mean time between losses and the mean number of packets per loss.

    2, 1 and 3 packets are lost at 1, 3 and 4 s: the means are 1.5 s and 2 packets.
    """
    times = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert merit.losses(times, [7, 9, 9, 10, 13, 13]) == (1.5, 2.0)
    assert merit.losses(times, [0, 0, 4, 4, 4, 4]) == (None, 4.0)
    assert merit.losses(times, [5] * 6) == (None, None)
