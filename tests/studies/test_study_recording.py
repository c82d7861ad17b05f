"""Tests of a study's recorded results: rounding of tables, facts about runs, and precedence.

The user's own results precede those shipped with the study. In either place, results of the full
scale precede those of the quick scale.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from longhaul import _engine
from longhaul.studies import record
from longhaul.studies.data import Data
from longhaul.studies.errors import StudyError
from longhaul.studies.record import Facts, Record
from longhaul.studies.study import Reduction


def test_trajectories_keep_six_digits_and_all_that_is_no_number(tmp_path: Path) -> None:
    windows = [1.0, 0.1, 123_456.7, -3e-9, None, float("nan"), float("inf"), 0.0]
    times = [0.123456789 * k for k in range(len(windows))]
    values = pl.DataFrame({"rate": [0.1234567891]})
    before = pl.DataFrame({"t_s": times, "load": [0.7] * len(windows), "cwnd": windows})
    Data(values, before, ("load",)).write(tmp_path)
    after = pl.read_parquet(tmp_path / "trajectories.parquet")
    # Levels of axes and times are rounded to single precision.
    for exact in ("t_s", "load"):
        assert after[exact].equals(before[exact].cast(pl.Float32))
    assert after["cwnd"].is_null().to_list() == [window is None for window in windows]
    assert after["cwnd"].is_nan().to_list()[5]
    numbers = [0, 1, 2, 3, 6, 7]
    found, expected = (table["cwnd"].gather(numbers).to_numpy() for table in (after, before))
    np.testing.assert_allclose(found, expected, rtol=5e-7)
    # Writing again does not round further.
    Data(values, after, ("load",)).write(tmp_path)
    assert pl.read_parquet(tmp_path / "trajectories.parquet").equals(after)
    assert pl.read_parquet(tmp_path / "values.parquet")["rate"][0] == np.float32(0.1234567891)


FACTS = Facts("full", 3, 4, 60, "0.1", 7)


def data(**columns: list[int]) -> Data:
    rows = pl.DataFrame({"experiment": ["E"] * 3, "replication": [0, 1, 2], **columns})
    return Data(rows, pl.DataFrame(), ())


EMPTY = Data(pl.DataFrame(), pl.DataFrame(), ())


def written(folder: Path, scale: str, own: Data = EMPTY) -> Record:
    record = Record(replace(FACTS, scale=scale), own)
    record.write(folder / scale)
    return record


def study(folder: Path = Path()) -> Any:  # noqa: ANN401
    return SimpleNamespace(name="link", recorded=folder / "shipped", axes=[])


def test_facts_count_the_runs_that_are_there_and_their_packets() -> None:
    versions = (_engine.version(), _engine.results_version())
    found = Facts.of(data(data_packets=[10, 20, 30]), "quick", 5)
    assert found == Facts("quick", 3, 5, 60, *versions)
    assert Facts.of(EMPTY, "full", 5) == Facts("full", 0, 5, 0, *versions)


def test_results_of_several_versions_are_named_from_the_oldest_on() -> None:
    assert Record(FACTS, data(results_version=[8, 6, 8])).versions == [6, 8]
    # Without rows, the record states the versions.
    assert Record(FACTS, EMPTY).versions == [7]


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    before = written(tmp_path, "full", data(results_version=[8, 6, 8]))
    text = (tmp_path / "full/run.json").read_text()
    assert text.startswith('{\n  "scale": "full",\n  "runs": 3,\n')
    assert text.endswith('"results_version": 7\n}\n')
    after = record.read(tmp_path / "full", study())
    assert after.facts == before.facts
    assert after.versions == before.versions


def test_rows_without_a_version_have_that_of_their_record(tmp_path: Path) -> None:
    written(tmp_path, "full", data(sent=[1, 2, 3]))
    values = record.read(tmp_path / "full", study()).data.values
    assert values["results_version"].to_list() == [7] * 3
    written(tmp_path, "quick")
    assert record.read(tmp_path / "quick", study()).data.values.is_empty()


@pytest.mark.parametrize(
    ("own", "shipped", "scale", "found"),
    [
        # The user's results precede recorded ones, and the full scale precedes the quick one.
        (["quick", "full"], ["full"], None, "out/results/full"),
        (["quick"], ["full"], None, "out/results/quick"), ([], ["quick"], None, "shipped/quick"),
        ([], ["quick", "full"], None, "shipped/full"),
        (["quick"], ["full"], "full", "shipped/full"),
        (["quick", "full"], ["full"], "quick", "out/results/quick"),
    ],
)  # fmt: skip
def test_the_latest_results_are_the_users_then_the_recorded_ones(
    own: list[str], shipped: list[str], scale: str | None, found: str, tmp_path: Path
) -> None:
    for folder, scales in (("out/results", own), ("shipped", shipped)):
        for name in scales:
            written(tmp_path / folder, name)
    place, latest = record.latest(study(tmp_path), tmp_path / "out", scale)
    assert (place, latest.facts.scale) == (tmp_path / found, found.rpartition("/")[2])


def test_recorded_results_are_of_the_full_scale_if_there_are_any(tmp_path: Path) -> None:
    written(tmp_path / "shipped", "quick")
    assert record.recorded(study(tmp_path))[0] == tmp_path / "shipped/quick"
    written(tmp_path / "shipped", "full")
    assert record.recorded(study(tmp_path))[0] == tmp_path / "shipped/full"


@pytest.mark.parametrize(
    ("scale", "text"), [(None, "link yet"), ("quick", "link at scale quick yet")]
)
def test_where_results_are_missing_the_command_for_them_is_named(
    scale: str | None, text: str, tmp_path: Path
) -> None:
    expected = f"{tmp_path / 'results'}: no results of {text}: longhaul study run link"
    written(tmp_path / "shipped", "full")
    with pytest.raises(StudyError) as refused:
        record.latest(study(tmp_path), tmp_path, scale, shipped=False)
    assert str(refused.value) == expected
    with pytest.raises(
        StudyError, match=r"shipped: no results of link yet: longhaul study run link --record$"
    ):
        record.recorded(study(tmp_path / "none"))


def test_scales_are_quick_and_full() -> None:
    for scale in ("quick", "full"):
        record.check_scale(scale)
    with pytest.raises(StudyError, match=r"no scale is called `ful` \(did you mean `full`"):
        record.check_scale("ful")
    with pytest.raises(StudyError, match="`medium`"):
        record.latest(study(), Path(), "medium")


def test_runs_are_executed_for_each_reduction_in_a_store_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Check that all runs whose results are reduced in the same way are executed in one call.

    A reduction turns the results of a run into stored values. Each call has a store of its own. The
    failed runs of all calls are returned.
    """
    plain, own, unused = (Reduction(name, lambda _: {}) for name in ("", "own", "unused"))
    reductions = {"A": plain, "B": own, "C": plain, "D": unused}
    of: Any = SimpleNamespace(experiments={name: name for name in reductions},
                              reduction=reductions.__getitem__)  # fmt: skip
    runs: list[Any] = [SimpleNamespace(experiment=name) for name in "CBAB"]
    calls = []

    def execute(chosen: Any, place: Any, **settings: Any) -> Any:  # noqa: ANN401
        calls.append(([run.experiment for run in chosen], place.variant, settings["reducer"]))
        assert (settings["workers"], settings["watch"]) == (2, None)
        return SimpleNamespace(failed=[(chosen[-1], "why")])

    monkeypatch.setattr(record, "execute_runs", execute)
    monkeypatch.setattr(record, "Store", lambda _, variant: SimpleNamespace(variant=variant))
    failed = record.execute(of, runs, Path(), workers=2, watch=None)
    assert calls == [(["C", "A"], "", plain.reducer), (["B", "B"], "own", own.reducer)]
    assert failed == [(runs[2], "why"), (runs[3], "why")]


def test_collected_results_are_completed_by_those_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new, whole = data(data_packets=[1, 1, 1]), data(data_packets=[2, 2, 2])
    of: Any = SimpleNamespace(runs=lambda scale: [scale] * 5)
    given = []

    def complete(*tables: Any) -> Data:  # noqa: ANN401
        given.append(tables)
        return whole

    monkeypatch.setattr(record, "collected", lambda *_: new)
    monkeypatch.setattr(record, "and_recorded", complete)
    alone = record.collect(of, Path(), "quick")
    assert (alone.data, alone.facts.data_packets, alone.facts.wanted) == (new, 3, 5)
    assert given == []
    before = Record(FACTS, EMPTY)
    both = record.collect(of, Path(), "full", before)
    assert (both.data, both.facts.data_packets, both.facts.scale) == (whole, 6, "full")
    assert given == [(new, EMPTY, ["full"] * 5)]
