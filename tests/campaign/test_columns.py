"""Tests of campaigns: descriptions of columns, facts about runs, responses, and the store."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import longhaul
from longhaul import _engine
from longhaul.campaign import columns, store
from longhaul.campaign.dataset import Dataset, path_from
from longhaul.campaign.reduce import facts, reduce, reduce_keeping_samples
from longhaul.campaign.responses import (
    Response,
    ResponseError,
    Responses,
    look_up,
    read_responses,
)
from longhaul.campaign.store import Store
from longhaul.campaign.sweep import Setting
from longhaul.figures import words

KEYS = {row["name"]: row["description"] for row in _engine.scenario_keys()}


def test_a_key_has_the_description_of_the_scenario_s_keys() -> None:
    """Check that the column of a factor has the description of the scenario key that it sets."""
    # A key may name a group of flows by number or by label.
    assert columns.of_key("duration") == KEYS["duration"] != ""
    assert columns.of_key("flows.3.count") == KEYS["flows.*.count"]
    assert columns.of_key("flows.cubic.count") == KEYS["flows.*.count"]
    bottleneck = "topology.dumbbell.bottleneck"
    # The description of the queue's table serves for its main keys.
    for last in ("kind", "limit"):
        assert columns.of_key(f"{bottleneck}.queue.{last}") == KEYS[f"{bottleneck}.queue"]
    assert columns.of_key(f"{bottleneck}.queue.target") == ""
    assert columns.of_key("count") == columns.of_key("flows.count.more") == ""
    # A key's description ends with the name of the original MesoNet parameter.
    assert "(deltaU)" in columns.of_key("mesonet.deltaU")


def test_a_factor_sets_the_keys_that_follow_it() -> None:
    settings = {
        "duration": Setting(factor="n"),
        "seed": Setting(factor="n"),
        "title": Setting(value="x"),
        "no.such.key": Setting(factor="m"),
    }
    assert columns.of_factors(settings) == {
        "n": f"sets duration, seed: {KEYS['duration'].rstrip('.')}",
        "m": "sets no.such.key",
    }


def test_a_response_is_described_by_its_figure_or_its_function() -> None:
    place = "labels.cubic.goodput_bps"
    found = columns.of_responses(
        [
            Response("goodput_bps", place="goodput_bps"),
            Response("cubic", place=place),
            Response("own", source="def f(run): return 1", function="f"),
            Response("odd", place="labels.cubic.nothing_known"),
        ]
    )
    assert found == {
        "goodput_bps": words.meaning("goodput_bps"),
        "cubic": f"{place}: {words.meaning(place)}",
        "own": "measured by f",
    }
    assert found["goodput_bps"]
    table = columns.of_table({"seed": Setting(factor="n")}, [Response("own", function="f")])
    assert set(table) == {*columns.OTHERS, "n", "own"}


def test_facts_of_a_run_are_those_that_tell_it_from_others_and_its_cost() -> None:
    meta: dict[str, Any] = {
        "scenario_hash": "abc", "results_version": 20, "version": "0.1", "simulated_s": 60.0,
        "measured_from_s": 15.0, "data_packets": 7, "machine": {"wall_s": 2.5}, "seed": 3,
    }  # fmt: skip
    assert facts(meta) == {
        "scenario_hash": "abc", "results_version": 20, "version": "0.1", "measured_s": 45.0,
        "data_packets": 7, "wall_s": 2.5,
    }  # fmt: skip


def test_samples_are_thinned_unless_all_are_kept(finished: longhaul.Results) -> None:
    thinned, whole = reduce(finished), reduce_keeping_samples(finished)
    assert thinned["run"] == whole["run"]
    assert thinned["run"]["measured_s"] == finished.measured_s
    assert thinned.keys() == whole.keys()


KEPT: dict[str, Any] = {
    "run": {"wall_s": 2.0, "version": "0.1"},
    "all": {"goodput_bps": 5.0, "jain": None},
    "labels": [{"label": "a", "goodput_bps": 3.0}, {"label": "b", "goodput_bps": 2.0}],
    "links": [{"link": "x", "utilization": 0.5}, {"link": "y", "utilization": 0.25}],
    "measured": {"own.most": 9.0},
    "empty": [],
}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("goodput_bps", 5.0), ("jain", None), ("labels.b.goodput_bps", 2.0), ("wall_s", 2.0),
        ("links.utilization", 0.5), ("utilization", 0.5), ("links.y.utilization", 0.25),
        ("run.wall_s", 2.0), ("all.jain", None),
    ],
)  # fmt: skip
def test_a_response_is_the_number_at_its_path(place: str, value: float | None) -> None:
    """Check which of a run's stored numbers the path of a response denotes.

    A path without a row's name means the first row; without a table's name, the first table that
    has the column.
    """
    assert look_up(KEPT, place) == value


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("version", "`version` is no number"),
        ("labels.c.goodput_bps", "unknown column `labels.c.goodput_bps`"),
        ("godput_bps", "unknown column `godput_bps` .*did you mean `goodput_bps`"),
        ("labels.a", "unknown column `labels.a`"),
        ("labels", "unknown column `labels`"),
        ("run", "unknown column `run`"),
        ("run.wall_s.more", "unknown column `run.wall_s.more`"),
        ("goodput_bps.a.b", "unknown column `goodput_bps.a.b`"),
        ("none.a", "unknown column `none.a`"),
        ("empty.goodput_bps", "unknown column `empty.goodput_bps`"),
        ("links.x.utilisation", "`utilisation` is now called `utilization`"),
    ],
)
def test_a_path_that_leads_to_no_number_is_refused(place: str, message: str) -> None:
    with pytest.raises(ResponseError, match=message):
        look_up(KEPT, place)


def test_rows_have_responses_in_order_and_those_of_functions_behind() -> None:
    own = Response("own", source="def f(run): return {'most': 9}", function="f")
    reducer = Responses(
        (own, Response("rate", place="goodput_bps"), Response("jain", place="jain"))
    )
    assert list(reducer.row(KEPT).items()) == [("rate", 5.0), ("jain", None), ("own.most", 9.0)]


def test_runs_measured_otherwise_are_kept_apart() -> None:
    """Check that other response functions or stored tables give another variant.

    The variant, a digest of functions and tables, is part of a run's key in the store.
    """
    plain = Responses((Response("rate", place="goodput_bps"),))
    assert plain.variant == ""
    one, two = (Response("own", source=f"def f(run): return {n}", function="f") for n in (1, 2))
    variants = {
        Responses((one,)).variant, Responses((two,)).variant,
        Responses(plain.responses, keep=("flows",)).variant,
        Responses(plain.responses, keep=("flows", "links")).variant,
    }  # fmt: skip
    assert len(variants) == 4
    assert {len(variant) for variant in variants} == {8}
    order = [Responses((), keep=keep).variant for keep in (("a", "b"), ("b", "a"))]
    assert order[0] == order[1]


def test_responses_are_a_list_or_a_table(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def most(run):\n    return 1\n")
    (tmp_path / "bad.py").write_text("def most(run:\n")
    assert read_responses(tmp_path, ["jain"]) == (Response("jain", place="jain"),)
    table = {"fairness": "jain", "most": {"python": "own.py:most"}}
    assert [one.place or one.function for one in read_responses(tmp_path, table)] == [
        "jain",
        "most",
    ]
    for given, message in (
        ([], "expected at least one"),
        ({"a": 3}, "responses.a: expected a column, or"),
        ({"a": {"python": "own.py:most", "more": 1}}, "responses.a: expected a column, or"),
        ({"a": {"python": "own.py"}}, "responses.a: expected FILE:FUNCTION, found 'own.py'"),
        ({"a": {"python": "own.py:least"}}, "own.py has no function `least`"),
        ({"a": {"python": "bad.py:most"}}, r"bad\.py:1: '\(' was never closed"),
    ):
        with pytest.raises(ResponseError, match=message):
            read_responses(tmp_path, given)


def test_a_failure_is_kept_until_it_is_cleared(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.failure("abc") is None
    store.record_failure("abc", "no memory")
    failed = store.failure("abc")
    assert failed is not None
    assert failed[1] == "no memory"
    assert failed[0] == pytest.approx((tmp_path / next(tmp_path.rglob("abc.json"))).stat().st_mtime)
    assert store.failure("abd") is None
    store.clear_failure("abc")
    store.clear_failure("abc")
    assert store.failure("abc") is None


def test_values_of_variants_are_apart(tmp_path: Path) -> None:
    plain, other = Store(tmp_path), Store(tmp_path, "v1")
    plain.put("abc", {"run": {}})
    assert (plain.has("abc"), other.has("abc")) == (True, False)
    other.put("abc", {"run": {"x": 1}}, {"flows": b"content"})
    assert (plain.get("abc"), other.get("abc")) == ({"run": {}}, {"run": {"x": 1}})
    assert other.table("abc", "flows").read_bytes() == b"content"
    assert not plain.table("abc", "flows").exists()


def test_another_parquet_file_is_no_table_of_a_campaign(tmp_path: Path) -> None:
    frame = pl.DataFrame({"run": [1, 2], "n": [1, 2], "y": [0.5, 1.5]})
    facts = {"factors": {"n": [1, 2]}, "responses": ["y"], "runs": 2}
    own, other = tmp_path / "own.parquet", tmp_path / "other.parquet"
    Dataset(frame, facts).write(own)
    read = Dataset.read(own)
    assert read.frame.equals(frame)
    assert (dict(read.facts), read.factors, read.responses) == (facts, {"n": [1, 2]}, ["y"])
    frame.write_parquet(other)
    with pytest.raises(longhaul.LonghaulError, match=r"other\.parquet: not a table of a campaign"):
        Dataset.read(other)


def test_a_campaign_s_path_is_relative_to_its_store(tmp_path: Path) -> None:
    """Check that a campaign's path is relative to its store, so that both may be moved together."""
    campaign: Any = SimpleNamespace(path=tmp_path / "here" / "c.toml")
    store = Store(tmp_path / "there" / "store")
    assert path_from(store, campaign) == "../../here/c.toml"


def test_directories_that_are_gone_already_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that removing a directory that is already gone is no error.

    Another program with the same store may have removed the directory.
    """
    kept = Store(tmp_path)
    with kept.scratch() as mine, kept.scratch() as other:
        assert mine != other
        assert mine.parent == other.parent == tmp_path / "under-way"
        mine.rmdir()
    assert not other.exists()
    left = tmp_path / "under-way" / "here-1-left"
    left.mkdir()

    def has_ended(host: str, process: str) -> bool:
        left.rmdir()
        return True

    monkeypatch.setattr(store, "has_ended", has_ended)
    kept.sweep_out()
    assert list((tmp_path / "under-way").iterdir()) == []
    Store(tmp_path / "none").sweep_out()
