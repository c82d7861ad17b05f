"""Recordings of Linux beside the kernel's CUBIC, BBR and Reno as modules, and beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from longhaul import modules
from validation.linux.__main__ import compare
from validation.linux.catalogue import cases
from validation.linux.figures import simulate
from validation.linux.judge import MAIN, Verdict, recorded

STANDARD = Path(__file__).parent / "tcp_standard.c"

Both = tuple[Sequence[Verdict], Sequence[Verdict]]
"""Verdicts about modules, and about our algorithms, in the same order."""


def judged(built: Mapping[str, Path], folder: Path, pool: Executor) -> Both:
    """Return the verdicts on all recorded cases, with `built` modules and with our algorithms."""
    standard = modules.build([STANDARD], folder / "standard.so", name=None).object
    instead = {"cubic": built["cubic"], "bbr": built["bbr"], "reno": standard}
    known = recorded()
    chosen = [case for case in cases() if case.name in known]
    theirs = list(pool.map(partial(simulate, instead=instead), chosen))
    ours = list(pool.map(simulate, chosen))
    return compare(chosen, theirs), compare(chosen, ours)


def table(both: Both) -> Iterable[str]:
    """Return rows of figures within their bands, by algorithm."""
    yield "| flows | modules: first five | ours: first five | modules: all | ours: all |"
    yield "|---|---|---|---|---|"
    pairs = list(zip(*both, strict=True))
    for flow in dict.fromkeys(own.flow for own in both[1]):
        yield f"| {flow} | {_counts([pair for pair in pairs if pair[1].flow == flow])} |"
    yield f"| all | {_counts(pairs)} |"


def apart(both: Both) -> Iterable[str]:
    """Return rows of figures that one side has in its band and the other has not."""
    yield "| case | flow | figure | recording | module | ours |"
    yield "|---|---|---|---|---|---|"
    for their, own in zip(*both, strict=True):
        if their.within != own.within:
            numbers = " | ".join(f"{value:.4g}" for value in (own.kernel, their.ours, own.ours))
            yield f"| {own.case} | {own.flow} | {own.figure} | {numbers} |"


def _counts(pairs: Sequence[tuple[Verdict, Verdict]]) -> str:
    main = [pair for pair in pairs if pair[0].figure in MAIN]
    return " | ".join(
        f"{sum(pair[side].within for pair in some)} of {len(some)}"
        for some in (main, pairs)
        for side in (0, 1)
    )
