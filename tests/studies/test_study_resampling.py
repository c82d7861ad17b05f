"""Bootstrap samples of a study's results."""

import polars as pl
import pytest

from longhaul.studies.data import Data, NotRunError
from longhaul.studies.data.resampling import resampled


def results(**replications: int) -> Data:
    """Experiments with protocols `a` and `b`, `b` always ten ahead of `a`."""
    rows = [
        {
            "experiment": name,
            "protocol": protocol,
            "replication": number,
            "rate": 100.0 * number + lead,
            "only_" + name: 1.0,
        }
        for name, count in replications.items()
        for number in range(count)
        for protocol, lead in (("a", 0.0), ("b", 10.0))
    ]
    trajectories = [{**row, "time": 1.0} for row in rows if row["protocol"] == "a"]
    return Data(
        pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(trajectories), ("protocol",)
    )


def test_every_experiment_keeps_its_number_of_runs() -> None:
    """One with three replications is not lost among those of another one with twenty."""
    for sample in resampled(results(few=3, many=20, once=1), 50):
        assert [len(sample.points(name)) for name in ("few", "many", "once")] == [6, 40, 2]
        assert sample.points("once", protocol="a")["rate"].to_list() == [0.0]


def test_a_run_drawn_twice_counts_twice_and_stays_with_its_pair() -> None:
    """Protocols of one replication share random numbers: their difference is of equal numbers."""
    means = set()
    for sample in resampled(results(some=5), 50):
        first, second = (sample.runs("rate", "some", protocol=name) for name in "ab")
        assert len(first) == 5
        assert {second[number] - first[number] for number in first} == {10.0}
        means.add(sum(first.values()) / 5)
    assert len(means) > 10


def test_experiments_with_the_same_replications_share_what_is_drawn() -> None:
    """So that a ratio of two experiments is of runs with the same random numbers."""
    for sample in resampled(results(one=4, other=4), 20):
        assert sample.runs("rate", "one", protocol="a") == sample.runs(
            "rate", "other", protocol="a"
        )


def test_trajectories_are_those_of_the_first_draw() -> None:
    """Measures of trajectories are of a single run."""
    for sample in resampled(results(some=5, once=1), 20):
        drawn = sample.trajectory("some")["rate"].to_list()
        assert drawn == [sample.points("some", protocol="a")["rate"][0]]
        assert sample.trajectory("once")["rate"].to_list() == [0.0]


def test_nothing_to_draw_gives_no_samples() -> None:
    """A single run says nothing of how runs differ."""
    assert not list(resampled(results(once=1, other=1), 10))
    assert not list(resampled(Data(pl.DataFrame(), pl.DataFrame(), ()), 10))


def test_runs_of_several_cells_are_refused() -> None:
    """Two protocols cannot be one value a replication."""
    data = results(some=2, other=2)
    with pytest.raises(NotRunError, match="several cells"):
        data.runs("rate", "some")
    with pytest.raises(NotRunError, match="no only_other"):
        data.runs("only_other", "some", protocol="a")
