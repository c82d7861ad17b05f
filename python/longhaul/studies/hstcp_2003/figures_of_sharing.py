"""Figures 6.1 to 6.18: the ideal condition, a lossy link, bursts."""

from longhaul.identity import Look
from longhaul.studies.drawing import OTHER, Figure, Frame, Line

from .lines import (
    BS,
    BURSTS,
    CER,
    FLOWS,
    LOSS,
    LU,
    ONE,
    RF,
    TIME,
    WINDOW,
    both,
    figure,
    mixed,
    queues,
    stolen_lines,
    windows,
)

FIGURES: list[Figure] = [
    figure(
        "6.1",
        "One flow alone: windows",
        "EXP-6.1 EXP-6.1-REG",
        "HSTCP is at 8333 packets before 50 s, REGTCP only at about 300 s. Both reach larger "
        "windows under "
        "drop-tail. HSTCP under RED: an event every 7.73 s or 638,000 packets, 98.9 % of the link.",
        Frame(TIME, WINDOW),
        draw=windows("EXP-6.1", "EXP-6.1-REG"),
    ),
    figure(
        "6.2",
        "Ideal condition: utilisation",
        "EXP-6.2a EXP-6.2b",
        "HSTCP fills the link with few flows, less than 10 REGTCP flows do not. Printed for RED; "
        "drop-tail is said to be similar.",
        Frame(FLOWS, LU),
        axis="n",
        lines=both("lu", "EXP-6.2a", "EXP-6.2b"),
    ),
    figure(
        "6.3",
        "Ideal condition: congestion event rate",
        "EXP-6.2a EXP-6.2b",
        "HSTCP is clearly above REGTCP for every number of flows, and never below 1e-6; "
        "drop-tail is "
        "above RED.",
        Frame(FLOWS, CER, log_y=True),
        axis="n",
        lines=both("cer", "EXP-6.2a", "EXP-6.2b"),
        values={"1e-6": 1e-6},
    ),
    figure(
        "6.4",
        "Ideal condition, mixed sets: utilisation",
        "EXP-6.2c",
        "HSTCP has more, its share falls and REGTCP's rises with the number of flows; the link "
        "stays full.",
        Frame(FLOWS, LU),
        axis="n",
        lines=mixed("EXP-6.2c"),
    ),
    figure(
        "6.5",
        "Ideal condition, mixed sets: congestion event rate",
        "EXP-6.2c",
        "Rises with the number of flows, higher under drop-tail.",
        Frame(FLOWS, CER, log_y=True),
        axis="n",
        lines=queues("EXP-6.2c", "cer_total"),
        panels=ONE,
    ),
    figure(
        "6.6",
        "Ideal condition, mixed sets: relative fairness",
        "EXP-6.2c",
        "Falls with the number of flows; larger under drop-tail, where it reaches more than 20, "
        "in single "
        "runs more than 35.",
        Frame(FLOWS, RF),
        axis="n",
        lines=queues("EXP-6.2c", "rf"),
        panels=ONE,
    ),
    figure(
        "6.7",
        "Ideal condition, mixed sets: bandwidth stolen",
        "EXP-6.2c",
        "Falls with the number of flows, larger under drop-tail; the gap grows slightly.",
        Frame(FLOWS, BS),
        axis="n",
        lines=stolen_lines("EXP-6.2c", "EXP-6.2b", "n"),
        panels=ONE,
    ),
    figure(
        "6.8",
        "Lossy link: utilisation",
        "EXP-6.3a EXP-6.3b",
        "REGTCP collapses with the loss rate and uses less than half of the link from 1e-5 on; "
        "HSTCP has "
        "almost twice as much there, and is REGTCP from 1e-3 on. Printed for RED.",
        Frame(LOSS, LU, log_x=True),
        axis="loss",
        lines=both("lu", "EXP-6.3a", "EXP-6.3b"),
    ),
    figure(
        "6.9",
        "Lossy link: congestion event rate",
        "EXP-6.3a EXP-6.3b",
        "HSTCP's rate no longer follows the loss rate below about 1e-5 (RED) and 1e-4 "
        "(drop-tail), and is "
        "not lower than these.",
        Frame(LOSS, CER, log_x=True, log_y=True),
        axis="loss",
        lines=both("cer", "EXP-6.3a", "EXP-6.3b"),
        values={"1e-5": 1e-5, "1e-4": 1e-4},
    ),
    figure(
        "6.10",
        "Lossy link, mixed sets: utilisation",
        "EXP-6.3c",
        "The difference shrinks as losses grow; the link is full up to about 1e-5.",
        Frame(LOSS, LU, log_x=True),
        axis="loss",
        lines=mixed("EXP-6.3c"),
    ),
    figure(
        "6.11",
        "Lossy link, mixed sets: relative fairness",
        "EXP-6.3c",
        "Falls with the loss rate, to 1.",
        Frame(LOSS, RF, log_x=True),
        axis="loss",
        lines=queues("EXP-6.3c", "rf"),
        panels=ONE,
        values={"1": 1},
    ),
    figure(
        "6.12",
        "Lossy link, mixed sets: bandwidth stolen",
        "EXP-6.3c EXP-6.3b",
        "Nothing at loss rates above 1e-4, a noticeable part below.",
        Frame(LOSS, BS, log_x=True),
        axis="loss",
        lines=stolen_lines("EXP-6.3c", "EXP-6.3b", "loss"),
        panels=ONE,
    ),
    figure(
        "6.13",
        "Bursts: utilisation",
        "EXP-6.4a EXP-6.4b",
        'Under RED REGTCP falls quickly ("around 70 %"), HSTCP slowly; under drop-tail HSTCP is '
        "nearly immune. Bursts use less than 10 %, slightly less beside HSTCP.",
        Frame(BURSTS, LU),
        axis="k",
        lines=[
            *both("lu", "EXP-6.4a", "EXP-6.4b"),
            Line("EXP-6.4a", "lu_perturbation", "bursts beside HSTCP", OTHER),
            Line(
                "EXP-6.4b",
                "lu_perturbation",
                "bursts beside REGTCP",
                Look(OTHER.colour, "x", (0, (4, 2))),
            ),
        ],
    ),
    figure(
        "6.14",
        "Bursts: congestion event rate",
        "EXP-6.4a EXP-6.4b",
        "Rises with bursts under RED; under drop-tail HSTCP's is almost constant, REGTCP's "
        "splits into "
        "two levels.",
        Frame(BURSTS, CER, log_y=True),
        axis="k",
        lines=both("cer", "EXP-6.4a", "EXP-6.4b"),
    ),
    figure(
        "6.15",
        "Bursts: number of congestion events",
        "EXP-6.4a EXP-6.4b",
        "Higher for HSTCP than for REGTCP (RED).",
        Frame(BURSTS, "congestion events"),
        axis="k",
        lines=both("ce", "EXP-6.4a", "EXP-6.4b"),
        panels=("red",),
    ),
    figure(
        "6.16",
        "Bursts, mixed sets: utilisation",
        "EXP-6.4c",
        "REGTCP's share is low but nearly constant.",
        Frame(BURSTS, LU),
        axis="k",
        lines=[*mixed("EXP-6.4c"), Line("EXP-6.4c", "lu_perturbation", "bursts", OTHER)],
    ),
    figure(
        "6.17",
        "Bursts, mixed sets: relative fairness",
        "EXP-6.4c",
        "Almost constant: about 5 under RED, with slight growth; between 10 and 15 under "
        "drop-tail.",
        Frame(BURSTS, RF),
        axis="k",
        lines=queues("EXP-6.4c", "rf"),
        panels=ONE,
        values={"5": 5, "10": 10, "15": 15},
    ),
    figure(
        "6.18",
        "Bursts, mixed sets: bandwidth stolen",
        "EXP-6.4c EXP-6.4b",
        "Falls with the number of bursts, larger under drop-tail.",
        Frame(BURSTS, BS),
        axis="k",
        lines=stolen_lines("EXP-6.4c", "EXP-6.4b", "k"),
        panels=ONE,
    ),
]
