"""Hierarchical clustering of competitors by all their responses, separately for each condition.

Clustering uses average linkage over Euclidean distances of responses, each divided by its standard
deviation. Each subtree that joins below 70 % of the largest height has its own colour (Mills et al.
2010, NIST SP 500-282, chapter 6).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from longhaul.libraries import distances, hierarchy

CUT = 0.7


@dataclass(frozen=True)
class Dendrogram:
    """Hierarchical clustering of the competitors in one condition."""

    merges: np.ndarray
    """Linkage matrix in the format of `scipy.cluster.hierarchy.linkage`."""
    labels: np.ndarray
    """Number of each competitor's cluster, from 1; clusters are the subtrees below the cut."""
    distinctive: tuple[int, ...]
    """Indices of a minority that joins the other competitors in the last merge; may be empty."""
    responses: int
    """Number of responses used; responses that are equal for all competitors are left out."""

    @property
    def height(self) -> float:
        """The largest distance at which clusters join; 0 if all competitors are equal."""
        return float(self.merges[-1, 2])


def dendrogram(responses: ArrayLike, cut: float = CUT) -> Dendrogram:
    """Cluster competitors by their responses; `responses` has shape competitors x responses.

    Clusters are the subtrees that join below the fraction `cut` of the largest height. Responses
    that are equal for all competitors are left out. The last merge joins two
    sides. The smaller one is distinctive if the larger one is a single cluster.
    """
    given = np.asarray(responses, float)
    variance = given.var(axis=0, ddof=1)
    varies = variance > 1e-24 * np.maximum((given**2).max(axis=0), 1e-300)
    distance = (
        distances.pdist(given[:, varies], "seuclidean", V=variance[varies])
        if varies.any()
        else np.zeros(len(given) * (len(given) - 1) // 2)
    )
    merges = hierarchy.linkage(distance, method="average")
    top = float(merges[-1, 2])
    flat = top == 0.0
    labels = np.ones(len(given), int)
    if not flat:
        labels = hierarchy.fcluster(merges, np.nextafter(cut * top, 0.0), criterion="distance")
    return Dendrogram(merges, labels, () if flat else _distinctive(merges, cut), int(varies.sum()))


def _distinctive(merges: np.ndarray, cut: float) -> tuple[int, ...]:
    tree = hierarchy.to_tree(merges)
    sides = sorted((tree.get_left(), tree.get_right()), key=lambda side: int(side.get_count()))
    few, many = sides
    if few.get_count() == many.get_count() or many.dist >= cut * tree.dist:
        return ()
    return tuple(sorted(few.pre_order()))
