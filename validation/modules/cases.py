"""Cases of the comparison with kernel modules: path, losses and competing flow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SETTLED_S = 80
"""Seconds at the end of a run over which means are taken; two thirds of a shorter run."""


@dataclass(frozen=True)
class Case:
    """Conditions under which one flow is simulated, with a module and with our algorithm."""

    name: str
    about: str
    rate: str = "50 Mbps"
    bdp: float = 1.0
    """Length of the drop-tail buffer in bandwidth-delay products."""
    link: dict[str, Any] = field(default_factory=dict)
    """Further keys of the bottleneck."""
    company: str | None = None
    """Algorithm of a second flow, or `same` for that of the first flow; None without a second."""
    writes_bps: int | None = None
    """Mean rate in bit/s of an application that writes twice a second; None for unlimited data."""
    duration_s: int = 120

    @property
    def settled_s(self) -> int:
        """Seconds at the end of the run over which means are taken."""
        return min(SETTLED_S, self.duration_s * 2 // 3)

    def scenario(self, congestion: dict[str, Any]) -> dict[str, Any]:
        """Return the scenario; `congestion` is the table of the first flow's algorithm."""
        queue = {"kind": "droptail", "limit": f"{self.bdp} BDP"}
        bottleneck = {"rate": self.rate, "delay": "50 ms", "queue": queue, **self.link}
        flow: dict[str, Any] = {"label": "flow", "congestion": congestion}
        if self.writes_bps:
            flow["traffic"] = {
                "kind": "on-off",
                "on": "500 ms",
                "off": "0 s",
                "message": f"{self.writes_bps // 16} B",
                "rate": f"{self.writes_bps} bps",
            }
        flows = [flow]
        if self.company:
            other = congestion if self.company == "same" else {"kind": self.company}
            flows.append({"label": "other", "congestion": other, "start": "5 s"})
        # DCTCP itself requests that receivers echo every mark.
        asks = any("dctcp" in str(value) for value in congestion.values())
        ecn = bottleneck["queue"]["kind"] == "codel" and not asks
        return {
            "profile": "linux",
            "duration": f"{self.duration_s} s",
            "measure": {
                "from": f"{self.duration_s - self.settled_s} s",
                "every": "50 ms",
                "events": True,
            },
            "tcp": {"ecn": True} if ecn else {},
            "topology": {"dumbbell": {"bottleneck": bottleneck}},
            "flows": flows,
        }


CASES = (
    Case("quarter", "buffer of 1/4 BDP", bdp=0.25),
    Case("one", "buffer of 1 BDP"),
    Case("four", "buffer of 4 BDP", bdp=4.0, duration_s=240),
    Case("fast", "1 Gbit/s", rate="1 Gbps", duration_s=60),
    Case("loss4", "random losses with probability 1e-4", link={"loss": {"bernoulli": 1e-4}}),
    Case("loss3", "random losses with probability 1e-3", link={"loss": {"bernoulli": 1e-3}}),
    Case(
        "codel",
        "CoDel that marks (ECN), limit of 4 BDP",
        link={"queue": {"kind": "codel", "limit": "4 BDP", "ecn": True}},
    ),
    Case("two", "a second flow of the same algorithm starts after 5 s", company="same"),
    Case("cubic", "a second flow with our CUBIC starts after 5 s", company="cubic"),
    Case(
        "limited",
        "the application writes every 500 ms, 10 Mbit/s on average",
        writes_bps=10_000_000,
    ),
)
