"""Writer of the page of plots: name, meaning, and an example of each."""

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

import longhaul
from longhaul import _engine, plots
from longhaul.guide import examples
from longhaul.plots import PLOTS, Plot
from longhaul.reports import embedded
from tools.site.markdown import Pages, code, grid, html, page
from tools.site.runs import CACHE, cached

SAMPLES = (
    ("hstcp_beside_sack", ("duration=30 s", "measure.from=10 s", "measure.events=true", "measure.delays=true", "flows.0.count=2", "flows.1.count=2")),
    ("packmime", ("duration=20 s", "measure.from=5 s")),
    ("one_flow", ("duration=12 s", "measure.from=0 s", 'measure.capture=["left"]', "flows.0.trace_acks=true")),
    ("mesonet_small", ("mesonet.hosts.sources=5",)),
)  # fmt: skip
"""Examples with overrides; their runs have the data that plots need."""

WIDTH_IN = 4.5
LARGE_BYTES = 1_000_000


def write(pages: Pages) -> None:
    """Write the page of plots."""
    text = "`longhaul plot RUN NAME` writes a plot as SVG, PNG or PDF ([figures for a paper](../howto/figures-for-a-paper.md)); `longhaul report` includes the plots for which its runs have data. `longhaul analyze` plots means with confidence intervals."
    runs = Samples()
    cards = (
        [
            *html(f'<div class="plot">{runs.drawn(plot)}</div>'),
            "",
            f"{code(plot.name)}: {plot.help}",
        ]
        for plot in PLOTS.values()
    )
    pages.write("plots.md", page("Plots", text, grid("1 2 2 2", cards)))


class Samples:
    """Sample plots from runs of the examples, which are simulated only if a plot is not stored."""

    def __init__(self) -> None:
        self._runs: dict[str, longhaul.Results] = {}

    def drawn(self, plot: Plot) -> str:
        """Return a plot from the first run that has its data, as HTML.

        The result is an SVG or, for large plots, a bitmap; without such a run, an empty paragraph.
        """
        key = json.dumps([SAMPLES, plot.name, _engine.results_version(), _drawing_code()])
        name = f"plot-{hashlib.sha256(key.encode()).hexdigest()[:24]}.svg"
        return cached(name, lambda: self._draw(plot))

    def _draw(self, plot: Plot) -> str:
        run = next((run for run in self._each() if plot.suits(run)), None)
        if run is None:
            return "<p></p>"
        drawing = plots.figure(plot.name, [run], plots.Options(width_in=WIDTH_IN))
        file = CACHE / f"{plot.name}.svg"
        plots.save(drawing, file)
        if file.stat().st_size < LARGE_BYTES:
            return str(embedded(file.read_text(encoding="utf-8"), plot.name, plot.help))
        # A bitmap of many points is smaller.
        plots.save(drawing, file.with_suffix(".png"))
        pixels = base64.b64encode(file.with_suffix(".png").read_bytes()).decode()
        return f'<img alt="{escape(plot.help)}" src="data:image/png;base64,{pixels}">'

    def _each(self) -> Iterator[longhaul.Results]:
        for name, settings in SAMPLES:
            if name not in self._runs:
                self._runs[name] = longhaul.run(examples.read(name), set=list(settings))
            yield self._runs[name]


def _drawing_code() -> str:
    """Return a digest of the code that draws plots; stored plots are valid if it is unchanged."""
    folder = Path(plots.__file__).parent
    code = b"".join(file.read_bytes() for file in sorted(folder.rglob("*.py")))
    return hashlib.sha256(code).hexdigest()
