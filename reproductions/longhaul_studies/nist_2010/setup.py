"""Measures of the set-up, read from scenarios without a run."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from math import prod
from typing import Any

import numpy as np

from longhaul.designs.properties import correlated, resolution, word_lengths
from longhaul.studies.data import Data
from longhaul.studies.measures import Measures
from longhaul.studies.selection import Word, selects
from longhaul.studies.study import Study, find

MEASURES = Measures()
measure = MEASURES.register

# Patterns that read a number from a value of `longhaul explain`, by default the first number.
READINGS = {
    "first": re.compile(r"(-?\d[\d.e+]*)"),
    "gbps": re.compile(r"\((-?[\d.]+) Gbps"),
    "average": re.compile(r"(-?[\d.]+) on average|^(\d+) packets"),
    "least": re.compile(r"^(-?[\d.]+)"),
    "most": re.compile(r"to (-?[\d.]+)"),
}
EXTREMES = {"smallest": min, "largest": max}
ENDS: dict[str, Callable[[list[float]], Any]] = {"least": min, "mean": np.mean, "most": max}


@cache
def _study() -> Study:
    return find("nist-2010")


@cache
def _explained(of: str, algorithm: str = "") -> list[tuple[Mapping[str, Word], dict[str, str]]]:
    """Return, for each condition of experiment `of`, its levels and its scenario's values by key.

    A condition's scenario is the one with `algorithm`; by default, with the first algorithm.
    """
    sweep = _study().experiments[of].sweep("full")
    cells = list(sweep.every_cell())
    chosen = algorithm or cells[0][1]["algorithm"]
    return [
        (cell, {path: value for path, value, _ in sweep.run(cell, number).resolved.explain()})
        for number, cell in cells
        if cell["algorithm"] == chosen
    ]


@measure
def configured(
    data: Data, of: str, key: str, reading: str = "first", end: str = "mean", **cell: Word
) -> float:
    """Return the smallest, mean or largest value of a scenario key in experiment `of`.

    `end` is `least`, `mean` or `most`. `cell` selects scenarios by levels. If a value has several
    numbers, `reading` selects one of them.
    """
    del data
    values = [
        _number(explained[key], reading)
        for levels, explained in _explained(of, str(cell.get("algorithm", "")))
        if all(selects(level)(levels[axis]) for axis, level in cell.items())
    ]
    return float(ENDS[end](values))


@measure
def configured_count(
    data: Data, of: str, key: str, reading: str = "first", above: float = -np.inf,
    below: float = np.inf,
) -> float:  # fmt: skip
    """Count the conditions whose value of a scenario key is between `above` and `below`.

    If the value of `key` has several numbers, `reading` selects one of them.
    """
    del data
    values = [_number(explained[key], reading) for _, explained in _explained(of)]
    return float(sum(above < value < below for value in values))


@measure
def host_share(data: Data, of: str, hosts: str, below: str) -> float:
    """Return the fraction of `hosts` (sources or receivers) at access routers of class `below`.

    It is that of the first condition of experiment `of`.
    """
    del data
    _, explained = _explained(of)[0]
    counts = {
        name: prod(map(int, re.findall(r"\d+", explained[f"mesonet.hosts.{hosts}.{name}"])))
        for name in ("normal", "fast", "direct")
    }
    return counts[below] / sum(counts.values())


def _number(text: str, reading: str) -> float:
    if reading in EXTREMES:
        return EXTREMES[reading](map(float, re.findall(r"\d+", text)))
    match = READINGS[reading].search(text)
    if match is None:
        raise ValueError(f"`{text}` has no number to read as {reading}")
    return float(next(group for group in match.groups() if group))


@measure
def runs_of(data: Data, of: str, each: float = 1.0) -> float:
    """Return the number of runs of experiment `of` at full scale, times `each`."""
    del data
    return each * len(_study().experiments[of].sweep("full"))


def _signs(of: str) -> np.ndarray:
    """Return the levels of experiment `of` as -1 and +1: an array (condition, factor).

    The level +1 is the one that is last in alphabetical order, even of numbers: signs of factors
    may be opposite to the study's.
    """
    ((_, table),) = _study().experiments[of].conditions.items()
    columns = [[row[factor] for row in table.values()] for factor in next(iter(table.values()))]
    return np.array([[1 if level == max(column, key=str) else -1 for level in column]
                     for column in columns]).T  # fmt: skip


@measure
def design_resolution(data: Data, of: str) -> float:
    """Return the resolution of the factorial design of experiment `of`; infinity if it is full."""
    del data
    return float(resolution(word_lengths(_signs(of))) or np.inf)


@measure
def correlated_factors(data: Data, of: str) -> float:
    """Count the pairs of factors in experiment `of` that are not orthogonal."""
    del data
    return float(len(correlated(_signs(of))))
