"""The comparison with the kernel: `make validate-linux`, or `python -m validation.linux [PREFIX]`.

Prints every figure that is outside its band. When all cases were compared, writes `docs/linux.md`.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from validation.linux.cases import Case, cases
from validation.linux.figures import figures
from validation.linux.judge import MAIN, Verdict, judge, recorded, repeated
from validation.linux.page import page

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "linux.md"


def main(prefixes: list[str]) -> int:
    """Compare, print and write."""
    chosen = [case for case in cases() if case.name.startswith(tuple(prefixes or [""]))]
    verdicts = compare(chosen)
    for verdict in verdicts:
        if not verdict.within:
            numbers = f"{verdict.kernel:12.4f} {verdict.ours:12.4f}"
            print(f"{verdict.case:16} {verdict.flow:6} {verdict.figure:12} {numbers}")
    for name, counted in (
        ("first five", [verdict for verdict in verdicts if verdict.figure in MAIN]),
        ("all", verdicts),
    ):
        within = sum(verdict.within for verdict in counted)
        print(f"{name}: {within} of {len(counted)} figures within their bands")
    if not prefixes:
        DOCUMENT.write_text(page(verdicts), encoding="utf-8")
    return 0


def compare(chosen: list[Case]) -> list[Verdict]:
    """Simulate cases and compare them with their recordings."""
    kernel, apart = recorded(), repeated()
    with ProcessPoolExecutor(2) as pool:
        simulated = list(pool.map(figures, chosen))
    verdicts: list[Verdict] = []
    for case, ours in zip(chosen, simulated, strict=True):
        verdicts += judge(case, kernel[case.name], ours, apart)
    return verdicts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
