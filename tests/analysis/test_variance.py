"""Analysis of variance with missing runs, and with fractions of designs."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from longhaul.analysis.variance import Source, _squares, anova

RANDOM = np.random.default_rng(47)
HALF = [(*run, run[0] * run[1] * run[2]) for run in itertools.product((-1, 1), repeat=3)] * 5


def by_name(sources: list[Source]) -> dict[str, Source]:
    return {source.name: source for source in sources}


def test_the_factor_that_changes_nothing_has_no_part_in_whatever_order() -> None:
    algorithm = ["reno", "cubic"] * 9 + ["reno", "cubic"]
    loss = [1, 2] * 9 + [2, 1]
    y = [10.0 * at + 0.1 * place for place, at in enumerate(loss)]
    factors: dict[str, Sequence[object]] = {"algorithm": algorithm, "loss": loss}
    one, other = by_name(anova(factors, y)), by_name(anova(dict(reversed(factors.items())), y))
    for name in factors:
        assert one[name].sum_of_squares == pytest.approx(other[name].sum_of_squares, abs=1e-9)
    assert one["algorithm"].share < 1e-3 < one["loss"].share


def test_sums_of_squares_are_those_of_type_two() -> None:
    """Check that each term's sum of squares is of type II.

    The sum is the decrease of the residual sum of squares if the term is added to all terms that do
    not contain the term (Langsrud, Statistics and Computing 13, 2003, section 2).
    """
    whole = [*itertools.product("xy", "xyz", "wxyz")]
    runs = whole + [whole[k] for k in RANDOM.integers(len(whole), size=30)]
    factors = dict(zip("abc", zip(*runs, strict=True), strict=True))
    y = RANDOM.normal(size=len(runs)) + [a == "x" for a in factors["a"]]
    terms = [*itertools.combinations("abc", 1), *itertools.combinations("abc", 2)]
    found = by_name(anova(factors, y))
    assert len(found) == len(terms) + 1
    whole_residual, whole_rank = fitted(factors, terms, y)
    variance = whole_residual / (len(y) - whole_rank)
    for term in terms:
        source = found["*".join(term)]
        others = [other for other in terms if not set(term) <= set(other)]
        (without, rank), (with_it, larger) = (
            fitted(factors, chosen, y) for chosen in (others, [*others, term])
        )
        assert source.sum_of_squares == pytest.approx(without - with_it)
        assert source.freedom == larger - rank
        ratio = (without - with_it) / source.freedom / variance
        p = stats.f.sf(ratio, source.freedom, len(y) - whole_rank)
        assert (source.f, source.p) == pytest.approx((ratio, p))


def fitted(
    factors: dict[str, tuple[str, ...]], terms: Sequence[Sequence[str]], y: np.ndarray
) -> tuple[float, int]:
    """Return the residual sum of squares of a model with these terms, and the model's rank."""
    columns = [np.ones(len(y))]
    for term in terms:
        cells = list(zip(*(factors[name] for name in term), strict=True))
        columns += [np.array([cell == level for cell in cells], float) for level in set(cells)]
    coefficients, _, rank, _ = np.linalg.lstsq(np.column_stack(columns), y)
    return float(np.square(y - np.column_stack(columns) @ coefficients).sum()), int(rank)


def test_a_fraction_has_a_line_for_what_its_runs_cannot_tell_apart() -> None:
    a, b, c, d = (list(column) for column in zip(*HALF, strict=True))
    y = RANDOM.normal(size=len(HALF)) + 4 * np.multiply(a, b)
    sources = anova({"a": a, "b": b, "c": c, "d": d}, y)
    assert [one.name for one in sources[4:]] == [
        "a*b = c*d", "a*c = b*d", "a*d = b*c", "residual"
    ]  # fmt: skip
    assert sum(one.sum_of_squares for one in sources) == pytest.approx(len(y) * np.var(y))
    assert sum(one.freedom for one in sources) == len(y) - 1
    contrast = float(np.dot(np.multiply(c, d), y)) ** 2 / len(y)
    assert sources[4].sum_of_squares == pytest.approx(contrast)
    # An interaction is aliased with a main effect, and a factor with another factor.
    [c_is, *_] = [
        one
        for one in anova({"a": a, "b": b, "c": np.multiply(a, b).tolist()}, y)
        if "c" in one.names
    ]
    assert c_is.name == "c = a*b"
    assert [one.name for one in anova({"a": a, "b": a}, y)] == ["a = b", "residual"]


def test_interactions_that_leave_no_residual_are_left_out() -> None:
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    assert [one.name for one in anova({"a": a, "b": b}, [1.0, 2, 3, 7])] == ["a", "b", "residual"]
    assert anova({"a": a}, [1.0, 1, 1, 1]) == []


@pytest.mark.parametrize(
    ("found", "total", "kept"),
    [
        # Differences below 1e-10 of the total sum of squares count as rounding.
        (1e-9, 100.0, 0.0), (2e-8, 100.0, 2e-8), (1e-3, 1e-8, 1e-3), (1e-10, 1.0, 0.0),
        (-1e-12, 1.0, 0.0), (0.0, 0.0, 0.0),
    ],
)  # fmt: skip
def test_squares_that_are_rounding_are_zero(found: float, total: float, kept: float) -> None:
    assert _squares(found, total) == kept
