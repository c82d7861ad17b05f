"""Statistics of series over time: medians, crossings, steadiness and rates in boundary cases."""

import math
from math import isnan, nan

import numpy as np
import pytest

from longhaul.analysis import merit, statistics, steady
from longhaul.analysis.merit import Rates


def test_medians_leave_out_what_is_missing() -> None:
    """Check medians of rows with missing numbers.

    The median of two numbers is their mean; without numbers there is no median.
    """
    given = np.array([[4.0, 1.0, 2.0], [nan, 1.0, 4.0], [nan, nan, 7.0], [nan, nan, nan]])
    *known, none = statistics.medians(given).tolist()
    assert known == [2.0, 2.5, 7.0]
    assert isnan(none)
    assert statistics.median([1.0, 2.0, 3.0, 8.0]) == 2.5


@pytest.mark.parametrize(
    ("gaps", "at"),
    [
        ([1.0, 0.0], 2.0), ([0.0, -1.0], None), ([1.0, -1.0], 1.0), ([3.0, -1.0], 1.5),
        ([-1.0, 1.0], None), ([-1.0, 1.0, -1.0], 3.0), ([1.0, 1.0, -1.0, 1.0, -1.0], 3.0),
        ([1.0], None), ([], None),
    ],
)  # fmt: skip
def test_curves_cross_where_the_first_reaches_the_other_from_above(
    gaps: list[float], at: float | None
) -> None:
    """Check the x at which a curve first falls to a second curve.

    Points are two apart in x; `gaps` are the values of the first curve minus those of the second.
    """
    x = [2.0 * n for n in range(len(gaps))]
    assert statistics.crossing(x, [5.0 + gap for gap in gaps], [5.0] * len(gaps)) == at


def test_rank_correlations_are_along_the_last_axis() -> None:
    """Check rank correlations of x with each row of y.

    They are zero for constant rows, and missing for rows with NaN.
    """
    y = np.array([[1.0, 2.0, 9.0], [3.0, 2.0, 1.0], [4.0, 4.0, 4.0], [1.0, nan, 2.0]])
    *known, unknown = statistics.rank_correlations([1.0, 5.0, 6.0], y).tolist()
    assert known == [1.0, -1.0, 0.0]
    assert isnan(unknown)
    assert isnan(statistics.rank_correlation([1.0, nan, 2.0], [1.0, 2.0, 3.0]))
    assert statistics.rank_correlation([7, 7, 7], [1, 2, 3]) == 0.0


def test_deviations_have_length_one_unless_they_are_rounding() -> None:
    found = statistics.unit_deviations([[0.0, 2.0], [3.0, 3.0], [1.0, 1.0 + 1e-13]])
    assert found == pytest.approx(np.array([[-1, 1], [0, 0], [0, 0]]) / math.sqrt(2))
    across = statistics.unit_deviations([[0.0, 2.0], [4.0, 2.0]], axis=0)
    assert across == pytest.approx(np.array([[-1, 0], [1, 0]]) / math.sqrt(2))


def test_samples_are_drawn_with_replacement_from_the_items() -> None:
    """Check that bootstrap samples are drawn with replacement and depend on the seed."""
    first, other = (statistics.bootstrap_samples([5, 7], 40, seed) for seed in (1, 2))
    assert (len(first), {len(sample) for sample in first}) == (40, {2})
    assert {item for sample in first for item in sample} == {5, 7}
    assert [5, 5] in first
    assert first == statistics.bootstrap_samples([5, 7], 40) != other
    assert statistics.bootstrap_samples([], 3) == []


def test_the_percentile_interval_covers_ninety_five_percent_by_default() -> None:
    assert statistics.percentile_interval(list(range(201))) == pytest.approx((5.0, 195.0))


def test_a_period_has_its_end_and_not_its_beginning() -> None:
    """Check that a period includes a sample at its end, but none at its beginning.

    Sample times are multiples of an interval up to rounding.
    """
    times = np.arange(1, 7) * 0.1
    values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    found = steady.period_means(times, values, {"a": (0.1, 0.3), "b": (0.3, 0.6), "c": (0.6, 9.0)})
    assert [found["a"], found["b"]] == pytest.approx([3.0, 56 / 3])
    assert isnan(found["c"])


def test_a_lag_is_from_the_beginning_and_up_to_the_end() -> None:
    times, values = np.arange(1, 7) * 0.1, [0.0, 0.0, 5.0, 0.0, 5.0, 9.0]
    assert steady.lag(times, values, 0.0, 5.0) == pytest.approx(0.3)
    assert steady.lag(times, values, 0.3, 5.0) == 0.0
    assert steady.lag(times, values, 0.3, 6.0, end=0.6) == pytest.approx(0.3)
    assert steady.lag(times, values, 0.3, 6.0, end=0.5) is None
    assert steady.lag([], [], 0.0, 1.0) is None


