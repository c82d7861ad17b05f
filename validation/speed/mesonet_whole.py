"""One run of MesoNet from its start: `python -m validation.speed.mesonet_whole NETWORK`.

Says how many data packets it simulates per second of processor time and by the clock, and the
memory of the process at its peak. The whole of a network unless `--until` says otherwise.
"""

from __future__ import annotations

import argparse
import resource
from contextlib import suppress
from time import perf_counter, process_time

import longhaul
from longhaul.studies.study import find
from validation.speed.mesonet import NETWORKS, Enough, Timed


def measure(network: Timed, threads: int, until_s: float) -> str:
    """Run it, in this process, up to a simulated time."""
    reached = (0.0, 0)

    def look(simulated_s: float, packets: int) -> None:
        nonlocal reached
        reached = (simulated_s, packets)
        if simulated_s >= until_s:
            raise Enough

    scenario = find("nist-2010").cell(network.experiment, network.levels).scenario
    begin_cpu, begin = process_time(), perf_counter()
    with suppress(Enough):
        longhaul.run(scenario, progress=look, threads=threads)
    cpu, wall = process_time() - begin_cpu, perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    simulated_s, packets = reached
    return (
        f"{network.name}, {simulated_s:,.0f} s, {threads} threads: {packets:,} data packets in "
        f"{cpu:,.1f} s of processor time and {wall:,.1f} s by the clock; {packets / cpu:,.0f} and "
        f"{packets / wall:,.0f} per second; {peak:,.0f} MB"
    )


def main() -> None:
    """Measure the network that is named."""
    networks = {network.name: network for network in NETWORKS}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=networks)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--until", type=float, default=float("inf"), metavar="SECONDS")
    given = parser.parse_args()
    print(measure(networks[given.network], given.threads, given.until))


if __name__ == "__main__":
    main()
