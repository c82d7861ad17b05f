"""Tests of verdicts on families of printed numbers: rates of error, power, and examples."""

from math import log, sqrt

import numpy as np
import pytest

from longhaul.analysis.families import (
    DIFFERENCE,
    LOGARITHM,
    Family,
    family,
    holm,
    judge,
)
from longhaul.analysis.judging import OUTSIDE, UNDECIDED

CELLS, REPLICATIONS = 16, 20


def draws(random: np.random.Generator, shape: str, studies: int, shared: bool) -> np.ndarray:
    """Return logarithms of random values as an array (study, draw, cell).

    The last draw stands for the printed values. If `shared`, all cells of a draw are equal.
    """
    size = (studies, REPLICATIONS + 1, 1 if shared else CELLS)
    drawn = random.normal(size=size) if shape == "normal" else random.gamma(9.0, size=size)
    return np.broadcast_to(drawn, (studies, REPLICATIONS + 1, CELLS))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_print_that_is_like_ours_is_rejected_as_often_as_the_level_says(
    shape: str, shared: bool
) -> None:
    studies = 1000
    logs = 0.3 * draws(np.random.default_rng(7), shape, studies, shared)
    rejected = 0
    for drawn in logs:
        values = tuple((drawn[:-1] - drawn[-1]).mean(axis=1).tolist())
        rejected += Family(values, (-9.0, 9.0), LOGARITHM).p_value < 0.05
    # The tolerance is three standard errors of a share of 5 % in this number of studies.
    assert abs(rejected / studies - 0.05) < 3.0 * sqrt(0.05 * 0.95 / studies)


def test_a_factor_of_two_in_sixteen_cells_is_found_in_four_of_five_studies() -> None:
    random = np.random.default_rng(8)
    found = 0
    for _ in range(100):
        # All cells of a replication share a random deviation of 0.1.
        shared = 0.1 * random.normal(size=(REPLICATIONS + 1, 1))
        logs = shared + 0.1 * random.normal(size=(REPLICATIONS + 1, CELLS))
        printed = np.exp(logs[-1] - log(2.0))
        bands = [(0.7 * number, 1.3 * number) for number in printed]
        one = family(np.exp(logs[:-1]), printed.tolist(), bands, LOGARITHM)
        others = [Family(tuple(random.normal(size=20)), (-3.0, 3.0), LOGARITHM)] * 30
        found += judge([one, *others])[0] == OUTSIDE
    assert found >= 80


def test_values_and_bands_by_hand() -> None:
    ours = np.array([[2.0, 4.0], [1.0, 8.0], [4.0, 2.0]])
    bands = [(0.5, 2.0), (2.0, 8.0)]
    logs = family(ours, [1.0, 4.0], bands, LOGARITHM)
    assert logs.values == pytest.approx([log(2) / 2, log(2) / 2, log(2) / 2])
    assert logs.band == pytest.approx((-log(2), log(2)))
    assert logs.difference == pytest.approx(sqrt(2) - 1)
    plain = family(ours, [1.0, 4.0], bands, DIFFERENCE)
    assert plain.values == pytest.approx([0.5 / 2.5, 2.0 / 2.5, 0.5 / 2.5])
    assert plain.band == pytest.approx((-1.25 / 2.5, 2.5 / 2.5))
    assert plain.text == "0 of 3 replications reach print, ours 40 % higher"


def test_a_band_from_zero_on_has_no_lower_end_of_logarithms() -> None:
    ours = np.full((3, 2), 0.1)
    assert not family(ours, [1.0, 1.0], [(0.0, 2.0), (0.5, 2.0)], LOGARITHM).is_outside


@pytest.mark.parametrize(
    ("ours", "message"),
    [(np.ones((2, 2)), "3 replications or more, found 2"), (np.zeros((3, 2)), "take differences")],
)
def test_what_is_no_family_is_refused(ours: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        family(ours, [1.0, 1.0], [(0.5, 2.0)] * 2, LOGARITHM)


def test_verdicts_by_hand() -> None:
    wide, narrow = (-9.0, 9.0), (-0.1, 0.1)
    far = (-0.52, -0.5, -0.48, -0.5)
    near = (-0.5, 0.1, -0.9, -0.2)
    alone = (-0.5, 0.1, 0.2, -1.5)
    same = (0.0, 0.0, 0.0)
    families = [
        Family(far, narrow, LOGARITHM),  # rejected and outside the band
        Family(far, wide, LOGARITHM),  # rejected but inside: cells keep their verdicts
        Family(near, narrow, LOGARITHM),  # outside; one run of four reaches print
        Family(alone, narrow, LOGARITHM),  # outside; two of four reach print
        Family(same, narrow, LOGARITHM),
    ]
    assert judge(families) == [OUTSIDE, "", UNDECIDED, "", ""]
    assert [one.reaching for one in families] == [0, 0, 1, 2, 3]


def test_holm_steps_down() -> None:
    assert holm([0.03, 0.01, 0.04]) == [False, True, False]
    assert holm([0.02, 0.01, 0.04]) == [True, True, True]
    assert holm([0.02, 0.017, 0.001]) == [True, True, True]
    assert holm([]) == []
