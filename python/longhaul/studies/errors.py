"""Errors of studies."""

from collections.abc import Sequence

from longhaul._engine import LonghaulError
from longhaul.files.names import nearest, suggestion


class StudyError(LonghaulError):
    """A study that does not exist, or is incomplete or invalid."""


def unknown(what: str, name: str, known: Sequence[str], command: str = "") -> StudyError:
    """Return the error for an unknown name; `command` lists the known names."""
    near = nearest(name, known, cutoff=0.4)
    return StudyError(f"no {what} is called `{name}`{suggestion(name, known, command, near)}")
