"""Numbers of packets and exchanges in equal intervals of a run."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from longhaul.results.files import ResultsError
from longhaul.results.run import Results

TOO_FEW = (
    "expected at least three samples in the measurement window, which begins at `measure.from`; "
    "`measure.every` is the time between two"
)


def counted(run: Results) -> Iterator[tuple[str, float, np.ndarray]]:
    """Yield series of counts in the measurement window: name, interval length (s), and counts.

    The first series counts the packets that leave the bottleneck. The second, `exchanges`, counts
    the exchanges that begin; only runs with exchanges have it.
    """
    samples = run.bottleneck_series.filter(pl.col("t_s") >= run.measured_from_s - 1e-9)
    times = samples["t_s"].to_numpy()
    if len(times) < 3:
        raise ResultsError(f"{run.path}: {TOO_FEW}")
    step_s = float(times[1] - times[0])
    packets = samples["departed_pkts"].diff().drop_nulls().to_numpy().astype(float)
    yield f"{run.bottleneck}: packets", step_s, packets
    if "exchanges" in run.tables:
        starts = run.exchanges["start_s"].to_numpy()
        yield "exchanges", step_s, np.histogram(starts, bins=times)[0].astype(float)