def test_a_steady_mean_is_of_twenty_batches() -> None:
    """Check the mean of a steady series and its interval, by 20 batch means by default.

    Student's t is 2.093 with 19 degrees of freedom; the batch means of 0 to 39 run from 0.5 to
    38.5.
    """
    found = steady.steady_mean(range(40))
    assert (found.mean, found.count) == (19.5, 20)
    assert found.high - found.mean == pytest.approx(2.093 * 2 * math.sqrt(35 / 20), rel=1e-3)
    assert steady.steady_mean(range(40), batches=4).count == 4


def test_drift_is_of_as_many_batches_as_are_asked_for() -> None:
    """Check the rise of the line that `drift` fits to the means of batches of a series.

    The rise is from the first to the last batch. There are 20 batches unless `batches` is given.
    """
    assert steady.drift(range(1, 11), batches=5).change == pytest.approx(8.0)
    falling = steady.drift(range(100, 0, -1))
    assert (falling.change, falling.percent) == pytest.approx((-95.0, -9500 / 50.5))
    assert falling.p < 1e-9


def test_the_first_of_equal_cuts_is_taken() -> None:
    """Check that the shortest of several equally good warm-up periods is discarded.

    In a constant series all periods are equally good, so nothing is discarded.
    """
    assert steady.warm_up([2.0] * 40) == 0
    assert steady.warm_up([9.0] * 2 + [2.0] * 6, batch=2) == 2
    # Samples that do not fill a whole last batch are left out.
    assert steady.warm_up([9.0] * 5 + [1.0] * 15 + [50.0] * 4) == 5


@pytest.mark.parametrize("alone", [1.0, -1.0])
def test_harm_without_a_denominator_is_not_a_number(alone: float) -> None:
    assert isnan(merit.harm(0.0, alone, more_is_better=True))
    assert isnan(merit.harm(alone, 0.0, more_is_better=False))
    assert merit.harm(0.4, 0.1, more_is_better=False) == pytest.approx(-3.0)


def rates(*rows: list[float], first: float = 1.0) -> Rates:
    """Return rates of flows in one row per second, from the time `first` on."""
    return Rates(first + np.arange(len(rows), dtype=float), np.array(rows))


def test_a_window_is_of_whole_sampling_intervals() -> None:
    """Check that a window is rounded up to whole sampling intervals.

    With samples every 0.2 s, a window of 0.4 s has two intervals, one of 0.41 s three.
    """
    times = np.arange(6) * 0.2
    delivered = np.arange(6.0)[:, None] ** 2
    for window_s, steps in ((0.4, 2), (0.41, 3), (0.2, 1), (0.01, 1), (1.0, 5)):
        found = merit.rates(times, delivered, [0.0], window_s)
        assert found.times == pytest.approx(times[steps:])
        expected = (delivered[steps:] - delivered[:-steps]) / (steps * 0.2)
        assert found.values == pytest.approx(expected)
    assert merit.rates(times, delivered, [0.0], 1.01).values.shape == (0, 1)
    assert merit.rates([0.0], [[1.0, 2.0]], [0.0, 0.0], 1.0).values.shape == (0, 2)


def test_a_flow_has_rates_in_windows_in_which_it_is_active_throughout() -> None:
    """Check that a flow has rates only in windows in which it is active from begin to end.

    A flow from 1 s to 3 s is active in the windows that end at 2 s and 3 s.
    """
    times, delivered = np.arange(5.0), np.arange(5.0)[:, None] * [1.0, 3.0]
    found = merit.rates(times, delivered, [1.0, 0.0], 1.0, [3.0, np.inf])
    assert np.isfinite(found.values[:, 0]).tolist() == [False, True, True, False]
    assert found.fair.tolist() == [3.0, 2.0, 2.0, 3.0]
    nobody = rates([nan, nan])
    assert nobody.fair.tolist() == [0.0]


def test_shares_at_the_edge_of_the_band_have_converged_once_ten_windows_have_passed() -> None:
    """Check that rates have converged once they were in the band for ten windows.

    The ends of the band belong to it. The fair share is 2; the rates 1 and 3 deviate from it by
    half, which is the largest deviation allowed.
    """
    given = rates([4.0, 0.0], *[[1.0, 3.0]] * 11)
    assert merit.convergence_time(given, 0.0, 1.0, 0.5) == 2.0
    assert merit.convergence_time(given, 0.0, 1.0, 0.49) is None
    assert merit.convergence_time(rates([4.0, 0.0], *[[1.0, 3.0]] * 10), 0.0, 1.0, 0.5) is None
    assert merit.convergence_time(Rates(np.empty(0), np.empty((0, 2))), 0.0, 1.0, 0.5) is None
    # A flow that leaves the band has to start its ten windows again.
    again = rates(*[[2.0, 2.0]] * 5, [4.0, 0.0], *[[2.0, 2.0]] * 11)
    assert merit.convergence_time(again, 0.5, 1.0, 0.1) == 6.5


def test_convergence_begins_with_the_first_whole_window() -> None:
    """Check that convergence lasts at least one window after a flow has joined.

    With windows of 2 s, a flow that joins at 3 s has its first rate at 5 s.
    """
    given = rates(*[[2.0, 2.0]] * 40)
    assert merit.convergence_time(given, 3.0, 2.0, 0.1) == 2.0
    assert merit.convergence_time(given, 3.0, 1.0, 0.1) == 1.0


