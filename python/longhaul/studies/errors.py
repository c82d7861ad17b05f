"""Errors of studies."""

from collections.abc import Sequence

from longhaul._engine import LonghaulError
from longhaul.files.names import nearest, suggestion


class StudyError(LonghaulError):
    """A study that does not exist, or is incomplete or invalid."""


def unknown(what: str, name: str, known: Sequence[str], command: str = "") -> StudyError:
    """Return the error for an unknown `what`, such as a measure, with the known names.

    The message also gives `command`, a command that lists the known names, if there is one.
    """
    near = nearest(name, known, cutoff=0.4)
    return StudyError(f"no {what} is called `{name}`{suggestion(name, known, command, near)}")
