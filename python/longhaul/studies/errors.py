"""Errors of studies."""

from collections.abc import Sequence

from longhaul._engine import LonghaulError
from longhaul.files.names import nearest, suggestion


class StudyError(LonghaulError):
    """Error: a study, a name in it or its results do not exist, or are incomplete or invalid."""


def unknown(what: str, name: str, known: Sequence[str], command: str = "") -> StudyError:
    """Return the error for an unknown `name` of the kind `what`, such as a measure.

    The message suggests a near name, and lists the known names if they are few. If they are many,
    it refers to `command`, which lists them; without a `command`, it lists some of them.
    """
    near = nearest(name, known, cutoff=0.4)
    return StudyError(f"no {what} is called `{name}`{suggestion(name, known, command, near)}")
