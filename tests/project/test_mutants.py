"""Tests of `make mutants`: random changes of the code, and switches that enable one of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.mutants import copies
from tools.mutants.mutation import Mutation, switched
from tools.mutants.rooms import ROOMS
from tools.mutants.syntax import sites

PYTHON = '''
def limit(values: list[int], most: float) -> str | None:
    """Change nothing here: 1 < 2."""
    if not values or (len(values) > 3 and most == 0):
        return None
    total = 0
    for value in values:
        total += value * 2
        values[0] = -value
    values[:] = [max(pair) for pair in zip(values, values, strict=True)]
    return f"{min(total, most)} of {total - 1}" if total else "none"
'''
RUST = """
const NONE: u32 = 0;
impl Queue {
    const fn two() -> u32 { 1 + 1 }
    fn interval(&self) -> Option<Span> { None }
    fn prefetch(&self) { prefetch(self); self.parts.prefetch_all(); }
    /// Returns true if there is room.
    fn accepts(&mut self, bytes: u64) -> bool {
        if self.parts.0 >= 2 && !self.full { return false; }
        if let Some(rate) = self.rate && rate > 1.5 { self.clear(); }
        kernel::prefetch(&self.parts);
        match bytes { 0 => {}, _ if bytes < 10 => self.count += 1, _ => {} }
        bytes.max(self.least) <= self.limit
    }
}
#[cfg(test)]
mod tests { fn two() -> u32 { 1 + 1 } }
"""


def found(text: str, file: Path) -> list[Mutation]:
    """Return the possible changes of `text`, the code of `file`, numbered from 1."""
    file.write_text(text, encoding="utf-8")
    return [replace(site, number=number) for number, site in enumerate(sites(file), 1)]


def test_each_kind_is_found_and_constants_patterns_and_tests_are_not(tmp_path: Path) -> None:
    changes = {(site.kind, site.change) for site in found(RUST, tmp_path / "queue.rs")}
    expected = {
        ("comparison", "self.parts.0 >= 2 -> self.parts.0 > 2"),
        ("comparison", "rate > 1.5 -> rate >= 1.5"),
        ("comparison", "bytes < 10 -> bytes <= 10"),
        ("logic", "self.parts.0 >= 2 && !self.full -> self.parts.0 >= 2 || !self.full"),
        ("negation", "!self.full -> self.full"),
        ("arithmetic", "self.count += 1 -> self.count -= 1"),
        ("bounds", "bytes.max(self.least) -> bytes.min(self.least)"),
        ("constant", "1.5 -> 3.0 in if let Some(rate) = self.rate && rate > 1.5 { self.clear(); }"),
        ("statement", "self.clear(); -> removed"),
        ("return", "return false; -> removed"),
        ("return", "begins with return true"),
    }
    assert expected <= changes
    assert not [change for _, change in changes if change.startswith(("0 ->", "1 + 1"))]
    assert ("return", "begins with return None") not in changes
    # Prefetching memory does not change behaviour.
    assert not [
        change for _, change in changes if "prefetch" in change or change.endswith("return")
    ]


def test_what_only_asserts_is_not_changed(tmp_path: Path) -> None:
    changes = [site.change for site in found(PYTHON, tmp_path / "limit.py")]
    assert not [change for change in changes if change.startswith("True -> False")]


def outcome(code: str, active: int, values: list[int], most: float) -> object:
    """Return the result, or type of error, of `limit()` in `code` with only mutation `active`."""
    space: dict[str, Callable[..., object]] = {"mutant": lambda number: number == active}
    exec(code, space)
    try:
        return space["limit"](values, most), values
    except (ArithmeticError, LookupError) as error:
        return type(error)


@pytest.mark.parametrize("values", [[], [0], [3, 4], [1, 2, 3, 4]])
def test_a_switch_turns_on_one_change_alone(values: list[int], tmp_path: Path) -> None:
    changes = found(PYTHON, tmp_path / "limit.py")
    assert {site.form for site in changes} == {"expression", "statement", "entry"}
    code = switched(PYTHON.encode(), changes, copies.SWITCHES["python"])
    for most in (0.0, 5.0):
        assert outcome(code, 0, [*values], most) == outcome(PYTHON, 0, [*values], most)
        for site in changes:
            alone = switched(PYTHON.encode(), [site], copies.SWITCHES["python"])
            expected = outcome(alone, site.number, [*values], most)
            assert outcome(code, site.number, [*values], most) == expected, site.change


def test_a_switch_of_rust_adds_no_lines(tmp_path: Path) -> None:
    """Check that switches between mutants add no lines: errors are assigned to mutants by line."""
    changes = found(RUST, tmp_path / "queue.rs")
    code = switched(RUST.encode(), changes, copies.SWITCHES["rust"])
    assert code.count("\n") == RUST.count("\n")
    assert code.count("longhaul_units::mutant(") == len(changes)


def test_a_copy_loses_what_the_tree_has_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a copy of the source tree loses files that the tree no longer has."""
    monkeypatch.setitem(copies.COPIES, "rust", tmp_path)
    files = [Path("crates/units/src/lib.rs"), Path("scenarios")]
    monkeypatch.setattr(copies, "_files", lambda: files)
    gone = tmp_path / "crates/units/src/gone.rs"
    for folder in (gone.parent, tmp_path / "python/longhaul"):
        folder.mkdir(parents=True)
    gone.touch()
    copies.write("rust", [])
    assert not gone.exists()
    assert (gone.parent / "lib.rs").is_file()
    assert (tmp_path / "scenarios").readlink() == Path("python/longhaul/scenarios")


def test_modules_within_those_compiled_for_tests_are_tests() -> None:
    files = [file for room in ROOMS for part in room.parts().values() for file in part]
    assert Path("crates/engine/src/queue/pie/mod.rs") in files
    assert not [file for file in files if "restated" in file.parts]
