"""Tests of verdicts on single printed numbers and on families, and of prediction intervals."""

from math import inf, log

import numpy as np
import pytest
from scipy import stats

from longhaul.analysis import prediction
from longhaul.analysis.families import DIFFERENCE, LOGARITHM, Family, family, holm, judge
from longhaul.analysis.judging import (
    ABSOLUTE,
    CONTRADICTED,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    SINGLE,
    UNDECIDED,
    Expected,
)

SCATTER = "single runs scatter too widely"
UNLIKE = "the printed run is not like ours"


@pytest.mark.parametrize(
    ("interval", "median", "verdict", "why"),
    [
        # The whole interval lies in the band, or beyond the opposite value.
        ((9.0, 11.0), 10.0, REPRODUCED, ""),
        ((3.0, 4.0), 3.5, CONTRADICTED, ""),
        # If the interval contains the printed number, the median decides.
        ((8.0, 12.0), 10.5, REPRODUCED, ""),
        ((8.0, 15.0), 11.5, OUTSIDE, ""),
        # The printed number is just outside, but may have been inside before rounding.
        ((10.5, 12.0), 10.9, REPRODUCED, ""),
        ((8.0, 9.5), 9.2, REPRODUCED, ""),
        ((10.6, 12.0), 10.9, UNDECIDED, UNLIKE),
        ((8.0, 9.4), 9.2, UNDECIDED, UNLIKE),
        ((10.6, 15.0), 12.0, OUTSIDE, ""),
        # An interval up to half or twice the number, or to the opposite value, decides nothing.
        ((5.0, 11.0), 10.0, UNDECIDED, SCATTER),
        ((5.1, 11.5), 10.0, REPRODUCED, ""),
        ((8.0, 20.0), 12.0, UNDECIDED, SCATTER),
        ((8.0, 19.9), 12.0, OUTSIDE, ""),
        ((4.0, 4.9), 4.5, OUTSIDE, ""),
    ],
)
def test_a_printed_run_is_compared_with_the_interval_of_one_more_run(
    interval: tuple[float, float], median: float, verdict: str, why: str
) -> None:
    """Check the verdict on a number that the source prints for a single run.

    `interval` is the prediction interval of one more run of ours. The source prints 10, rounded by
    up to 0.5. The claim's band is 9 to 11, and values up to 4 contradict the claim.
    """
    expected = Expected(9.0, 11.0, opposite=4.0, printed=10.0, rounding=0.5)
    found, reason = expected.judge_one_run(interval, median)
    assert found == verdict
    assert reason.startswith(why)
    assert bool(reason) == bool(why)


def test_the_opposite_in_reach_is_scatter_too() -> None:
    expected = Expected(9.0, 11.0, opposite=8.0, printed=10.0)
    assert expected.judge_one_run((8.0, 10.5), 10.0)[0] == UNDECIDED
    assert expected.judge_one_run((8.1, 10.5), 10.0)[0] == REPRODUCED


