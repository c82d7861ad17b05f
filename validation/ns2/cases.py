"""Cases of the comparison, parsed from arguments of the ns-2 script (`gold/cases.csv`).

A case is a list of `key=value` arguments of `gold/gold.tcl`; missing arguments have the script's
defaults. Runs of a case differ only in their seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longhaul.files.rows import read_rows

GOLD = Path(__file__).parent / "gold"


def _defaults() -> dict[str, str]:
    """Read the arguments of gold.tcl and their defaults, from its array `P`."""
    script = (GOLD / "gold.tcl").read_text(encoding="utf-8")
    words = script.partition("array set P {")[2].partition("}")[0].split()
    return dict(zip(words[::2], words[1::2], strict=True))


DEFAULTS = _defaults()


@dataclass(frozen=True)
class FlowGroup:
    """The flows of one argument `flow=`, which differ only in their start times."""

    kind: str
    """Sender in ns-2: `sack`, `newreno`, `reno`, `hstcp`, or `linux:NAME` (module of TCP/Linux)."""
    count: int
    start_s: float
    jitter_s: float
    """Length of the interval from `start_s` on, from which start times are drawn uniformly."""
    access_delay_s: float
    """One-way delay (s) of each sender's access link; 0 for senders directly at the router."""
    reverse: bool
    stop_s: float | None
    """Time at which the senders stop; None for the end of the run."""

    @property
    def linux(self) -> bool:
        """True if the sender is ns-2's agent TCP/Linux."""
        return self.kind.startswith("linux:")

    @staticmethod
    def parse(text: str) -> FlowGroup:
        """Parse a flow argument, `TYPE,N,START,JITTER,SRCDELAY,FROM,TO[,STOP]`."""
        kind, count, start, jitter, delay, source, sink, *stop = text.split(",")
        return FlowGroup(
            kind=kind,
            count=int(count),
            start_s=float(start),
            jitter_s=float(jitter),
            access_delay_s=float(delay),
            reverse=int(source) > int(sink),
            stop_s=float(stop[0]) if stop else None,
        )


@dataclass(frozen=True)
class Case:
    """A case of the comparison with ns-2, which is run with each of its seeds."""

    name: str
    warm_up_s: float
    """Time at which the measurement window begins."""
    arguments: tuple[str, ...]
    """Arguments of gold.tcl as `key=value`, without the seed."""
    seeds: tuple[int, ...]

    def value(self, key: str) -> str:
        """Return the value of the argument `key`, or its default in the script."""
        given = dict(argument.split("=", 1) for argument in self.arguments)
        return given.get(key, DEFAULTS[key])

    def number(self, key: str) -> float:
        """Return the value of the argument `key` as a number."""
        return float(self.value(key))

    def flag(self, key: str) -> bool:
        """Return true if the value of the argument `key` is `1` or `true`."""
        return self.value(key) in {"1", "true"}

    @property
    def duration_s(self) -> float:
        """Simulated time in seconds."""
        return self.number("T")

    @property
    def flow_groups(self) -> list[FlowGroup]:
        """The groups of flows, one for each argument `flow=`."""
        return [
            FlowGroup.parse(argument.removeprefix("flow="))
            for argument in self.arguments
            if argument.startswith("flow=")
        ]

    @property
    def linux(self) -> bool:
        """True if all flows use ns-2's TCP/Linux. No case has flows with and without TCP/Linux."""
        return any(group.linux for group in self.flow_groups)

    @property
    def payload_b(self) -> float:
        """Bytes of payload in a full packet."""
        timestamp_option_b = 10.0 if self.linux else 0.0
        return self.number("pkt") - 40.0 - timestamp_option_b

    @property
    def deterministic(self) -> bool:
        """True if nothing is random except the phase of ns-2's timer clock."""
        random_queue = self.value("q") == "RED"
        random_start = any(group.jitter_s > 0 for group in self.flow_groups)
        return not (
            random_queue or random_start or self.number("loss") > 0 or self.number("overhead") > 0
        )


def gold_cases() -> Iterator[Case]:
    """Yield the recorded cases (`gold/cases.csv`), in the order of the file."""
    return read_cases(GOLD / "cases.csv")


def read_cases(file: Path) -> Iterator[Case]:
    """Yield the cases of a table with the columns case, warm_up_s, seeds and arguments."""
    for row in read_rows(file):
        yield Case(
            name=row["case"],
            warm_up_s=float(row["warm_up_s"]),
            arguments=tuple(row["arguments"].split()),
            seeds=tuple(int(seed) for seed in row["seeds"].split()),
        )
