"""Imports: no cycles, no crate that uses a higher one, and layers as the documents list them.

The layers of Python modules are checked by `lint-imports`.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from import_graph import circles, python_imports, rust_imports

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())


def _is_natural(circle: list[str], separator: str) -> bool:
    """Return true if a cycle consists of a module and its submodules only.

    In Rust, submodules see a module's private items, so a type and the files that implement it are
    one unit. An example is `table`, to which `table::stored` adds methods.
    """
    top = min(circle, key=len)
    return all(name == top or name.startswith(top + separator) for name in circle)


@pytest.mark.parametrize("crate", CRATES)
def test_no_circles_among_files_of_a_crate(crate: str) -> None:
    found = circles(rust_imports(ROOT / "crates" / crate))
    assert [circle for circle in found if not _is_natural(circle, "::")] == []


def _dependencies(crate: str) -> list[str]:
    manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text())
    names = [name for name in manifest["dependencies"] if name.startswith("longhaul-")]
    # Templates in `examples` are not in the documents' list of crates.
    return [name for name in (one.removeprefix("longhaul-") for one in names) if name in CRATES]


@pytest.mark.parametrize("crate", CRATES)
def test_crates_use_crates_below_them_in_the_map(crate: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    layers = re.findall(r"^crates/(\w+)", text, re.MULTILINE)
    assert sorted(layers) == CRATES
    below = layers[layers.index(crate) + 1 :]
    assert set(_dependencies(crate)) <= set(below)


def test_one_simulation_does_not_use_the_other() -> None:
    assert "engine" not in _dependencies("mesonet")


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ("--features=quic", {"longhaul-quic", "quinn-proto", "qlog", "tracing"}),
        ("--no-default-features", set()),
    ],
)
def test_only_a_build_with_the_feature_has_a_quic_stack(features: str, expected: set[str]) -> None:
    words = ("--package", "longhaul-python", "--edges", "normal", "--prefix", "none")
    command = ["cargo", "tree", "--locked", "--quiet", *words, features]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    crates = {line.split()[0] for line in done.stdout.splitlines() if line}
    assert "longhaul-engine" in crates
    stacks = {"longhaul-quic", "longhaul-quic-stack", "quinn-proto", "noq-proto", "qlog", "tracing"}
    assert crates & stacks == expected


@pytest.mark.parametrize(
    "package", ["python/longhaul", "reproductions/longhaul_studies", "validation"]
)
def test_no_circles_among_python_modules(package: str) -> None:
    assert circles(python_imports(ROOT / package)) == []


def test_a_circle_is_found_and_a_list_of_parts_is_none(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "lib.rs").write_text("mod a; mod b; mod c; pub use a::A; pub use b::{B, C as D};")
    (source / "a.rs").write_text("use crate::{B}; pub struct A(B);")
    (source / "b.rs").write_text("pub struct B; pub struct C; // crate::a::A")
    (source / "c.rs").write_text("fn c() -> super::a::A {}")
    assert circles(rust_imports(tmp_path)) == []
    (source / "b.rs").write_text("pub struct B; fn b() { crate::c::c() } pub struct C;")
    assert circles(rust_imports(tmp_path)) == [["crate::a", "crate::b", "crate::c"]]


def test_the_architecture_lists_the_layers_that_are_checked() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^python/longhaul .*?^(?=crates)", text, re.DOTALL | re.MULTILINE)
    modules = re.findall(r"^    (\w+)(?:/|\.py) ", listed, re.MULTILINE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = [
        line.split(" | ") for line in settings["tool"]["importlinter"]["contracts"][0]["layers"]
    ]
    assert layers[0] == ["__main__"]
    height = {module: place for place, layer in enumerate(layers[1:]) for module in layer}
    assert sorted(modules) == sorted(height)
    places = [height[module] for module in modules]
    assert places == sorted(places)
