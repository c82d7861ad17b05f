"""Sources of a page's data: run directories, campaigns and tables."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from longhaul._engine import LonghaulError
from longhaul.analysis.table import KEY
from longhaul.campaign.dataset import Dataset
from longhaul.explore import campaigns, connections, mesonet
from longhaul.explore.campaigns import SHOWN_RESPONSES, competitor_among, named_competitor
from longhaul.explore.large import add_large, few_values
from longhaul.explore.tables import MOST_ROWS, Content, Roles
from longhaul.figures import words
from longhaul.results import Results

# Functions that add runs, by kind of simulation.
RUNS: dict[str, Callable[[Content, Sequence[Results]], None]] = {
    "connections": connections.add,
    "mesonet": mesonet.add,
}
TABLE = "results.parquet"
STUDY = "values.parquet"


@dataclass(frozen=True)
class Source:
    """A source of data: a run, a campaign, or any table."""

    path: Path
    run: Results | None = None
    campaign: Dataset | None = None
    tables: Mapping[str, pl.LazyFrame] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Title of the run or campaign; without a title, the name of its file or directory."""
        if self.run is not None:
            return self.run.title
        if self.campaign is None:
            return self.path.stem
        return str(self.campaign.facts.get("title") or self.path.stem)

    @property
    def warnings(self) -> list[str]:
        """Warnings that users should read before they trust the numbers."""
        run = self.run
        return [] if run is None else [f"{run.name}: {text}" for text in run.warnings]

    @property
    def provenance(self) -> str:
        """Line of text on the origin of the numbers."""
        if self.run is not None:
            return f"{self.run.name}: {self.run.headline()}"
        if self.campaign is None:
            return f"table {self.path.name}"
        facts = self.campaign.facts
        return f"{self.path.name}: {facts['runs']} runs, results version {facts['results_version']}"


def open_source(path: Path) -> Source:
    """Open a run directory, a campaign's directory or table, or any Parquet files."""
    if path.suffix == ".parquet" and path.is_file():
        if KEY in pl.read_parquet_metadata(path):
            return Source(path, campaign=Dataset.read(path))
        return Source(path, tables={path.stem: pl.scan_parquet(path)})
    # The directory of a study's results also has a run.json, which describes all its runs.
    is_run = (path / "run.json").is_file() and not (path / STUDY).is_file()
    if path.is_dir() and not is_run:
        if (path / TABLE).is_file():
            return Source(path, campaign=Dataset.read(path / TABLE))
        if files := sorted(path.glob("*.parquet")):
            return Source(path, tables=_tables(path.name, files))
    if path.suffix == ".toml":
        raise LonghaulError(
            f"{path}: expected the directory of a run or of a campaign, not its file; "
            f"`longhaul campaign report {path}` says where a campaign's table is"
        )
    return Source(path, run=Results(path))


def _tables(name: str, files: list[Path]) -> dict[str, pl.LazyFrame]:
    """Return the tables of a directory by name.

    If all files have equal columns, they are one table; otherwise, each file is a table.
    """
    scans = {file.stem: pl.scan_parquet(file) for file in files}
    schemas = [scan.collect_schema() for scan in scans.values()]
    return (
        scans if any(schema != schemas[0] for schema in schemas) else {name: pl.scan_parquet(files)}
    )


def _there(path: Path) -> tuple[str, bool]:
    """Return a text such as `3 of 8 runs of the study are finished`, and true if runs are missing.

    The text is empty if `path` is not a directory with the results of a study.
    """
    file = path / "run.json"
    if not file.is_file():
        return "", False
    facts = json.loads(file.read_text(encoding="utf-8"))
    runs, wanted = facts.get("runs"), facts.get("wanted")
    if not isinstance(runs, int) or not isinstance(wanted, int):
        return "", False
    return f"{runs} of {wanted} runs of the study are finished", runs < wanted


def _add_table(content: Content, name: str, scan: pl.LazyFrame, there: tuple[str, bool]) -> None:
    """Add a table without metadata to a page; its columns with few values are factors.

    `there` has the two values that `_there` returns.
    """
    factors = few_values(scan)
    names = scan.collect_schema().names()
    measured = [name for name in names if name not in factors]
    roles = Roles(
        colour=competitor_among(list(factors)),
        competitor=named_competitor(list(factors)),
        factors=factors,
        there=there[0],
        is_partial=there[1],
        about={name: words.meaning(name) for name in names},
        shown=(*list(factors)[:3], *measured[:SHOWN_RESPONSES]),
    )
    add_large(content, name, scan, roles)


def collect(sources: Sequence[Source], sample: int = MOST_ROWS) -> Content:
    """Collect tables, curves and networks of sources.

    Exchanges, and tables without metadata, that have more than `sample` rows are sampled. Raise an
    error if there is no table, or if two runs have the same name.
    """
    content = Content(sample=sample)
    for source in sources:
        if source.campaign is not None:
            campaigns.add(content, source.path.stem, source.campaign)
        for name, scan in source.tables.items():
            _add_table(content, name, scan, _there(source.path))
    runs = [source.run for source in sources if source.run is not None]
    _refuse_same_names(runs)
    for kind in dict.fromkeys(run.kind.name for run in runs):
        RUNS[kind](content, [run for run in runs if run.kind.name == kind])
    if not content.tables:
        raise LonghaulError(f"{sources[0].path}: no table to explore")
    return content


def _refuse_same_names(runs: Sequence[Results]) -> None:
    """Raise an error if two run directories have the same name, which must identify a run."""
    by_name: dict[str, Results] = {}
    for run in runs:
        other = by_name.setdefault(run.name, run)
        if other is not run:
            raise LonghaulError(
                f"{other.path} and {run.path}: two runs are called {run.name}; give each once, "
                "from directories of different names"
            )
