"""Growth of cost with the size of the problem: `python -m validation.speed.scaling`.

The command measures the growth of the cost per packet with the number of flows at a constant total
rate (bound: 20 % per doubling), with access links of up to 10,000 flows, which do not fit into the
caches, and with 1 % scattered losses at a window of 100,000 packets (bound: twice the cost). It
also measures the growth of memory with simulated time.
"""

from __future__ import annotations

import argparse
from itertools import starmap
from typing import Any

from validation.experiments import dumbbell
from validation.speed.measure import in_process, in_turn, on_one_core, side_by_side

FLOWS = (8, 16, 32, 63, 125, 250, 500, 1000)
FEW_AND_MANY = (10, 1_000, 10_000)
DURATIONS_S = (50, 100, 200, 400)
WINDOW = 100_000
HUGE_S = 10


def main() -> None:
    """Measure how costs grow with flows, losses and simulated time, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12, help="runs of each (default: 12)")
    rounds = parser.parse_args().rounds
    _against_flows(rounds)
    _against_access_links(rounds)
    _against_loss(rounds)
    _against_time()


def many_flows(count: int) -> dict[str, Any]:
    """Return the scenario of `count` SACK flows that share a path of 1 Gbit/s and 100 ms RTT."""
    slow_start, start = {"max_ssthresh": 100}, {"uniform": ["0 s", "10 s"]}
    return {
        "title": f"{count} flows",
        "profile": "ns2-2.35",
        "duration": "60 s",
        "topology": dumbbell("1 Gbps", "50 ms"),
        "flows": [{"label": "sack", "count": count, "slow_start": slow_start, "start": start}],
    }


def ten_gigabit(count: int, access: bool) -> dict[str, Any]:
    """Return the scenario of `count` CUBIC flows that share a path of 10 Gbit/s and 100 ms RTT.

    With `access`, each flow has its own access link.
    """
    topology = dumbbell("10 Gbps", "48 ms" if access else "50 ms")
    if access:
        topology["dumbbell"]["access"] = {"rate": "1 Gbps", "delay": "1 ms"}
    congestion, start = {"kind": "cubic"}, {"uniform": ["0 s", "1 s"]}
    return {
        "title": f"{count} flows on 10 Gbit/s",
        "profile": "rfc",
        "duration": "20 s",
        "topology": topology,
        "flows": [{"label": "cubic", "count": count, "congestion": congestion, "start": start}],
    }


def huge_window(lossy: bool) -> dict[str, Any]:
    """Return the scenario of a flow on 13 Gbit/s with a window of 100,000 packets.

    The receiver limits the window. With `lossy`, one percent of the packets is lost: every fiftieth
    packet of every other window, so that retransmissions one round trip later are not lost. Losses
    hardly change the window.
    """
    arrivals = range(WINDOW, 11 * WINDOW * HUGE_S, 50)
    lost = [arrival for arrival in arrivals if arrival // WINDOW % 2 == 1]
    loss = {"loss": {"packets": lost}} if lossy else {}
    return {
        "title": "a window of 100,000 packets",
        "profile": "rfc",
        "duration": f"{HUGE_S} s",
        "topology": dumbbell("13 Gbps", "50 ms", "200000 packets", **loss),
        "flows": [
            {
                "label": "sack",
                "congestion": {"kind": "reno", "decrease": 1e-6},
                "tcp": {"receive_window": WINDOW, "initial_window": WINDOW},
            }
        ],
    }


def _against_flows(rounds: int) -> None:
    print("flows   ns per packet   against half as many")
    previous: float | None = None
    costs = on_one_core(map(many_flows, FLOWS), rounds, in_turn)
    for count, cost in zip(FLOWS, costs, strict=True):
        growth = f"{100 * (cost.ns_per_pkt / previous - 1):+.0f} %" if previous else ""
        print(f"{count:5} {cost.ns_per_pkt:15.1f} {growth:>22}", flush=True)
        previous = cost.ns_per_pkt


def _against_access_links(rounds: int) -> None:
    print("flows   ns per packet   with access links")
    cases = [(count, access) for count in FEW_AND_MANY for access in (False, True)]
    costs = on_one_core(starmap(ten_gigabit, cases), rounds, in_turn)
    cost = {case: cost.ns_per_pkt for case, cost in zip(cases, costs, strict=True)}
    for count in FEW_AND_MANY:
        print(f"{count:6,} {cost[count, False]:14.1f} {cost[count, True]:19.1f}", flush=True)


def _against_loss(rounds: int) -> None:
    print("loss   ns per packet   against none")
    scenarios = [huge_window(lossy=False), huge_window(lossy=True)]
    free, lossy = (cost.ns_per_pkt for cost in on_one_core(scenarios, rounds, side_by_side))
    print(f"0 % {free:16.1f}\n1 % {lossy:16.1f} {lossy / free:14.2f} times", flush=True)


def _against_time() -> None:
    print("simulated s  peak MiB")
    for duration_s in DURATIONS_S:
        scenario = many_flows(10) | {"duration": f"{duration_s} s"}
        with in_process(scenario) as run:
            print(f"{duration_s:11} {run().peak_mb:9.1f}", flush=True)


if __name__ == "__main__":
    main()
