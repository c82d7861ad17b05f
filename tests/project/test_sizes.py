"""Compressed sizes of the packages `longhaul` and `longhaul_studies`, compared with budgets."""

import zlib
from collections.abc import Iterator
from pathlib import Path

import longhaul
import longhaul_studies
from longhaul import _engine

# Budgets in bytes: the program (compiled engine, Python, templates and scenarios), and the part
# that is not compiled. Some shares: the QUIC stack quinn, 0.3 MB (0.7 MB before compression), and
# its qlog, 15 kB; substitutes for the kernel's headers, and the builder of Linux modules, 30 kB;
# figures, messages with remedies, PDF and views of shares, 30 kB; emulation on Linux, 0.12 MB;
# docstrings that say what parameters and results are, 16 kB, and which cases they leave out, 10 kB.
PROGRAM, NOT_COMPILED = 4_010_000, 733_000
# Budgets of the studies in bytes: Python code; declarations, mostly claims and omitted statements;
# and tables of recorded runs, which change with every results version. Docstrings that say what
# parameters are take 7 kB of the code, and READMEs in whole sentences take ten kilobytes more than
# telegraphic ones.
MEASURES, LEDGERS, RECORDED = 140_000, 304_000, 5_300_000


def _sizes(package: Path) -> Iterator[tuple[Path, int]]:
    """Yield the source files and tables of a package with their compressed sizes in bytes."""
    for file in package.rglob("*"):
        inside = file.relative_to(package)
        if file.is_file() and "__pycache__" not in inside.parts and file.suffix != ".so":
            yield inside, len(zlib.compress(file.read_bytes()))


def test_the_program_keeps_to_its_budget() -> None:
    not_compiled = sum(size for _, size in _sizes(Path(longhaul.__file__).parent))
    assert 0 < not_compiled < NOT_COMPILED
    assert not_compiled + len(zlib.compress(Path(_engine.__file__).read_bytes())) < PROGRAM


def test_ledgers_and_recorded_results_keep_to_their_budgets() -> None:
    measures = ledgers = recorded = 0
    for file, size in _sizes(Path(longhaul_studies.__file__).parent):
        if "results" in file.parts:
            recorded += size
        elif file.suffix in (".csv", ".toml", ".md"):
            ledgers += size
        else:
            measures += size
    assert 0 < measures < MEASURES
    assert 0 < ledgers < LEDGERS
    assert 0 < recorded < RECORDED
