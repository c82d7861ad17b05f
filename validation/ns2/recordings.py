"""Recorded ns-2 runs; `python -m validation.ns2.recordings [PREFIX ...]` records missing ones.

`gold/runs/CASE.json` has the values of every seed, `gold/traces/CASE.csv.gz` the window and queue
of the first seed, thinned for plots. All cases were recorded with ns-2 2.35 (Debian package ns2
2.35+dfsg-5) and `gold/gold.tcl`.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import polars as pl

from longhaul.files.rows import as_csv
from validation.ns2 import simulator as ns2
from validation.ns2.cases import GOLD, Case, gold_cases
from validation.ns2.runs import Run, Trace

SAMPLES = 400
"""Approximate number of samples of a run that are kept for its plot."""


def load(case: Case, folder: Path = GOLD) -> list[Run]:
    """Return the recorded ns-2 runs of a case, one per seed; the first run has a trace."""
    runs = json.loads(_runs_path(case, folder).read_text())
    trace = _read_trace(_trace_path(case, folder))
    return [Run.from_json(run, trace if index == 0 else None) for index, run in enumerate(runs)]


def record(case: Case, folder: Path = GOLD) -> None:
    """Run ns-2 with those seeds of a case that are not recorded in `folder`, and record the runs.

    Raises `MissingNs2Error` if ns-2 is needed but not installed.
    """
    path = _runs_path(case, folder)
    runs = json.loads(path.read_text()) if path.exists() else []
    done = {run["seed"] for run in runs}
    for seed in case.seeds:
        if seed in done:
            continue
        run = ns2.run(case, seed)
        if seed == case.seeds[0]:
            assert run.trace is not None
            step = max(1, len(run.trace.time_s) // SAMPLES)
            _write_trace(_trace_path(case, folder), run.trace.thinned(step))
        runs.append(run.to_json())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(runs, indent=1) + "\n")


def _runs_path(case: Case, folder: Path) -> Path:
    return folder / "runs" / f"{case.name}.json"


def _trace_path(case: Case, folder: Path) -> Path:
    return folder / "traces" / f"{case.name}.csv.gz"


def _write_trace(path: Path, trace: Trace) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = ["t", "queue", *(f"cwnd{index}" for index in range(len(trace.cwnd)))]
    forms = ["{:g}", "{:g}", *["{:.5g}"] * len(trace.cwnd)]
    samples = zip(trace.time_s, trace.queue_pkts, *trace.cwnd, strict=True)
    rows = ([form.format(value) for form, value in zip(forms, row, strict=True)] for row in samples)
    # Without a time stamp, a repeated recording has the same bytes.
    path.write_bytes(gzip.compress(as_csv([head, *rows]).encode(), mtime=0))


def _read_trace(path: Path) -> Trace:
    time, queue, *cwnd = pl.read_csv(path, infer_schema=False).cast(pl.Float64)
    return Trace(time.to_list(), [flow.to_list() for flow in cwnd], queue.to_list())


def main() -> None:
    """Record the cases whose names begin with an argument, or all cases; print their names."""
    prefixes = tuple(sys.argv[1:]) or ("",)
    for case in gold_cases():
        if case.name.startswith(prefixes):
            record(case)
            print(case.name, flush=True)


if __name__ == "__main__":
    main()
