"""Reader of `experiments.toml`, which defines the runs of a study at each scale."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from longhaul._engine import ScenarioError
from longhaul.campaign import Sweep, merge_parts
from longhaul.campaign.factors import FactorError, Factors, read_factors, refuse_unknown
from longhaul.campaign.responses import Response, ResponseError, read_responses
from longhaul.campaign.sweep import Conditions, Level
from longhaul.campaign.template import Scenario, TemplateError, read_template
from longhaul.files.rows import read_rows
from longhaul.studies.cells import Cells

SCALES = ("quick", "full")
# As the value of a factor: all levels that its table of conditions contains.
ALL = "all"
# Second column of a table of conditions whose factors differ between replications.
REPLICATION = "replication"
# Keys of the file, keys that experiments may share, and keys of an experiment.
FILE = ("title", "source", "include", "responses", "scenario", "common", "experiments")
COMMON = ("factors", "set", "replications", "conditions")
KEYS = (*COMMON, "id", "title", "scenario", "parts", "quick", "on_request", "all_samples")


@dataclass(frozen=True)
class Head:
    """Title, source and responses that the head of `experiments.toml` declares."""

    title: str
    source: str
    includes: tuple[str, ...] = ()
    """Subdirectories with further experiments and claims of the study."""
    responses: tuple[Response, ...] = ()
    """Numbers measured in each run, declared as responses are in campaign files."""


@dataclass(frozen=True)
class Experiment:
    """An experiment of a study; without a template, it is theory and simulates nothing."""

    name: str
    title: str
    template: Scenario | None
    factors: Mapping[str, Any]
    """Factors, written as in a campaign file.

    Values may depend on the scale. Results have an axis per factor.
    """
    places: Mapping[str, Any]
    """Scenario keys that depend on factors, written as in the table `set` of a campaign file."""
    replications: Mapping[str, int]
    quick: str
    """Description of what the quick scale leaves out of the experiment."""
    on_request: bool = False
    """True for a long experiment, which the quick scale includes only when it is named."""
    conditions: Mapping[str, Conditions] = field(default_factory=dict)
    """Conditions by axis: for each level of the axis, levels of other factors that go with it."""
    all_samples: bool = False
    """True if all samples of time series are stored, false for a few hundred of each.

    It has no effect on a study's own `reduce.py` or on declared responses.
    """
    folder: Path = field(default_factory=Path)
    """Directory of the file that declares the experiment; it may contain a `reduce.py`."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the factors, the axes of result tables; empty if nothing is simulated."""
        return tuple(self.factors) if self.template else ()

    @property
    def columns(self) -> set[str]:
        """Names of the factors in the tables of conditions."""
        tables = self.conditions.values()
        return {column for table in tables for row in table.values() for column in row}

    @property
    def words(self) -> list[str]:
        """Columns of conditions with text in the first row, by which claims may select cells."""
        first = [next(iter(table.values())) for table in self.conditions.values()]
        return [name for row in first for name, level in row.items() if isinstance(level, str)]

    def varied(self, scale: str) -> Factors:
        """Return the factors and their levels at a scale, with the scenario keys that they set."""
        return self._varied[scale]

    @cached_property
    def _varied(self) -> dict[str, Factors]:
        """Factors by scale, cached because every claim needs them."""
        return {scale: self._read(scale) for scale in SCALES}

    def _read(self, scale: str) -> Factors:
        factors = {
            name: list(self.conditions[name]) if written == ALL else written
            for name, written in _at(self.factors, scale).items()
        }
        return read_factors(factors, _at(self.places, scale), self.columns)

    def sweep(self, scale: str, replications: int | None = None) -> Sweep:
        """Return the runs of the experiment at a scale as a sweep.

        If `replications` is given, it limits the number of replications.
        """
        if self.template is None:
            return Sweep(self.name, {}, replications=0)
        count = self.replications.get(scale, 1)
        factors = self.varied(scale)
        return Sweep(
            self.name,
            _at(self.template, scale),
            factors.levels,
            factors.settings,
            count if replications is None else min(count, replications),
            self.conditions,
            self.folder,
        )

    def cells(self, scale: str) -> Cells:
        """Return the cells (combinations of levels) at a scale; none for experiments of theory."""
        if scale not in self._cells:
            levels = () if self.template is None else tuple(self.sweep(scale, 1).cells())
            self._cells[scale] = Cells(self.name, self.axes, levels)
        return self._cells[scale]

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        """Cells by scale, computed when they are first needed."""
        return {}

    def levels(self, axis: str, scale: str) -> list[Level]:
        """Return the levels of an axis at a scale."""
        return list(self.varied(scale).levels[axis])


def _at(value: Any, scale: str) -> Any:  # noqa: ANN401
    """Return a value of `experiments.toml` at a scale.

    A table with a value for each scale is replaced by the value for this scale.
    """
    if isinstance(value, list):
        return [_at(part, scale) for part in value]
    if not isinstance(value, dict):
        return value
    if set(value) == set(SCALES):
        return value[scale]
    return {key: _at(part, scale) for key, part in value.items()}


