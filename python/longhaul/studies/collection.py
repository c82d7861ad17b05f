"""Results of a study, collected from a store of finished runs."""

from pathlib import Path

import polars as pl

from longhaul.campaign import Run
from longhaul.studies.data import EXPERIMENT, REPLICATION, VERSION, Data
from longhaul.studies.study import Study


def collected(study: Study, runs: list[Run], store: Path) -> Data:
    """Return the metrics of those `runs` that the store has, and time series of some of them."""
    # A study's module `metrics` may define `drawn(run)`, which selects the runs whose samples over
    # time are kept. Otherwise, every run that has samples keeps them.
    drawn = getattr(study.module("metrics"), "drawn", None) if study.has("metrics") else None
    stores = {
        experiment.name: study.store(store, experiment) for experiment in study.experiments.values()
    }
    rows, trajectories = [], []
    for run in runs:
        kept = stores[run.experiment].get(run.key)
        if kept is None:
            continue
        place = {EXPERIMENT: run.experiment, **run.cell, REPLICATION: run.replication}
        facts = {key: kept["run"][key] for key in ("data_packets", "wall_s", VERSION)}
        rows.append({**place, **study.metrics(kept, run), **facts})
        if drawn(run) if drawn is not None else "flow_series" in kept:
            samples = pl.DataFrame(study.required("metrics", "trajectory")(kept))
            trajectories.append(samples.with_columns(**{k: pl.lit(v) for k, v in place.items()}))
    values = pl.DataFrame(rows, infer_schema_length=None)
    axes = tuple(axis for axis in study.axes if axis in values.columns)
    return Data(values, _stack(trajectories), axes)


def _stack(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables, how="diagonal_relaxed") if tables else pl.DataFrame()
