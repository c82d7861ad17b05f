"""Comparison with ns-2 in new cases: `python -m validation.ns2.fresh [--folder DIR] [PREFIX ...]`.

The new cases (`gold/fresh.csv`) guard against an engine that fits only the cases recorded in the
repository. They have other rates, delays, buffers, thresholds, agents and seeds. Seeds begin with
11, because the first random numbers of ns-2's smaller seeds are so small that random loss would
drop the SYN. The command first runs ns-2 for cases that are not recorded in the directory `DIR`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from validation.ns2 import recordings
from validation.ns2.__main__ import print_verdicts
from validation.ns2.cases import GOLD, read_cases
from validation.ns2.compare import compare


def main() -> int:
    """Compare Longhaul and ns-2 in cases whose names begin with an argument, or in all cases.

    Return the exit status: 1 if a value is outside its bounds, otherwise 0.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefixes", nargs="*", default=[""])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "longhaul-fresh"
    )
    arguments = parser.parse_args()
    folder = arguments.folder
    names = tuple(arguments.prefixes)
    cases = [case for case in read_cases(GOLD / "fresh.csv") if case.name.startswith(names)]
    outside = 0
    for case in cases:
        recordings.record(case, folder)
        for comparison in compare([case], folder / "cache", arguments.processes, folder):
            print_verdicts(comparison)
            outside += sum(not verdict.within for verdict in comparison.verdicts)
    print(f"{len(cases)} cases, {outside} values outside their bounds")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
