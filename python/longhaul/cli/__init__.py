"""The command line."""

import atexit
import gc

# Before all other imports: loading them takes longer than some users take to press Ctrl-C.
from longhaul.cli import drawing, interrupts

interrupts.at_start()
# Libraries are tens of thousands of objects and hardly any reference cycles. The collector would
# visit them again and again while they are loaded, and once more at the end, for a third of the
# processor time of a short command.
gc.set_threshold(100_000)
atexit.register(gc.freeze)
drawing.without_help_of_setters()

from longhaul.cli.commands import app  # noqa: E402

__all__ = ["app"]
