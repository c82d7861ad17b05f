"""Error messages about unknown names, which suggest the nearest known name; repeated names."""

import difflib
from collections.abc import Iterable, Sequence

# Maximum number of known names in a message that suggests a near name.
FEW = 5
# Maximum number of known names in a message without a near name.
MANY = 20


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to `name`; None if none is similar enough.

    `cutoff` is the least similarity, from 0 to 1 (`difflib`).
    """
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def unknown(what: str, name: str, known: Iterable[str], command: str = "") -> str:
    """Return the error message for a name that is not known.

    `what` is the kind of thing that `name` should be. `command` is the command that lists all
    names; it is empty if there is none.
    """
    return f"unknown {what} `{name}`{suggestion(name, known, command)}"


def suggestion(name: str, known: Iterable[str], command: str = "", near: str | None = None) -> str:
    """Return the end of an error message about an unknown name, with a suggestion.

    The suggestion is the nearest known name, or `near` if given. If the known names are few, the
    message lists them. Otherwise, it refers to `command`, which lists them. Without a command, it
    lists all names if none is near and they are at most twenty; else the five nearest.
    """
    names = [str(one) for one in known]
    near = near or nearest(name, names)
    hint = f" (did you mean `{near}`?)" if near else ""
    if len(names) <= FEW:
        return f"{hint}; available: {', '.join(names) or 'none'}"
    if command:
        return f"{hint}; `{command}` shows all {len(names)}"
    if near or len(names) > MANY:
        close = difflib.get_close_matches(name, names, n=FEW, cutoff=0.0)
        shown = list(dict.fromkeys([*([near] if near else ()), *close]))[:FEW]
        return f"{hint}; nearest of {len(names)}: {', '.join(shown)}"
    return f"; available: {', '.join(names)}"


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names, with a number in brackets after each name that occurs several times."""
    return [
        f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name
        for k, name in enumerate(names)
    ]
