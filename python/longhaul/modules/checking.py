"""Test of a module with synthetic connections under the compiler's sanitizers."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from longhaul.modules.building import KERNEL, ModuleBuildError, check_inputs, compile_to

# Checks for division by zero, access out of bounds, null pointers and excessive shifts; but not for
# signed overflow, on which the kernel relies.
SANITIZERS = (
    "-g",
    "-fsanitize=address,bounds,integer-divide-by-zero,null,shift-exponent,unreachable",
    "-fno-sanitize-recover=all",
)
# Seconds after which the program with the module is stopped, in case a hook does not return.
LIMIT_S = 120


def check(files: Sequence[Path], *, name: str | None = None, hz: int = 250) -> str:
    """Run a kernel module through synthetic connections under the sanitizers; return the report.

    Raises:
        ModuleBuildError: the first fault that a sanitizer found, with its place in the source; or
            the module cannot be built, or does not finish in time.

    """
    check_inputs(files, hz)
    with tempfile.TemporaryDirectory(prefix="longhaul-check-") as folder:
        program = Path(folder) / "check"
        beside = [KERNEL / "check.c"]
        compile_to(program, files, SANITIZERS, name=name, hz=hz, beside=beside)
        try:
            done = subprocess.run(
                [program], capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            reason = f"it has not returned from its hooks after {LIMIT_S} s"
            raise ModuleBuildError(f"{files[0]}: {reason}") from None
    if done.returncode != 0:
        raise ModuleBuildError(f"{files[0]}: {_first_finding(done.stderr)}")
    return done.stdout.strip()


def _first_finding(errors: str) -> str:
    """Return the sanitizer's error message, with the first stack frame in the module."""
    lines = [line.strip() for line in errors.splitlines()]
    found = next((line for line in lines if "rror:" in line), None)
    if found is None:
        return errors.strip() or "it ended without a word"
    if "runtime error:" in found:
        return found
    frames = [line.split(" in ", 1)[1] for line in lines if line.startswith("#") and " in " in line]
    own = [frame for frame in frames if ".c:" in frame and str(KERNEL) not in frame]
    return found + (f" (in {own[0]})" if own else "")
