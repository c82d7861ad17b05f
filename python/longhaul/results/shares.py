"""Goodput of each label's flows and their share of the total goodput, over replications."""

from collections.abc import Sequence
from dataclasses import dataclass

from longhaul.analysis.comparisons import MeanInterval, mean_interval
from longhaul.results.replications import named, replicated
from longhaul.results.run import Results


@dataclass(frozen=True)
class Portion:
    """Goodput of a label's flows and their share of the total, over a group of replications."""

    runs: str
    label: str
    """The label; `label (algorithm)` if runs have different algorithms under this label."""
    algorithm: str
    goodput_bps: MeanInterval
    share: MeanInterval
    """Goodput of the label's flows as a fraction of the total goodput of all flows."""


def portions(runs: Sequence[Results]) -> list[Portion]:
    """Return the goodput and share of each label in each group of replications.

    Means have 95 % intervals over replications; the interval of a single run is infinite. A run
    without any goodput has no shares, and the means of shares leave it out.
    """
    algorithms = [run.algorithms() for run in runs]
    several = {
        label for of in algorithms for label, kind in of.items()
        if any(other.get(label, kind) != kind for other in algorithms)
    }  # fmt: skip
    found = []
    for group in replicated(runs):
        kinds = group[0].algorithms()
        values: dict[str, tuple[list[float], list[float]]] = {}
        for run in group:
            for row in run.summary().labels.to_dicts():
                goodputs, parts = values.setdefault(row["label"], ([], []))
                goodputs.append(row["goodput_bps"])
                if row["share"] is not None:
                    parts.append(row["share"])
        found += [
            Portion(named(group), f"{label} ({kinds[label]})" if label in several else label,
                    kinds[label], mean_interval(goodputs), mean_interval(parts))
            for label, (goodputs, parts) in values.items()
        ]  # fmt: skip
    return found
