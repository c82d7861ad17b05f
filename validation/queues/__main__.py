"""The comparison with a kernel's queue disciplines: `make validate-queues KERNEL=TREE`.

TREE is a kernel's tree or its tar file, such as that of Debian's package `linux-source-6.1`. With
several (`KERNEL="TREE NEWER"`), a discipline is of the first that has it: DualPI2 came with 6.17.
Feeds the same packets to these disciplines and to ours, prints how many had another fate, and
writes `docs/linux-queues.md`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from validation.queues import kernel
from validation.queues.arrivals import PATTERNS
from validation.queues.compare import CASES, Verdict, compare, ours
from validation.queues.page import write

ROOT = Path(__file__).parent.parent.parent


def main(arguments: list[str]) -> int:
    """Build, feed, compare, print and write."""
    parser = argparse.ArgumentParser(prog="python -m validation.queues", description=__doc__)
    parser.add_argument("kernel", type=Path, nargs="+", metavar="TREE")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="longhaul-queues-") as temporary:
        folder = Path(temporary)
        drivers = kernel.drivers(given.kernel, folder)
        for name, pattern in PATTERNS.items():
            pattern(np.random.default_rng(1)).tofile(folder / f"{name}.arrivals")
        ours(ROOT, folder)
        verdicts = [
            compare(drivers[discipline], folder, case, name)
            for case, (discipline, _, _) in CASES.items()
            if discipline in drivers
            for name in PATTERNS
        ]
    for verdict in verdicts:
        _report(verdict)
    write(verdicts)
    return 0


def _report(verdict: Verdict) -> None:
    print(
        f"{verdict.case:13} {verdict.pattern:9} {verdict.differ:8d} of {verdict.packets} differ; "
        f"drops {verdict.drops}, marks {verdict.marks}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
