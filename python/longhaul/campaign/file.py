"""The campaign file: a scenario, factors with their levels, a design, and responses.

docs/campaigns.md shows a file with all keys. `longhaul.campaign.factors` describes the tables
`factors` and `set`, which study files have too.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from longhaul import designs
from longhaul._engine import LonghaulError, ScenarioError, check_name
from longhaul._engine import Scenario as Resolved
from longhaul.analysis.table import PROVENANCE, is_meant
from longhaul.campaign.columns import OTHERS
from longhaul.campaign.factors import Factors, read_factors, refuse_unknown
from longhaul.campaign.place import indexed, line_of, line_of_value
from longhaul.campaign.responses import (
    Response,
    Responses,
    check,
    read_responses,
)
from longhaul.campaign.sweep import Level, Run, Sweep
from longhaul.campaign.template import place_of_template, read_template
from longhaul.designs import Design, DesignError, Factor
from longhaul.files.rows import numbered_rows
from longhaul.files.values import memory_bytes
from longhaul.results.replications import RANDOM

KEYS = {
    "title": "", "scenario": "", "factors": "a table", "set": "a table",
    "design": "text or a table", "replications": "a whole number",
    "responses": "a list of texts or a table", "keep": "a list of texts",
    "retries": "a whole number", "memory": "text",
}  # fmt: skip
DESIGN = {
    "runs": "a whole number", "resolution": "a whole number", "generators": "a list of texts",
    "fold_over": "a truth value or a list of texts", "blocks": "a list of texts",
    "latin_hypercube": "a whole number", "seed": "a whole number", "csv": "text",
}  # fmt: skip
# Combinations of keys that a design may have.
DESIGNS = (
    "runs, resolution, fold_over, blocks", "generators, fold_over, blocks",
    "latin_hypercube, seed", "csv",
)  # fmt: skip


class CampaignError(LonghaulError):
    """Error: a campaign file cannot be used; the message names file and key."""


@dataclass(frozen=True)
class Campaign:
    """A campaign, as described by its file."""

    path: Path
    title: str
    sweep: Sweep
    design: Design
    responses: tuple[Response, ...]
    keep: tuple[str, ...] = ()
    retries: int = 0
    memory: int | None = None
    """Maximum number of bytes that a worker may use; None for no limit."""

    @property
    def name(self) -> str:
        """Name of the campaign: that of its file, without the suffix."""
        return self.path.stem

    @cached_property
    def cells(self) -> list[dict[str, Level]]:
        """Levels of the factors in each run of the design."""
        return list(self.design.natural())

    def runs(self) -> list[Run]:
        """Return all runs: the whole design in the first replication, then in the next ones."""
        return [
            self.sweep.run(cell, replication)
            for replication in range(self.sweep.replications)
            for cell in self.cells
        ]

    def warnings(self) -> list[str]:
        """Return a warning if replications would be the same because nothing is random."""
        replicated = self.sweep.replications > 1 or not set(RANDOM).isdisjoint(self.sweep.settings)
        if not replicated:
            return []
        reason = None
        for cell in _few(self.cells):
            reason = self.sweep.run(cell).resolved.nothing_drawn
            if reason is None:
                return []
        return [f"replications are the same, and intervals have no width: {reason}"]

    @cached_property
    def reducer(self) -> Responses:
        """Function that selects the values to store for a run: responses and requested tables."""
        return Responses(self.responses, self.keep)


def read_campaign(path: str | Path) -> Campaign:
    """Read a campaign file, and check it as far as possible without running it."""
    file = Path(path)
    text = ""
    try:
        text = file.read_text("utf-8-sig")
        return _campaign(file, tomllib.loads(text))
    except UnicodeDecodeError:
        message = "this or a file that it names is not UTF-8"
    except DesignError as error:
        message = f"design: {error}"
    except (LonghaulError, tomllib.TOMLDecodeError) as error:
        message = str(error)
    raise CampaignError(f"{file}: {_with_line(text, message)}")


# Pattern of messages that begin with a key.
_KEY = re.compile(r'([\w-]+(?:\.(?:[\w-]+|"[^"]+"))*)(?: = |: )')


def _with_line(text: str, message: str, root: str = "") -> str:
    """Return a message about a key of a file, with the number of the key's line in front.

    `text` is the file; `message` begins with the key, and `root` is the key's table. A message
    without a key, or with a key that is not in the file, is returned unchanged.
    """
    key = _KEY.match(message)
    line = line_of(text, key[1].replace('"', ""), root) if key else None
    return f"line {line}: {message}" if line else message


def _check_printable(whole: Mapping[str, Any], above: str = "") -> None:
    """Raise an error if the title or the name of a key is too long or has control characters.

    `above` is the path of the table `whole`, with a final dot. Levels are checked elsewhere, as
    values of the scenario.
    """
    for key, value in whole.items():
        named = f"{above}{key}"
        if wrong := check_name(key):
            raise CampaignError(f"{above or 'the file'}: the name of a key: {wrong}")
        if named == "title" and isinstance(value, str) and (wrong := check_name(value)):
            raise CampaignError(f"title: {wrong}")
        if isinstance(value, Mapping):
            _check_printable(value, f"{named}.")


def _campaign(file: Path, whole: Mapping[str, Any]) -> Campaign:
    _check_printable(whole)
    if "scenario" not in whole and not {"topology", "flows", "mesonet"}.isdisjoint(whole):
        raise CampaignError(
            f"a scenario, not a campaign: `longhaul run {file}` runs it; a campaign has it as "
            f'`scenario = "{file.name}"`, with [factors], and `longhaul campaign new` writes one'
        )
    refuse_unknown("", whole, KEYS)
    factors = read_factors(whole.get("factors", {}), whole.get("set", {}))
    _check_factors(factors)
    varied = [Factor(name, tuple(levels)) for name, levels in factors.levels.items()]
    design = _design(file, whole, varied)
    sweep = Sweep(
        file.stem,
        read_template(file, whole.get("scenario")),
        factors.levels,
        factors.settings,
        _count("replications", whole.get("replications", design.replications), 1),
        beside=place_of_template(file, whole.get("scenario")),
    )
    campaign = Campaign(
        path=file,
        title=str(whole.get("title", file.stem)),
        sweep=sweep,
        design=design,
        responses=read_responses(file.parent, whole.get("responses", [])),
        keep=tuple(whole.get("keep", ())),
        retries=_count("retries", whole.get("retries", 1), 0),
        memory=memory_bytes(whole["memory"]) if "memory" in whole else None,
    )
    _check_names(campaign)
    _check_cells(campaign)
    # Scenarios are resolved to find invalid levels and paths before any run.
    resolved = []
    for cell in _few(campaign.cells):
        try:
            resolved.append(sweep.run(cell).resolved)
        except ScenarioError as error:
            raise _located(campaign, whole.get("scenario"), cell, str(error)) from None
    _check_responses(campaign, resolved)
    return campaign


def _check_names(campaign: Campaign) -> None:
    """Raise an error if a factor or a response has the name of another column of the table.

    A response may be such a column itself: `wall_s` may have the path `wall_s`.
    """
    taken = {*OTHERS, *PROVENANCE}
    for key, name, place in (
        *(("responses", response.name, response.place) for response in campaign.responses),
        *(("factors", name, "") for name in campaign.sweep.axes),
    ):
        if name in taken and place != name:
            raise CampaignError(f"{key}.{name}: the table of results has such a column")
        taken.add(name)


def _check_cells(campaign: Campaign) -> None:
    """Raise an error for equal runs, unknown levels in `when`, and levels that cannot be set."""
    if len(campaign.cells) > len({tuple(cell.values()) for cell in campaign.cells}):
        raise CampaignError("design: some runs have the same levels and random numbers")
    for path, setting in campaign.sweep.settings.items():
        for name, levels in setting.when.items():
            known = campaign.sweep.axes[name]
            if not all(level in known for level in levels):
                raise CampaignError(f'set."{path}".when.{name}: expected some of {known}')
    try:
        for cell in campaign.cells:
            campaign.sweep.values_at(cell)
    except ScenarioError as error:
        raise CampaignError(str(error)) from None


def _check_responses(campaign: Campaign, resolved: Sequence[Resolved]) -> None:
    """Raise an error, with a line number, for a response that the campaign's runs will lack."""
    places = [response.place for response in campaign.responses if not response.function]
    if (wrong := check(places, resolved, campaign.keep)) is not None:
        place, error = wrong
        text = campaign.path.read_text("utf-8-sig")
        line = line_of_value(text, "responses", place)
        raise CampaignError(f"line {line}: {error}")


