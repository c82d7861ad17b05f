"""Comparison with the kernel: `make validate-linux`, or `python -m validation.linux [PREFIX ...]`.

Compares the cases whose names begin with a PREFIX, or all cases, and prints the values outside
their bands. If all cases were compared, writes `comparison.csv`, and `docs/linux.md` with plots.
"""

from __future__ import annotations

import sys

from validation.experiments import in_parallel
from validation.linux import report
from validation.linux.bands import MAIN, count
from validation.linux.figures import simulate
from validation.linux.judge import compare, recorded_cases
from validation.linux.page import page
from validation.linux.pictures import draw
from validation.pages import DOCS


def main(prefixes: list[str]) -> int:
    """Compare the cases whose names begin with one of `prefixes`.

    Print the values outside their bands, and the numbers of values within bands. Without prefixes,
    all cases are compared, and the results are written. The returned exit status is always 0.
    """
    chosen = [case for case in recorded_cases() if case.name.startswith(tuple(prefixes or [""]))]
    simulated = in_parallel(simulate, ((case,) for case in chosen))
    verdicts = compare(chosen, simulated)
    for verdict in verdicts:
        if not verdict.within:
            numbers = f"{verdict.kernel:12.4f} {verdict.ours:12.4f}"
            print(f"{verdict.case:18} {verdict.flow:6} {verdict.figure:12} {numbers}")
    for which, first in (("first", True), ("later", False)):
        counted = [verdict for verdict in verdicts if verdict.first == first]
        for name, some in (
            ("main quantities", [verdict for verdict in counted if verdict.figure in MAIN]),
            ("all quantities", counted),
        ):
            print(f"{which} cases, {name}: {count(some)} values within their bands")
    if not prefixes:
        report.write(verdicts)
        (DOCS / "linux.md").write_text(page(verdicts), encoding="utf-8")
        draw(chosen, [run.windows for run in simulated], DOCS / "images")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
