"""Emulation of a scenario with real programs, which writes a run directory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul._engine import EmulationError, Scenario
from longhaul.results import Results


@dataclass(frozen=True)
class Program:
    """A program with its arguments, and the node of the network at which it runs."""

    node: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Lateness:
    """Statistics of lateness: how much later packets left than the emulated network specifies."""

    packets: int
    mean_us: float
    p99_us: float
    max_us: float
    share_over_1ms: float
    is_excessive: bool

    def __str__(self) -> str:
        """Return the statistics as a sentence."""
        if self.is_excessive:
            return (
                f"NOT IN TIME: {self.share_over_1ms:.2%} of {self.packets} packets were more than "
                f"1 ms late ({self.mean_us:.0f} us on average, {self.p99_us:.0f} us at the 99 % "
                f"quantile, {self.max_us / 1e3:.1f} ms at most), of at most 0.5 %. The machine was "
                "too busy, or the rate too high: do not trust these results."
            )
        if not self.packets:
            return "No packet has crossed the network."
        return (
            f"Packets left {self.mean_us:.0f} us late on average, {self.p99_us:.0f} us at the 99 % "
            f"quantile, {self.max_us / 1e3:.1f} ms at most; {self.share_over_1ms:.2%} of "
            f"{self.packets} were more than 1 ms late."
        )


@dataclass(frozen=True)
class Emulation:
    """A finished emulation."""

    results: Results
    circumstances: Mapping[str, Any]
    """Facts about the emulation for the object `emulation` in run.json."""
    fault: str | None
    """Reason why the results are not in the requested directory; None if they are there."""
    stopped: BaseException | None
    """Exception that stopped the emulation early; None if the emulation was not stopped."""

    @property
    def lateness(self) -> Lateness:
        """Statistics of the lateness of all packets."""
        figures = self.circumstances["lateness"]
        return Lateness(**figures, is_excessive=self.circumstances["is_excessively_late"])

    @property
    def warnings(self) -> list[str]:
        """Warnings about the results, except those about lateness."""
        found = []
        if from_s := self.circumstances["missed_window_from_s"]:
            found.append(
                f"it ended before the measurement window begins at {from_s:g} s (measure.from): "
                "all of it is measured"
            )
        if self.fault:
            found.append(f"{self.fault}; the results are in {self.results.path}")
        if reason := self.circumstances["not_real_time"]:
            found.append(f"packets were forwarded without real-time priority ({reason})")
        if missed := self.circumstances["missed_in_capture_pkts"]:
            found.append(f"the capture lacks {missed} packets: the disk was too slow")
        if stray := self.circumstances["stray_pkts"]:
            found.append(f"{stray} packets were for no host of the emulation, or not of IPv4")
        return found

    @property
    def failed(self) -> list[str]:
        """Descriptions of programs that ended with an error, before the emulation ended them."""
        programs = self.circumstances["programs"]
        wrong = [one for one in programs if one["code"] and not one["was_asked_to_end"]]
        return [f"`{' '.join(one['arguments'])}` ended with code {one['code']}" for one in wrong]


def emulate(
    scenario: Scenario,
    program: Program,
    *,
    out: Path,
    others: Sequence[Program] = (),
    background: bool = False,
    sysctls: Mapping[str, str] | None = None,
    pcap: Path | None = None,
    overwrite: bool = False,
) -> Emulation:
    """Run programs at nodes of a scenario's network, and return the results.

    The emulation ends when `program` ends, or after the scenario's duration. `program` starts when
    each host of the `others` has a listening socket, or after at most one second. With
    `background`, the scenario's flows share the network with the programs. `sysctls` are kernel
    settings of the hosts, and `pcap` is a file for the packets of all hosts.

    Raises EmulationError if the machine or the scenario does not allow an emulation, and
    OutputError if the capture or the results cannot be written. If the emulation is stopped early,
    the results so far are kept, and contain the cause.
    """
    nodes = hosts(scenario, [program, *others])
    numbered = [
        (nodes.index(one.node), list(one.arguments), one is program) for one in (program, *others)
    ]
    path, text, fault, raised = scenario.emulate(
        out,
        nodes=nodes,
        programs=numbered,
        background=background,
        sysctls=list((sysctls or {}).items()),
        pcap=pcap,
        overwrite=overwrite,
    )
    return Emulation(Results(path), json.loads(text), fault, raised)


def hosts(scenario: Scenario, programs: Sequence[Program]) -> list[str]:
    """Return the nodes that need a host: nodes with programs, and both ends of the first flow."""
    wanted = [program.node for program in programs]
    for node in wanted:
        if node not in scenario.nodes:
            raise EmulationError(
                f"there is no node `{node}`; the nodes are {', '.join(scenario.nodes)}"
            )
    return list(dict.fromkeys((*scenario.ends, *wanted)))


def address(nodes: Sequence[str], node: str) -> str:
    """Return the IP address of the host at `node`; `nodes` are all nodes with hosts."""
    number = nodes.index(node) + 1
    return f"10.77.{number // 256}.{number % 256}"
