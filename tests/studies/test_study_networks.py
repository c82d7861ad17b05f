"""Tests of a study's networks: read from scenarios, selected for the page, and drawn."""

from types import SimpleNamespace
from typing import Any

import pytest

from longhaul.campaign import Run
from longhaul.studies import set_up
from longhaul.studies.set_up import Group, Network

NODES = ("R0", "R1", "R2")
EXPERIMENT: Any = SimpleNamespace(name="E", title="Title", axes=("n", "queue"))


def read(scenario: dict[str, Any]) -> Network | None:
    run: Any = SimpleNamespace(scenario=scenario, complete=scenario)
    return set_up._network(EXPERIMENT, run)


def network(*groups: Group, proxies: tuple[tuple[int, int], ...] = (), access: str = "",
            nodes: tuple[str, ...] = NODES, experiment: Any = EXPERIMENT) -> Network:  # noqa: ANN401  # fmt: skip
    links = tuple((f"link {place}",) for place in range(len(nodes) - 1))
    return Network(experiment, nodes, links, groups, proxies, access)


def test_a_dumbbell_has_a_router_on_either_side() -> None:
    """Check the network of a dumbbell: routers at both ends of the bottleneck, groups of flows.

    Flows with equal names (`web` in `web-1`) and paths form a group. Empty groups are left out.
    """
    found = read(
        {
            "topology": {
                "dumbbell": {
                    "bottleneck": {
                        "rate": "10 Mbps",
                        "delay": "5 ms",
                        "queue": {"kind": "red", "limit": "1 BDP"},
                    },
                    "access": {"rate": "1 Gbps", "delay": "1 ms", "queue": {"limit": 50}},
                }
            },
            "flows": [
                {"label": "web-1", "count": 2},
                {"label": "web-12"},
                {"label": "web-2", "direction": "reverse", "count": 4},
                {"label": "none", "count": 0},
            ],
        }
    )
    assert found == Network(
        EXPERIMENT,
        ("left", "right"),
        (("10 Mbit/s, 5 ms", "red", "1 BDP"),),
        (Group("web", 3, 0, 1), Group("web", 4, 1, 0)),
        (),
        "; hosts behind 1 Gbit/s, 1 ms",
    )
    assert [group.text for group in found.groups] == ["3 web", "4 web"]


def test_flows_without_a_label_have_that_of_the_results() -> None:
    bottleneck = {"rate": "10 Mbps", "delay": "5 ms"}
    flows = [{"congestion": {"kind": kind}} for kind in ("cubic", "reno", "cubic")]
    scenario = {"duration": "1 s", "topology": {"dumbbell": {"bottleneck": bottleneck}},
                "flows": flows}  # fmt: skip
    found = set_up._network(EXPERIMENT, Run("E", {}, 0, scenario))
    assert found is not None
    assert [group.text for group in found.groups] == ["2 cubic", "reno"]


@pytest.mark.parametrize(
    ("access", "text"),
    [
        ({}, ""), ({"queue": {"kind": "red"}}, ""),
        ({"rtt": "80 ms"}, "; hosts behind base round trip 80 ms"),
        ({"rate": "1 Gbps", "rtt": "80 ms"}, "; hosts behind 1 Gbit/s, base round trip 80 ms"),
    ],
)  # fmt: skip
def test_hosts_are_described_by_what_is_given_of_their_links(
    access: dict[str, Any], text: str
) -> None:
    found = read({"topology": {"dumbbell": {"bottleneck": {}, "access": access}}})
    assert found is not None
    assert found.access == text


def test_a_parking_lot_has_routers_between_its_hops() -> None:
    """Check that a parking lot is drawn as a row of routers, with a link for each hop.

    Flows without `path` cross all hops; proxies are at the routers that the scenario names.
    """
    hops = [{"rate": "1 Mbps"}, {"delay": "2 ms"}]
    flows = [{"label": "all"}, {"label": "back", "direction": "reverse"},
             {"label": "one", "path": [1, 2]}]  # fmt: skip
    proxies = [{"start": "router-0", "end": "router-1"}]
    found = read({"topology": {"parking-lot": {"hops": hops}}, "flows": flows, "proxies": proxies})
    groups = (Group("all", 1, 0, 2), Group("back", 1, 2, 0), Group("one", 1, 1, 2))
    assert found == Network(
        EXPERIMENT, NODES, (("1 Mbit/s",), ("2 ms",)), groups, ((0, 1),), ""
    )  # fmt: skip
    assert found.ways == {("all", 0, 2), ("back", 2, 0), ("one", 1, 2), ("proxy", 0, 1)}


@pytest.mark.parametrize("scenario", [{}, {"topology": {"star": {}}}, {"mesonet": {}}])
def test_other_networks_have_no_picture(scenario: dict[str, Any]) -> None:
    assert read(scenario) is None


@pytest.mark.parametrize(
    ("link", "texts"),
    [
        ({"rate": "1 Mbps", "delay": "2 ms"}, ("1 Mbit/s, 2 ms",)),
        ({"delay": "2 ms", "queue": {"kind": "codel"}}, ("2 ms", "codel")),
        ({"queue": {"limit": 92}}, ("92",)), ({"queue": {"limit": 0}}, ()), ({}, ()),
    ],
)  # fmt: skip
def test_a_link_is_described_by_what_is_given_of_it(
    link: dict[str, Any], texts: tuple[str, ...]
) -> None:
    assert set_up._texts(link) == texts


