"""The figures of a study as SVG, drawn in several processes while its claims are judged."""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from markupsafe import Markup

from longhaul.plots.files import as_svg
from longhaul.reports import embedded
from longhaul.studies import figures as drawing
from longhaul.studies import parts
from longhaul.studies.data import Data, Shared
from longhaul.studies.study import Study

# A further process is started for each group of so many figures, since its start takes as long as
# drawing them.
FEW = 4

# Allocations between runs of Python's cyclic garbage collector. A figure has hundreds of thousands
# of objects that live until it is drawn; with Python's default of 700 the collector takes a seventh
# of the time.
COLLECTED_AFTER = 300_000

Draw = Callable[[], list[Markup | None]]


@contextmanager
def drawn(study: Study, data: Data) -> Iterator[Draw]:
    """Begin to draw the figures of a study; yield a function that returns them in order.

    The function draws the figures that no other process has begun, and waits for the others. If
    there are few, it draws all of them. A figure without any run is None.
    """
    usual = gc.get_threshold()
    gc.set_threshold(COLLECTED_AFTER)
    try:
        with _in_processes(study, data) as draw:
            yield draw
    finally:
        gc.set_threshold(*usual)


@contextmanager
def _in_processes(study: Study, data: Data) -> Iterator[Draw]:
    count = len(parts.figures(study))
    # Each further core gets a process. This process judges claims, and then draws figures that are
    # left.
    others = min((os.cpu_count() or 1) - 1, count // FEW)
    if others < 1:
        yield lambda: [_picture(study, data, number) for number in range(count)]
        return
    with TemporaryDirectory() as folder:
        given = data.share(Path(folder))
        workers = ProcessPoolExecutor(
            others, multiprocessing.get_context("spawn"), _begin, (study.name, study.path, given)
        )
        try:
            begun = [workers.submit(_of_worker, number) for number in range(count)]
            yield lambda: _all(study, data, begun)
        finally:
            workers.shutdown(cancel_futures=True)


def _all(study: Study, data: Data, begun: "list[Future[Markup | None]]") -> list[Markup | None]:
    """Return all plots. This process draws those that no worker has begun, the last one first."""
    here = {}
    for number, future in reversed(list(enumerate(begun))):
        if future.cancel():
            here[number] = _picture(study, data, number)
    return [
        here[number] if number in here else future.result() for number, future in enumerate(begun)
    ]


# Study and results, which a worker process receives when it starts.
_given: list[tuple[Study, Data]] = []


def _begin(name: str, path: Path, given: Shared) -> None:
    gc.set_threshold(COLLECTED_AFTER)
    _given.append((Study(name, path), given.data()))


def _of_worker(number: int) -> Markup | None:
    return _picture(*_given[0], number)


def _picture(study: Study, data: Data, number: int) -> Markup | None:
    figure = parts.figures(study)[number]
    picture = drawing.drawing(figure, data, study.claims)
    if picture is None:
        return None
    svg = as_svg(picture, figure.name, cut=False, dpi=picture.dpi)
    return embedded(svg, figure.name)
