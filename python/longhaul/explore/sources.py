"""What a page can be made of: run directories and campaigns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longhaul._engine import LonghaulError
from longhaul.campaign.dataset import Dataset
from longhaul.explore import campaigns, connections, mesonet
from longhaul.explore.tables import Content
from longhaul.results import Results

# What adds runs of a kind of simulation; connections over links have no kind.
RUNS: dict[str | None, Callable[[Content, Sequence[Results]], None]] = {
    None: connections.add,
    "mesonet": mesonet.add,
}
TABLE = "results.parquet"


@dataclass(frozen=True)
class Source:
    """A run or a campaign."""

    path: Path
    run: Results | None = None
    campaign: Dataset | None = None

    @property
    def title(self) -> str:
        """What it calls itself."""
        if self.run is not None:
            return self.run.title
        assert self.campaign is not None
        return str(self.campaign.facts.get("title") or self.path.stem)

    @property
    def warnings(self) -> list[str]:
        """What has to be read before the numbers are trusted."""
        run = self.run
        return [] if run is None else [f"{run.name}: {text}" for text in run.warnings]

    @property
    def provenance(self) -> str:
        """Where the numbers come from, in a line."""
        if self.run is not None:
            return f"{self.run.name}: {self.run.headline()}"
        assert self.campaign is not None
        facts = self.campaign.facts
        return f"{self.path.name}: {facts['runs']} runs, results version {facts['results_version']}"


def open_source(path: Path) -> Source:
    """Open a run directory, a campaign's directory, or its table."""
    if path.suffix == ".parquet" and path.is_file():
        return Source(path, campaign=Dataset.read(path))
    if (path / TABLE).is_file() and not (path / "run.json").is_file():
        return Source(path, campaign=Dataset.read(path / TABLE))
    if path.suffix == ".toml":
        raise LonghaulError(
            f"{path}: expected the directory of a run or of a campaign, not its file; "
            f"`longhaul campaign report {path}` says where a campaign's table is"
        )
    return Source(path, run=Results(path))


def collect(sources: Sequence[Source]) -> Content:
    """All tables, curves and networks of what is explored together."""
    content = Content()
    for source in sources:
        if source.campaign is not None:
            campaigns.add(content, source.path.stem, source.campaign)
    runs = [source.run for source in sources if source.run is not None]
    _refuse_same_names(runs)
    for kind in dict.fromkeys(run.kind.name if run.kind else None for run in runs):
        of_kind = [run for run in runs if (run.kind.name if run.kind else None) == kind]
        RUNS[kind](content, of_kind)
    if not content.tables:
        raise LonghaulError(f"{sources[0].path}: no table to explore")
    return content


def _refuse_same_names(runs: Sequence[Results]) -> None:
    """Runs are told apart by the names of their directories."""
    by_name: dict[str, Results] = {}
    for run in runs:
        other = by_name.setdefault(run.name, run)
        if other is not run:
            raise LonghaulError(
                f"{other.path} and {run.path}: two runs are called {run.name}; give each once, "
                "from directories of different names"
            )
