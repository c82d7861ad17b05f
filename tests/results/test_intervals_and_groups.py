"""Counts in intervals, response times, replications and shares, on tables written by hand."""

from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import longhaul
from longhaul.results.captures import _blocks, _options, _tcp_options
from longhaul.results.counts import counted
from longhaul.results.files import ResultsError
from longhaul.results.replications import named, replicated
from longhaul.results.response_times import response_times, with_times
from longhaul.results.shares import portions
from longhaul.results.table import Block, Table


def sampled(*times: float, starts: list[float] | None = None) -> Any:  # noqa: ANN401
    """Return a run with samples at `times`, between which 10, 20, ... packets are forwarded."""
    departed = np.cumsum(10 * np.arange(len(times)))
    tables = {"series": None} if starts is None else {"exchanges": None}
    return SimpleNamespace(
        path="r", bottleneck="b", measured_from_s=2.0, tables=tables,
        bottleneck_series=pl.DataFrame({"t_s": times, "departed_pkts": departed}),
        exchanges=pl.DataFrame({"start_s": starts or []}, schema={"start_s": pl.Float64}),
    )  # fmt: skip


def test_packets_are_counted_from_the_beginning_of_the_measurement_window() -> None:
    """Check that packets are counted from the start of the measurement, at 2 s.

    The sample at this time is 1e-12 s early, as a rounded time can be.
    """
    [(name, step_s, counts)] = counted(sampled(1.5, 2.0 - 1e-12, 2.5, 3.0))
    assert (name, counts.tolist()) == ("b: packets", [20.0, 30.0])
    assert step_s == pytest.approx(0.5)
    assert counts.dtype == float


def test_exchanges_are_counted_in_the_interval_in_which_they_begin() -> None:
    """Check that an exchange is counted in the interval in which it begins.

    An interval includes its beginning; the last interval also includes its end.
    """
    *_, (name, step_s, counts) = counted(
        sampled(2.0, 3.0, 4.0, 5.0, starts=[1.9, 2.0, 2.9, 3.0, 4.0, 5.0, 5.1])
    )
    assert (name, step_s, counts.tolist()) == ("exchanges", 1.0, [2.0, 1.0, 2.0])


def test_two_samples_are_too_few() -> None:
    with pytest.raises(ResultsError, match="r: expected at least three samples"):
        list(counted(sampled(1.0, 2.0, 3.0)))


FLOWS = pl.DataFrame(
    {
        "label": ["a", "a", "b"], "name": ["a-1", "a-2", "b-1"], "start_s": [2.0, 1.9, 2.5],
        "transfer_bytes": [10, 10, None], "completion_s": [0.5, 0.6, None],
    }
)  # fmt: skip
EXCHANGES = pl.DataFrame(
    {"name": ["b-1", "a-1", "b-1"], "start_s": [1.9, 2.0, 3.0], "end_s": [2.0, 2.25, None]}
)


def test_times_are_of_what_began_in_the_measurement_window() -> None:
    """Check that response times are those of exchanges that began in the measurement window.

    A response that begins with the window counts; an unfinished response has no time.
    """
    timed = with_times(EXCHANGES, 2.0)
    assert timed["response_s"].to_list() == [0.25, None]
    found = response_times(FLOWS, EXCHANGES, 2.0)
    assert found.columns == ["label", "name", "response_s"]
    assert found.rows() == [("a", "a-1", 0.5), ("a", "a-1", 0.25), ("b", "b-1", None)]
    assert response_times(FLOWS, None, 2.0).rows() == [("a", "a-1", 0.5)]
    assert response_times(FLOWS, None, 9.0).schema == found.schema


def test_runs_have_a_heading_each_if_there_are_several() -> None:
    """Check that several runs have their names as headings, above the first label of each run."""
    block = Block("goodput", [("mean", ["1", "2"])])
    for runs, headings in (
        ([("r1", ["a", "all"])], ["a", "all"]),
        ([("r1", ["a", "all"]), ("r2", ["a"])], ["r1\na", "\nall", "r2\na"]),
    ):
        table = Table(runs, [block], "10 s").__rich__()
        assert [str(column.header) for column in table.columns] == ["10 s", *headings]
    changes = Table([("r1", ["a"])], [Block("changes from r0", [])]).__rich__()
    assert [str(column.header) for column in changes.columns] == ["", "r1\na"]


def run(name: str, rows: list[dict[str, Any]], kinds: dict[str, str], **scenario: Any) -> Any:  # noqa: ANN401
    """Return a stand-in for a run; `rows` are results by label, `kinds` the labels' algorithms."""
    return SimpleNamespace(
        name=name, scenario=scenario, meta=scenario.pop("meta", {}), algorithms=lambda: kinds,
        summary=lambda: SimpleNamespace(labels=pl.DataFrame(rows)),
    )  # fmt: skip


