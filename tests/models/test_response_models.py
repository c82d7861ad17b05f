"""The models of response functions against published tables, and against each other."""

from math import sqrt

import numpy as np
import pytest
import slow_start_model as slow_start

from longhaul.models.response import (
    FORMS,
    STANDARD,
    STANDARD_ROUNDED,
    HighSpeed,
    StandardTcp,
    equivalent_flows,
    path_window,
    recovery_time_s,
    relative_fairness,
    rounds_between_losses,
    sharing,
)

# The low window of the study of 2003 (its Table 5.3), with the low loss rate of ns-2.
STUDIED = HighSpeed.through(low_window=31.0, low_p=None)


def test_standard_tcp_needs_the_loss_rates_of_table_3_1() -> None:
    # LBNL-52549 Table 3.1 (RFC 3649 table 2): Mbit/s, RTTs between losses, window, loss rate;
    # 1500-byte packets, 0.1 s. The table truncates.
    rows = [
        (1, 5.5, 8.3, 0.02),
        (10, 55.5, 83.3, 0.0002),
        (100, 555.5, 833.3, 2e-6),
        (1000, 5555.5, 8333.3, 2e-8),
        (10000, 55555.5, 83333.3, 2e-10),
    ]
    for rate, rounds, window, loss in rows:
        w = path_window(rate * 1e6, 0.1)
        p = float(STANDARD.loss(w))
        assert w == pytest.approx(window, abs=0.05)
        assert float(f"{p:.0e}") == pytest.approx(loss)
        assert rounds_between_losses(STANDARD, p) == pytest.approx(rounds, abs=0.06)


def test_high_speed_tcp_has_the_windows_of_table_3_2() -> None:
    # LBNL-52549 Table 3.2 (RFC 3649 table 4): loss rate, window in whole segments, RTTs between
    # losses, which are printed up to 5 % above 1 / (p w).
    rows = [
        (1e-2, 12, 8),
        (1e-3, 38, 25),
        (1e-4, 263, 38),
        (1e-5, 1795, 57),
        (1e-6, 12279, 83),
        (1e-7, 83981, 123),
        (1e-8, 574356, 180),
        (1e-9, 3928088, 264),
        (1e-10, 26864653, 388),
    ]
    for p, window, rounds in rows:
        assert FORMS["tables"].window(p) == pytest.approx(window, abs=1)
        assert rounds_between_losses(FORMS["tables"], p) == pytest.approx(rounds, rel=0.05)
        # RFC 3649's line deviates by up to 1.3 %, and standard TCP's sqrt(1.5) from 1.2 by 2.1 %.
        assert FORMS["rfc3649"].window(p) == pytest.approx(window, rel=0.021)


def test_the_relative_fairness_of_table_3_3() -> None:
    # LBNL-52549 Table 3.3 (RFC 3649 table 5), for 1e-2 to 1e-10.
    printed = [1.0, 1.0, 2.2, 4.7, 10.2, 22.1, 47.9, 103.5, 223.9]
    p = 10.0 ** -np.arange(2.0, 11.0)
    found = relative_fairness(FORMS["tables"], STANDARD_ROUNDED, p)
    assert found == pytest.approx(printed, abs=0.051)


def test_increase_and_decrease_are_those_of_the_rfc() -> None:
    # Rows of RFC 3649 appendix B: the largest window of an increase, and the decrease at it.
    rows = [(118, 2, 0.44), (221, 3, 0.41), (495, 5, 0.37), (1529, 10, 0.31), (3778, 17, 0.26)]
    rounded = FORMS["rounded"]
    for w, a, b in rows:
        assert rounded.increase(w) == pytest.approx(a, abs=0.014)
        assert rounded.decrease(w) == pytest.approx(b, abs=0.0051)


@pytest.mark.parametrize("form", FORMS)
def test_the_function_and_its_inverse_agree(form: str) -> None:
    response = FORMS[form]
    windows = np.array([50.0, 833.0, 8333.0, 50_000.0])
    assert response.window(response.loss(windows)) == pytest.approx(windows, rel=1e-9)
    below = response.low_window / 2
    assert response.loss(below) == STANDARD.loss(below) or form == "tables"
    assert response.increase(below) == 1
    assert response.decrease(below) == 0.5


def test_the_increase_makes_the_mean_window_of_the_response_function() -> None:
    # A sawtooth from (1 - b) w to w with constant a carries 1 / p segments: RFC 3649 section 5.
    response = FORMS["rfc3649"]
    w = 8333.0
    a, b = float(response.increase(w)), float(response.decrease(w))
    peak = w / sqrt((2 - b) / 2) / sqrt((2 - b) / 2)
    rounds = b * peak / a
    segments = rounds * (1 - b / 2) * peak
    # Its mean window is w, and its losses are 1 / p apart to second order in b.
    assert (1 - b / 2) * peak == pytest.approx(w)
    assert segments == pytest.approx(1 / float(response.loss(w)), rel=1e-9)


