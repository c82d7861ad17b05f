"""Measurement of ten long-lived flows at 622 Mbit/s and 100 ms, in packet simulation and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import longhaul
from longhaul.models import fluid_comparison
from longhaul.models.scenario import fluid
from longhaul.running.loading import load
from validation.experiments import SEEDS, dumbbell

FIGURES = ("window_pkts", "queue_pkts", "loss", "utilisation")

# RED for all algorithms: thresholds of 0.1 and 0.5 BDP, and a slope at which the equilibrium of ten
# standard flows is stable with a gain margin of 1.05.
QUEUES: dict[str, dict[str, Any]] = {
    "red": {
        "kind": "red",
        "min_th": "518 packets",
        "max_th": "2592 packets",
        "max_p": 1e-3,
        "weight": 1e-5,
        "gentle": True,
        "limit": "1 BDP",
    },
    "droptail": {"kind": "droptail", "limit": "1 BDP"},
}


@dataclass(frozen=True)
class Comparison:
    """Results of one algorithm over one queue, from packet simulation and from the fluid model.

    Keys are those of `FIGURES`. Each value is a mean over the measurement window.
    """

    algorithm: str
    queue: str
    packets: dict[str, list[float]]
    """Values of the packet simulations, one for each seed."""
    fluid: dict[str, float]
    """Values of the fluid model."""


def scenario(algorithm: str, queue: str, seed: int) -> dict[str, Any]:
    """Return a scenario of ten flows that start within a second and acknowledge every segment."""
    return {
        "title": f"Ten {algorithm} flows over {queue}",
        "duration": "200 s",
        "seed": seed,
        "measure": {"from": "80 s", "every": "1 s"},
        "topology": dumbbell("622 Mbps", "50 ms", QUEUES[queue]),
        "flows": [
            {
                "label": "flows",
                "count": 10,
                "congestion": {"kind": algorithm},
                "start": {"uniform": ["0 s", "1 s"]},
                "tcp": {"delayed_ack": False},
            }
        ],
    }


def measure(algorithm: str, queue: str) -> Comparison:
    """Simulate the packets with all seeds, solve the fluid model once, and return both results."""
    scene = fluid(load(scenario(algorithm, queue, 1)))
    trajectory = fluid_comparison.solve(scene)
    packets: dict[str, list[float]] = {name: [] for name in FIGURES}
    model: dict[str, float] = {}
    for seed in SEEDS:
        run = longhaul.run(scenario(algorithm, queue, seed))
        for pair in fluid_comparison.compare(scene, trajectory, run):
            if pair.name in FIGURES:
                packets[pair.name].append(pair.packets)
                model[pair.name] = pair.fluid
    return Comparison(algorithm, queue, packets, model)
