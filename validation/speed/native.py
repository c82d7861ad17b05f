"""Cost of each built-in algorithm relative to Reno: `python -m validation.speed.native`.

There are two workloads, with the default measurements of a run. In the first, four flows on a
dumbbell fill 622 Mbit/s and a queue of one bandwidth-delay product (case A5 of the comparison with
ns-2). Some algorithms hardly use this link: `lp`, `sync-mixreact` and `delay-gradient` yield to
their own queue, and `xcp` has no XCP router. Their cost per packet cannot be measured there,
because the start of a run costs more than all of their packets. The second workload is therefore a
path of 1 Tbit/s without queueing, with initial windows of 2,000 packets.

Each algorithm shares a core with Reno, so other load slows both equally. The cost is the processor
time per data packet. It includes the start of the run. If an algorithm sends few packets, its ratio
to Reno is therefore only an upper bound.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from longhaul.guide import catalogue
from validation.experiments import dumbbell
from validation.speed.measure import in_process, one_core, side_by_side

BASE = "reno"
TELLING = 0.05
"""Minimum ratio of an algorithm's data packets to Reno's for a comparison of costs per packet."""
OWN_STARTUP = ("bbr", "bbr3", "packet-pair")
"""Algorithms that require their own slow start."""
TABLES = {"increase": [[38, 1], [118, 2], [221, 3]], "decrease": [[38, 0.5], [83000, 0.1]]}


def a5(kind: str) -> dict[str, Any]:
    """Return the scenario of case A5 (622 Mbit/s, drop-tail queue) with the algorithm `kind`."""
    slow_start = {} if kind in OWN_STARTUP else {"slow_start": {"max_ssthresh": 100}}
    return _scenario(kind, "622 Mbps", "5183 packets", "40 s", slow_start)


def room(kind: str) -> dict[str, Any]:
    """Return the scenario of the second workload, which has no queueing, with algorithm `kind`.

    Its four flows are in congestion avoidance from the beginning.
    """
    tcp = {"initial_window": 2000, "initial_ssthresh": 2, "receive_window": 4000}
    return _scenario(kind, "1000 Gbps", "100000 packets", "20 s", {"tcp": tcp})


def _scenario(
    kind: str, rate: str, limit: str, duration: str, choices: dict[str, Any]
) -> dict[str, Any]:
    congestion = {"kind": kind} | (TABLES if kind == "table" else {})
    start = {"uniform": ["0 s", "1 s"]}
    flow = {"label": "a", "count": 4, "congestion": congestion, "start": start}
    return {
        "title": kind,
        "profile": "rfc",
        "duration": duration,
        "measure": {"every": "100 ms"},
        "topology": dumbbell(rate, "50 ms", limit),
        "flows": [flow | choices],
    }


def race(work: Callable[[str], dict[str, Any]], kind: str, rounds: int) -> tuple[int, str]:
    """Return the number of data packets sent with algorithm `kind`, and its relative cost as text.

    The relative cost is the processor time per data packet, divided by that with Reno. It is `-` if
    there are too few packets. `work` makes the scenario of an algorithm. Both runs share one core.
    """
    with one_core(), in_process(work(kind)) as subject, in_process(work(BASE)) as base:
        packets = subject().packets
        if packets < TELLING * base().packets:
            return packets, "-"
        measured, reference = side_by_side([subject, base], rounds)
    return packets, f"{measured.ns_per_pkt / reference.ns_per_pkt:.2f}"


def main() -> None:
    """Print each algorithm's data packets and cost relative to Reno, in both workloads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="*", help="only these algorithms")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: 5)")
    arguments = parser.parse_args()
    names = [str(algorithm["name"]) for algorithm in catalogue.LISTS["algorithms"]()]
    print(f"{'':16}{'A5: packets':>13}{'/ reno':>9}{'no queue: pkts':>15}{'/ reno':>9}")
    for kind in arguments.kind or names:
        on_a5, cost_on_a5 = race(a5, kind, arguments.rounds)
        in_room, cost_in_room = race(room, kind, arguments.rounds)
        print(f"{kind:16}{on_a5:>13,}{cost_on_a5:>9}{in_room:>15,}{cost_in_room:>9}", flush=True)


if __name__ == "__main__":
    main()
