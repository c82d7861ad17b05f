"""Comparison with a kernel's modules: `make validate-modules KERNEL=TREE`.

TREE is a kernel's source tree or its tar file, such as that of Debian's package `linux-source-6.1`.
The command prints the values outside their bands. Without the option `--only`, it also writes
`docs/linux-modules.md` and the plot of this page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from validation.experiments import in_parallel
from validation.linux.bands import Verdict, count
from validation.modules.cases import CASES
from validation.modules.compare import judge, measure
from validation.modules.page import Runs, write
from validation.modules.recordings import judged
from validation.modules.trees import MODULES, objects, sources


def main(arguments: list[str]) -> int:
    """Build the modules, run and compare the cases, and print the values outside their bands.

    Without the option `--only`, write the page. The returned exit status is always 0.
    """
    parser = argparse.ArgumentParser(prog="python -m validation.modules", description=__doc__)
    parser.add_argument("kernel", type=Path, metavar="TREE")
    parser.add_argument("--only", nargs="*", default=[], help="modules and cases to compare (all)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="longhaul-modules-") as temporary:
        folder = Path(temporary)
        built = objects(sources(options.kernel, folder), folder)
        runs = _all(built, options.only)
        if not options.only:
            both = judged(built, folder)
    verdicts = [
        verdict
        for (module, case), (kernel, ours) in runs.items()
        for verdict in judge(module, case, kernel, ours)
    ]
    _report(verdicts)
    if not options.only:
        write(runs, verdicts, both)
    return 0


def _all(built: dict[str, Path], only: list[str]) -> Runs:
    compared = [name for name in built if MODULES[name][1] is not None]
    names = [name for name in compared if name in only] or compared
    cases = [case for case in CASES if case.name in only] or CASES
    wanted = [(name, case) for name in names for case in cases]
    kernel = ((case, {"module": str(built[name])}) for name, case in wanted)
    ours = ((case, {"kind": MODULES[name][1]}) for name, case in wanted)
    found = in_parallel(measure, [*kernel, *ours])
    pairs = zip(found[: len(wanted)], found[len(wanted) :], strict=True)
    return {(name, case.name): pair for (name, case), pair in zip(wanted, pairs, strict=True)}


def _report(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        if not verdict.within:
            print(
                f"{verdict.flow:10} {verdict.case:8} {verdict.figure:10} "
                f"{verdict.kernel:12.3f} {verdict.ours:12.3f}"
            )
    print(f"{count(verdicts)} values within their bands")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
