"""Comparison of a scenario's simulation with its fluid model: means and trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from longhaul.models.fluid import Trajectory
from longhaul.models.response import Numbers
from longhaul.models.scenario import Scene
from longhaul.plots import styles
from longhaul.plots.files import styled
from longhaul.results import Results

# Style of the fluid model's lines, which are drawn over those of the simulation.
FLUID: Any = {"color": "#000000", "linestyle": (0, (4, 2)), "linewidth": 1.1}


@dataclass(frozen=True)
class Pair:
    """A mean value in the simulation, and the corresponding mean in the fluid model."""

    what: str
    """Label of the flows, or name of the link, to which the value belongs."""
    name: str
    packets: float
    fluid: float

    @property
    def difference(self) -> float:
        """Relative difference: the model's value divided by the simulation's, minus 1.

        If the simulation's value is zero: 0 if both are zero, otherwise infinity.
        """
        if self.packets == 0.0:
            return 0.0 if self.fluid == 0.0 else np.inf
        return self.fluid / self.packets - 1.0

    def as_json(self) -> dict[str, float | str | None]:
        """Return the object that `longhaul compare SCENARIO --with fluid --json` prints."""
        difference = self.difference
        return {
            "of": self.what,
            "name": self.name,
            "packets": self.packets,
            "fluid": self.fluid,
            "difference": difference if np.isfinite(difference) else None,
        }


def solve(scene: Scene) -> Trajectory:
    """Solve the fluid model of a scenario over the scenario's duration."""
    return scene.model.run(scene.duration_s, every=20)


def compare(scene: Scene, trajectory: Trajectory, run: Results) -> list[Pair]:
    """Pair the means of simulation and model over the measurement window, by label and link.

    A link at which no packet arrives has no loss rate.
    """
    late = trajectory.after(scene.measured_from_s)
    pairs: list[Pair] = []
    for number, label in enumerate(scene.labels):
        flows = run.flows.filter(pl.col("label") == label)
        count = scene.model.classes[number].count
        rate = float(late.rate_pps[:, number].mean()) / count
        sent = float(flows["sent_pkts"].sum()) / count / run.measured_s
        pairs += [
            Pair(
                label, "window_pkts", _mean(flows["cwnd_mean_pkts"]), _of(late.window_pkts, number)
            ),
            Pair(label, "rate_pps", sent, rate),
            Pair(label, "rtt_s", _mean(flows["rtt_mean_s"]), _of(late.rtt_s, number)),
        ]
    for number, name in enumerate(scene.links):
        link = run.links.filter(pl.col("name") == name).row(0, named=True)
        arriving = _arriving(scene, late, number)
        capacity = scene.model.links[number].capacity_pps
        passed = np.where(
            late.queue_pkts[:, number] > 0.0, capacity, np.minimum(arriving, capacity)
        )
        pairs.append(
            Pair(name, "queue_pkts", link["queue_mean_pkts"], _of(late.queue_pkts, number))
        )
        if link["arrived_pkts"] > 0 and arriving.sum() > 0.0:
            dropped = link["dropped_pkts"] + link["marked_pkts"]
            lost = float((late.loss[:, number] * arriving).sum() / arriving.sum())
            pairs.append(Pair(name, "loss", dropped / link["arrived_pkts"], lost))
        pairs.append(
            Pair(name, "utilisation", link["utilization"], float(passed.mean()) / capacity)
        )
    return pairs


def _arriving(scene: Scene, late: Trajectory, number: int) -> Numbers:
    """Return the arrival rate at link `number` over time, in packets per second.

    `late` is the solution after the start of the measurement window.
    """
    over = [n for n, class_ in enumerate(scene.model.classes) if number in class_.path]
    return np.asarray(late.rate_pps[:, over].sum(axis=1))


def _of(values: Numbers, column: int) -> float:
    return float(values[:, column].mean())


def _mean(column: pl.Series) -> float:
    return float(column.mean())  # type: ignore[arg-type]


@styled()
def picture(scene: Scene, trajectory: Trajectory, run: Results) -> Figure:
    """Draw windows by label and queues by link over time; lines of the model are dashed."""
    names = [*scene.labels, *scene.links]
    drawing = Figure(figsize=(8.4, 1.6 * len(names) + 0.6), layout="constrained")
    panels = drawing.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    style_of = styles.of_labels(run.algorithms())
    windows = run.flow_series.group_by("label", "t_s").agg(pl.col("cwnd_pkts").mean())
    parts = [
        (f"window of {label}\n(segments)", style_of[label], "cwnd_pkts",
         windows.filter(pl.col("label") == label), trajectory.window_pkts[:, number])
        for number, label in enumerate(scene.labels)
    ]  # fmt: skip
    parts += [
        (f"queue of {name}\n(packets)", styles.OTHERS[0], "queue_pkts",
         run.link_series.filter(pl.col("name") == name), trajectory.queue_pkts[:, number])
        for number, name in enumerate(scene.links)
    ]  # fmt: skip
    for axes, (label, style, column, samples, fluid) in zip(panels, parts, strict=True):
        packets = samples.sort("t_s")
        axes.plot(packets["t_s"], packets[column], label="packets", color=style.colour)
        axes.plot(trajectory.t_s, fluid, label="fluid model", **FLUID)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel("time (s)")
    panels[0].legend()
    return drawing
