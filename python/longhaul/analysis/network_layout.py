"""Layout of a network's nodes for drawing, with neighbours close together."""

from collections.abc import Mapping, Sequence

import numpy as np

from longhaul.libraries import graphs, sparse

# Maximum number of nodes in a plot: more cannot be distinguished.
MOST_NODES = 1200
# Layouts whose height is below this fraction of their width are not stretched vertically.
FLAT = 0.2


Place = tuple[float, float]


def spread(names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, Place]:
    """Return the position of each node of a graph, with coordinates from 0 to 1.

    Positions are found by stress majorisation.
    """
    if len(names) == 1:
        return {names[0]: (0.5, 0.5)}
    fitted = _fit(majorised(names, links)).tolist()
    return {name: (x, y) for name, (x, y) in zip(names, fitted, strict=True)}


def majorised(names: Sequence[str], links: Sequence[tuple[str, str]]) -> np.ndarray:
    """Return an array of points, a row per node, found by stress majorisation.

    The distance of two points approximates the number of links between the nodes. The points
    spread most along x. The initial layout is classical multidimensional scaling. Source: E.
    Gansner, Y. Koren and S. North, *Graph Drawing by Stress Majorization*, 2004.
    """
    count = len(names)
    places = {name: at for at, name in enumerate(names)}
    ends = np.array([(places[start], places[other]) for start, other in links], int).reshape(-1, 2)
    graph = sparse.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count))
    hops = graphs.shortest_path(graph, directed=False, unweighted=True)
    far = hops[np.isfinite(hops)].max() + 1
    hops = np.where(np.isfinite(hops), hops, far)
    points = _classical(hops)
    weights = 1.0 / np.maximum(hops, 1) ** 2
    np.fill_diagonal(weights, 0.0)
    for _ in range(200 if count <= 300 else 30):
        apart = points[:, None, :] - points[None, :, :]
        distances = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-9)
        pull = weights * hops / distances
        wanted = (weights @ points) + (pull[..., None] * apart).sum(1)
        points = wanted / weights.sum(1, keepdims=True)
    return _turned(points)


def around(
    backbone: Mapping[str, Place],
    above: Mapping[str, str],
) -> dict[str, Place]:
    """Return positions of backbone nodes, and of nodes attached to them, also through another node.

    `above` maps each attached node to the node that it is attached to. The nodes below a backbone
    node are placed in a circle around it, which is as large as the nearest other backbone node
    allows, but not above a radius of 0.16. The result is scaled to coordinates from 0 to 1.
    """
    roots = np.array(list(backbone.values()))
    apart = np.hypot(*(roots[:, None, :] - roots[None, :, :]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    nearest = dict(zip(backbone, apart.min(1), strict=True))
    below: dict[str, list[str]] = {}
    for name, root in above.items():
        below.setdefault(root, []).append(name)
    places = dict(backbone)
    for root, (x, y) in backbone.items():
        branches = below.get(root, [])
        room = min(0.46 * float(nearest[root]), 0.16)
        # The part of the circle that a branch gets is proportional to its number of leaves.
        sizes = [max(len(below.get(branch, [])), 1) for branch in branches]
        turn = 0.0
        for branch, size in zip(branches, sizes, strict=True):
            angle = 2 * np.pi * (turn + size / 2) / sum(sizes)
            leaves = below.get(branch, [])
            inner = room * (0.5 if leaves else 1.0)
            places[branch] = (x + inner * np.cos(angle), y + inner * np.sin(angle))
            for at, leaf in enumerate(leaves):
                own = 2 * np.pi * (turn + at + 0.5) / sum(sizes)
                places[leaf] = (x + room * np.cos(own), y + room * np.sin(own))
            turn += size
    fitted = _fit(np.array(list(places.values()))).tolist()
    return {name: (x, y) for name, (x, y) in zip(places, fitted, strict=True)}


def _classical(distances: np.ndarray) -> np.ndarray:
    """Return points in two dimensions by classical multidimensional scaling of their distances."""
    count = len(distances)
    centre = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    # Signs of eigenvectors are arbitrary: the entry of largest magnitude is made positive.
    top = vectors[:, [-1, -2]]
    signs = np.sign(top[np.abs(top).argmax(0), range(2)])
    points: np.ndarray = top * signs * np.sqrt(np.maximum(values[[-1, -2]], 1e-12))
    # If all nodes are on a line, symmetric nodes would coincide without this.
    jitter = np.sin(np.arange(count) * 2.4)[:, None] * 1e-3
    spread_out: np.ndarray = points + jitter * np.array([[0.0, 1.0]])
    return spread_out


def _turned(points: np.ndarray) -> np.ndarray:
    """Rotate and mirror points so that they spread most along x, and the first is upper left."""
    middle = points - points.mean(0)
    turned: np.ndarray = middle @ np.linalg.svd(middle, full_matrices=False)[2].T
    return turned * np.where(turned[0] > 0, -1.0, 1.0)


def _fit(points: np.ndarray) -> np.ndarray:
    """Rotate points, and scale them into the unit square."""
    turned = _turned(points)
    # Flat layouts, such as a path, are not stretched.
    spans = np.ptp(turned, axis=0)
    flat = spans[1] < FLAT * spans[0]
    scales = np.array([spans[0], spans[0] if flat else spans[1]])
    fitted: np.ndarray = (turned - turned.min(0) - spans / 2) / np.maximum(scales, 1e-9) + 0.5
    return fitted
