"""Recordings of Linux, compared with simulations of its modules and of our algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longhaul import modules
from validation.experiments import in_parallel
from validation.linux.bands import FIGURES, MAIN, count
from validation.linux.figures import simulate
from validation.linux.judge import Verdict, compare, recorded_cases
from validation.pages import table

STANDARD = Path(__file__).parent / "tcp_standard.c"
"""Source of a module with the kernel's functions for standard TCP, which is no module itself."""

Both = tuple[Sequence[Verdict], Sequence[Verdict]]
"""Verdicts on simulations with the kernel's modules, and on simulations with our algorithms.

Verdicts with the same index are on the same recorded value.
"""


def judged(built: Mapping[str, Path], folder: Path) -> Both:
    """Return the verdicts on all recorded cases, with the modules and with our algorithms.

    `built` has the compiled module of each algorithm except standard TCP, whose module this
    function compiles into the directory `folder`.
    """
    standard = modules.build([STANDARD], folder / "standard.so", name=None).object
    instead = {"cubic": built["cubic"], "bbr": built["bbr"], "reno": standard}
    chosen = recorded_cases()
    theirs = in_parallel(simulate, ((case, instead) for case in chosen))
    ours = in_parallel(simulate, ((case,) for case in chosen))
    return compare(chosen, theirs), compare(chosen, ours)


def counts(both: Both) -> list[str]:
    """Return a table of the numbers of values within bands, for each module and our algorithm."""
    heads = ("flows", "modules: main", "ours: main", "modules: all", "ours: all")
    flows = dict.fromkeys(own.flow for own in both[1])
    rows = [(flow, [[v for v in side if v.flow == flow] for side in both]) for flow in flows]
    return table(heads, ([flow, *_counts(sides)] for flow, sides in [*rows, ("all", both)]))


def _counts(sides: Sequence[Sequence[Verdict]]) -> list[str]:
    main = [[verdict for verdict in side if verdict.figure in MAIN] for side in sides]
    return [count(side) for side in (*main, *sides)]


def apart(both: Both) -> list[str]:
    """Return a table of the values that are within their band in only one of two simulations.

    One simulation uses the kernel's module, the other simulation our algorithm.
    """
    rows = (
        [own.case, own.flow, FIGURES[own.figure].title]
        + [f"{value:.4g}" for value in (own.kernel, their.ours, own.ours)]
        for their, own in zip(*both, strict=True)
        if their.within != own.within
    )
    return table(("case", "flow", "quantity", "recording", "module", "ours"), rows)
