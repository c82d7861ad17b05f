"""Cost per ACK of an algorithm in Python, compared with the same algorithm in Rust.

`make bench-python` runs one flow of HighSpeed TCP at 1 Gbit/s and 100 ms without losses: built in,
in Python with a call per acknowledgement, and in Python with a call per round trip. All simulate
nearly the same packets, so differences in time are due to the implementations.
"""

import statistics
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


def measure(congestion: dict[str, Any]) -> tuple[int, float]:
    """Run the flow once; `congestion` is the table of its algorithm.

    Return the number of acknowledgements, and the wall-clock time of the whole simulation per
    acknowledgement in ns.
    """
    scenario = {
        "duration": "30 s",
        "measure": {"every": "1 s"},
        "topology": dumbbell("1 Gbps", "50 ms", "1 BDP"),
        # Congestion avoidance from the beginning, the only phase with calls of the algorithm.
        "flows": [{"congestion": congestion, "tcp": {"initial_ssthresh": 2, "delayed_ack": False}}],
    }
    run = longhaul.run(scenario)
    # Without delayed acknowledgements there is an acknowledgement per data packet.
    acks = run.meta["data_packets"]
    return acks, run.meta["machine"]["wall_s"] / acks * 1e9


def main() -> None:
    """Print the median time per ACK of each implementation over several rounds.

    In each round, all implementations run one after the other.
    """
    acks: dict[str, int] = {}
    costs: dict[str, list[float]] = {name: [] for name in ALGORITHMS}
    for _ in range(REPEATS):
        for name, congestion in ALGORITHMS.items():
            acks[name], ns = measure(congestion)
            costs[name].append(ns)
    base = statistics.median(costs["built in"])
    print(f"{'':20}{'ACKs':>10}{'ns/ACK':>10}{'ratio':>8}{'added ns':>10}")
    for name, runs in costs.items():
        ns = statistics.median(runs)
        print(f"{name:20}{acks[name]:>10,}{ns:>10.0f}{ns / base:>8.2f}{ns - base:>10.0f}")


if __name__ == "__main__":
    main()