# Pattern of messages about a generated scenario, which quote lines of it.
_MESSAGE = re.compile(r"scenario:\d+:\d+: ([\w.-]+): (.*?)(?:\n +\d+ \|.*)?", re.DOTALL)


def _located(
    campaign: Campaign,
    source: Any,  # noqa: ANN401
    cell: Mapping[str, Level],
    message: str,
) -> CampaignError:
    """Return an error that names its cause: a factor, or a line of the scenario.

    `cell` has the levels of the run for which the engine reported `message`.
    """
    quoted = _MESSAGE.fullmatch(message)
    if quoted is None:
        return CampaignError(f"scenario: {message}")
    path, reason = quoted[1], quoted[2]
    for place, setting in campaign.sweep.settings.items():
        written = indexed(place, campaign.sweep.template)
        if setting.factor and (
            f"{path}.".startswith(f"{written}.") or written.startswith(f"{path}.")
        ):
            level = cell[setting.factor]
            return CampaignError(f"factors.{setting.factor} = {level!r}: {path}: {reason}")
    inline = isinstance(source, Mapping)
    file = campaign.path if inline else campaign.path.parent / source
    message = _with_line(file.read_text("utf-8-sig"), f"{path}: {reason}", "scenario" * inline)
    return CampaignError(message if inline else f"{file}: {message}")


