"""Generated parts of the first page: output and plot of its scenario, and the speed chart."""

import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path

from tools.site import views
from tools.site.markdown import DOCS, ROOT, Pages
from tools.site.runs import chart

COMPARED = (
    "five HSTCP and five SACK flows, 622 Mbit/s, drop-tail",
    "ten HSTCP flows over access links, RED",
    "four SACK flows that overshoot 2.5 Gbit/s in slow start",
    "web traffic (PackMime)",
)
"""Rows of README's table of speed that the chart shows."""

ROW = re.compile(
    r"^\| (?P<name>[^|]+) \| (?P<ours>[\d.]+) million \| (?P<theirs>[\d.]+) million \| (?P<ratio>\d+) \|",
    re.MULTILINE,
)


def write(pages: Pages) -> None:
    """Write the three files that the first page includes."""
    text = scenario()
    drawn = chart(tomllib.loads(text), views.windows, "windows")
    # Each label has one flow.
    lines = tuple(replace(line, name=line.name.removesuffix("-0")) for line in drawn.lines)
    pages.write_text("windows.html", replace(drawn, lines=lines).svg(720, 300) + "\n")
    pages.write_text("output.txt", output(text))
    pages.write_text("speed.html", speed((ROOT / "README.md").read_text(encoding="utf-8")))


def scenario() -> str:
    """Return the scenario on the site's first page."""
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    found = re.search(r"```toml\n(# first\.toml\n.*?)```", page, re.DOTALL)
    assert found
    return found[1]


def output(text: str) -> str:
    """Return the table that `longhaul run` prints for the scenario `text`.

    The machine's time and the suggestions are left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "first.toml").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "longhaul", "run", "first.toml", "--out", "first"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    table = done.stdout.split("\n\n", 1)[1].split("\nTables:", 1)[0]
    return table.rstrip() + "\n"


def speed(readme: str) -> str:
    """Return a bar chart of packets per second of processor time, from the table in `readme`."""
    rows = {row["name"].strip(): row for row in ROW.finditer(readme)}
    largest = max(float(rows[name]["ours"]) for name in COMPARED)
    lines = ['<table class="speed">']
    for name in COMPARED:
        row = rows[name]
        lines.append(f'<tr><th colspan="2" scope="rowgroup">{name}: {row["ratio"]} times</th></tr>')
        for who, key in (("Longhaul", "ours"), ("ns-2", "theirs")):
            rate = float(row[key])
            width = f"max(2px, {70 * rate / largest:.2f}%)"
            shown = f"{rate:g} million"
            lines.append(
                f'<tr class="{key}"><td>{who}</td>'
                f'<td><span class="bar" style="width: {width}"></span>{shown}</td></tr>'
            )
    return "\n".join([*lines, "</table>"]) + "\n"
