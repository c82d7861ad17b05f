"""Matplotlib as a program needs it: without the help of its setters.

While it loads, it writes a table of properties for each of a hundred classes, for
`help(Line2D.set)`. That takes a fifth of the time, and nobody asks a program for it.
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
        """Find the module whose `kwdoc` writes the tables; all others are found elsewhere."""
        found = PathFinder.find_spec(name, path, target) if name == MODULE else None
        if found is not None and found.origin is not None:
            found.loader = _Loader(name, found.origin)
        return found


def without_help_of_setters() -> None:
    """Leave the tables out when Matplotlib is loaded."""
    sys.meta_path.insert(0, _Finder())
