"""Analysis of variance by factors of any number of levels, for full and fractional designs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import linalg, special

# Smaller fractions of a column's norm, or of a sum of squares, are rounding errors.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Source:
    """A line in the table of an analysis of variance."""

    names: tuple[str, ...]
    """Names of the term and of its aliases, such as `a*b`."""
    sum_of_squares: float
    freedom: int
    f: float | None
    """F ratio; None for the residual, and if the residual or the line's freedom is zero."""
    p: float | None
    share: float
    """The line's sum of squares as a fraction of the total."""

    @property
    def name(self) -> str:
        """Name of the line's terms; `a*b = c*d` if the runs cannot distinguish `a*b` and `c*d`."""
        return " = ".join(self.names)


@dataclass(frozen=True)
class _Term:
    """A main effect or an interaction; `names` has its name and those of its aliases."""

    factors: tuple[str, ...]
    basis: np.ndarray
    """Orthonormal basis of the term's contrasts; shape: runs x degrees of freedom."""
    own: np.ndarray
    """Orthonormal basis of `basis` less its projection on all lower-order terms."""
    names: list[str]


def anova(
    factors: Mapping[str, Sequence[object]], response: ArrayLike, *, order: int = 2
) -> list[Source]:
    """Return the analysis of variance of a response by factors with any number of levels.

    The table has a line for each main effect and for each interaction of up to `order` factors; the
    last line is the residual. The sum of squares of a term is the variation that it explains beyond
    a model of all other terms, except interactions that contain it (type II: Langsrud 2003,
    Statistics and Computing 13). The order of factors does not matter. Variation that either of two
    terms can explain counts for neither. In a balanced design, the sums add up to the total.
    Factors with one level are left out. `order` is lowered if the residual would otherwise have no
    degree of freedom. The table is empty if that is not enough, if no factor varies, or if the
    response is constant.
    """
    y = np.asarray(response, float)
    y = y - y.mean() if len(y) else y
    varying = {name: words for name, v in factors.items() if len(set(words := [*map(str, v)])) > 1}
    if not varying or float(y @ y) == 0.0:
        return []
    for kept in range(min(order, len(varying)), 0, -1):
        if lines := _table(_terms(varying, kept), y):
            return lines
    return []


def _terms(factors: Mapping[str, Sequence[str]], order: int) -> list[_Term]:
    """Return main effects, then two-factor interactions, and so on up to `order` factors."""
    indicators = {name: _indicators(words) for name, words in factors.items()}
    terms: list[_Term] = []
    for size in range(1, order + 1):
        lower = list(terms)
        below = _joined([term.basis for term in lower])
        for names in combinations(factors, size):
            columns = reduce(_products, (indicators[name] for name in names))
            basis = _orthonormal(columns - columns.mean(axis=0))
            own = _without(basis, below)
            if own.size:
                alias = [term for term in terms[len(lower) :] if _spans(term.own, own)]
            else:
                inside = [set(term.factors) < set(names) for term in lower]
                margins = [term.basis for term, is_in in zip(lower, inside, strict=True) if is_in]
                rest = _without(basis, _joined(margins))
                beside = [term for term, is_in in zip(lower, inside, strict=True) if not is_in]
                alias = [term for term in beside if _spans(term.basis, rest)]
            if alias:
                alias[0].names.append("*".join(names))
            elif own.size:
                terms.append(_Term(names, basis, own, ["*".join(names)]))
    return terms


def _indicators(words: Sequence[str]) -> np.ndarray:
    """Return indicator columns for all levels except the first; shape: runs x (levels - 1).

    `words` has the level of each run.
    """
    levels = list(dict.fromkeys(words))
    return np.array([[word == level for level in levels[1:]] for word in words], float)


def _products(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    pairs = first[:, :, None] * other[:, None, :]
    return np.reshape(pairs, (len(first), -1))


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of the columns, which may be linearly dependent."""
    vectors, triangle, _ = linalg.qr(columns, mode="economic", pivoting=True)
    return np.asarray(vectors[:, np.abs(np.diag(triangle)) > ROUNDING])


def _joined(bases: Sequence[np.ndarray]) -> np.ndarray:
    """Return an orthonormal basis of the span of all bases; it has no columns if there are none."""
    return _orthonormal(np.hstack(bases)) if bases else np.zeros((0, 0))


def _without(basis: np.ndarray, space: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of `basis` less its projection on the span of `space`."""
    return _orthonormal(basis - space @ (space.T @ basis)) if space.size else basis


def _spans(first: np.ndarray, other: np.ndarray) -> bool:
    """Return true if two orthonormal bases span the same space."""
    rest = other - first @ (first.T @ other)
    return first.shape == other.shape and bool(np.abs(rest).max() < ROUNDING)


def _table(terms: Sequence[_Term], y: np.ndarray) -> list[Source]:
    """Return the table's lines for `terms` and for the residual, given the responses `y`.

    The result is empty if no degree of freedom is left for the residual.
    """
    space = _joined([term.basis for term in terms])
    total, seen = float(y @ y), space.T @ y
    freedom = len(y) - 1 - len(seen)
    if freedom < 1:
        return []
    rest = _squares(total - float(seen @ seen), total)
    lines = []
    for term in terms:
        others = [other for other in terms if not set(term.factors) <= set(other.factors)]
        beside = _joined([space.T @ other.basis for other in others])
        added = _without(space.T @ term.basis, beside)
        squares, df = _squares(float(((added.T @ seen) ** 2).sum()), total), added.shape[1]
        f = squares / df * freedom / rest if df and rest else None
        p = None if f is None else float(special.fdtrc(df, freedom, f))
        lines.append(Source(tuple(term.names), squares, df, f, p, squares / total))
    return [*lines, Source(("residual",), rest, freedom, None, None, rest / total)]


def _squares(found: float, total: float) -> float:
    """Return the sum of squares `found`, or zero if it is only a rounding error of `total`."""
    return found if found > ROUNDING * total else 0.0
