"""Recordings of Linux, compared with simulations of its modules and of our algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from longhaul import modules
from validation.linux.__main__ import compare
from validation.linux.bands import FIGURES, MAIN, count
from validation.linux.catalogue import cases
from validation.linux.figures import simulate
from validation.linux.judge import Verdict, recorded
from validation.pages import table

STANDARD = Path(__file__).parent / "tcp_standard.c"

Both = tuple[Sequence[Verdict], Sequence[Verdict]]
"""Verdicts on simulations with the kernel's modules, and on simulations with our algorithms.

Verdicts with the same index are on the same recorded figure.
"""


def judged(built: Mapping[str, Path], folder: Path, pool: Executor) -> Both:
    """Return the verdicts on all recorded cases, with the modules and with our algorithms.

    `built` has the compiled module of each algorithm.
    """
    standard = modules.build([STANDARD], folder / "standard.so", name=None).object
    instead = {"cubic": built["cubic"], "bbr": built["bbr"], "reno": standard}
    known = recorded()
    chosen = [case for case in cases() if case.name in known]
    theirs = list(pool.map(partial(simulate, instead=instead), chosen))
    ours = list(pool.map(simulate, chosen))
    return compare(chosen, theirs), compare(chosen, ours)


def counts(both: Both) -> list[str]:
    """Return a table of the numbers of figures within bands, for each module and our algorithm."""
    heads = ("flows", "modules: main", "ours: main", "modules: all", "ours: all")
    flows = dict.fromkeys(own.flow for own in both[1])
    rows = [(flow, [[v for v in side if v.flow == flow] for side in both]) for flow in flows]
    return table(heads, ([flow, *_counts(sides)] for flow, sides in [*rows, ("all", both)]))


def _counts(sides: Sequence[Sequence[Verdict]]) -> list[str]:
    main = [[verdict for verdict in side if verdict.figure in MAIN] for side in sides]
    return [count(side) for side in (*main, *sides)]


def apart(both: Both) -> list[str]:
    """Return a table of the figures that are within their band in only one of two simulations.

    One simulation uses the kernel's module, the other our algorithm.
    """
    rows = (
        [own.case, own.flow, FIGURES[own.figure].title]
        + [f"{value:.4g}" for value in (own.kernel, their.ours, own.ours)]
        for their, own in zip(*both, strict=True)
        if their.within != own.within
    )
    return table(("case", "flow", "quantity", "recording", "module", "ours"), rows)
