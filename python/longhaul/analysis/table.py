"""Tables of factors and responses, the input of all analyses of campaigns."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import combinations
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from longhaul import _engine
from longhaul._engine import LonghaulError
from longhaul.files.names import suggestion, unknown
from longhaul.files.writing import atomic

# A level of a factor, in a campaign or a table.
Level = str | int | float
REPLICATION = "replication"
# Prefix of a response of logarithms in `places`; its original name follows in parentheses.
LOGARITHM = "log10"
# For each condition, a list of replications, each with the response at each level of a factor.
Matched = dict[str, list[dict[Level, float]]]

# Key in a Parquet file's metadata for a campaign's description of the columns.
KEY = "longhaul.campaign"
# Columns of a campaign's table that are neither factors nor responses.
PROVENANCE = ("scenario_hash", "results_version", "version", "data_packets", "wall_s")
# Columns with the cost of a run, which are not analysed.
COSTS = ("peak_memory_bytes", "events", "wall_s", "results_version")
# Maximum numbers of texts and of names in a message, and of levels of a likely factor.
NAMED = 3
MOST_NAMED = 20
MOST_LEVELS = 40


class TableError(LonghaulError):
    """Error: a table, or one of its columns or levels, cannot be analysed as requested."""


def _text(level: Level) -> str:
    """Return a level as written in files: `true`, not `True`."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def is_meant(level: Level, text: str) -> bool:
    """Return true if `text` denotes `level`; `1` also denotes 1.0."""
    try:
        return _text(level) == text or float(level) == float(text)
    except ValueError:
        return False


