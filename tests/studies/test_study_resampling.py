"""Bootstrap samples of a study's results."""

import numpy as np
import polars as pl
import pytest

from longhaul.studies.data import Data, NotRunError
from longhaul.studies.data.resampling import ResampledData
from longhaul.studies.questions import DECLARED
from longhaul.studies.selection import Word


def results(**replications: int) -> Data:
    """Return experiments with protocols `a` and `b`; the rate of `b` is higher by ten."""
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
    """An experiment with three replications is kept beside one with twenty."""
    for sample in ResampledData(results(few=3, many=20, once=1), 50):
        assert [len(sample.points(name)) for name in ("few", "many", "once")] == [6, 40, 2]
        assert sample.points("once", protocol="a")["rate"].to_list() == [0.0]


def test_a_run_drawn_twice_counts_twice_and_stays_with_its_pair() -> None:
    """Protocols are compared within replications, which share their random numbers."""
    means = set()
    for sample in ResampledData(results(some=5), 50):
        first, second = (sample.runs("rate", "some", protocol=name) for name in "ab")
        assert len(first) == 5
        assert {second[number] - first[number] for number in first} == {10.0}
        means.add(sum(first.values()) / 5)
    assert len(means) > 10


def test_experiments_with_the_same_replications_share_what_is_drawn() -> None:
    """Ratios of two experiments then compare runs with the same random numbers."""
    for sample in ResampledData(results(one=4, other=4), 20):
        assert sample.runs("rate", "one", protocol="a") == sample.runs(
            "rate", "other", protocol="a"
        )


def test_trajectories_are_those_of_the_first_draw() -> None:
    """Measures of trajectories are of a single run."""
    for sample in ResampledData(results(some=5, once=1), 20):
        drawn = sample.trajectory("some")["rate"].to_list()
        assert drawn == [sample.points("some", protocol="a")["rate"][0]]
        assert sample.trajectory("once")["rate"].to_list() == [0.0]


def test_nothing_to_draw_gives_no_samples() -> None:
    """A single run has no scatter."""
    assert not list(ResampledData(results(once=1, other=1), 10))
    assert not list(ResampledData(Data(pl.DataFrame(), pl.DataFrame(), ()), 10))


def test_runs_of_several_cells_are_refused() -> None:
    """Runs of two protocols are no single value per replication."""
    data = results(some=2, other=2)
    with pytest.raises(NotRunError, match="several cells"):
        data.runs("rate", "some")
    with pytest.raises(NotRunError, match="no only_other"):
        data.runs("only_other", "some", protocol="a")


# Words of claims, each with a measure: what they select, compare, and take.
CLAIMS: tuple[tuple[str, dict[str, Word]], ...] = (
    ("value", {"flows": 2, "queue": "red"}),
    ("mean", {"queue": "red"}),
    ("trend", {"queue": "red", "along": "flows"}),
    ("best", {"queue": "red", "along": "flows"}),
    ("share", {"queue": "red", "less.queue": "droptail"}),
    ("furthest", {"queue": "red", "over.queue": "droptail"}),
    ("least", {"queue": "red", "less.queue": "droptail", "by": "replication"}),
    ("middle", {"metric": "2*rate/(1+rate),rate"}),
    ("range", {"each": "queue", "then": "mean"}),
    ("largest", {"each": "queue,flows", "then": "count", "above": 100.0}),
    ("ends", {"queue": "red", "along": "flows", "against.queue": "droptail"}),
    ("mean", {"runs": "each", "queue": "red", "less.queue": "droptail"}),
    ("ninth_decile", {"runs": "each"}),
    ("mean", {"of": "one", "over.of": "other"}),
    ("mean", {"of": "one", "over.of": "other", "runs": "each"}),
    ("mean", {"of": "one", "over.of": "few", "runs": "each"}),
)  # fmt: skip


def grid(seed: int, lacking: float) -> Data:
    """Return experiments of two axes, in which a share of the runs lacks the metric."""
    random = np.random.default_rng(seed)
    rows = [
        {
            "experiment": name,
            "flows": flows,
            "queue": queue,
            "replication": number,
            "rate": float(random.integers(1, 300)) if random.random() >= lacking else None,
        }
        for name, count in (("one", 6), ("other", 6), ("few", 3))
        for number in range(count)
        for flows in (1, 2, 4)
        for queue in ("red", "droptail")
    ]
    return Data(pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(), ("flows", "queue"))


@pytest.mark.parametrize("lacking", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(10))
def test_all_samples_at_once_are_what_they_are_one_by_one(seed: int, lacking: float) -> None:
    """Samples are computed together only if they differ in nothing but numbers."""
    samples = ResampledData(grid(seed, lacking), 8)
    together = 0
    for name, words in CLAIMS:
        where: dict[str, Word] = {"of": "one", "metric": "rate", **words}
        found = DECLARED[name].question(where, ("one",)).in_samples(samples.at_once)
        if found is not None:
            together += 1
            alone = [DECLARED[name](sample, **where) for sample in samples]
            assert found == pytest.approx(alone, rel=1e-12)
    assert lacking or together >= len(CLAIMS) - 1


def test_samples_with_the_same_cells_in_the_same_order_share_what_is_found_in_them() -> None:
    """The rows at each level are found once for all samples, for any number of axes."""
    data = grid(1, 0.0)
    first, other = list(ResampledData(data, 2))
    for axes in (("flows",), ("flows", "queue"), ()):
        places = [sample.cells_by_experiment["one"]._places(*axes) for sample in (first, other)]
        assert places[0] is places[1]
