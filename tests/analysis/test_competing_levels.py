"""Outliers, ranks and clusters of competitors at bounds, with ties, and of few values."""

import math

import numpy as np
import pytest

from longhaul.analysis import clusters, outliers, ranks


@pytest.mark.parametrize(
    ("count", "significance", "two_sided", "critical"),
    [
        (3, 0.05, False, 1.153), (4, 0.05, False, 1.463), (10, 0.05, False, 2.176),
        (10, 0.01, False, 2.410), (10, 0.05, True, 2.290), (20, 0.05, True, 2.709),
    ],
)  # fmt: skip
def test_critical_values_are_grubbs(
    count: int, significance: float, two_sided: bool, critical: float
) -> None:
    """Check critical values of Grubbs' test against Grubbs and Beck (1972), table 1.

    The paper is in Technometrics 14 (4); its values are one-sided at 5, 2.5 and 1 %.
    """
    found = outliers.grubbs_critical(count, significance, two_sided=two_sided)
    assert found == pytest.approx(critical, abs=1e-3)


def test_the_test_is_two_sided_at_five_percent_unless_said_otherwise() -> None:
    assert outliers.grubbs_critical(8) == outliers.grubbs_critical(8, 0.025, two_sided=False)
    with pytest.raises(ValueError, match="at least three values"):
        outliers.grubbs_critical(2)


def test_residuals_by_hand() -> None:
    """Check residuals of 1, 2 and 6, and Grubbs' statistic, against numbers calculated by hand.

    The mean is 3, and the standard deviation is the square root of 7.
    """
    found = outliers.residuals([1.0, 6.0, 2.0], critical=1.0)
    assert found.residuals.tolist() == [-2.0, 3.0, -1.0]
    assert (found.mean, found.extreme, found.critical) == (3.0, 1, 1.0)
    assert found.statistic == pytest.approx(3 / math.sqrt(7))
    assert [found.largest, found.percent] == pytest.approx([3.0, 100.0])
    assert found.magnitude == pytest.approx(math.log10(3))
    low = outliers.residuals([-1.0, -6.0, -2.0])
    assert [low.largest, low.extreme, low.percent] == pytest.approx([-3.0, 1, 100.0])
    assert low.magnitude == pytest.approx(math.log10(3))
    assert low.critical == outliers.grubbs_critical(3)


def test_residuals_around_zero_have_no_percent_and_equal_values_no_residual() -> None:
    assert math.isnan(outliers.residuals([-1.0, 0.0, 1.0]).percent)
    equal = outliers.residuals([0.1, 0.1, 0.1])
    assert (equal.largest, equal.percent, equal.residuals.tolist()) == (0.0, 0.0, [0.0] * 3)
    assert outliers.residuals([0.0, 0.0, 0.0]).extreme == -1
    assert outliers.residuals([1e-30, 0.0, 0.0]).extreme == 0


def test_a_statistic_at_its_critical_value_is_no_outlier() -> None:
    six = outliers.residuals([100.0, 1, 1, 1, 1, 1])
    for critical, is_outlier in ((six.statistic, False), (six.statistic - 1e-9, True)):
        assert outliers.residuals([100.0, 1, 1, 1, 1, 1], critical).is_outlier == is_outlier


@pytest.mark.parametrize(
    ("cell", "percent", "standout"),
    [
        # The mean is 20, and the residual of 60 is 200 % of it.
        ([60.0, 10, 10, 10, 10], 199.0, (0, True, 200.0)),
        ([60.0, 10, 10, 10, 10], 200.0, None),
        ([10.0, 10, 10, 10, 60], 0.0, (4, True, 200.0)),
        ([-60.0, -10, -10, -10, -10], 0.0, (0, False, 200.0)),
        ([0.0, 25, 25, 25, 25], 99.0, (0, False, -100.0)),
        ([0.0, 25, 25, 25, 25], 100.0, None),
        ([1.0, 2, 3, 4, 5], 0.0, None),
    ],
)
def test_standouts_exceed_a_percentage_on_either_side(
    cell: list[float], percent: float, standout: tuple[int, bool, float] | None
) -> None:
    [[found]] = outliers.standouts([[cell]], min_percent=percent, critical=1.7)
    if standout is None:
        assert found is None
    else:
        assert found is not None
        assert (found.who, found.is_high) == standout[:2]
        assert found.percent == pytest.approx(standout[2])


def test_ranks_of_values_are_high_for_high_values() -> None:
    """Check that the highest value has the highest rank, with mean ranks for ties.

    Ranks are along the last axis, on which the competitors are.
    """
    assert ranks.value_ranks([5.0, 1.0, 5.0]).tolist() == [2.5, 1.0, 2.5]
    assert ranks.value_ranks([5.0, 1.0, 4.0], low_is_best=True).tolist() == [1.0, 3.0, 2.0]
    assert ranks.value_ranks([[1, 2], [4, 3]]).tolist() == [[1, 2], [2, 1]]
    assert ranks.factor_ranks([[1.0, -3.0], [5.0, 2.0]]).tolist() == [[2, 1], [1, 2]]