def test_a_ratio_of_ten_is_not_starvation_and_one_above_is() -> None:
    """Check that flows starve if the ratio of their rates exceeds ten.

    The ratio has to exceed ten in the whole last half of the run (Arun et al. 2022).
    """
    for other, starves in ((10.0, False), (10.1, True)):
        found = merit.starvation(rates(*[[1.0, other]] * 5), 1.0)
        assert found is not None
        assert (found.ratio, found.starves) == (other, starves)
    # The flows are equal at one time of the last half; the first half does not count.
    found = merit.starvation(rates(*[[1.0, 50.0]] * 3, [1.0, 1.0], [1.0, 20.0]), 1.0)
    assert found is not None
    assert (found.ratio, found.starves) == (50.0, False)
    early = merit.starvation(rates(*[[1.0, 50.0]] * 2, *[[1.0, 1.0]] * 3), 1.0)
    assert early is not None
    assert early.ratio == 1.0


@pytest.mark.parametrize(("seconds", "starves"), [(9, False), (10, True)])
def test_a_flow_below_a_twentieth_of_its_share_for_ten_seconds_starves(
    seconds: int, starves: bool
) -> None:
    low, fair = [[0.0, 2.0]] * seconds, [[1.0, 1.0]]
    found = merit.starvation(rates(*fair * 40, *fair * 5, *low, *fair * 10), 1.0)
    assert found is not None
    assert found.starves is starves
    twice = merit.starvation(rates(*fair * 40, *low, *fair, *[[0.0, 2.0]] * 5, *fair * 5), 1.0)
    assert twice is not None
    assert twice.starves is starves


def test_flows_without_any_rate_do_not_starve() -> None:
    """Check that flows do not starve if all rates are 0.

    The largest rate divided by the smallest is then given as 1, and a flow's smallest fraction of
    its fair share as 0.
    """
    found = merit.starvation(rates(*[[0.0, 0.0]] * 30), 1.0)
    assert found == merit.Starvation(1.0, False, 0.0)
    assert merit.starvation(rates([1.0, 3.0]), 1.0) == merit.Starvation(3.0, False, 0.5)
    assert merit.starvation(rates([nan, 3.0]), 1.0) is None


def test_smoothness_is_of_flows_that_send() -> None:
    """Check smoothness: a flow's deviation of rates divided by its mean (RFC 5166, section 2.2.2).

    Rates of 1 and 3 have a mean of 2 and a deviation of 1; flows without rates have no smoothness.
    """
    found = merit.smoothness(rates([1.0, 0.0, nan], [3.0, 0.0, nan], [nan, nan, nan]))
    assert found[0] == 0.5
    assert np.isnan(found[1:]).all()


def test_reductions_one_round_trip_apart_are_of_one_event() -> None:
    """Check the fraction of active flows that reduce in an event.

    Reductions up to one round trip apart belong to one event. Flows are active from start to end,
    both included; a flow that starts during the event counts only if it reduces.
    """
    parts = merit.synchronisation([0.0, 1.0, 2.5], ["a", "b", "a"], [0.0, 0.0], [9.0, 2.5], 1.0)
    assert parts.tolist() == [1.0, 0.5]
    late = merit.synchronisation([1.0, 1.5, 1.5], ["a", "b", "c"], [0.0, 1.0, 1.4], [9.0] * 3, 1.0)
    assert late.tolist() == [1.0]
    assert merit.synchronisation([1.0], ["a"], [0.0, 1.1], [9.0] * 2, 1.0).size == 0
    assert merit.synchronisation([3.0], ["a"], [0.0, 0.0], [9.0, 2.9], 1.0).size == 0


def test_an_ellipse_has_its_longer_axis_first() -> None:
    """Check an ellipse's half-axes, the longer first: they are the points' standard deviations."""
    # The variances are 18/3 along x and 2/3 along y.
    found = merit.ellipse([(3.0, 5.0), (-3.0, 5.0), (0.0, 6.0), (0.0, 4.0)])
    assert found.mean == (0.0, 5.0)
    assert found.half_axes == pytest.approx((math.sqrt(6), math.sqrt(2 / 3)))
    assert abs(math.sin(found.angle)) == pytest.approx(0.0)
    x, y = found.outline()
    assert (len(x), np.ptp(x), np.ptp(y)) == (
        73, pytest.approx(2 * math.sqrt(6)), pytest.approx(2 * math.sqrt(2 / 3))
    )  # fmt: skip
    assert (x[0], y[0]) == pytest.approx((x[-1], y[-1]))


def test_ranks_are_counted_from_one_and_doubled() -> None:
    """Check ranks, which begin at 1 and are doubled to make mean ranks of ties integers.

    The mean ranks of 5, 5 and 9 are 1.5, 1.5 and 3.
    """
    assert statistics._ranks([5.0, 5.0, 9.0]).tolist() == [3.0, 3.0, 6.0]
