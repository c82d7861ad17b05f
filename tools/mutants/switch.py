"""Switches between original and changed code.

Each interpreter imports this module at its start as `sitecustomize`.
"""

import builtins
import contextlib
import os

_ACTIVE = int(os.environ.get("MUTANT", "0"))
_REACHED = os.environ.get("MUTANTS_REACHED")
_SEEN: set[tuple[int, str]] = set()


def mutant(number: int) -> bool:
    """Return true if change `number` is active.

    The change and the running test are added to the file that `MUTANTS_REACHED` names, if any.
    """
    test = os.environ.get("PYTEST_CURRENT_TEST", "") if _REACHED else ""
    if _REACHED and (number, test) not in _SEEN:
        _SEEN.add((number, test))
        # A test may limit the size of files, which the record exceeds.
        with contextlib.suppress(OSError), open(_REACHED, "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(f"{number}\t{test}\n")
    return number == _ACTIVE


builtins.mutant = mutant  # type: ignore[attr-defined]