FLOW, OTHER = Group("flow", 1, 0, 2), Group("other", 1, 1, 2)


@pytest.mark.parametrize(
    ("one", "whole", "is_part"),
    [
        (network(FLOW), network(FLOW, OTHER), True), (network(FLOW, OTHER), network(FLOW), False),
        # Networks with other paths, proxies or routers differ; the number of flows does not matter.
        (network(FLOW), network(Group("flow", 9, 0, 2)), True),
        (network(FLOW), network(Group("flow", 1, 2, 0), OTHER), False),
        (network(FLOW, proxies=((0, 1),)), network(FLOW, OTHER), False),
        (network(FLOW, nodes=("left", "right")), network(FLOW, OTHER), False),
    ],
)  # fmt: skip
def test_a_network_is_part_of_one_with_all_of_its_ways(
    one: Network, whole: Network, is_part: bool
) -> None:
    assert one.is_part_of(whole) == is_part


def lot(name: str, hops: int, *labels: str) -> Any:  # noqa: ANN401
    """Return an experiment of two runs: flows over a parking lot, and a run without network."""
    flows = [{"label": label} for label in labels]
    scenario = {"topology": {"parking-lot": {"hops": [{}] * hops}}, "flows": flows}
    runs = [SimpleNamespace(scenario=one, complete=one) for one in (scenario, {})]

    def sweep(scale: str, replications: int) -> Any:  # noqa: ANN401
        assert (scale, replications) == ("quick", 1)
        return SimpleNamespace(runs=lambda: iter(runs if hops else []))

    return SimpleNamespace(name=name, title="Title", axes=(), sweep=sweep)


@pytest.mark.parametrize(
    ("experiments", "drawn"),
    [
        ([lot("A", 1, "a"), lot("B", 2, "a"), lot("C", 0)], "AB"),
        # A network with more flows replaces smaller ones, at its later place.
        ([lot("A", 1, "a"), lot("B", 2, "a"), lot("C", 1, "a", "b"), lot("D", 1, "b")], "BC"),
        ([lot("A", 1, "a"), lot("B", 1, "a")], "A"),
        ([lot(name, hops, "a") for hops, name in enumerate("ABCDE", start=1)], "ABC"),
    ],
)
def test_the_first_three_networks_are_drawn(experiments: list[Any], drawn: str) -> None:
    study: Any = SimpleNamespace(chosen=lambda: experiments)
    pictures = set_up.pictures(study, "quick")
    assert [caption for caption, _ in pictures] == [f"{name}: Title" for name in drawn]


def test_a_caption_has_the_hosts_links_and_the_axes() -> None:
    captioned = network(FLOW, access="; hosts behind 1 ms")
    assert set_up._caption(captioned) == "E: Title; hosts behind 1 ms; varied: n, queue"


def test_a_picture_has_room_for_all_of_its_lines() -> None:
    """Check the height of a picture, which has room for all of its lines of text.

    There are two lines for flows above the routers, one of them empty, and three below.
    """
    back = Group("back", 2, 1, 0)
    picture = set_up._picture(network(Group("a", 1, 0, 1), back, back, nodes=("left", "right")))
    # Routers are 14 + 22 px from the edges and 190 px apart; lines of text are 17 px high.
    assert 'viewBox="0 0 262 186"' in picture
    assert 'style="max-width: 301px" aria-label="routers left, right"' in picture
    assert '<path d="M36 87H226" stroke="currentColor" stroke-width="2"/>' in picture
    assert '<circle cx="36" cy="87" r="18" class="node"/>' in picture
    assert '<text x="36" y="91" text-anchor="middle">left</text>' in picture
    assert '<text x="131" y="104" text-anchor="middle">link 0</text>' in picture
    # A text has half a letter and 6 px of room on either side.
    assert '<path class="flow" d="M36 27H122"/>' in picture
    assert '<path class="flow" marker-end="url(#head)" d="M140 27H226"/>' in picture
    assert '<text x="131" y="31" text-anchor="middle">a</text>' in picture
    for y in (138, 155):
        assert f'<path class="flow" d="M226 {y - 4}H157"/>' in picture
        assert f'd="M105 {y - 4}H36"/>' in picture
        assert f'<text x="131" y="{y}" text-anchor="middle">2 back</text>' in picture


@pytest.mark.parametrize("proxy", [(0, 1), (1, 0)])
def test_a_link_between_proxies_is_dashed(proxy: tuple[int, int]) -> None:
    """Check that the link between two proxies, which carries their connection, is dashed."""
    picture = set_up._picture(network(FLOW, proxies=(proxy,)))
    assert picture.count("stroke-dasharray") == 1
    assert '<path d="M36 87H226" stroke="currentColor" stroke-width="2" stroke-dash' in picture
    assert '<text x="131" y="121" text-anchor="middle">one connection</text>' in picture
    names = [f'<text x="{36 + 190 * place}" y="91" text-anchor="middle">{name}</text>'
             for place, name in enumerate(("proxy", "proxy", "R2"))]  # fmt: skip
    assert all(name in picture for name in names)


def test_names_in_pictures_are_escaped() -> None:
    picture = set_up._picture(network(Group("<a>", 1, 0, 1), nodes=("a&b", "c")))
    assert ">&lt;a&gt;</text>" in picture
    assert 'aria-label="routers a&amp;b, c"' in picture
