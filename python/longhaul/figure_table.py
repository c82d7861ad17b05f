"""A table of figures: blocks of rows, a column per run and label; to print, for HTML, for JSON."""

from collections.abc import Callable
from dataclasses import dataclass

from rich import box
from rich.table import Table as RichTable
from rich.text import Text


def number(digits: int, scale: float = 1.0) -> Callable[[float], str]:
    """Format of a figure with a number of decimals."""
    return lambda value: f"{value * scale:,.{digits}f}"


@dataclass(frozen=True)
class Block:
    """Rows of one table: a heading, and per row a title and a cell for every column."""

    heading: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Table:
    """Columns are grouped by run; each run has a column per label, then one for all flows."""

    runs: list[tuple[str, list[str]]]
    blocks: list[Block]

    def __rich__(self) -> RichTable:
        """The table on a terminal."""
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("")
        named = len(self.runs) > 1 or any(block.heading == "changes" for block in self.blocks)
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
