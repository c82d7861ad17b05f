"""Pictures of the explorer in docs/images: `make explorer-pictures`.

The script simulates the runs in a temporary directory, and opens their pages in Chromium.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
# Slow start overflows a short queue.
ONE_FLOW = """
duration = "12 s"
measure = { every = "20 ms", capture = ["bottleneck", "bottleneck-reverse"] }
[topology.dumbbell.bottleneck]
rate = "10 Mbps"
delay = "20 ms"
queue = { kind = "droptail", limit = "1 BDP" }
[[flows]]
label = "reno"
"""
LONGHAUL = Path(sys.executable).with_name("longhaul")


def main() -> None:
    """Write the pictures."""
    browser = shutil.which("chromium") or sys.exit("Chromium is not installed")
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        campaign, network = _pages(Path(folder))
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1200, "height": 1180})
        _open(page, campaign)
        _drag(page, "parallel", (0.41, 0.6), (0.41, 0.95))
        page.screenshot(path=IMAGES / "explore-campaign.png")
        page.set_viewport_size({"width": 1200, "height": 800})
        _open(page, network)
        _drag(page, "curves", (0.3, 0.15), (0.9, 0.3))
        # The next time at which the selected routers lose packets.
        page.fill("#view-network input[type=range]", "190")
        page.get_by_role("button", name="Go on to where").click()
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / "explore-network.png")
        page.keyboard.press("Escape")
        # The window is so tall that the page's heading does not cover the card.
        page.set_viewport_size({"width": 1200, "height": 6000})
        card = page.locator("#view-carpet")
        page.wait_for_timeout(1000)
        card.screenshot(path=IMAGES / "explore-losses.png")
        chromium.close()


def _pages(folder: Path) -> tuple[Path, Path]:
    def longhaul(*words: str) -> None:
        subprocess.run([LONGHAUL, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    longhaul("campaign", "new", "mine.toml")
    longhaul("campaign", "run", "mine.toml")
    longhaul("explore", "campaigns/mine", "--out", "campaign.html")
    longhaul("run", str(ROOT / "scenarios/mesonet_small.toml"), "--out", "m1")
    longhaul("explore", "m1", "--out", "network.html")
    (folder / "one.toml").write_text(ONE_FLOW)
    longhaul("run", "one.toml", "--out", "one")
    picture = str(IMAGES / "time-sequence.png")
    longhaul("plot", "one", "time-sequence", "--to", "2", "--out", picture, "--overwrite")
    return folder / "campaign.html", folder / "network.html"


def _open(page: Page, file: Path) -> None:
    page.goto(f"file://{file}")
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(500)


def _drag(page: Page, view: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    box = page.locator(f"#view-{view} canvas").bounding_box()
    assert box
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=5)
    page.mouse.up()
    page.mouse.move(0, 0)
    page.wait_for_timeout(800)


if __name__ == "__main__":
    main()
