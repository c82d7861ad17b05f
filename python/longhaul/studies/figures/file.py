"""Reader of `figures.toml`: figures of a source that show metrics along an axis.

    [[figures]]
    number      = "1"
    title       = "One flow fills the link"
    experiments = ["E1"]
    published   = "Utilisation falls with the loss rate."
    axis        = "loss"
    x           = "loss rate"
    y           = "utilisation"
    log         = ["x"]                       # none without it
    from_zero   = false                       # a linear y axis begins at 0 without it
    panels      = ["red", "droptail"]         # levels of the axis `queue`; one panel without it
    values      = { "printed" = 0.98 }        # horizontal lines
    lines       = [{ metric = "utilisation", label = "CUBIC", where = { algorithm = "cubic" } }]

A line shows a metric, or arithmetic on several metrics (`one_bps/other_bps`), of its `experiment`,
by default the figure's first experiment. It has the style of the algorithm in `style`. Lines
without `style` differ from each other, but may look like the line of an algorithm.
"""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from longhaul.plots.styles import ALGORITHMS, LABELS, Style
from longhaul.studies.errors import StudyError, unknown
from longhaul.studies.figures import Figure, Frame, Line

NAME = "figures.toml"
FIGURE = ("number", "title", "experiments", "published", "axis", "x", "y", "log", "from_zero",
          "panels", "values", "lines")  # fmt: skip
LINE = ("metric", "label", "experiment", "where", "style")
NEEDED = {"number", "title", "experiments", "axis", "x", "y", "lines"}


def read(file: Path, experiments: Collection[str]) -> list[Figure]:
    """Read the figures of a file; raise StudyError if the file or a figure is invalid.

    The experiments of figures and of their lines must be in `experiments`.
    """
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        return [_figure(figure, experiments) for figure in given["figures"]]
    except (tomllib.TOMLDecodeError, StudyError) as error:
        raise StudyError(f"{file}: {error}") from None
    except KeyError as error:
        raise StudyError(f"{file}: missing {error}") from None


def _figure(given: Mapping[str, Any], experiments: Collection[str]) -> Figure:
    name = f"figure {given.get('number', '')}".rstrip()
    _check_keys(name, given, FIGURE, NEEDED)
    own = tuple(given["experiments"])
    lines = [_line(name, place, line, own[0]) for place, line in enumerate(given["lines"])]
    for experiment in (*own, *(line.experiment for line in lines)):
        if experiment not in experiments:
            raise StudyError(f"{name}: {unknown('experiment', experiment, list(experiments))}")
    log = given.get("log", ())
    frame = Frame(given["x"], given["y"], "x" in log, "y" in log, given.get("from_zero", True))
    return Figure(
        number=given["number"],
        title=given["title"],
        experiments=own,
        published=given.get("published", ""),
        frame=frame,
        axis=given["axis"],
        lines=lines,
        panels=tuple(given.get("panels", ("",))),
        values=given.get("values", {}),
    )


def _line(name: str, place: int, given: Mapping[str, Any], experiment: str) -> Line:
    _check_keys(f"{name}: line {place + 1}", given, LINE, {"metric", "label"})
    return Line(
        given.get("experiment", experiment), given["metric"], given["label"],
        _style(name, given.get("style"), place), given.get("where", {}),
    )  # fmt: skip


def _style(name: str, algorithm: str | None, place: int) -> Style:
    if algorithm is None:
        return LABELS[place % len(LABELS)]
    if algorithm not in ALGORITHMS:
        raise StudyError(f"{name}: {unknown('style', algorithm, list(ALGORITHMS))}")
    return ALGORITHMS[algorithm]


def _check_keys(
    name: str, given: Mapping[str, Any], known: Collection[str], needed: Collection[str]
) -> None:
    for key in given:
        if key not in known:
            raise StudyError(f"{name}: {unknown('key', key, list(known))}")
    if missing := [key for key in known if key in needed and key not in given]:
        raise StudyError(f"{name}: missing {', '.join(missing)}")
