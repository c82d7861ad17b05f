"""Reduction of a finished run to the values and tables that a store keeps."""

from collections.abc import Mapping
from typing import Any

from longhaul.campaign.store import Kept
from longhaul.results import Results

# Time series are thinned so that one of the whole run has fewer than twice this number of points,
# but at least this number, unless it has always been shorter.
POINTS = 600


def reduce(run: Results, points: int | None = POINTS) -> Kept:
    """Return the tables of a run that a store keeps.

    Values are for the measurement window, but time series and events cover the whole run. They are
    thinned to fewer than twice `points` points, unless it is None.
    """
    kind = run.kind
    return {"run": facts(run.meta) | kind.kept(run.meta), **kind.reduced(run, points)}


def reduce_keeping_samples(run: Results) -> Kept:
    """Return the same tables as `reduce`, but with every sample of the time series."""
    return reduce(run, points=None)


def facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts of a run from its `run.json`.

    These are its hash and versions, the length of the measurement window, the number of data
    packets, and the wall-clock time.
    """
    return {
        "scenario_hash": meta["scenario_hash"],
        "results_version": meta["results_version"],
        "version": meta["version"],
        "measured_s": meta["simulated_s"] - meta["measured_from_s"],
        "data_packets": meta["data_packets"],
        "wall_s": meta["machine"]["wall_s"],
    }
