"""docs/linux.md: what was compared, how much agrees, and what is outside its band."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.linux import report
from validation.linux.judge import BANDS, MAIN, Verdict
from validation.linux.report import UNITS

TEXT = Path(__file__).parent / "page.md"


def page(verdicts: Sequence[Verdict]) -> str:
    """Write the page."""
    text = TEXT.read_text(encoding="utf-8")
    for name, lines in (
        ("summary", _summary(verdicts)),
        ("outside", _outside(verdicts)),
    ):
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    return text


def _summary(verdicts: Sequence[Verdict]) -> Iterable[str]:
    sets = [[v for v in verdicts if v.first], [v for v in verdicts if not v.first]]
    yield "| figure | allowed difference | within, 56 first cases | within, later cases |"
    yield "|---|---|---|---|"
    for figure, band in BANDS.items():
        shares = " | ".join(_count([v for v in some if v.figure == figure]) for some in sets)
        yield f"| {UNITS[figure][0]} | {band} | {shares} |"
    main = [verdict for verdict in verdicts if verdict.figure in MAIN]
    yield _line("the first five", main)
    for kind in dict.fromkeys(verdict.kind for verdict in main):
        yield _line(f"of these, {kind}", [v for v in main if v.kind == kind])
    yield _line("all", verdicts)
    widened = [sum(verdict.repeats for verdict in some) for some in sets]
    yield f"| of these, only as other runs of the kernel are | | {widened[0]} | {widened[1]} |"


def _line(title: str, verdicts: Sequence[Verdict]) -> str:
    sets = ([v for v in verdicts if v.first], [v for v in verdicts if not v.first])
    first, later = (_count(some) if some else "" for some in sets)
    return f"| {title} | | {first} | {later} |"


def _count(verdicts: Sequence[Verdict]) -> str:
    return f"{sum(verdict.within for verdict in verdicts)} of {len(verdicts)}"


def _outside(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| case | flow | figure | Linux 6.18 | Longhaul | difference |"
    yield "|---|---|---|---:|---:|---:|"
    for verdict in verdicts:
        if not verdict.within:
            *cells, _ = report.row(verdict).values()
            yield f"| {' | '.join(cells)} |"
