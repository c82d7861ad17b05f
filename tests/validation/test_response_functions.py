"""Mean windows under losses, by a recursion, by closed forms and by simulation."""

from math import log, pi, prod, sqrt

import pytest

from validation.response import laws, sawtooth
from validation.response.algorithms import (
    ALGORITHMS,
    EXPLAINED_BY,
    Algorithm,
    aimd,
)
from validation.response.judge import Verdict, judge
from validation.response.measure import LOSS_RATES, measure

# Standard error of the recursion under random losses.
STATISTICS = 0.0035


@pytest.mark.parametrize(("increase", "decrease"), [(1.0, 0.5), (0.3125, 0.125), (16.0, 0.5)])
def test_a_saw_tooth_of_aimd_has_its_closed_form(increase: float, decrease: float) -> None:
    law = laws.Aimd(increase, decrease)
    expected = aimd(increase, decrease, 1e-4)
    assert sawtooth.under_even_loss(law, 1e-4, expected) == pytest.approx(expected, rel=2e-3)


def random_over_even(kept: float) -> float:
    """Return the ratio of AIMD's mean window under random losses to that under even losses.

    `kept` is the fraction of the window that a loss leaves (Ott, Kemperman and Mathis, "The
    stationary behavior of ideal TCP congestion avoidance", 1996).
    """
    # With random losses, w^2 at a segment is 2 a / p times a sum of exponential variables with
    # weights 1, q, q^2, ...; `moment` is the mean of that sum to the power -1/2. The mean window
    # over time is the inverse of the mean of 1 / w over segments.
    q = kept * kept
    moment: float = sqrt(pi) * prod((1.0 - q ** (k - 0.5)) / (1.0 - q**k) for k in range(1, 400))
    return sqrt(2.0) / moment / aimd(1.0, 1.0 - kept, 1.0)


@pytest.mark.parametrize("decrease", [0.5, 0.125])
def test_random_losses_raise_the_mean_of_aimd_as_they_must(decrease: float) -> None:
    expected = aimd(1.0, decrease, 1e-3)
    found = sawtooth.under_random_loss(laws.Aimd(1.0, decrease), 1e-3, expected)
    expected *= random_over_even(1.0 - decrease)
    assert found == pytest.approx(expected, rel=3 * STATISTICS)


def test_the_ratio_for_standard_tcp_is_the_published_one() -> None:
    # The published mean is 1.3098 / sqrt(p) (Ott, Kemperman and Mathis).
    assert aimd(1.0, 0.5, 1.0) * random_over_even(0.5) == pytest.approx(1.3098, abs=5e-5)


def test_a_geometric_law_has_the_same_mean_under_random_losses() -> None:
    # The time between losses is independent of the window: both means are a / (p ln(1 / (1 - b))).
    expected = 0.01 / (1e-4 * log(1.0 / 0.875))
    for mean in (sawtooth.under_even_loss, sawtooth.under_random_loss):
        assert mean(laws.Scalable(), 1e-4, expected) == pytest.approx(expected, rel=0.02)


def test_feedback_costs_a_geometric_law_one_round_trip_in_fourteen() -> None:
    # Regrowth takes ln(8/7) / a round trips, and the retransmission one more.
    rounds = log(1.0 / 0.875) / 0.01
    found = sawtooth.under_even_loss(laws.Scalable(), 1e-4, 700.0, feedback=True)
    # ACKs are of the previous round trip's window, which is smaller by a hundredth.
    assert found == pytest.approx(1e4 / (1.01 * rounds + 1.0), rel=0.003)


@pytest.mark.long
@pytest.mark.parametrize("p", LOSS_RATES)
@pytest.mark.parametrize(
    "algorithm",
    # For those in `EXPLAINED_BY`, an entry without their known difference is tested instead.
    [one for one in ALGORITHMS if one.name not in EXPLAINED_BY],
    ids=lambda one: one.name,
)
def test_mean_windows_on_a_network_are_their_law_s(algorithm: Algorithm, p: float) -> None:
    measurement = measure(algorithm, p)
    for figures in (measurement.even, measurement.random):
        assert judge(measurement, figures) is not Verdict.OUTSIDE, figures
