"""Faster loading of Matplotlib, without the generated help of its setters.

While Matplotlib loads, it generates a table of properties for each of a hundred classes, for
`help(Line2D.set)`. The tables take a fifth of the loading time, and no command needs them.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

MODULE = "matplotlib.artist"


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        vars(module)["kwdoc"] = lambda _: ""


class _Finder:
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:  # noqa: ANN401
        """Return the spec of `matplotlib.artist`, with a loader that replaces its slow `kwdoc`.

        Return None for all other modules.
        """
        found = PathFinder.find_spec(name, path, target) if name == MODULE else None
        if found is not None and found.origin is not None:
            found.loader = _Loader(name, found.origin)
        return found


def without_help_of_setters() -> None:
    """Make Matplotlib load without its tables of properties."""
    sys.meta_path.insert(0, _Finder())
