"""Packet-level simulation of TCP congestion control over long fat networks.

    import longhaul

    results = longhaul.run("scenario.toml")
    print(results.summary().labels)

The commands of the command line have the same names here: `run`, `plot`, `compare`, `report`. An
algorithm of your own is a subclass of `CongestionControl`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longhaul._engine import (
    AlgorithmError,
    LonghaulError,
    OutputError,
    RunError,
    ScenarioError,
)
from longhaul._engine import version as _version

if TYPE_CHECKING:
    from longhaul.comparison import compare
    from longhaul.congestion import CongestionControl
    from longhaul.plots import plot
    from longhaul.reports import report
    from longhaul.results import Results, ResultsError
    from longhaul.running import load, run

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

# Libraries for tables and drawings take longer to load than a short run takes, so they wait until
# they are asked for.
_HOMES = {
    "CongestionControl": "longhaul.congestion",
    "Results": "longhaul.results",
    "ResultsError": "longhaul.results",
    "compare": "longhaul.comparison",
    "load": "longhaul.running",
    "plot": "longhaul.plots",
    "report": "longhaul.reports",
    "run": "longhaul.running",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOMES:
        raise AttributeError(f"module 'longhaul' has no attribute '{name}'")
    found = getattr(import_module(_HOMES[name]), name)
    # Looked up once.
    globals()[name] = found
    return found
