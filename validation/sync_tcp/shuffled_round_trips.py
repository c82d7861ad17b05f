"""Dependence of Sync-TCP(Pcwnd)'s utilisation on the RTTs of other flows, in experiment FTP-MB.

The dissertation prints a utilisation of 50.88 % over several bottlenecks (Table 4.6), but neither
start times nor RTTs of the reverse and cross flows. This script starts all flows together. It
simulates RUNS runs with our study's RTTs, and as many with shuffled RTTs of reverse and cross
flows. It prints the mean utilisation by the number of measured flows that had a queueing delay
above 190 ms. In Table 4.8 there are 11 such flows.

python validation/sync_tcp/shuffled_round_trips.py [RUNS]    (default: 100)
"""

import random
import sys
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import numpy as np

import longhaul
from longhaul.studies.study import find

STUDY = find("sync-tcp-2003")
ABOVE_MS = 190.0


def main(runs: int) -> None:
    """Simulate `runs` runs with the study's RTTs, and as many with shuffled RTTs; print reports."""
    draw = random.Random(5)
    cell = STUDY.cell("FTP-MB", {"protocol": "pcwnd"})
    for shuffles in (False, True):
        results = []
        for number in range(runs):
            scenario = together({**deepcopy(cell.scenario), "replication": number})
            if shuffles:
                shuffle(scenario["flows"], draw)
            results.append(figures(scenario))
        report("shuffled" if shuffles else "as in the study", results)


def together(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario with all flows started within the first millisecond.

    The run lasts 300 s and is measured from its start. `scenario` is changed, too.
    """
    for flow in scenario["flows"]:
        flow["start"] = {"uniform": ["0 s", "1 ms"]}
    del scenario["measure"]["from"]
    return {**scenario, "duration": "300 s"}


def shuffle(flows: list[dict[str, Any]], draw: random.Random) -> None:
    """Permute the RTTs of the twenty reverse flows, and draw the RTTs of the cross flows.

    Ten cross flows share a hop and direction. Their RTTs are drawn from those of the reverse flows,
    and are 8 ms shorter.
    """
    reverse = [flow for flow in flows if flow["label"].startswith("reverse-")]
    round_trips = [float(flow["rtt"].split()[0]) for flow in reverse]
    draw.shuffle(round_trips)
    for flow, rtt in zip(reverse, round_trips, strict=True):
        flow["rtt"] = f"{rtt} ms"
    for way in ("cross-1-", "cross-1-back-", "cross-3-", "cross-3-back-"):
        labels = [f"{way}{number}" for number in range(1, 11)]
        cross = [flow for flow in flows if flow["label"] in labels]
        for flow, rtt in zip(cross, draw.sample(round_trips, len(cross)), strict=True):
            # A cross flow passes three links of 1 ms in each direction, a reverse flow seven.
            flow["rtt"] = f"{rtt - 8:.2f} ms"


def figures(scenario: dict[str, Any]) -> tuple[float, int]:
    """Simulate a scenario; return the utilisation of link `hop-4`, and a number of flows.

    The utilisation is in percent. The flows are those with a queueing delay above `ABOVE_MS`.
    """
    run = longhaul.run(scenario)
    kept = STUDY.reduction(STUDY.experiments["FTP-MB"]).reducer(run)
    (last,) = (link for link in kept["links"] if link["name"] == "hop-4")
    above = sum(1e3 * flow["largest_queueing_delay"] > ABOVE_MS for flow in kept["detectors"])
    return 800.0 * last["departed_bytes"] / last["rate_bps"] / kept["run"]["simulated_s"], above


def report(title: str, results: Iterable[tuple[float, int]]) -> None:
    """Print quantiles of the utilisation, and its mean by the number of flows with long delays."""
    utilisation, above = map(np.array, zip(*results, strict=True))
    quantiles = np.quantile(utilisation, (0.05, 0.25, 0.5, 0.75, 0.95)).round(1)
    correlation = np.corrcoef(utilisation, above)[0, 1]
    share = np.mean(utilisation >= 50.88)
    print(f"\n{title}: {len(above)} runs")
    print(f"utilisation 5, 25, 50, 75, 95 %: {quantiles}; at least 50.88 % in {share:.0%}")
    print(f"correlation with the number of flows above {ABOVE_MS:g} ms: {correlation:.2f}")
    for low, high in ((0, 0), (1, 4), (5, 8), (9, 13), (14, 20)):
        inside = utilisation[(above >= low) & (above <= high)]
        if len(inside):
            print(f"  {low:2d} to {high:2d} flows: {len(inside):3d} runs, {inside.mean():.1f} %")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
