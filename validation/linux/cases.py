"""The recorded cases, once: what they are in the terms of a scenario."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

SAMPLE_S = 0.01
"""Time between two samples of a sender, on both sides."""

SETTLED_S = 40
"""Means are over so much of the end of a run."""


class Path(NamedTuple):
    """A path of both networks: one link each way, without any others."""

    mbps: float
    rtt_s: float
    bdp_pkts: int


PATHS = {"s": Path(10, 0.04, 33), "b": Path(50, 0.1, 416)}


def _one_in_a_thousand() -> list[int]:
    draws = random.Random(1)  # the recorder's draws
    return [number for number in range(300_000) if draws.random() < 0.001]


@dataclass(frozen=True)
class Flow:
    """A connection from one end to the other."""

    algorithm: str
    start_s: float = 0.0
    size_bytes: int | None = None


@dataclass(frozen=True)
class Case:
    """A recorded run."""

    name: str
    limit_pkts: int
    duration_s: int
    flows: tuple[Flow, ...]
    drops: tuple[int, ...] = ()
    """Numbers of the packets that are lost on their way into the queue, from zero."""
    outage_s: tuple[int, int] | None = None
    mark_from_pkts: int | None = None
    """Packets that arrive to so many are marked."""
    receive_window_bytes: int | None = None
    """The largest window that the kernel advertised."""

    @property
    def path(self) -> Path:
        """The path by the first letter of the name."""
        return PATHS[self.name[0]]

    def scenario(self) -> dict[str, Any]:
        """The case as a scenario."""
        path = self.path
        link: dict[str, Any] = {
            "from": "sender",
            "to": "receiver",
            "name": "bottleneck",
            "rate": f"{path.mbps:g} Mbps",
            "delay": f"{path.rtt_s * 500:g} ms",
            "queue": self._queue(),
            "reverse": {"queue": {"kind": "droptail", "limit": "100000 packets"}},
        }
        if self.drops:
            # Here the first packet is the SYN.
            link["loss"] = {"packets": [number + 1 for number in self.drops]}
        if self.outage_s:
            begin, end = self.outage_s
            link["changes"] = [{"at": f"{begin} s", "loss": 1}, {"at": f"{end} s", "loss": 0}]
        tcp: dict[str, Any] = {}
        if self.mark_from_pkts:
            tcp["ecn"] = True
        if self.receive_window_bytes:
            tcp["receive_window"] = f"{self.receive_window_bytes} B"
        return {
            "title": self.name,
            "profile": "linux",
            "duration": f"{self.duration_s} s",
            "measure": {
                "from": f"{max(0, self.duration_s - SETTLED_S)} s",
                "every": f"{SAMPLE_S:g} s",
                "events": True,
            },
            "tcp": tcp,
            "topology": {"graph": {"nodes": ["sender", "receiver"], "links": [link]}},
            "flows": [_flow(flow) for flow in self.flows],
        }

    def _queue(self) -> dict[str, Any]:
        limit = f"{self.limit_pkts} packets"
        if self.mark_from_pkts is None:
            return {"kind": "droptail", "limit": limit}
        # A step: marked is what finds so many waiting.
        return {
            "kind": "red",
            "limit": limit,
            "min_th": f"{self.mark_from_pkts - 1} packets",
            "max_th": f"{self.mark_from_pkts} packets",
            "max_p": 1.0,
            "gentle": True,
            "weight": 1.0,
            "wait": False,
            "mark_p": "always",
            "ecn": True,
        }


def _flow(flow: Flow) -> dict[str, Any]:
    described: dict[str, Any] = {
        "label": flow.algorithm,
        "from": "sender",
        "to": "receiver",
        "start": f"{flow.start_s:g} s",
        "congestion": {"kind": flow.algorithm},
    }
    if flow.size_bytes is not None:
        described["transfer"] = f"{flow.size_bytes} B"
    return described


def cases() -> Iterator[Case]:
    """All cases: buffers, two flows, losses, outage, marks, a small window, completion times."""
    for letter, path in PATHS.items():
        buffers = {
            "025": path.bdp_pkts // 4,
            "1": path.bdp_pkts,
            "4": {"s": 133, "b": 1666}[letter],
        }
        for suffix, limit in buffers.items():
            for kind in ("reno", "cubic", "bbr"):
                yield Case(f"{letter}_{kind}_{suffix}", limit, 60, (Flow(kind),))
    for letter, path in PATHS.items():
        for other in ("reno", "bbr"):
            flows = (Flow("cubic"), Flow(other, 0.5))
            yield Case(f"{letter}_cubic_{other}", path.bdp_pkts, 60, flows)
    random_drops = tuple(_one_in_a_thousand())
    for kind in ("reno", "cubic", "bbr"):
        flow = (Flow(kind),)
        yield Case(f"b_{kind}_loss1", 1666, 15, flow, drops=(300,))
        yield Case(f"b_{kind}_loss3", 1666, 15, flow, drops=(300, 301, 302))
        yield Case(f"b_{kind}_random", 416, 60, flow, drops=random_drops)
        yield Case(f"s_{kind}_outage", 33, 30, flow, outage_s=(10, 12))
    for kind in ("reno", "cubic"):
        yield Case(f"b_{kind}_ecn", 416, 60, (Flow(kind),), mark_from_pkts=100)
    yield Case("b_cubic_rcvbuf", 416, 15, (Flow("cubic"),), receive_window_bytes=163_040)
    # Recorded with tcp_wmem of 4 MiB at most, in place of 32.
    yield Case("b_cubic_4_wmem", 1666, 60, (Flow("cubic"),))
    for letter, path in PATHS.items():
        for kind in ("reno", "cubic", "bbr"):
            for size in (100_000, 1_000_000, 10_000_000):
                flow = (Flow(kind, size_bytes=size),)
                yield Case(f"{letter}_{kind}_{size // 1000}k", path.bdp_pkts, 30, flow)
