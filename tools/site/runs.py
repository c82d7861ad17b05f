"""Short runs for charts, stored by the hash of their scenario and by the results version."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import longhaul
from longhaul import _engine
from longhaul.files.writing import write_text
from tools.site.chart import Chart, Line, thinned
from tools.site.markdown import ROOT

CACHE = ROOT / "site" / "cache"

View = Callable[[longhaul.Results], Chart]


def chart(
    source: str | Path | Mapping[str, Any], view: View, name: str, set: tuple[str, ...] = ()
) -> Chart:
    """Return the chart that `view` draws of a run of `source` with the overrides `set`.

    Charts are stored by scenario and by `name`, the name of the view. The run is simulated only if
    its chart is not stored.
    """

    def drawn() -> str:
        drawing = view(longhaul.run(source, set=set))
        lines = [(line.name, thinned(line)) for line in drawing.lines]
        return json.dumps({**vars(drawing), "lines": lines})

    scenario = longhaul.load(source, set)
    key = f"{scenario.hash[:24]}-{_engine.results_version()}-{name}.json"
    shown = json.loads(cached(key, drawn))
    lines = tuple(
        Line(line, [x for x, _ in points], [y for _, y in points])
        for line, points in shown["lines"]
    )
    return Chart(**{**shown, "lines": lines})


def cached(name: str, make: Callable[[], str]) -> str:
    """Return the text that is stored as `name`; if there is none, make and store it."""
    file = CACHE / name
    if not file.exists():
        write_text(file, make())
    return file.read_text(encoding="utf-8")
