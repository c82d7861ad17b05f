"""Verification of chapter 5 (tables 5-10 and 5-11): two flows share one slow router."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import longhaul
from longhaul.analysis.judging import Expected
from longhaul.guide import examples
from longhaul.mesonet import MesoNet
from validation.experiments import pool
from validation.mesonet.tables import published
from validation.mesonet.verification import Verification, Windows, verifications
from validation.rows import TREND, Row, as_found, close, judged, near

PART = "dumbbell"

# Allowed absolute difference of utilisations and of Jain's index.
APART = 0.05
# Allowed relative difference of mean windows; the report's text has values read from its plots.
WINDOWS = 0.1

CONGESTION: Mapping[str, str] = {
    "TCP": '{ kind = "reno" }',
    "BIC": '{ kind = "bic" }',
    "CTCP": '{ kind = "ctcp" }',
    "FAST tuning": '{ kind = "fast-at" }',
    "FAST 80": '{ kind = "fast", alpha = 80 }',
    "FAST 200": '{ kind = "fast", alpha = 200 }',
    "HSTCP": '{ kind = "hstcp" }',
    "H-TCP": '{ kind = "htcp" }',
    "Scalable": '{ kind = "scalable" }',
}
# Algorithms whose published values depend on details that the study does not print; only trends
# are judged (docs/mesonet_validation.md).
AS_FOUND = ("BIC", "CTCP", "FAST tuning")


def simulate(case: Verification) -> Windows:
    """Simulate one verification run, and return the windows of its two flows."""
    run = longhaul.run(
        examples.read("mesonet_dumbbell"),
        set=[
            f"mesonet.algorithms.0.congestion={CONGESTION[case.algorithm]}",
            f"mesonet.network.delay_factor={case.rtt_ms // 2}",
            'mesonet.measure.tables=["long_lived"]',
        ],
    )
    flows = MesoNet.of(run).long_lived.pivot("flow", index="t_s", values="cwnd_pkts")
    return Windows(*(flows[name].to_list() for name in ("t_s", "L1", "L2")))


def rows(processes: int) -> Iterator[Row]:
    """Simulate all verification runs in `processes` processes, plot them, and yield their rows."""
    # Imported here, since workers import this file but do not draw.
    from validation.mesonet.drawing import draw_utilisation, draw_windows

    cases = verifications()
    with pool(processes) as workers:
        windows = dict(zip((case.run for case in cases), workers.map(simulate, cases), strict=True))
    draw_windows([(case, windows[case.run]) for case in cases])
    draw_utilisation([(case, windows[case.run].figures(case)) for case in cases])
    for case in cases:
        yield from judge(case, windows[case.run])
    figures = {
        name: [windows[case.run].figures(case) for case in cases if case.algorithm == name]
        for name in CONGESTION
    }
    yield from trend_of_bic(figures["BIC"])
    yield from trend_of_ctcp(figures["CTCP"])
    tuned = [windows[case.run] for case in cases if case.algorithm == "FAST tuning"]
    yield from trend_of_tuning(figures["FAST tuning"], figures["FAST 200"], tuned)


def judge(case: Verification, windows: Windows) -> Iterator[Row]:
    """Yield rows that compare a run's utilisations, Jain's index and windows with the study's."""
    link, buffer, index = windows.figures(case)
    for metric, there, here in (
        ("link utilisation", case.link, link),
        ("buffer utilisation", case.buffer, buffer),
        ("Jain's index", case.jain, index),
    ):
        if case.algorithm in AS_FOUND:
            yield as_found(case.case, metric, there, here)
        else:
            yield near(case.case, metric, there, here, APART)
    alone, (first, second) = windows.alone(), windows.shared()
    means = {"alone": alone, "first": first, "second": second}
    for said in published("windows_5_4"):
        if said["run"] == case.run:
            there = float(said["packets"])
            metric = f"mean window, {said['figure']}, packets"
            yield close(case.case, metric, there, means[said["figure"]], WINDOWS)


def trend_of_bic(figures: list[tuple[float, float, float]]) -> Iterator[Row]:
    """Yield rows for trends of BIC, whose single values depend on details that are not printed.

    Each of `figures` has link utilisation, buffer utilisation and Jain's index at one RTT.
    """
    links, buffers, indices = zip(*figures, strict=True)
    case = "V04 to V06 BIC, trend"
    yield _holds(case, "link full at all round trips", min(links) > 0.995)
    yield _holds(case, "buffer used by 0.35 to 0.65", min(buffers) >= 0.35 and max(buffers) <= 0.65)
    yield _holds(case, "buffer's use rises with the round trip", sorted(buffers) == list(buffers))
    falls = sorted(indices, reverse=True) == list(indices)
    yield _holds(case, "Jain's index falls with the round trip", falls)
    yield _holds(case, "Jain's index of 0.75 to 0.95 at 324 ms", 0.75 <= indices[-1] <= 0.95)


def trend_of_ctcp(figures: list[tuple[float, float, float]]) -> Iterator[Row]:
    """Yield rows that check CTCP's link utilisation and Jain's index against lower bounds.

    The bounds hold under every interpretation of CTCP's equations. Each of `figures` has link
    utilisation, buffer utilisation and Jain's index at one RTT.
    """
    links, _, indices = zip(*figures, strict=True)
    case = "V07 to V09 CTCP, trend"
    yield _holds(case, "link used by 0.90 and more", min(links) >= 0.9)
    yield _holds(case, "Jain's index of 0.97 and more", min(indices) >= 0.97)


def trend_of_tuning(
    tuned: list[tuple[float, float, float]],
    fixed: list[tuple[float, float, float]],
    windows: list[Windows],
) -> Iterator[Row]:
    """Yield rows for the study's statements on FAST with alpha tuning.

    `tuned` has link utilisation, buffer utilisation and Jain's index with alpha tuning, `fixed` the
    same with a constant alpha of 200, and `windows` the windows with alpha tuning. Each has one
    entry per RTT.
    """
    case = "V10 to V12 FAST tuning, trend"
    less = all(sizes[2] < other[2] for sizes, other in zip(tuned[1:], fixed[1:], strict=True))
    yield _holds(case, "Jain's index below that of FAST 200 at 162 and 324 ms", less)
    yield _holds(case, "link not full at 42 ms", tuned[0][0] < 0.995)
    # The flows' queued packets, and so their windows, are proportional to their alphas.
    apart = all(window.most_apart() > 5.0 for window in windows)
    yield _holds(case, "an alpha of 20 against an alpha of 200 for some time", apart)


def _holds(case: str, statement: str, holds: bool) -> Row:
    return judged(case, statement, 1.0, holds, Expected.exactly(1.0), "holds: 1", TREND)
