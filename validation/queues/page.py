"""Writer of docs/linux-queues.md: comparison of queue disciplines with those of Linux."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.pages import DOCS, filled, table
from validation.queues.arrivals import PATTERNS
from validation.queues.compare import CASES, Verdict

DISCIPLINE = "Longhaul's discipline"
SUMS = (
    DISCIPLINE, "arrivals", "first difference, s:", "drops:", "marks:", "mean queueing delay, ms:",
)  # fmt: skip


def write(verdicts: Sequence[Verdict]) -> None:
    """Write `docs/linux-queues.md`."""
    page = filled(
        Path(__file__).parent / "page.md",
        decisions=table([DISCIPLINE, *(f"{name}:" for name in PATTERNS)], _decisions(verdicts)),
        sums=table(SUMS, (_sums(verdict) for verdict in verdicts if verdict.differ)),
    )
    (DOCS / "linux-queues.md").write_text(page, encoding="utf-8")


def _decisions(verdicts: Sequence[Verdict]) -> Iterable[list[str]]:
    for case in dict.fromkeys(verdict.case for verdict in verdicts):
        yield [CASES[case].title, *(f"{v.differ:,}" for v in verdicts if v.case == case)]


def _sums(verdict: Verdict) -> list[str]:
    pairs = ((verdict.drops, ",d"), (verdict.marks, ",d"), (verdict.delays_ms, ".2f"))
    both = (f"{theirs:{form}}; {own:{form}}" for (theirs, own), form in pairs)
    return [CASES[verdict.case].title, verdict.pattern, f"{verdict.first_s:.3f}", *both]
