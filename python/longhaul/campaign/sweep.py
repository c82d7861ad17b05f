"""Sweeps: runs of a scenario with all combinations of levels, and replications.

An axis is a factor, or a table of conditions, each of which sets the levels of several factors.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from longhaul._engine import Scenario as Resolved
from longhaul._engine import ScenarioError
from longhaul.analysis.table import is_meant
from longhaul.campaign.template import Scenario, filled_in
from longhaul.results import kinds
from longhaul.running.loading import load

# Level of a factor, or a point on an axis.
Level = str | int | float

# For each point on an axis, the levels of several factors. A tuple has a level for each
# replication.
Conditions = Mapping[Level, Mapping[str, Level | tuple[Level, ...]]]


@dataclass(frozen=True)
class Setting:
    """Setting of a scenario key: a fixed `value`, or one computed from the level of `factor`.

    With `of`, the computed value is `of[level]`. Otherwise, it is the level, multiplied by `times`
    and followed by the `unit`. `when` maps factors to levels: the key is set only in runs with
    these levels.
    """

    value: Any = None
    factor: str | None = None
    times: float = 1
    unit: str = ""
    of: Mapping[str, Any] | None = None
    when: Mapping[str, Sequence[Level]] = field(default_factory=dict)

    def applies(self, cell: Mapping[str, Level]) -> bool:
        """Return true if the setting applies to runs at `cell`, which maps factors to levels."""
        return all(cell[factor] in levels for factor, levels in self.when.items())

    def at(self, cell: Mapping[str, Level]) -> Any:  # noqa: ANN401
        """Return the key's value for the levels of factors in `cell`.

        With `times` other than 1, a whole product is an integer.
        """
        if self.factor is None:
            return self.value
        level = cell[self.factor]
        if self.of is not None:
            for text, value in self.of.items():
                if is_meant(level, text):
                    return value
            raise ScenarioError(f"of: expected a value of {level!r}, found {', '.join(self.of)}")
        if self.times != 1:
            if isinstance(level, str | bool):
                raise ScenarioError(f"times = {self.times:g}: {level!r} is no number")
            scaled = level * self.times
            level = int(scaled) if scaled % 1 == 0 else scaled
        return f"{level} {self.unit}" if self.unit else level


@dataclass(frozen=True)
class Run:
    """A run: a scenario with its experiment, the levels of its factors, and its replication."""

    experiment: str
    cell: Mapping[str, Level]
    replication: int
    scenario: Scenario
    beside: Path = Path()
    """Directory to which file names in the scenario are relative."""

    @property
    def resolved(self) -> Resolved:
        """Scenario after all checks, with its defaults."""
        return load(self.scenario, beside=self.beside)

    @property
    def complete(self) -> Scenario:
        """Scenario with all defaults, and with the texts of all files that it names."""
        scenario: Scenario = json.loads(self.resolved.resolved_json())
        return scenario

    @cached_property
    def key(self) -> str:
        """Hash of the resolved scenario: the run's key in the store."""
        return self.resolved.hash

    @property
    def expected_packets(self) -> float:
        """Estimated number of data packets of the run.

        Runs with more packets start earlier, and count more in the progress of a campaign.
        """
        return kinds.of(self.scenario).expected_packets(self)

    @property
    def name(self) -> str:
        """Name of the run in messages."""
        levels = ", ".join(f"{axis} {level}" for axis, level in self.cell.items())
        return f"{self.experiment} ({levels}; replication {self.replication})"


@dataclass(frozen=True)
class Sweep:
    """All combinations of the levels of axes, each replicated with different random numbers.

    Each level of an axis with `conditions` sets the levels of several factors.
    """

    experiment: str
    template: Mapping[str, Any]
    axes: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    replications: int = 1
    conditions: Mapping[str, Conditions] = field(default_factory=dict)
    beside: Path = Path()
    """Directory to which file names in the scenarios are relative."""

    def cells(self, replication: int = 0) -> Iterator[dict[str, Level]]:
        """Yield each cell of a replication as a dictionary: a level for each axis and factor."""
        for levels in product(*self.axes.values()):
            cell = dict(zip(self.axes, levels, strict=True))
            for axis, table in self.conditions.items():
                for factor, level in table[cell[axis]].items():
                    cell[factor] = _of(replication, level, self.experiment)
            yield cell

    def __len__(self) -> int:
        """Return the number of runs."""
        return self.replications * prod(map(len, self.axes.values()))

    def every_cell(self) -> Iterator[tuple[int, dict[str, Level]]]:
        """Yield the replication and the levels of every run, one replication after the other."""
        for replication in range(self.replications):
            for cell in self.cells(replication):
                yield replication, cell

    def runs(self) -> Iterator[Run]:
        """Yield every run in the order of `every_cell`; building the scenarios takes time."""
        for replication, cell in self.every_cell():
            yield self.run(cell, replication)

    def run(self, cell: Mapping[str, Level], replication: int = 0) -> Run:
        """Return the run with the levels in `cell` and the random numbers of a replication."""
        scenario = filled_in(self.template, {**self.values_at(cell), "replication": replication})
        return Run(self.experiment, cell, replication, scenario, self.beside)

    def values_at(self, cell: Mapping[str, Level]) -> dict[str, Any]:
        """Return the values of scenario keys, by path, for the levels in `cell`.

        An error names the key's path.
        """
        values = {}
        for path, setting in self.settings.items():
            try:
                if setting.applies(cell):
                    values[path] = setting.at(cell)
            except ScenarioError as error:
                raise ScenarioError(f'set."{path}".{error}') from None
        return values


def _of(replication: int, levels: Level | tuple[Level, ...], experiment: str) -> Level:
    """Return a factor's level in a replication; a tuple `levels` has one level per replication."""
    if not isinstance(levels, tuple):
        return levels
    if replication >= len(levels):
        raise ScenarioError(
            f"{experiment}: its table of conditions has {len(levels)} replications, not "
            f"{replication + 1}"
        )
    return levels[replication]
