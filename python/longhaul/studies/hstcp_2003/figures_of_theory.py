"""Figures of theory: 3.1, 3.2, 6.28, 6.29, 7.1."""

from longhaul.studies.drawing import Figure, Frame

from . import theory_curves
from .lines import LOSS, ONE, RF, WINDOW, figure

FIGURES: list[Figure] = [
    figure(
        "3.1",
        "Response functions of standard TCP and HSTCP",
        "EXP-T1",
        "The curves leave one another at a window of 38 packets; that of HSTCP meets the "
        "capacity of the "
        "link at a loss rate slightly above 1e-6. Crosses: Tables 3.1 and 3.2.",
        Frame(LOSS, WINDOW, log_x=True, log_y=True),
        panels=ONE,
        draw=theory_curves.responses,
    ),
    figure(
        "3.2",
        "HSTCP's increase a(w) and decrease b(w)",
        "EXP-T1",
        "a is 1 and b one half up to the low window; b is 0.1 at the high window of 83,000 "
        "packets.",
        Frame(WINDOW, "a(w), b(w)", log_x=True, log_y=True),
        panels=ONE,
        draw=theory_curves.shapes,
    ),
    figure(
        "6.28",
        "Rate of parallel streams, theory",
        "EXP-T2",
        "N streams have N/sqrt(p) packets per round trip, HSTCP its response function.",
        Frame(LOSS, "packets per round trip", log_x=True, log_y=True),
        panels=ONE,
        draw=theory_curves.rates,
    ),
    figure(
        "6.29",
        "Relative fairness of parallel streams, theory",
        "EXP-T2",
        "That of N streams is N at any loss rate, that of HSTCP falls from 10 at 1e-6 to 1 at "
        "1e-3.",
        Frame(LOSS, RF, log_x=True),
        panels=ONE,
        draw=theory_curves.fairness,
    ),
    figure(
        "7.1",
        "RED's probability of a drop or mark",
        "EXP-6.2a",
        "Nothing below min_th, max_p at max_th, then the gentle part to 1 at twice max_th.",
        Frame("average queue (packets)", "probability"),
        panels=ONE,
        draw=theory_curves.red,
    ),
]
