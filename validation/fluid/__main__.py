"""Measurement of all algorithms over both queues: `python -m validation.fluid`.

The command prints the measured values, and writes `figures.json` and `docs/fluid-and-packets.md`.
`--recorded` measures nothing, and uses the values of the last measurement, from `figures.json`.
With `--only` only one algorithm is measured again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from longhaul.models.dynamics import MODELLED
from validation.fluid.measure import QUEUES, Comparison, measure
from validation.pages import DOCS, filled, table

HERE = Path(__file__).parent
RECORDED = HERE / "figures.json"

# Key of `Comparison.packets` and `Comparison.fluid`, heading, and format.
COLUMNS = (
    ("window_pkts", "window", "{:,.0f}"),
    ("queue_pkts", "queue", "{:,.0f}"),
    ("loss", "loss rate", "{:.1e}"),
    ("utilisation", "utilisation", "{:.1%}"),
)


def main() -> None:
    """Measure the algorithms, print the values, and write the page and `figures.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", action="store_true", help="measure nothing")
    parser.add_argument("--only", metavar="ALGORITHM", choices=MODELLED)
    options = parser.parse_args()
    comparisons = list(recorded() if options.recorded else _measured(options.only))
    RECORDED.write_text(json.dumps([asdict(pair) for pair in comparisons], indent=1) + "\n")
    (DOCS / "fluid-and-packets.md").write_text(page(comparisons))


def _measured(only: str | None) -> Iterator[Comparison]:
    before = {} if only is None else {(pair.queue, pair.algorithm): pair for pair in recorded()}
    for queue in QUEUES:
        for algorithm in MODELLED:
            if only not in (None, algorithm):
                yield before[queue, algorithm]
                continue
            comparison = measure(algorithm, queue)
            print(*_row(comparison), flush=True)
            yield comparison


def recorded() -> Iterator[Comparison]:
    """Yield the comparisons of the last measurement, read from `figures.json`."""
    return (Comparison(**entry) for entry in json.loads(RECORDED.read_text()))


def page(comparisons: Iterable[Comparison]) -> str:
    """Return the text of `docs/fluid-and-packets.md`."""
    heads = [
        f"{name}:"
        for _, title, _ in COLUMNS
        for name in (f"{title}: simulation", f"{title}: fluid model", f"{title}: difference")
    ]
    rows: dict[str, list[list[str]]] = {queue: [] for queue in QUEUES}
    for pair in comparisons:
        rows[pair.queue].append(_row(pair))
    tables = {queue: table(["algorithm", *heads], rows[queue]) for queue in QUEUES}
    return filled(HERE / "page.md", **tables)


def _row(comparison: Comparison) -> list[str]:
    cells = [comparison.algorithm]
    for name, _, form in COLUMNS:
        packets, fluid = fmean(comparison.packets[name]), comparison.fluid[name]
        difference = f"{fluid / packets - 1.0:+.0%}" if packets else ""
        if name == "utilisation":
            difference = f"{100.0 * (fluid - packets):+.1f} points"
        cells += [form.format(packets), form.format(fluid), difference]
    return cells


if __name__ == "__main__":
    main()
