"""Measurement of the speed of the explorer's page for docs/explore.md: `make explorer-speed`.

The script writes pages of several sizes to a temporary directory, opens each in Chromium, brushes
in several views, and prints a table. The table has the size of the page, the processor time of the
page's thread until the first view, and this time for each move of a brush until all visible views
are drawn. In brackets are the largest time, and the wall-clock time, which is longer if other
programs run.
"""

import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Browser, Page, sync_playwright

from longhaul.explore import explore
from longhaul.explore.page import write
from longhaul.explore.tables import Content, Roles, add_table

VIEWS = ("parallel", "scatter", "distribution")
MOVES = 12
# Pointer event on a canvas, at a position from 0 to 1; it ends when all visible views are drawn.
POINTER = """
async ([view, kind, x, y]) => {
    const canvas = document.querySelector(`#view-${view} canvas`);
    const box = canvas.getBoundingClientRect();
    canvas.setPointerCapture = () => {};
    canvas.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + x * box.width, clientY: box.top + y * box.height,
        pointerId: 1, button: 0, bubbles: true, pointerType: "mouse"}));
    do {
        await new Promise(done => requestAnimationFrame(done));
        await new Promise(done => setTimeout(done));
    } while (document.body.hasAttribute("data-drawing"));
}
"""


class Meter:
    """Processor time and wall-clock time of a page's thread, in seconds."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.reset()

    def reset(self) -> None:
        """Restart the measurement."""
        self._began = self._used()
        self._clock = time.monotonic()

    def read(self) -> tuple[float, float]:
        """Return processor time and wall-clock time since the last reset."""
        return self._used() - self._began, time.monotonic() - self._clock

    def _used(self) -> float:
        answer: dict[str, Any] = self._session.send("Performance.getMetrics")
        metrics = {metric["name"]: metric["value"] for metric in answer["metrics"]}
        return float(metrics["TaskDuration"])


def main() -> None:
    """Print the table."""
    browser = shutil.which("chromium") or sys.exit("Chromium is not installed")
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        for name, page in _pages(Path(folder)):
            _measure(chromium, name, page)
        chromium.close()


def _pages(folder: Path) -> Iterator[tuple[str, Path]]:
    for runs in sys.argv[1:]:
        path = Path(runs)
        yield path.name, explore([path], folder / f"{path.name}.html")
    for rows, columns in ((64, 20), (10_000, 20), (100_000, 10), (1_000_000, 8)):
        target = folder / f"{rows}.html"
        yield f"{rows:,} rows, {columns} responses", _of_rows(target, rows, columns)


def _of_rows(target: Path, rows: int, columns: int) -> Path:
    random = np.random.default_rng(1)
    algorithms = ["reno", "cubic", "hstcp", "bbr3"]
    factors = {
        "algorithm": np.array(algorithms)[np.arange(rows) % 4],
        "loss": np.array([1e-5, 1e-4, 1e-3])[np.arange(rows) // 4 % 3],
    }
    effect = np.log10(factors["loss"])
    responses = {f"y{at}_bps": effect * at + random.normal(size=rows) for at in range(columns)}
    content = Content()
    roles = Roles(
        colour="algorithm",
        factors={"algorithm": algorithms, "loss": [1e-5, 1e-4, 1e-3]},
        shown=("algorithm", "loss", *list(responses)[:6]),
    )
    add_table(content, "runs", pl.DataFrame(factors | responses), roles)
    return write(target, content, f"{rows:,} rows", [])


def _measure(chromium: Browser, name: str, file: Path) -> None:
    firsts = []
    answers: dict[str, list[tuple[float, float]]] = {}
    for _ in range(3):
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        meter = Meter(page)
        page.goto(f"file://{file}")
        page.wait_for_function("performance.getEntriesByName('first view').length")
        clock = page.evaluate("performance.getEntriesByName('first view')[0].startTime") / 1e3
        firsts.append((meter.read()[0], clock))
        for view in VIEWS:
            if page.locator(f"#view-{view}").count():
                answers.setdefault(view, []).extend(_brush(page, meter, view))
        page.close()
    size = file.stat().st_size / 1e6
    used, clock = min(firsts)
    brush = ", ".join(f"{view} {_told(times)}" for view, times in answers.items())
    print(f"| {name} | {size:.1f} MB | {used:.2f} s ({clock:.2f} s) | {brush} |", flush=True)


def _brush(page: Page, meter: Meter, view: str) -> list[tuple[float, float]]:
    """Return times of a brush's moves, along the first parallel coordinate or over a box."""
    canvas = page.locator(f"#view-{view} canvas")
    canvas.evaluate("canvas => canvas.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(400)
    is_axis = view == "parallel"
    start = 56 / canvas.evaluate("canvas => canvas.clientWidth") if is_axis else 0.14
    page.evaluate(POINTER, [view, "pointerdown", start, 0.2])
    times = []
    for at in range(1, MOVES + 1):
        right = 0.0 if is_axis else 0.5 * at / MOVES
        meter.reset()
        page.evaluate(POINTER, [view, "pointermove", start + right, 0.2 + 0.6 * at / MOVES])
        times.append(meter.read())
    page.evaluate(POINTER, [view, "pointerup", 0.64, 0.8])
    page.locator("#clear").click()
    return times


def _told(times: list[tuple[float, float]]) -> str:
    used, clock = (sorted(1e3 * one for one in each) for each in zip(*times, strict=True))
    return f"{statistics.median(used):.0f} (most {used[-1]:.0f}; {statistics.median(clock):.0f}) ms"


if __name__ == "__main__":
    main()
