"""Tutorial pages: code blocks can be run, and the outputs on the pages are the real ones."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import pytest
from page_blocks import Block, blocks_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TAUGHT = [*DOCS.glob("tutorials/*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("explanation/*.md")]
TAUGHT += [
    DOCS / name
    for name in (
        "index.md",
        "faq.md",
        "citing.md",
        "upgrading.md",
        "limitations.md",
        "stability.md",
    )
]
PAGES = sorted(
    page
    for page in TAUGHT
    if any(block.language in {"sh", "toml", "python"} for block in blocks_of(page))
)
SHORT = {"index.md", "faq.md", "citing.md", "own-topology.md"}
"""Pages whose commands take a few seconds in all; `-m long` tests the other pages."""


def marked(page: Path) -> object:
    marks = () if page.name in SHORT else (pytest.mark.long,)
    return pytest.param(page, id=page.relative_to(DOCS).as_posix(), marks=marks)


@pytest.mark.parametrize("page", [marked(page) for page in PAGES])
def test_blocks_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    printed = ""
    for block in blocks_of(page):
        if block.note == "not run":
            assert block.detail, f"{page}: a block that is not run has a reason"
        elif block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "text" and block.text.startswith("start_s,"):
            (tmp_path / "web.csv").write_text(block.text, encoding="utf-8")
        elif block.language == "sh" and is_possible(block):
            printed = run(block, tmp_path)
        elif block.language == "text" and printed:
            assert missing(block.text, printed) == [], f"{page.name}: printed was\n{printed}"


def is_possible(block: Block) -> bool:
    """Return true if everything is installed that a block requires."""
    needs = block.detail.split() if block.note == "needs" else []
    return all(shutil.which(one) or find_spec(one) for one in needs)


def run(block: Block, folder: Path) -> str:
    """Run a shell block as a reader would, and return its output."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-e", "-c", block.text],
        cwd=folder,
        # Without a cache directory, each plot would search the machine's fonts again.
        env={
            "PATH": path,
            "HOME": str(folder),
            "COLUMNS": "200",
            "MPLCONFIGDIR": matplotlib.get_cachedir(),
        },
        capture_output=True,
        text=True,
        timeout=900,
    )
    printed = done.stdout + done.stderr
    assert (done.returncode != 0) == (block.note == "fails"), f"{block.text}\n{printed}"
    return printed


def missing(shown: str, printed: str) -> Sequence[str]:
    """Return the lines in `shown` that are not in `printed`, ignoring spaces."""

    def plain(text: str) -> str:
        return re.sub(r"\s+", " ", text).strip()

    return [
        line for line in shown.splitlines() if plain(line) and plain(line) not in plain(printed)
    ]


def test_scenarios_of_the_gallery_are_those_of_the_pages() -> None:
    """Check that each file in docs/scenarios is shown on a page.

    Title, length and comments may differ.
    """
    shown = {block.file: block for page in PAGES for block in blocks_of(page) if block.file}
    for file in DOCS.glob("scenarios/*.toml"):
        block = shown[file.name]
        assert settings(file.read_text(encoding="utf-8")) == settings(block.text), file.name


def settings(text: str) -> list[str]:
    return [
        " ".join(line.split())
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
