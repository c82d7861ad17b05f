"""Directories for the results of campaigns and studies."""

from pathlib import Path

from longhaul.campaign.dataset import Dataset, collect, path_from
from longhaul.campaign.file import Campaign
from longhaul.campaign.store import Store
from longhaul.cli.shared import InputError
from longhaul.files.endings import check_directory
from longhaul.studies import record
from longhaul.studies.record import Record
from longhaul.studies.study import Study


def folder_of(campaign: Campaign, out: Path | None) -> Path:
    """Return the directory of a campaign's runs and results.

    The directory is `out` if given, otherwise `campaigns/NAME` in the working directory. If runs of
    the campaign are only in `campaigns/NAME` beside the campaign file, that directory is returned.
    """
    if out is not None:
        return check_directory(out)
    here = Path("campaigns") / campaign.name
    beside = campaign.path.parent / here
    return beside if _has_runs(beside, campaign) and not _has_runs(here, campaign) else here


def _has_runs(folder: Path, campaign: Campaign) -> bool:
    """Return true if a directory has a store of runs, and no table of another campaign."""
    store = Store(folder / "store", campaign.reducer.variant)
    return store.path.is_dir() and _of_other(store, campaign) is None


def _of_other(store: Store, campaign: Campaign) -> Path | None:
    """Return the file of the other campaign that wrote the table beside a store.

    Return None if there is no table, if `campaign` wrote it, or if it does not name a file.
    """
    table, own = store.path.with_name("results.parquet"), path_from(store, campaign)
    other = Dataset.read(table).facts.get("path", own) if table.exists() else own
    return None if other == own else (store.path / other).resolve()


def store_of(campaign: Campaign, out: Path | None) -> Store:
    """Return the store of a campaign's runs.

    Raise an error if the store has another campaign's results.
    """
    folder = folder_of(campaign, out)
    store = Store(folder / "store", campaign.reducer.variant)
    if (other := _of_other(store, campaign)) is not None:
        raise InputError(f"{folder / 'results.parquet'} is of {other}: choose another --out")
    return store


def finished_runs(campaign: Campaign, out: Path | None) -> Dataset:
    """Return the table of a campaign's finished runs.

    Raise an error if no run has finished, with the names of the searched directories, or if the
    store has another campaign's results.
    """
    dataset = collect(campaign, store_of(campaign, out))
    if not dataset.frame.is_empty():
        return dataset
    here = Path("campaigns") / campaign.name
    places = [out] if out is not None else dict.fromkeys([here, campaign.path.parent / here])
    raise InputError(
        f"{campaign.path}: no run has finished in {' or '.join(map(str, places))}; "
        f"`longhaul campaign run {campaign.path}` does the runs; if they are elsewhere, name their "
        "directory"
    )


def write_table(campaign: Campaign, out: Path | None) -> Dataset:
    """Write the table of a campaign's finished runs to the campaign's directory; return the table.

    Raise an error if no run has finished, or if the directory has another campaign's table.
    """
    dataset = finished_runs(campaign, out)
    dataset.write(folder_of(campaign, out) / "results.parquet")
    return dataset


def folder_of_study(name: str) -> Path:
    """Return the default directory of a study's runs and results, relative to the current one."""
    return Path("studies") / name


def latest(study: Study, named: Path | None, scale: str | None) -> tuple[Path, Record]:
    """Return the directory and the record of a study's latest results.

    These are the results in `named` if given, otherwise the user's, otherwise the shipped ones.
    """
    folder = named or folder_of_study(study.name)
    return record.latest(study, folder, scale, shipped=named is None)
