"""A design of experiments: the level of each factor in each run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from longhaul.designs import properties
from longhaul.designs.properties import DesignError
from longhaul.files.names import unknown
from longhaul.files.rows import as_csv

# A level as in scenarios: a number, or text such as "100 ms" or "droptail".
Level = str | int | float

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d.].*|)")


@dataclass(frozen=True)
class Factor:
    """A factor and its levels, which are coded from -1 to +1.

    Two levels are coded as -1 and +1, more levels at equal distances. Other coded values, as in a
    Latin hypercube, are interpolated between the first and the last level.
    """

    name: str
    levels: tuple[Level, ...] = (-1, 1)

    def __post_init__(self) -> None:
        if len(self.levels) < 2:
            raise DesignError(
                f"factor {self.name}: expected at least two levels, found {len(self.levels)}"
            )

    def coded(self) -> np.ndarray:
        """Return the coded values of all levels, in order, from -1 to +1."""
        return np.linspace(-1.0, 1.0, len(self.levels))

    def natural(self, coded: float) -> Level:
        """Return the level for a coded value between -1 and +1, as it is written in scenarios."""
        place = (coded + 1.0) / 2.0 * (len(self.levels) - 1)
        nearest = round(place)
        if abs(place - nearest) < 1e-9:
            return self.levels[nearest]
        (low, unit), (high, other) = map(self._quantity, (self.levels[0], self.levels[-1]))
        if unit != other:
            raise DesignError(
                f"factor {self.name}: expected one unit, found `{unit}` and `{other}`"
            )
        value = float(f"{low + (coded + 1.0) / 2.0 * (high - low):.6g}")
        return f"{value:g} {unit}" if unit else value

    def _quantity(self, level: Level) -> tuple[float, str]:
        """Return the number and the unit of a level such as `10 ms`."""
        if not isinstance(level, str):
            return float(level), ""
        match = _QUANTITY.fullmatch(level)
        if match is None:
            raise DesignError(
                f"factor {self.name}: nothing lies between {self.levels[0]} and {self.levels[-1]}"
            )
        return float(match[1]), match[2]


@dataclass(frozen=True)
class Design:
    """Coded levels of each run, with the factors that decode them."""

    factors: tuple[Factor, ...]
    coded: np.ndarray
    """Coded levels from -1 to +1; shape: runs x factors."""
    kind: str = "factorial"
    generators: tuple[str, ...] = ()
    """Generators that define a fractional factorial, such as `x6 = x1*x2`.

    Empty for other designs, and after a fold-over.
    """
    blocks: np.ndarray | None = None
    """Number of the block of each run, from 1; None if the design has no blocks.

    Numbers may be missing in between if the products that define blocks are not independent.
    """
    replications: int = 1
    """Number of replications of each run, with different random numbers."""

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise DesignError(f"two factors have the same name: {', '.join(self.names)}")

    @property
    def runs(self) -> int:
        """Number of runs without replications, which is the number of rows of `coded`."""
        return len(self.coded)

    @property
    def names(self) -> list[str]:
        """The factors' names."""
        return [factor.name for factor in self.factors]

    @property
    def is_two_level(self) -> bool:
        """True if all coded levels are -1 or +1."""
        return bool(np.isin(self.coded, (-1, 1)).all())

    def natural(self) -> Iterator[dict[str, Level]]:
        """Yield the levels of each run by factor, as they are written in scenarios."""
        for row in self.coded:
            yield {f.name: f.natural(float(c)) for f, c in zip(self.factors, row, strict=True)}

    def folded(self, factors: Sequence[str] = ()) -> "Design":
        """Return the design, followed by its fold-over as a second block; earlier blocks are lost.

        The fold-over repeats all runs with the opposite signs of `factors`, or of all factors if
        `factors` is empty. A fold-over in all factors separates all main effects from two-factor
        interactions. A fold-over in one factor separates the main effect and the interactions of
        this factor (Box, Hunter and Hunter 2005, Statistics for Experimenters, chapter 6).
        """
        columns = properties.check_two_level(self.coded)
        mirrored = [self.names.index(self._known(name)) for name in factors]
        signs = np.ones(len(self.factors), dtype=np.int64)
        signs[mirrored or slice(None)] = -1
        return replace(
            self,
            coded=np.vstack([columns, columns * signs]),
            kind=f"{self.kind}, folded over",
            generators=(),
            blocks=np.repeat([1, 2], self.runs),
        )

    def in_blocks(self, words: Sequence[str]) -> "Design":
        """Divide the design, or each of its blocks, into 2^n blocks by the signs of n products.

        `words` are the products of factors, such as `x1*x2*x3`. If they are not independent in the
        design, the blocks are fewer.
        """
        columns = properties.check_two_level(self.coded)
        signs = [properties.contrast(columns, self.effect(word)) > 0 for word in words]
        numbers = np.ones(self.runs, int) if self.blocks is None else self.blocks
        for sign in signs:
            numbers = numbers + sign * numbers.max()
        return replace(self, blocks=numbers)

    def confounded_with_blocks(self, order: int = 2) -> list[str]:
        """Return the effects of at most `order` factors that are confounded with blocks.

        The column of such an effect is constant within each block. Effects that are only partly
        confounded are not included.
        """
        if self.blocks is None:
            return []
        columns = properties.check_two_level(self.coded)
        lost = []
        for effect in properties.effects(len(self.factors), order):
            column = properties.contrast(columns, effect)
            if all(len(set(column[self.blocks == block])) == 1 for block in set(self.blocks)):
                lost.append(self.word(effect))
        return lost

    def crossed(self, other: "Design") -> "Design":
        """Return a design with every combination of a run of this design and a run of `other`.

        Generators, blocks and replications are those of this design; those of `other` are lost.
        """
        rows = [np.hstack([row, more]) for more in other.coded for row in self.coded]
        blocks = None if self.blocks is None else np.tile(self.blocks, other.runs)
        return replace(
            self,
            factors=self.factors + other.factors,
            coded=np.stack(rows),
            kind=f"{self.kind}, crossed with {other.kind}",
            blocks=blocks,
        )

    def replicated(self, times: int) -> "Design":
        """Return the design with each run replicated `times` times."""
        if times < 1:
            raise DesignError(f"expected at least 1 replication, found {times}")
        return replace(self, replications=times)

    def effect(self, word: str) -> tuple[int, ...]:
        """Return the indices of the columns in a product such as `x1*x2`."""
        return tuple(self.names.index(self._known(name.strip())) for name in word.split("*"))

    def word(self, effect: Sequence[int]) -> str:
        """Return the product of the columns with the indices `effect` as text, such as `x1*x2`."""
        return "*".join(self.names[j] for j in effect)

    def _known(self, name: str) -> str:
        if name not in self.names:
            raise DesignError(unknown("factor", name, self.names))
        return name

    def csv(self, *, natural: bool = False) -> str:
        """Return the design as CSV: a column per factor, and a row per run and replication.

        All runs of a replication come before those of the next. With `natural`, cells are levels as
        written in scenarios; otherwise they are coded levels.
        """
        blocks = [] if self.blocks is None else ["block"]
        again = ["replication"] if self.replications > 1 else []
        lines: list[list[Any]] = [["run", *again, *blocks, *self.names]]
        levels = list(self.natural())
        for replication in range(self.replications):
            for run, row in enumerate(self.coded):
                more = [replication + 1] if again else []
                block = [] if self.blocks is None else [int(self.blocks[run])]
                cells = list(levels[run].values()) if natural else [f"{c:g}" for c in row]
                lines.append([run + 1, *more, *block, *cells])
        return as_csv(lines)

    def describe(self) -> dict[str, Any]:
        """Return properties of the design by name, such as its kind and factors.

        Resolution, aliases and confounding with blocks are given only for two-level designs.
        """
        facts: dict[str, Any] = {
            "kind": self.kind,
            "runs": self.runs,
            "replications": self.replications,
            "factors": {factor.name: list(factor.levels) for factor in self.factors},
            "generators": list(self.generators),
        }
        if not self.is_two_level:
            return facts
        lengths = properties.word_lengths(self.coded)
        groups = properties.alias_groups(self.coded)
        partial = properties.partial_aliases(self.coded)
        mixed = {effect for first, other, _ in partial for effect in (first, other)}
        mixed.update(properties.aliased_with_the_mean(self.coded))
        clear = [group[0][1] for group in groups if len(group) == 1]
        return facts | {
            "balanced": not properties.unbalanced(self.coded),
            "orthogonal": not properties.correlated(self.coded),
            "word_lengths": {str(j): float(words) for j, words in enumerate(lengths, 1) if words},
            "resolution": properties.resolution(lengths),
            "aliases": [self._aliases(group) for group in groups if len(group) > 1],
            "clear": [self.word(effect) for effect in clear if effect not in mixed],
            "partial_aliases": len(partial),
            "confounded_with_blocks": self.confounded_with_blocks(),
        }

    def _aliases(self, group: Sequence[tuple[int, tuple[int, ...]]]) -> str:
        (_, first), *others = group
        rest = [("" if sign > 0 else "-") + self.word(effect) for sign, effect in others]
        return " = ".join([self.word(first), *rest])
