"""The recipes of docs/contributing.md: one file and one line add an algorithm or discipline."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = (ROOT / "docs" / "contributing.md").read_text()


def copy_of_the_tree(to: Path) -> Path:
    """Copy all files of the repository in their present state."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if not (ROOT / name).exists():
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_symlink():
            (to / name).symlink_to((ROOT / name).readlink())
        else:
            shutil.copy(ROOT / name, to / name)
    return to


def code_blocks(section: str) -> list[str]:
    (text,) = re.findall(rf"^## {section}$(.*?)(?=^## )", RECIPES, re.MULTILINE | re.DOTALL)
    return re.findall(r"```rust\n(.*?)```", text, re.DOTALL)


def insert_before(file: Path, end: str, line: str) -> None:
    """Insert `line` into a file, before the text `end`."""
    text = file.read_text()
    head, tail = text.split(end, 1)
    file.write_text(f"{head}\n    {line}{end}{tail}")


def add_algorithm(tree: Path) -> None:
    """Follow the recipe for a new algorithm: write its file, and add its line to the list."""
    listing, source, *_ = code_blocks("An algorithm")
    lines = [line.strip() for line in listing.splitlines() if "::" in line]
    algorithms = tree / "crates" / "congestion" / "src" / "algorithms"
    (algorithms / f"{lines[-1].split('::')[0]}.rs").write_text(source)
    insert_before(algorithms / "mod.rs", "\n}\n\nimpl CongestionControl", lines[-1])


def add_discipline(tree: Path) -> None:
    """Add a queue discipline by the recipe: copy that of `threshold`, and add a table line."""
    line, *_ = code_blocks("A queue discipline")
    line = line.split("//")[0].strip()
    queues = tree / "crates" / "engine" / "src" / "queue"
    source = (queues / f"{line.split(':')[0]}.rs").read_text()
    source = source.replace('"threshold";', '"another";')
    (queues / "another.rs").write_text(source.replace("Threshold", "Another"))
    another = line.replace("Threshold", "Another").replace("threshold", "another")
    table = queues / "mod.rs"
    assert f"    {line}" in table.read_text()
    insert_before(table, f"\n    {line}", another)


@pytest.mark.long
def test_an_algorithm_and_a_discipline_are_a_file_and_a_line_each(tmp_path: Path) -> None:
    tree = copy_of_the_tree(tmp_path)
    add_algorithm(tree)
    add_discipline(tree)
    added = ["crates/congestion/src/algorithms/aiad.rs", "crates/engine/src/queue/another.rs"]
    style = ["rustfmt", "--edition", "2024", "--check", *added]
    subprocess.run(style, cwd=tree, check=True)
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target" / "recipes")}
    for tests in (
        ["-p", "longhaul-congestion"],
        ["-p", "longhaul-scenario"],
        ["-p", "longhaul-engine", "--lib", "queue::"],
        ["-p", "longhaul-engine", "--test", "disciplines"],
        ["-p", "longhaul-engine", "--test", "behaviour", "packets_are_conserved"],
        ["-p", "longhaul-mesonet", "--test", "mesonet", "restart"],
    ):
        done = subprocess.run(
            ["cargo", "test", "--locked", "--quiet", *tests],
            cwd=tree, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{tests}: {done.stdout[-6000:]}{done.stderr[-3000:]}"
