"""Diagrams of a study's networks, drawn from its scenarios."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from markupsafe import Markup, escape

from longhaul.campaign import Run
from longhaul.studies.experiments import Experiment
from longhaul.studies.study import Study

# Maximum number of diagrams.
MOST = 3
# In pixels: distance between nodes, height of a line of text, margin, and space on each side of
# a node's centre.
STEP, LINE, MARGIN, NODE = 190, 17, 14, 22
# Width of a letter in pixels, to reserve space for the text within an arrow.
LETTER = 6.6

DIRECTIONS = {"forward": (0, 1), "reverse": (1, 0)}


@dataclass(frozen=True)
class Group:
    """Flows with the same label and the same path in a diagram."""

    label: str
    count: int
    start: int
    end: int

    @property
    def text(self) -> str:
        """Label of the flows, preceded by their number if there are several."""
        return f"{self.count} {self.label}" if self.count > 1 else self.label


@dataclass(frozen=True)
class Network:
    """A network in a diagram: routers in a row, links between them, and flows over the links."""

    experiment: Experiment
    nodes: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]
    """Lines of text that the diagram shows at each link."""
    groups: tuple[Group, ...]
    proxies: tuple[tuple[int, int], ...]

    access: str
    """Description of the links between hosts and routers; may be empty."""

    @property
    def ways(self) -> set[tuple[str, int, int]]:
        """Label, first node and last node of each group of flows and each proxy."""
        flows = {(group.label, group.start, group.end) for group in self.groups}
        return flows | {("proxy", *proxy) for proxy in self.proxies}

    def is_part_of(self, other: "Network") -> bool:
        """Return true if the diagram of `other` shows this network too.

        `other` must have the same routers, and this network's flows (in any number) and proxies.
        """
        return self.nodes == other.nodes and self.ways <= other.ways


def pictures(study: Study, scale: str) -> list[tuple[str, Markup]]:
    """Return caption and diagram of up to three networks, of which none is part of another."""
    shown: list[Network] = []
    for network in _networks(study, scale):
        if not any(network.is_part_of(other) for other in shown):
            shown = [other for other in shown if not other.is_part_of(network)] + [network]
    return [(_caption(network), _picture(network)) for network in shown[:MOST]]


def _networks(study: Study, scale: str) -> Iterator[Network]:
    """Yield the network of the first run of each experiment: dumbbells and parking lots only."""
    for experiment in study.chosen():
        for run in islice(experiment.sweep(scale, 1).runs(), 1):
            if (network := _network(experiment, run)) is not None:
                yield network


def _caption(network: Network) -> str:
    axes = ", ".join(network.experiment.axes)
    varied = f"; varied: {axes}" if axes else ""
    return f"{network.experiment.name}: {network.experiment.title}{network.access}{varied}"


def _network(experiment: Experiment, run: Run) -> Network | None:
    scenario = run.scenario
    topology = scenario.get("topology", {})
    nodes: tuple[str, ...]
    if "dumbbell" in topology:
        routers, links = ["left", "right"], [topology["dumbbell"]["bottleneck"]]
        nodes = ("left", "right")
    elif "parking-lot" in topology:
        links = topology["parking-lot"]["hops"]
        routers = [f"router-{number}" for number in range(len(links) + 1)]
        nodes = tuple(f"R{number}" for number in range(len(links) + 1))
    else:
        return None
    (around,) = topology.values()
    behind = _speed(around.get("access", {}))
    access = f"; hosts behind {behind}" if behind else ""
    places = {name: place for place, name in enumerate(routers)}
    groups = _merged(_group(flows, len(links)) for flows in run.complete.get("flows", ()))
    proxies = [
        (places[proxy["start"]], places[proxy["end"]]) for proxy in scenario.get("proxies", ())
    ]
    texts = tuple(_texts(link) for link in links)
    return Network(experiment, nodes, texts, tuple(groups), tuple(proxies), access)


def _group(flows: Mapping[str, Any], hops: int) -> Group:
    """Return a group of flows for a diagram; `cross-1` to `cross-9` all belong to `cross`.

    Flows without a label, `cubic` and `cubic-group-2`, are one group too. `hops` is the number of
    links between routers.
    """
    label = re.sub(r"(-group)?-\d+$", "", flows["label"])
    ends = DIRECTIONS[flows.get("direction", "forward")]
    start, end = flows.get("path") or (hops * ends[0], hops * ends[1])
    return Group(label, int(flows.get("count", 1)), int(start), int(end))


def _merged(groups: Iterable[Group]) -> Iterator[Group]:
    counts: dict[tuple[str, int, int], int] = {}
    for group in groups:
        way = group.label, group.start, group.end
        counts[way] = counts.get(way, 0) + group.count
    yield from (
        Group(label, count, start, end) for (label, start, end), count in counts.items() if count
    )


def _speed(link: Mapping[str, Any]) -> str:
    """Return a link's rate, delay and base round trip as text, as far as they are given."""
    rate = re.sub(r"bps$", "bit/s", str(link.get("rate", "")))
    trip = f"base round trip {link['rtt']}" if "rtt" in link else ""
    return ", ".join(filter(None, (rate, str(link.get("delay", "")), trip)))


