"""The comparison with the kernel: `make validate-linux`, or `python -m validation.linux [PREFIX]`.

Prints every figure that is outside its band. If all cases were compared, writes `comparison.csv`,
and `docs/linux.md` with its plots.
"""

from __future__ import annotations

import sys

from validation.linux import report
from validation.linux.bands import MAIN, count
from validation.linux.cases import Case
from validation.linux.catalogue import cases
from validation.linux.figures import Simulated, simulate
from validation.linux.judge import Verdict, judge, recorded, repeated
from validation.linux.page import page
from validation.linux.pictures import draw
from validation.pages import DOCS
from validation.workers import pool


def main(prefixes: list[str]) -> int:
    """Compare the cases whose names begin with one of `prefixes`, and print the figures.

    Without prefixes, all cases are compared, and the results are written.
    """
    kernel = recorded()
    # A case without a recording in time cannot be compared.
    chosen = [
        case
        for case in cases()
        if case.name.startswith(tuple(prefixes or [""])) and case.name in kernel
    ]
    with pool(2) as workers:
        simulated = list(workers.map(simulate, chosen))
    verdicts = compare(chosen, simulated)
    for verdict in verdicts:
        if not verdict.within:
            numbers = f"{verdict.kernel:12.4f} {verdict.ours:12.4f}"
            print(f"{verdict.case:18} {verdict.flow:6} {verdict.figure:12} {numbers}")
    for which, first in (("first", True), ("later", False)):
        counted = [verdict for verdict in verdicts if verdict.first == first]
        for name, some in (
            ("first five", [verdict for verdict in counted if verdict.figure in MAIN]),
            ("all", counted),
        ):
            print(f"{which} cases, {name}: {count(some)} figures within their bands")
    if not prefixes:
        report.write(verdicts)
        (DOCS / "linux.md").write_text(page(verdicts), encoding="utf-8")
        draw(chosen, [run.windows for run in simulated], DOCS / "images")
    return 0


def compare(chosen: list[Case], simulated: list[Simulated]) -> list[Verdict]:
    """Compare each simulated case with its recording; return a verdict per figure and flow."""
    kernel, apart = recorded(), repeated()
    verdicts: list[Verdict] = []
    for case, ours in zip(chosen, simulated, strict=True):
        verdicts += judge(case, kernel[case.name], ours.figures, apart)
    return verdicts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
