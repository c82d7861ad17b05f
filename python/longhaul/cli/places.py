"""Places of results: those of a campaign, and those of a study."""

from pathlib import Path

from longhaul.campaign.dataset import Dataset, path_from
from longhaul.campaign.file import Campaign
from longhaul.campaign.store import Store
from longhaul.cli.shared import InputError
from longhaul.files.endings import check_directory
from longhaul.studies import record
from longhaul.studies.record import Record
from longhaul.studies.study import Study


def folder_of(campaign: Campaign, out: Path | None) -> Path:
    """Return the directory of a campaign's runs and results."""
    return Path("campaigns") / campaign.name if out is None else check_directory(out)


def store_of(campaign: Campaign, out: Path | None) -> Store:
    """Return the store of a campaign's runs; refuse one with the results of another campaign."""
    file = folder_of(campaign, out) / "results.parquet"
    store = Store(file.with_name("store"), campaign.reducer.variant)
    own = path_from(store, campaign)
    if file.exists() and (other := Dataset.read(file).facts.get("path", own)) != own:
        raise InputError(f"{file} is of {(store.path / other).resolve()}: choose another --out")
    return store


def folder_of_study(name: str) -> Path:
    """Return the directory of a study's runs and results."""
    return Path("studies") / name


def latest(study: Study, named: Path | None, scale: str | None) -> tuple[Path, Record]:
    """Results in a directory that was named, or else one's own, or else the shipped ones."""
    folder = named or folder_of_study(study.name)
    return record.latest(study, folder, scale, shipped=named is None)
