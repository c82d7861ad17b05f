"""Packet-level simulation of TCP congestion control over long fat networks.

    import longhaul

    results = longhaul.run("scenario.toml")
    print(results.summary().labels)
    again = longhaul.open("r1")  # a run directory

The commands of the command line have the same names here: `run`, `plot`, `compare`, `report`. An
algorithm of your own is a subclass of `CongestionControl`.
"""

from importlib import import_module
from importlib.util import find_spec
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
    from longhaul.results import open_run as open  # noqa: A004
    from longhaul.running.execution import run
    from longhaul.running.loading import load

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
    "open",
    "plot",
    "report",
    "run",
]

# Names whose modules load libraries for tables and plots, which takes longer than a short run, are
# imported on first use.
_HOMES = {
    "open": "longhaul.results",
    "CongestionControl": "longhaul.congestion",
    "Results": "longhaul.results",
    "ResultsError": "longhaul.results",
    "compare": "longhaul.comparison",
    "load": "longhaul.running.loading",
    "plot": "longhaul.plots",
    "report": "longhaul.reports",
    "run": "longhaul.running.execution",
}
# Public names that differ from those in their modules, where `open` would hide the built-in.
_NAMES_THERE = {"open": "open_run"}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), _NAMES_THERE.get(name, name))
    elif not name.startswith("_") and find_spec(f"longhaul.{name}"):
        # `longhaul.results.Results` works without importing `longhaul.results` first.
        value = import_module(f"longhaul.{name}")
    else:
        raise AttributeError(f"module 'longhaul' has no attribute '{name}'")
    # Cached for the next access.
    globals()[name] = value
    return value
