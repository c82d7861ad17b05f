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
    """Return the chart `name` of a run of `source` with the overrides `set`.

    The run is simulated unless it is stored; `view` draws the chart.
    """
    scenario = longhaul.load(source, set)
    key = f"{scenario.hash[:24]}-{_engine.results_version()}-{name}.json"
    kept = CACHE / key
    if kept.exists():
        return _read(json.loads(kept.read_text(encoding="utf-8")))
    drawn = view(longhaul.run(source, set=set))
    lines = [(line.name, thinned(line)) for line in drawn.lines]
    shown = {"x": drawn.x, "y": drawn.y, "title": drawn.title, "log": drawn.log, "lines": lines}
    CACHE.mkdir(parents=True, exist_ok=True)
    write_text(kept, json.dumps(shown))
    return _read(shown)


def _read(shown: Mapping[str, Any]) -> Chart:
    lines = tuple(
        Line(name, [x for x, _ in points], [y for _, y in points])
        for name, points in shown["lines"]
    )
    return Chart(lines, shown["x"], shown["y"], shown["title"], shown["log"])