def _texts(link: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a link's lines of text in a diagram: rate and delay, queue discipline, queue limit."""
    queue = link.get("queue", {})
    words = _speed(link), str(queue.get("kind", "")), str(queue.get("limit") or "")
    return tuple(filter(None, words))


def _picture(network: Network) -> Markup:
    """Return a network's diagram: rightward flows above the routers, leftward flows below."""
    to_right = [group for group in network.groups if group.end > group.start]
    to_left = [group for group in network.groups if group.end < group.start]
    left = MARGIN + NODE
    width = 2 * left + STEP * (len(network.nodes) - 1)
    text_lines = max(len(texts) for texts in network.links)
    axis = MARGIN + LINE * (len(to_right) + 1) + LINE + NODE
    below = axis + LINE * (text_lines + 1)
    height = below + LINE * (len(to_left) + 1) + MARGIN
    xs = [left + STEP * place for place in range(len(network.nodes))]
    parts = [
        *_links(network, xs, axis),
        *(part for place, group in enumerate(to_right)
          for part in _flow(group, xs, MARGIN + LINE * (place + 1))),
        *(part for place, group in enumerate(to_left)
          for part in _flow(group, xs, below + LINE * (place + 1))),
    ]  # fmt: skip
    names = ", ".join(network.nodes)
    return Markup(
        f'<svg class="network" viewBox="0 0 {width} {height}" role="img" '
        f'style="max-width: {width * 1.15:.0f}px" aria-label="routers {escape(names)}">'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        f"</defs>{''.join(parts)}</svg>"
    )


def _links(network: Network, xs: Sequence[int], axis: int) -> Iterator[str]:
    for place, texts in enumerate(network.links):
        x, next_x = xs[place], xs[place + 1]
        split = any(place in range(*sorted(proxy)) for proxy in network.proxies)
        dashes = ' stroke-dasharray="7 4"' if split else ""
        yield f'<path d="M{x} {axis}H{next_x}" stroke="currentColor" stroke-width="2"{dashes}/>'
        lines = (*texts, "one connection") if split else texts
        for line, text in enumerate(lines):
            yield _text((x + next_x) / 2, axis + LINE * (line + 1), text, "middle")
    proxied = {node for proxy in network.proxies for node in proxy}
    for place, (x, name) in enumerate(zip(xs, network.nodes, strict=True)):
        yield f'<circle cx="{x}" cy="{axis}" r="{NODE - 4}" class="node"/>'
        yield _text(x, axis + 4, "proxy" if place in proxied else name, "middle")


def _flow(group: Group, xs: Sequence[int], y: int) -> Iterator[str]:
    """Yield the arrow of a group of flows, from its first to its last node, and its text.

    `xs` are the positions of all nodes.
    """
    start, end = xs[group.start], xs[group.end]
    middle, room = (start + end) / 2, 0.5 * LETTER * len(group.text) + 6
    towards = 1 if end > start else -1
    yield f'<path class="flow" d="M{start} {y - 4}H{middle - towards * room:.0f}"/>'
    yield (
        f'<path class="flow" marker-end="url(#head)" '
        f'd="M{middle + towards * room:.0f} {y - 4}H{end}"/>'
    )
    yield _text(middle, y, group.text, "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
