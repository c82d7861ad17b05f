"""Processor time of short `longhaul` commands, mainly their start-up time: `make bench-start`.

If another checkout of the repository is given, each command is measured alternately in both
checkouts, because a machine's speed varies over minutes. Bytecode is cached before the measurement.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from validation.pages import ROOT

SCENARIO = """
title = "A hundred thousand packets"
duration = "20 s"
measure = { every = "100 ms" }
[topology.dumbbell.bottleneck]
rate = "60 Mbps"
delay = "10 ms"
queue = { kind = "droptail", limit = "1 BDP" }
[[flows]]
count = 2
"""
CAMPAIGN = """
responses = ["goodput_bps", "jain"]
replications = 25
[factors]
algorithm = { path = "flows.flow.congestion.kind", levels = ["reno", "cubic"] }
[scenario]
duration = "2 s"
[scenario.topology.dumbbell.bottleneck]
rate = "5 Mbps"
delay = "5 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[scenario.flows]]
label = "flow"
start = { uniform = ["0 s", "1 s"] }
"""
COMPLETION = {"_LONGHAUL_COMPLETE": "complete_bash", "COMP_WORDS": "longhaul pl", "COMP_CWORD": "1"}
COMMANDS = (
    "--version", "--help", "(completion)", "list algorithms", "check a.toml", "explain a.toml",
    "run --help", "plot --help", "campaign --help", "run a.toml --out r --overwrite",
    "plot r cwnd --overwrite", "compare r", "report r --overwrite", "analyze c.toml",
    "window reno --loss-every 1000 --overwrite",
)  # fmt: skip


class Checkout:
    """A checkout of the repository, to measure the processor time of its `longhaul` commands."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.program = root.resolve() / ".venv" / "bin" / "longhaul"
        self.folder = scratch / "work"
        self.folder.mkdir(parents=True)
        (self.folder / "a.toml").write_text(SCENARIO)
        (self.folder / "c.toml").write_text(CAMPAIGN)
        self.environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(scratch / "bytecode")}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.cpu_s("run a.toml --out r")
        self.cpu_s("campaign run c.toml")

    def cpu_s(self, command: str) -> float:
        """Return the processor time of a command in seconds."""
        asked = COMPLETION if command == "(completion)" else {}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [self.program, *([] if asked else command.split())], cwd=self.folder, check=True,
            env={**self.environment, **asked}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(checkouts: list[Checkout], command: str, rounds: int) -> list[float]:
    """Return the minimum processor time (s) of a command in each checkout.

    In each of `rounds` rounds, the command runs once in every checkout.
    """
    for checkout in checkouts:
        checkout.cpu_s(command)  # The first call writes the bytecode.
    times = [[checkout.cpu_s(command) for checkout in checkouts] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def main() -> None:
    """Measure the processor time of all commands, and print a table of the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path, help="another checkout, with its .venv")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    roots = [ROOT, *([options.before] if options.before else [])]
    table = Table("processor time, s", "this", *(["before", "ratio"] if options.before else []))
    with tempfile.TemporaryDirectory() as scratch:
        checkouts = [Checkout(root, Path(scratch, str(k))) for k, root in enumerate(roots)]
        for command in COMMANDS:
            times = least(checkouts, command, options.rounds)
            ratio = [f"{times[0] / times[1]:.2f}"] if options.before else []
            table.add_row(command, *(f"{time:.2f}" for time in times), *ratio)
    Console().print(table)


if __name__ == "__main__":
    main()
