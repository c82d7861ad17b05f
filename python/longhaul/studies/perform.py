"""Runs a study: what is missing is simulated, everything is collected and judged."""

from collections.abc import Sequence

from longhaul.campaign import Outcome, Store, execute
from longhaul.campaign.execute import Watch
from longhaul.studies.data import Data
from longhaul.studies.record import Facts, Record, check_scale
from longhaul.studies.study import Study


def perform(
    study: Study,
    store: Store,
    scale: str,
    *,
    experiments: Sequence[str] = (),
    replications: int | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
) -> tuple[Outcome, Record]:
    """Do the missing runs of some experiments, all by default.

    The results are of all experiments, as far as the store has them.
    """
    check_scale(scale)
    runs = study.runs(scale, experiments, replications)
    outcome = execute(runs, store, workers=workers, watch=watch)
    return outcome, collect(study, store, scale)


def collect(study: Study, store: Store, scale: str) -> Record:
    """What the store has of a study."""
    runs = study.runs(scale)
    data = Data.collect(study, runs, store)
    return Record(Facts.of(data, scale, len(runs)), data)
