"""Evidence for an algorithm: comparisons in `validation/` and in pages generated from them."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tools.site.markdown import DOCS, ROOT, table
from validation.linux import report as linux_report
from validation.ns2 import page as ns2_page
from validation.ns2.cases import gold_cases
from validation.ns2.linux_modules import MODULES
from validation.response import __main__ as response
from validation.response.judge import judge
from validation.response.measure import Measurement
from validation.rows import Row

NATIVE = {"sack": "reno", "newreno": "reno", "reno": "reno", "hstcp": "hstcp"}
"""Longhaul's algorithms by the names of ns-2's agents."""


@cache
def response_measurements() -> dict[str, list[Measurement]]:
    """Return the measured mean windows by algorithm."""
    by_algorithm: dict[str, list[Measurement]] = defaultdict(list)
    for point in response.recorded():
        by_algorithm[point.algorithm].append(point)
    return by_algorithm


def held_against(name: str) -> list[str]:
    """Return the lines of a table of the comparisons that include the algorithm `name`.

    Without a comparison, return a sentence that says so.
    """
    rows = [*_ns2(name), *_linux(name), *_response(name), *_coexistence(name)]
    if not rows:
        return [
            "No comparison with another implementation; unit tests compare the algorithm with numbers computed from its sources."
        ]
    return table(["compared with", "result", "page"], rows)


def _ns2(name: str) -> Iterator[tuple[str, str, str]]:
    cases = {
        case.name
        for case in gold_cases()
        if any(_module(group.kind) == name for group in case.flow_groups)
    }
    rows = [row for row in _report() if row.case in cases]
    if rows:
        within = sum(bool(row.within) for row in rows)
        compared = len({row.case for row in rows})
        found = f"{within} of {len(rows)} values within their bounds"
        yield f"ns-2.35, {compared} cases", found, "[Longhaul against ns-2](../../validation.md)"


@cache
def _report() -> list[Row]:
    return ns2_page.read_report(ROOT / "validation/ns2/report.json")


def _module(kind: str) -> str:
    if kind.startswith("linux:"):
        return MODULES.get(kind.removeprefix("linux:"), ("", ""))[0]
    return NATIVE.get(kind, "")


def _linux(name: str) -> Iterator[tuple[str, str, str]]:
    ours = [row for row in linux_report.read() if row["flow"] == name]
    if ours:
        outside = sum(row["verdict"] == linux_report.OUTSIDE for row in ours)
        cases = len({row["case"] for row in ours})
        where = "[The profile `linux` against Linux 6.18](../../linux.md)"
        found = f"{len(ours) - outside} of {len(ours)} values within their bounds"
        yield f"Linux 6.18, {cases} recorded runs", found, where


def _response(name: str) -> Iterator[tuple[str, str, str]]:
    if measured := response_measurements().get(name):
        verdicts = [judge(point, kind) for point in measured for kind in (point.even, point.random)]
        explained = sum(verdict.value != "outside" for verdict in verdicts)
        where = "[Measured mean cwnd](../../response-functions.md)"
        found = f"{explained} of {len(verdicts)} mean windows within 5 % of the law, or with a known cause"
        yield "the algorithm's published law, at four loss rates", found, where


def _coexistence(name: str) -> Iterator[tuple[str, str, str]]:
    for line in (DOCS / "coexistence.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == f"`{name}`" and len(cells) == 7:
            where = "[Coexistence](../../coexistence.md)"
            yield "standard TCP, two flows of each", f"{cells[5]} of the link", where
            return
