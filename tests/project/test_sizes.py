"""Size of the package, compressed as in a wheel: the program, ledgers, and recorded results."""

import zlib
from pathlib import Path

import longhaul
from longhaul import _engine

PACKAGE = Path(longhaul.__file__).parent
# Bytes: the compiled engine with Python, templates and scenarios; of that the part that is not
# compiled; what studies declare, above all their claims; and tables of recorded runs, which change
# with every results version. A QUIC stack, quinn, is 0.3 MB of the program (0.7 MB before
# compression); what stands in for the kernel's headers and builds modules of Linux, 30 kB; the
# registry of figures, messages that name what to do, PDF and views of who gets what, 30 kB; the
# emulation on Linux, with a loop that looks at the wall clock, 0.12 MB.
PROGRAM, NOT_COMPILED, LEDGERS, RECORDED = 4_050_000, 790_000, 250_000, 5_000_000


def test_the_program_ledgers_and_recorded_results_keep_to_their_budgets() -> None:
    not_compiled = ledgers = recorded = 0
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
            not_compiled += size
    assert 0 < not_compiled < NOT_COMPILED
    assert 0 < ledgers < LEDGERS
    assert 0 < recorded < RECORDED
    assert not_compiled + _engine_size() < PROGRAM


def _engine_size() -> int:
    """Return the size of the installed engine, whose symbols `make build` strips."""
    return len(zlib.compress(Path(_engine.__file__).read_bytes()))
