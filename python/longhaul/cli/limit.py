"""The time limit of a command; it also ends algorithms that cannot be interrupted."""

import faulthandler
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from longhaul._engine import TimeLimit
from longhaul.running.loading import duration_s

# Later than the interrupt of an algorithm, earlier than the end of the program.
_STACKS_AFTER_S = 1.0
# faulthandler does not accept longer times on some systems.
_LONGEST_S = 1e9


@contextmanager
def enforced(limit: str | None) -> Iterator[TimeLimit | None]:
    """Yield a time limit that also ends an algorithm that Python cannot interrupt.

    Without `limit`, yield None.

    Python cannot interrupt a built-in function such as `sum(range(10**12))`. In this case the
    engine ends the program, after `faulthandler` has written the stack of the algorithm.
    """
    if limit is None:
        yield None
        return
    limit_s = duration_s(limit, "the limit")
    with tempfile.NamedTemporaryFile("w+", prefix="longhaul-") as stacks:
        started = TimeLimit(limit_s, stacks.name)
        faulthandler.dump_traceback_later(min(limit_s + _STACKS_AFTER_S, _LONGEST_S), file=stacks)
        try:
            yield started
        finally:
            faulthandler.cancel_dump_traceback_later()
