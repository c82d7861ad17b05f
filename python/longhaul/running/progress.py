"""A progress bar for one run, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

# Characters of the bar, and of the line without the title.
BAR_WIDTH = 16
BESIDE_TITLE = BAR_WIDTH + 58


def shortened(title: str, width: int) -> str:
    """Return a title, shortened such that bar and remaining time fit on a line of `width`.

    The width is in characters.
    """
    room = max(4, width - BESIDE_TITLE)
    return title if len(title) <= room else f"{title[: room - 1]}…"


@contextmanager
def bar(title: str, duration_s: float) -> Iterator[Callable[[float, int], None]]:
    """Show a bar on standard error, if it is a terminal; yield the function to advance it."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=BAR_WIDTH),
        TextColumn("{task.completed:.1f}/{task.total:g} s simulated"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    began = monotonic()
    title = shortened(title, console.width)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        task = p.add_task(title, total=duration_s, rate="")

        def advance(simulated_s: float, packets: int) -> None:
            rate = packets / max(monotonic() - began, 1e-9)
            p.update(task, completed=simulated_s, rate=f"{rate / 1e6:.2f} M packets/s")

        yield advance
