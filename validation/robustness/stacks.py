"""Random scenarios with QUIC and TCP flows, drawn by seed, and their invariants.

Runs are longer and have more losses than those of `legal.py`, so handshakes fail, transfers
complete and connections are lost.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import longhaul
from validation.robustness import invariants

# Maximum packets of a scenario, since a packet of QUIC takes some microseconds.
MAX_PACKETS = 30_000
QUEUES = ("droptail", "red", "codel", "fq-codel", "pie", "cake", "dualpi2")
OWN = ("reno", "cubic", "hstcp", "bbr", "bbr3", "copa", "vegas")


def scenario(seed: int) -> str:
    """Return a random scenario as JSON."""
    source = random.Random(f"quic {seed}")
    rate_mbps = 10 ** source.uniform(-0.5, 2.0)
    rtt_ms = 10 ** source.uniform(0.5, 2.8)
    longest_s = MAX_PACKETS * 0.012 / rate_mbps
    duration_s = min(max(20.0, rtt_ms / 5), longest_s)
    link: dict[str, Any] = {
        "rate": f"{rate_mbps:.3f} Mbps",
        "delay": f"{rtt_ms / 2:.3f} ms",
        "queue": _queue(source),
        # A long drop-tail queue for the datagrams with acknowledgements.
        "reverse": {"queue": {"kind": "droptail", "limit": "1000 packets"}},
        **_impairments(source),
    }
    flows = [_quic(source, duration_s) for _ in range(source.randint(1, 3))]
    if source.random() < 0.7:
        flows.append({"congestion": {"kind": source.choice(("reno", "cubic", "bbr3"))}})
    if source.random() < 0.3:
        flows.append({"protocol": "udp", "rate": f"{rate_mbps / 10:.3f} Mbps", "packet": "500 B"})
    made = {
        "seed": seed + 1,
        "duration": f"{duration_s:.3f} s",
        "measure": {"from": f"{duration_s / 4:.3f} s", "events": True, "delays": True},
        "topology": {"dumbbell": {"bottleneck": link}},
        "flows": [{"label": f"f{number}", **flow} for number, flow in enumerate(flows)],
    }
    return json.dumps(made, indent=1)


def _queue(source: random.Random) -> dict[str, Any]:
    kind = source.choice(QUEUES)
    if kind in ("droptail", "red"):
        return {"kind": kind, "limit": f"{round(10 ** source.uniform(0.3, 3))} packets"}
    if kind in ("codel", "pie"):
        return {"kind": kind, "limit": "1000 packets", "ecn": source.random() < 0.7}
    return {"kind": kind, "limit": "1000 packets"} if kind == "dualpi2" else {"kind": kind}


def _impairments(source: random.Random) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if source.random() < 0.5:
        chosen["loss"] = {"bernoulli": source.choice((0.001, 0.02, 0.2))}
    if source.random() < 0.4:
        chosen["duplication"] = source.choice((0.001, 0.05))
    if source.random() < 0.4:
        chosen["reordering"] = {"probability": 0.02, "delay": f"{source.choice((1, 20))} ms"}
    return chosen


def _quic(source: random.Random, duration_s: float) -> dict[str, Any]:
    flow: dict[str, Any] = {"protocol": "quic", "count": source.randint(1, 2)}
    stack: dict[str, Any] = {
        "client": source.choice(("sender", "receiver")),
        "idle_timeout": source.choice(("2 s", "30 s", "never")),
        "ordered": source.random() < 0.3,
        "mtu": source.choice(("1200 B", "1452 B")),
    }
    if source.random() < 0.3:
        stack |= {"ack_frequency": source.randint(1, 20), "max_ack_delay": "10 ms"}
    if source.random() < 0.3:
        stack["window"] = f"{source.choice((0.5, 8))} BDP"
    if source.random() < 0.3:
        flow["congestion"] = {"kind": source.choice(OWN)}
    else:
        stack["congestion"] = source.choice(("cubic", "newreno", "bbr"))
    if source.random() < 0.5:
        flow["transfer"] = f"{source.choice((1, 50, 2000))} kB"
    if source.random() < 0.2:
        flow["stop"] = f"{duration_s / 2:.3f} s"
    if source.random() < 0.5:
        flow["start"] = {"uniform": ["0 s", f"{duration_s / 4:.3f} s"]}
    return flow | {"stack": stack}


def violations(run: longhaul.Results) -> Iterator[str]:
    """Yield a description of each invariant that a run violates.

    These are the invariants of all scenarios, and those of QUIC's datagrams.
    """
    yield from invariants.violations(run)
    groups = {group["label"]: group for group in run.scenario["flows"]}
    for flow in run.flows.to_dicts():
        group, name = groups[flow["label"]], flow["name"]
        if group["protocol"] != "quic":
            continue
        sent, dropped = flow["total_sent_pkts"], flow["total_dropped_pkts"]
        if flow["total_delivered_bytes"] > flow["total_sent_bytes"]:
            yield f"{name}: more bytes delivered than sent"
        if flow["finish_s"] is not None and flow["total_in_order_bytes"] == 0:
            yield f"{name}: finished without a byte"
        # A datagram of the handshake contains up to three packets.
        if flow["total_rtt_samples"] > sent + 20:
            yield f"{name}: {flow['total_rtt_samples']} round-trip samples of {sent} datagrams"
        copied = run.links["total_duplicated_pkts"].sum()
        if flow["total_delivered_pkts"] + dropped > sent + copied:
            yield f"{name}: {sent} sent and {copied} copied, but more delivered and dropped"
    link = run.links.row(0, named=True)
    sent = run.flows["total_sent_pkts"].sum() + link["total_duplicated_pkts"]
    only_quic = all(group["protocol"] == "quic" for group in groups.values())
    held_back = "reordering" in run.scenario["topology"]["dumbbell"]["bottleneck"]
    if only_quic and not held_back and sent != link["total_arrived_pkts"]:
        yield f"{sent} datagrams sent and copied, {link['total_arrived_pkts']} came to the link"
