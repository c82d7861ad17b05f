"""The source's figures (chapters 3, 6 and 7), as described in `figures.csv`.

Each row is a figure. Its axes `x` and `y` are keys of `ALONG` and `QUANTITIES`; `log` lists its
logarithmic axes. It has a panel for each queue in `panels`, and shows the printed values `levels`.
`drawn` names functions in `LINES` or `PICTURES`: `both:lu` calls `both` with the argument `lu`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from longhaul.files.rows import published_rows
from longhaul.studies.figures import Draw, Figure, Frame, Line

from . import lines, theory_curves

# Axes of the experiments, with their labels.
ALONG = {
    "n": ("n", "number of flows"),
    "n_regtcp": ("n", "number of REGTCP flows"),
    "loss": ("loss", "loss rate"),
    "k": ("k", "number of bursts"),
    "length": ("length_s", "length of a burst (s)"),
    "time": ("", "time (s)"),
    "window": ("", "window (packets)"),
    "average": ("", "average queue (packets)"),
}

QUANTITIES = {
    "lu": "utilisation (%)",
    "ce": "congestion events",
    "cer": "congestion events per packet",
    "rf": "relative fairness",
    "bs": "bandwidth stolen (%)",
    "rate": "packets per round trip",
    "window": "window (packets)",
    "delivered": "packets delivered",
    "a_b": "a(w), b(w)",
    "probability": "probability",
}

# Functions of lines along an axis; arguments: experiments, axis, and text after the colon.
LINES: Mapping[str, Callable[..., list[Line]]] = {
    "both": lines.both,
    "mixed": lines.mixed,
    "bursts": lines.bursts,
    "queues": lines.queues,
    "stolen": lines.stolen_lines,
    "rates": lines.rates,
    "bulk": lines.bulk,
    "bulk_stolen": lines.bulk_stolen,
    "burst_lengths": lines.burst_lengths,
    "web_fairness": lines.web_fairness,
    "web_stolen": lines.web_stolen,
}

# Functions of other pictures; arguments: experiments, and text after the colon.
PICTURES: Mapping[str, Callable[..., Draw]] = {
    "windows": lines.windows,
    "slow_start_windows": lines.slow_start_windows,
    "slow_start_deliveries": lines.slow_start_deliveries,
    "responses": lambda _: theory_curves.responses,
    "shapes": lambda _: theory_curves.shapes,
    "rates_in_theory": lambda _: theory_curves.rates,
    "fairness_in_theory": lambda _: theory_curves.fairness,
    "red_curve": lambda _: theory_curves.red,
}


def _figure(row: Mapping[str, str]) -> Figure:
    experiments = tuple(row["experiments"].split())
    axis, x = ALONG[row["x"]]
    laid: list[Line] = []
    draw = None
    for word in row["drawn"].split():
        kind, *argument = word.split(":")
        if kind in LINES:
            laid += LINES[kind](experiments, axis, *argument)
        else:
            draw = PICTURES[kind](experiments, *argument)
    return Figure(
        number=row["figure"],
        title=row["title"],
        experiments=experiments,
        published=row["published"],
        frame=Frame(x, QUANTITIES[row["y"]], "x" in row["log"], "y" in row["log"]),
        axis=axis,
        lines=laid,
        panels=tuple(row["panels"].split()),
        values={level: float(level) for level in row["levels"].split()},
        draw=draw,
    )


FIGURES = [_figure(row) for row in published_rows(Path(__file__).with_name("figures.csv"))]
