"""Goodput of files on very fast paths without losses (NIST SP 500-282, chapter 9).

Each flow is alone on its path. Means over paths are computed as in the study `nist-2010`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from longhaul.studies.collection import collected
from longhaul.studies.data import Data
from longhaul.studies.record import execute
from longhaul.studies.study import find
from longhaul_studies.nist_2010.loss_free.measures import file_goodput, published
from validation.rows import Row, close

PART = "loss-free"
TOLERANCE = 0.005
EXPERIMENT = "N8H-DET"
FILES = {
    "movie": "movies", "service_pack": "service packs", "document": "documents",
    "web": "web objects",
}  # fmt: skip


def rows(processes: int) -> Iterator[Row]:
    """Yield rows for the goodputs of the eight groups of files."""
    data = simulate(processes)
    for said in published():
        if said["experiment"] == EXPERIMENT:
            file, interface = said["file"], said["interface"]
            measured = file_goodput(data, EXPERIMENT, file, interface)
            case = f"{FILES[file]}, {interface} interface"
            there = float(said["published"])
            yield close(case, "goodput, packets/s", there, measured, TOLERANCE)


def simulate(processes: int) -> Data:
    """Simulate one flow for each round-trip time and host speed, and return the study's results.

    Raises `RuntimeError` if a run fails.
    """
    study = find("nist-2010")
    runs = study.runs("quick", [EXPERIMENT])
    with TemporaryDirectory() as folder:
        store = Path(folder)
        for run, message in execute(study, runs, store, workers=processes, watch=None):
            raise RuntimeError(f"{run.name}: {message}")
        return collected(study, runs, store)
