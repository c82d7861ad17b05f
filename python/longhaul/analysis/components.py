"""Principal components of responses, and the factor levels that groups of runs have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.analysis.statistics import unit_deviations
from longhaul.libraries import hierarchy, stats


@dataclass(frozen=True)
class Components:
    """Principal components, in descending order of variance."""

    weights: np.ndarray
    """Weights of the responses; shape: components x responses.

    Each row is a unit vector, with the sign for which its entry of largest magnitude is positive.
    """
    scores: np.ndarray
    """Scores of the runs on the components; shape: runs x components."""
    deviations: np.ndarray
    """Standard deviation of the scores of each component."""

    @property
    def variance_shares(self) -> np.ndarray:
        """Each component's fraction of the total variance."""
        shares: np.ndarray = self.deviations**2 / (self.deviations**2).sum()
        return shares

    @property
    def deviation_shares(self) -> np.ndarray:
        """Standard deviation of each component divided by the sum over components.

        NIST SP 500-282, chapter 4, calls this the component's share of the variation.
        """
        shares: np.ndarray = self.deviations / self.deviations.sum()
        return shares


def standardised(responses: ArrayLike) -> np.ndarray:
    """Scale columns to mean 0 and sample standard deviation 1; a constant column becomes 0."""
    unit = unit_deviations(responses, axis=0)
    scaled: np.ndarray = unit * np.sqrt(len(unit) - 1)
    return scaled


def principal_components(responses: ArrayLike) -> Components:
    """Return the principal components of `responses`, from their correlation matrix.

    `responses` has shape runs x responses.
    """
    scaled = standardised(responses)
    _, singular, weights = np.linalg.svd(scaled, full_matrices=False)
    largest = np.take_along_axis(weights, np.abs(weights).argmax(axis=1)[:, None], axis=1)
    weights = weights * np.where(largest < 0, -1.0, 1.0)
    return Components(weights, scaled @ weights.T, singular / np.sqrt(len(scaled) - 1))


@dataclass(frozen=True)
class Cause:
    """A possible cause of a group of runs: a factor's most frequent level in the group."""

    factor: str
    level: object
    share: float
    """The fraction of the group's runs that have this level."""
    p: float
    """P-value of the chi-square test of independence between the groups and the factor's levels."""


def score_groups(scores: ArrayLike, count: int) -> np.ndarray:
    """Divide points into at most `count` groups by Ward's linkage; return their groups, from 1."""
    labels: np.ndarray = hierarchy.fcluster(
        hierarchy.linkage(np.asarray(scores, float), "ward"), count, "maxclust"
    )
    return labels


def causes(
    labels: Sequence[int], factors: Mapping[str, Sequence[object]]
) -> dict[int, list[Cause]]:
    """Return, for each group, the most frequent level of each factor, by decreasing frequency.

    `labels` holds the group number of each run, and `factors` the level of each run by factor.
    Factors with one level are left out. If there is only one group, its list is empty.
    """
    of_groups: dict[int, list[Cause]] = {int(group): [] for group in np.unique(labels)}
    for factor, given in factors.items():
        (_, names), table = stats.contingency.crosstab(labels, np.asarray(given, dtype=str))
        if min(table.shape) < 2:
            continue
        p = float(stats.chi2_contingency(table).pvalue)
        for found, row in zip(of_groups.values(), table, strict=True):
            top = int(row.argmax())
            found.append(Cause(factor, str(names[top]), float(row[top] / row.sum()), p))
    return {g: sorted(found, key=lambda c: (-c.share, c.p)) for g, found in of_groups.items()}
