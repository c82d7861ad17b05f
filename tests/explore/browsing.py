"""A browser for the tests of pages, and helpers that act like a user of the explorer."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import MESONET_NETWORK

import longhaul
from longhaul.campaign.dataset import Dataset
from longhaul.explore import explore

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
if BROWSER is None:
    pytest.skip("no Chromium: install it to test pages", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="the Python package playwright drives the browser"
)

Open = Callable[..., Any]
# Window height (px) at which every view is visible, since others are drawn only when scrolled to.
TALL = 6000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=BROWSER, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def idle(browser: Any) -> list[Any]:  # noqa: ANN401
    """Return the list of unused browser pages; reusing a page is faster than opening one."""
    del browser  # the fixture closes the pages
    return []


@pytest.fixture
def opened(browser: Any, idle: list[Any]) -> Iterator[Open]:  # noqa: ANN401
    """Provide a function that opens a file in the browser; console messages fail the test."""
    said: list[str] = []
    pages = []

    def open_(
        file: Path | str,
        hash_: str = "",
        *,
        width: int = 1300,
        height: int = 900,
        new: bool = False,
    ) -> Any:  # noqa: ANN401
        page = idle.pop() if idle and not new else browser.new_page(accept_downloads=True)
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        for event, listener in listeners.items():
            page.on(event, listener)
        page.goto(f"file://{file}{hash_}" if isinstance(file, Path) else f"{file}{hash_}")
        page.wait_for_selector("body[data-ready]")
        settle(page)
        return page

    def asked(url: str) -> None:
        if not url.startswith(("file:", "blob:", "data:", "http://127.0.0.1:")):
            said.append(f"asked for {url}")

    listeners: dict[str, Callable[[Any], None]] = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda request: asked(request.url),
    }
    yield open_
    for page in pages:
        for event, listener in listeners.items():
            page.remove_listener(event, listener)
        page.mouse.move(0, 0)
        page.goto("about:blank")
    idle.extend(pages)
    assert said == []


def settle(page: Any) -> None:  # noqa: ANN401
    page.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(done), 120))")
    page.wait_for_function("!document.body.hasAttribute('data-drawing')")


def pictures(page: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the image of each plot as a data URL, and the text of each table, by view."""
    found: dict[str, str] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".card")].map(card => [
            card.id,
            card.querySelector("canvas")?.toDataURL() ?? card.querySelector("tbody").innerText,
        ]))"""
    )
    return found


def drag(page: Any, view: str, start: tuple[float, float], end: tuple[float, float]) -> None:  # noqa: ANN401
    """Drag over the canvas of a view from `start` to `end`, fractions of its width and height."""
    canvas = page.locator(f"#view-{view} canvas")
    # The heading stays at the top of the window and would cover the canvas.
    canvas.evaluate("element => element.scrollIntoView({block: 'center'})")
    box = canvas.bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()
    page.mouse.move(0, 0)
    settle(page)


def count(page: Any) -> int:  # noqa: ANN401
    return int(page.inner_text("#count").split()[0].replace(",", ""))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an explorer page about 64 runs; only the factor `loss` affects the 20 responses."""
    random = np.random.default_rng(1)
    algorithm = ["reno", "cubic", "hstcp", "bbr3"] * 16
    loss = np.repeat([1e-5, 1e-3], 32)
    responses = {
        f"y{at}_bps": np.where(loss > 1e-4, 1.0, 9.0) + random.normal(size=64) for at in range(20)
    }
    frame = pl.DataFrame(
        {"run": range(1, 65), "replication": [1] * 64, "algorithm": algorithm, "loss": loss}
        | {"buffer": [1.0, 2.0] * 32}
        | responses
    )
    factors = {"algorithm": algorithm[:4], "loss": [1e-5, 1e-3], "buffer": [1.0, 2.0]}
    facts = {"title": "64 runs", "factors": factors, "responses": list(responses), "runs": 64,
             "wanted": 64, "results_version": 1}  # fmt: skip
    folder = tmp_path_factory.mktemp("campaign")
    Dataset(frame, facts).write(folder / "results.parquet")
    return explore([folder], folder / "page.html")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page about a small run of MesoNet."""
    folder = tmp_path_factory.mktemp("mesonet")
    scenario = f"[mesonet]\nintervals = 40\n{MESONET_NETWORK}"
    run = longhaul.run(scenario, out=folder / "m1")
    return explore([run.path], folder / "page.html")