def test_what_was_not_measured_was_not_run() -> None:
    expected = Expected(1.0, 2.0)
    assert expected.judge(None) == expected.judge(None, (1.0, 2.0)) == NOT_RUN
    assert Expected().judge(0.0) == REPRODUCED
    assert [expected.holds(value) for value in (0.9, 1.0, 2.0, 2.1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("value", "opposite", "verdict"),
    [
        (0.5, None, OUTSIDE), (0.5, 0.5, CONTRADICTED), (0.6, 0.5, OUTSIDE),
        (3.0, 3.0, CONTRADICTED), (2.9, 3.0, OUTSIDE), (0.5, 3.0, OUTSIDE), (3.0, 0.5, OUTSIDE),
        # An opposite value at an end of the band marks the side beyond this end.
        (0.9, 1.0, CONTRADICTED), (2.1, 1.0, OUTSIDE), (2.1, 2.0, CONTRADICTED),
        (0.9, 2.0, OUTSIDE),
    ],
)  # fmt: skip
def test_the_opposite_is_on_one_side_of_the_band(
    value: float, opposite: float | None, verdict: str
) -> None:
    assert Expected(1.0, 2.0, opposite=opposite).judge(value) == verdict


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_ends_of_a_band_belong_to_it_up_to_rounding(sign: float) -> None:
    """Check that the ends of a band belong to it, with a tolerance for rounding.

    The tolerance is wider for values of single precision, and absolute near zero.
    """
    low, high = sorted((100.0 * sign, 200.0 * sign))
    double, single = Expected(low, high), Expected(low, high, precision=SINGLE)
    for beyond, found in ((5e-10, [True] * 2), (5e-8, [False, True]), (2e-6, [False] * 2)):
        value = 200.0 * sign * (1 + beyond)
        assert [double.holds(value), single.holds(value)] == found
    assert Expected(0.0, 1.0).holds(-ABSOLUTE)
    assert not Expected(0.0, 1.0).holds(-2 * ABSOLUTE)


def values(mean: float, *around: float) -> Family:
    """Return a family whose deviations from printed values are `mean` plus each of `around`.

    Accepted deviations are from -0.1 to 0.1.
    """
    return Family(tuple(mean + each for each in around), (-0.1, 0.1), DIFFERENCE)


def test_the_ends_of_a_family_s_band_are_inside() -> None:
    found = [values(mean, 0.0).is_outside for mean in (-0.11, -0.1, 0.0, 0.1, 0.11)]
    assert found == [True, False, False, False, True]


@pytest.mark.parametrize(
    ("given", "reaching"),
    [
        ((0.2, 0.1, 0.3), 0), ((0.5, 0.0, -0.1), 2), ((-0.5, 0.0, 0.1), 2), ((-0.2, -0.1), 0),
        ((-1.0, 1.0), 1), ((0.0, 0.0), 2),
    ],
)  # fmt: skip
def test_replications_reach_print_at_it_or_beyond_it(
    given: tuple[float, ...], reaching: int
) -> None:
    """Check how many replications reach the printed value, here 0.

    The mean of the replications is on one side of 0. A replication reaches 0 if it is 0 or on the
    other side. A mean of 0 counts as positive.
    """
    assert Family(given, (-9.0, 9.0), DIFFERENCE).reaching == reaching


def test_the_difference_of_logarithms_is_a_part_of_print() -> None:
    halves = Family((log(0.5),) * 3, (-1.0, 1.0), LOGARITHM)
    assert halves.difference == pytest.approx(-0.5)
    assert halves.text == "0 of 3 replications reach print, ours 50 % lower"
    plain = Family((0.5,) * 3, (-1.0, 1.0), DIFFERENCE)
    assert plain.difference == 0.5
    assert Family((0.0,) * 3, (-1.0, 1.0), DIFFERENCE).text.endswith("ours 0 % higher")


def test_the_p_value_is_that_of_a_t_test_of_one_more_value() -> None:
    """Check the p-value of the hypothesis that the source's value is one more replication.

    Values are differences from the source's value, which is therefore zero. The standard error is
    that of a new value minus the mean (Hahn and Meeker 1991, section 4.7).
    """
    given = np.array([0.3, 0.5, 0.1, 0.4])
    ratio = given.mean() / (given.std(ddof=1) * np.sqrt(1 + 1 / 4))
    expected = 2 * stats.t.sf(ratio, 3)
    for sign in (1, -1):
        found = Family(tuple((sign * given).tolist()), (-1.0, 1.0), DIFFERENCE)
        assert found.p_value == pytest.approx(expected)
    assert Family((0.2,) * 4, (-1.0, 1.0), DIFFERENCE).p_value == 0.0
    assert Family((0.0,) * 4, (-1.0, 1.0), DIFFERENCE).p_value == 1.0


def test_families_that_few_replications_leave_undecided() -> None:
    """Check verdicts on families whose mean deviation is outside the band, but not significant.

    A family has one deviation from printed values per replication. The verdict is `undecided` if
    only one deviation differs in sign from the mean, and empty if two do.
    """
    one, two = (
        Family((-0.4, -0.3, -0.9, -0.1, *[0.1] * count), (-0.1, 0.1), DIFFERENCE)
        for count in (1, 2)
    )
    assert judge([one, two]) == [UNDECIDED, ""]
    wide = Family(one.values, (-9.0, 9.0), DIFFERENCE)
    assert judge([wide]) == [""]
    assert judge([]) == []


def test_families_need_three_replications_and_logarithms_positive_numbers() -> None:
    ours, bands = np.ones((3, 2)), [(0.5, 2.0)] * 2
    assert len(family(ours, [1.0, 1.0], bands, LOGARITHM).values) == 3
    for wrong, printed in ((ours, [1.0, 0.0]), (-ours, [1.0, 1.0])):
        with pytest.raises(ValueError, match="of zeros take differences"):
            family(wrong, printed, bands, LOGARITHM)
    assert family(0 * ours, [1.0, 1.0], bands, DIFFERENCE).values == (-1.0,) * 3
    unbounded = family(ours, [1.0, 1.0], [(0.0, 2.0)] * 2, LOGARITHM)
    assert unbounded.band[0] == -inf
    assert unbounded.band[1] == pytest.approx(log(2))


def test_holm_rejects_at_its_bounds() -> None:
    """Check Holm's procedure (1979) at its bounds.

    Of three p-values, the smallest is compared with a third of the level, the next with a half.
    """
    level = 0.06
    assert holm([0.02, 0.03, 0.06], level) == [True, True, True]
    assert holm([0.021, 0.021, 0.021], level) == [False, False, False]
    assert holm([0.031, 0.02, 0.06], level) == [False, True, False]
    assert (holm([0.05]), holm([0.0501])) == ([True], [False])


def test_the_coverage_widens_a_prediction_interval() -> None:
    """Check prediction intervals of two coverages against quantiles of Student's t.

    The values -1, 0 and 1 have the mean 0, the deviation 1 and two degrees of freedom.
    """
    for coverage in (0.5, 0.8):
        found = prediction.predict([-1.0, 0.0, 1.0], coverage)
        assert found is not None
        half = stats.t.ppf(0.5 + coverage / 2, 2) * np.sqrt(1 + 1 / 3)
        assert (found.low, found.high) == pytest.approx((-half, half))
        assert found.coverage == coverage


def test_values_that_are_not_all_positive_have_no_logarithms() -> None:
    for lowest in (0.0, -1.0):
        found = prediction.predict([lowest, 2.0, 4.0, 8.0, 16.0])
        assert found is not None
        assert found.shape == prediction.NORMAL
        assert found.low < 0.0


def test_an_interval_by_logarithms_is_students_of_logarithms() -> None:
    runs = [1.0, 2.0, 4.0, 8.0, 16.0]
    found = prediction.predict(runs[::-1])
    half = stats.t.ppf(0.975, 4) * np.std(np.log(runs), ddof=1) * np.sqrt(1.2)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((4 * np.exp(-half), 4 * np.exp(half)))


@pytest.mark.parametrize(("count", "shape"), [(18, False), (19, True)])
def test_nineteen_runs_may_reject_both_distributions(count: int, shape: bool) -> None:
    """Check the prediction of one more run if values are neither normal nor lognormal.

    From 19 runs, one more run is predicted to lie in their range, with probability 18/20. With 18
    runs, one of the two distributions is assumed nevertheless.
    """
    found = prediction.predict(
        [1.0 + 1e-3 * n for n in range(count - 5)] + [9.0 + 1e-3 * n for n in range(5)]
    )
    assert found is not None
    assert (found.shape == prediction.ORDER) == shape
    assert found.coverage == pytest.approx(18 / 20 if shape else 0.95)


def test_the_medians_of_order_statistics_are_symmetric() -> None:
    """Check the medians of ordered uniform values (Filliben 1975).

    The medians are symmetric, and the median of the largest of n values is 0.5 to the power 1/n.
    """
    found = prediction.uniform_medians(4)
    assert found + found[::-1] == pytest.approx(np.ones(4))
    assert found[[1, 3]] == pytest.approx([(2 - 0.3175) / 4.365, 0.5**0.25])
