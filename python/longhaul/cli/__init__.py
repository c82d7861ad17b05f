"""The command line."""

# Before all other imports: loading them takes longer than some users take to press Ctrl-C.
from longhaul.cli import drawing, interrupts

interrupts.at_start()
drawing.without_help_of_setters()

from longhaul.cli.commands import app  # noqa: E402

__all__ = ["app"]
