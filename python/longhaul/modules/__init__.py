"""Congestion control modules of Linux: compiled to objects that a scenario names.

`kernel/` has headers that replace the kernel's, and the driver that calls a module's hooks.
"""

from longhaul.modules.building import Built, ModuleBuildError, build
from longhaul.modules.checking import check

__all__ = ["Built", "ModuleBuildError", "build", "check"]
