"""Measurement of mean windows at several loss rates: `python -m validation.response`.

The command prints the mean windows, and writes `figures.json` and `docs/response-functions.md`.
With `--recorded` it writes the page from the last measured windows, which are in `figures.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from validation.pages import DOCS, filled, table
from validation.response.algorithms import ALGORITHMS, EXPLAINED_BY
from validation.response.judge import Verdict, holds, judge
from validation.response.measure import LOSS_RATES, Figures, Measurement, measure

HERE = Path(__file__).parent
FIGURES = HERE / "figures.json"
HEADS = (
    "algorithm", "closed form", "evenly spaced losses: law", "evenly spaced: with feedback",
    "evenly spaced: network", "evenly spaced: label", "random losses: law", "random: with feedback",
    "random: network", "random: label", "random: timeouts per loss",
)  # fmt: skip


def main() -> int:
    """Measure or read the mean windows, and write the page and `figures.json`.

    Return 1 if any mean window is out of bounds for no known reason, else 0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", action="store_true", help="measure nothing")
    measurements = list(recorded() if parser.parse_args().recorded else _measured())
    FIGURES.write_text(json.dumps([asdict(point) for point in measurements], indent=1) + "\n")
    (DOCS / "response-functions.md").write_text(page(measurements))
    unexplained = (point for point in measurements if point.algorithm not in EXPLAINED_BY)
    outside = sum(verdict is Verdict.OUTSIDE for verdict in _verdicts(unexplained))
    print(f"{2 * len(measurements)} mean windows, {outside} outside for no known reason")
    return 1 if outside else 0


def _measured() -> Iterator[Measurement]:
    for p in LOSS_RATES:
        for algorithm in ALGORITHMS:
            measurement = measure(algorithm, p)
            print(f"{p:g}", *_row(measurement), flush=True)
            yield measurement


def recorded() -> Iterator[Measurement]:
    """Yield the measurements of the last run, read from `figures.json`."""
    return map(Measurement.from_json, json.loads(FIGURES.read_text()))


def _verdicts(measurements: Iterable[Measurement]) -> Iterator[Verdict]:
    for measurement in measurements:
        yield judge(measurement, measurement.even)
        yield judge(measurement, measurement.random)


def page(measurements: list[Measurement]) -> str:
    """Return the text of `docs/response-functions.md`."""
    verdicts = list(_verdicts(measurements))
    counts = (f"{verdicts.count(verdict)} {verdict.value}" for verdict in Verdict)
    sections = []
    for p in LOSS_RATES:
        rows = table(HEADS, (_row(point) for point in measurements if point.p == p))
        sections.append("\n".join([f"## One segment lost in {1.0 / p:,.0f}", "", *rows]))
    return filled(
        HERE / "page.md",
        count=str(len(verdicts)),
        labels=", ".join(counts),
        sections="\n\n".join(sections),
    )


def _row(measurement: Measurement) -> list[str]:
    response = "" if measurement.response is None else f"{measurement.response:.1f}"
    closed = f"({response})" if holds(measurement) is False else response
    even, random = (
        _cells(measurement, figures) for figures in (measurement.even, measurement.random)
    )
    timeouts = f"{100.0 * measurement.random.timeouts_per_loss:.2f} %"
    return [measurement.algorithm, closed, *even, *random, timeouts]


def _cells(measurement: Measurement, figures: Figures) -> list[str]:
    spread = f" ± {figures.interval:.1f}" if figures.interval > 0.0 else ""
    network = f"{figures.network:.1f}{spread} ({figures.network / figures.law - 1.0:+.1%})"
    verdict = judge(measurement, figures).value
    return [f"{figures.law:.1f}", f"{figures.law_with_feedback:.1f}", network, verdict]


if __name__ == "__main__":
    sys.exit(main())
