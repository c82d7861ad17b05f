"""Conversion of a scenario file to a fluid model.

The model supports long-lived TCP flows of the algorithms in `dynamics` over first-in first-out
queues with drop-tail or RED. For every other key of a scenario, link or flow, an error names the
key. Accepted keys include details that the model leaves out: kinds of slow start, parameters that
an algorithm's dynamics do not have, loss recovery, timeouts, delayed acknowledgements, access links
as bottlenecks, and the rate and queue of the reverse path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul import _engine
from longhaul._engine import LonghaulError
from longhaul.models.dynamics import MODELLED, of_algorithm
from longhaul.models.fluid import FlowClass, Model
from longhaul.models.marking import DropTail, FluidLink, Marking, Red

# Keys that the model uses, or leaves out as documented above.
OF_SCENARIOS = (
    "title", "description", "profile", "duration", "seed", "replication", "clock", "random",
    "measure", "topology", "flows",
)  # fmt: skip
OF_TOPOLOGIES = ("bottleneck", "hops", "access")
OF_LINKS = ("rate", "delay", "queue", "reverse")
OF_REVERSE_DIRECTIONS = ("rate", "delay", "queue")
OF_FLOWS = (
    "label", "count", "streams", "protocol", "packet", "start", "congestion", "slow_start",
    "recovery", "tcp", "access", "direction", "path", "trace_acks",
)  # fmt: skip

# Algorithms that are not in the registry, by the key that names them.
OWN = {
    "python": "an algorithm in Python",
    "external": "a controller in another process",
    "module": "a module of Linux",
}


class UnmodelledError(LonghaulError):
    """Error: a fluid model cannot represent a part of the scenario."""


@dataclass(frozen=True)
class Scene:
    """A fluid model, and the names that its classes of flows and links have in the scenario."""

    model: Model
    labels: Sequence[str]
    """Labels of the classes of flows, in the order of the model."""
    links: Sequence[str]
    duration_s: float
    measured_from_s: float


def fluid(scenario: _engine.Scenario) -> Scene:
    """Return the fluid model of a checked scenario.

    Raises:
        UnmodelledError: The model cannot represent some keys, all of which the message lists, or
            packets have several sizes.

    """
    resolved = json.loads(scenario.resolved_json())
    if reasons := list(_reasons(resolved)):
        raise UnmodelledError("the fluid model cannot represent " + "; ".join(reasons))
    packet_bits = {8.0 * _number(flow["packet"], "bytes") for flow in resolved["flows"]}
    if len(packet_bits) > 1:
        raise UnmodelledError("the fluid model cannot represent packets of several sizes")
    network = _Network(resolved["topology"], packet_bits.pop())
    return Scene(
        Model(network.links, [network.flows(flow) for flow in resolved["flows"]]),
        [flow["label"] for flow in resolved["flows"]],
        network.names,
        scenario.duration_s,
        _engine.seconds(resolved["measure"]["from"]),
    )


def _reasons(resolved: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text for each part of a resolved scenario that the model cannot represent."""
    yield from _unknown(resolved, OF_SCENARIOS)
    if "topology" not in resolved:
        return
    kind, topology = next(iter(resolved["topology"].items()))
    if kind == "graph":
        yield "`topology.graph` (dumbbells and parking lots alone)"
        return
    yield from _unknown(topology, OF_TOPOLOGIES, f"topology.{kind}.")
    for place, link in _links(kind, topology):
        place = f"topology.{place}"
        yield from _unknown(link, OF_LINKS, f"{place}.")
        yield from _unknown(link["reverse"], OF_REVERSE_DIRECTIONS, f"{place}.reverse.")
        queue = link["queue"]
        if queue["kind"] not in ("droptail", "red"):
            yield f"`{queue['kind']}` queues (droptail and red alone)"
        elif queue.get("adaptive") or queue.get("in_bytes"):
            yield f"adaptive RED, or RED in bytes (`{place}.queue`)"
        elif queue.get("gentle") == "frozen" or queue.get("drop") == "head":
            yield f'`gentle = "frozen"` or head drop (`{place}.queue`)'
    for number, flow in enumerate(resolved["flows"]):
        place = f"flows.{number}"
        yield from _unknown(flow, OF_FLOWS, f"{place}.")
        if flow["protocol"] != "tcp":
            yield f"{flow['protocol'].upper()} (`{place}`)"
            continue
        congestion = flow["congestion"]
        if congestion.get("kind") not in MODELLED:
            name = congestion.get("kind") or next(OWN[key] for key in OWN if key in congestion)
            yield f"{name} (`{place}.congestion`; there are models of {', '.join(MODELLED)})"
        elif (
            congestion["variant"] not in ("paper", WHOLE_SEGMENTS) and congestion["kind"] != "reno"
        ):
            yield f"the variant {congestion['variant']} of {congestion['kind']}"
        if flow.get("direction") == "reverse":
            yield f"flows in the other direction (`{place}`)"


