"""State of algorithms at each ACK, which traced flows record (`trace_acks`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from longhaul import _engine
from longhaul.results.run import Results


@dataclass(frozen=True)
class Quantity:
    """A recorded quantity, as declared in the registry of algorithms."""

    name: str
    unit: str
    title: str


# Quantities that all algorithms have.
OF_ALL = (
    Quantity("cwnd", "segments", "congestion window"),
    Quantity("ssthresh", "segments", "slow-start threshold"),
    Quantity("in_flight", "segments", "in flight"),
)


def of_algorithms() -> Mapping[str, Sequence[Quantity]]:
    """Return the state variables of each algorithm, by the algorithm's name."""
    return {
        row["name"]: [Quantity(**quantity) for quantity in row["state"]]
        for row in _engine.algorithms()["algorithms"]
    }


@dataclass(frozen=True)
class Trace:
    """Samples of traced flows, and for each quantity the labels of the flows that have it."""

    run: Results
    samples: pl.DataFrame
    labels: Mapping[Quantity, Sequence[str]]

    @classmethod
    def of(cls, run: Results) -> "Trace":
        """Read the table `acks` of a run.

        Algorithms may use the same name for different quantities. Quantities that are not in the
        registry of algorithms have their name as title.
        """
        flows = run.flows.select("name", "label")
        samples = run.acks.join(flows, on="name", how="left", maintain_order="left")
        known, algorithms = of_algorithms(), run.algorithms()
        labels: dict[Quantity, list[str]] = {}
        pairs = samples.select("label", "quantity").unique(maintain_order=True)
        for label, name in pairs.iter_rows():
            declared = (*OF_ALL, *known.get(algorithms[label], ()))
            quantity = next((one for one in declared if one.name == name), Quantity(name, "", name))
            labels.setdefault(quantity, []).append(label)
        return cls(run, samples, labels)

    def connections(
        self, quantity: Quantity
    ) -> Iterator[tuple[tuple[str, str, int], pl.DataFrame]]:
        """Yield each connection's samples of a quantity, with its label, flow and number."""
        chosen = self.samples.filter(
            pl.col("quantity") == quantity.name,
            pl.col("label").is_in(self.labels.get(quantity, [])),
        )
        connections = chosen.group_by("label", "name", "connection", maintain_order=True)
        for (label, name, connection), part in connections:
            yield (str(label), str(name), int(str(connection))), part.select("t_s", "value")
