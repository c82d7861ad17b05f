"""The comparison with a kernel's queue disciplines: `make validate-queues KERNEL=TREE`.

TREE is a kernel's source tree or its tar file, such as that of Debian's package `linux-source-6.1`.
With several trees (`KERNEL="TREE NEWER"`), each discipline is taken from the first tree that has
it; DualPI2 is in 6.17 and later. The command feeds the same packets to the kernel's disciplines and
to ours, prints the number of packets with different outcomes, and writes `docs/linux-queues.md`.
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


def main(arguments: list[str]) -> int:
    """Build the kernel's disciplines, feed the packets, print differences and write the page."""
    parser = argparse.ArgumentParser(prog="python -m validation.queues", description=__doc__)
    parser.add_argument("kernel", type=Path, nargs="+", metavar="TREE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="longhaul-queues-") as temporary:
        folder = Path(temporary)
        drivers = kernel.drivers(options.kernel, folder)
        for name, pattern in PATTERNS.items():
            pattern(np.random.default_rng(1)).tofile(folder / f"{name}.arrivals")
        ours(folder)
        verdicts = [
            compare(drivers[settings.discipline], folder, case, name)
            for case, settings in CASES.items()
            if settings.discipline in drivers
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
