"""The worked examples of chapter 3, and values that follow from its definitions."""

from __future__ import annotations

from collections.abc import Iterator

from validation.mesonet import connections, sizes, sources_alone, topology, users, windows
from validation.rows import Row

PART = "units"


def rows(processes: int = 1) -> Iterator[Row]:
    """Yield all rows in this process; `processes` is ignored, because the runs are short."""
    del processes
    for subject in (topology, sizes, connections, windows, users, sources_alone):
        yield from subject.rows()
