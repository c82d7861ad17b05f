"""Copies of the source tree with changed code, one for each language."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tools.mutants.mutation import Mutation, switched
from tools.mutants.rooms import TREE

_WORK = TREE / "target" / "mutants"
COPIES = {"rust": _WORK / "rust", "python": _WORK / "python"}
_HERE = Path(__file__).parent
# File to which switch.rs is appended: it belongs to the crate that all other crates use.
_BASE = Path("crates/units/src/lib.rs")
_SWITCH = Path("python/sitecustomize.py")


def write(language: str, mutations: Iterable[Mutation]) -> None:
    """Copy the source tree to `COPIES[language]`, with each of `mutations` behind a switch."""
    copy = COPIES[language]
    by_file: dict[Path, list[Mutation]] = {}
    for mutation in mutations:
        by_file.setdefault(mutation.file, []).append(mutation)
    names = _files()
    for name in names:
        if (TREE / name).is_dir():
            if not (copy / name).is_symlink():
                (copy / name).symlink_to((TREE / name).readlink())
            continue
        code = (TREE / name).read_bytes()
        if name in by_file:
            code = switched(code, by_file[name], SWITCHES[language]).encode()
        if name == _BASE:
            code += b"\n" + (_HERE / "switch.rs").read_bytes()
        _update(copy / name, code)
        shutil.copymode(TREE / name, copy / name)
    _update(copy / _SWITCH, (_HERE / "switch.py").read_bytes())
    _remove_others(copy, {*names, _SWITCH})
    for engine in (TREE / "python/longhaul").glob("_engine*.so"):
        shutil.copy2(engine, copy / "python/longhaul")


def _files() -> list[Path]:
    """Return the tree's files that Git does not ignore; every symbolic link counts as a file."""
    command = ["git", "ls-files", "-coz", "--exclude-standard"]
    listed = subprocess.check_output(command, cwd=TREE, text=True)
    return [Path(name) for name in listed.split("\0") if name and (TREE / name).exists()]


def _remove_others(copy: Path, kept: set[Path]) -> None:
    """Remove files that are not in `kept` from `copy`, such as files deleted in the source tree.

    Compiled files (.so, .pyc), files at the top level, and top-level directories without kept files
    stay.
    """
    tops = {copy / name.parts[0] for name in kept}
    for path in (path for top in tops if not top.is_symlink() for path in top.rglob("*")):
        made = path.suffix in (".so", ".pyc")
        if path.is_file() and not made and path.relative_to(copy) not in kept:
            path.unlink()


def _update(path: Path, code: bytes) -> None:
    """Write a file only if its content differs; Cargo would rebuild the crate of a written file."""
    if not path.is_file() or path.read_bytes() != code:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(code)


def _rust(mutation: Mutation, original: str) -> str:
    switch = f"::longhaul_units::mutant({mutation.number})"
    if mutation.form == "entry":
        return f"if {switch} {{ {mutation.mutated}; }} "
    if mutation.form == "statement":
        return f"if !{switch} {{ {original} }}"
    return f"(if {switch} {{ {mutation.mutated} }} else {{ {original} }})"


def _python(mutation: Mutation, original: str) -> str:
    switch = f"mutant({mutation.number})"
    if mutation.form == "entry":
        code = (TREE / mutation.file).read_bytes()
        indent = mutation.start - code.rindex(b"\n", 0, mutation.start) - 1
        return f"if {switch}: {mutation.mutated}\n{' ' * indent}"
    if mutation.form == "statement":
        return f"if not {switch}: {original}"
    return f"(({mutation.mutated}) if {switch} else ({original}))"


SWITCHES = {"rust": _rust, "python": _python}
"""Functions by language that write a switch between the changed and the original code."""


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of builds and tests, with `variables` in addition.

    This environment fixes the seed of random test cases, and makes tests import Python from the
    changed copy of the repository.
    """
    paths = os.pathsep.join(str(COPIES["python"] / name) for name in ("python", "reproductions"))
    fixed = {"PROPTEST_RNG_SEED": "1", "CARGO_TARGET_DIR": str(_WORK / "build")}
    return {**os.environ, **fixed, "PYTHONPATH": paths, **variables}
