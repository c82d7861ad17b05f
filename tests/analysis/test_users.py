"""Tests of users' goodput by group and algorithm, and of classes of congestion."""

import numpy as np
import pytest

from longhaul.analysis import congestion
from longhaul.analysis.users import differences, goodput_table


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("larger", (2 / 4, 1 / 2, 4 / 3 / 3)),
        ("smaller", (2 / 2, 1 / 1, 4 / 3 / (5 / 3))),
    ],
)
def test_ranges_are_parts_of_the_larger_or_the_smaller_value(
    base: str, expected: tuple[float, float, float]
) -> None:
    """Check relative differences of goodputs, divided by the larger or by the smaller value.

    Two lists of goodputs have the means 3 and 5/3. `expected` has the relative range of the first
    list, that of the second list, and the relative difference between the means.
    """
    found = differences([2, 3, 4], [1, 2, 2], base=base)
    assert (found.among_first, found.among_second) == pytest.approx(expected[:2])
    assert found.first_over_second == pytest.approx(expected[2])


def test_another_base_is_refused() -> None:
    with pytest.raises(ValueError, match="expected larger or smaller, found `mean`"):
        differences([1, 2], [1, 2], base="mean")


def test_a_table_of_goodputs_has_means_over_conditions() -> None:
    values = [[[1, 2], [3, 4]], [[3, 2], [5, 8]], [[5, 2], [7, 0]]]
    assert goodput_table(values).tolist() == [[3, 2], [5, 4]]


def test_conditions_are_ordered_by_their_mean() -> None:
    """Check the order of conditions by the mean over two competitors.

    Conditions with equal means keep their order.
    """
    assert congestion.congestion_order([[0, 9], [4, 4], [3, 5], [1, 1]]) == [3, 1, 2, 0]


def test_a_rate_that_reaches_a_bound_is_above_it() -> None:
    assert congestion.congestion_classes([0.09, 0.1, 0.2, 0.5, 0.6], [0.1, 0.5]) == [0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="ascending"):
        congestion.congestion_classes([0.1], [0.2, 0.2])
    with pytest.raises(ValueError, match="ascending"):
        congestion.congestion_classes([0.1], [0.3, 0.2])


def test_bounds_are_geometric_means_of_the_widest_gaps() -> None:
    """Check the bounds between classes of rates: geometric means of the rates beside wide gaps.

    Gaps are ratios of successive rates, here 2, 8, 2 and 4. Rates of zero are ignored.
    """
    rates = [1e-4, 2e-4, 16e-4, 32e-4, 128e-4, 0.0, 2e-4]
    bounds = congestion.natural_bounds(rates, 3)
    assert bounds == pytest.approx([np.sqrt(2e-4 * 16e-4), np.sqrt(32e-4 * 128e-4)])
    assert len(congestion.natural_bounds(rates, 5)) == 4
    with pytest.raises(ValueError, match="5 different rates are too few for 6 classes"):
        congestion.natural_bounds(rates, 6)


def test_four_classes_have_the_study_s_letters() -> None:
    """Check that four classes of congestion have the letters of NIST SP 500-282, figure 6-5."""
    assert congestion.class_names(4) == ["N", "L", "M", "C"]
    assert congestion.class_names(2) == ["C1", "C2"]
