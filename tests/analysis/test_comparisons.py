"""Means, effects, comparisons, regressions and components: few values, ties and missing cells."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

from longhaul.analysis import comparisons, components, correlation, effects, fairness, levels, users
from longhaul.analysis.cells import cell_means
from longhaul.analysis.comparisons import MeanInterval
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.analysis.variance import anova
from longhaul.designs import two_level


def test_means_of_no_value_and_of_one_have_no_limits() -> None:
    none, one = comparisons.mean_interval([]), comparisons.mean_interval([3.0])
    assert math.isnan(none.mean)
    assert (none.low, none.high, none.count) == (-math.inf, math.inf, 0)
    assert one == MeanInterval(3.0, -math.inf, math.inf, 1)


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_intervals_have_the_coverage_that_is_asked_for(coverage: float) -> None:
    """Check intervals of means and of paired differences against Student's t.

    The half-width is the quantile of t with two degrees of freedom times the standard error 3^-0.5.
    """
    reach = stats.t.ppf(0.5 + coverage / 2, 2) / 3**0.5
    found = comparisons.mean_interval([1.0, 2.0, 3.0], coverage)
    assert (found.low, found.mean, found.high) == pytest.approx((2 - reach, 2.0, 2 + reach))
    assert comparisons.half_width([1.0, 2.0, 3.0], coverage) == pytest.approx(reach)
    pair = comparisons.paired([5.0, 7.0, 9.0], [4.0, 5.0, 6.0], coverage)
    assert (pair.low, pair.high, pair.count) == pytest.approx((2 - reach, 2 + reach, 3))
    with pytest.raises(ValueError, match="as many first values as second ones"):
        comparisons.paired([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ([], comparisons.NO_INTERVAL), ([1, 1], comparisons.NO_INTERVAL),
        ([2, 2], f"{comparisons.INTERVAL} (2)"), ([1, 5, 3], f"{comparisons.INTERVAL} (1 to 5)"),
    ],
)  # fmt: skip
def test_a_note_has_the_numbers_of_replications(counts: list[int], note: str) -> None:
    means = [MeanInterval(0.0, 0.0, 0.0, count) for count in counts]
    assert comparisons.over_replications(means) == note


def test_a_regression_without_freedom_has_no_intervals() -> None:
    """Check the intervals of coefficients if a regression leaves no residual.

    With two runs the intervals are infinite, because two runs determine a line. With three runs on
    one line they have no width.
    """
    two = comparisons.regression({"x": [1.0, 2.0]}, [5.0, 7.0])
    assert two.coefficients["x"].mean == pytest.approx(2.0)
    assert two.coefficients["x"].high == -two.coefficients["x"].low == math.inf
    assert list(two.coefficients) == ["intercept", "x"]
    three = comparisons.regression({"x": [1.0, 2.0, 3.0]}, [5.0, 7.0, 9.0])
    slope = three.coefficients["x"]
    assert (slope.low, slope.high) == pytest.approx((2.0, 2.0))
    assert slope.count == 3
    assert three.coefficients["intercept"].mean == pytest.approx(3.0)


def test_a_constant_response_has_nothing_to_explain() -> None:
    assert math.isnan(comparisons.regression({"x": [1.0, 2.0, 3.0]}, [4.0] * 3).r_squared)
    assert comparisons.regression({"x": [1.0, 2, 3]}, [1.0, 3, 1]).r_squared == pytest.approx(0.0)


def test_a_factor_that_is_a_multiple_of_another_takes_no_freedom() -> None:
    """Check that two equal factors in a regression share one slope and one degree of freedom."""
    x, y = np.arange(5.0), np.array([0.0, 1.0, 1.0, 3.0, 3.0])
    alone, both = (comparisons.regression(f, y) for f in ({"x": x}, {"x": x, "again": x}))
    assert both.coefficients["x"].mean == pytest.approx(alone.coefficients["x"].mean / 2)
    widths = [f.coefficients["x"].high - f.coefficients["x"].mean for f in (alone, both)]
    assert widths[1] == pytest.approx(widths[0] / 2)
    assert both.r_squared == pytest.approx(alone.r_squared)


def table(rows: list[tuple[object, ...]]) -> ResponseTable:
    """Return a table of the factors a and b with a response y, from rows (a, b, y)."""
    frame = pl.DataFrame(rows, ["a", "b", "y"], orient="row")
    return ResponseTable.of(frame, {"a": [1, 2], "b": ["x", "z"]}, ["y"])


def test_cells_are_those_that_were_run_in_the_order_of_levels() -> None:
    given = table([(2, "x", 5), (1, "z", 1), (1, "x", 3)])
    found = cell_means(given, "y", ["a", "b"])
    assert [(cell.levels, cell.mean.mean) for cell in found] == [
        ((1, "x"), 3.0), ((1, "z"), 1.0), ((2, "x"), 5.0)
    ]  # fmt: skip
    assert [cell.levels for cell in cell_means(given, "y", ["b", "a"])] == [
        ("x", 1), ("x", 2), ("z", 1)
    ]  # fmt: skip
    # A single row in each cell is one run, not a replication.
    assert {cell.mean.count for cell in found} == {1}
    yes = cell_means(table([(1, "x", True), (1, "x", False)]), "y", ["a"])
    assert (yes[0].mean.mean, yes[0].mean.count) == (0.5, 2)


def test_a_response_that_a_run_lacks_has_no_means() -> None:
    with pytest.raises(TableError, match="y: 1 of 2 runs have no value"):
        cell_means(table([(1, "x", 1.0), (2, "x", None)]), "y", ["a"])


def test_factors_are_ordered_by_their_share_of_the_variance() -> None:
    """Check that factors are ordered by their share of the response's variance.

    If the response does not vary, the shares are missing, and factors keep their order.
    """
    rows = [(a, b, 1.0 * a + (9 if b == "z" else 0)) for a in (1, 2) for b in "xz"]
    found = levels.factor_means(table([*rows]), "y")
    assert [(one.factor, one.levels) for one in found] == [("b", ("x", "z")), ("a", (1, 2))]
    assert [one.span for one in found] == pytest.approx([9.0, 1.0])
    shares = [one.share or 0.0 for one in found]
    assert shares == pytest.approx([81 / 82, 1 / 82])
    flat = levels.factor_means(table([(a, b, 4.0) for a in (1, 2) for b in "xz"]), "y")
    assert [(one.factor, one.share, one.p) for one in flat] == [
        ("a", None, None),
        ("b", None, None),
    ]


def test_a_tie_is_ahead_for_neither_level() -> None:
    """Check that a tie between two levels in a condition does not count for either level.

    The differences are 0, 1 and -1; therefore the first level is ahead in one of three conditions.
    """
    frame = pl.DataFrame(
        [(1, c, 5.0 + c) for c in (0, 1, -1)] + [(2, c, 5.0) for c in (0, 1, -1)],
        ["a", "c", "y"], orient="row",
    )  # fmt: skip
    [found] = levels.compare_levels(ResponseTable.of(frame, ["a", "c"], ["y"]), "a", "y")
    assert (found.first, found.second, found.ahead, found.conditions) == (1, 2, 1, 3)
    assert (found.difference.mean, found.difference.count) == (0.0, 3)
    assert not found.is_over_replications


def test_levels_that_never_meet_are_not_compared() -> None:
    with pytest.raises(TableError, match="no condition has both 1 and 2"):
        levels.compare_levels(table([(1, "x", 1.0), (2, "z", 2.0)]), "a", "y")
    part = table([(1, "x", 1.0), (2, "x", 2.0), (2, "z", 3.0)])
    [found] = levels.compare_levels(part, "a", "y")
    assert found.left_out == ["b z lacks 1"]
    assert levels.compare_levels(part.where("b", ["x"]), "a", "y")[0].conditions == 1


def test_effects_are_of_factors_alone_or_of_interactions_too() -> None:
    """Check that `order` limits effects to factors (1), their pairs (2) or their triples (3)."""
    design = two_level(3)
    # The response is the product of the three factors, that is, their interaction.
    y = np.prod(design.coded, axis=1) * 2.0
    names = [
        [e.name for e in effects.effects(design.coded, y, design.names, order=n)] for n in (1, 2, 3)
    ]
    assert [len(found) for found in names] == [3, 6, 7]
    assert names[1] == ["x1", "x2", "x3", "x1*x2", "x1*x3", "x2*x3"]
    [*_, whole] = effects.effects(design.coded, y, design.names, order=3)
    assert (whole.name, whole.term, whole.low, whole.high) == ("x1*x2*x3", (0, 1, 2), -2.0, 2.0)
    assert whole.grand_mean == 0.0


@pytest.mark.parametrize("coverage", [0.9, 0.95])
def test_replications_are_equal_rows_or_equal_cells(coverage: float) -> None:
    """Check the confidence interval of an effect; its error is estimated from replications.

    Replications are runs with equal rows of `x` or, if `cells` is given, with equal cells.
    """
    x, y = [[-1], [-1], [1], [1]], [1.0, 3.0, 7.0, 9.0]
    [found] = effects.effects(x, y, ["x"], order=1, coverage=coverage)
    # Each pair has a sum of squares of 2: 4 in all, with 2 degrees of freedom.
    reach = stats.t.ppf(0.5 + coverage / 2, 2) * math.sqrt(2.0 * (1 / 2 + 1 / 2))
    assert found.interval == pytest.approx((6 - reach, 6 + reach))
    [apart] = effects.effects(x, y, ["x"], order=1, cells=["a", "b", "c", "d"])
    assert apart.interval is None
    [some] = effects.effects(x, y, ["x"], order=1, cells=["a", "a", "b", "c"], coverage=coverage)
    reach = stats.t.ppf(0.5 + coverage / 2, 1) * math.sqrt(2.0)
    assert some.interval == pytest.approx((6 - reach, 6 + reach))


def test_the_pure_error_is_pooled_over_replicated_cells() -> None:
    cells = np.array([["a"], ["a"], ["b"], ["b"], ["b"], ["c"]])
    found = effects.pure_error(cells, np.array([1.0, 3.0, 4.0, 5.0, 6.0, 9.0]))
    assert found == pytest.approx(((2.0 + 2.0) / 3, 3))
    assert effects.pure_error(np.array([["a"], ["b"]]), np.array([1.0, 2.0])) is None


def test_effects_of_equal_size_keep_their_order() -> None:
    given = [
        effects.Effect(name, (0,), 0.0, high, 1.0) for name, high in (("a", 1), ("b", -2), ("c", 2))
    ]
    assert [one.name for one in effects.by_size(given)] == ["b", "c", "a"]


def test_as_many_terms_as_leave_a_degree_of_freedom_are_added() -> None:
    """Check the residual deviation as effects are added to a model, the largest first.

    With four runs, the mean and two effects leave one degree of freedom; no more effects are added.
    """
    x = two_level(2).coded
    y = np.array([0.0, 1.0, 2.0, 7.0])
    found = effects.cumulative_residual_sd(x, y, effects.effects(x, y, ["a", "b"]))
    squares = ((y - y.mean()) ** 2).sum()
    # Effects 3, 4 and 2 account for sums of squares of 9, 16 and 4.
    assert found == pytest.approx(np.sqrt([squares / 3, (squares - 16) / 2, (squares - 25) / 1]))


def test_blocks_lack_a_level_or_have_both() -> None:
    x = [[-1, -1], [1, -1], [-1, 1], [1, -1]]
    found = effects.block_means(x, [1.0, 2.0, 5.0, 4.0], 0, [1])
    assert found == {(-1,): (1.0, 3.0)}


def test_medians_of_half_normal_order_statistics_ascend_from_zero() -> None:
    found = effects.half_normal_quantiles(3)
    assert found[1] == pytest.approx(stats.halfnorm.ppf((2 - 0.3175) / 3.365))
    assert (np.diff(found) > 0).all()


def test_components_have_positive_largest_weights_and_decreasing_shares() -> None:
    random = np.random.default_rng(12)
    values = random.normal(size=(30, 4)) @ random.normal(size=(4, 4))
    found = components.principal_components(values)
    largest = np.abs(found.weights).argmax(axis=1)
    assert (found.weights[np.arange(4), largest] > 0).all()
    assert (np.diff(found.deviations) <= 0).all()
    scaled = components.standardised(values)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert scaled.std(axis=0, ddof=1) == pytest.approx(np.ones(4))
    assert found.scores @ found.weights == pytest.approx(scaled)
    assert found.variance_shares == pytest.approx(found.deviations**2 / 4)
    assert found.deviation_shares == pytest.approx(found.deviations / found.deviations.sum())


def test_causes_are_ordered_by_share_and_then_by_p() -> None:
    """Check that the causes of a group of runs are ordered by share, then by p-value.

    A cause is the most frequent level of a factor in the group. In the first group, `fair` and
    `vague` have equal shares, but `fair` has the smaller p-value.
    """
    labels = [1] * 4 + [2] * 4
    factors: dict[str, Sequence[object]] = {
        "vague": ["a", "a", "a", "b", "a", "b", "a", "b"],
        "fair": ["a", "a", "a", "b", "b", "b", "b", "b"],
        "clear": ["a"] * 4 + ["b"] * 4,
        "same": ["a"] * 8,
    }
    found = components.causes(labels, factors)
    assert [(one.factor, one.level, one.share) for one in found[1]] == [
        ("clear", "a", 1.0), ("fair", "a", 0.75), ("vague", "a", 0.75)
    ]  # fmt: skip
    assert found[1][1].p < found[1][2].p
    assert [(one.factor, one.level, one.share) for one in found[2]][:2] == [
        ("clear", "b", 1.0), ("fair", "b", 1.0)
    ]  # fmt: skip


def test_groups_are_connected_above_a_threshold_the_smallest_first() -> None:
    """Check groups of responses that are linked by correlations above a threshold.

    Groups are sorted by the number of responses, then by the number of correlations.
    """
    r = np.eye(6)
    for i, j, value in ((0, 1, 0.9), (1, 2, -0.8), (3, 4, 0.7), (4, 5, 0.7), (3, 5, 0.5)):
        r[i, j] = r[j, i] = value
    found = correlation.groups(r, 0.5)
    assert [(one.members, one.correlated, one.possible) for one in found] == [
        ((0, 1, 2), 2, 3), ((3, 4, 5), 2, 3)
    ]  # fmt: skip
    assert [one.correlated for one in correlation.groups(r, 0.49)] == [2, 3]
    assert [one.members for one in correlation.groups(r, 0.75)] == [(3,), (4,), (5,), (0, 1, 2)]
    assert correlation.groups(r, 0.75)[0].possible == 0
    at_threshold = np.where(r == 0.9, correlation.NIST_THRESHOLD, 0.0)
    assert [one.members for one in correlation.groups(at_threshold)] == [(n,) for n in range(6)]


def test_pairs_at_the_bound_count_and_equal_ones_keep_their_order() -> None:
    r = np.array([[1.0, 0.5, -0.5], [0.5, 1.0, 0.49], [-0.5, 0.49, 1.0]])
    assert [(p.first, p.second) for p in correlation.pairs(r, 0.5)] == [(0, 1), (0, 2)]
    assert correlation.gained_and_lost(np.eye(3), r, 0.5) == ([(0, 1), (0, 2)], [])


def test_partners_at_a_threshold_are_none() -> None:
    """Check that a correlation equal to the threshold does not make two responses partners.

    Responses with equally many partners are ordered by the number of correlations above 0.5.
    """
    r = np.array([[1.0, 0.6, 0.5], [0.6, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert correlation.by_partners(r) == [2, 0, 1]
    assert correlation.by_partners(r, 0.6) == [2, 0, 1]


def test_the_histogram_reaches_from_zero_to_one() -> None:
    counts, edges = correlation.histogram(np.array([[1.0, 1.0, 0], [1, 1, -1], [0, -1, 1]]))
    assert (len(counts), counts[0], counts[-1], edges[1]) == (13, 1, 2, pytest.approx(1 / 13))


def test_jain_s_index_of_few_shares() -> None:
    """Check Jain's index (Jain, Chiu and Hawe 1984).

    It is one for equal shares, 1/n if one flow has everything, and missing without any rate.
    """
    assert (fairness.jain([2.0, 2.0]), fairness.jain([4.0, 0.0])) == (1.0, 0.5)
    assert fairness.jain([1.0, 3.0]) == pytest.approx(16 / 20)
    assert (fairness.jain([0.0, 0.0]), fairness.jain([])) == (None, None)
    frame = pl.DataFrame({"x": [1.0, 3.0], "zero": [0.0, 0.0]})
    found = frame.select(fairness.jain_of_column(pl.col("x", "zero"))).row(0)
    assert found[0] == pytest.approx(0.8)
    assert math.isnan(found[1])


def test_differences_of_goodput_are_of_the_larger_by_default() -> None:
    assert users.differences([2, 4], [1, 1]) == users.differences([2, 4], [1, 1], base="larger")
    assert users.differences([2, 4], [1, 1]).among_first == 0.5


def test_an_analysis_of_variance_has_interactions_of_two_factors_by_default() -> None:
    """Check analyses of variance without interactions, and with those of two or three factors.

    The design has all combinations of three factors with two levels, in two replications.
    """
    runs = [(a, b, c) for _ in range(2) for a in "lh" for b in "lh" for c in "lh"]
    y = np.random.default_rng(4).normal(size=16)
    factors = dict(zip("abc", zip(*runs, strict=True), strict=True))
    main, pairs, all_ = (anova(factors, y, order=n) for n in (1, 2, 3))
    assert [one.name for one in main] == ["a", "b", "c", "residual"]
    assert [one.name for one in anova(factors, y)] == [one.name for one in pairs]
    assert [one.name for one in all_][6:] == ["a*b*c", "residual"]
    assert [found[-1].freedom for found in (main, pairs, all_)] == [12, 9, 8]
    assert (main[-1].f, main[-1].p) == (None, None)
    assert sum(one.share for one in all_) == pytest.approx(1.0)


def test_a_response_that_the_factors_explain_has_no_f() -> None:
    """Check that there is no F statistic if the factors explain the whole response.

    The residual is then zero up to rounding.
    """
    [a, residual] = anova({"a": ["x", "x", "y", "y"], "same": [1] * 4}, [0.1, 0.1, 0.3, 0.3])
    assert (a.f, a.p, residual.sum_of_squares, residual.share) == (None, None, 0.0, 0.0)
    assert [a.share, a.freedom, residual.freedom] == pytest.approx([1.0, 1, 2])
    for factors, y in (({}, [1.0, 2.0]), ({"a": [1, 1]}, [1.0, 2.0]), ({"a": [1, 2]}, [1.0, 2.0])):
        assert anova(factors, y) == []
    assert anova({"a": []}, []) == []
