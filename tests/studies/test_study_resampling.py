"""Bootstrap samples of a study's results, drawn over replications."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from longhaul.studies.data import Data, NotRunError
from longhaul.studies.data.lookup import UnevenError
from longhaul.studies.data.resampling import ResampledData
from longhaul.studies.questions import DECLARED
from longhaul.studies.selection import Word


def results(**replications: int) -> Data:
    """Return experiments with the given numbers of replications.

    Each has the protocols `a` and `b`; the rate of `b` is higher by ten.
    """
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
    """Check that an experiment has as many runs in each sample as in the results."""
    for sample in ResampledData(results(few=3, many=20, once=1), 50):
        assert [len(sample.points(name)) for name in ("few", "many", "once")] == [6, 40, 2]
        assert sample.points("once", protocol="a")["rate"].to_list() == [0.0]


def test_a_run_drawn_twice_counts_twice_and_stays_with_its_pair() -> None:
    """Check that a run drawn twice counts twice, together with its pair.

    Protocols are compared within replications, which share their random numbers.
    """
    means = set()
    for sample in ResampledData(results(some=5), 50):
        first, second = (sample.runs("rate", "some", protocol=name) for name in "ab")
        assert len(first) == 5
        assert {second[number] - first[number] for number in first} == {10.0}
        means.add(sum(first.values()) / 5)
    assert len(means) > 10


def test_experiments_with_the_same_replications_share_what_is_drawn() -> None:
    """Check that a bootstrap sample draws the same replication numbers for two experiments.

    Ratios between the experiments then compare runs with the same random numbers.
    """
    for sample in ResampledData(results(one=4, other=4), 20):
        assert sample.runs("rate", "one", protocol="a") == sample.runs(
            "rate", "other", protocol="a"
        )


def test_trajectories_are_those_of_the_first_draw() -> None:
    """Check that a bootstrap sample takes values over time from the replication drawn first."""
    for sample in ResampledData(results(some=5, once=1), 20):
        drawn = sample.trajectory("some")["rate"].to_list()
        assert drawn == [sample.points("some", protocol="a")["rate"][0]]
        assert sample.trajectory("once")["rate"].to_list() == [0.0]


def test_nothing_to_draw_gives_no_samples() -> None:
    """Check that there are no bootstrap samples if every experiment has only one replication."""
    assert not list(ResampledData(results(once=1, other=1), 10))
    assert not list(ResampledData(Data(pl.DataFrame(), pl.DataFrame(), ()), 10))


def test_runs_of_several_cells_are_refused() -> None:
    """Check that values by replication are refused if they belong to several cells.

    Here, two protocols give two values per replication.
    """
    data = results(some=2, other=2)
    with pytest.raises(NotRunError, match="several cells"):
        data.runs("rate", "some")
    with pytest.raises(NotRunError, match="no only_other"):
        data.runs("only_other", "some", protocol="a")


# Measures and words of claims.
CLAIMS: tuple[tuple[str, dict[str, Word]], ...] = (
    ("value", {"flows": 2, "queue": "red"}),
    ("mean", {"queue": "red"}),
    ("trend", {"queue": "red", "along": "flows"}),
    ("best", {"queue": "red", "along": "flows"}),
    ("best", {"queue": "red", "with.queue": "droptail"}),
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
    """Return experiments of two axes, in which the fraction `lacking` of runs has no metric."""
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
    """Check that evaluating a claim for all bootstrap samples together changes no value.

    A claim is skipped if its samples have different cells and must be evaluated one by one.
    """
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
    """Check that two bootstrap samples share the index that finds rows by levels of axes.

    Both samples have the same combinations of levels in the same order.
    """
    data = grid(1, 0.0)
    first, other = list(ResampledData(data, 2))
    for axes in (("flows",), ("flows", "queue"), ()):
        places = [sample.cells_by_experiment["one"]._places(*axes) for sample in (first, other)]
        assert places[0] is places[1]


def uneven() -> Data:
    """Return experiments that differ in replications, numbers of runs and the order of rows."""
    rows = [
        {"experiment": name, "n": n, "replication": number, "rate": rate, "loss": loss}
        for name, n, number, rate, loss in (
            ("twice", 1, 7, 1.0, None), ("twice", 2, 3, 2.0, None), ("twice", 1, 3, 3.0, 5.0),
            ("twice", 1, 7, 8.0, None), ("twice", 2, 9, 4.0, None), ("plain", None, 3, 1.0, 1.0),
            ("plain", None, 7, 6.0, 2.0), ("once", 4, 2, 9.0, 3.0),
        )
    ]  # fmt: skip
    return Data(pl.DataFrame(rows, infer_schema_length=None), pl.DataFrame(), ("n",))


@pytest.mark.parametrize("given", [uneven, lambda: grid(3, 0.2), lambda: results(some=3, once=1)])
def test_a_sample_is_looked_up_like_a_table_of_its_runs(given: Callable[[], Data]) -> None:
    """Check look-ups in a bootstrap sample against look-ups in a table of the sample's rows.

    Cells and runs must agree.
    """
    data = given()
    for sample in ResampledData(data, 6):
        table = Data(sample.values, pl.DataFrame(), data.axes)
        for name in data.cells_by_experiment:
            for of_runs in (False, True):
                found, expected = (one.lookup(name, of_runs=of_runs) for one in (sample, table))
                known = [column for column in expected.table.columns if found.has(column)]
                assert set(expected.table.columns) - set(known) <= set(data.axes)
                picked = (one.table.select(known).fill_nan(None) for one in (found, expected))
                rows, rows_expected = (one.rows() for one in picked)
                assert rows == rows_expected
                for place, column in enumerate(known):
                    assert found.column(column) == [row[place] for row in rows_expected]


def test_a_run_that_is_drawn_again_has_another_number() -> None:
    """Check that a replication gets a new number if a bootstrap sample draws it a second time.

    The new number is the same in all cells.
    """
    several = 0
    for sample in ResampledData(uneven(), 20):
        runs = sample.lookup("plain", of_runs=True).column("replication")
        assert len(set(runs)) == 2
        assert runs[0] in (3, 7)
        several += runs[1] not in (3, 7)
        assert sample.lookup("once", of_runs=True).column("replication") == [2]
    assert 0 < several < 20


def test_samples_at_once_are_refused_where_they_differ_in_rows() -> None:
    at_once = ResampledData(uneven(), 5).at_once
    cells, runs = (at_once.lookup("twice", of_runs=of_runs) for of_runs in (False, True))
    assert len(cells.column("rate")) == 2
    assert cells.column("n") == [1, 2]
    with pytest.raises(UnevenError):
        runs.column("rate")
    for lookup in (cells, runs):
        with pytest.raises(UnevenError):
            _ = lookup.table
        with pytest.raises(UnevenError):
            lookup.measured("rate", {"rate": 1.0})
    plain = at_once.lookup("plain", of_runs=True)
    assert [len(numbers) for numbers in plain.column("rate")] == [5, 5]
    assert plain.column("replication") == [((3, 7), 0), ((3, 7), 1)]


def test_pairs_of_experiments_with_other_replications_are_compared_one_by_one() -> None:
    data = results(some=3, other=3, few=2)
    samples = ResampledData(data, 5)
    some, other, few = ((name, {"protocol": "a"}) for name in ("some", "other", "few"))
    differences = samples.at_once.paired("rate", some, ("other", {"protocol": "b"}), np.subtract)
    assert np.asarray(differences).tolist() == [-10.0] * 5
    for sample in samples:
        assert sample.paired("rate", some, other, np.subtract) == 0.0
        with pytest.raises(NotRunError, match="no replication has only_few"):
            sample.paired("only_few", some, other, np.subtract)
    with pytest.raises(UnevenError):
        samples.at_once.paired("rate", some, few, np.subtract)
    with pytest.raises(NotRunError, match="no replication has only_few in both"):
        samples.at_once.paired("only_few", some, other, np.subtract)
