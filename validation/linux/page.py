"""docs/linux.md: what was compared, what is outside its band, and every figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.linux.judge import BANDS, MAIN, Verdict

TEXT = Path(__file__).parent / "page.md"

UNITS = {
    "goodput": ("goodput, Mbit/s", ".2f"),
    "cwnd": ("mean window, segments", ".1f"),
    "srtt_ms": ("mean srtt, ms", ".1f"),
    "reductions": ("reductions", ".0f"),
    "completion": ("completion, s", ".3f"),
    "exit_cwnd": ("window at the end of slow start", ".0f"),
    "retrans": ("retransmissions", ".0f"),
    "period": ("time between reductions, s", ".2f"),
}


def page(verdicts: Sequence[Verdict]) -> str:
    """Write the page."""
    text = TEXT.read_text(encoding="utf-8")
    for name, lines in (
        ("summary", _summary(verdicts)),
        ("outside", _table([verdict for verdict in verdicts if not verdict.within])),
        ("all", _table(verdicts)),
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


def _table(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| case | flow | figure | Linux 6.18 | Longhaul | difference | |"
    yield "|---|---|---|---|---|---|---|"
    for verdict in verdicts:
        name, form = UNITS[verdict.figure]
        kernel, ours = format(verdict.kernel, form), format(verdict.ours, form)
        mark = ("as other runs" if verdict.repeats else "") if verdict.within else "outside"
        yield (
            f"| {verdict.case} | {verdict.flow} | {name} | {kernel} | {ours} "
            f"| {_difference(verdict)} | {mark} |"
        )


def _difference(verdict: Verdict) -> str:
    if not verdict.kernel:
        return ""
    return f"{100 * (verdict.ours / verdict.kernel - 1):+.1f} %"
