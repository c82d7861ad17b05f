"""Errors of studies."""

from collections.abc import Sequence

from longhaul._engine import LonghaulError
from longhaul.files.names import nearest, suggestion


class StudyError(LonghaulError):
    """Error: a study does not exist, or is incomplete or invalid."""


def unknown(what: str, name: str, known: Sequence[str], command: str = "") -> StudyError:
    """Return the error for an unknown `name` of the kind `what`, such as a measure.

    The message lists the known names, and `command`, a command that lists them, if there is one.
    """
    near = nearest(name, known, cutoff=0.4)
    return StudyError(f"no {what} is called `{name}`{suggestion(name, known, command, near)}")
