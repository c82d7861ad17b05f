"""The playground in a browser without a network: its figures are those of `longhaul run`."""

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
Page = Any  # of playwright, which is not there where types are checked

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


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    if BROWSER is None:
        pytest.skip("needs Chromium")
    if not playground.FILE.exists() or "window.PLAYGROUND" not in playground.FILE.read_text()[:99]:
        pytest.skip("needs the engine as WebAssembly: make docs")
    text = (DOCS / "playground.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"^```\{raw\} html\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "page.html").write_text(f"<!doctype html>\n{body}")
    (tmp_path / "_static").symlink_to(DOCS / "static")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.goto((tmp_path / "page.html").as_uri())
        yield page
        browser.close()


def run(page: Page, text: str, shown: str) -> None:
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
