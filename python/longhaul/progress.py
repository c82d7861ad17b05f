"""Progress bars on the error stream: of one run by simulated time, of many by runs done."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from longhaul.campaign import Outcome

# Without a terminal a line says how far many runs are, at most so often.
LINE_EVERY_S = 30.0


# Characters of the bar, and of all that stands beside it but the title.
BAR_WIDTH = 16
BESIDE_TITLE = BAR_WIDTH + 58


def shortened(title: str, width: int) -> str:
    """A title that leaves room for the bar and the time left on a line of so many characters."""
    room = max(4, width - BESIDE_TITLE)
    return title if len(title) <= room else f"{title[: room - 1]}…"


@contextmanager
def bar(title: str, duration_s: float) -> Iterator[Callable[[float, int], None]]:
    """Show a bar on the error stream, if that is a terminal, and yield what advances it."""
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


@contextmanager
def of_runs(title: str) -> Iterator[Callable[["Outcome"], None]]:
    """Show how many runs are done, and yield what is told of it; without a terminal in lines."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
    )
    told = -LINE_EVERY_S
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        task = p.add_task(title, total=None, state="")

        def advance(outcome: "Outcome") -> None:
            nonlocal told
            state = _state(outcome)
            p.update(task, total=outcome.total, completed=outcome.done, state=state)
            if not console.is_terminal and monotonic() - told >= LINE_EVERY_S:
                told = monotonic()
                sys.stderr.write(f"{title}: {state}\n")

        yield advance


def _state(outcome: "Outcome") -> str:
    parts = [f"{outcome.done}/{outcome.total} runs"]
    if outcome.running:
        parts.append(f"{outcome.running} running")
    if outcome.elsewhere:
        parts.append(f"{outcome.elsewhere} in other programs")
    if outcome.found:
        parts.append(f"{outcome.found} kept from before")
    if outcome.failed:
        parts.append(f"{len(outcome.failed)} failed")
    if outcome.data_packets:
        parts.append(f"{outcome.packets_per_s / 1e6:.2f} M packets/s")
    left = outcome.left_s
    if left:
        parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
    return ", ".join(parts)
