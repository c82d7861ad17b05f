"""Number of connections of a run, and curves of their response times for figures."""

import numpy as np
import polars as pl

from longhaul.campaign import Run
from longhaul.campaign.store import Kept
from longhaul_studies.sync_tcp_2003.web.curves import curve

from .reduce import as_map

Row = dict[str, float | None]


def metrics(kept: Kept, run: Run) -> Row:
    """Return the only metric of a run: the number of connections in its stored results."""
    return {"connections": len(kept["connections"]["connection"])}


def drawn(run: Run) -> bool:
    """Return true if figures plot samples of this run."""
    return run.experiment == "Z2"


def trajectory(kept: Kept) -> pl.DataFrame:
    """Return the points (x, y) of three curves: `map`, `connection` and `size`.

    In `map`, x is the number of a cell of RTT and response size, and y its mean response time (ms);
    cells with fewer than ten responses are left out. In the others, x is the number of a stored
    connection that ended. Its y in `connection` is its duration (ms), its y in `size` the size of
    its response (bytes).
    """
    means = as_map(kept["map"]).means().ravel()
    filled = np.flatnonzero(~np.isnan(means))
    connections = pl.DataFrame(kept["connections"]).drop_nulls()
    return pl.concat([
        curve("map", filled, 1e3 * means[filled], 0),
        curve("connection", connections["connection"], connections["took_ms"], 1),
        curve("size", connections["connection"], connections["response_bytes"], 0),
    ])  # fmt: skip
