"""Congestion control modules of Linux, compiled to objects that a scenario can name.

`kernel/` has headers that replace those of the kernel, and the driver that calls a module's hooks.
"""

from longhaul.modules.building import Built, ModuleBuildError, build
from longhaul.modules.checking import check

__all__ = ["Built", "ModuleBuildError", "build", "check"]