def test_replications_differ_in_random_numbers_alone() -> None:
    """Check that runs are replications of each other only if nothing but random numbers differs.

    Emulations of different programs are no replications.
    """
    runs = [
        run("one", [], {}, seed=1, n=1), run("two", [], {}, n=2), run("three", [], {}, n=1, seed=2),
        run("four", [], {}, replication=4, n=1), run("five", [], {}, n=1, m=0),
        run("six", [], {}, n=1, meta={"emulation": {"programs": ["x"]}}),
        run("seven", [], {}, n=1, meta={"emulation": {}}),
    ]  # fmt: skip
    groups = [[one.name for one in group] for group in replicated(runs)]
    assert groups == [["one", "three", "four", "seven"], ["two"], ["five"], ["six"]]
    assert named(runs[:2]) == "one, 2 replications"
    assert named(runs[1:2]) == "two"
    assert replicated([]) == []


def test_shares_are_means_over_replications() -> None:
    """Check that each label's share of the goodput is a mean over replications.

    A run without goodput has no shares. If a label's algorithm varies, labels name the algorithm.
    """

    def labels(*values: tuple[str, float, float | None]) -> list[dict[str, Any]]:
        return [{"label": of, "goodput_bps": rate, "share": part} for of, rate, part in values]

    kinds = {"a": "reno", "b": "cubic"}
    runs = [
        run("r1", labels(("a", 3.0, 0.75), ("b", 1.0, 0.25)), kinds, seed=1),
        run("r2", labels(("a", 0.0, None), ("b", 0.0, None)), kinds, seed=2),
        run("r3", labels(("a", 5.0, 1.0)), {"a": "bbr"}, n=3),
    ]
    found = portions(runs)
    assert [(one.runs, one.label, one.algorithm) for one in found] == [
        ("r1, 2 replications", "a (reno)", "reno"), ("r1, 2 replications", "b", "cubic"),
        ("r3", "a (bbr)", "bbr"),
    ]  # fmt: skip
    assert [one.goodput_bps.mean for one in found] == [1.5, 0.5, 5.0]
    assert [one.goodput_bps.count for one in found] == [2, 2, 1]
    assert [(one.share.mean, one.share.count) for one in found] == [(0.75, 1), (0.25, 1), (1.0, 1)]


def test_tcp_options_are_read_up_to_their_end() -> None:
    """Check that TCP options are read up to the option that ends the list.

    See RFC 9293, section 3.1; RFC 7323, section 2.2; RFC 2018, section 3.
    """
    sack = bytes([5, 18]) + b"".join(n.to_bytes(4, "big") for n in (1, 2, 300, 400))
    assert _tcp_options(bytes([1, 3, 3, 7, 1, 1]) + sack) == (7, [(1, 2), (300, 400)])
    assert _tcp_options(bytes([2, 4, 5, 180, 3, 3, 9])) == (9, [])
    assert _tcp_options(bytes([0, 3, 3, 7])) == (0, [])
    assert _tcp_options(b"") == (0, [])


def test_blocks_and_options_of_a_capture_are_padded() -> None:
    """Check the reading of blocks and padded options of a pcapng capture.

    A block begins and ends with its whole length (draft-ietf-opsawg-pcapng, sections 3.1 and 3.5).
    """

    def block(kind: int, body: bytes) -> bytes:
        length = (12 + len(body)).to_bytes(4, "little")
        return kind.to_bytes(4, "little") + length + body + length

    content = block(1, b"abcd") + block(6, b"") + b"short"
    assert list(islice(_blocks(content), 9)) == [(1, b"abcd"), (6, b"")]
    options = (
        b"\x01\x00\x03\x00abc\x00"
        + b"\x02\x00\x04\x00wxyz"
        + b"\x00\x00\x00\x00"
        + b"\x03\x00\x00\x00"
    )
    assert _options(options) == {1: b"abc", 2: b"wxyz"}
    assert _options(b"") == {}


def test_samples_that_cannot_be_read_are_damaged(
    finished: longhaul.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that a file `series.parquet` which cannot be read is reported as damaged."""

    def scan(file: object) -> None:
        raise pl.exceptions.ComputeError("bad page")

    run = longhaul.Results(finished.path)
    monkeypatch.setattr(pl, "scan_parquet", scan)
    with pytest.raises(ResultsError, match=r"series\.parquet: damaged \(bad page\); run the scen"):
        run.observed_links()
