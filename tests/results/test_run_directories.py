"""Run directories: refused files and names; facts of a run, such as its title and links."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import longhaul
from longhaul.results import files
from longhaul.results.files import read_meta
from longhaul.results.replications import named
from longhaul.results.response_times import response_times
from longhaul.results.summary import bundles
from longhaul.results.table import Block, Table, in_units


def _meta(finished: longhaul.Results) -> dict[str, Any]:
    """Return the content of a `run.json`, without the checksum of its own text."""
    meta = read_meta(finished.path)
    meta.pop("sha256_above", None)
    return meta


def _written(directory: Path, meta: object) -> Path:
    (directory / "run.json").write_text(json.dumps(meta), encoding="utf-8")
    return directory


def _without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda meta: {name: value for name, value in meta.items() if name != key}


def _with(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda meta: meta | {key: value}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta: [meta], "is not a run description"),
        (_without("seed"), "`seed` is missing"),
        (_without("machine"), "`machine` is missing"),
        (_with("seed", "1"), "`seed` is '1', which is not of type int"),
        (_with("seed", True), "`seed` is True, which is not of type int"),
        (_with("simulated_s", "1 s"), "`simulated_s` is '1 s', which is not of type int or float"),
        (_with("stopped", 0), "`stopped` is 0, which is not of type bool"),
        (lambda meta: meta | {"machine": meta["machine"] | {"wall_s": "1"}}, "`machine.wall_s`"),
        (lambda meta: meta | {"machine": meta["machine"] | {"wall_s": True}}, "`machine.wall_s`"),
        (lambda meta: meta | {"rows": meta["rows"] | {"flows": "3"}}, "`rows` holds something"),
        (_with("warnings", ["one", 2]), "`warnings` holds something that is not a string"),
    ],
)
def test_a_run_json_without_its_shape_is_refused(
    change: Callable[[dict[str, Any]], object],
    message: str,
    finished: longhaul.Results,
    tmp_path: Path,
) -> None:
    directory = _written(tmp_path, change(_meta(finished)))
    with pytest.raises(longhaul.ResultsError, match=r"run\.json: ") as refused:
        longhaul.open(directory)
    assert message in str(refused.value)
    assert str(refused.value).endswith("run the scenario again")


def test_a_run_json_with_its_shape_is_read(finished: longhaul.Results, tmp_path: Path) -> None:
    meta = _meta(finished) | {"simulated_s": 10, "warnings": ["careful"]}
    assert longhaul.open(_written(tmp_path, meta)).warnings == ["careful"]


def test_text_that_is_no_json_and_other_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(longhaul.ResultsError, match=r"it has no run\.json"):
        longhaul.open(tmp_path)
    with pytest.raises(longhaul.ResultsError, match="it does not exist"):
        longhaul.open(tmp_path / "none")
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(longhaul.ResultsError, match="cannot be read"):
        longhaul.open(tmp_path)


def test_a_file_of_a_run_opens_the_run_and_another_file_none(
    finished: longhaul.Results, tmp_path: Path
) -> None:
    assert longhaul.open(finished.path / "flows.parquet").path == finished.path
    alone = tmp_path / "flows.parquet"
    alone.touch()
    with pytest.raises(longhaul.ResultsError, match="expected a run directory, or a file beside"):
        longhaul.open(alone)


def test_an_edited_run_json_is_refused(finished: longhaul.Results, tmp_path: Path) -> None:
    text = (finished.path / "run.json").read_text(encoding="utf-8")
    assert '"sha256_above"' in text
    seed = f'"seed": {finished.meta["seed"]}'
    assert text.count(seed) >= 1
    (tmp_path / "run.json").write_text(text.replace(seed, '"seed": 7', 1), encoding="utf-8")
    with pytest.raises(longhaul.ResultsError, match="edited after the run"):
        longhaul.open(tmp_path)


def test_tables_are_checked_before_they_are_read(
    finished: longhaul.Results, tmp_path: Path
) -> None:
    run = tmp_path / "r"
    shutil.copytree(finished.path, run)
    file = run / "links.parquet"
    pl.read_parquet(file).head(1).write_parquet(file)
    with pytest.raises(longhaul.ResultsError, match="its checksum does not match"):
        _ = longhaul.open(run).links
    meta = _meta(finished)
    meta["sha256"]["links.parquet"] = hashlib.sha256(file.read_bytes()).hexdigest()
    assert len(longhaul.open(_written(run, meta)).links) == 1
    # A run of an older version has no checksums, and lacks a column.
    meta.pop("sha256")
    pl.read_parquet(file).drop("utilization").write_parquet(file)
    with pytest.raises(longhaul.ResultsError, match="has no column `utilization`") as refused:
        _ = longhaul.open(_written(run, meta)).links
    assert f"results version {meta['results_version']}, this is" in str(refused.value)
    file.write_bytes(b"no table")
    with pytest.raises(longhaul.ResultsError, match="damaged, edited or truncated"):
        _ = longhaul.open(run).links
    file.unlink()
    with pytest.raises(longhaul.ResultsError, match=r"missing; run the scenario again"):
        _ = longhaul.open(run).links


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("throughput", "goodput_bps"),
        ("utilisation", "utilization"),
        ("goodput_bsp", "goodput_bps"),
        ("mean_pkts", "cwnd_mean_pkts"),
    ],
)
def test_a_column_that_is_not_there_is_answered_with_the_one_meant(
    name: str, meant: str, finished: longhaul.Results
) -> None:
    table = finished.links if name == "utilisation" else finished.flows
    with pytest.raises(longhaul.ResultsError, match=f"no column `{name}`") as refused:
        table[name]
    assert f"`{meant}`" in str(refused.value)
    assert table["name"].to_list()


COLUMNS = ["name", "t_s", "srtt_s", "goodput_bps", "cwnd_mean_pkts", "utilization"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        # A column begins with the word or a synonym of it, resembles the word, or contains it.
        ("time", "t_s"), ("throughput", "goodput_bps"), ("cwnd", "cwnd_mean_pkts"),
        ("utilisation", "utilization"), ("goodput_bsp", "goodput_bps"), ("rtt", "srtt_s"),
        ("mean", "cwnd_mean_pkts"), ("put", "goodput_bps"), ("ut", None), ("xyz", None),
    ],
)  # fmt: skip
def test_a_word_is_a_column_that_begins_with_it_resembles_it_or_holds_it(
    word: str, meant: str | None
) -> None:
    assert files._nearest(word, COLUMNS) == meant


def test_a_table_that_is_not_there_is_answered_with_those_that_are(
    finished: longhaul.Results,
) -> None:
    with pytest.raises(longhaul.ResultsError, match="flow"):
        finished.table("flwos")
    assert finished.table("flows").equals(finished.flows)


def _changed(finished: longhaul.Results, **meta: object) -> longhaul.Results:
    """Return the run with facts of its `run.json` replaced by `meta`."""
    run = longhaul.open(finished.path)
    run.meta |= meta
    return run


def test_packets_of_a_capture_are_no_table(finished: longhaul.Results) -> None:
    run = _changed(finished, rows=finished.meta["rows"] | {"packets": 3})
    with pytest.raises(longhaul.ResultsError, match="unknown table `packets`"):
        run.table("packets")
    assert run.tables == finished.tables


def test_a_run_has_the_name_of_its_directory_from_within(
    finished: longhaul.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished.path)
    assert longhaul.open(".").name == "r1"


def test_a_stopped_run_says_when_and_why(finished: longhaul.Results) -> None:
    assert finished.stopped == ""
    facts = {"stopped": True, "simulated_s": 2.5, "warnings": ["short"]}
    run = _changed(finished, **facts)
    run.meta.pop("duration_s", None)
    assert run.stopped == "the run was stopped at 2.5 s"
    run.meta |= {"duration_s": 10.0, "stopped_by": "the user"}
    assert run.stopped == "the run was stopped at 2.5 s of 10 s by the user"
    assert run.warnings == ["short", run.stopped]


def test_a_run_tells_its_title_speed_and_origin(finished: longhaul.Results) -> None:
    machine = {"wall_s": 2.0, "packets_per_s": 3.5e6, "peak_memory_bytes": 5 * 2**20}
    run = _changed(finished, machine=machine, data_packets=7_000_000, simulated_s=10.0, seed=4)
    assert run.title == "Small"
    assert run.headline() == (
        "10 s simulated, measured from 2 s, seed 4; 7,000,000 data packets in 2.0 s (3.50 M/s)"
    )
    run.meta["emulation"] = {}
    assert "10 s emulated" in run.headline()
    origin = run.provenance()
    assert origin["speed"] == "3.50 million packets a second"
    assert origin["engine's peak memory"] == "5.0 MiB"
    assert origin["wall time"] == "2.0 s"
    assert origin["seed, replication"] == f"4, {run.meta['replication']}"
    run.meta["scenario"] = run.scenario | {"title": ""}
    assert run.title == run.name == "r1"


def test_links_are_chosen_by_their_utilisation(finished: longhaul.Results) -> None:
    run = longhaul.open(finished.path)
    names = ["a", "b", "c", "d"]
    run.__dict__["links"] = pl.DataFrame({"name": names, "utilization": [0.4, 0.8, None, 0.39]})
    run.__dict__["_sampled_links"] = tuple(names)
    assert run.bottleneck == "b"
    # Busy links have at least half of the largest utilisation, in the scenario's order.
    assert run.busy_links() == ["a", "b"]
    run.meta["rows"] = {"links": 4}
    assert run.observed_links() == ["b"], "without samples, the busiest"


def test_flows_without_an_algorithm_are_of_udp(finished: longhaul.Results) -> None:
    run = longhaul.open(finished.path)
    frame = {"label": ["web", "web", "call"], "congestion": ["cubic", "cubic", None]}
    run.__dict__["flows"] = pl.DataFrame(frame | {"bundle": ["web-0", "web-0", "call-0"]})
    assert run.algorithms() == {"web": "cubic", "call": "udp"}
    assert run.label_counts() == {"web": 1, "call": 1}
    groups = [{"label": "web", "protocol": "quic"}, {"label": "call", "protocol": "udp"}]
    run.meta["scenario"] = run.scenario | {"flows": groups}
    assert run.quic_labels == {"web"}


def test_replications_are_named_by_the_first_and_their_number(finished: longhaul.Results) -> None:
    assert named([finished]) == "r1"
    assert named([finished, finished]) == "r1, 2 replications"


@pytest.mark.parametrize(
    ("digits", "values", "unit", "scale"),
    [
        # Two digits need a tenth of the unit: the largest number has it from 100 kbit/s on.
        (2, [100_001.0, 3.0], "Mbit/s", 1e-6),
        (2, [99_999.0, None], "kbit/s", 1e-3),
        (2, [-2e5, 0.0], "Mbit/s", 1e-6),
        (1, [1e6], "Mbit/s", 1e-6),
        (1, [999_999.0], "kbit/s", 1e-3),
        (2, [0.001], "bit/s", 1.0),
        (2, [0.0, None], "Mbit/s", 1e-6),
        (2, [], "Mbit/s", 1e-6),
    ],
)
def test_a_row_has_the_unit_that_keeps_its_digits(
    digits: int, values: list[float | None], unit: str, scale: float
) -> None:
    found = in_units("goodput of all (Mbit/s)", digits, values)
    assert found == (f"goodput of all ({unit})", scale)


def test_columns_are_named_by_runs_where_there_are_several() -> None:
    def headings(table: Table) -> list[str]:
        return [str(column.header) for column in table.__rich__().columns]

    rows = [Block("flows", [("goodput", ["1", "2"])])]
    assert headings(Table([("r1", ["a", "all"])], rows, "2 to 10 s")) == ["2 to 10 s", "a", "all"]
    both = headings(Table([("r1", ["a"]), ("r2", ["a"])], rows))
    assert both == ["", "r1\na", "r2\na"]
    changes = [Block("changes of r2", [("goodput", ["1", "2"])])]
    # The name of a run is only above its first label.
    assert headings(Table([("r2", ["a", "all"])], changes)) == ["", "r2\na", "\nall"]


def test_response_times_are_of_what_began_in_the_window() -> None:
    flows = pl.DataFrame(
        {
            "name": ["bulk", "early", "file", "cut", "web"],
            "label": ["b", "f", "f", "f", "w"],
            "start_s": [5.0, 1.9, 2.0, 3.0, 0.0],
            "transfer_bytes": [None, 10, 10, 10, None],
            "completion_s": [None, 1.0, 4.0, None, None],
        }
    )
    exchanges = pl.DataFrame(
        {"name": ["web"] * 3, "start_s": [1.0, 2.0, 6.0], "end_s": [1.5, 2.25, None]}
    )
    times = response_times(flows, exchanges, 2.0)
    assert times.rows() == [
        ("f", "file", 4.0), ("f", "cut", None), ("w", "web", 0.25), ("w", "web", None),
    ]  # fmt: skip
    assert response_times(flows, None, 2.0)["name"].to_list() == ["file", "cut"]


def test_streams_of_a_flow_are_added_up(finished: longhaul.Results) -> None:
    flows = finished.flows
    assert bundles(flows) is flows, "each flow is one stream"
    streams = flows.with_columns(
        bundle=pl.Series(["fast", "fast", "standard"]),
        transfer_bytes=pl.Series([10, 20, None], dtype=pl.Int64),
        start_s=pl.Series([1.0, 0.5, 0.0]),
        completion_s=pl.Series([2.0, 4.0, None], dtype=pl.Float64),
        finish_s=pl.Series([3.0, 4.5, None], dtype=pl.Float64),
        rtt_samples=pl.Series([1, 3, 0]),
        rtt_mean_s=pl.Series([0.4, 0.2, None], dtype=pl.Float64),
    )
    fast, standard = bundles(streams).to_dicts()
    assert [fast[key] for key in ("start_s", "finish_s", "completion_s")] == [0.5, 4.5, 4.0]
    assert fast["transfer_bytes"] == 30
    # The mean is weighted by samples: (0.4 + 3 * 0.2) / 4.
    assert fast["rtt_mean_s"] == pytest.approx(0.25)
    empty = ("transfer_bytes", "rtt_mean_s", "completion_s")
    assert [standard[key] for key in empty] == [None] * 3
    # A flow with an unfinished stream is unfinished.
    cut = streams.with_columns(completion_s=pl.Series([2.0, None, None], dtype=pl.Float64))
    assert bundles(cut)["completion_s"].to_list() == [None, None]


def test_flows_of_streams_keep_the_order_of_their_first_streams(finished: longhaul.Results) -> None:
    """Check that flows with several streams are listed in the order of their first streams."""
    names = [f"flow-{number * 7 % 50}" for number in range(50)]
    streams = pl.concat([finished.flows[[0]]] * 100).with_columns(
        bundle=pl.Series([name for name in names for _ in range(2)])
    )
    assert bundles(streams)["name"].to_list() == names


def test_samples_are_of_flows_links_or_proxies(finished: longhaul.Results) -> None:
    run = longhaul.open(finished.path)
    kinds = ["flow", "link", "proxy", "link"]
    run.__dict__["series"] = pl.DataFrame({"kind": kinds, "t_s": [0.0, 1.0, 0.0, 0.5]})
    assert run.link_series["t_s"].to_list() == [1.0, 0.5]
    assert run.proxy_series["kind"].to_list() == ["proxy"]
    assert run.sample_times.to_list() == [0.0, 0.5, 1.0]
