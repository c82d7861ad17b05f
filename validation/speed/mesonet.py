"""Speed of MesoNet's networks in data packets per second: `python -m validation.speed.mesonet`.

Several rounds run all networks one after the other, up to a simulated time well after the start.
With one thread, the command measures the processor time between two simulated times, which does not
depend on other load. With two threads, it measures wall-clock time, which is valid only on an idle
machine.

With the argument NETWORK, one network is run from its start, completely or up to `--until`, and
peak memory is printed as well.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import longhaul
from longhaul.studies.study import find

ROUNDS = 3


class Enough(Exception):  # noqa: N818
    """Exception that ends a run as soon as its last measured time is reached."""


class Mark(NamedTuple):
    """Progress of a run at a moment: packets so far, processor time and wall-clock time."""

    simulated_s: float
    packets: int
    cpu_s: float
    clock_s: float

    def since(self, start: Mark) -> tuple[float, float]:
        """Return data packets per second of processor time and per second of wall-clock time.

        Both are rates between the mark `start` and this one.
        """
        packets = self.packets - start.packets
        return packets / (self.cpu_s - start.cpu_s), packets / (self.clock_s - start.clock_s)


@dataclass(frozen=True)
class Network:
    """A run of the study `nist-2010`, timed from simulated second `from_s` to `until_s`."""

    name: str
    experiment: str
    levels: dict[str, str]
    from_s: float
    until_s: float

    def marks(self, threads: int, until_s: float) -> list[Mark]:
        """Run up to the simulated time `until_s`, and return marks: packets and times so far.

        The first mark is taken before the start, the others some ten times per second of real time.
        """
        scenario = find("nist-2010").cell(self.experiment, self.levels).scenario
        marks = [Mark(0.0, 0, process_time(), perf_counter())]

        def look(simulated_s: float, packets: int) -> None:
            marks.append(Mark(simulated_s, packets, process_time(), perf_counter()))
            if simulated_s >= until_s:
                raise Enough

        with suppress(Enough):
            longhaul.run(scenario, progress=look, threads=threads)
        return marks

    def packets_per_s(self, threads: int) -> tuple[float, float]:
        """Return data packets per second of processor time, and of wall-clock time."""
        marks = self.marks(threads, self.until_s)
        first = next(mark for mark in marks if mark.simulated_s >= self.from_s)
        return marks[-1].since(first)


NETWORKS = {
    network.name: network
    for network in (
        Network("scaled down", "N7-MAIN", {"condition": "8", "algorithm": "TCP"}, 20.0, 60.0),
        Network("large", "N6-MAIN", {"condition": "4", "algorithm": "TCP"}, 6.0, 12.0),
        Network("sensitivity", "SA64", {"run": "64", "algorithm": "TCP"}, 20.0, 60.0),
        Network("mixed", "N8H-MAIN", {"condition": "1", "algorithm": "CTCP"}, 20.0, 60.0),
    )
}


def all_in_turn() -> Iterator[str]:
    """Run all networks in rounds; yield a line per run, then the medians of each network."""
    measured: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for number in range(1, ROUNDS + 1):
        for name, network in NETWORKS.items():
            for threads in (1, 2):
                rates = network.packets_per_s(threads)
                measured.setdefault((name, threads), []).append(rates)
                yield (
                    f"round {number}: {name}, {threads} threads: {rates[0]:,.0f} packets "
                    f"per second of processor time, {rates[1]:,.0f} per second of wall-clock time"
                )
    for name in NETWORKS:
        single, two = ([*zip(*measured[name, threads], strict=True)] for threads in (1, 2))
        yield (
            f"{name}: {median(single[0]):,.0f} packets per second of processor time; with "
            f"two threads {median(two[1]) / median(single[1]):.2f} times as many per second of "
            "wall-clock time"
        )


def whole(network: Network, threads: int, until_s: float) -> str:
    """Run a network in this process up to a simulated time, and return its costs as text."""
    start, *_, last = network.marks(threads, until_s)
    end = last._replace(cpu_s=process_time(), clock_s=perf_counter())
    cpu, clock = end.since(start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{network.name}, {end.simulated_s:,.0f} s, {threads} threads: {end.packets:,} data "
        f"packets in {end.cpu_s - start.cpu_s:,.1f} s of processor time and "
        f"{end.clock_s - start.clock_s:,.1f} s of wall-clock time; {cpu:,.0f} and {clock:,.0f} "
        f"per second; {peak:,.0f} MiB"
    )


def main() -> None:
    """Measure all networks in rounds, or one network from its start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", choices=NETWORKS)
    parser.add_argument("--threads", type=int, default=1, help="number of threads for NETWORK")
    parser.add_argument("--until", type=float, default=float("inf"), metavar="SECONDS")
    options = parser.parse_args()
    if options.network:
        print(whole(NETWORKS[options.network], options.threads, options.until))
    else:
        for line in all_in_turn():
            print(line, flush=True)


if __name__ == "__main__":
    main()
