"""The campaign file: a scenario, factors with their levels, a design, and what is measured.

```toml
title        = "Which factor matters?"
replications = 5
responses    = ["goodput_bps", "links.bottleneck.utilization"]
design       = "full"

[factors]
loss = { path = "topology.dumbbell.bottleneck.loss.bernoulli", levels = [1e-5, 1e-3] }
rtt  = { path = "topology.dumbbell.bottleneck.delay", levels = ["5 ms", "50 ms"] }

[scenario]           # or: scenario = "one_flow.toml"
...
```

Levels that are tables, or that several places follow in different ways, are written as in studies:
`levels` is then a table of named values, and `[set]` says which place follows which factor.
"""

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from longhaul._engine import LonghaulError, ScenarioError
from longhaul._engine import Scenario as Resolved
from longhaul.campaign.place import indexed, line_of, line_of_value
from longhaul.campaign.responses import (
    Response,
    ResponseError,
    Responses,
    check,
    read_responses,
)
from longhaul.campaign.sweep import Level, Run, Setting
from longhaul.campaign.template import (
    Scenario,
    TemplateError,
    filled_in,
    place_of_template,
    read_template,
)
from longhaul.comparison.differences import RANDOM
from longhaul.designs import Design, Factor, full, latin_hypercube, one_at_a_time, two_level
from longhaul.files.rows import read_rows

KEYS = (
    "title", "scenario", "factors", "set", "design", "replications", "responses", "keep",
    "retries", "memory",
)  # fmt: skip
DESIGNS = (
    "runs", "resolution", "generators", "fold_over", "blocks", "latin_hypercube", "seed", "csv",
)  # fmt: skip


class CampaignError(LonghaulError):
    """A campaign file that cannot be used; the message names file and key."""


@dataclass(frozen=True)
class Campaign:
    """A campaign as its file says."""

    path: Path
    title: str
    template: Scenario
    settings: Mapping[str, Setting]
    design: Design
    replications: int
    responses: tuple[Response, ...]
    keep: tuple[str, ...] = ()
    retries: int = 0
    memory: int | None = None
    """Bytes that a worker may use."""
    beside: Path = Path()
    """The directory of its scenario, in which files are looked for that runs name."""

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return self.path.stem

    @cached_property
    def cells(self) -> list[dict[str, Level]]:
        """The levels of each run of the design."""
        return list(self.design.natural())

    def runs(self) -> list[Run]:
        """Every run, all of the design once, then all again with other random numbers."""
        return [
            self.run(cell, replication)
            for replication in range(self.replications)
            for cell in self.cells
        ]

    def run(self, cell: Mapping[str, Level], replication: int = 0) -> Run:
        """A run of the design."""
        scenario = self.scenario(cell, replication)
        return Run(self.name, cell, replication, scenario, self.beside)

    def scenario(self, cell: Mapping[str, Level], replication: int = 0) -> Scenario:
        """The scenario of a run."""
        values = {path: setting.at(cell) for path, setting in self.settings.items()}
        return filled_in(self.template, {**values, "replication": replication})

    def warnings(self) -> list[str]:
        """What is allowed but probably not intended."""
        replicated = self.replications > 1 or not set(RANDOM).isdisjoint(self.settings)
        if not replicated:
            return []
        reason = None
        for cell in _few(self.cells):
            reason = self.run(cell).resolved.nothing_drawn
            if reason is None:
                return []
        return [f"replications are the same, and intervals have no width: {reason}"]

    @cached_property
    def reducer(self) -> Responses:
        """What is measured and kept of each run."""
        return Responses(self.responses, self.keep)


def read_campaign(path: str | Path) -> Campaign:
    """Read a campaign file and check everything that can be checked without running."""
    file = Path(path)
    text = file.read_text(encoding="utf-8-sig")
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CampaignError(f"{file}: {error}") from None
    try:
        return _campaign(file, whole)
    except (CampaignError, ResponseError, TemplateError) as error:
        raise CampaignError(f"{file}: {_with_line(text, str(error))}") from None


# How messages about a key begin.
_KEY = re.compile(r'([\w-]+(?:\.(?:[\w-]+|"[^"]+"))*)(?: = |: )')


