"""Values that an evaluation stores for each run: all numeric metrics."""

import hashlib
from pathlib import Path

from longhaul import _engine, figures
from longhaul.campaign.reduce import facts
from longhaul.campaign.store import Kept
from longhaul.figures.measured import digest, measured
from longhaul.figures.registry import ALL
from longhaul.files.code import code_digest
from longhaul.results import Results


def measure(run: Results) -> Kept:
    """Return facts of a run (`run`), and its metrics by name (`figures`).

    A name is, for example, `utilization` or `main.goodput_bps`. Metrics without a value are None.
    Times until an event that did not occur are the simulated time of the run.
    """
    whole_s = float(run.meta["simulated_s"])
    values = {
        f"{owner}.{figure.name}" if owner else figure.name: (
            whole_s if value is None and figure.is_time_until else value
        )
        for of_flows, figure, value in measured(run, figures.every())
        for owner in [ALL if of_flows is None else of_flows]
    }
    return {"run": facts(run.meta), "figures": values}


def variant() -> str:
    """Return an identifier of the engine and of the code that computes the values to store.

    It is part of the key under which an evaluation's store looks up finished runs. The engine is
    included, since an algorithm under development may change while the results version stays the
    same.
    """
    python = digest() + code_digest([Path(__file__)])
    code = python.encode() + Path(_engine.__file__).read_bytes()
    return f"evaluation-{hashlib.sha256(code).hexdigest()[:8]}"
