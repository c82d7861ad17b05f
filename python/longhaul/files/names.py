"""Unknown names: the nearest known name, and the place of the full list."""

import difflib
from collections.abc import Iterable

# Maximum of listed names; more would hide the one that was probably meant.
FEW = 5


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that was probably meant."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def unknown(what: str, name: str, known: Iterable[str], command: str) -> str:
    """Return the message about a name that is not among the known ones.

    All names follow if they are few, or if none is near; else the command that lists them.
    """
    names = list(known)
    near = nearest(name, names)
    hint = f" (did you mean `{near}`?)" if near else ""
    if near and len(names) > FEW:
        return f"unknown {what} `{name}`{hint}; `{command}` shows all {len(names)}"
    return f"unknown {what} `{name}`{hint}; available: {', '.join(names)}"
