"""What the package weighs, compressed as in a wheel: the program, ledgers, and recorded results."""

import zlib
from pathlib import Path

import longhaul

PACKAGE = Path(longhaul.__file__).parent
# Bytes: Python, templates and scenarios beside the compiled engine, which is 3 MB; what studies
# declare, above all their claims; and tables of recorded runs, which change with every results
# version.
PROGRAM, LEDGERS, RECORDED = 700_000, 250_000, 5_000_000


def test_the_program_ledgers_and_recorded_results_keep_to_their_budgets() -> None:
    program = ledgers = recorded = 0
    for file in PACKAGE.rglob("*"):
        inside = file.relative_to(PACKAGE).parts
        if not file.is_file() or "__pycache__" in inside or file.suffix == ".so":
            continue
        size = len(zlib.compress(file.read_bytes()))
        if inside[0] == "studies" and "results" in inside:
            recorded += size
        elif inside[0] == "studies" and file.suffix in (".csv", ".toml", ".md"):
            ledgers += size
        else:
            program += size
    assert 0 < program < PROGRAM
    assert 0 < ledgers < LEDGERS
    assert 0 < recorded < RECORDED
