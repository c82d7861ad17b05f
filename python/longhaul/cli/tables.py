"""Tables that a command line names: a file, a campaign, or the runs of a study."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from longhaul.analysis.table import ResponseTable
from longhaul.campaign.file import read_campaign
from longhaul.cli.places import finished_runs, latest
from longhaul.cli.shared import InputError
from longhaul.studies.study import Study, find, studies

# File names of the table in a campaign's directory and in the results of a study.
CAMPAIGN, STUDY = "results.parquet", "values.parquet"
# `nist-2010`, `nist-2010/quick`, or the path that `study run` writes.
_OF_STUDY = re.compile(
    rf"(?:studies/)?(?P<name>[\w-]+)(?:/(?:results/)?(?P<scale>\w+))?(?:/{re.escape(STUDY)})?"
)


def is_run(source: Path) -> bool:
    """Return true if a directory is a run.

    The directory of a study's results is not a run, although it has a run.json.
    """
    return (source / "run.json").is_file() and not (source / STUDY).is_file()


def read_table(source: Path, factors: Sequence[str]) -> ResponseTable:
    """Read the table of a file, of a campaign, or of a study's results.

    For a study, these are the user's results or, if there are none, the shipped ones. `factors` are
    used only for a file that does not name its factors.
    """
    if source.suffix != ".toml":
        return ResponseTable.read(table_file(source), factors)
    dataset = finished_runs(read_campaign(source), None)
    if (done := dataset.facts["runs"]) < (wanted := dataset.facts["wanted"]):
        typer.echo(f"{done} of {wanted} runs have finished", err=True)
    return dataset.table()


def table_file(source: Path) -> Path:
    """Return the table's path; `source` is a file, a directory, or a study (its latest results).

    Raise an error for a missing source that looks like the name of a study. Otherwise, the path
    need not exist.
    """
    for name in (CAMPAIGN, STUDY):
        if (source / name).is_file():
            return source / name
    if source.is_file() or not _OF_STUDY.fullmatch(source.as_posix()):
        return source

    if (named := study_named(source)) is not None:
        study, scale = named
        return latest(study, None, scale)[0] / STUDY
    if source.exists() or source.suffix:
        return source / CAMPAIGN if source.is_dir() else source
    known = ", ".join(study.name for study in studies())
    raise InputError(f"{source}: no such file or directory, and none of the studies "
                     f"{known or 'is installed'}")  # fmt: skip


def study_named(source: Path) -> tuple[Study, str | None] | None:
    """Return the installed study that `NAME` or `NAME/SCALE` names, with the scale if given.

    Return None if no study has that name.
    """
    meant = _OF_STUDY.fullmatch(source.as_posix())
    if meant is None or meant["name"] not in [study.name for study in studies()]:
        return None
    return find(meant["name"]), meant["scale"]
