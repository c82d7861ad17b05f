"""Pages show titles, labels and paths as text, even if they look like markup."""

from pathlib import Path
from typing import Any

import pytest
from browsing import browser
from conftest import SMALL, CommandLine

import longhaul
from longhaul.explore import explore

__all__ = ["browser"]

# After `<!--` and `<script` the HTML parser takes `</script>` for text.
TITLE = "<!-- <script> & </script> \" ' -->"
LABEL = "<script>window.hit=1</script>"


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:  # noqa: ANN401
    return browser.new_page()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Results:
    named = {'"Small"': f"'''{TITLE}'''", '"fast"': f"'{LABEL}'"}
    scenario = SMALL
    for plain, marked_up in named.items():
        scenario = scenario.replace(plain, marked_up, 1)
    return longhaul.run(scenario, out=tmp_path_factory.mktemp("run") / "a<!-- <script>b")


def test_the_explorer_shows_them(page: Any, run: longhaul.Results, tmp_path: Path) -> None:  # noqa: ANN401
    file = explore([run.path], tmp_path / "page.html")
    page.goto(f"file://{file}")
    page.wait_for_selector("body[data-ready]", timeout=10_000)
    assert page.title() == TITLE
    assert TITLE in page.inner_text("body")
    assert page.evaluate("window.hit") is None


def test_reports_show_them(
    page: Any,  # noqa: ANN401
    run: longhaul.Results,
    tmp_path: Path,
    cli: CommandLine,
) -> None:
    result = cli("report", str(run.path), "--out", "report.html")
    assert result.returncode == 0, result
    page.goto(f"file://{tmp_path / 'report.html'}")
    shown = page.inner_text("body")
    assert TITLE in shown
    assert LABEL in shown
    assert run.name in shown
    assert page.evaluate("window.hit") is None