def _read(file: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return a table from a file, and the metadata that a campaign stored with it."""
    if file.suffix == ".csv":
        # R writes NA for a missing value.
        return pl.read_csv(file, comment_prefix="#", infer_schema_length=None, null_values="NA"), {}
    # Numbers in single precision are rounded to the decimal numbers that were meant.
    narrow = pl.col(pl.Float32).cast(pl.Float64).round_sig_figs(7)
    facts = json.loads(pl.read_parquet_metadata(file).get(KEY, "{}"))
    return pl.read_parquet(file).with_columns(narrow), facts


def write_table(file: Path, frame: pl.DataFrame, factors: Mapping[str, Sequence[Level]]) -> None:
    """Write a table to a file; a Parquet file also stores the factors and their levels in order."""
    with atomic(file) as temporary:
        if file.suffix == ".csv":
            frame.write_csv(temporary)
        else:
            levels = {name: list(levels) for name, levels in factors.items()}
            frame.write_parquet(temporary, metadata={KEY: json.dumps({"factors": levels})})


def _few_levels(frame: pl.DataFrame) -> str:
    """Return the names of the columns as text, for an error message.

    If there are many columns, only those with few different values are named, columns of text
    first.
    """
    if len(frame.columns) <= MOST_NAMED:
        return f"available: {', '.join(frame.columns)}"
    counts = {column.name: column.drop_nulls().n_unique() for column in frame.get_columns()}
    few = [name for name, count in counts.items() if 1 < count <= MOST_LEVELS]
    few.sort(key=lambda name: (frame[name].dtype != pl.String, counts[name]))
    more = f" and {len(few) - MOST_NAMED} more" if len(few) > MOST_NAMED else ""
    return (
        f"of {len(frame.columns)} columns those with 2 to {MOST_LEVELS} different values are "
        f"{', '.join(few[:MOST_NAMED])}{more}"
    )


def _size(level: Level) -> float:
    """Return the number, time or rate that a level means, as a sort key; NaN for other texts."""
    if not isinstance(level, str):
        return float(level)
    for number in (_engine.seconds, _engine.bits_per_second):
        try:
            return float(number(level))
        except LonghaulError:
            continue
    return nan


def _ascending(levels: Sequence[Level]) -> list[Level]:
    """Sort levels by number, time or rate (5 ms before 10 ms), otherwise alphabetically."""
    parts = [str(level).partition(" ") for level in levels]
    try:
        # Levels in one unit, such as packets, are sorted by the numbers that they begin with.
        same = len({unit for *_, unit in parts}) == 1
        sizes = [float(number) for number, *_ in parts] if same else [*map(_size, levels)]
    except ValueError:
        sizes = [nan]
    if not all(map(isfinite, sizes)):
        return sorted(levels)
    return [level for _, level in sorted(zip(sizes, levels, strict=True))]


@dataclass(frozen=True)
class ResponseTable:
    """A table with one row per run: levels of factors, and responses."""

    frame: pl.DataFrame
    factors: Mapping[str, Sequence[Level]]
    """Each factor's levels in order; of a two-level factor the first is the minus level."""
    responses: tuple[str, ...]
    whole: Mapping[str, Sequence[Level]] = field(default_factory=dict)
    """Levels of factors before `where` removed some of them."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Original names of renamed responses, such as `labels.cubic.goodput_bps`, by new name."""

    @classmethod
    def read(
        cls, file: Path, factors: Sequence[str] = (), responses: Sequence[str] = ()
    ) -> "ResponseTable":
        """Read a table of factors and responses from a Parquet or CSV file.

        If the file names its factors, as a campaign's Parquet file does, `factors` is ignored.
        Otherwise `factors` must name them. Responses are by default those that the file names or,
        if it names none, all other numeric columns except provenance, run, block and replication.
        """
        if not file.is_file():
            raise TableError(f"{file}: no such file")
        try:
            frame, facts = _read(file)
        except pl.exceptions.PolarsError as error:
            why = str(error).partition("\n")[0]
            raise TableError(f"{file}: expected a table, CSV or Parquet: {why}") from None
        known = cls.of(
            frame, facts.get("factors") or factors, responses or facts.get("responses", ())
        )
        return replace(known, places=facts.get("places", {}))

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        factors: Sequence[str] | Mapping[str, Sequence[Level]],
        responses: Sequence[str] = (),
    ) -> "ResponseTable":
        """Create a table from a data frame; levels are in ascending order unless given."""
        if not factors:
            raise TableError(
                f"expected --factor: the columns that are factors; {_few_levels(frame)}"
            )
        for name in (*factors, *responses):
            if name not in frame.columns:
                raise TableError(unknown("column", name, frame.columns))
        known = (
            dict(factors)
            if isinstance(factors, Mapping)
            else {name: _ascending(frame[name].drop_nulls().unique().to_list()) for name in factors}
        )
        present = {
            name: [level for level in levels if (frame[name] == level).any()]
            for name, levels in known.items()
        }
        numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
        other = {*factors, *PROVENANCE, "run", "block", REPLICATION}
        chosen = tuple(responses) or tuple(name for name in numeric if name not in other)
        return cls(frame, present, chosen)

    def place(self, response: str) -> str:
        """Return the original name of a response, which the campaign may have renamed."""
        return self.places.get(response, response)

    def values(self, response: str) -> np.ndarray:
        """Return the values of a response in all runs; raise TableError if a run lacks it."""
        if response not in self.responses:
            raise TableError(unknown("response", response, self.responses))
        if without := self.without(response):
            raise TableError(
                f"{response}: {without} of {len(self.frame)} runs have no value: "
                f"{self._runs_without(response)}; --without FACTOR=LEVEL leaves runs out"
            )
        return self.frame[response].cast(pl.Float64).to_numpy()

    def _lacks(self, response: str) -> pl.Series:
        """Return true for each run that has no finite value of the response."""
        return (~self.frame[response].cast(pl.Float64).is_finite()).fill_null(value=True)

    def without(self, response: str) -> int:
        """Return the number of runs without a value of the response."""
        return int(self._lacks(response).sum())

    def _runs_without(self, response: str) -> str:
        """Return text that names the first runs without a value of the response.

        Runs are described by their levels of the varying factors.
        """
        factors = self.varying or list(self.factors)
        rows = self.frame.filter(self._lacks(response)).select(factors).to_dicts()
        return some([_named(row) for row in rows])

    def with_all(self, responses: Sequence[str]) -> tuple["ResponseTable", list[str]]:
        """Return a table of the runs that have all these responses.

        The second result describes the levels of the other runs. If the table lacks one of the
        responses, all runs are returned. Raises TableError if no run has all responses.
        """
        unknown_ = [name for name in responses if name not in self.responses]
        if unknown_ or not responses:
            return self, []
        lacks = self.frame.select(
            pl.any_horizontal(self._lacks(name).alias(name) for name in responses)
        ).to_series()
        if lacks.all():
            fewest = sorted(responses, key=self.without, reverse=True)
            most = [f"{name} ({len(self.frame) - self.without(name)})" for name in fewest]
            raise TableError(
                f"no run has all of these responses; of {len(self.frame)} runs these have a value: "
                f"{some(most)}"
            )
        left_out = self.frame.filter(lacks).select(self.varying or list(self.factors)).to_dicts()
        return replace(self, frame=self.frame.filter(~lacks)), [_named(row) for row in left_out]

    def incomplete(self) -> dict[str, int]:
        """Return the responses that some but not all runs lack, with the number of these runs."""
        lacking = {name: self.without(name) for name in self.responses}
        return {name: runs for name, runs in lacking.items() if 0 < runs < len(self.frame)}

    def complete(self) -> tuple[str, ...]:
        """Return the responses that every run has."""
        return tuple(name for name in self.responses if not self.without(name))

    def telling(self) -> tuple[str, ...]:
        """Return the names of the responses that are worth analysing.

        These are the responses that every run has, except the costs of a run (such as its
        wall-clock time) and those that equal an earlier response in every run.
        """
        seen: set[bytes] = set()
        kept = []
        for name in self.complete():
            content = self.frame[name].cast(pl.Float64).to_numpy().tobytes()
            if name.rpartition(".")[2] in COSTS or content in seen:
                continue
            seen.add(content)
            kept.append(name)
        return tuple(kept)

    def matching(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """Return the responses that match `patterns`: names or patterns such as `y*_TP1`.

        They are in the order of the patterns.
        """
        matches: dict[str, None] = {}
        for pattern in patterns:
            names = [name for name in self.responses if fnmatchcase(name, pattern)]
            if pattern in self.responses:
                names = [pattern]
            if not names:
                end = suggestion(pattern.strip("*"), self.responses)
                raise TableError(f"no response is like `{pattern}`{end}")
            matches |= dict.fromkeys(names)
        return tuple(matches)

    @property
    def varying(self) -> list[str]:
        """Factors of which at least two levels occur in the table."""
        return [name for name, levels in self.factors.items() if len(levels) > 1]

    @property
    def two_level(self) -> list[str]:
        """Factors of the table that have two levels."""
        return [name for name, levels in self.factors.items() if len(levels) == 2]

    def coded(self, factors: Sequence[str] | None = None) -> np.ndarray:
        """Return the levels of two-level factors as -1 and +1; shape: runs x factors.

        If `factors` is None, all two-level factors are coded.
        """
        names = self.two_level if factors is None else list(factors)
        for name in names:
            self.require(name)
            if len(self.factors[name]) != 2:
                raise TableError(f"{name}: expected two levels, found {len(self.factors[name])}")
        if not names:
            raise TableError("expected a factor of two levels, found none")
        columns = [(self.frame[name] == self.factors[name][1]).to_numpy() for name in names]
        return np.where(np.stack(columns, axis=1), 1, -1)

    def require(self, factor: str) -> str:
        """Return the name of a factor; raise TableError if the table has no such factor."""
        if factor not in self.factors:
            raise TableError(unknown("factor", factor, self.factors))
        return factor

    def averaged(self) -> "ResponseTable":
        """Return a table in which replications are replaced by their means."""
        groups = self.frame.group_by(list(self.factors), maintain_order=True)
        return replace(self, frame=groups.agg(pl.col(*self.responses).mean()))

    def positive(self) -> tuple[str, ...]:
        """Return the responses that are above 0 in all runs, and thus have logarithms."""
        return tuple(name for name in self.complete() if (self.values(name) > 0).all())

    def logarithms(self, responses: Sequence[str]) -> "ResponseTable":
        """Return a table whose only responses are the decimal logarithms of `responses`."""
        for name in responses:
            if not (self.values(name) > 0).all():
                least = self.values(name).min()
                raise TableError(
                    f"{name}: expected values above 0 for a logarithm, found {least:g}"
                )
        columns = [pl.col(name).cast(pl.Float64).log10() for name in responses]
        places = {name: f"{LOGARITHM}({self.place(name)})" for name in responses}
        frame = self.frame.with_columns(columns)
        return replace(self, frame=frame, responses=tuple(responses), places=places)

    def where(self, column: str, levels: Sequence[str], *, keep: bool = True) -> "ResponseTable":
        """Return a table of the runs at `levels` of a column, or of all others if not `keep`."""
        if column not in self.frame.columns:
            self.require(column)
        every = self.factors.get(column) or self.frame[column].drop_nulls().unique().sort()
        known = [_text(level) for level in every]
        for text in levels:
            if not any(is_meant(level, text) for level in every):
                raise TableError(f"{column} has no level {text}{suggestion(text, known)}")
        named = [any(is_meant(level, text) for text in levels) for level in every]
        left = [level for level, is_named in zip(every, named, strict=True) if is_named == keep]
        inside = pl.col(column).is_in(left)
        frame = self.frame.filter(inside if keep else inside.fill_null(value=True))
        if frame.is_empty():
            raise TableError(f"{column}: no run is left")
        chosen = {column: left} if column in self.factors else {}
        fewer = self.of(frame, {**self.factors, **chosen}, self.responses)
        # Levels of other factors that have no run any more do not count as removed by name.
        whole = {
            name: [
                level
                for level in self.whole.get(name, levels)
                if name == column or level in fewer.factors[name] or level not in levels
            ]
            for name, levels in self.factors.items()
        }
        return replace(fewer, whole=whole, places=self.places)

    def numbered(self, factor: str) -> dict[int, str]:
        """Return the levels of a factor by number, from 1.

        Numbers of levels that `where` left out are not used again.
        """
        levels = self.factors[self.require(factor)]
        every = enumerate(self.whole.get(factor, levels), start=1)
        return {number: str(level) for number, level in every if level in levels}

    def require_levels(self) -> None:
        """Raise TableError if a run has no level for one of the factors."""
        for factor in self.factors:
            if without := self.frame[factor].null_count():
                raise TableError(
                    f"{factor}: {without} of {len(self.frame)} runs have no level; "
                    "--only FACTOR=LEVEL chooses those that have"
                )

    def entangled(self) -> list[tuple[str, str]]:
        """Return pairs of factors whose levels do not occur in proportion to each other.

        Means at the levels of one factor then include a part of the other factor's effect.
        """
        numbers = {
            name: self.frame[name].cast(pl.String).rank("dense").to_numpy() - 1
            for name in self.varying
        }
        pairs = []
        for first, other in combinations(self.varying, 2):
            counts = np.zeros((len(self.factors[first]), len(self.factors[other])))
            np.add.at(counts, (numbers[first], numbers[other]), 1)
            alike = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(self.frame)
            if not np.allclose(counts, alike):
                pairs.append((first, other))
        return pairs

    def conditions(self, competitors: str) -> tuple[list[dict[str, Any]], np.ndarray, list[str]]:
        """Return complete conditions, the values of their responses, and texts on incomplete ones.

        A condition is a combination of levels of all factors except `competitors`, the factor whose
        levels are compared. Values are an array of shape (condition, response, competitor),
        averaged over replications; the responses are those of `complete`. A condition is incomplete
        if it lacks a competitor. Raises TableError if no condition is complete.
        """
        others = [name for name in self.factors if name != self.require(competitors)]
        who = list(self.factors[competitors])
        names = self.complete()
        kept, cells, lacking = [], [], []
        for condition, part in _by(others, self.averaged().frame):
            rows = {row[competitors]: row for row in part.to_dicts()}
            if missing := [competitor for competitor in who if competitor not in rows]:
                lacking.append(f"{_named(condition)} lacks {', '.join(map(str, missing))}")
                continue
            kept.append(condition)
            cells.append([[float(rows[competitor][name]) for competitor in who] for name in names])
        if not cells:
            raise TableError(
                f"no condition has every level of {competitors}: {some(lacking)}; "
                f"--without {competitors}=LEVEL leaves a level out"
            )
        return kept, np.array(cells), lacking

    def matched(self, factor: str, response: str) -> Matched:
        """Return the values of a response at the levels of `factor`, by condition and replication.

        A condition is a combination of levels of the other factors. Runs with the same seed and
        replication share their random numbers. Runs with the same levels and replication are
        averaged. A table without a column `replication` has one replication. A condition may lack
        levels in some replications.
        """
        others = [name for name in self.factors if name != self.require(factor)]
        self.values(response)
        frame = self.frame
        if REPLICATION not in frame.columns:
            frame = frame.with_columns(pl.lit(1).alias(REPLICATION))
        same = frame.group_by(REPLICATION, *self.factors, maintain_order=True)
        runs = same.agg(pl.col(response).mean()).sort(REPLICATION, maintain_order=True)
        numbers = runs[REPLICATION].unique(maintain_order=True)
        found: Matched = {}
        for condition, part in _by(others, runs):
            values: dict[int, dict[Level, float]] = {number: {} for number in numbers}
            for number, level, value in part.select(REPLICATION, factor, response).iter_rows():
                values[number][level] = value
            found[_named(condition)] = list(values.values())
        return found


def _by(names: Sequence[str], frame: pl.DataFrame) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Group rows by their levels of the factors `names`; without names, all rows are one group."""
    for levels, part in frame.group_by(names, maintain_order=True) if names else [((), frame)]:
        yield dict(zip(names, levels, strict=True)), part


def _named(condition: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {level}" for name, level in condition.items()) or "the only one"


def some(texts: Sequence[str]) -> str:
    """Return the first three texts joined by semicolons, then the number of remaining texts."""
    more = len(texts) - NAMED
    return "; ".join(texts[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def equal_parts(count: int, most: int) -> list[range]:
    """Divide `count` rows or columns into equal ranges of up to `most`; the last may be shorter."""
    each = -(-count // -(-count // most))
    return [range(at, min(at + each, count)) for at in range(0, count, each)]
