"""The figures of a study as SVG, drawn in several processes while its claims are judged."""

import io
import multiprocessing
import os
import re
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing

from longhaul import plots
from longhaul.reports import embedded
from longhaul.studies import drawing
from longhaul.studies.data import Data
from longhaul.studies.study import Study

# Drawing so many is faster than starting a process.
FEW = 4

Pictures = list["Future[Markup | None]"]


@contextmanager
def drawn(study: Study, data: Data) -> Iterator[Pictures]:
    """Draw all figures of a study in the background, in order; None where nothing was run."""
    count = len(study.required("figures", "FIGURES"))
    if count <= FEW:
        yield [_done(_picture(study, data, number)) for number in range(count)]
        return
    workers = ProcessPoolExecutor(
        min(os.cpu_count() or 1, count),
        multiprocessing.get_context("spawn"),
        _begin,
        (study.name, study.path, data.values, data.trajectories, data.axes),
    )
    try:
        yield [workers.submit(_of_worker, number) for number in range(count)]
    finally:
        workers.shutdown(cancel_futures=True)


def _done(picture: Markup | None) -> "Future[Markup | None]":
    future: Future[Markup | None] = Future()
    future.set_result(picture)
    return future


# What a worker draws from.
_given: list[tuple[Study, Data]] = []


def _begin(name: str, path: Path, *tables_and_axes: object) -> None:
    _given.append((Study(name, path), Data(*tables_and_axes)))  # type: ignore[arg-type]


def _of_worker(number: int) -> Markup | None:
    return _picture(*_given[0], number)


def _picture(study: Study, data: Data, number: int) -> Markup | None:
    figure: drawing.Figure = study.required("figures", "FIGURES")[number]
    picture = drawing.drawing(figure, data)
    if picture is None:
        return None
    name = re.sub(r"\W+", "-", f"figure-{figure.number}")
    return embedded(_as_svg(picture, name), name)


def _as_svg(picture: Drawing, name: str) -> str:
    """The text of an SVG file.

    Written by its canvas alone: `savefig` draws everything a first time to find what to cut off,
    and the layout leaves no margin.
    """
    text = io.StringIO()
    with matplotlib.rc_context({**plots.STYLE, "svg.hashsalt": name}):
        canvas: Any = FigureCanvasSVG(picture)
        canvas.print_svg(text, metadata=plots.NO_METADATA)
    return text.getvalue()