def _with_line(text: str, message: str) -> str:
    """A message that begins with a key of the file, behind the line of that key."""
    found = _KEY.match(message)
    line = line_of(text, found[1].replace('"', "")) if found else None
    return f"line {line}: {message}" if line else message


def _campaign(file: Path, whole: Mapping[str, Any]) -> Campaign:
    _refuse_unknown("", whole, KEYS)
    factors, settings = _factors(whole.get("factors", {}), whole.get("set", {}))
    design = _design(file, whole.get("design", "full"), factors)
    campaign = Campaign(
        path=file,
        title=str(whole.get("title", file.stem)),
        template=read_template(file, whole.get("scenario")),
        settings=settings,
        design=design,
        replications=_count("replications", whole.get("replications", 1), 1),
        responses=read_responses(file.parent, whole.get("responses", [])),
        keep=tuple(whole.get("keep", ())),
        retries=_count("retries", whole.get("retries", 1), 0),
        memory=_bytes(whole["memory"]) if "memory" in whole else None,
        beside=place_of_template(file, whole.get("scenario")),
    )
    # A level, or a path, that the scenario refuses is refused before anything runs.
    resolved = []
    for cell in _few(campaign.cells):
        try:
            resolved.append(campaign.run(cell).resolved)
        except ScenarioError as error:
            raise _located(campaign, whole.get("scenario"), cell, str(error)) from None
    _check_responses(campaign, resolved)
    return campaign


def _check_responses(campaign: Campaign, resolved: Sequence[Resolved]) -> None:
    """Refuse a response that no run can have, at its line."""
    places = [one.place for one in campaign.responses if not one.function]
    if (wrong := check(places, resolved)) is not None:
        place, error = wrong
        text = campaign.path.read_text(encoding="utf-8-sig")
        line = line_of_value(text, "responses", place)
        raise CampaignError(f"line {line}: {error}")


# How a message about a scenario that was made here begins, and what it quotes of it.
_MESSAGE = re.compile(r"scenario:\d+:\d+: ([\w.-]+): (.*?)(?:\n +\d+ \|.*)?", re.DOTALL)


def _located(
    campaign: Campaign,
    source: Any,  # noqa: ANN401
    cell: Mapping[str, Level],
    message: str,
) -> CampaignError:
    """The error where the user wrote it: at a factor, or in the scenario."""
    found = _MESSAGE.fullmatch(message)
    if found is None:
        return CampaignError(f"scenario: {message}")
    path, reason = found[1], found[2]
    for place, setting in campaign.settings.items():
        written = indexed(place, campaign.template)
        if setting.axis and (
            f"{path}.".startswith(f"{written}.") or written.startswith(f"{path}.")
        ):
            factor = f"factors.{setting.axis}"
            text = campaign.path.read_text(encoding="utf-8-sig")
            line = line_of(text, factor) or line_of(text, "factors")
            level = cell[setting.axis]
            return CampaignError(f"line {line}: {factor} = {level!r}: {path}: {reason}")
    inline = isinstance(source, Mapping)
    file = campaign.path if inline else campaign.path.parent / str(source)
    line = line_of(file.read_text(encoding="utf-8"), path, "scenario" if inline else "")
    where = "" if inline else f"{file}: "
    return CampaignError(f"{where}{f'line {line}: ' if line else ''}{path}: {reason}")


def _few(cells: Sequence[dict[str, Level]]) -> Iterator[dict[str, Level]]:
    """Cells that have every level of every factor at least once."""
    seen: set[tuple[str, Level]] = set()
    for cell in cells:
        if new := set(cell.items()) - seen:
            seen |= new
            yield cell


