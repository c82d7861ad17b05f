"""Statistical analyses of cases with known results: effects, correlations, steady state."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from longhaul.analysis import (
    clusters,
    comparisons,
    components,
    congestion,
    correlation,
    effects,
    levels,
    outliers,
    ranks,
    steady,
    variance,
)
from longhaul.analysis.table import ResponseTable, TableError
from longhaul.designs import two_level


def test_effects_are_those_of_the_model_that_made_the_response() -> None:
    design = two_level(4)
    x = design.coded
    y = 10 + 3 * x[:, 0] - 2 * x[:, 2] + 0.5 * x[:, 1] * x[:, 3]
    found = {e.name: e for e in effects.effects(x, y, design.names)}
    assert found["x1"].effect == pytest.approx(6)
    assert found["x3"].effect == pytest.approx(-4)
    assert found["x2*x4"].effect == pytest.approx(1)
    assert found["x1"].percent == pytest.approx(60)
    assert effects.effects(x, -y, design.names)[0].percent == pytest.approx(60)
    assert found["x2"].effect == pytest.approx(0, abs=1e-12)
    assert found["x1"].interval is None
    order = [e.name for e in effects.by_size([*found.values()])]
    assert order[:3] == ["x1", "x3", "x2*x4"]
    # The three terms together explain the whole response.
    deviations = effects.cumulative_residual_sd(x, y, [*found.values()])
    assert deviations[0] == pytest.approx(y.std(ddof=1))
    assert deviations[2] > 0.4
    assert deviations[3] == pytest.approx(0, abs=1e-9)
    chosen = effects.by_size([*found.values()])[:3]
    assert effects.predicted(x, float(y.mean()), chosen) == pytest.approx(y)


def test_aliased_interactions_are_returned_once_with_their_names() -> None:
    design = two_level(4, runs=8)
    found = effects.effects(design.coded, np.arange(8.0), design.names)
    [pair] = [e for e in found if e.name == "x1*x2"]
    assert pair.aliases == ("x3*x4",)
    assert len(found) == 7


def test_intervals_of_effects_are_those_of_a_t_test_with_pooled_variance() -> None:
    rng = np.random.default_rng(1)
    x = np.repeat([[-1], [1]], 6, axis=0)
    y = np.where(x[:, 0] > 0, 5.0, 3.0) + rng.normal(size=12)
    [effect] = effects.effects(x, y, ["x"], order=1)
    low, high = stats.ttest_ind(y[6:], y[:6]).confidence_interval(0.95)
    assert effect.interval == pytest.approx((low, high))


def test_blocks_and_corners() -> None:
    design = two_level(3)
    x = design.coded
    y = 2.0 * x[:, 0] * x[:, 1] + x[:, 2]
    robust = effects.block_means(x, y, 2, [0, 1])
    assert len(robust) == 4
    assert all(high > low for low, high in robust.values())
    mixed = effects.block_means(x, y, 0, [1, 2])
    assert {high > low for low, high in mixed.values()} == {True, False}
    assert effects.corner_means(x, y, 0, 1) == {(-1, -1): 2, (-1, 1): -2, (1, -1): -2, (1, 1): 2}


def test_half_normal_quantiles_are_of_fillibens_medians() -> None:
    # SciPy computes the same medians for its probability plots.
    (theory, _), _ = stats.probplot(np.arange(9.0), dist=stats.halfnorm)
    assert effects.half_normal_quantiles(9) == pytest.approx(theory)


def test_ranks_of_ties() -> None:
    assert ranks.factor_ranks([0.1, -5.0, 0.1, 2.0]).tolist() == [3.5, 1, 3.5, 2]
    assert ranks.ordinal([4.0, 2.5, 4.0, 3.25]).tolist() == [4, 1, 4, 2]
    assert ranks.value_ranks([1, 3, 2], low_is_best=True).tolist() == [3, 1, 2]
    edges = ranks.cube_edges([0, 1, 10, 11, 100, 101, 110, 111])
    assert len(edges) == 12
    assert ranks.edge_means(edges) == {0: 1, 1: 10, 2: 100}
    with pytest.raises(ValueError, match="power of two"):
        ranks.cube_edges([1, 2, 3])


def test_the_cell_to_fill_is_the_one_farther_from_the_mean() -> None:
    assert ranks.distinctive([1, 2, 3, 9]) == 3
    assert ranks.distinctive([-9, 2, 3, 4]) == 0


def test_equal_values_have_no_extreme() -> None:
    found = outliers.residuals([0.1 + 0.2, 0.3, 0.3])
    assert found.extreme == -1
    assert not found.is_outlier
    assert found.magnitude == -math.inf


def test_the_critical_value_of_2010_never_fires_for_six() -> None:
    six = outliers.residuals([100.0, 1, 1, 1, 1, 1], outliers.NIST_CRITICAL)
    assert six.statistic == pytest.approx(outliers.largest_grubbs(6))
    assert not six.is_outlier
    assert outliers.residuals([100.0, 1, 1, 1, 1, 1]).is_outlier


def test_of_six_values_the_critical_value_of_2010_is_one_as_rare() -> None:
    rng = np.random.default_rng(5)
    alarms = [
        np.mean([
            outliers.residuals(row, outliers.nist_critical(count)).is_outlier
            for row in rng.normal(size=(6000, count))
        ])
        for count in (6, 7)
    ]  # fmt: skip
    assert outliers.nist_critical(7) == outliers.nist_critical(8) == outliers.NIST_CRITICAL
    # With 6000 trials at a rate near 0.035, 0.01 is three standard deviations of the difference.
    assert alarms[0] == pytest.approx(alarms[1], abs=0.01)
    assert alarms[0] > 0.01


def test_grubbs_false_alarms_are_as_many_as_promised() -> None:
    rng = np.random.default_rng(2)
    found = [outliers.residuals(row).is_outlier for row in rng.normal(size=(4000, 7))]
    # The test is two-sided at 5 %; 1 % is three standard deviations of the rate in 4000 trials.
    assert np.mean(found) == pytest.approx(0.05, abs=0.0105)


def test_standouts_need_a_relative_effect() -> None:
    cell = [10.0, 10.1, 9.9, 10.0, 10.05, 9.95, 14.0]
    values = np.array([[cell], [[10.0, 10.1, 9.9, 10.0, 10.05, 9.95, 10.02]]])
    [[one], [other]] = outliers.standouts(values, min_percent=30)
    assert one is not None
    assert (one.who, one.is_high) == (6, True)
    assert other is None
    assert outliers.standouts(values, min_percent=40) == [[None], [None]]


def responses() -> np.ndarray:
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(60, 2))
    noise = 0.1 * rng.normal(size=(60, 5))
    loads = np.array([[1, 1, -1, 0, 0], [0, 0, 0, 1, 1]])
    mixed: np.ndarray = hidden @ loads + noise
    return mixed


def test_correlated_responses_form_groups() -> None:
    values = responses()
    r = correlation.correlations(values)
    assert r == pytest.approx(np.corrcoef(values.T))
    found = correlation.groups(r)
    assert [g.members for g in found] == [(3, 4), (0, 1, 2)]
    assert [(g.correlated, g.possible) for g in found] == [(1, 1), (3, 3)]
    first = correlation.pairs(r, 0.9)
    assert {(p.first, p.second) for p in first} == {(0, 1), (0, 2), (1, 2), (3, 4)}
    assert [abs(p.r) for p in first] == sorted((abs(p.r) for p in first), reverse=True)
    assert set(correlation.by_partners(r)[:2]) == {3, 4}
    assert set(correlation.by_strength(r)[:3]) == {0, 1, 2}
    count, _ = correlation.histogram(r)
    assert count.sum() == 10
    constant = correlation.correlations(np.column_stack([values[:, 0], np.ones(60)]))
    assert constant.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    # Rounded means do not make constant columns vary, but numbers as small as 1e-30 may vary.
    constant = correlation.correlations(np.column_stack([[0.1] * 3, [0.7] * 3, [1e-30, 0, 0]]))
    assert constant.tolist() == np.eye(3).tolist()


def test_components_are_the_eigenvectors_of_the_correlation_matrix() -> None:
    values = responses()
    found = components.principal_components(values)
    eigenvalues, vectors = np.linalg.eigh(np.corrcoef(values.T))
    assert found.deviations**2 == pytest.approx(eigenvalues[::-1])
    assert np.abs(found.weights[0]) == pytest.approx(np.abs(vectors[:, -1]))
    assert found.variance_shares.sum() == pytest.approx(1)
    assert found.variance_shares[:2].sum() > 0.97
    assert found.deviation_shares[:2].sum() < found.variance_shares[:2].sum()
    assert found.scores.std(axis=0, ddof=1) == pytest.approx(found.deviations)
    # Units do not matter, so loss rates and bit/s can be mixed. A constant response scores 0.
    other = components.principal_components(
        values * 10.0 ** np.arange(10, 10 - 4 * values.shape[1], -4)
    )
    assert other.weights == pytest.approx(found.weights)
    constant = components.standardised([[0.1, 1e10], [0.1, 2e10], [0.1, 3e10]])
    assert constant[:, 0].tolist() == [0, 0, 0]


def test_groups_of_scores_name_the_factor_that_makes_them() -> None:
    rng = np.random.default_rng(4)
    speed = np.tile(["slow", "fast"], 20)
    other = rng.choice(["a", "b"], size=40)
    scores = np.column_stack([np.where(speed == "slow", -5, 5), np.zeros(40)])
    scores = scores + rng.normal(size=(40, 2))
    labels = components.score_groups(scores, 2)
    found = components.causes(labels.tolist(), {"other": other.tolist(), "speed": speed.tolist()})
    for causes in found.values():
        assert causes[0].factor == "speed"
        assert causes[0].share == 1.0
        assert causes[0].p < 1e-6


def test_dendrograms_are_matlabs() -> None:
    # Pairwise distances in standard deviations by hand; average linkage joins 0 and 1, then 2.
    values = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 8.0], [0.5, 9.0]])
    scaled = values / values.std(axis=0, ddof=1)
    found = clusters.dendrogram(values)
    first = min(np.linalg.norm(scaled[i] - scaled[j]) for i in range(4) for j in range(i + 1, 4))
    assert found.merges[0, 2] == pytest.approx(first)
    assert found.labels[2] == found.labels[3] != found.labels[0]


def test_one_competitor_apart_is_distinctive_and_equal_ones_are_flat() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(7, 20)) * 0.1
    values[4] += 10
    constant = np.column_stack([values, np.full(7, 3.0)])
    found = clusters.dendrogram(constant)
    assert found.distinctive == (4,)
    assert found.responses == 20
    flat = clusters.dendrogram(np.ones((7, 5)))
    assert (flat.height, flat.distinctive, flat.responses) == (0.0, (), 0)


def test_conditions_are_ordered_and_classed() -> None:
    rates = [2e-2, 1e-6, 3e-4, 2e-6, 1e-2]
    assert congestion.congestion_order(rates) == [1, 3, 2, 4, 0]
    bounds = congestion.natural_bounds(rates, 3)
    assert congestion.congestion_classes(rates, bounds) == [2, 0, 1, 0, 2]
    assert congestion.congestion_order([[3, 3], [1, 1], [0, 4]]) == [1, 2, 0]
    with pytest.raises(ValueError, match="too few"):
        congestion.natural_bounds([0.1, 0.2], 3)


def test_a_cut_needs_four_batches_of_five() -> None:
    """Check that MSER-5 (White 1997) discards an outlying first batch only if three more follow.

    A batch has five samples.
    """
    assert steady.warm_up([100.0] * 5 + [1.0] * 10) == 0
    assert steady.warm_up([100.0] * 5 + [1.0] * 15) == 5


def test_the_drift_of_a_line_is_its_rise() -> None:
    """Check the change along the line that `drift` fits to 0, 1, ..., 99.

    The 20 batch means rise from 2 to 97, that is, by 95.
    """
    found = steady.drift(range(100))
    assert found.change == pytest.approx(95.0)
    assert found.percent == pytest.approx(100 * 95.0 / 49.5)
    assert math.isnan(steady.drift([-1.0] * 10 + [1.0] * 10).percent)
    assert steady.drift([3.0] * 40) == steady.Drift(0.0, 0.0, 1.0)


def test_warm_up_and_drift_of_a_series() -> None:
    rng = np.random.default_rng(6)
    rising = 100 * (1 - np.exp(-np.arange(1000) / 40)) + rng.normal(size=1000)
    cut = steady.warm_up(rising)
    assert 80 <= cut <= 400
    steady_part = rng.normal(10, 1, size=2000)
    assert steady.drift(steady_part).p > 0.05
    drifting = steady_part + np.linspace(0, 1, 2000)
    found = steady.drift(drifting)
    assert found.p < 0.05
    assert found.change == pytest.approx(1, abs=0.35)
    mean = steady.steady_mean(steady_part)
    assert mean.low < 10 < mean.high
    assert mean.high - mean.low < 0.2


def test_periods_and_lags() -> None:
    t = np.arange(1, 11) * 0.2
    y = np.array([0, 0, 5, 8, 8, 8, 2, 2, 8, 8.0])
    periods = {"first": (0.0, 1.0), "last": (1.0, 2.0), "none": (5.0, 6.0)}
    means = steady.period_means(t, y, periods)
    assert means["first"] == pytest.approx(4.2)
    assert means["last"] == pytest.approx(5.6)
    assert math.isnan(means["none"])
    assert steady.lag(t, y, 0.0, 8.0) == pytest.approx(0.8)
    assert steady.lag(t, y, 1.0, 8.0) == 0.0
    assert steady.lag(t, y, 1.4, 8.0) == pytest.approx(0.4)
    assert steady.lag(t, y, 0.0, 9.0) is None
    assert steady.lag(t, y, 1.4, 8.0, end=1.7) is None


def test_paired_differences_cancel_what_pairs_share() -> None:
    rng = np.random.default_rng(7)
    common = 100 * rng.normal(size=10)
    first, second = common + 1.0, common
    found = comparisons.paired(first, second)
    assert (found.low, found.mean, found.high) == pytest.approx((1, 1, 1))
    given = [1.0, 2.0, 4.0]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(given), scale=stats.sem(given))
    found = comparisons.mean_interval(given)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_anova_of_a_one_way_layout_is_the_textbooks() -> None:
    groups = {"a": [6.0, 8, 4, 5, 3, 4], "b": [8.0, 12, 9, 11, 6, 8], "c": [13.0, 9, 11, 8, 7, 12]}
    factor = [name for name, values in groups.items() for _ in values]
    y = [value for values in groups.values() for value in values]
    [between, within] = variance.anova({"group": factor}, y)
    assert [between.sum_of_squares, within.sum_of_squares] == pytest.approx([84, 68])
    assert (between.freedom, within.freedom) == (2, 15)
    expected = stats.f_oneway(*groups.values())
    assert between.f == pytest.approx(expected.statistic)
    assert between.p == pytest.approx(expected.pvalue)


def test_regression_finds_the_line() -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(size=200)
    y = 3 + 2 * x + 0.01 * rng.normal(size=200)
    found = comparisons.regression({"x": x}, y)
    line = stats.linregress(x, y)
    reach = stats.t.ppf(0.975, 198)
    slope, intercept = (found.coefficients[name] for name in ("x", "intercept"))
    assert slope.mean == pytest.approx(line.slope)
    assert slope.high - slope.mean == pytest.approx(reach * line.stderr)
    assert intercept.mean - intercept.low == pytest.approx(reach * line.intercept_stderr)
    assert found.coefficients["x"].low < 2 < found.coefficients["x"].high
    assert found.r_squared > 0.99


def table() -> ResponseTable:
    """Return a table of two factors, with the response y = 10 speed + kind + 0.1 replication."""
    rows = [
        {
            "speed": s,
            "kind": k,
            "replication": r,
            "y": 10.0 * s + k + 0.1 * r,
            "gap": None if k == 3 else 1.0,
        }
        for r in (1, 2)
        for s in (1, 2)
        for k in (1, 2, 3)
    ]
    return ResponseTable.of(pl.DataFrame(rows), ["speed", "kind"], ["y", "gap"])


def test_means_of_levels_and_their_shares() -> None:
    speed, kind = levels.factor_means(table(), "y")
    assert (speed.factor, kind.factor) == ("speed", "kind")
    assert [m.mean for m in speed.means] == pytest.approx([12.15, 22.15])
    assert speed.span == pytest.approx(10)
    # The replications differ by 0.1: the half-width is 0.05 times t with one degree of freedom.
    reach = speed.means[0].high - speed.means[0].mean
    assert reach == pytest.approx(0.05 * stats.t.ppf(0.975, 1))
    assert speed.share is not None
    assert speed.share > 0.9


def test_levels_are_compared_in_pairs() -> None:
    found = levels.compare_levels(table(), "kind", "y")
    assert [(c.first, c.second) for c in found] == [(1, 2), (1, 3), (2, 3)]
    assert [c.difference.mean for c in found] == pytest.approx([-1, -2, -1])
    assert found[0].difference.count == 2
    assert found[0].difference.high - found[0].difference.low < 1e-9
    assert (found[0].ahead, found[0].conditions, found[0].left_out) == (0, 2, [])


def test_conditions_that_are_not_compared_are_named() -> None:
    frame = table().frame.filter(~((pl.col("speed") == 2) & (pl.col("y").is_between(23.15, 23.3))))
    given = ResponseTable.of(frame, ["speed", "kind"], ["y"])
    first, second, _ = levels.compare_levels(given, "kind", "y")
    assert (first.conditions, first.left_out) == (2, [])
    assert (second.conditions, second.left_out) == (1, ["speed 2 lacks 3 in a replication"])
    frame = frame.filter((pl.col("speed") == 1) | (pl.col("y") < 23))
    fewer = ResponseTable.of(frame, ["speed", "kind"], ["y"])
    assert fewer.conditions("kind")[::2] == ([{"speed": 1}], ["speed 2 lacks 3"])


def test_the_interval_of_a_comparison_is_that_of_replications() -> None:
    # The difference is 1 and 3 in the two replications, and varies much between conditions.
    rows = [
        {"rate": rate, "kind": kind, "replication": r, "y": 100.0 * rate + kind * (rate * gap)}
        for r, gap in ((1, 1.0), (2, 3.0))
        for rate in (1, 5)
        for kind in (0, 1)
    ]
    given = ResponseTable.of(pl.DataFrame(rows), ["rate", "kind"], ["y"])
    [found] = levels.compare_levels(given, "kind", "y")
    low, high = stats.t.interval(0.95, 1, loc=-6.0, scale=stats.sem([-3.0, -9.0]))
    assert found.difference.mean == pytest.approx(-6)
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high))
    alone = ResponseTable.of(given.frame.filter(replication=1), ["rate", "kind"], ["y"])
    [found] = levels.compare_levels(alone, "kind", "y")
    low, high = stats.t.interval(0.95, 1, loc=-3.0, scale=stats.sem([-1.0, -5.0]))
    assert (found.difference.low, found.difference.high) == pytest.approx((low, high))


def test_runs_are_compared_by_the_number_of_their_replication_and_by_their_mean() -> None:
    given = table()
    shuffled = ResponseTable.of(given.frame.sort("y", descending=True), ["speed", "kind"], ["y"])
    assert shuffled.matched("kind", "y") == {
        f"speed {speed}": [{k: 10.0 * speed + k + 0.1 * r for k in (1, 2, 3)} for r in (1, 2)]
        for speed in (2, 1)
    }
    unnumbered = ResponseTable.of(given.frame.drop("replication"), ["speed", "kind"], ["y"])
    [[first], _] = unnumbered.matched("kind", "y").values()
    assert first == pytest.approx({k: 10.15 + k for k in (1, 2, 3)})


@pytest.mark.parametrize(
    ("levels", "ascending"),
    [
        (["5 ms", "10 ms", "1 s"], ["5 ms", "10 ms", "1 s"]),
        (["900 kbps", "10 Mbps"], ["900 kbps", "10 Mbps"]),
        (["reno", "5 ms", "10 ms"], ["10 ms", "5 ms", "reno"]),
        (["100 packets", "20 packets"], ["20 packets", "100 packets"]),
        (["b", "a"], ["a", "b"]),
        ([True, False], [False, True]),
    ],
)
def test_levels_of_a_table_ascend(levels: list[str], ascending: list[str]) -> None:
    frame = pl.DataFrame({"a": levels, "y": [1.0] * len(levels)})
    assert ResponseTable.of(frame, ["a"], ["y"]).factors["a"] == ascending


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "empty"), ("a,y\n0,1\n0,1,2\n", "more fields")],
)
def test_a_file_that_is_no_table_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match=f"t.csv: expected a table, CSV or Parquet: .*{message}"):
        ResponseTable.read(tmp_path / "t.csv", ["a"])


def test_a_table_may_change_its_mind_late_and_lack_values(tmp_path: Path) -> None:
    rows = "".join(f"{k % 2},{k},{k}\n" for k in range(200))
    (tmp_path / "t.csv").write_text(f"a,y [s],z\n{rows}0,0.5,NA\n")
    given = ResponseTable.read(tmp_path / "t.csv", ["a"])
    assert given.matching(["y [s]"]) == ("y [s]",)
    assert given.values("y [s]")[-1] == 0.5
    assert given.incomplete() == {"z": 1}


def test_a_table_is_filtered_and_refuses_what_it_has_not() -> None:
    given = table()
    assert given.complete() == ("y",)
    with pytest.raises(TableError, match="4 of 12 runs"):
        given.values("gap")
    with pytest.raises(TableError, match="expected two levels, found 3"):
        given.coded(["kind"])
    left = given.where("kind", ["3"], keep=False)
    assert left.factors["kind"] == [1, 2]
    assert len(left.frame) == 8
    assert left.values("gap").tolist() == [1.0] * 8
    assert set(left.coded()[:, 1]) == {-1, 1}
    with pytest.raises(TableError, match="no level 9"):
        given.where("kind", ["9"])
    assert given.entangled() == []
    part = ResponseTable.of(given.frame.filter(pl.col("y") < 23), ["speed", "kind"], ["y"])
    assert part.entangled() == [("speed", "kind")]
    frame = given.frame.with_columns(paced=pl.col("speed") == 2)
    paced = ResponseTable.of(frame, ["paced", "kind"], ["y"])
    assert paced.where("paced", ["true"]).values("y").min() > 20
    with pytest.raises(TableError, match="no level yes; available: false, true"):
        paced.where("paced", ["yes"])
    conditions, cells, _ = given.conditions("kind")
    assert conditions == [{"speed": 1}, {"speed": 2}]
    assert cells.shape == (2, 1, 3)
    assert cells[1, 0].tolist() == pytest.approx([21.15, 22.15, 23.15])


@pytest.mark.parametrize(("columns", "message"), [(20, "available: c0, "), (21, "of 21 columns ")])
def test_twenty_columns_are_all_named_and_more_are_chosen_from(columns: int, message: str) -> None:
    frame = pl.DataFrame({f"c{number}": [0.0, 1.0] for number in range(columns)})
    with pytest.raises(TableError, match=message):
        ResponseTable.of(frame, [], ["c0"])


def test_of_many_columns_the_twenty_with_few_values_are_all_named() -> None:
    frame = pl.DataFrame({f"c{number}": [0.0, min(number, 1)] for number in range(21)})
    with pytest.raises(TableError, match="c20") as refused:
        ResponseTable.of(frame, [], ["c1"])
    assert "more" not in str(refused.value)


def test_a_single_value_has_no_interval() -> None:
    assert comparisons.half_width([5.0]) is None
    # Student's t with one degree of freedom is 12.706; the mean of 4 and 6 has standard error 1.
    assert comparisons.half_width([4.0, 6.0]) == pytest.approx(12.706, abs=1e-3)


def test_causes_are_factors_of_several_levels_in_several_groups() -> None:
    """Check the possible causes that are named for each group of runs.

    For each factor, the level that is most frequent in the group is named. A factor with only one
    level is not named. If there is only one group, nothing is named.
    """
    factors = {"size": ["small", "small", "large", "large"], "same": ["one"] * 4}
    found = components.causes([0, 0, 1, 1], factors)
    assert [(c.factor, c.level, c.share) for c in found[0]] == [("size", "small", 1.0)]
    assert [(c.factor, c.level) for c in found[1]] == [("size", "large")]
    # The chi-square statistic with Yates' correction is 1.
    assert found[0][0].p == pytest.approx(0.3173, abs=1e-4)
    assert components.causes([0, 0, 0, 0], factors) == {0: []}


# Coefficients of four responses, some of them negative.
TABLE = np.array(
    [
        [1.0, 0.9, -0.62, 0.1],
        [0.9, 1.0, 0.35, -0.2],
        [-0.62, 0.35, 1.0, 0.0],
        [0.1, -0.2, 0.0, 1.0],
    ]
)


def test_strengths_are_means_over_the_other_responses() -> None:
    assert correlation.mean_strength(TABLE) == pytest.approx(
        [1.62 / 3, 1.45 / 3, 0.97 / 3, 0.3 / 3]
    )
    assert correlation.by_strength(TABLE) == [0, 1, 2, 3]
    assert correlation.by_strength(TABLE[::-1, ::-1]) == [3, 2, 1, 0]


def test_partners_are_counted_above_the_threshold_and_then_above_half() -> None:
    """Check that responses are ordered by number of correlations above 0.65, then above 0.5."""
    assert correlation.by_partners(TABLE) == [3, 2, 1, 0]
    assert correlation.by_partners(np.abs(TABLE[::-1, ::-1])) == [0, 1, 2, 3]


def test_pairs_are_those_of_at_least_a_size() -> None:
    found = correlation.pairs(TABLE, 0.2)
    assert [(p.first, p.second, p.r) for p in found] == [
        (0, 1, 0.9), (0, 2, -0.62), (1, 2, 0.35), (1, 3, -0.2)
    ]  # fmt: skip
    assert len(correlation.pairs(TABLE)) == 6


def test_pairs_that_come_and_go() -> None:
    later = TABLE.copy()
    later[0, 2], later[2, 3] = 0.1, 0.7
    assert correlation.gained_and_lost(TABLE, later, 0.5) == ([(2, 3)], [(0, 2)])


def test_a_histogram_has_each_pair_once() -> None:
    counts, edges = correlation.histogram(TABLE, bins=10)
    assert counts.tolist() == [1, 1, 1, 1, 0, 0, 1, 0, 0, 1]
    assert edges[[0, -1]].tolist() == [0.0, 1.0]


def test_a_cut_makes_the_standard_error_of_the_rest_least() -> None:
    """Check the MSER-5 cut (White 1997), which minimises the standard error of the rest."""
    # Cutting 0 to 3 batches gives variance / number of batches of 0.742, 0.058, 0.037 and 0.032. A
    # cut before the two last batches would give 0, but only the first half may be cut.
    means = [8.0, 2.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    series = [value for mean in means for value in [mean] * 5]
    assert steady.warm_up(series) == 15
    assert steady.warm_up(np.repeat(means, 2), batch=2) == 6


def test_a_lag_ends_with_the_sample_that_reaches_the_level() -> None:
    t, y = [1.0, 2.0, 3.0, 4.0], [5.0, 1.0, 4.0, 6.0]
    assert steady.lag(t, y, 0.5, 5.0) == 0.5
    assert steady.lag(t, y, 1.0, 5.0) == 0.0
    assert steady.lag(t, y, 1.5, 5.0) == 0.0
    assert steady.lag(t, y, 2.0, 4.0) == 1.0
    assert steady.lag(t, y, 2.0, 5.0, end=4.0) == 2.0
    assert steady.lag(t, y, 2.0, 5.0, end=3.9) is None


def test_an_effect_on_nothing_has_no_percent() -> None:
    """Check that an effect has no percentage if the mean of the response is zero up to rounding."""
    for low, high, mean in ((0.0, 0.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, 1.0, 1e-12)):
        assert math.isnan(effects.Effect("x", (0,), low, high, mean).percent)
    assert effects.Effect("x", (0,), 1.0, 3.0, 2.0).percent == pytest.approx(100.0)
    assert effects.Effect("x", (0,), -1.0, -3.0, -2.0).percent == pytest.approx(100.0)
