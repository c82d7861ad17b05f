"""`docs/mesonet_validation.md`: tables, figures, and what explains misses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean

from validation.mesonet import goodput_readings, jumbo_readings, readings
from validation.mesonet.long_lived import ENDS
from validation.mesonet.rows import HERE, Row, published, table

DOCUMENT = HERE.parent.parent / "docs" / "mesonet_validation.md"
TITLES = {
    "dumbbell": "Two flows through a slow router (tables 5-10 and 5-11)",
    "long-lived": "Long-lived flows without other flows (chapter 7)",
    "direct-routers": "Long-lived flows among jumbo files (chapter 7)",
    "loss-free": "Files on very fast paths without losses (chapter 9)",
    "conditions": "Whole conditions of chapters 4, 6 and 7",
    "units": "Definitions and worked examples of chapter 3",
}


def write(parts: Mapping[str, Sequence[Row]]) -> None:
    """Write the page from the rows of all parts."""
    DOCUMENT.write_text("\n".join(_lines(parts)) + "\n", encoding="utf-8")


def _lines(parts: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    yield _notes("head")
    yield ""
    yield "## Summary"
    yield ""
    yield "| part | figures | within | outside | as found |"
    yield "|---|---:|---:|---:|---:|"
    for name, title in TITLES.items():
        verdicts = [row.within for row in parts[name]]
        counts = (len(verdicts), verdicts.count(True), verdicts.count(False), verdicts.count(None))
        yield f"| {title} | {' | '.join(map(str, counts))} |"
    yield ""
    yield from _outside(parts)
    for name, title in TITLES.items():
        yield f"## {title}"
        yield ""
        yield _notes(name)
        yield ""
        yield from (_verifications if name == "dumbbell" else _table)(parts[name])
        yield ""
        if name == "direct-routers":
            yield from _jumbo_readings()
            yield ""
    yield "## Routers' buffers and the first timeout"
    yield ""
    yield _notes("readings")
    yield ""
    yield from _readings()
    yield ""
    yield "## Which flows share a goodput"
    yield ""
    yield _notes("goodput-readings")
    yield ""
    yield from _goodput_readings()
    yield ""
    yield "## What it takes"
    yield ""
    yield _notes("resources")
    yield ""
    yield from _resources()


def _outside(parts: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    outside = [row for name in TITLES for row in parts[name] if row.within is False]
    for row in outside:
        yield (
            f"- **outside**: {row.case}, {row.metric}: {_value(row.published)} published, "
            f"{_value(row.measured)} measured ({row.tolerance})"
        )
    if outside:
        yield ""


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| case | figure | published | measured | tolerance | within |"
    yield "|---|---|---:|---:|---|---|"
    for row in rows:
        cells = (row.case, row.metric, _value(row.published), _value(row.measured), row.tolerance)
        yield f"| {' | '.join(cells)} | {_verdict(row)} |"


def _verifications(rows: Sequence[Row]) -> Iterator[str]:
    """A line a run, published beside measured; then what is said of some of them besides."""
    figures = ("link utilisation", "buffer utilisation", "Jain's index")
    yield "| run | link | measured | buffer | measured | Jain's index | measured |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for case, of_case in groupby((row for row in rows if row.metric in figures), lambda r: r.case):
        cells = [
            cell
            for row in of_case
            for cell in (f"{row.published:.2f}", _marked(row, f"{row.measured:.2f}"))
        ]
        yield f"| {case} | {' | '.join(cells)} |"
    yield ""
    yield from _table([row for row in rows if row.metric not in figures])


def _marked(row: Row, text: str) -> str:
    """Bold where it is outside, in italics where it is not judged."""
    return {True: text, False: f"**{text}**", None: f"*{text}*"}[row.within]


def _readings() -> Iterator[str]:
    """Figures of shortened runs with each reading, the nearest to print in bold."""
    titles = [reading.title for reading in readings.READINGS.values()]
    yield f"| case | figure | published | {' | '.join(titles)} |"
    yield f"|---|---|---:|{'---:|' * len(titles)}"
    found = list(readings.beside_print())
    for case, one, measured in found:
        gaps = [_gap(value, one) for value in measured]
        cells = (
            f"**{_value(value)}**" if gap == min(gaps) else _value(value)
            for value, gap in zip(measured, gaps, strict=True)
        )
        yield f"| {case} | {one.title} | {_value(one.published)} | {' | '.join(cells)} |"
    if found:
        gaps_of = ([_gap(value, one) for value in measured] for _, one, measured in found)
        every = zip(*gaps_of, strict=True)
        means = (f"{fmean(gaps):.1%}" for gaps in every)
        yield f"| all | mean distance from print | | {' | '.join(means)} |"


def _goodput_readings() -> Iterator[str]:
    """Goodput of a flow with each reading, the nearest to print in bold."""
    yield f"| line | class | published | {' | '.join(goodput_readings.TITLES)} |"
    yield f"|---|---|---:|{'---:|' * len(goodput_readings.TITLES)}"
    found = list(goodput_readings.beside_print())
    for line, name, said, measured in found:
        nearest = min(measured, key=lambda value: abs(value - said))
        cells = (f"**{value:.1f}**" if value == nearest else f"{value:.1f}" for value in measured)
        yield f"| C{line} | {name} | {said:.1f} | {' | '.join(cells)} |"
    gaps_of = ([abs(value / said - 1) for value in measured] for *_, said, measured in found)
    means = (f"{fmean(gaps):.1%}" for gaps in zip(*gaps_of, strict=True))
    yield f"| all | mean distance from print | | {' | '.join(means)} |"


def _jumbo_readings() -> Iterator[str]:
    """Goodputs of long-lived flows with each reading, below those in print."""
    flows = tuple(ENDS)
    yield f"| goodput in TP2, packets/s | algorithm | seed | {' | '.join(flows)} |"
    yield f"|---|---|---:|{'---:|' * len(flows)}"
    recorded = jumbo_readings.read()
    algorithms = {row["algorithm"] for row in recorded}
    printed = [row for row in published("table_7_16") if row["algorithm"] in algorithms]
    for row in [{"reading": "in print", "seed": "", **row} for row in printed] + recorded:
        goodputs = (f"{int(row[flow]):,}" for flow in flows)
        yield f"| {row['reading']} | {row['algorithm']} | {row['seed']} | {' | '.join(goodputs)} |"


def _gap(measured: float, one: readings.Figure) -> float:
    return abs(measured / one.published - 1.0)


def _resources() -> Iterator[str]:
    rows = table(HERE / "measured" / "resources.csv")
    if rows:
        yield f"| {' | '.join(rows[0])} |"
        yield f"|---|{'---:|' * (len(rows[0]) - 1)}"
        for row in rows:
            yield f"| {' | '.join(row.values())} |"


def _value(value: float | None) -> str:
    if value is None:
        return "never"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.5g}"


def _verdict(row: Row) -> str:
    return {True: "yes", False: "**no**", None: ""}[row.within]


def _notes(name: str) -> str:
    return (HERE / "notes" / f"{name}.md").read_text(encoding="utf-8").rstrip()
