"""The playground in a browser without a network: its figures are those of `longhaul run`."""

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import longhaul
from tools.site import playground
from tools.site.markdown import DOCS

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the Python package playwright drives the browser"
)
Page = Any  # playwright's type, which is not installed where types are checked

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

SCENARIO = """
duration = "20 s"
measure  = { from = "5 s" }

[topology.dumbbell.bottleneck]
rate  = "20 Mbps"
delay = "10 ms"
queue = { kind = "red", ecn = true, limit = "1 BDP" }
loss  = { bernoulli = 1e-4 }

[[flows]]
label = "cubic"
count = 2
congestion = { kind = "cubic" }
start = { uniform = ["0 s", "1 s"] }

[[flows]]
label = "bbr"
congestion = { kind = "bbr" }
"""


# A stand-in for the engine's worker, which records the requested runs.
STAND_IN = """
window.RUNS = [];
window.Worker = class {
  terminate() {}
  postMessage({ packed, text }) {
    setTimeout(() => {
      if (packed !== undefined) return this.onmessage({ data: { ready: true } });
      RUNS.push(text);
      const line = { name: "cubic", t_s: [0, 1, 2], y: [1, 2, 3] };
      const answer = { from_s: 0, to_s: 2, data_packets: 9, warnings: [], labels: [], links: [] };
      const lines = { cwnd: [line], queue: [line], goodput: [line] };
      this.onmessage({ data: { took: 1, ...answer, ...lines } });
    });
  }
};
"""


def opened(folder: Path, static: Path) -> str:
    """Write the playground as a separate page, and return its address."""
    text = (DOCS / "playground.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"^```\{raw\} html\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (folder / "page.html").write_text(f"<!doctype html>\n{body}")
    if not (folder / "_static").exists():
        (folder / "_static").symlink_to(static)
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    if BROWSER is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser.new_context(offline=True)
        browser.close()


@pytest.fixture
def page(browser: Page, tmp_path: Path) -> Page:
    if not playground.FILE.exists() or "window.PLAYGROUND" not in playground.FILE.read_text()[:99]:
        pytest.skip("needs the engine as WebAssembly: make docs")
    page = browser.new_page()
    page.goto(opened(tmp_path, DOCS / "static"))
    return page


def run(page: Page, text: str, shown: str) -> None:
    """Run the scenario `text` after the page's own first run, and wait for the text `shown`."""
    page.wait_for_selector("#playground-answer svg, .playground-error")
    page.fill("#playground-text", text)
    page.click("#playground-run")
    page.wait_for_selector(f"#playground-answer {shown}")


def test_its_figures_are_those_of_a_run(page: Page) -> None:
    run(page, SCENARIO, "svg")
    flows, links = (
        [
            [cell.inner_text() for cell in row.locator("td").all()]
            for row in table.locator("tr").all()
        ]
        for table in page.locator("#playground-answer table").all()
    )
    labels = longhaul.run(tomllib.loads(SCENARIO)).summary().labels
    for cells, label in zip(flows[1:], labels.rows(named=True), strict=True):
        assert cells[0] == label["label"]
        assert cells[2] == f"{label['goodput_bps'] / 1e6:,.1f}"
        assert cells[4] == f"{label['rtt_mean_s'] * 1e3:,.2f}"
    assert [cells[0] for cells in links[1:]] == ["bottleneck", "bottleneck-reverse"]
    assert page.locator("svg polyline").count() >= 7


def test_what_is_wrong_is_shown_and_can_be_mended(page: Page) -> None:
    run(page, SCENARIO.replace("cubic", "cubik"), ".playground-error")
    shown = page.inner_text(".playground-error")
    assert "unknown congestion" in shown
    assert "did you mean `cubic`" in shown
    run(page, SCENARIO, "svg")
    assert page.locator(".playground-error").count() == 0


def test_it_runs_at_once_follows_sliders_and_is_restored_by_its_address(
    browser: Page, tmp_path: Path
) -> None:
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "playground.js").write_text(
        (DOCS / "static" / "playground.js").read_text(encoding="utf-8")
    )
    loaded = {
        "module": "",
        "colours": {},
        "algorithms": ["cubic", "bbr3", "reno"],
        "scenarios": {"first": {"title": "Two flows", "text": playground.FIRST}},
    }
    engine = f"{STAND_IN}\nwindow.PLAYGROUND = {json.dumps(loaded)};"
    (tmp_path / "_static" / "playground-engine.js").write_text(engine)
    address = opened(tmp_path, tmp_path / "_static")
    page = browser.new_page()
    page.goto(address)
    page.wait_for_function("RUNS.length === 1")
    assert page.evaluate("RUNS[0]") == playground.FIRST
    # The coloured copy has the same text.
    assert page.inner_text("#playground-colours").rstrip() == playground.FIRST.rstrip()

    page.locator("#playground-sliders input").nth(0).evaluate(
        "slider => { slider.value = 0; slider.dispatchEvent(new Event('input')); }"
    )
    page.locator("#playground-sliders select").nth(1).select_option("reno")
    page.wait_for_function("RUNS.at(-1).includes('reno')")
    ran = tomllib.loads(page.evaluate("RUNS.at(-1)"))
    assert ran["topology"]["dumbbell"]["bottleneck"]["rate"] == "1 Mbps"
    assert [flow["congestion"]["kind"] for flow in ran["flows"]] == ["cubic", "reno"]

    page.wait_for_function("location.hash.length > 10")
    again = browser.new_page()
    again.goto(page.url)
    again.wait_for_function("RUNS.length === 1")
    assert tomllib.loads(again.evaluate("RUNS[0]")) == ran
