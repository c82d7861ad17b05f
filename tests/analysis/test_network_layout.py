"""Layouts of networks: distances in proportion to numbers of links, branches around their root."""

import numpy as np
import pytest

from longhaul.analysis.network_layout import around, majorised, spread

PATH = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]


def distances(points: np.ndarray) -> np.ndarray:
    apart: np.ndarray = points[:, None, :] - points[None, :, :]
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


def test_neighbours_are_drawn_nearer_than_others() -> None:
    names = ["a", "b", "c", "d", "e"]
    places = spread(names, PATH)
    along = sorted(names, key=lambda name: places[name])
    assert along in (names, names[::-1])


def test_path_lies_on_its_side() -> None:
    places = spread(["a", "b", "c", "d"], PATH[:3])
    assert {round(y, 1) for _, y in places.values()} == {0.5}
    assert sorted(x for x, _ in places.values())[::3] == pytest.approx([0.0, 1.0])
    # Its first node is on the left.
    assert places["a"][0] == pytest.approx(0.0)


def test_a_single_node_is_in_the_middle() -> None:
    assert spread(["a"], []) == {"a": (0.5, 0.5)}


def test_what_is_not_flat_fills_the_square() -> None:
    """Check that a layout that is not a line fills a square: a ring of four is as high as wide."""
    ring = np.array(list(spread(list("abcd"), [*PATH[:3], ("d", "a")]).values()))
    assert ring.min(0) == pytest.approx([0, 0])
    assert ring.max(0) == pytest.approx([1, 1])


def test_distances_are_numbers_of_links_where_a_plane_has_room() -> None:
    """Check that the distance of two nodes is the number of links between them.

    A plane permits this for a path and a triangle: stress 0 (Gansner, Koren and North 2004).
    """
    path = distances(majorised(list("abcde"), PATH))
    assert path == pytest.approx(np.abs(np.subtract.outer(range(5), range(5))), abs=0.01)
    triangle = distances(majorised(list("abc"), [("a", "b"), ("b", "c"), ("c", "a")]))
    assert triangle == pytest.approx(1 - np.eye(3), abs=0.01)


def test_parts_without_a_link_are_one_farther_than_the_longest_way() -> None:
    apart = distances(majorised(["a", "b"], []))
    assert apart[0, 1] == pytest.approx(1, abs=0.01)
    apart = distances(majorised(list("abc"), [("a", "b")]))
    assert apart[0] == pytest.approx([0, 1, 2], abs=0.3)


def test_the_longest_way_is_across_and_the_first_node_to_the_left() -> None:
    points = majorised(list("abcde"), [("b", "c"), ("c", "d"), ("d", "e"), ("a", "e")])
    assert points.mean(0) == pytest.approx([0, 0])
    assert np.ptp(points[:, 0]) > np.ptp(points[:, 1])
    assert points[0, 0] < 0


def test_branches_stay_with_their_root() -> None:
    roots = {"A": (0.0, 0.0), "B": (1.0, 0.0)}
    above = {"A1": "A", "A1a": "A1", "A1b": "A1", "B1": "B", "B2": "B"}
    places = around(roots, above)
    for name in above:
        near = min(roots, key=lambda root: np.hypot(*np.subtract(places[name], places[root])))
        assert near == name[0]


@pytest.mark.parametrize(("gap", "room"), [(0.2, 0.46 * 0.2), (1.0, 0.16)])
def test_a_circle_is_as_large_as_the_nearest_root_allows(gap: float, room: float) -> None:
    """Check a leaf's distance from its root: 0.46 times the gap between roots, at most 0.16."""
    places = around({"A": (0.0, 0.0), "B": (gap, 0.0)}, {"A1": "A", "B1": "B"})
    across = {name: x for name, (x, _) in places.items()}
    assert {y for _, y in places.values()} == {0.5}
    scale = (across["B"] - across["A"]) / gap
    assert across["A"] - across["A1"] == pytest.approx(scale * room)
    assert across["B"] - across["B1"] == pytest.approx(scale * room)


def test_branches_have_as_much_of_the_circle_as_they_have_leaves() -> None:
    """Check that branches get parts of the circle in proportion to their leaves.

    The branch b with two leaves gets half of the circle, c and d a quarter each. Lengths along a
    line are compared, because a layout may be turned and stretched.
    """
    above = {"b": "A", "b1": "b", "b2": "b", "c": "A", "c1": "c", "d": "A"}
    places = around({"A": (0.0, 0.0), "B": (9.0, 0.0)}, above)
    at = {name: np.array(place) for name, place in places.items()}
    # A branch lies at half the radius; the midpoint of two leaves is at cos 45° of the radius.
    assert at["c"] - at["A"] == pytest.approx((at["c1"] - at["A"]) / 2)
    middle = (at["b1"] + at["b2"]) / 2
    assert at["b"] - at["A"] == pytest.approx((middle - at["A"]) / np.sqrt(2))
    # A branch without leaves lies on the circle. Two quarters separate b2 from d, and b1 from c1.
    assert at["b2"] - at["A"] == pytest.approx(at["A"] - at["d"])
    assert at["b1"] - at["A"] == pytest.approx(at["A"] - at["c1"])
