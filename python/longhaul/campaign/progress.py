"""Progress on standard error: a bar on a terminal, otherwise a line at intervals."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from longhaul.campaign.execute import Outcome

# Minimum interval (s) between lines without a terminal.
LINE_EVERY_S = 30.0


@contextmanager
def show_progress(title: str) -> Iterator[Callable[[Outcome], None]]:
    """Show the number of finished runs; yield the function that updates the display."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
    )
    told = -LINE_EVERY_S
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as p:
        task = p.add_task(title, total=None, state="")

        def advance(outcome: Outcome) -> None:
            nonlocal told
            state = _state(outcome)
            p.update(task, total=outcome.total, completed=outcome.done, state=state)
            if not console.is_terminal and monotonic() - told >= LINE_EVERY_S:
                told = monotonic()
                sys.stderr.write(f"{title}: {state}\n")

        yield advance


def _state(outcome: Outcome) -> str:
    parts = [f"{outcome.done}/{outcome.total} runs"]
    if outcome.running:
        part = f" ({outcome.running_part:.0%})" if outcome.running_part else ""
        parts.append(f"{outcome.running} running{part}")
    if outcome.elsewhere:
        parts.append(f"{outcome.elsewhere} in other processes")
    if outcome.found:
        parts.append(f"{outcome.found} reused")
    if outcome.failed:
        parts.append(f"{len(outcome.failed)} failed")
    if outcome.data_packets:
        parts.append(f"{outcome.packets_per_s / 1e6:.2f} M packets/s")
    left = outcome.left_s
    # The rest of a finished campaign is a rounding error, of either sign.
    if left is not None and left > 0.5:
        parts.append(f"{left / 60:.0f} min left" if left >= 90 else f"{left:.0f} s left")
    return ", ".join(parts)
