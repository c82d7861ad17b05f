"""Linux congestion control modules, compiled to object files that scenarios can use.

`kernel/` has headers that replace the kernel's, and the driver that calls a module's hooks.
"""

from longhaul.modules.building import Built, ModuleBuildError, build
from longhaul.modules.checking import check

__all__ = ["Built", "ModuleBuildError", "build", "check"]