@pytest.mark.parametrize(
    ("high_speed", "standard", "loss", "windows", "fairness"),
    # Equal marking (LBNL-52549, sections 6.2 and 6.5): 8333 segments on the path and
    # 1250 in the queue.
    [
        (1, 1, 1.60e-6, (8614, 969), 8.89),
        (5, 5, 1.28e-5, (1574, 343), 4.60),
        (20, 20, 8.22e-5, (344, 135), 2.55),
        (1, 7, 3.25e-6, (4825, 680), 1.01),
        (1, 19, 9.45e-6, (2015, 398), 0.27),
    ],
)
def test_flows_with_equal_losses_share_as_expected(
    high_speed: int, standard: int, loss: float, windows: tuple[int, int], fairness: float
) -> None:
    found = sharing(STUDIED, high_speed, STANDARD, standard, 8333 + 1250)
    assert found.loss == pytest.approx(loss, rel=0.004)
    assert (found.high_speed_window, found.standard_window) == pytest.approx(windows, abs=0.51)
    assert found.aggregate_fairness == pytest.approx(fairness, abs=0.0051)


def test_flows_as_many_as_the_equivalence_point_says_get_as_much() -> None:
    flows = equivalent_flows(STUDIED, STANDARD, 8333 + 1250)
    # Theory gives seven; Fig. 6.19 shows about six with RED.
    assert flows == pytest.approx(7.08, abs=0.01)
    assert sharing(STUDIED, 1, STANDARD, 7, 9583).aggregate_fairness > 1
    assert sharing(STUDIED, 1, STANDARD, 8, 9583).aggregate_fairness < 1


def test_recovery_after_one_loss_takes_as_long_as_published() -> None:
    # Zhang 2006, section 1.1: RTT 100 ms, packets of 1500 bytes.
    assert recovery_time_s(1.544e6, 0.1) == pytest.approx(0.643, abs=5e-4)
    assert recovery_time_s(1e9, 0.1) == pytest.approx(416.67, abs=5e-3)
    assert recovery_time_s(1e10, 0.1) == pytest.approx(4166.67, abs=5e-3)


def test_parallel_streams_carry_their_number() -> None:
    # Fig. 6.28: N streams at C = 1, and one HighSpeed TCP flow.
    single = StandardTcp(1.0)
    assert 7 * single.window(1e-4) == pytest.approx(700.0)
    assert FORMS["tables"].window(3.162e-5) == pytest.approx(686.6, rel=2e-4)


def test_slow_starts_take_as_many_round_trips_as_they_do_one_by_one() -> None:
    assert slow_start.rounds_to(65_536) == 16
    w, rounds = 100.0, 0
    while w < 20_000:
        # By RFC 3742, int(w / (max_ssthresh / 2)) acknowledged segments add one segment.
        w += w / int(w / 50.0)
        rounds += 1
    above = slow_start.rounds_to(20_000, 100) - slow_start.rounds_to(100)
    assert rounds == pytest.approx(above, rel=0.02)


@pytest.mark.parametrize(
    ("max_ssthresh", "mean_packet_bytes", "time_s", "window"),
    # A fluid model of LBNL-52549, table 6.1, for two mean packet sizes; 500 is ns-2's.
    [
        (10, 500, 62.74, 9855),
        (10, 1500, 59.25, 8929),
        (100, 500, 20.43, 10014),
        (100, 1500, 18.05, 8965),
        (1000, 500, 3.23, 12952),
        (1000, 1500, 2.53, 10355),
    ],
)
def test_limited_slow_starts_end_where_another_fluid_model_has_it(
    max_ssthresh: float, mean_packet_bytes: float, time_s: float, window: float
) -> None:
    red = slow_start.AutomaticRed.at(1e9, mean_packet_bytes=mean_packet_bytes)
    cut = slow_start.first_cut(max_ssthresh, STUDIED, red)
    assert cut.time_s == pytest.approx(time_s, rel=0.005)
    assert cut.window == pytest.approx(window, rel=0.007)


@pytest.mark.parametrize(
    ("max_ssthresh", "time_s", "window", "tolerance"),
    # Table 6.1 of LBNL-52549, as simulated.
    [(10, 63.75, 9919.98, 0.015), (100, 20.75, 9979.66, 0.015), (1000, 3.55, 12726.2, 0.03)],
)
def test_limited_slow_starts_end_where_table_6_1_has_it(
    max_ssthresh: float, time_s: float, window: float, tolerance: float
) -> None:
    cut = slow_start.first_cut(max_ssthresh, STUDIED, slow_start.AutomaticRed.at(1e9))
    assert cut.time_s == pytest.approx(time_s, rel=0.03, abs=0.4)
    assert cut.window == pytest.approx(window, rel=tolerance)
