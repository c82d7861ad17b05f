"""Figures of chapters 7 and 8 from our results; those of chapter 7 also on the cut network."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from longhaul.plots import styles
from longhaul.studies.data import Data
from longhaul.studies.figures import PRINTED, Figure, Frame

from .loss_free import figures as loss_free
from .mixed import figures as mixed
from .tables import CUT, NAMES, NEVER_S, WHOLE, printed

LOOKS = {name: styles.ALGORITHMS["reno" if name == "TCP" else name.lower()] for name in NAMES}
DISTINCT = {"FAST": "o", "FAST-AT": "s"}
# Section 7.1.3.
CONGESTED = {1, 5, 6, 7, 11, 13, 17, 18, 19, 21, 22, 23, 24, 25, 29, 30, 31}
# Responses in which FAST and FAST-AT are distinctive according to section 7.4, by panel.
RESPONSES = {
    "packets retransmitted": "y6_TP1",
    "flows connecting": "y42_TP1",
    "NN flows completed": "y31_TP1",
}  # fmt: skip
UNCONGESTED = (8, 14, 28, 32)
# Prefixes of claims with the printed number, for condition 8 and for the others.
RECOVERY, GOODPUT = ("A7-102", "A7-103"), ("A7-104", "A7-105")


def _by_congestion(data: Data) -> list[int]:
    """Return the conditions in ascending order of TCP's retransmission rate in TP1 of `CUT`."""
    cells = data.cells(CUT, algorithm="TCP").sort("y6_TP1")
    return [int(condition) for condition in cells["condition"]]


def _congestion(axes: Axes, data: Data, _: str) -> None:
    conditions = _by_congestion(data)
    at = np.arange(len(conditions))
    rates = [data.value("y6_TP1", CUT, algorithm="TCP", condition=one) for one in conditions]
    axes.bar(at, rates, 0.7, color=LOOKS["TCP"].colour, label="cut network, 100 s")
    if WHOLE in data.cells_by_experiment:
        cells = data.cells(WHOLE, algorithm="TCP").select("condition", "y6_TP1").rows()
        axes.plot([conditions.index(int(condition)) for condition, _ in cells],
                  [rate for _, rate in cells], linestyle="none", label="whole network, 25 minutes",
                  color="#000000", marker="_", markersize=9)  # fmt: skip
    _named(axes, conditions)


def _distinct(axes: Axes, data: Data, panel: str) -> None:
    """Draw ratios of a response to the mean of the six algorithms other than FAST and FAST-AT.

    The ratios of FAST and FAST-AT are points, those of the six a range; `panel` is the response.
    """
    conditions, metric = [one for one in _by_congestion(data) if one in CONGESTED], RESPONSES[panel]
    at = np.arange(len(conditions))
    found = {
        name: np.array([data.value(metric, CUT, algorithm=name, condition=one)
                        for one in conditions])
        for name in NAMES
    }  # fmt: skip
    six = np.array([values for name, values in found.items() if name not in DISTINCT])
    mean = six.mean(axis=0)
    axes.vlines(at, (six / mean).min(axis=0), (six / mean).max(axis=0), color="#a0a0a0",
                linewidth=4, label="the six, least to most")  # fmt: skip
    for name, marker in DISTINCT.items():
        axes.plot(at, found[name] / mean, linestyle="none", marker=marker, markersize=3.5,
                  color=LOOKS[name].colour, label=name)  # fmt: skip
    axes.set_title(panel)
    _named(axes, conditions)


def _named(axes: Axes, names: Sequence[object]) -> None:
    """Label the x axis with names, and remove its grid lines."""
    axes.set_xticks(range(len(names)), list(map(str, names)), fontsize=6, rotation=90)
    axes.grid(visible=False, axis="x")


def _long_lived(axes: Axes, data: Data, condition: str, metric: str, claims: Sequence[str]) -> None:
    """Draw `metric` of long-lived flow L1 with each algorithm, and the source's printed values.

    The printed values are those of claims. Ids of these claims begin with `claims[0]` for condition
    8, and with `claims[1]` for all other conditions. An algorithm without such a claim is drawn at
    `NEVER_S`.
    """
    key = f"{claims[0]}-{{}}-L1" if condition == "8" else f"{claims[1]}-{{}}-{condition}"
    axes.set_title(f"condition {condition}")
    _named(axes, list(NAMES))
    for place, name in enumerate(NAMES):
        value = data.value(metric, WHOLE, condition=int(condition), algorithm=name)
        axes.bar(place, value, 0.7, color=LOOKS[name].colour)
        in_print = printed().get(key.format(name), NEVER_S)
        axes.plot(place, in_print, linestyle="none", label="" if place else "printed",
                  **{**PRINTED, "markerfacecolor": "#ffffff"})  # fmt: skip


FIGURES: Sequence[Figure] = (
    Figure(
        number="7-1",
        title="Retransmission rate of standard TCP in TP1, from the least to the most congested",
        experiments=(CUT, WHOLE),
        published="17 conditions are congested, 13, 21 and 31 most; without a bar nothing was "
        "retransmitted",
        frame=Frame("condition", "part of packets", log_y=True, from_zero=False),
        panels=("",),
        draw=_congestion,
    ),
    Figure(
        number="7-9",
        title="FAST and FAST-AT beside the other six in TP1, in order of congestion",
        experiments=(CUT,),
        published="under congestion FAST and FAST-AT have more retransmissions and connecting "
        "flows, and fewer NN flows completed, than the other six, which hardly differ",
        frame=Frame("condition", "over the mean of the six", from_zero=False),
        panels=tuple(RESPONSES),
        draw=_distinct,
    ),
    Figure(
        number="Tables 7-15 and 7-18",
        title="Seconds after TP2 until L1 has the rate of its interface again (300: never)",
        experiments=(WHOLE,),
        published="FAST and CTCP recover fastest, then Scalable TCP and H-TCP, then HSTCP and BIC; "
        "the same number of BIC is printed for conditions 8 and 28",
        frame=Frame("", "s"),
        panels=tuple(map(str, UNCONGESTED)),
        draw=lambda axes, data, panel: _long_lived(axes, data, panel, "L1_full_s_TP3", RECOVERY),
    ),
    Figure(
        number="Tables 7-16 and 7-19",
        title="Goodput of L1 among the jumbo files (TP2)",
        experiments=(WHOLE,),
        published="Scalable TCP, HSTCP and BIC keep most; FAST and FAST-AT least",
        frame=Frame("", "packets/s"),
        panels=tuple(map(str, UNCONGESTED)),
        draw=lambda axes, data, panel: _long_lived(axes, data, panel, "L1_pps_TP2", GOODPUT),
    ),
    *mixed.FIGURES,
    *loss_free.FIGURES,
)
