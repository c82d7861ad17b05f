"""Response functions, loss models and their equilibria, against published numbers."""

import numpy as np
import pytest

from longhaul.models import windows
from longhaul.models.equilibrium import equilibrium, sweep
from longhaul.models.laws import LAWS, PRINTED, compound, crossing
from longhaul.models.loss import MM1B, AnickMitraSondhi, Custom, Link
from longhaul_studies.nist_2010_models import theory


def test_the_tables_of_appendix_a() -> None:
    # In tables of NIST SP 500-282, four cells differ from the report's own model.
    off = {place: theory.throughput(*place) - value for place, value in theory.printed().items()}
    missed = {
        place
        for place, value in theory.printed().items()
        if round(theory.throughput(*place)) != value
    }
    assert len(off) == 108
    assert missed == {("cubic", 50, 200), ("reno", 50, 300), ("ctcp", 300, 50), ("ctcp", 300, 100)}
    assert max(abs(value) for value in off.values()) < 1.3


def test_equation_18_as_printed_is_far_too_low() -> None:
    assert theory.throughput("reno", 300, 50, factor=1.0) == pytest.approx(43.1, abs=0.05)


def test_a_sweep_has_a_row_per_round_trip() -> None:
    link = Link(theory.CAPACITY_PPS, 50.0, 0.1, 1000.0)
    table = sweep(PRINTED["reno"].window, AnickMitraSondhi(), link, [0.1, 0.3], [50, 300, 100])
    assert [len(row) for row in table] == [3, 3]
    assert table[1][0].throughput_pps == pytest.approx(theory.throughput("reno", 300, 50) * 1e3)


def test_another_loss_model_gives_another_equilibrium() -> None:
    link = Link(1000.0, 20.0, 0.1, 10.0)
    at = equilibrium(PRINTED["reno"].window, MM1B(), link)
    # The equilibrium satisfies the loss model and the response function.
    assert at.loss == pytest.approx(at.load**20)
    assert at.window_pkts == pytest.approx(np.sqrt(1.5 / at.loss))
    same = equilibrium(PRINTED["reno"].window, Custom(lambda w, of: of.load(w) ** 20), link)
    assert same.loss == pytest.approx(at.loss)
    with pytest.raises(ValueError, match="do not fill the link"):
        equilibrium(PRINTED["reno"].window, Custom(lambda w, of: 0.0), link)


# Laws with a response function in the engine.
OF_THE_ENGINE = sorted(set(LAWS) - {"bic", "constant-rate", "ghstcp", "htcp", "illinois", "veno"})


@pytest.mark.parametrize("kind", OF_THE_ENGINE)
@pytest.mark.parametrize("rtt_s", [0.04, 0.2])
def test_laws_are_those_of_the_engine(kind: str, rtt_s: float) -> None:
    for every in (100, 10_000):
        experiment = windows.Experiment(loss_every=every, rounds=5, rtt_s=rtt_s)
        (trajectory,) = windows.trajectories([kind], experiment)
        assert trajectory.response_pkts is not None
        found = float(LAWS[kind].window(1 / every, rtt_s))
        assert found == pytest.approx(trajectory.response_pkts, rel=1e-6)


@pytest.mark.parametrize("kind", ["htcp", "veno"])
def test_laws_without_a_closed_form_in_the_engine_are_its_saw_teeth(kind: str) -> None:
    # The engine counts whole round trips, which explains a deviation of some per cent.
    experiment = windows.Experiment(loss_every=10_000, rounds=3000, rtt_s=0.1, cwnd=100.0)
    (trajectory,) = windows.trajectories([kind], experiment)
    mean = trajectory.figures()["cwnd_mean_pkts"]
    assert float(LAWS[kind].window(1e-4, 0.1)) == pytest.approx(mean, rel=0.02)


def test_the_law_of_bic_is_near_its_saw_teeth_at_large_windows() -> None:
    # The step-by-step value is 3684 (docs/response-functions.md). At small windows, evenly spaced
    # losses no longer coincide with the peak, as the paper assumes (603 at 1e-4).
    assert float(LAWS["bic"].window(1e-5, 0.1)) == pytest.approx(3684.4, rel=0.02)


def test_laws_have_inverses() -> None:
    for law in LAWS.values():
        assert law.loss(float(law.window(1e-5, 0.1)), 0.1) == pytest.approx(1e-5, rel=1e-6)
    with pytest.raises(ValueError, match=r"no mean window of 0\.001"):
        LAWS["reno"].loss(1e-3, 0.1)


def test_compound_tcp_has_its_exact_coefficient() -> None:
    # The report prints 0.25; with its printed sign of gamma the value would be 0.220.
    assert float(compound()(1.0, 0.1)) == pytest.approx(0.2553, abs=5e-5)


def test_curves_cross_where_the_report_says() -> None:
    reno = PRINTED["reno, any p"]
    assert crossing(PRINTED["ctcp"], reno, 0.1) == pytest.approx(5.05e-3, rel=1e-3)
    assert crossing(PRINTED["ctcp"].scaled(0.5), reno, 0.1) == pytest.approx(4.972e-4, rel=1e-3)
    assert crossing(PRINTED["ctcp"].scaled(1.5), reno, 0.1) == pytest.approx(2.001e-2, rel=1e-3)
    # The report uses 1.67 where the exact value is 1.6669.
    assert crossing(PRINTED["cubic"], reno, 0.3) == pytest.approx(0.1207, rel=0.011)
    # Scalable TCP equals standard TCP up to a window of 16 segments.
    assert crossing(LAWS["scalable"], LAWS["reno"], 0.1) == pytest.approx(3.74e-3, rel=0.01)
    assert crossing(LAWS["constant-rate"], LAWS["reno"], 0.1) is None
    assert crossing(LAWS["gaimd"], LAWS["reno"], 0.1) == 1.0
