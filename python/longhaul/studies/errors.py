"""Errors of studies."""

import difflib
from collections.abc import Sequence

from longhaul._engine import LonghaulError


class StudyError(LonghaulError):
    """A study that does not exist, or is incomplete or invalid."""


def unknown(what: str, name: str, known: Sequence[str]) -> StudyError:
    """Return the error for a name that does not exist, with the nearest one."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f" (did you mean `{near[0]}`?)" if near else ""
    return StudyError(f"no {what} is called `{name}`{hint}; there are: {', '.join(known)}")
