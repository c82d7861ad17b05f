"""State of algorithms at each acknowledgement, which traced flows record (`trace_acks`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from longhaul import _engine
from longhaul.results.run import Results


@dataclass(frozen=True)
class Quantity:
    """A recorded quantity, as the registry of algorithms declares it."""

    name: str
    unit: str
    title: str


# Quantities that every algorithm has.
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
    """Samples of traced flows with their labels, and the labels that have each quantity."""

    run: Results
    samples: pl.DataFrame
    labels: Mapping[Quantity, Sequence[str]]

    @classmethod
    def of(cls, run: Results) -> "Trace":
        """Read the table `acks`.

        Algorithms may use one name for different quantities. Quantities of transports outside the
        registry of algorithms have no title.
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
        """Yield the label, flow and number of each connection with its samples of a quantity."""
        chosen = self.samples.filter(
            pl.col("quantity") == quantity.name,
            pl.col("label").is_in(self.labels.get(quantity, [])),
        )
        connections = chosen.group_by("label", "name", "connection", maintain_order=True)
        for (label, name, connection), part in connections:
            yield (str(label), str(name), int(str(connection))), part.select("t_s", "value")