def read_experiments(file: Path) -> tuple[Head, dict[str, Experiment]]:
    """Read a study's head (title, source, ...) and experiments, those of included files last."""
    with _errors_of(file):
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
        responses = whole.get("responses")
        head = Head(
            whole["title"],
            whole["source"],
            tuple(whole.get("include", ())),
            () if responses is None else read_responses(file.parent, responses),
        )
        experiments = _experiments(file.parent, file, whole)
    for folder in head.includes:
        part = file.parent / folder / file.name
        with _errors_of(part):
            experiments += _experiments(
                file.parent, part, tomllib.loads(part.read_text(encoding="utf-8"))
            )
    names = [experiment.name for experiment in experiments]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ScenarioError(f"{file}: experiments given twice: {', '.join(twice)}")
    if not experiments:
        raise ScenarioError(f"{file}: missing 'experiments'")
    return head, dict(zip(names, experiments, strict=True))


@contextmanager
def _errors_of(file: Path) -> Iterator[None]:
    """Raise ScenarioError, which names the file, for errors in its content."""
    try:
        yield
    except KeyError as error:
        raise ScenarioError(f"{file}: missing {error}") from None
    except (tomllib.TOMLDecodeError, ResponseError, TemplateError, FactorError) as error:
        raise ScenarioError(f"{file}: {error}") from None


def _experiments(study: Path, file: Path, whole: Mapping[str, Any]) -> list["Experiment"]:
    refuse_unknown("", whole, FILE)
    common = whole.get("common", {})
    experiments = []
    for given in whole.get("experiments", []):
        try:
            declared = {"scenario": whole.get("scenario"), **given}
            experiments.append(_experiment(study, file, common, declared))
        except FactorError as error:
            raise ScenarioError(f"{file}: {given['id']}: {error}") from None
    return experiments


def _experiment(
    study: Path, file: Path, common: Mapping[str, Any], given: Mapping[str, Any]
) -> Experiment:
    for where, table, known in (("common.", common, COMMON), ("", given, KEYS)):
        if "axes" in table:
            raise FactorError(f"{where}axes: now called `factors`")
        refuse_unknown(where, table, known)
    parts = given.get("parts", [])
    texts = [_of_folder(study, file, f"scenarios/{part}.toml").read_text("utf-8") for part in parts]
    templates = [tomllib.loads(text) for text in texts]
    if given["scenario"] is not None:
        templates.insert(0, read_template(file, given["scenario"]))
    named = given.get("conditions", common.get("conditions"))
    conditions = (
        {} if named is None else _conditions(_of_folder(study, file, f"conditions/{named}.csv"))
    )
    experiment = Experiment(
        name=given["id"],
        title=given["title"],
        template=merge_parts(templates) if templates else None,
        factors={
            **dict.fromkeys(conditions, ALL),
            **common.get("factors", {}),
            **given.get("factors", {}),
        },
        places={**common.get("set", {}), **given.get("set", {})},
        replications={**common.get("replications", {}), **given.get("replications", {})},
        quick=given.get("quick", ""),
        on_request=given.get("on_request", False),
        conditions=conditions,
        all_samples=given.get("all_samples", False),
        folder=file.parent,
    )
    _check(experiment)
    return experiment


def _check(experiment: Experiment) -> None:
    """Raise an error for invalid factors, and for levels that a table of conditions lacks."""
    for scale in SCALES:
        levels = experiment.varied(scale).levels
        for axis, table in experiment.conditions.items():
            for point in levels[axis]:
                if point not in table:
                    raise FactorError(f"unknown {axis} `{point}`")


def _of_folder(study: Path, file: Path, name: str) -> Path:
    """Return the path of the file `name` beside `file`, or else in the directory `study`."""
    own = file.parent / name
    return own if own.is_file() else study / name


def _conditions(file: Path) -> dict[str, Conditions]:
    """Read a table of conditions: its first column is the axis, its other columns are factors.

    Return `{axis: {level of the axis: {factor: level}}}`. If the second column is `replication`, a
    level of the axis has a row per replication from 0 on, and each factor has a tuple with its
    level in each replication.
    """
    rows = read_rows(file)
    if not rows:
        raise ScenarioError(f"{file}: expected rows of conditions")
    axis, *factors = rows[0]
    levels = [list(map(_level, row.values())) for row in rows]
    if factors[:1] != [REPLICATION]:
        return {axis: {first: dict(zip(factors, rest, strict=True)) for first, *rest in levels}}
    points: dict[Level, list[list[Level]]] = {}
    for first, replication, *rest in levels:
        if replication != len(points.setdefault(first, [])):
            raise ScenarioError(f"{file}: {axis} {first}: expected replications 0, 1 and so on")
        points[first].append(rest)
    return {
        axis: {
            point: dict(zip(factors[1:], zip(*rows, strict=True), strict=True))
            for point, rows in points.items()
        }
    }


def _level(cell: str) -> Level:
    """Return the content of a table's cell: a number if it can be read as one, otherwise text."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
