"""Comparison with NIST SP 500-282: `python -m validation.mesonet [PART ...]`.

Simulates the cases of the named parts, or of all parts, and prints their rows. Rows of other parts
are taken from `measured/comparison.csv`. Writes this table and `docs/mesonet_validation.md`. The
part `dumbbell` also writes the plots of this page, and `conditions` reads recorded runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from validation.mesonet import (
    conditions,
    connections,
    direct_routers,
    document,
    dumbbell,
    long_lived,
    loss_free,
    report,
    sizes,
    sources_alone,
    topology,
    users,
    windows,
)  # fmt: skip
from validation.rows import Row

UNITS = (
    topology.rows, sizes.capacities, sizes.populations, sizes.buffers, connections.unanswered,
    connections.answered, windows.rows, users.waves, users.choices, users.jumbos,
    users.long_lived_start, sources_alone.rows,
)  # fmt: skip
"""Functions that yield rows for the worked examples of chapter 3, and for values that follow from
the definitions of this chapter."""
PARTS: dict[str, Callable[[int], Iterable[Row]]] = {
    "units": lambda _: chain.from_iterable(rows() for rows in UNITS),
    loss_free.PART: loss_free.rows,
    long_lived.PART: long_lived.rows,
    direct_routers.PART: direct_routers.rows,
    dumbbell.PART: dumbbell.rows,
    conditions.PART: lambda _: conditions.rows(),
}
"""Functions that return the rows of each part, given a number of processes."""


def main() -> int:
    """Run the command; return its exit status: 1 if a value is out of tolerance, otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    for name in set(arguments.parts) - set(PARTS):
        parser.error(f"no part is called `{name}`; there are: {', '.join(PARTS)}")
    wanted = arguments.parts or list(PARTS)
    recorded = report.read()
    rows: dict[str, list[Row]] = {}
    for name, part in PARTS.items():
        if name in wanted:
            rows[name] = list(_told(part(arguments.processes)))
        else:
            rows[name] = recorded.get(name, [])
    report.write(rows)
    document.write(rows)
    judged = [row for of_case in rows.values() for row in of_case if row.within is not None]
    outside = sum(not row.within for row in judged)
    print(f"{len(judged)} values, {outside} outside their tolerance")
    return 1 if outside else 0


def _told(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows unchanged, and print each one as soon as it is available."""
    for row in rows:
        mark = {True: "  ", False: "!!", None: " ."}[row.within]
        there, here = (_value(value) for value in (row.expected, row.measured))
        print(f"{mark} {row.case:40} {row.metric:50} {there:>12} {here:>12}  {row.rule}")
        sys.stdout.flush()
        yield row


def _value(value: float | None) -> str:
    return "never" if value is None else f"{value:.6g}"


if __name__ == "__main__":
    sys.exit(main())