def _refuse_unknown(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            raise CampaignError(f"{where}{key}: unknown{hint}; available: {', '.join(known)}")


def _count(name: str, value: Any, least: int) -> int:  # noqa: ANN401
    if not isinstance(value, int) or value < least:
        raise CampaignError(f"{name} = {value!r}: expected a whole number of at least {least}")
    return value


def _factors(
    given: Mapping[str, Any], places: Mapping[str, Any]
) -> tuple[list[Factor], dict[str, Setting]]:
    """The factors, and which place in the scenario follows which."""
    if not given:
        raise CampaignError("factors: expected at least one, found none")
    factors, settings = [], {}
    values: dict[str, Mapping[str, Any]] = {}
    for name, written in given.items():
        table = written if isinstance(written, Mapping) else {"levels": written}
        _refuse_unknown(f"factors.{name}.", table, ("path", "levels"))
        levels = table.get("levels")
        if isinstance(levels, Mapping):
            values[name] = levels
        if not isinstance(levels, Mapping | list) or len(levels) < 2:
            raise CampaignError(f"factors.{name}.levels: expected at least two levels")
        factors.append(Factor(name, tuple(levels)))
        paths = table.get("path", [])
        for path in [paths] if isinstance(paths, str) else paths:
            settings[path] = Setting(axis=name, of=values.get(name))
    for path, written in places.items():
        settings[path] = _setting(path, written, values, list(given))
    followed = {setting.axis for setting in settings.values()}
    for name in given:
        if name not in followed:
            raise CampaignError(f"factors.{name}: expected the `path` of a key, found none")
    return factors, settings


def _setting(
    path: str,
    written: str | Mapping[str, Any],
    values: Mapping[str, Mapping[str, Any]],
    known: Sequence[str],
) -> Setting:
    table: dict[str, Any] = {"axis": written} if isinstance(written, str) else dict(written)
    if "factor" in table:
        table["axis"] = table.pop("factor")
    _refuse_unknown(f'set."{path}".', table, ("axis", "times", "of", "value"))
    if "value" in table:
        return Setting(value=table["value"])
    axis = str(table.get("axis"))
    if axis not in known:
        raise CampaignError(f'set."{path}": unknown factor `{axis}`; available: {", ".join(known)}')
    return Setting(**{"of": values.get(axis), **table})


def _design(file: Path, given: Any, factors: Sequence[Factor]) -> Design:  # noqa: ANN401
    """The design; factors of more than two levels are crossed with a two-level fraction."""
    if given == "full":
        return full(factors)
    if given == "one-at-a-time":
        return one_at_a_time(factors)
    if not isinstance(given, Mapping):
        raise CampaignError(
            f'design = {given!r}: expected "full", "one-at-a-time", or a table of: '
            f"{', '.join(DESIGNS)}"
        )
    _refuse_unknown("design.", given, DESIGNS)
    if "latin_hypercube" in given:
        return latin_hypercube(factors, given["latin_hypercube"], given.get("seed", 1))
    if "csv" in given:
        return _from_csv(file.parent / given["csv"], factors)
    two = [factor for factor in factors if len(factor.levels) == 2]
    more = [factor for factor in factors if len(factor.levels) > 2]
    if not two:
        raise CampaignError("design: a fraction needs factors of two levels, found none")
    made = two_level(
        two,
        generators=given.get("generators", ()),
        runs=given.get("runs"),
        resolution=given.get("resolution"),
    )
    if fold := given.get("fold_over"):
        made = made.folded(fold if isinstance(fold, list) else ())
    if words := given.get("blocks"):
        made = made.in_blocks(words)
    return made.crossed(full(more)) if more else made


def _from_csv(file: Path, factors: Sequence[Factor]) -> Design:
    """A design from a table of levels, a column a factor, as `design --natural` writes it."""
    rows = read_rows(file)
    coded = np.empty((len(rows), len(factors)))
    for j, factor in enumerate(factors):
        places = {
            str(level): code for level, code in zip(factor.levels, factor.coded(), strict=True)
        }
        for i, row in enumerate(rows):
            if (cell := row.get(factor.name)) not in places:
                raise CampaignError(
                    f"{file}: line {i + 2}: {factor.name} is {cell!r}; levels: {', '.join(places)}"
                )
            coded[i, j] = places[str(cell)]
    return Design(tuple(factors), coded, f"design of {file.name}")


def _bytes(text: Any) -> int:  # noqa: ANN401
    units = {"MB": 10**6, "GB": 10**9, "MiB": 2**20, "GiB": 2**30}
    number, _, unit = str(text).partition(" ")
    try:
        return int(float(number) * units[unit.strip()])
    except (KeyError, ValueError):
        raise CampaignError(f'memory = {text!r}: expected for example "2 GB"') from None
