"""Command of the comparison with ns-2: `python -m validation.ns2 [PREFIX ...]`.

Compares the cases whose names begin with a PREFIX, or all cases, and prints every value. If all
cases were compared, writes `validation/ns2/report.json` and the page `docs/validation.md`, and all
values and plots to `validation/out`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.ns2 import long_report
from validation.ns2.anchors import check_anchors
from validation.ns2.cases import gold_cases
from validation.ns2.compare import Comparison, compare
from validation.ns2.page import page, report_text
from validation.pages import DOCS, ROOT
from validation.rows import Row

REPORT = ROOT / "validation" / "ns2" / "report.json"
LONG_REPORT = ROOT / "validation" / "out"


def main() -> int:
    """Run the command; return its exit status: 1 if a value is outside its bounds, otherwise 0."""
    arguments = _arguments()
    cases = [case for case in gold_cases() if case.name.startswith(tuple(arguments.prefixes))]
    comparisons = []
    for comparison in compare(cases, arguments.cache, arguments.processes):
        print_verdicts(comparison)
        comparisons.append(comparison)
    anchors: list[Row] = []
    if arguments.prefixes == [""]:
        anchors = check_anchors(arguments.processes)
        for anchor in anchors:
            mark, (there, here) = "  " if anchor.within else "!!", anchor.pair
            print(f"{mark} {anchor.metric:60} {there:>12.6g} {here:>12.6g}")
        write(comparisons, anchors)
    verdicts = [verdict for comparison in comparisons for verdict in comparison.verdicts]
    outside = [verdict for verdict in verdicts if not verdict.within]
    print(f"{len(verdicts)} values, {len(outside)} outside their bounds")
    return 1 if outside or not all(anchor.within for anchor in anchors) else 0


def print_verdicts(comparison: Comparison) -> None:
    """Print ns-2's and Longhaul's values in one case; `!!` marks values outside their bounds."""
    peer, ours = len(comparison.peer), len(comparison.ours)
    print(f"{comparison.case.name}: {peer} runs of ns-2, {ours} of Longhaul")
    for verdict in comparison.verdicts:
        mark = "  " if verdict.within else "!!"
        there, here = verdict.texts
        print(f"{mark} {verdict.metric:45} {there:>22} {here:>22} {verdict.difference:>9}")
    sys.stdout.flush()


def write(comparisons: Sequence[Comparison], anchors: Iterable[Row]) -> None:
    """Write `report.json`, the page `docs/validation.md`, and a long report with plots.

    The report of all cases goes to `LONG_REPORT`. `anchors` has the rows on published values.
    """
    verdicts = [verdict for comparison in comparisons for verdict in comparison.verdicts]
    verdicts += anchors
    REPORT.write_text(report_text(verdicts), encoding="utf-8")
    (DOCS / "validation.md").write_text(page(verdicts), encoding="utf-8")
    long_report.write(comparisons, LONG_REPORT)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "prefixes", nargs="*", default=[""], help="beginnings of case names (default: all cases)"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "longhaul-validation",
        help="directory of finished runs",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
