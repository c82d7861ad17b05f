"""Analysis of a run's steady state from samples over time."""

from longhaul.analysis import steady
from longhaul.findings.registry import Text
from longhaul.results import Results

HEADS = (
    "series", "warm-up (s)", "mean from there", "95 % from", "to", "drift, % of mean", "p of drift",
)  # fmt: skip


def steady_state(run: Results) -> Text:
    """Return warm-up (by MSER-5), mean after the warm-up, and drift of each series of a run.

    The warm-up is the time in the run of the first sample after it. A run should be measured after
    the longest warm-up of its series. The drift is the change of a fitted line from the end of the
    warm-up to the end of the run. A series with too few samples after its warm-up is left out.
    """
    rows, left_out = [], []
    for name, times, values in run.kind.time_series(run):
        cut = steady.warm_up(values)
        rest = values[cut:]
        if len(rest) < (least := 2 * steady.BATCHES):
            left_out.append(f"{name} has {len(rest)} samples after its warm-up, not {least}")
            continue
        mean, drift = steady.steady_mean(rest), steady.drift(rest)
        interval = (mean.mean, mean.low, mean.high)
        rows.append((name, float(times[cut]), *interval, drift.percent, drift.p))
    title = f"{run.name}: measured from {run.meta['measured_from_s']:g} s"
    return Text(title, HEADS, rows, left_out)
