"""The study of C4's tests: its scenarios resolve, and its measures are right."""

import json
from typing import Any

import pytest

import longhaul
from longhaul.analysis.judging import REPRODUCED
from longhaul.studies.judgement import Judgement
from longhaul.studies.study import find

STUDY = find("c4-2026")
METRICS = STUDY.module("metrics")
MAINS = {"c4", "bbr3", "cubic"}


def test_every_test_is_run_with_each_of_the_three() -> None:
    runs = STUDY.runs("quick", [], 1)
    assert {(run.experiment, run.cell["main"]) for run in runs} == {
        (name, main) for name in STUDY.experiments for main in MAINS
    }
    for run in runs:
        scenario = json.loads(longhaul.load(run.scenario).resolved_json())
        main = scenario["flows"][0]
        assert main["label"] == "main"
        assert main["congestion"]["kind"] == run.cell["main"]
        for flow in scenario["flows"]:
            _check_sender(flow)
        backgrounds = [flow["congestion"]["kind"] for flow in scenario["flows"][1:]]
        assert len(backgrounds) == run.experiment.startswith(("vs_", "after", "before", "bbloat_"))


def _check_sender(flow: dict[str, Any]) -> None:
    """Check that all senders are picoquic's, with its slow start for CUBIC only."""
    assert flow["congestion"]["variant"] == "picoquic"
    is_cubic = flow["congestion"]["kind"] == "cubic"
    assert (flow["slow_start"]["kind"] == "picoquic") == is_cubic
    if is_cubic:
        assert flow["congestion"]["decrease"] == 0.125
        assert flow["tcp"]["pacing"]["slow_start"] == 1.25


# Seconds: a download of this payload at the rate of its link, with the headers of 1,500 bytes.
PAYLOAD, PACKET = 1448, 1500
# What is printed of each test, and of which section of the results it is: of all, and of some.
PRINTED = [
    ("time_s", "mean"), ("time_s", "ninth_decile"),
    ("rtt_ms", "mean"), ("rtt_and_deviation_ms", "ninth_decile"),
    ("load_pct", "mean"), ("load_pct", "ninth_decile"),
]  # fmt: skip
CHAPTERS = {
    "vs_": "5.2", "after_": "5.2", "before_": "5.2", "bbloat": "5.3", "wifi_": "5.4", "": "5.1",
}  # fmt: skip


def test_every_printed_number_is_a_claim_with_its_section() -> None:
    """The path of wifi_fade is another than the source's: its numbers are hypotheses."""
    other_path = "hypothesis: {}, on its path without the jitter"
    expected = set()
    for test in STUDY.experiments:
        chapter = next(number for start, number in CHAPTERS.items() if test.startswith(start))
        printed = PRINTED[:4] if chapter == "5.1" else PRINTED
        source = other_path if test == "wifi_fade" else "{}"
        expected |= {
            (test, metric, measure, main, source.format(f"section {chapter}.{row}"))
            for row, (metric, measure) in enumerate(printed, start=1)
            for main in MAINS
        }
    numbers = [claim for claim in STUDY.claims if claim.expected.printed is not None]
    claimed = {
        (claim.experiments[0], claim.question.metric, claim.measure, claim.question.levels["main"],
         claim.source)
        for claim in numbers
    }  # fmt: skip
    assert claimed == expected
    assert len(numbers) == len(expected)


def test_no_band_reaches_below_what_the_link_permits() -> None:
    """Bounds are those of a changing path, and of round trips; loads are fractions of a link."""
    for claim in STUDY.claims:
        if claim.derived:
            continue
        low, high = claim.expected.low, claim.expected.high
        match claim.question.metric, claim.experiments[0]:
            case "load_pct", _:
                assert low >= 0, claim.id
                assert high <= 100, claim.id
            # 10 MB: 20 Mbit/s with pauses of 0.2 s every 2 s, and 2 s of 18 Mbit/s.
            case "time_s", "wifi_suspension":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 20e6 + 0.4 - 1e-3, claim.id
            case "time_s", "wifi_fade":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 20e6 + 0.2 - 1e-3, claim.id
            case "time_s", "blackhole":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 25e6 + 2.0 - 1e-3, claim.id
            case "rtt_ms" | "rtt_and_deviation_ms", "bbloat":
                assert low >= 80, claim.id
        assert low <= (claim.expected.printed or low) <= high, claim.id


