"""Writer of docs/linux-modules.md: agreement, differences, and overlaid windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from longhaul import _engine
from validation.linux.bands import Verdict, count
from validation.linux.pictures import overlay, panels
from validation.modules.cases import CASES
from validation.modules.compare import FIGURES, Measured
from validation.modules.recordings import Both, apart, counts
from validation.modules.trees import MODULES
from validation.pages import DOCS, filled, table

DRAWN = ("one", "loss3")
"""Names of the cases that are plotted for each module, side by side."""

Runs = Mapping[tuple[str, str], tuple[Measured, Measured]]
"""Runs with the module and with our algorithm, by names of module and case."""


def write(runs: Runs, verdicts: Sequence[Verdict], both: Both) -> None:
    """Write `docs/linux-modules.md` and its plot."""
    titles = [figure.title for figure in FIGURES.values()]
    cases = (
        [case.name, case.about, count([v for v in verdicts if v.case == case.name])]
        for case in CASES
    )
    outside = (
        [verdict.flow, verdict.case, *verdict.cells(FIGURES)]
        for verdict in verdicts
        if not verdict.within
    )
    page = filled(
        Path(__file__).parent / "page.md",
        version=str(_engine.results_version()),
        summary=table(["module", "our algorithm", *titles, "all quantities"], _summary(verdicts)),
        cases=table(["case", "path or condition", "values within the allowed difference"], cases),
        outside=table(
            ["module", "case", "quantity", "module's value", "our value", "difference"], outside
        ),
        recordings=counts(both),
        apart=apart(both),
    )
    (DOCS / "linux-modules.md").write_text(page, encoding="utf-8")
    _draw(runs, DOCS / "images" / "linux-modules.png")


def _summary(verdicts: Sequence[Verdict]) -> Iterable[list[str]]:
    for module in dict.fromkeys(verdict.flow for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.flow == module]
        yield [module, f"`{MODULES[module][1]}`", *_counts(own)]
    yield ["all", "", *_counts(verdicts)]
    yield ["allowed difference", "", *(figure.band for figure in FIGURES.values()), ""]


def _counts(verdicts: Sequence[Verdict]) -> list[str]:
    by_figure = [count([v for v in verdicts if v.figure == figure]) for figure in FIGURES]
    return [*by_figure, count(verdicts)]


def _draw(runs: Runs, file: Path) -> None:
    modules = dict.fromkeys(module for module, _ in runs)
    shown = [(module, case) for module in modules for case in DRAWN]
    with panels(len(shown), 2 * len(DRAWN), (3.6, 1.5), file, dpi=60) as grid:
        for axes, (module, case) in zip(grid, shown, strict=True):
            kernel, ours = runs[module, case]
            overlay(axes, kernel.windows, ours.windows)
            axes.set_title(f"{module}, {case}", fontsize=8)
            axes.tick_params(labelsize=6)
            axes.set_ylim(bottom=0)
