"""Prediction intervals: coverage, shapes, and published critical values."""

import numpy as np
import pytest

from longhaul.analysis import prediction
from longhaul.analysis.prediction import LOGNORMAL, NORMAL, ORDER, predict


def test_critical_correlations_are_fillibens() -> None:
    """Check critical correlations against Filliben, Technometrics 17 (1), 1975, table 1 (5 %)."""
    found = [prediction._critical(count) for count in (5, 10, 20)]
    assert found == pytest.approx([0.879, 0.917, 0.950], abs=4e-3)


@pytest.mark.parametrize(("count", "covered"), [(3, 0.90), (5, 0.91), (20, 0.93)])
@pytest.mark.parametrize("skewed", [False, True])
def test_as_many_further_runs_are_inside_as_it_says(
    count: int, covered: float, skewed: bool
) -> None:
    random = np.random.default_rng(7)
    held = 0
    for _ in range(1500):
        # Goodputs scatter by about a tenth, loss rates by about a factor of two.
        one = random.standard_normal(count + 1)
        runs = np.exp(0.7 * one) if skewed else 10.0 + one
        found = predict(runs[:count].tolist())
        assert found is not None
        held += found.low <= runs[count] <= found.high
    assert covered - 0.02 < held / 1500 < 0.98


def test_the_normal_interval_is_students() -> None:
    """Check the normal interval against an example of Hahn and Meeker (1991), chapter 4.

    Five values have the mean 50.1 and the deviation 1.31; the factor is 2.776 sqrt(1 + 1/5).
    """
    runs = 50.1 + 1.31 * np.array([-1.2, -0.5, 0.0, 0.5, 1.2]) / np.std(
        [-1.2, -0.5, 0.0, 0.5, 1.2], ddof=1
    )
    found = predict(runs.tolist())
    assert found is not None
    assert found.shape == NORMAL
    assert (found.low, found.high) == pytest.approx((46.12, 54.08), abs=0.01)


def test_shapes() -> None:
    two_levels = [34.0 + 0.01 * n for n in range(15)] + [50.0 + 0.01 * n for n in range(5)]
    found = predict(two_levels)
    assert found is not None
    assert (found.shape, found.low, found.high) == (ORDER, 34.0, 50.04)
    assert found.coverage == pytest.approx(19 / 21)
    # Five runs are too few to show that there are two levels.
    few = predict(two_levels[::4])
    assert few is not None
    assert few.shape != ORDER
    skewed = predict([1.0, 2.0, 4.0, 8.0, 16.0])
    assert skewed is not None
    assert skewed.shape == LOGNORMAL
    # The runs spread evenly, but values below 0 are impossible.
    wide = predict([1.0, 10.0, 19.0])
    assert wide is not None
    assert wide.shape == LOGNORMAL
    assert wide.low > 0


def test_few_or_equal_runs() -> None:
    assert predict([1.0, 2.0]) is None
    equal = predict([3.0, 3.0, 3.0])
    assert equal is not None
    assert (equal.low, equal.high) == (3.0, 3.0)
