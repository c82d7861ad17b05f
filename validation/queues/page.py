"""docs/linux-queues.md: which decisions agree, and how far the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from validation.queues.arrivals import PATTERNS
from validation.queues.compare import CASES, Verdict

TEXT = Path(__file__).parent / "page.md"
PAGE = Path(__file__).parent.parent.parent / "docs" / "linux-queues.md"

NAMES = {
    "codel": "`codel`, variant `linux-6.18`",
    "codel-ecn": "the same, ECN",
    "codel-rfc": "`codel`, variant `rfc8289`",
    "pie": "`pie`, variant `linux-6.18`",
    "pie-ecn": "the same, ECN",
    "pie-rfc": "`pie`, variant `rfc8033`",
    "fq_codel": "`fq-codel`, variant `linux-6.18`",
    "fq_codel-ecn": "the same, ECN",
    "fq_codel-rfc": "`fq-codel`, variant `rfc8289`, ECN",
    "fq_pie": "`fq-pie`, variant `linux-6.18`",
    "fq_pie-ecn": "the same, ECN",
    "cake": "`cake`",
    "red": "`red`",
    "red-ecn": "`red`, ECN",
    "dualpi2": "`dualpi2`, weights of 44 and 879 parts",
    "dualpi2-own": "`dualpi2`, weights of 0.16 and 3.2",
}


def write(verdicts: Sequence[Verdict]) -> None:
    """Write the page."""
    text = TEXT.read_text(encoding="utf-8")
    for name, lines in (("decisions", _decisions(verdicts)), ("sums", _sums(verdicts))):
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    PAGE.write_text(text, encoding="utf-8")


def _decisions(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| ours | " + " | ".join(PATTERNS) + " |"
    yield "|---|" + "---:|" * len(PATTERNS)
    for case in CASES:
        own = [verdict for verdict in verdicts if verdict.case == case]
        if not own:
            continue
        yield f"| {NAMES[case]} | " + " | ".join(f"{verdict.differ:,}" for verdict in own) + " |"


def _sums(verdicts: Sequence[Verdict]) -> Iterable[str]:
    yield "| ours | arrivals | first difference, s | drops | marks | mean delay, ms |"
    yield "|---|---|---:|---:|---:|---:|"
    for verdict in verdicts:
        if verdict.differ:
            pairs = [_pair(verdict.drops, ",d"), _pair(verdict.marks, ",d")]
            pairs.append(_pair(verdict.delays_ms, ".2f"))
            front = f"| {NAMES[verdict.case]} | {verdict.pattern} | {verdict.first_s:.3f} | "
            yield front + " | ".join(pairs) + " |"


def _pair(values: tuple[float, float], form: str) -> str:
    theirs, own = values
    return f"{theirs:{form}}; {own:{form}}"
