"""Table of metrics, printed or as HTML or JSON.

The rows form blocks. Each label of each run has a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.table import Table as RichTable
from rich.text import Text


@dataclass(frozen=True)
class Unit:
    """A unit for the values of a row, and the factor that converts them from the base unit."""

    name: str
    scale: float


# Units by the name in a title: the default unit first, then units for smaller values.
UNITS: dict[str, tuple[Unit, ...]] = {
    "Mbit/s": (Unit("Mbit/s", 1e-6), Unit("kbit/s", 1e-3), Unit("bit/s", 1.0)),
    "ms": (Unit("ms", 1e3), Unit("us", 1e6), Unit("ns", 1e9)),
}


def in_units(title: str, digits: int, values: Sequence[float | None]) -> tuple[str, float]:
    """Return a row's title with the unit that suits its values, and the factor to convert to it.

    The unit is the largest one in which the largest value, rounded to `digits` decimals, still has
    at least two significant digits. Values are in the base unit.
    """
    name, _, unit = title.removesuffix(")").rpartition(" (")
    units = UNITS[unit]
    largest = max((abs(value) for value in values if value), default=0.0)
    if not largest:
        return title, units[0].scale
    fit = next((fit for fit in units if largest * fit.scale >= 10 ** (1 - digits)), units[-1])
    return f"{name} ({fit.name})", fit.scale


@dataclass(frozen=True)
class Block:
    """A block of rows below one heading; each row has a title and a cell for every column."""

    heading: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Table:
    """Table of metrics.

    Each run has a column for each label. If it has several labels, it also has a column for all its
    flows together.
    """

    runs: list[tuple[str, list[str]]]
    blocks: list[Block]
    window: str = ""
    """Measurement window, as text, if it is the same in all columns; otherwise empty."""

    def __rich__(self) -> RichTable:
        """Return the table for a terminal."""
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(Text(self.window, style="dim"))
        named = len(self.runs) > 1 or any("changes" in block.heading for block in self.blocks)
        for name, labels in self.runs:
            for index, label in enumerate(labels):
                above = name if index == 0 and named else ""
                heading = Text(f"{above}\n{label}" if named else label)
                table.add_column(heading, justify="right", overflow="fold")
        for block in self.blocks:
            table.add_row(Text(block.heading, style="bold"))
            for title, cells in block.rows:
                table.add_row(title, *cells)
            table.add_section()
        return table
