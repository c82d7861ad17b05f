"""Reduction of a finished run for the store: identifying facts, and the tables of its kind."""

from collections.abc import Mapping
from typing import Any

from longhaul.campaign.store import Kept
from longhaul.results import Results

# Number of points kept of a time series.
POINTS = 600


def reduce(run: Results) -> Kept:
    """Return the tables to keep, over the measurement window except time series and events."""
    return _reduced(run, POINTS)


def reduce_keeping_samples(run: Results) -> Kept:
    """Reduce a run to the same tables, with every sample over time."""
    return _reduced(run, None)


def _reduced(run: Results, points: int | None) -> Kept:
    kind = run.kind
    return {"run": facts(run.meta) | kind.kept(run.meta), **kind.reduced(run, points)}


def facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts that identify a run, and its cost."""
    return {
        "scenario_hash": meta["scenario_hash"],
        "results_version": meta["results_version"],
        "version": meta["version"],
        "measured_s": meta["simulated_s"] - meta["measured_from_s"],
        "data_packets": meta["data_packets"],
        "wall_s": meta["machine"]["wall_s"],
    }
