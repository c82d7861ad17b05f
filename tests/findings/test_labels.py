"""Labels of a table's columns in plots."""

from importlib import resources

import polars as pl
import pytest

from longhaul.analysis.table import PROVENANCE
from longhaul.findings.labels import codes, factor_label, label


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("y6_TP1", "retransmission rate of completed flows, TP1"),
        ("y7_TP3", "smoothed round-trip time, TP3 (ms)"),
        # Chapter 4 has a single period, and numbers responses differently.
        ("y11_measured", "congestion window of an active flow (packets)"),
        ("y8_TP2", "round-trip queueing delay, TP2 (ms)"),
        ("T.y5", "SYNs of a connected flow, whole run"),
        ("active_flows_half", "active flows, second half"),
        ("DN_pps_TP1", "throughput of each DN flow, TP1 (packets/s)"),
        (
            "mean_alternate_14",
            "mean goodput, document, very fast path, normal interface, alternate (packets/s)",
        ),
        ("network.active_flows", "active flows"),
        ("goodput_bps", "goodput (bit/s)"),
        ("labels.cubic.rtt_p95_s", "95 % quantile of round-trip time of cubic (s)"),
        ("links.bottleneck.utilization", "utilisation of bottleneck"),
        ("PC2", "score on PC2"),
        # The suffix of an unknown column still gives its unit.
        ("one_bps", "one (bit/s)"),
        # These suffixes `_s` are not a unit of seconds.
        ("within_10_s", "within_10_s"),
        ("offered_connections_per_s", "offered_connections_per_s"),
        ("mean_alternate_99", "mean_alternate_99"),
        ("mine.value", "mine.value"),
    ],
)  # fmt: skip
def test_a_column_is_named_in_words_with_its_unit(column: str, words: str) -> None:
    assert label(column) == words


def test_every_response_of_the_nist_study_has_words() -> None:
    recorded = resources.files("longhaul_studies.nist_2010") / "results/full/values.parquet"
    with resources.as_file(recorded) as file:
        schema = pl.read_parquet_schema(file)
    axes = {"condition", "speed", "think", "delay", "file", "replication", "run", "documents",
            "fast_hosts", "scale", "ssthresh", "buffer_factor", "alternates", "rtt",
            "htcp_rounds"}  # fmt: skip
    responses = [
        name
        for name, kind in schema.items()
        if kind.is_numeric() and name not in axes and name not in PROVENANCE
    ]
    assert len(responses) > 500
    unknown = [name for name in responses if label(name) == name]
    assert unknown == []
    # Two responses with one label could not be distinguished in a plot.
    for numbered in ([f"y{n}_TP1" for n in range(1, 46)], [f"y{n}_measured" for n in range(1, 23)]):
        assert len({label(name) for name in numbered}) == len(numbered)


def test_a_factor_is_named_in_words() -> None:
    assert factor_label("fast_hosts") == "fast hosts"


def test_short_names_go_with_lines_that_say_what_they_are() -> None:
    assert codes(["y6_TP1", "y7_TP1"]) == (
        ["y6", "y7"],
        [
            "y6: retransmission rate of completed flows, TP1",
            "y7: smoothed round-trip time, TP1 (ms)",
        ],
    )
    assert codes(["y6_TP1", "T.y5"])[0] == ["y6_TP1", "T.y5"]
    assert codes(["mean_alternate_14", "mean_alternate_15"])[0] == ["D VF-N", "D F-F"]
    # The letters alone do not distinguish the alternate's flows from the standard's.
    both = ["mean_alternate_14", "mean_standard_14"]
    assert len(set(codes(both)[0])) == 2
    assert codes(["goodput_bps", "mine"]) == (["goodput", "mine"], [])