def _few(cells: Sequence[dict[str, Level]]) -> Iterator[dict[str, Level]]:
    """Yield a few combinations of levels that together contain every level of every factor."""
    seen: set[tuple[str, Level]] = set()
    for cell in cells:
        if new := set(cell.items()) - seen:
            seen |= new
            yield cell


def _count(name: str, value: int, least: int) -> int:
    if value < least:
        raise CampaignError(f"{name} = {value!r}: expected a whole number of at least {least}")
    return value


def _check_factors(factors: Factors) -> None:
    """Raise an error unless every factor has several different levels and sets a scenario key."""
    if not factors.levels:
        raise CampaignError("factors: expected at least one, found none")
    if "replication" in factors.settings:
        raise CampaignError("replication: expected `replications` instead of a factor or `set`")
    followed = {setting.factor for setting in factors.settings.values()}
    for name, levels in factors.levels.items():
        if len(levels) < 2:
            raise CampaignError(f"factors.{name}.levels: expected at least two levels")
        if len(set(levels)) < len(levels):
            raise CampaignError(f"factors.{name}.levels: the same level twice")
        if name not in followed:
            raise CampaignError(f"factors.{name}: expected the `path` of a key, found none")


def _design(file: Path, whole: Mapping[str, Any], factors: Sequence[Factor]) -> Design:
    """Return the design of a campaign.

    A fractional factorial of the two-level factors is crossed with all levels of other factors.
    """
    given = whole.get("design", "full")
    if given == "full":
        return designs.full(factors)
    if given == "one-at-a-time":
        return designs.one_at_a_time(factors)
    keys = {} if isinstance(given, str) else given
    refuse_unknown("design.", keys, DESIGN)
    if set(keys) <= {"seed"} or not any(set(keys) <= set(way.split(", ")) for way in DESIGNS):
        raise CampaignError(
            f'design = {given!r}: expected "full", "one-at-a-time", or a table of '
            f"{'; or '.join(DESIGNS)}"
        )
    if "latin_hypercube" in given:
        return designs.latin_hypercube(factors, given["latin_hypercube"], given.get("seed", 1))
    if "csv" in given:
        return _from_csv(file.parent / given["csv"], factors, whole.get("replications"))
    two = [factor for factor in factors if len(factor.levels) == 2]
    more = [factor for factor in factors if len(factor.levels) > 2]
    if not two:
        raise CampaignError("design: a fraction needs factors of two levels, found none")
    made = designs.two_level(
        two,
        generators=given.get("generators", ()),
        runs=given.get("runs"),
        resolution=given.get("resolution"),
    )
    if fold := given.get("fold_over"):
        made = made.folded(fold if isinstance(fold, list) else ())
    if words := given.get("blocks"):
        made = made.in_blocks(words)
    return made.crossed(designs.full(more)) if more else made


def _from_csv(file: Path, factors: Sequence[Factor], replications: int | None) -> Design:
    """Read a design from a table of levels, a column per factor, as `design --natural` writes it.

    The columns `block` and `replication` are optional. Each replication must contain every run.
    """
    rows = numbered_rows(file)
    lines: dict[tuple[float, ...], int] = {}
    for line, row in rows.items():
        where = f"{file}: line {line}: "
        try:
            numbers = [int(row.get(name, 1)) for name in ("replication", "block")]
        except ValueError:
            raise CampaignError(f"{where}replication, block: expected whole numbers") from None
        key = (*numbers, *(_coded(where, factor, row.get(factor.name, "")) for factor in factors))
        if (first := lines.setdefault(key, line)) != line:
            raise CampaignError(f"{where}the same as line {first}, with no other `replication`")
    count = int(max((key[0] for key in lines), default=0))
    runs = np.array(list(dict.fromkeys(key[1:] for key in lines)))
    if len(lines) != count * len(runs) or not rows:
        raise CampaignError(f"{file}: expected each run, in one block, in each replication")
    columns = next(iter(rows.values()))
    if "replication" in columns and replications not in (None, count):
        raise CampaignError(f"replications = {replications}: expected {count}, as {file} has")
    blocks = runs[:, 0].astype(int) if "block" in columns else None
    return Design(
        tuple(factors), runs[:, 1:], f"design of {file.name}", (), blocks, replications=count
    )


def _coded(where: str, factor: Factor, cell: str) -> float:
    """Return the coded level, from -1 to +1, for the text in a cell of a design's CSV table.

    `where` is the place of the cell in messages.
    """
    for level, code in zip(factor.levels, factor.coded(), strict=True):
        if is_meant(level, cell.strip()):
            return float(code)
    levels = ", ".join(map(str, factor.levels))
    raise CampaignError(f"{where}{factor.name} is {cell!r}; levels: {levels}")