def _unknown(table: Mapping[str, Any], known: Sequence[str], before: str = "") -> Iterator[str]:
    """Yield the dotted paths of keys that are not in `known`; `before` precedes each path."""
    return (f"`{before}{key}`" for key in table if key not in known)


def _links(kind: str, topology: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    if kind == "dumbbell":
        return [("dumbbell.bottleneck", topology["bottleneck"])]
    return [(f"parking-lot.hops.{n}", hop) for n, hop in enumerate(topology["hops"])]


# Variant of algorithms in Linux 6.18, which a model of means represents except for whole segments.
WHOLE_SEGMENTS = "linux-6.18"


class _Network:
    """The links of a model by number, and its classes of flows."""

    def __init__(self, topology: Mapping[str, Any], packet_bits: float) -> None:
        ((self.kind, self.topology),) = topology.items()
        links = [link for _, link in _links(self.kind, self.topology)]
        many = len(links) > 1 or self.kind != "dumbbell"
        self.names = [f"hop-{n}" for n in range(len(links))] if many else ["bottleneck"]
        self.rtts_s = [_rtt_s(link) for link in links]
        self.links = [_link(link, packet_bits) for link in links]

    def flows(self, flow: Mapping[str, Any]) -> FlowClass:
        """Return the fluid model of `flow`, a group in the scenario."""
        first, last = flow.get("path", [0, len(self.links)])
        path = range(first, last)
        access = flow.get("access") or self.topology.get("access") or {}
        ends = 2.0 if access.get("at") == "both" else 1.0
        own_s = ends * _engine.seconds(access["delay"]) if "delay" in access else 0.0
        rtt_s = sum(self.rtts_s[k] for k in path) + 2.0 * own_s
        full_s = sum(self.links[k].buffer_pkts / self.links[k].capacity_pps for k in path)
        congestion = flow["congestion"]
        dynamics = of_algorithm(congestion["kind"], rtt_s, full_s, _numbers(congestion))
        tcp = flow["tcp"]
        return FlowClass(
            flow["count"] * flow["streams"],
            rtt_s,
            dynamics,
            path,
            float(tcp["initial_window"]),
            slow_start=True,
            ssthresh_pkts=float(tcp["initial_ssthresh"]),
            start_s=_start_s(flow["start"]),
        )


def _rtt_s(link: Mapping[str, Any]) -> float:
    """Return the sum of a link's delays in both directions, in seconds."""
    there = link["delay"]
    return _engine.seconds(there) + _engine.seconds(link["reverse"].get("delay", there))


def _link(link: Mapping[str, Any], packet_bits: float) -> FluidLink:
    queue = link["queue"]
    capacity = _engine.bits_per_second(link["rate"]) / packet_bits
    if "packets" in queue["limit"]:
        buffer = _number(queue["limit"], "packets")
    else:
        buffer = 8.0 * _number(queue["limit"], "bytes") / packet_bits
    return FluidLink(capacity, buffer, _marking(queue))


def _marking(queue: Mapping[str, Any]) -> Marking:
    if queue["kind"] == "droptail":
        return DropTail()
    return Red(
        _number(queue["min_th"], "packets"),
        _number(queue["max_th"], "packets"),
        queue["max_p"],
        queue["weight"],
        gentle=bool(queue["gentle"]),
        spacing=2.0 / 3.0 if queue["wait"] else 2.0,
    )


def _start_s(start: Any) -> float:  # noqa: ANN401
    """Return the mean start time of flows, in seconds."""
    if isinstance(start, Mapping):
        low, high = start["uniform"]
        return (_engine.seconds(low) + _engine.seconds(high)) / 2.0
    if isinstance(start, list):
        return sum(_engine.seconds(time) for time in start) / len(start)
    return _engine.seconds(start)


def _numbers(congestion: Mapping[str, Any]) -> dict[str, float]:
    """Return the numeric parameters of an algorithm by name; times are in seconds."""
    numbers = {}
    for name, value in congestion.items():
        if isinstance(value, (int, float)):
            numbers[name] = float(value)
        elif name not in ("kind", "variant"):
            numbers[name] = _engine.seconds(value)
    return numbers


BYTES = {
    "B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def _number(text: str, unit: str) -> float:
    """Return the number in a size: of packets, as in `100 packets`, or otherwise of bytes.

    The text must be in packets if `unit` is `packets`; this is not checked.
    """
    number, written = re.fullmatch(r"([\d.e+-]+) (\w+)", text).groups()  # type: ignore[union-attr]
    return float(number) * (1.0 if unit == "packets" else BYTES[written])
