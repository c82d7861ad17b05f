"""Intervals, trends and crossings against hand-worked values."""

from math import nan

import pytest

from longhaul.analysis.fairness import bandwidth_stolen, relative_fairness
from longhaul.analysis.statistics import crossing, median, median_interval, rank_correlation


def test_the_median_interval_is_of_order_statistics() -> None:
    # David and Nagaraja, table of section 7.1: of ten values the second and ninth cover 97.9 %,
    # the third and eighth only 89.1 %; of six the extremes cover 96.9 %.
    ten = [7.0, 1.0, 9.0, 3.0, 5.0, 10.0, 2.0, 8.0, 4.0, 6.0]
    assert median_interval(ten) == (2.0, 9.0)
    assert median_interval(ten, coverage=0.89) == (3.0, 8.0)
    assert median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)


def test_few_values_have_their_range_and_one_value_nothing() -> None:
    assert median_interval([2.0, 1.0, 3.0]) == (1.0, 3.0)
    assert median_interval([2.0]) is None
    assert median_interval([]) is None
    assert median([4.0, 1.0, 2.0]) == 2.0
    assert median([]) is not nan


def test_rank_correlation_knows_order_only() -> None:
    assert rank_correlation([1, 2, 6, 40], [1e-6, 2e-6, 1e-3, 1.0]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2, 3], [5, 5, 5]) == 0.0
    # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
    assert rank_correlation([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)
    # Ties share their mean rank: Pearson's coefficient of (1, 2, 3) and (1.5, 1.5, 3).
    assert rank_correlation([1, 2, 3], [1, 1, 2]) == pytest.approx(0.8660254)


def test_a_crossing_is_interpolated() -> None:
    assert crossing([1, 3, 5], [90, 70, 40], [10, 30, 60]) == pytest.approx(3 + 2 * 40 / 60)
    assert crossing([1, 3], [90, 70], [10, 30]) is None
    assert crossing([1, 3], [10, 30], [90, 70]) is None


def test_fairness_and_stolen_bandwidth() -> None:
    assert relative_fairness(80.0, 20.0) == 4.0
    assert relative_fairness(80.0, 0.0) is None
    assert bandwidth_stolen(50.0, 20.0) == 30.0
