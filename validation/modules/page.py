"""docs/linux-modules.md: how much agrees, what does not, and windows over each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from longhaul import _engine
from validation.modules.cases import CASES
from validation.modules.compare import BANDS, Measured, Verdict
from validation.modules.recordings import Both, apart, table
from validation.modules.trees import MODULES

DOCS = Path(__file__).parent.parent.parent / "docs"
TEXT = Path(__file__).parent / "page.md"

UNITS = {
    "goodput": ("goodput, Mbit/s", ".2f"),
    "cwnd": ("mean window, segments", ".1f"),
    "rtt_ms": ("mean round trip, ms", ".1f"),
    "reductions": ("reductions", ".0f"),
    "period": ("time between reductions, s", ".2f"),
    "exit_cwnd": ("window at the end of slow start", ".0f"),
}

DRAWN = ("one", "loss3")
"""Cases of the picture, a column each."""

Runs = Mapping[tuple[str, str], tuple[Measured, Measured | None]]


def write(runs: Runs, verdicts: Sequence[Verdict], both: Both) -> None:
    """Write the page and its picture."""
    text = TEXT.read_text(encoding="utf-8")
    for name, lines in (
        ("version", [str(_engine.results_version())]),
        ("summary", _summary(verdicts)),
        ("cases", _cases(verdicts)),
        ("outside", _outside(verdicts)),
        ("recordings", table(both)),
        ("apart", apart(both)),
    ):
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    (DOCS / "linux-modules.md").write_text(text, encoding="utf-8")
    _draw(runs, DOCS / "images" / "linux-modules.png")


def _summary(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| module | ours | " + " | ".join(UNITS[figure][0] for figure in BANDS) + " | all |"
    yield "|---|---|" + "---|" * (len(BANDS) + 1)
    for module in dict.fromkeys(verdict.module for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.module == module]
        yield f"| {module} | `{MODULES[module][1]}` | {_counts(own)} |"
    yield f"| all | | {_counts(verdicts)} |"
    yield "| allowed difference | | " + " | ".join(BANDS.values()) + " | |"


def _counts(verdicts: Sequence[Verdict]) -> str:
    by_figure = [_count([v for v in verdicts if v.figure == figure]) for figure in BANDS]
    return " | ".join([*by_figure, _count(verdicts)])


def _count(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(verdict.within for verdict in verdicts)} of {len(verdicts)}"


def _cases(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| case | | within |"
    yield "|---|---|---|"
    for case in CASES:
        own = [verdict for verdict in verdicts if verdict.case == case.name]
        yield f"| {case.name} | {case.about} | {_count(own)} |"


def _outside(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| module | case | figure | module | Longhaul | difference |"
    yield "|---|---|---|---|---|---|"
    for verdict in verdicts:
        if not verdict.within:
            name, form = UNITS[verdict.figure]
            share = f"{100 * (verdict.ours / verdict.kernel - 1):+.1f} %" if verdict.kernel else ""
            both = f"{verdict.kernel:{form}} | {verdict.ours:{form}}"
            yield f"| {verdict.module} | {verdict.case} | {name} | {both} | {share} |"


def _draw(runs: Runs, file: Path) -> None:
    compared = [module for module, (_, kind) in MODULES.items() if kind is not None]
    there = [module for module in compared if (module, DRAWN[0]) in runs]
    size = (3.6 * 2 * len(DRAWN), 1.5 * -(-len(there) // 2))
    figure, grid = plt.subplots(-(-len(there) // 2), 2 * len(DRAWN), figsize=size, squeeze=False)
    panels = [(module, case) for module in there for case in DRAWN]
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (module, case) in zip(grid.flat, panels, strict=False):
        kernel, ours = runs[module, case]
        for measured, colour, width in ((kernel, "black", 1.4), (ours, "tab:orange", 0.9)):
            if measured is not None and measured.windows:
                times, windows = zip(*measured.windows, strict=True)
                axes.plot(times, windows, color=colour, lw=width)
        axes.set_title(f"{module}, {case}", fontsize=8)
        axes.tick_params(labelsize=6)
        axes.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(file, dpi=60, metadata={"Software": None})
    plt.close(figure)
