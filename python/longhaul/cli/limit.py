"""The time limit of a command, which also ends algorithms that cannot be interrupted."""

import faulthandler
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from longhaul._engine import TimeLimit
from longhaul.running.loading import limit_seconds

# Later than the interrupt of an algorithm, earlier than the end of the program.
_STACKS_AFTER_S = 1.0
# On some systems faulthandler refuses longer times.
_LONGEST_S = 1e9


@contextmanager
def enforced(limit: str | None) -> Iterator[TimeLimit | None]:
    """Enforce a time limit that ends the program if nothing else ends an algorithm.

    While a built-in function such as `sum(range(10**12))` does not return, no other Python code can
    run. The engine, which needs no Python code, therefore ends the program, after `faulthandler`,
    which needs no Python code either, has written the algorithm's stack.
    """
    if limit is None:
        yield None
        return
    limit_s = limit_seconds(limit)
    with tempfile.NamedTemporaryFile("w+", prefix="longhaul-") as stacks:
        started = TimeLimit(limit_s, stacks.name)
        faulthandler.dump_traceback_later(min(limit_s + _STACKS_AFTER_S, _LONGEST_S), file=stacks)
        try:
            yield started
        finally:
            faulthandler.cancel_dump_traceback_later()