def test_the_end_of_the_later_download_is_judged_as_closely_as_a_steady_path() -> None:
    for claim in STUDY.claims:
        if "for both downloads" in claim.statement:
            printed = claim.expected.printed
            assert printed is not None
            assert claim.expected.high <= 1.0301 * printed, claim.id
            assert claim.expected.low >= 0.9699 * printed, claim.id


# Bytes, and bit/s of the path: the draft's section 3.1, with the rates of its files.
STEADY = {
    "alone": (10e6, 20e6), "alone_200": (20e6, 200e6), "alone_1_5M": (4e6, 1.536e6),
    "alone_512k": (1e6, 512e3), "bbloat": (30e6, 20e6), "short_long": (20e6, 10e6),
}  # fmt: skip


def test_no_time_on_a_steady_path_may_be_shorter_than_its_payload_takes() -> None:
    times = [claim for claim in STUDY.claims if claim.question.metric == "time_s"]
    judged = [claim for claim in times if claim.experiments[0] in STEADY]
    assert len(judged) == 2 * len(STEADY) * len(MAINS)
    for claim in judged:
        payload, rate = STEADY[claim.experiments[0]]
        assert claim.expected.low >= payload * 8 / rate, claim.id


# Loads beside C4 in the other stored copy (41,188 characters), per cent: the mean, nine in ten.
OTHER_COPY = {
    ("vs_c4", "bbr3"): (24, 25), ("vs_c4", "cubic"): (35, 36),
    ("after_c4", "bbr3"): (20, 20), ("after_c4", "cubic"): (26, 27),
    ("before_c4", "bbr3"): (48, 49), ("before_c4", "cubic"): (69, 74),
    ("vs_c4_lg", "bbr3"): (29, 32), ("vs_c4_lg", "cubic"): (36, 38),
    ("vs_c4_lg2", "bbr3"): (56, 58), ("vs_c4_lg2", "cubic"): (40, 43),
    ("bbloat_c4", "bbr3"): (20, 21), ("bbloat_c4", "cubic"): (35, 36),
}  # fmt: skip


def test_bands_of_loads_follow_from_picoquic_and_from_the_two_copies() -> None:
    for claim in STUDY.claims:
        if claim.question.metric != "load_pct":
            continue
        printed, main = claim.expected.printed, claim.question.levels["main"]
        assert printed is not None
        other = OTHER_COPY.get((claim.experiments[0], str(main)), (printed, printed))
        copy = other[claim.measure == "ninth_decile"]
        margin = max(2.5, 0.03 * printed) if main == "c4" else 2.5
        assert claim.expected.low == pytest.approx(min(printed, copy) - margin), claim.id
        assert claim.expected.high == pytest.approx(min(100, max(printed, copy) + margin)), claim.id


@pytest.fixture(scope="module")
def kept() -> tuple[Any, dict[str, Any]]:
    """5 MB of BBR v3 beside 10 MB of CUBIC."""
    runs = STUDY.runs("quick", ["vs_cubic"], 1)
    (cell,) = [run for run in runs if run.cell["main"] == "bbr3"]
    results = longhaul.run(cell.scenario)
    return cell, STUDY.reduction(STUDY.experiments["vs_cubic"]).reducer(results)


def test_load_is_what_the_main_download_has_while_both_last(
    kept: tuple[Any, dict[str, Any]],
) -> None:
    cell, tables = kept
    row = METRICS.metrics(tables, cell)
    got = tables["bytes"]
    # One of both downloads is complete at the end, but for a sample of the series.
    assert got["main"] > 4.9e6 or got["background"] > 9.9e6
    assert row["load_pct"] == 100 * got["main"] / (got["main"] + got["background"])
    assert row["rtt_and_deviation_ms"] > row["rtt_ms"] > 80


def test_the_deviation_is_that_of_the_quantiles() -> None:
    names = list(STUDY.module("reduce").QUANTILES)
    shares = list(STUDY.module("reduce").QUANTILES.values())
    # Uniform from 0 to 1 s.
    uniform = METRICS._deviation(dict(zip(names, (share / 100 for share in shares), strict=True)))
    assert uniform == pytest.approx(12**-0.5)
    assert METRICS._deviation(dict.fromkeys(names, 0.1)) == 0


def test_the_interval_of_a_statistic_of_single_runs_is_named_by_it() -> None:
    for measure, name in (("mean", "mean"), ("ninth_decile", "ninth decile")):
        claim = next(claim for claim in STUDY.claims if claim.measure == measure)
        judged = Judgement(claim, 1.0, (0.9, 1.1), REPRODUCED, "full", 100)
        assert judged.interval_of == name
