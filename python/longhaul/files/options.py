"""Error message about an option of a command that none of the named plots or analyses uses."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any


def unused(
    what: str,
    names: Sequence[str],
    options: Any,  # noqa: ANN401
    takes: Mapping[str, Collection[str]],
    *,
    of_all: Collection[str],
    flags: Mapping[str, str],
) -> str:
    """Return the error message for an option that none of `names` takes; empty if there is none.

    `options` is a dataclass: an option is given if its value is not the field's default. `takes`
    has the fields that each plot or analysis takes, besides those in `of_all`, which all take.
    `flags` has the options of the command line, by field; by default, an option has the name of its
    field. `what` is the kind of `names`, such as `a plot`.
    """
    for option in fields(options):
        takers = [name for name, taken in takes.items() if option.name in taken]
        is_given = getattr(options, option.name) != option.default
        if is_given and option.name not in of_all and set(names).isdisjoint(takers):
            flag = flags.get(option.name, f"--{option.name.replace('_', '-')}")
            return (
                f"{flag}: expected {what} that takes it, found {', '.join(names)}; "
                f"available: {', '.join(takers)}"
            )
    return ""
