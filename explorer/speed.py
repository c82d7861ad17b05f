"""How fast the explorer's page is, as docs/explore.md has it: `make explorer-speed`.

Makes pages of several sizes in a temporary directory, opens each in Chromium, brushes in several
views, and prints a table: the size of the page, the time to the first view, and from a move of the
pointer to the frame that shows it.
"""

import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from playwright.sync_api import Browser, sync_playwright

from longhaul.explore import explore
from longhaul.explore.page import write
from longhaul.explore.tables import Content, Roles, add_table

VIEWS = ("parallel", "scatter", "distribution")
BRUSH = """
async ([view, parts]) => {
    const canvas = document.querySelector(`#view-${view} canvas`);
    canvas.scrollIntoView({block: "center"});
    const frame = () => new Promise(done => requestAnimationFrame(done));
    await new Promise(done => setTimeout(done, 400));
    const box = canvas.getBoundingClientRect();
    const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + x * box.width, clientY: box.top + y * box.height,
        pointerId: 1, button: 0, bubbles: true, pointerType: "mouse"}));
    canvas.setPointerCapture = () => {};
    const times = [];
    // Along the first axis of parallel coordinates, over a box elsewhere.
    const start = view === "parallel" ? 56 / box.width : 0.14;
    send("pointerdown", start, 0.2);
    for (let at = 1; at <= parts; at++) {
        await frame();
        const began = performance.now();
        const right = view === "parallel" ? 0 : 0.5 * at / parts;
        send("pointermove", start + right, 0.2 + 0.6 * at / parts);
        // Until all that is in sight is drawn.
        do {
            await frame();
            await new Promise(done => setTimeout(done));
        } while (document.body.hasAttribute("data-drawing"));
        times.push(performance.now() - began);
    }
    send("pointerup", 0.64, 0.8);
    document.querySelector("#clear").click();
    return times;
}
"""


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
    answers: dict[str, list[float]] = {}
    for _ in range(3):
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"file://{file}")
        page.wait_for_function("performance.getEntriesByName('first view').length")
        firsts.append(page.evaluate("performance.getEntriesByName('first view')[0].startTime"))
        for view in VIEWS:
            if page.locator(f"#view-{view}").count():
                answers.setdefault(view, []).extend(page.evaluate(BRUSH, [view, 12]))
        page.close()
    size = file.stat().st_size / 1e6
    brush = ", ".join(
        f"{view} {statistics.median(times):.0f} (most {max(times):.0f})"
        for view, times in answers.items()
    )
    print(f"| {name} | {size:.1f} MB | {min(firsts) / 1e3:.2f} s | {brush} ms |", flush=True)


if __name__ == "__main__":
    main()
