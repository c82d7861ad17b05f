"""Traces of algorithms: samples of each quantity and connection, against the table `acks`."""

import polars as pl
import pytest
from conftest import SMALL

import longhaul
from longhaul.results.state import OF_ALL, Quantity, Trace, of_algorithms


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Trace two flows of HighSpeed TCP and one of Reno."""
    traced = [f"flows.{number}.trace_acks=true" for number in (0, 1)]
    return Trace.of(longhaul.run(SMALL, set=[*traced, "duration=3 s"]))


def test_quantities_have_the_labels_that_record_them(trace: Trace) -> None:
    """Check that each quantity of a trace lists only labels of flows that record the quantity.

    Only HighSpeed TCP records RFC 3649's a and b; all algorithms record windows.
    """
    own = of_algorithms()["hstcp"]
    assert [quantity.name for quantity in own] == ["a", "b"]
    for quantity in OF_ALL:
        assert trace.labels[quantity] == ["fast", "standard"]
    for quantity in own:
        assert trace.labels[quantity] == ["fast"]
    assert all(quantity.title for quantity in [*OF_ALL, *own])


def test_connections_have_their_own_samples(trace: Trace) -> None:
    assert trace.samples.drop("label").equals(trace.run.acks)
    for quantity in trace.labels:
        found = list(trace.connections(quantity))
        names = [name for (_, name, _), _ in found]
        wanted = trace.run.acks.filter(pl.col("quantity") == quantity.name)
        assert names == wanted["name"].unique(maintain_order=True).to_list()
        assert [label for (label, _, _), _ in found] == [name.rpartition("-")[0] for name in names]
        for (_, name, connection), samples in found:
            own = wanted.filter(pl.col("name") == name, pl.col("connection") == connection)
            assert samples.equals(own.select("t_s", "value"))
            assert len(samples) > 100


def test_an_unknown_quantity_has_no_connections(trace: Trace) -> None:
    assert not list(trace.connections(Quantity("beta", "1", "what is kept")))
