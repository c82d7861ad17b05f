"""The section of the document on ns-2's Linux modules: notes, one table, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from validation.compare import Comparison
from validation.figures import FlowFigures
from validation.linux_modules import NOT_COMPARED, REASONS

NOTES = Path(__file__).parent / "linux_modules.md"


def linux_section(comparisons: list[Comparison]) -> Iterable[str]:
    """Write all but the cases' own tables."""
    yield "## Linux's algorithms in ns-2"
    yield ""
    yield NOTES.read_text().rstrip()
    yield ""
    yield "### Saw-teeth"
    yield ""
    yield "ns-2's figure, and Longhaul's."
    yield ""
    yield (
        "| Case, flow | Reductions | Period, s | Window before | Smallest after | Mean window "
        "| Utilisation | Outside |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for comparison in comparisons:
        yield from _rows(comparison)
    yield ""
    yield from _reasons(comparisons)
    yield "### Not compared"
    yield ""
    yield from (f"- {cases}: {reason}." for cases, reason in NOT_COMPARED.items())


def _rows(comparison: Comparison) -> Iterable[str]:
    there, here = comparison.peer[0], comparison.ours[0]
    utilisation = _pair(there.link.utilisation_window, here.link.utilisation_window, ".3f")
    for index, flows in enumerate(zip(there.flows, here.flows, strict=True)):
        name = comparison.case.name
        if len(there.flows) > 1:
            name += f", {index}"
        yield f"| {name} | {_cells(*flows)} | {utilisation} | {_outside(comparison, index)} |"


def _cells(there: FlowFigures, here: FlowFigures) -> str:
    peer, ours = there.sawtooth, here.sawtooth
    assert peer is not None
    assert ours is not None
    return " | ".join(
        [
            _pair(peer.cuts, ours.cuts, "d"),
            _pair(peer.period_s, ours.period_s, ".3f"),
            _pair(peer.peak_pkts, ours.peak_pkts, ".0f"),
            _pair(peer.trough_pkts, ours.trough_pkts, ".0f"),
            _pair(there.cwnd_mean_window, here.cwnd_mean_window, ".0f"),
        ]
    )


def _pair(there: float | None, here: float | None, form: str) -> str:
    return ", ".join("-" if value is None else format(value, form) for value in (there, here))


def _outside(comparison: Comparison, flow: int) -> str:
    """Name the flow's and the link's figures that are outside."""
    others = f"flow {1 - flow}: "
    names = (
        verdict.metric.removeprefix(f"flow {flow}: ")
        for verdict in comparison.verdicts
        if not verdict.within and not verdict.metric.startswith(others)
    )
    return ", ".join(f"**{name}**" for name in names)


def _reasons(comparisons: list[Comparison]) -> Iterable[str]:
    """Say of every case with figures outside why they are, or that it is not known."""
    for comparison in comparisons:
        if not all(verdict.within for verdict in comparison.verdicts):
            name = comparison.case.name
            yield f"- Outside, {name}: {REASONS.get(name, 'the reason is not known')}."
            yield ""
