"""The comparison as a table: `python -m validation.report [PREFIX ...]`.

Prints every figure of every case, and writes `validation/report.json`, `docs/validation.md` and the
pictures when all cases were compared.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from validation.anchors import Anchor, check_anchors
from validation.cases import gold_cases
from validation.compare import Comparison, compare
from validation.judge import Verdict
from validation.linux_section import linux_section
from validation.pictures import draw

ROOT = Path(__file__).parent.parent
REPORT = ROOT / "validation" / "report.json"
DOCUMENT = ROOT / "docs" / "validation.md"
PICTURES = ROOT / "docs" / "images"
NOTES = ROOT / "validation" / "notes.md"


def main() -> int:
    """Compare, print and write; fail if a figure is outside its bounds."""
    arguments = _arguments()
    cases = [case for case in gold_cases() if case.name.startswith(tuple(arguments.prefixes))]
    comparisons = []
    for comparison in compare(cases, arguments.cache, arguments.processes):
        print_verdicts(comparison)
        comparisons.append(comparison)
    anchors: list[Anchor] = []
    if arguments.prefixes == [""]:
        anchors = check_anchors(arguments.processes)
        for anchor in anchors:
            print(_anchor_line(anchor))
        write(comparisons, anchors)
    verdicts = [verdict for comparison in comparisons for verdict in comparison.verdicts]
    outside = [verdict for verdict in verdicts if not verdict.within]
    print(f"{len(verdicts)} figures, {len(outside)} outside their bounds")
    return 1 if outside or not all(anchor.within for anchor in anchors) else 0


def print_verdicts(comparison: Comparison) -> None:
    """Print one case's table."""
    peer, ours = len(comparison.peer), len(comparison.ours)
    print(f"{comparison.case.name}: {peer} runs of ns-2, {ours} of Longhaul")
    for verdict in comparison.verdicts:
        mark = "  " if verdict.within else "!!"
        there = _value(verdict.peer, verdict.peer_sd)
        here = _value(verdict.longhaul, verdict.longhaul_sd)
        print(f"{mark} {verdict.metric:45} {there:>22} {here:>22} {_difference(verdict):>9}")
    sys.stdout.flush()


def write(comparisons: Iterable[Comparison], anchors: list[Anchor]) -> None:
    """Write report, document and pictures."""
    comparisons = list(comparisons)
    verdicts = [verdict.to_json() for one in comparisons for verdict in one.verdicts]
    verdicts += [anchor.to_json() for anchor in anchors]
    REPORT.write_text(json.dumps(verdicts, indent=1) + "\n")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for comparison in comparisons:
        draw(comparison, PICTURES / f"validation-{comparison.case.name}.png")
    DOCUMENT.write_text("\n".join(_document(comparisons, anchors)) + "\n")


def _document(comparisons: list[Comparison], anchors: list[Anchor]) -> Iterable[str]:
    verdicts = [verdict for one in comparisons for verdict in one.verdicts]
    inside = sum(verdict.within for verdict in verdicts)
    yield NOTES.read_text().rstrip()
    yield ""
    yield "## Summary"
    yield ""
    yield f"{inside} of {len(verdicts)} figures of {len(comparisons)} cases are in their bounds."
    yield ""
    yield from _outside(verdicts)
    yield "## Published figures"
    yield ""
    yield "| Study's figure | Published | Longhaul | Difference | Within |"
    yield "|---|---:|---:|---:|---|"
    for anchor in anchors:
        yield (
            f"| {anchor.name} | {anchor.published:.6g} | {anchor.longhaul:.6g} "
            f"| {100 * anchor.difference:+.1f} % | {_yes(anchor.within)} |"
        )
    yield ""
    linux = [one for one in comparisons if one.case.linux]
    yield from linux_section(linux)
    for comparison in linux:
        yield from _section(comparison)
    yield ""
    yield "## Cases of ns-2's own agents"
    for comparison in comparisons:
        if not comparison.case.linux:
            yield from _section(comparison)


def _outside(verdicts: list[Verdict]) -> Iterable[str]:
    outside = [verdict for verdict in verdicts if not verdict.within]
    for verdict in outside:
        yield (
            f"- outside: {verdict.case}, {verdict.metric}: ns-2 {verdict.peer:.6g}, "
            f"Longhaul {verdict.longhaul:.6g}"
        )
    if outside:
        yield ""


def _section(comparison: Comparison) -> Iterable[str]:
    case = comparison.case
    yield ""
    yield f"### {case.name}"
    yield ""
    yield f"`{' '.join(case.arguments)}`"
    yield ""
    yield (
        f"{len(comparison.peer)} runs of ns-2, {len(comparison.ours)} of Longhaul; windows from "
        f"{case.warm_up_s:g} s on."
    )
    yield ""
    yield f"![Window and queue](images/validation-{case.name}.png)"
    yield ""
    yield "| Figure | ns-2 | Longhaul | Difference | Within | Rule |"
    yield "|---|---:|---:|---:|---|---|"
    for verdict in comparison.verdicts:
        there = _value(verdict.peer, verdict.peer_sd)
        here = _value(verdict.longhaul, verdict.longhaul_sd)
        yield (
            f"| {verdict.metric} | {there} | {here} | {_difference(verdict)} "
            f"| {_yes(verdict.within)} | {verdict.rule} |"
        )


def _anchor_line(anchor: Anchor) -> str:
    mark = "  " if anchor.within else "!!"
    return f"{mark} {anchor.name:60} {anchor.published:>12.6g} {anchor.longhaul:>12.6g}"


def _value(value: float, deviation: float | None) -> str:
    return f"{value:.6g}" if deviation is None else f"{value:.6g} ± {deviation:.3g}"


def _difference(verdict: Verdict) -> str:
    if verdict.peer == 0:
        return "0" if verdict.longhaul == 0 else f"{verdict.longhaul:+.3g}"
    return f"{100 * (verdict.longhaul / verdict.peer - 1):+.2f} %"


def _yes(within: bool) -> str:
    return "yes" if within else "**no**"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefixes", nargs="*", default=[""], help="beginnings of case names")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "longhaul-validation",
        help="where finished runs are kept",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