def test_rounded_sizes_are_ties() -> None:
    assert ranks.factor_ranks([0.12, -0.14, 0.5]).tolist() == [3, 2, 1]
    assert ranks.factor_ranks([0.12, -0.14, 0.5], digits=1).tolist() == [2.5, 2.5, 1]
    assert ranks.factor_ranks([1.4, 0.6, 0.4], digits=0).tolist() == [1.5, 1.5, 3]


def test_edges_of_a_cube_change_one_factor() -> None:
    """Check the edges of a cube of conditions: the two ends of an edge differ in one factor.

    `change` is the absolute difference between the values at the two ends of an edge.
    """
    # The first factor varies fastest.
    assert ranks.corners(2) == [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    edges = ranks.cube_edges([4.0, 1.26, 9.0, 8.0])
    assert [(e.factor, e.ends, e.change) for e in edges] == [
        (0, (0, 1), pytest.approx(2.74)), (0, (2, 3), 1.0), (1, (0, 2), 5.0),
        (1, (1, 3), pytest.approx(6.74)),
    ]  # fmt: skip
    rounded = ranks.cube_edges([4.0, 1.26, 9.0, 8.0], digits=0)
    assert [e.change for e in rounded] == [3.0, 1.0, 5.0, 7.0]
    assert ranks.edge_means(rounded) == {0: 2.0, 1: 6.0}
    assert ranks.cube_edges([1.0]) == []


def test_ranks_are_summarised_by_group() -> None:
    """Check each competitor's mean rank by group, and the standard deviation of these means.

    With a single group, the deviation is 0.
    """
    found = ranks.summarise_ranks({"a": [[1, 2], [3, 2]], "b": [4, 1]})
    assert {name: of.tolist() for name, of in found.groups.items()} == {"a": [2, 2], "b": [4, 1]}
    assert found.average.tolist() == [3.0, 1.5]
    assert found.spread == pytest.approx([math.sqrt(2), math.sqrt(0.5)])
    assert ranks.summarise_ranks({"a": [3, 1]}).spread.tolist() == [0.0, 0.0]


def test_of_two_equally_far_the_lower_value_is_filled() -> None:
    assert ranks.distinctive([1.0, 2.0, 3.0]) == 0
    assert ranks.distinctive([5.0, 5.0]) == 0


@pytest.mark.parametrize(
    ("cut", "clusters_", "distinctive"),
    [
        (0.51, [0, 0, 1], (2,)),
        (0.5, [0, 1, 2], ()),
        (0.49, [0, 1, 2], ()),
        (1.0, [0, 0, 1], (2,)),
    ],
)
def test_clusters_join_below_the_cut(
    cut: float, clusters_: list[int], distinctive: tuple[int, ...]
) -> None:
    """Check which of the values 0, 1 and 2.5 form clusters for several cuts.

    0 and 1 join at distance 1, and 2.5 joins them at distance 2. `cut` is a fraction of 2, the
    largest distance.
    """
    found = clusters.dendrogram([[0.0], [1.0], [2.5]], cut)
    pairs = [(i, j) for i in range(3) for j in range(i)]
    assert [found.labels[i] == found.labels[j] for i, j in pairs] == [
        clusters_[i] == clusters_[j] for i, j in pairs
    ]
    assert found.labels.min() == 1
    assert (found.distinctive, found.responses) == (distinctive, 1)
    assert found.height == pytest.approx(2.0 / np.std([0.0, 1.0, 2.5], ddof=1))


@pytest.mark.parametrize("constant", [0.0, 5.0, 1e9])
def test_responses_without_variation_separate_nobody(constant: float) -> None:
    found = clusters.dendrogram([[constant, 0.0], [constant, 1.0], [constant, 2.5]])
    assert found.responses == 1
    assert found.height == pytest.approx(2.0 / np.std([0.0, 1.0, 2.5], ddof=1))


def test_half_of_the_competitors_are_not_distinctive() -> None:
    """Check that a cluster is distinctive only if it has less than half of the competitors.

    Of four values in two clusters of two, none is distinctive; of five, the smaller cluster is.
    """
    assert clusters.dendrogram([[0.0], [0.1], [9.0], [9.1]]).distinctive == ()
    found = clusters.dendrogram([[9.1], [0.0], [0.1], [9.0], [0.2]])
    assert found.distinctive == (0, 3)


def test_clusters_join_below_seven_tenths_by_default() -> None:
    """Check that a dendrogram is cut into clusters, by default, at 0.7 of its height.

    Three points at equal distances are three clusters. The points 0, 1 and 2.001 are two clusters.
    """
    assert sorted(clusters.dendrogram(np.eye(3)).labels.tolist()) == [1, 2, 3]
    # The mean distance of 2.001 from 0 and 1, at which all points join, is 1.501.
    assert len(set(clusters.dendrogram([[0.0], [1.0], [2.001]]).labels.tolist())) == 2
