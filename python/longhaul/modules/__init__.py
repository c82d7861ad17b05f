"""Congestion control modules of Linux: compiled to objects that a scenario names.

`kernel/` has the headers that stand in for the kernel's and the code that calls a module's hooks.
"""

from longhaul.modules.building import Built, ModuleBuildError, build
from longhaul.modules.checking import check

__all__ = ["Built", "ModuleBuildError", "build", "check"]
