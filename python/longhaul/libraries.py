"""Parts of SciPy that are loaded only when they are first used.

Loading `scipy.special` alone takes longer than simulating 100,000 packets, and most commands use
none of these parts.
"""

from importlib import import_module
from typing import Any


class _Library:
    """A module that is loaded when one of its attributes is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
        """Return an attribute of the module, which is loaded if necessary."""
        found = getattr(import_module(self._name), attribute)
        setattr(self, attribute, found)
        return found


integrate: Any = _Library("scipy.integrate")
linalg: Any = _Library("scipy.linalg")
optimize: Any = _Library("scipy.optimize")
sparse: Any = _Library("scipy.sparse")
graphs: Any = _Library("scipy.sparse.csgraph")
spatial: Any = _Library("scipy.spatial")
distances: Any = _Library("scipy.spatial.distance")
hierarchy: Any = _Library("scipy.cluster.hierarchy")
special: Any = _Library("scipy.special")
stats: Any = _Library("scipy.stats")
