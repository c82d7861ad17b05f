"""A case of the comparison with Linux, described for the simulator and for the recorder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

SAMPLE_S = 0.01
"""Interval in seconds at which senders sample, in recordings and in simulations."""

SETTLED_S = 40
"""Seconds at the end of a run over which mean values are taken."""


class Path(NamedTuple):
    """A path with one link in each direction; `rtt_s` is without queueing."""

    mbps: float
    rtt_s: float
    bdp_pkts: int


PATHS = {
    "s": Path(10, 0.04, 33),
    "b": Path(50, 0.1, 416),
    "l": Path(20, 0.2, 333),
    "f": Path(100, 0.04, 333),
}

LARGE_BUFFERS = {"tcp_wmem": "4096 16384 33554432"}
"""Kernel setting for send buffers that are large enough never to limit the sender."""


@dataclass(frozen=True)
class Writes:
    """An application that writes `size_bytes` every `every_s` seconds, first after one interval."""

    size_bytes: int
    every_s: float


class Reordering(NamedTuple):
    """Random reordering: each packet is delayed by `delay_s` with a given probability.

    The delay is added before the queue, so that later packets can overtake.
    """

    probability: float
    delay_s: float


@dataclass(frozen=True)
class Flow:
    """A connection from the sending to the receiving host."""

    algorithm: str
    start_s: float = 0.0
    size_bytes: int | None = None
    """Number of bytes to send; None for unlimited data, or for data from `writes`."""
    writes: Writes | None = None


@dataclass(frozen=True)
class Case:
    """A run that is recorded with the kernel and simulated for comparison."""

    name: str
    limit_pkts: int
    """Length of the bottleneck's buffer in packets."""
    duration_s: int
    flows: tuple[Flow, ...]
    drops: tuple[int, ...] = ()
    """Numbers, from 0, of the data packets that are lost before they reach the queue."""
    outage_s: tuple[int, int] | None = None
    """Begin and end of an outage in s, in which all packets are lost; None without an outage."""
    mark_from_pkts: int | None = None
    """Queue length in packets from which arriving packets are ECN-marked; None without marks."""
    receive_window_bytes: int | None = None
    """Largest window in bytes that the kernel's receiver advertised; None for no limit."""
    receive_buffer_bytes: int | None = None
    """Socket option SO_RCVBUF of the receivers in recordings; None if it is not set."""
    reordering: Reordering | None = None
    sysctls: Mapping[str, str] = field(default_factory=lambda: LARGE_BUFFERS)
    """Kernel settings below `net.ipv4` in recordings; `all_sysctls` adds further settings."""

    @property
    def path(self) -> Path:
        """Network path of the case, which the first letter of its name selects from `PATHS`."""
        return PATHS[self.name[0]]

    def scenario(self) -> dict[str, Any]:
        """Return the scenario that simulates the case."""
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
            # In a simulation the first packet is the SYN.
            link["loss"] = {"packets": [number + 1 for number in self.drops]}
        if self.outage_s:
            begin, end = self.outage_s
            link["changes"] = [{"at": f"{begin} s", "loss": 1}, {"at": f"{end} s", "loss": 0}]
        if self.reordering:
            probability, delay_s = self.reordering
            link["reordering"] = {"probability": probability, "delay": f"{delay_s} s"}
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
            "flows": [_flow(number, flow) for number, flow in enumerate(self.flows)],
        }

    @property
    def all_sysctls(self) -> dict[str, str]:
        """All kernel settings below `net.ipv4` that are set for a recording of the case."""
        ecn = {"tcp_ecn": "1"} if self.mark_from_pkts else {}
        return {"tcp_no_metrics_save": "1"} | ecn | dict(self.sysctls)

    def emulated(self, run: int) -> dict[str, Any]:
        """Return the scenario of the emulated path; `run` is the seed of its random numbers."""
        scenario = self.scenario()
        (link,) = scenario["topology"]["graph"]["links"]
        if self.drops:
            # In an emulation the SYN and the handshake's final ACK come first.
            link["loss"] = {"packets": [number + 2 for number in self.drops]}
        measure = {"from": "0 s", "every": "100 ms"}
        # The emulation runs longer than the case, since programs take time to start and end.
        duration = f"{self.duration_s + 30} s"
        return scenario | {"seed": run, "measure": measure, "duration": duration}

    def for_applications(self) -> dict[str, Any]:
        """Return the case in the form that the programs in the hosts read (`applications.py`)."""
        return {
            "name": self.name,
            "duration_s": self.duration_s,
            "sample_s": SAMPLE_S,
            "flows": [asdict(flow) for flow in self.flows],
            "receive_buffer_bytes": self.receive_buffer_bytes,
        }

    def _queue(self) -> dict[str, Any]:
        limit = f"{self.limit_pkts} packets"
        if self.mark_from_pkts is None:
            return {"kind": "droptail", "limit": limit}
        # A step function: packets are marked if the queue has at least `mark_from_pkts` on arrival.
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


def _flow(number: int, flow: Flow) -> dict[str, Any]:
    described: dict[str, Any] = {
        "label": f"{flow.algorithm}-{number}",
        "from": "sender",
        "to": "receiver",
        "start": f"{flow.start_s:g} s",
        "congestion": {"kind": flow.algorithm},
    }
    if flow.size_bytes is not None:
        described["transfer"] = f"{flow.size_bytes} B"
    if flow.writes:
        size, every = flow.writes.size_bytes, flow.writes.every_s
        described["traffic"] = {
            "kind": "on-off",
            "on": f"{every} s",
            "off": "0 s",
            "message": f"{size} B",
            "rate": f"{size * 8 / every} bps",
        }
    return described
