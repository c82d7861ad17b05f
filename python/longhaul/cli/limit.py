"""The time limit of a command: it holds for algorithms that cannot be interrupted, too."""

import faulthandler
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from longhaul._engine import TimeLimit
from longhaul.running.loading import limit_seconds

# After an algorithm was interrupted, and before the program is ended for it.
_STACKS_AFTER_S = 1.0
# A longer time does not fit into faulthandler's clock on all systems.
_LONGEST_S = 1e9


@contextmanager
def enforced(limit: str | None) -> Iterator[TimeLimit | None]:
    """Enforce a time limit that ends the program if nothing else ends an algorithm.

    Code outside Python that never returns, such as `sum(range(10**12))`, lets no other code of
    Python run. The engine therefore ends the program, and `faulthandler`, which needs none either,
    that writes where the algorithm is.
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
