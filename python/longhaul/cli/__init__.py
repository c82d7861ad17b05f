"""Command-line interface."""

import atexit
import gc

# Handlers of signals come before all other imports, since a user may press Ctrl-C while these load.
from longhaul.cli import drawing, interrupts

interrupts.at_start()
# Loaded libraries have tens of thousands of objects and hardly any reference cycles. With the
# default threshold, the collector visits them again and again while they are loaded and once more
# at the end, which takes a third of the processor time of a short command.
gc.set_threshold(100_000)
atexit.register(gc.freeze)
drawing.without_help_of_setters()

from longhaul.cli.commands import app  # noqa: E402

__all__ = ["app"]
