"""Intervals, trends and crossings against hand-worked values."""

from math import inf, isnan, nan

import numpy as np
import pytest

from longhaul.analysis.fairness import bandwidth_stolen, relative_fairness
from longhaul.analysis.judging import decimals_of, half_a_unit
from longhaul.analysis.statistics import (
    bootstrap_samples,
    correlations,
    crossing,
    median,
    percentile_interval,
    rank_correlation,
)


def test_the_bootstrap_interval_of_a_mean_is_that_of_theory() -> None:
    # It approaches mean +- 1.96 s / sqrt(n), where s divides by n (Efron and Tibshirani, 13.4).
    values = list(range(100))
    samples = bootstrap_samples(values, 2000)
    assert {len(sample) for sample in samples} == {100}
    low, high = percentile_interval([sum(sample) / 100 for sample in samples])
    half = 1.96 * 28.866 / 10
    assert (low, high) == pytest.approx((49.5 - half, 49.5 + half), abs=0.6)
    assert samples == bootstrap_samples(values, 2000)


def test_percentiles_leave_out_equal_parts() -> None:
    assert percentile_interval(list(range(101)), coverage=0.9) == pytest.approx((5.0, 95.0))
    assert bootstrap_samples([4], 10) == []


@pytest.mark.parametrize(
    ("values", "interval"),
    [
        ([1.0] * 60 + [inf] * 40, (1.0, inf)), ([inf] * 100, (inf, inf)),
        # The ends are between the third and the fourth value from either side.
        ([-inf] * 3 + [1.0] * 94 + [inf] * 3, (-inf, inf)),
        ([-inf] * 97 + [2.0] * 3, (-inf, 2.0)), ([2.0] * 3 + [inf] * 97, (2.0, inf)),
    ],
)  # fmt: skip
def test_percentiles_between_infinite_values_are_the_outer_ones(
    values: list[float], interval: tuple[float, float]
) -> None:
    assert percentile_interval(values) == interval


def test_medians() -> None:
    assert median([4.0, 1.0, 2.0]) == 2.0
    assert isnan(median([]))


def test_what_is_constant_but_for_rounding_correlates_with_nothing() -> None:
    y = [[1.0, 2.0, 4.0], [0.7] * 3, [1.0, nan, 2.0]]
    falling, constant, unknown = correlations([0.3, 0.2, 0.1], y)
    assert falling == pytest.approx(np.corrcoef([3, 2, 1], y[0])[0, 1])
    assert constant == 0.0
    assert isnan(unknown)
    assert correlations([0.1] * 3, y[:2]).tolist() == [0.0, 0.0]


def test_rank_correlation_knows_order_only() -> None:
    assert rank_correlation([1, 2, 6, 40], [1e-6, 2e-6, 1e-3, 1.0]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2, 3], [5, 5, 5]) == 0.0
    # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
    assert rank_correlation([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)
    # Ties share their mean rank: Pearson's coefficient of (1, 2, 3) and (1.5, 1.5, 3).
    assert rank_correlation([1, 2, 3], [1, 1, 2]) == pytest.approx(0.8660254)
    # And of (1, 2, 3, 4, 5) and (1.5, 1.5, 3, 4.5, 4.5): 9 / sqrt(10 * 9).
    assert rank_correlation([1, 2, 3, 4, 5], [1, 1, 2, 3, 3]) == pytest.approx(0.9486833)


def test_a_crossing_is_interpolated() -> None:
    assert crossing([1, 3, 5], [90, 70, 40], [10, 30, 60]) == pytest.approx(3 + 2 * 40 / 60)
    assert crossing([1, 3], [90, 70], [10, 30]) is None
    assert crossing([1, 3], [10, 30], [90, 70]) is None


def test_fairness_and_stolen_bandwidth() -> None:
    assert relative_fairness(80.0, 20.0) == 4.0
    assert relative_fairness(80.0, 0.0) is None
    assert bandwidth_stolen(50.0, 20.0) == 30.0


@pytest.mark.parametrize(
    ("written", "decimals", "half"),
    [
        ("0.25", 2, 0.005), ("2.5e-4", 5, 5e-6), ("12", 0, 0.5), ("1e3", -3, 500.0),
        ("1.25E2", 0, 0.5), ("-3.0", 1, 0.05),
    ],
)  # fmt: skip
def test_a_printed_number_is_known_to_half_a_unit_of_its_last_digit(
    written: str, decimals: int, half: float
) -> None:
    assert decimals_of(written) == decimals
    assert half_a_unit(decimals) == pytest.approx(half)
