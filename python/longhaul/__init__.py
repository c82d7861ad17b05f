"""Packet-level simulation of TCP congestion control over long fat networks.

    import longhaul

    results = longhaul.run("scenario.toml")
    print(results.summary().labels)

The verbs of the command line have the same names here: `run`, `plot`, `compare`, `report`. An
algorithm of your own is a subclass of `CongestionControl`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from longhaul._engine import (
    AlgorithmError,
    LonghaulError,
    OutputError,
    RunError,
    ScenarioError,
)
from longhaul._engine import version as _version
from longhaul.congestion import CongestionControl
from longhaul.results import Results, ResultsError
from longhaul.run import load, run

if TYPE_CHECKING:
    from longhaul.comparison import compare
    from longhaul.plots import plot
    from longhaul.reports import report

__version__ = _version()

__all__ = [
    "AlgorithmError",
    "CongestionControl",
    "LonghaulError",
    "OutputError",
    "Results",
    "ResultsError",
    "RunError",
    "ScenarioError",
    "compare",
    "load",
    "plot",
    "report",
    "run",
]

# Drawing libraries take longer to load than a short run takes, so they wait until they are asked
# for.
_VERBS = {"compare": "longhaul.comparison", "plot": "longhaul.plots", "report": "longhaul.reports"}


def __getattr__(name: str) -> Callable[..., object]:
    if name not in _VERBS:
        raise AttributeError(f"module 'longhaul' has no attribute '{name}'")
    verb: Callable[..., object] = getattr(import_module(_VERBS[name]), name)
    globals()[name] = verb
    return verb
