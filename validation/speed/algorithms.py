"""Cost per ACK of an algorithm in Python, compared with the same algorithm in Rust.

`make bench-python` runs one flow of HighSpeed TCP at 1 Gbit/s and 100 ms without losses: built in,
in Python with a call per acknowledgement, and in Python with a call per round trip. All simulate
nearly the same packets, so differences in time are due to the implementations.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import longhaul
from validation.experiments import dumbbell

FILE = Path(longhaul.__file__).parent / "scenarios" / "algorithms" / "hstcp.py"
ALGORITHMS: dict[str, dict[str, Any]] = {
    "built in": {"kind": "hstcp"},
    "Python, per ACK": {"python": f"{FILE}:Hstcp"},
    "Python, per round": {"python": f"{FILE}:HstcpPerRound"},
}
REPEATS = 5


@dataclass(frozen=True)
class Cost:
    """Number of acknowledgements and wall-clock time (s) of one run."""

    acks: int
    wall_s: float

    @property
    def ns_per_ack(self) -> float:
        """Wall-clock time of the whole simulation per acknowledgement, in ns."""
        return self.wall_s / self.acks * 1e9


def measure(congestion: dict[str, Any]) -> Cost:
    """Run the flow once; `congestion` is the table of its algorithm."""
    scenario = {
        "duration": "30 s",
        "measure": {"every": "1 s"},
        "topology": dumbbell("1 Gbps", "50 ms", "1 BDP"),
        # Congestion avoidance from the beginning, the only phase with calls of the algorithm.
        "flows": [{"congestion": congestion, "tcp": {"initial_ssthresh": 2, "delayed_ack": False}}],
    }
    run = longhaul.run(scenario)
    # Without delayed acknowledgements there is an acknowledgement per data packet.
    return Cost(run.meta["data_packets"], run.meta["machine"]["wall_s"])


def main() -> None:
    """Print the median time per ACK of each implementation over several rounds.

    In each round, all implementations run one after the other.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in ALGORITHMS}
    for _ in range(REPEATS):
        for name, congestion in ALGORITHMS.items():
            costs[name].append(measure(congestion))
    base = statistics.median(cost.ns_per_ack for cost in costs["built in"])
    print(f"{'':20}{'ACKs':>10}{'ns/ACK':>10}{'ratio':>8}{'added ns':>10}")
    for name, runs in costs.items():
        ns = statistics.median(cost.ns_per_ack for cost in runs)
        print(f"{name:20}{runs[0].acks:>10,}{ns:>10.0f}{ns / base:>8.2f}{ns - base:>10.0f}")


if __name__ == "__main__":
    main()
