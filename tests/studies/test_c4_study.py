"""The study of C4's tests: senders, claims, bands and measures."""

import json
from typing import Any

import pytest

import longhaul
from longhaul.analysis.judging import REPRODUCED
from longhaul.studies.claims import Claim
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
    """Check that a flow's sender is picoquic's, with picoquic's slow start for CUBIC only."""
    assert flow["congestion"]["variant"] == "picoquic"
    is_cubic = flow["congestion"]["kind"] == "cubic"
    assert (flow["slow_start"]["kind"] == "picoquic") == is_cubic
    if is_cubic:
        assert flow["congestion"]["decrease"] == 0.125
        assert flow["tcp"]["pacing"]["slow_start"] == 1.25


# Payload and size (bytes) of full packets, for the shortest possible time of a download.
PAYLOAD, PACKET = 1448, 1500
# Printed metrics and measures, the first four for all tests; and sections of results by test.
PRINTED = [
    ("time_s", "mean"), ("time_s", "ninth_decile"),
    ("rtt_ms", "mean"), ("rtt_and_deviation_ms", "ninth_decile"),
    ("load_pct", "mean"), ("load_pct", "ninth_decile"),
]  # fmt: skip
CHAPTERS = {
    "vs_": "5.2", "after_": "5.2", "before_": "5.2", "bbloat": "5.3", "wifi_": "5.4", "": "5.1",
}  # fmt: skip


def test_every_printed_number_is_a_claim_with_its_section() -> None:
    """Check that every printed number is a claim that cites its section.

    Claims about the test wifi_fade are marked as hypotheses, because it is simulated without the
    jitter of the source's path.
    """
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
    """Check that no claim's band (its range of accepted values) contains impossible values.

    The link's changing rate limits download times, the path limits RTTs; loads are 0 to 100 %.
    """
    for claim in STUDY.claims:
        if claim.derived:
            continue
        low, high = claim.expected.low, claim.expected.high
        match claim.question.metric, claim.experiments[0]:
            case "load_pct", _:
                assert low >= 0, claim.id
                assert high <= 100, claim.id
            # 10 MB at 20 Mbit/s, with pauses of 0.2 s every 2 s, or with 2 s of 18 Mbit/s.
            case "time_s", "wifi_suspension":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 20e6 + 0.4 - 1e-3, claim.id
            case "time_s", "wifi_fade":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 20e6 + 0.2 - 1e-3, claim.id
            case "time_s", "blackhole":
                assert low >= 10e6 * 8 * PACKET / PAYLOAD / 25e6 + 2.0 - 1e-3, claim.id
            case "rtt_ms" | "rtt_and_deviation_ms", "bbloat":
                assert low >= 80, claim.id
        assert low <= (claim.expected.printed or low) <= high, claim.id


# Payload (bytes) and rate (bit/s) of steady paths (section 3.1; rates from the draft's files).
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


# Values that another copy of the draft (41,188 characters) prints for BBR v3 and CUBIC against C4,
# in the order of `PRINTED`: times in s, round trips in ms, loads in per cent.
OTHER_COPY = {
    ("vs_c4", "bbr3"): (6.849, 6.865, 106.8, 132.0, 24, 25),
    ("vs_c4", "cubic"): (6.560, 6.997, 132.5, 154.8, 35, 36),
    ("after_c4", "bbr3"): (6.879, 6.993, 110.4, 138.8, 20, 20),
    ("after_c4", "cubic"): (7.211, 7.341, 98.6, 120.7, 26, 27),
    ("before_c4", "bbr3"): (3.391, 3.450, 70.1, 95.3, 48, 49),
    ("before_c4", "cubic"): (2.370, 2.594, 74.9, 105.5, 69, 74),
    ("vs_c4_lg", "bbr3"): (22.737, 27.656, 96.5, 128.5, 29, 32),
    ("vs_c4_lg", "cubic"): (22.134, 22.801, 118.8, 152.0, 36, 38),
    ("vs_c4_lg2", "bbr3"): (21.036, 21.102, 128.4, 157.2, 56, 58),
    ("vs_c4_lg2", "cubic"): (21.426, 21.822, 112.2, 141.4, 40, 43),
    ("bbloat_c4", "bbr3"): (22.827, 24.185, 93.9, 127.7, 20, 21),
    ("bbloat_c4", "cubic"): (20.716, 20.716, 660.1, 941.7, 35, 36),
}  # fmt: skip
MEANS = {
    (claim.experiments[0], claim.question.levels["main"]): claim.expected.printed
    for claim in STUDY.claims
    if (claim.question.metric, claim.measure) == PRINTED[0]
}


def _margin(claim: Claim, number: float) -> float:
    """Return the half-width of a claim's band around the printed number `number`.

    The half-width covers the differences between picoquic's own runs and the printed numbers.
    """
    is_c4 = claim.question.levels["main"] == "c4"
    share = 0.03 if is_c4 else 0.025
    if claim.question.metric == "load_pct":
        return max(2.5, share * number) if is_c4 else 2.5
    if claim.measure == "ninth_decile" and not _is_near_its_mean(claim, share):
        share = 0.07
    return share * number


def _is_near_its_mean(claim: Claim, share: float) -> bool:
    """Return true if a printed time exceeds the mean time by at most `share` of the mean.

    The result is false for claims about other metrics.
    """
    mean = MEANS[claim.experiments[0], claim.question.levels["main"]]
    printed = claim.expected.printed
    assert mean is not None
    assert printed is not None
    return claim.question.metric == "time_s" and printed <= mean * (1 + share)


def test_bands_follow_from_picoquic_and_from_the_two_copies() -> None:
    """Check each claim's band: picoquic's printed number plus or minus the margin.

    If the two copies of the draft print different numbers, the band includes both.
    """
    for claim in STUDY.claims:
        printed = claim.expected.printed
        assert printed is not None
        main = str(claim.question.levels["main"])
        number = PRINTED.index((str(claim.question.metric), claim.measure))
        copies = OTHER_COPY.get((claim.experiments[0], main))
        ends = sorted((printed, printed if copies is None else copies[number]))
        low = ends[0] - _margin(claim, ends[0])
        high = ends[1] + _margin(claim, ends[1])
        if claim.question.metric == "load_pct":
            high = min(high, 100)
        assert claim.expected.high == pytest.approx(high, rel=2e-4), claim.id
        if claim.tolerance.endswith(("the link needs", "the path's round trip")):
            assert low < claim.expected.low <= printed, claim.id
        else:
            assert claim.expected.low == pytest.approx(low, rel=2e-4), claim.id


@pytest.fixture(scope="module")
def kept() -> tuple[Any, dict[str, Any]]:
    """Run 5 MB of BBR v3 against 10 MB of CUBIC, and return the run and its stored values."""
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
    # One of the two downloads has ended, up to one sample of the series.
    assert got["main"] > 4.9e6 or got["background"] > 9.9e6
    assert row["load_pct"] == 100 * got["main"] / (got["main"] + got["background"])
    assert row["rtt_and_deviation_ms"] > row["rtt_ms"] > 80


def test_the_deviation_is_that_of_the_quantiles() -> None:
    names = list(STUDY.module("reduce").QUANTILES)
    shares = list(STUDY.module("reduce").QUANTILES.values())
    # Delays are uniform from 0 to 1 s.
    uniform = METRICS._deviation(dict(zip(names, (share / 100 for share in shares), strict=True)))
    assert uniform == pytest.approx(12**-0.5)
    assert METRICS._deviation(dict.fromkeys(names, 0.1)) == 0


def test_the_interval_of_a_statistic_of_single_runs_is_named_by_it() -> None:
    for measure, name in (("mean", "mean"), ("ninth_decile", "ninth decile")):
        claim = next(claim for claim in STUDY.claims if claim.measure == measure)
        judged = Judgement(claim, 1.0, (0.9, 1.1), REPRODUCED, "full", 100)
        assert judged.interval_of == name
